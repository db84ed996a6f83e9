"""The units of experiments as a list: grouped by what is behind them, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.attribution.statistics import Count, lower, upper
from analysis.model import Locus, UnitClass
from analysis.queries.attributions import UnitKey
from analysis.queries.paging import Page, PageRequest, page
from analysis.queries.redaction import redacted
from analysis.queries.unit_lists import GROUPED_LISTS, ROWS, UNIT_LIST, asked
from analysis.store import query

GROUPINGS = ("cause", "patch", "soak", "class", "none")
"""What the rows of a list stand for; none: a unit each."""

FIELDS = tuple(UNIT_LIST.fields)
"""The fields that a filter of these lists can name."""

CAUSE_COLUMNS = tuple(GROUPED_LISTS["cause"].columns)
UNIT_COLUMNS = tuple(UNIT_LIST.columns)


@dataclass(frozen=True)
class Side:
    """k failures of n executed, with the one-sided 95 % bounds of the rate."""

    k: int
    n: int

    @property
    def upper(self) -> float:
        """1.0 for nothing executed."""
        return upper(Count(self.k, self.n))

    @property
    def lower(self) -> float:
        """0.0 for nothing executed."""
        return lower(Count(self.k, self.n))


@dataclass(frozen=True)
class Group:
    """A line of a grouped list: the units behind it. label as `CauseRow.key` has it."""

    grouping: str
    unit_class: UnitClass
    label: str


@dataclass(frozen=True)
class CauseRow:
    """Several units as one line, with what is said of the one that fails most.

    unit_class, row: the first of them in their order. label: the cause, patch, soak or class, with
    credentials redacted; key: as it is. company and alone are sums for reading: nothing was tested
    on them. units: how many; soaks: how many experiments have one; tests: how many different ones
    where there is no failure, else 0. p: the largest. sample: the first of them.
    """

    unit_class: UnitClass
    row: str
    label: str
    key: str
    company: Side
    alone: Side
    failures: int
    units: int
    tests: int
    soaks: int
    no_failure: bool
    p: float | None
    sample: UnitKey
    why: str
    action: str
    locus: Locus | None

    @property
    def may_be_frozen(self) -> bool:
        """Whether it may be quarantined: a test flake alone."""
        return self.unit_class is UnitClass.FLAKE


@dataclass(frozen=True)
class UnitLine:
    """One unit of a list."""

    key: UnitKey
    unit_class: UnitClass
    row: str
    cause: str
    company: Side
    alone: Side
    failures: int
    p: float | None
    why: str
    action: str
    locus: Locus | None

    @property
    def may_be_frozen(self) -> bool:
        """Whether it may be quarantined: a test flake alone."""
        return self.unit_class is UnitClass.FLAKE


@dataclass(frozen=True)
class Totals:
    """Units by what is to be done with them: flakes may be quarantined, need_fix are a bug
    somewhere or no evidence at all, need_runs are undecided, hold are stable."""

    flakes: int
    need_fix: int
    need_runs: int
    hold: int

    @property
    def units(self) -> int:
        """All of them."""
        return self.flakes + self.need_fix + self.need_runs + self.hold


def cause_page(
    connection: duckdb.DuckDBPyConnection,
    experiments: Sequence[str],
    grouping: str,
    request: PageRequest,
) -> Page[CauseRow]:
    """A window of the grouped list. grouping: one of GROUPINGS but none.

    In its own order: worst class first, then most failures, then by label.
    """
    return page(connection, GROUPED_LISTS[grouping], asked(experiments), request, cause_row)


def unit_page(
    connection: duckdb.DuckDBPyConnection,
    experiments: Sequence[str],
    request: PageRequest,
    group: Group | None,
) -> Page[UnitLine]:
    """A window of the units of a group, or of all units for None.

    In its own order: worst class first, then most failures, then by name.
    """
    given = {
        "experiments": list(experiments),
        "grouping": "none" if group is None else group.grouping,
        "class": "" if group is None else group.unit_class.value,
        "label": "" if group is None else group.label,
    }
    return page(connection, UNIT_LIST, given, request, _unit)


def units_total(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Totals:
    """How many units of the experiments there are to do what with."""
    found = {
        UnitClass(name): count
        for name, count in query.rows(connection, _TOTALS, {"experiments": list(experiments)})
    }
    flakes, hold = found.pop(UnitClass.FLAKE, 0), found.pop(UnitClass.STABLE, 0)
    need_runs = found.pop(UnitClass.INSUFFICIENT, 0)
    return Totals(flakes, sum(found.values()), need_runs, hold)


_TOTALS = """
WITH counted AS (
    SELECT experiment, judgement, count(*) AS units FROM units
    WHERE list_contains($experiments, experiment) GROUP BY ALL
)
SELECT class, sum(units)::BIGINT
FROM counted JOIN judgements USING (experiment, judgement) GROUP BY class
"""

_CLASSES = tuple(UnitClass)


def cause_row(
    label: str,
    rank: int,
    units: int,
    failures: int,
    company_k: int,
    company_n: int,
    alone_k: int,
    alone_n: int,
    p: float | None,
    first_row: int,
    soaks: int,
    no_failure: bool,
    foremost: dict[str, Any],
    sample: dict[str, Any],
    why: str,
    action: str,
    locus: str | None,
    tests: int,
) -> CauseRow:
    """A row of a grouped list, from its columns."""
    return CauseRow(
        unit_class=_CLASSES[rank],
        row=ROWS[first_row - 1],
        label=redacted(label),
        key=label,
        company=Side(company_k, company_n),
        alone=Side(alone_k, alone_n),
        failures=failures,
        units=units,
        tests=tests,
        soaks=soaks,
        no_failure=no_failure,
        p=p,
        sample=UnitKey(foremost["experiment"], sample["patch"], sample["test"], sample["variant"]),
        why=redacted(why),
        action=redacted(action),
        locus=None if locus is None else Locus(locus),
    )


def _unit(
    experiment: str,
    patch_id: str,
    test_id: str,
    variant: str | None,
    rank: int,
    failures: int,
    row: str,
    cause: str,
    company_k: int,
    company_n: int,
    alone_k: int,
    alone_n: int,
    p: float | None,
    why: str,
    action: str,
    locus: str | None,
) -> UnitLine:
    return UnitLine(
        key=UnitKey(experiment, patch_id, test_id, variant),
        unit_class=_CLASSES[rank],
        row=row,
        cause=redacted(cause),
        company=Side(company_k, company_n),
        alone=Side(alone_k, alone_n),
        failures=failures,
        p=p,
        why=redacted(why),
        action=redacted(action),
        locus=None if locus is None else Locus(locus),
    )
