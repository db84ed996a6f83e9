"""Whether a test behaves differently after a change, or whether it is noise.

Like is compared with like: a stratum is one phase of one role, so that another mix of phases
never looks like a fix. The p-value is that of Fisher's exact test, mid-p, convolved over the strata
(see `attribution.statistics`), and doubled: nobody says beforehand whether a change helps or
harms, and both are looked for. It is the same whichever side is called before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from analysis.attribution.statistics import (
    Count,
    Stratum,
    benjamini_hochberg,
    lower,
    mid_p,
    need,
    total,
)
from analysis.model import ALONE, COMPANY, Phase, Role

Cell = tuple[Phase, Role]
Cells = Mapping[Cell, Count]
"""Failures / executed of one test, in arms that say something of it."""

GROUPS = {"company": COMPANY, "alone": ALONE}


class Change(StrEnum):
    """What became of a test, in the order in which it wants to be read.

    Worse and better say that it fails at another rate, not why: a race fails at another rate on
    another day, too.
    """

    WORSE = "worse"
    UNCOMPARABLE = "not comparable"
    SAME = "no difference shown"
    BETTER = "better"
    FIXED = "fixed"
    NEW = "new"
    VANISHED = "vanished"


@dataclass(frozen=True)
class Difference:
    """Before against after, over the cells in which both ran.

    p: two-sided. least: the smallest p that these numbers of runs and failures allow at all.
    falls: the test fails less after than before.
    """

    before: Cells
    after: Cells
    p: float
    least: float
    falls: bool

    @property
    def common(self) -> tuple[Cell, ...]:
        return _common(self.before, self.after)


def difference(before: Cells, after: Cells) -> Difference:
    """Compare two sides. Cells without an execution are left out."""
    before, after = _executed(before), _executed(after)
    strata = [Stratum(before[cell], after[cell]) for cell in _common(before, after)]
    mirrored = [Stratum(low, high) for high, low in strata]
    falls, rises = mid_p(strata), mid_p(mirrored)
    least = min(mid_p([*map(_utmost, strata)]), mid_p([*map(_utmost, mirrored)]))
    return Difference(
        before, after, min(1.0, 2 * min(falls, rises)), min(1.0, 2 * least), falls < rises
    )


def _common(before: Cells, after: Cells) -> tuple[Cell, ...]:
    # In one order, so that neither side's order of cells decides the last digit of p.
    return tuple(sorted(before.keys() & after.keys()))


def _executed(cells: Cells) -> Cells:
    return {cell: count for cell, count in cells.items() if count.n}


def _utmost(stratum: Stratum) -> Stratum:
    """The same runs and failures, with as many failures as possible on the first side."""
    high, low = stratum
    failures = high.k + low.k
    k = min(failures, high.n)
    return Stratum(Count(k, high.n), Count(failures - k, low.n))


def shown(differences: Iterable[Difference], alpha: float) -> list[bool]:
    """Which differences are more than noise: Benjamini-Hochberg with q = alpha.

    As in attribution a corrected p promotes: of what is called fixed, better or worse one in a
    hundred is noise, however many tests there are. A test whose runs are too few for any p below
    alpha is not in the family (Tarone 1990): it can neither be shown nor cost others their proof.
    """
    asked = list(differences)
    family = [one for one in asked if one.least < alpha]
    found = iter(benjamini_hochberg([one.p for one in family], alpha))
    return [next(found) if one.least < alpha else False for one in asked]


def clean_enough(compared: Difference) -> bool:
    """Whether silence after the change speaks: every arm that failed before was run again, and in
    company and alone, where it failed, so often that the rate of before is excluded.

    That rate is its lower 95 % bound, and the runs are those that exclude it with 95 %.
    """
    again = all(cell in compared.after for cell, count in compared.before.items() if count.k)
    return again and _silent(compared.after) and not runs_missing(compared)


def runs_missing(compared: Difference) -> dict[str, int]:
    """Clean runs in company and alone that are missing after the change for its silence to speak;
    none where it is not silent."""
    if not _silent(compared.after):
        return {}
    missing = {}
    for group, phases in GROUPS.items():
        before = _within(compared.before, phases)
        after = _within(compared.after, phases)
        if before.k and (more := need(lower(before)) - after.n) > 0:
            missing[group] = more
    return missing


def _silent(cells: Cells) -> bool:
    return not any(count.k for count in cells.values())


def _within(cells: Cells, phases: Iterable[Phase]) -> Count:
    wanted = set(phases)
    return total(count for (phase, _), count in cells.items() if phase in wanted)
