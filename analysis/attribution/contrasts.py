"""The comparisons that the table makes, one p-value each, and which of them may promote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from analysis.attribution.facts import SUBJECT_AND_GREEN, Contrast, Exposure, Unit
from analysis.attribution.statistics import Stratum, benjamini_hochberg, mid_p
from analysis.model import ALONE, ARMS, COMPANY, Phase, Role

PLAIN = (Phase.SERIAL, Phase.REPEAT)
_Candidate = TypeVar("_Candidate", Exposure, Contrast)

GREY = 0.05
"""A raw p below this is not clear enough to call a test a flake."""


@dataclass(frozen=True)
class Tested:
    """A p-value, already multiplied by how many alternatives were tried for it."""

    p: float
    comparable: bool


@dataclass(frozen=True)
class Contrasts:
    """One-sided stratified mid-p values of a unit. 1.0 where nothing can be compared.

    promoted: a p-value of this unit may promote it to a class (Benjamini-Hochberg).
    """

    exposure: Tested
    exposed_to: Exposure | None
    variable: Tested
    variable_of: Contrast | None
    machine: Tested
    company: Tested
    company_patch: Tested
    serial: Tested
    patch: Tested
    tightened: Tested
    tightened_green: Tested
    tightened_pooled: Tested
    loaded_pooled: Tested
    smaller_machine: Tested
    order: Tested
    polluter: Contrast | None
    promoted: bool = False

    @property
    def promoting(self) -> tuple[Tested, ...]:
        """The comparisons of the rows 1a, 1b, 1e, 1g, 3a, 3b and 4o."""
        return (
            self.exposure,
            self.variable,
            self.company,
            self.serial,
            self.patch,
            self.tightened,
            self.order,
        )

    @property
    def unit_p(self) -> float:
        """The unit's one p: its smallest over the rows tried, times their number."""
        tried = [test.p for test in self.promoting if test.comparable]
        return min(1.0, min(tried, default=1.0) * len(tried))


def compare(unit: Unit) -> Contrasts:
    """Every comparison of the table for one unit that has a failure."""
    detail = unit.detail
    exposed_to, exposure = _best(detail.exposures, [e.strata for e in detail.exposures])
    variable_of, variable = _best(detail.variables, [c.strata for c in detail.variables])
    _, machine = _best(detail.machines, [c.strata for c in detail.machines])
    polluter, order = _best(detail.polluters, [c.strata for c in detail.polluters])
    subject, green = (Role.SUBJECT,), (Role.GREEN,)
    return Contrasts(
        exposure=exposure,
        exposed_to=exposed_to,
        variable=variable,
        variable_of=variable_of,
        machine=machine,
        company=_test(unit.strata(SUBJECT_AND_GREEN, COMPANY, ALONE)),
        company_patch=_test(unit.patch_strata(COMPANY)),
        serial=_test(unit.strata(SUBJECT_AND_GREEN, (Phase.SERIAL,), COMPANY)),
        patch=_test(unit.patch_strata(ARMS)),
        tightened=_test(unit.strata(subject, (Phase.TIGHTENED,), PLAIN)),
        tightened_green=_test(unit.strata(green, (Phase.TIGHTENED,), PLAIN)),
        tightened_pooled=_test(unit.strata(SUBJECT_AND_GREEN, (Phase.TIGHTENED,), PLAIN)),
        loaded_pooled=_test(unit.strata(SUBJECT_AND_GREEN, (Phase.LOADED,), PLAIN)),
        smaller_machine=_test(unit.machine_strata()),
        order=order,
        polluter=polluter,
    )


def promoted(all_contrasts: Sequence[Contrasts], alpha: float) -> list[bool]:
    """Which units of an experiment a p-value may promote: Benjamini-Hochberg at q = alpha."""
    return benjamini_hochberg([contrasts.unit_p for contrasts in all_contrasts], alpha)


def _test(strata: Sequence[Stratum]) -> Tested:
    comparable = any(s.high.n and s.low.n and s.high.k + s.low.k for s in strata)
    return Tested(mid_p(strata) if comparable else 1.0, comparable)


def _best(
    candidates: Sequence[_Candidate], strata: Sequence[Sequence[Stratum]]
) -> tuple[_Candidate | None, Tested]:
    """The candidate with the smallest p, which pays for all that could be compared.

    Of equal ones the one that covers most failures, as the candidates come sorted by that.
    """
    tests = [_test(group) for group in strata]
    tried = sum(test.comparable for test in tests)
    if not tried:
        return (candidates[0] if candidates else None), Tested(1.0, False)
    best = min(range(len(tests)), key=lambda index: tests[index].p)
    return candidates[best], Tested(min(1.0, tests[best].p * tried), True)
