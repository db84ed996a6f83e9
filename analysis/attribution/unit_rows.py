"""Rows 1a to I5: what is this test, on this patch?"""

from __future__ import annotations

import math

from analysis.attribution.contrasts import GREY, PLAIN, Tested
from analysis.attribution.facts import SUBJECT_AND_GREEN, Address, Exposure
from analysis.attribution.judgement import Case, Judgement, no, p_text
from analysis.attribution.statistics import Count, Stratum, mid_p, need, upper
from analysis.model import ALONE, ARMS, COMPANY, STRESS, Locus, Phase, Role

NO_FAILURE = "no failure on record"
SEARCH_LIMIT = 10_000

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


def _significant(test: Tested, case: Case) -> bool:
    """A corrected p promotes."""
    return test.p < case.policy.alpha and case.contrasts.promoted


def _p(test: Tested) -> str:
    return f"p {p_text(test.p)}" if test.comparable else "nothing to compare"


def exposed(case: Case) -> Judgement:
    """1a."""
    unit, contrasts = case.unit, case.contrasts
    if not unit.company.k and not any(e.covered for e in unit.detail.exposures):
        return no(f"no failure in company ({unit.company})")
    if not unit.detail.exposures:
        return no("no resource recorded that a peer held at the same time")
    best = contrasts.exposed_to
    if best is not None and _significant(contrasts.exposure, case):
        return _exposed(case, best, contrasts.exposure.p)
    widest = max(unit.detail.exposures, key=lambda e: e.covered)
    covers_half = 2 * widest.covered >= widest.exposed.k + widest.unexposed.k
    never_alone = unit.alone.n > 0 and unit.alone.k == 0
    if widest.covered and covers_half and never_alone and _significant(contrasts.company, case):
        return _exposed(case, widest, contrasts.company.p)
    shown = best or widest
    return no(
        f"{shown.exposed} while a peer holds {shown.address.kind} {shown.address.id}, "
        f"{shown.unexposed} when none does ({_p(contrasts.exposure)})"
    )


def _exposed(case: Case, exposure: Exposure, p: float) -> Judgement:
    address, unit = exposure.address, case.unit
    numbers = (
        f"{exposure.exposed} while a peer holds {address.kind} {address.id}, "
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
    numbers = f"{variable.having} with {variable.name}, {variable.lacking} without ({_p(test)})"
    if not _significant(test, case):
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
    numbers = f"{unit.company} in company, {unit.alone} alone ({_p(test)})"
    if unit.alone.n == 0 or unit.alone.k or not _significant(test, case):
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
    numbers = f"{serial} in serial, {unit.company} in company ({_p(test)})"
    if not _significant(test, case):
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
        return no(f"{numbers}, but there is {NO_FAILURE}")
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


def always(case: Case) -> Judgement:
    """C."""
    unit = case.unit
    subject, serial = unit.subject(*ARMS), unit.subject(Phase.SERIAL)
    numbers = f"{subject} on the patch, {serial} of them in serial"
    if not (subject.n >= 3 and subject.k == subject.n and serial.n):
        return no(numbers)
    green = unit.green(*ARMS)
    if green.n and green.k == green.n:
        return Judgement(
            True,
            numbers,
            f"Failed in every run ({subject}), and on green too ({green}): the base is red.",
            "Repair the base.",
            locus=Locus.BASE,
        )
    return Judgement(
        True,
        numbers,
        f"Failed in every run ({subject}); green failed {green}.",
        "Reject the patch.",
        locus=Locus.PATCH,
    )


def _order_association(case: Case) -> bool:
    polluter = case.contrasts.polluter
    return (
        polluter is not None
        and polluter.lacking.n > 0
        and polluter.lacking.k == 0
        and _significant(case.contrasts.order, case)
    )


_DEFERRED = "fails only after one other test: 4a decides once I1 and I2 do not hold"


def on_patch(case: Case) -> Judgement:
    """3a."""
    unit, test = case.unit, case.contrasts.patch
    arms = [phase for phase in ARMS if unit.subject(phase).n and unit.green(phase).n]
    subject, green = unit.subject(*arms), unit.green(*arms)
    numbers = f"{subject} on the patch, {green} on green over the same arms ({_p(test)})"
    if _order_association(case):
        return no(f"{numbers}; {_DEFERRED}")
    if not _significant(test, case):
        return no(numbers)
    fastest = max(arms, key=lambda phase: _rate(unit.subject(phase)))
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}; {fastest} shows it fastest ({unit.subject(fastest)}).",
        f"Fix patch {unit.patch_id}; do not quarantine.",
        p=test.p,
        locus=Locus.PATCH,
    )


def _rate(count: Count) -> float:
    return count.k / count.n if count.n else 0.0


def tightened(case: Case) -> Judgement:
    """3b."""
    unit, test, green = case.unit, case.contrasts.tightened, case.contrasts.tightened_green
    high, low = unit.subject(Phase.TIGHTENED), unit.subject(Phase.SERIAL, Phase.REPEAT)
    numbers = f"{high} with timing tightened, {low} plain ({_p(test)})"
    if _order_association(case):
        return no(f"{numbers}; {_DEFERRED}")
    if not _significant(test, case):
        return no(numbers)
    base = green.p < case.policy.alpha
    on_green = unit.green(Phase.TIGHTENED)
    where = f"green climbs too ({on_green})" if base else f"green shows {on_green} tightened"
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}; {where}.",
        f"Fix {'the base' if base else 'the patch or the base'}; do not quarantine.",
        p=test.p,
        locus=Locus.BASE if base else Locus.UNVERIFIED,
    )


def concurrency_only(case: Case) -> Judgement:
    """3c."""
    unit = case.unit
    soak, many, serial = (
        unit.subject(phase) for phase in (Phase.SOAK, Phase.CONCURRENT, Phase.SERIAL)
    )
    stress = unit.subject(Phase.TIGHTENED, Phase.LOADED)
    numbers = f"{soak} in the soak, {many} at high concurrency, {serial} in serial"
    stable = soak.n > 0 and soak.k == 0 and serial.n > 0 and serial.k == 0
    if _order_association(case):
        return no(f"{numbers}; {_DEFERRED}")
    if stress.n:
        return no(f"{numbers}, and {stress.n} tightened or loaded runs that decide instead")
    if not (stable and many.mixed):
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"Stable in the soak, unstable only at high concurrency ({numbers}).",
        "Fix the patch; run the tightened arm to see where the race lives.",
        locus=Locus.UNVERIFIED,
    )


def too_few(case: Case) -> Judgement:
    """I1."""
    unit, wanted = case.unit, case.policy.min_failures
    numbers = f"{unit.alone} alone, {unit.failures} failures in all (needs {wanted})"
    if not unit.alone.k or unit.failures >= wanted:
        return no(numbers)
    runs = math.ceil((wanted - unit.failures) * unit.alone.n / unit.alone.k)
    return Judgement(
        True,
        numbers,
        f"Fails {unit.alone} alone; {unit.failures} failures cannot tell a race from a flake.",
        f"Extend the stress job by about {runs} repeat runs; do not quarantine.",
        need={Phase.REPEAT: runs},
    )


def stress_incomplete(case: Case) -> Judgement:
    """I2."""
    unit, policy = case.unit, case.policy
    if not unit.alone.k:
        return no(f"{unit.alone} alone")
    stress, green = (
        sum(unit.executed.get(phase, 0) for phase in STRESS),
        unit.green(Phase.SERIAL, *STRESS),
    )
    numbers = (
        f"{stress} stress runs (needs {policy.stress_runs}), "
        f"{unit.executed.get(Phase.TIGHTENED, 0)} tightened (needs {policy.min_tightened}), "
        f"{unit.executed.get(Phase.LOADED, 0)} loaded (needs {policy.min_loaded}), green {green} "
        f"alone; patch {_p(case.contrasts.patch)}, tightened "
        f"{_p(case.contrasts.tightened_pooled)}, loaded {_p(_load(case))}"
    )
    missing = _short_arms(case)
    why = "the stress verdict is incomplete"
    if _green_unjudged(case):
        missing = {Phase.SOAK: need(policy.rate_company), **missing}
        why = "green's pinned test was never executed, so it is no control"
    if not unit.isolated:
        missing = {Phase.REPEAT: max(policy.stress_runs, missing.get(Phase.REPEAT, 0))}
        why = "runs that failed alone had isolation off, so no fresh namespace is proven"
    if not missing:
        missing = _grey_arms(case)
        why = "the stress verdict is not clear"
    if not missing:
        return no(numbers)
    runs = " and ".join(f"{count} more {phase}" for phase, count in missing.items())
    where = " on the subject and on green" if _green_short(case) else ""
    return Judgement(
        True,
        numbers,
        f"Fails {unit.alone} alone, and {why}: {numbers}.",
        f"Finish the stress verdict: {runs} runs{where}; do not quarantine.",
        need=missing,
    )


def _green_unjudged(case: Case) -> bool:
    """Green was there, but never executed what it is judged on: nothing may rest on it."""
    green = case.unit.experiment.green
    return green.present and not green.failed.n


def _short_arms(case: Case) -> dict[Phase, int]:
    """Runs that the stress arms lack: the policy's minima for the subject, plain runs to compare
    the stressed ones with, and green beside it."""
    unit, policy = case.unit, case.policy
    short: dict[Phase, int] = {}
    lacks = {
        Phase.TIGHTENED: policy.min_tightened - unit.executed.get(Phase.TIGHTENED, 0),
        Phase.LOADED: policy.min_loaded - unit.executed.get(Phase.LOADED, 0),
    }
    short.update({phase: runs for phase, runs in lacks.items() if runs > 0})
    stress = sum(unit.executed.get(phase, 0) for phase in STRESS)
    rest = policy.stress_runs - stress - sum(short.values())
    rest = max(rest, _plain_short(case), _green_short(case))
    if rest > 0:
        short[Phase.REPEAT] = rest
    return short


def _plain_short(case: Case) -> int:
    """Plain runs that are missing before stress can be called flat: on each machine size."""
    needed = need(case.policy.rate_alone)
    comparable = [
        sum(stratum.low.n for stratum in strata if stratum.high.n)
        for arm in (Phase.TIGHTENED, Phase.LOADED)
        if (strata := case.unit.by_execution.strata(SUBJECT_AND_GREEN, (arm,), PLAIN))
    ]
    return max(0, needed - min(comparable, default=0))


def _green_short(case: Case) -> int:
    """Runs that green lacks before it can be called equal: in the arms, and on the machines, in
    which the subject failed. It is, where it failed there itself."""
    strata = case.unit.by_execution.patch_strata(ALONE)
    failing = [stratum for stratum in strata if stratum.high.k]
    if any(stratum.low.k for stratum in strata):
        return 0
    if any(not stratum.low.n for stratum in failing):
        return need(case.policy.rate_alone)
    ran = sum(stratum.low.n for stratum in strata if stratum.high.n)
    return max(0, need(case.policy.rate_alone) - ran)


def _grey_arms(case: Case) -> dict[Phase, int]:
    """What to run again where a raw p is not clear: as many runs as there are.

    A p under alpha that did not promote is not clear either, whichever row it belongs to.
    """
    unit, contrasts, alpha = case.unit, case.contrasts, case.policy.alpha
    arms: dict[Phase, int] = {}
    if contrasts.tightened_pooled.p < GREY or contrasts.tightened.p < alpha:
        arms[Phase.TIGHTENED] = max(1, unit.executed.get(Phase.TIGHTENED, 0))
    if alpha <= _load(case).p < GREY:
        arms[Phase.LOADED] = max(1, unit.executed.get(Phase.LOADED, 0))
    if _order_association(case):
        # The polluter explains what looks patch-specific or like interference.
        return arms
    # More in company than alone is interference, even where it once failed alone as well.
    unclear = (contrasts.exposure, contrasts.variable, contrasts.serial)
    interferes = contrasts.company.p < GREY or any(test.p < alpha for test in unclear)
    if contrasts.patch.p < GREY or interferes:
        arms[Phase.REPEAT] = max(1, unit.executed.get(Phase.REPEAT, 0))
    if interferes:
        arms[Phase.SOAK] = max(1, unit.executed.get(Phase.SOAK, 0))
    return arms


def _load(case: Case) -> Tested:
    """The clearer one of: climbs under load, climbs on a smaller machine."""
    return min(
        case.contrasts.loaded_pooled, case.contrasts.smaller_machine, key=lambda test: test.p
    )


def load_sensitive(case: Case) -> Judgement:
    """I3."""
    unit, test = case.unit, _load(case)
    loaded = unit.count(SUBJECT_AND_GREEN, (Phase.LOADED,))
    plain = unit.count(SUBJECT_AND_GREEN, (Phase.SERIAL, Phase.REPEAT))
    smaller = test is case.contrasts.smaller_machine
    against = " on the smaller machine" if smaller else ""
    numbers = f"{loaded} under load, {plain} plain{against} ({_p(test)})"
    if not unit.alone.k or test.p >= case.policy.alpha:
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}: a load-sensitive test and a load-sensitive race look the same, and no "
        "number of runs tells them apart.",
        "Capture the interleaving of a failing run; do not quarantine.",
        p=test.p,
    )


def after_another(case: Case) -> Judgement:
    """4a (and 4o, which keeps the race rows from taking it)."""
    polluter, test = case.contrasts.polluter, case.contrasts.order
    if polluter is None:
        return no("no test order recorded that varies")
    numbers = f"{polluter.having} after {polluter.name}, {polluter.lacking} without it ({_p(test)})"
    if not _order_association(case) or not case.unit.alone.k:
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"Fails only after {polluter.name} in the same process: {numbers}.",
        "Eligible for quarantine with an expiry; make the polluter clean up.",
        p=test.p,
        address=Address("test", polluter.name),
    )


def flake(case: Case) -> Judgement:
    """4b."""
    unit = case.unit
    numbers = (
        f"{unit.alone} alone; {unit.subject(Phase.TIGHTENED)} tightened, "
        f"{unit.subject(Phase.LOADED)} loaded; {unit.green(Phase.SERIAL, *STRESS)} on green alone"
    )
    if not unit.alone.k:
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}: it fails by itself in fresh namespaces, flat under stress and equal on "
        "green.",
        "Eligible for quarantine with an expiry; fix the test.",
    )


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
    if _green_unjudged(case):
        return no(f"{numbers}; green's pinned test was never executed")
    return Judgement(
        True,
        numbers,
        f"No failure: {unit.company} in company (rate at most {upper(unit.company):.2%}), "
        f"{unit.alone} alone (at most {upper(unit.alone):.2%}).{_smallest_stratum(case)}",
        "Trust the verdict within both bounds.",
    )


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
    company = need(policy.rate_company) - (0 if _green_unjudged(case) else unit.company.n)
    alone = need(policy.rate_alone) - unit.alone.n
    if company > 0:
        short[Phase.SOAK] = company
    serial = unit.count((Role.SUBJECT, Role.GREEN), (Phase.SERIAL,)).n
    if alone > 0 or not serial:
        short[Phase.SERIAL] = max(alone, 0 if serial else 1)
    missing = " and ".join(f"{runs} more {phase} runs" for phase, runs in short.items())
    stale = "" if unit.unfresh is None else f"; {unit.unfresh_runs} alone runs were not fresh"
    if _green_unjudged(case):
        stale += "; green's pinned test was never executed"
    numbers = f"{unit.company} in company, {unit.alone} alone{stale}"
    return Judgement(
        True,
        numbers,
        f"No failure, but too few runs to call it stable ({numbers}).",
        f"Run {missing}.",
        need=short,
    )
