"""Rows C and 3a to 3c: is it the patch?"""

from __future__ import annotations

from analysis.attribution.judgement import (
    Case,
    Judgement,
    no,
    order_association,
    p_words,
    significant,
)
from analysis.attribution.statistics import Count
from analysis.model import ARMS, Locus, Phase

_DEFERRED = "fails only after one other test: 4a decides once I1 and I2 do not hold"


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


def on_patch(case: Case) -> Judgement:
    """3a."""
    unit, test = case.unit, case.contrasts.patch
    arms = [phase for phase in ARMS if unit.subject(phase).n and unit.green(phase).n]
    subject, green = unit.subject(*arms), unit.green(*arms)
    numbers = f"{subject} on the patch, {green} on green over the same arms ({p_words(test)})"
    if order_association(case):
        return no(f"{numbers}; {_DEFERRED}")
    if not significant(test, case):
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
    numbers = f"{high} with timing tightened, {low} plain ({p_words(test)})"
    if order_association(case):
        return no(f"{numbers}; {_DEFERRED}")
    if not significant(test, case):
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
    if order_association(case):
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
