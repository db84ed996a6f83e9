"""Rows I4, S and I5: what never failed alone, or never failed at all."""

from __future__ import annotations

from analysis.attribution.facts import SUBJECT_AND_GREEN
from analysis.attribution.judgement import Case, Judgement, green_unjudged, no
from analysis.attribution.statistics import Count, Stratum, mid_p, need, upper
from analysis.model import COMPANY, Phase, Role

NO_FAILURE = "no failure on record"
SEARCH_LIMIT = 10_000


def company_few(case: Case) -> Judgement:
    """I4."""
    unit = case.unit
    numbers = f"{unit.company} in company, {unit.alone} alone, {unit.elsewhere} failures elsewhere"
    if not unit.failures:
        return no(NO_FAILURE)
    if not unit.company.k:
        why = (
            f"{unit.elsewhere} failures in gate or cut runs were not reproduced "
            f"in {unit.company.n} runs in company and {unit.alone.n} alone: suspect a polluted "
            "environment (stale container, shared database)."
        )
        rounds = max(
            need(case.policy.rate_company) - unit.company.n,
            need(case.policy.rate_alone) - unit.alone.n,
            1,
        )
    else:
        why = f"Fails {unit.company} in company and {unit.alone} alone: too few to separate."
        rounds = _rounds_to_separate(case)
    return Judgement(
        True,
        numbers,
        why,
        f"Run {rounds} more soak and {rounds} more serial rounds.",
        need={Phase.SOAK: rounds, Phase.SERIAL: rounds},
    )


def _rounds_to_separate(case: Case) -> int:
    """Rounds of soak and serial after which company > alone would show, at the rates so far."""
    company, alone = case.unit.company, case.unit.alone
    tried = sum(test.comparable for test in case.contrasts.promoting) or 1
    rounds = 1
    while rounds < SEARCH_LIMIT:
        high = Count(round(company.k * (company.n + rounds) / company.n), company.n + rounds)
        low = Count(alone.k, alone.n + rounds)
        if mid_p([Stratum(high, low)]) * tried < case.policy.alpha:
            break
        rounds = rounds + max(1, rounds // 8)
    return rounds


def stable(case: Case) -> Judgement:
    """S."""
    unit, policy = case.unit, case.policy
    serial = unit.count(SUBJECT_AND_GREEN, (Phase.SERIAL,))
    wanted_alone, wanted_company = need(policy.rate_alone), need(policy.rate_company)
    numbers = (
        f"{unit.company} in company (needs {wanted_company}), {unit.alone} alone (needs "
        f"{wanted_alone}), {serial.n} serial"
    )
    if unit.failures:
        return no(f"{unit.failures} failures on record")
    if not (serial.n and unit.alone.n >= wanted_alone and unit.company.n >= wanted_company):
        return no(numbers)
    lack = _unproven_side(case)
    if lack:
        return no(f"{numbers}; {lack}")
    return Judgement(
        True,
        numbers,
        f"No failure: {unit.company} in company (rate at most {upper(unit.company):.2%}), "
        f"{unit.alone} alone (at most {upper(unit.alone):.2%}).{_smallest_stratum(case)}",
        "Trust the verdict within both bounds.",
    )


def _unproven_side(case: Case) -> str:
    """What keeps clean counts from proving anything of this patch; empty if nothing does."""
    unit = case.unit
    if green_unjudged(case):
        return "green's pinned test was never executed"
    if not unit.subject(*COMPANY).n:
        return "the patch itself never executed it in company"
    if not unit.isolated:
        return "alone runs had isolation off or others beside them"
    return ""


def _smallest_stratum(case: Case) -> str:
    sizes: dict[int | None, Count] = {}
    for cell, count in case.unit.cells.items():
        if cell.role in SUBJECT_AND_GREEN:
            sizes[cell.cpus] = sizes.get(cell.cpus, Count(0, 0)) + count
    if len(sizes) < 2:
        return ""
    cpus, count = min(sizes.items(), key=lambda item: (item[1].n, str(item[0])))
    return f" On {cpus} cpus, the least tried: {count}, at most {upper(count):.2%}."


def unseen(case: Case) -> Judgement:
    """I5."""
    unit, policy = case.unit, case.policy
    if unit.failures:
        return no(f"{unit.failures} failures on record")
    short: dict[Phase, int] = {}
    lack = _unproven_side(case)
    company = need(policy.rate_company) - (0 if lack else unit.company.n)
    alone = need(policy.rate_alone) - unit.alone.n
    if company > 0:
        short[Phase.SOAK] = company
    serial = unit.count((Role.SUBJECT, Role.GREEN), (Phase.SERIAL,)).n
    if alone > 0 or not serial:
        short[Phase.SERIAL] = max(alone, 0 if serial else 1)
    missing = " and ".join(f"{runs} more {phase} runs" for phase, runs in short.items())
    stale = "" if unit.unfresh is None else f"; {unit.unfresh_runs} alone runs were not fresh"
    if lack:
        stale += f"; {lack}"
    numbers = f"{unit.company} in company, {unit.alone} alone{stale}"
    return Judgement(
        True,
        numbers,
        f"No failure, but too few runs to call it stable ({numbers}).",
        f"Run {missing}.",
        need=short,
    )
