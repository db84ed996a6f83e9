"""Rows I1 to 4b: it fails alone. Is that proof enough to call the test a flake?"""

from __future__ import annotations

import math

from analysis.attribution.contrasts import GREY, PLAIN, Tested
from analysis.attribution.facts import SUBJECT_AND_GREEN, Address
from analysis.attribution.judgement import (
    Case,
    Judgement,
    green_unjudged,
    no,
    order_association,
    p_words,
)
from analysis.attribution.statistics import need
from analysis.model import ALONE, STRESS, Phase

_ON_TRUST = " No resource is recorded: that the namespaces were fresh is taken on trust."


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
    compared = need(policy.rate_alone)
    numbers = (
        f"{unit.ran(*STRESS)} stress runs (needs {policy.stress_runs}), "
        f"{unit.ran(Phase.TIGHTENED)} tightened (needs {policy.min_tightened}), "
        f"{unit.ran(Phase.LOADED)} loaded (needs {policy.min_loaded}), "
        f"{unit.count(SUBJECT_AND_GREEN, PLAIN).n} plain (needs {compared}), "
        f"green {unit.green(*ALONE)} alone (needs {compared}, or a failure of its own); "
        f"patch {p_words(case.contrasts.patch)}, "
        f"tightened {p_words(case.contrasts.tightened_pooled)}, loaded {p_words(_load(case))}"
    )
    missing = _short_arms(case)
    why = "the stress verdict is incomplete"
    if green_unjudged(case):
        missing = {Phase.SOAK: need(policy.rate_company), **missing}
        why = "green's pinned test was never executed, so it is no control"
    doubt = _doubt(case)
    if doubt:
        missing = {Phase.REPEAT: max(policy.stress_runs, missing.get(Phase.REPEAT, 0))}
        why = doubt
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


def _doubt(case: Case) -> str:
    """Why the alone runs do not speak for the test, whatever their number; empty if they do."""
    unit, blamed = case.unit, case.unit.detail.blamed
    if not unit.isolated:
        return "alone runs had isolation off or others beside them, so none is proven fresh"
    if blamed.k and 2 * blamed.k >= blamed.n:
        return f"{blamed} failures name a shared resource or an exhausted machine"
    if case.contrasts.machine.p < case.policy.alpha:
        return f"the failures follow a runner, worker or HOME ({p_words(case.contrasts.machine)})"
    return ""


def _short_arms(case: Case) -> dict[Phase, int]:
    """Runs that the stress arms lack: the policy's minima for the subject, plain runs to compare
    the stressed ones with, and green beside it."""
    unit, policy = case.unit, case.policy
    short: dict[Phase, int] = {}
    lacks = {
        Phase.TIGHTENED: policy.min_tightened - unit.ran(Phase.TIGHTENED),
        Phase.LOADED: policy.min_loaded - unit.ran(Phase.LOADED),
    }
    short.update({phase: runs for phase, runs in lacks.items() if runs > 0})
    rest = policy.stress_runs - unit.ran(*STRESS) - sum(short.values())
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
    which the subject failed. None where green failed alone itself, beside runs of the subject."""
    strata = case.unit.by_execution.patch_strata(ALONE)
    if any(stratum.high.n and stratum.low.k for stratum in strata):
        return 0
    if any(stratum.high.k and not stratum.low.n for stratum in strata):
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
        arms[Phase.TIGHTENED] = max(1, unit.ran(Phase.TIGHTENED))
    if alpha <= _load(case).p < GREY:
        arms[Phase.LOADED] = max(1, unit.ran(Phase.LOADED))
    if order_association(case):
        # The polluter explains what looks patch-specific or like interference.
        return arms
    # More in company than alone is interference, even where it once failed alone as well.
    unclear = (contrasts.exposure, contrasts.variable, contrasts.serial)
    interferes = contrasts.company.p < GREY or any(test.p < alpha for test in unclear)
    if contrasts.patch.p < GREY or interferes:
        arms[Phase.REPEAT] = max(1, unit.ran(Phase.REPEAT))
    if interferes:
        arms[Phase.SOAK] = max(1, unit.ran(Phase.SOAK))
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
    plain = unit.count(SUBJECT_AND_GREEN, PLAIN)
    smaller = test is case.contrasts.smaller_machine
    against = " on the smaller machine" if smaller else ""
    numbers = f"{loaded} under load, {plain} plain{against} ({p_words(test)})"
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
    numbers = (
        f"{polluter.having} after {polluter.name}, {polluter.lacking} without it ({p_words(test)})"
    )
    if not order_association(case) or not case.unit.alone.k:
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
        f"{unit.subject(Phase.LOADED)} loaded; {unit.green(*ALONE)} on green alone"
    )
    if not unit.alone.k:
        return no(numbers)
    trust = "" if unit.detail.resources_recorded else _ON_TRUST
    return Judgement(
        True,
        numbers,
        f"Fails {numbers}: it fails by itself, flat under stress and equal on green.{trust}",
        "Eligible for quarantine with an expiry; fix the test.",
    )
