"""Rows V1 to V6, 2a and 2b: may this experiment be trusted at all?"""

from __future__ import annotations

from analysis.attribution.facts import Canary, Complaint
from analysis.attribution.judgement import Case, Judgement, no
from analysis.attribution.statistics import need
from analysis.model import Phase, Role

ROUNDS = 3
UNUSABLE_SHARE = 1 / 5

_REPAIR_VERDICTS = "Block merges; repair the gate's verdict mapping; rerun."
_BIND = "Block merges; rerun with bound records."


def impossible_pass(case: Case) -> Judgement:
    """V1."""
    found = case.unit.experiment.impossible_passes
    if found is None:
        return no(f"none of {case.unit.experiment.runs} runs says pass without being one")
    numbers = f"{found.count} soak or canary runs say pass and cannot be one"
    why = f"{found.count} passes prove nothing: {found.example}."
    return Judgement(True, numbers, why, _REPAIR_VERDICTS)


def unbound(case: Case) -> Judgement:
    """V2."""
    experiment = case.unit.experiment
    complaints: tuple[Complaint | None, ...] = (
        experiment.torn,
        experiment.duplicates,
        experiment.digests,
        experiment.generations,
    )
    for complaint in complaints:
        if complaint:
            return Judgement(True, complaint.example, f"{complaint.example}.", _BIND)
    for canary in (experiment.red, experiment.green):
        unjudged = canary.rounds - canary.judged_rounds
        if canary.judged_rounds and unjudged > canary.rounds * UNUSABLE_SHARE:
            numbers = (
                f"canary {canary.patch_id} executed {_judged_on(canary)} in "
                f"{canary.judged_rounds} of {canary.rounds} soak rounds"
            )
            return Judgement(True, numbers, f"{numbers[0].upper()}{numbers[1:]}.", _BIND)
    rounds, unusable = experiment.soak_rounds, experiment.unusable_rounds
    numbers = f"{unusable} of {rounds} soak rounds unusable"
    if rounds and unusable > rounds * UNUSABLE_SHARE:
        return Judgement(True, numbers, f"{numbers}: a run without end or verdict.", _BIND)
    return no(f"no torn end, no run id twice, one digest a patch; {numbers}")


def pinned_absent(case: Case) -> Judgement:
    """V3."""
    experiment = case.unit.experiment
    missing = experiment.missing_pinned.get(case.unit.patch_id, ())
    if not missing:
        if not experiment.pinned:
            return no("no inventory is configured")
        return no(f"{experiment.pinned} of {experiment.pinned} pinned tests have a record")
    numbers = f"{len(missing)} of {experiment.pinned} pinned tests have no record in the soak"
    return Judgement(
        True, numbers, f"{numbers}, e.g. {missing[0]}.", "Block merges; fix the selection; rerun."
    )


def no_controls(case: Case) -> Judgement:
    """V4. A control that was hardly judged is none, and a patch without soak has none."""
    experiment = case.unit.experiment
    lack = _lacking_control(case)
    if lack is None:
        return no(f"red and green ran in {experiment.soak_rounds} soak rounds")
    rounds = need(case.policy.rate_company)
    return Judgement(
        True,
        lack,
        f"{lack[0].upper()}{lack[1:]}: without canaries beside it no verdict can be trusted.",
        f"Run the soak with both canaries, {rounds} rounds.",
        need={Phase.SOAK: rounds},
    )


def _lacking_control(case: Case) -> str | None:
    experiment, patch = case.unit.experiment, case.unit.patch_id
    if not experiment.soak_rounds:
        return "there is no soak"
    missing = [r.value for r in (Role.RED, Role.GREEN) if r not in experiment.soak_roles]
    if missing:
        return f"the soak has no {' and no '.join(missing)} run"
    if patch and patch not in experiment.soak_patches:
        return f"patch {patch} has no run in the soak"
    green = experiment.green
    if 0 < green.failed.k == green.failed.n < ROUNDS:
        return f"green was judged in {green.failed.n} runs only and failed {green.failed}"
    return None


def _judged_on(canary: Canary) -> str:
    return "its pinned test" if canary.pinned else "its run verdict (no pinned test configured)"


def red_unproven(case: Case) -> Judgement:
    """V5."""
    red = case.unit.experiment.red
    wanted = min(ROUNDS, red.rounds)
    numbers = (
        f"red failed {_judged_on(red)} in {red.failed_rounds} of {red.rounds} rounds "
        f"(needs {wanted})"
    )
    passed = red.failed.n - red.failed.k - red.other_failures
    if passed > 0 or (red.failed_rounds >= wanted > 0):
        return no(numbers)
    other = f"; {red.other_failures} failures had another message" if red.other_failures else ""
    return Judgement(
        True,
        numbers + other,
        f"The red canary proves nothing: {numbers}{other}.",
        "Repair the red canary or the gate; rerun.",
    )


def green_broken(case: Case) -> Judgement:
    """V6."""
    green = case.unit.experiment.green
    numbers = f"green failed {_judged_on(green)} {green.failed}"
    if green.failed.n and green.failed.k == green.failed.n:
        why = f"The green canary never passed: {numbers}."
        return Judgement(True, numbers, why, "Repair the green canary or the base; rerun.")
    return no(numbers)


def red_passed(case: Case) -> Judgement:
    """2a."""
    red = case.unit.experiment.red
    passed = red.failed.n - red.failed.k - red.other_failures
    numbers = f"red passed {_judged_on(red)} {passed}/{red.failed.n}"
    if passed <= 0:
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"The red canary passed {passed} of {red.failed.n} times, first in run "
        f"{red.deviations[0]}{_shared(red)}: a bad patch can pass this gate.",
        "Block merges, investigate.",
        address=red.address,
    )


def green_failed(case: Case) -> Judgement:
    """2b."""
    green = case.unit.experiment.green
    numbers = f"green failed {_judged_on(green)} {green.failed}"
    if not green.failed.mixed:
        return no(numbers)
    return Judgement(
        True,
        numbers,
        f"The green canary failed {green.failed.k} of {green.failed.n} times, first in run "
        f"{green.deviations[0]}{_shared(green)}: a good patch can fail this gate.",
        "Block merges, investigate.",
        address=green.address,
    )


def _shared(canary: Canary) -> str:
    if canary.address is None:
        return ""
    peer = f" with {canary.address.peer_patch}" if canary.address.peer_patch else ""
    return f", sharing {canary.address.kind} {canary.address.id}{peer}"
