"""Rows 1a to 1g: is it the harness? Something that runs share, or that runs inherit."""

from __future__ import annotations

from analysis.attribution.facts import SUBJECT_AND_GREEN, Address, Exposure
from analysis.attribution.judgement import Case, Judgement, no, p_text, p_words, significant
from analysis.attribution.statistics import Count
from analysis.model import ARMS, COMPANY, Phase

CONTAINMENT = {
    "port": "Lease one fixed port per run",
    "db": "Use one database name per digest and attempt",
    "env": "Set it explicitly in every run",
    "image": "Pin the image by digest",
    "device": "Lease the device",
}
_HARNESS_RULE = "; fix isolation, quarantine nothing."


def contain(kind: str, name: str | None) -> str:
    """The cheap containment for a shared resource, as an imperative."""
    if kind != "file":
        return CONTAINMENT.get(kind, "Give every run its own") + _HARNESS_RULE
    path = name or ""
    if "/tmp/" in path or path.startswith("/tmp"):
        return "Give every run its own TMPDIR" + _HARNESS_RULE
    if "cache" in path:
        return "Use a per-digest or read-only build cache" + _HARNESS_RULE
    if "fixture" in path:
        return "Copy the fixture into the run root" + _HARNESS_RULE
    if "/home/" in path:
        return "Give every run its own HOME" + _HARNESS_RULE
    return "Take the path from the run's namespace" + _HARNESS_RULE


def exposed(case: Case) -> Judgement:
    """1a."""
    unit, contrasts = case.unit, case.contrasts
    if not unit.company.k and not any(e.covered for e in unit.detail.exposures):
        return no(f"no failure in company ({unit.company})")
    if not unit.detail.exposures:
        return no("no resource recorded that a peer held at the same time")
    best = contrasts.exposed_to
    if best is not None and significant(contrasts.exposure, case):
        return _exposed(case, best, contrasts.exposure.p)
    widest = max(unit.detail.exposures, key=lambda e: e.covered)
    covers_half = 2 * widest.covered >= widest.exposed.k + widest.unexposed.k
    never_alone = unit.alone.n > 0 and unit.alone.k == 0
    if widest.covered and covers_half and never_alone and significant(contrasts.company, case):
        return _exposed(case, widest, contrasts.company.p)
    shown = best or widest
    return no(
        f"{shown.exposed} while a peer holds {shown.address.kind} {shown.address.id}, "
        f"{shown.unexposed} when none does ({p_words(contrasts.exposure)})"
    )


def _exposed(case: Case, exposure: Exposure, p: float) -> Judgement:
    address, unit = exposure.address, case.unit
    numbers = (
        f"{exposure.exposed} on patch and canaries while a peer holds {address.kind} {address.id}, "
        f"{exposure.unexposed} when none does (p {p_text(p)}), {unit.alone} alone"
    )
    peer = ""
    if address.peer_patch:
        same = " the same test" if address.peer_test == unit.test_id else f" {address.peer_test}"
        peer = f" The peer is most often {address.peer_patch}, running{same}."
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}.{peer}",
        contain(address.kind, address.id),
        p=p,
        address=address,
    )


def inherited(case: Case) -> Judgement:
    """1b."""
    variable, test = case.contrasts.variable_of, case.contrasts.variable
    if variable is None:
        return no("no inherited value varies")
    numbers = (
        f"{variable.having} with {variable.name}, {variable.lacking} without ({p_words(test)})"
    )
    if not significant(test, case):
        return no(numbers)
    name = variable.name.partition("=")[0]
    kind = "image" if name == "image_digest" else "env"
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}.",
        f"Set {name} explicitly in every run{_HARNESS_RULE}",
        p=test.p,
        address=Address(kind, variable.name),
    )


def signed(case: Case) -> Judgement:
    """1d."""
    unit = case.unit
    failures = unit.company.k
    if not unit.detail.signs:
        return no(f"no port, database or half-written-file message in {failures} company failures")
    kind, count = max(unit.detail.signs.items(), key=lambda item: (item[1], item[0]))
    numbers = f"{count} of {failures} company failures name a {kind}, {unit.alone} alone"
    never_alone = unit.alone.n > 0 and unit.alone.k == 0
    if not (count >= 2 and 2 * count >= failures and never_alone):
        return no(numbers)
    name = unit.detail.sign_address.get(kind)
    return Judgement(
        True,
        numbers,
        f"{numbers[0].upper()}{numbers[1:]}: runs share it.",
        contain(kind, name),
        address=Address(kind, name),
    )


def company_only(case: Case) -> Judgement:
    """1e."""
    unit, test, patch = case.unit, case.contrasts.company, case.contrasts.company_patch
    numbers = f"{unit.company} in company, {unit.alone} alone ({p_words(test)})"
    if unit.alone.n == 0 or unit.alone.k or not significant(test, case):
        return no(numbers)
    if patch.p < case.policy.alpha:
        green = unit.green(*COMPANY)
        return no(
            f"{numbers}, but {unit.subject(*COMPANY)} on the patch and {green} on green in the "
            f"same company (p {p_text(patch.p)}): 3a decides"
        )
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}: it interferes with its peers, and no recorded resource says where.",
        "Record resources and soak again" + _HARNESS_RULE,
        p=test.p,
    )


def serial_more(case: Case) -> Judgement:
    """1g."""
    unit, test = case.unit, case.contrasts.serial
    serial = unit.count(SUBJECT_AND_GREEN, (Phase.SERIAL,))
    numbers = f"{serial} in serial, {unit.company} in company ({p_words(test)})"
    if not significant(test, case):
        return no(numbers)
    total = unit.count(SUBJECT_AND_GREEN, ARMS)
    if total.k == total.n:
        return no(f"{numbers}, but it always fails")
    green = unit.green(Phase.SERIAL)
    if green.n and not _above(green, unit.green(*COMPANY)):
        return no(f"{numbers}, but green does not show it ({green} in serial)")
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}: a peer or inherited state satisfies the test.",
        "Find what the test takes from its peers and give it to every run" + _HARNESS_RULE,
        p=test.p,
    )


def _above(high: Count, low: Count) -> bool:
    return high.k * low.n > low.k * high.n if low.n else high.k > 0


def unfresh(case: Case) -> Judgement:
    """1c."""
    unit = case.unit
    if unit.unfresh is None:
        return no("no written resource shared by two runs of the alone phases")
    numbers = f"{unit.unfresh_runs} alone runs shared {unit.unfresh.kind} {unit.unfresh.id}"
    if not unit.failures:
        return no(f"{numbers}, but there is no failure on record")
    return Judgement(
        True,
        numbers,
        f"{numbers}, so none of them was fresh; {unit.company} in company and "
        f"{unit.unfresh_failures} failures alone.",
        contain(unit.unfresh.kind, unit.unfresh.id),
        address=unit.unfresh,
    )


def soak_mixed(case: Case) -> Judgement:
    """1f."""
    unit = case.unit
    subject, green = unit.subject(Phase.SOAK), unit.green(Phase.SOAK)
    numbers = f"{subject} on the patch and {green} on green in the soak, {unit.alone.n} runs alone"
    if unit.alone.n or not (subject.mixed or green.mixed):
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"Verdicts vary across the soak ({numbers}) while the canaries behave.",
        "Fix isolation, quarantine nothing; run the serial arm to see whether it fails alone.",
    )
