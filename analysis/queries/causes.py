"""The units of experiments as a list: grouped by what is behind them, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.attribution.cause import NO_FAILURE
from analysis.attribution.statistics import Count, lower, upper
from analysis.attribution.table import TABLE
from analysis.model import UnitClass
from analysis.queries.attributions import UnitKey
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.queries.redaction import redacted
from analysis.store import query

GROUPINGS = ("cause", "patch", "soak", "class", "none")
"""What the rows of a list stand for; none: a unit each."""

_ROWS = tuple(row.name for row in TABLE)

_UNITS = """
SELECT u.experiment, u.patch_id, u.test_id, u.variant, j.class, j.class_rank, j."row", j.cause,
    j.why, j.action, j.p, j.failures, j.company_k, j.company_n, j.alone_k, j.alone_n, j.detail
FROM units u JOIN judgements j USING (experiment, judgement)
WHERE list_contains($experiments, u.experiment)
"""

_FIELDS = {
    "class": "class",
    "row": '"row"',
    "patch": "patch_id",
    "test": "test_id",
    "soak": "experiment",
    "file": "split_part(test_id, '::', 1)",
    "signature": "json_extract_string(detail, '$.form')",
}
_TEXT = ("class", "patch_id", "test_id", "variant", "experiment", "cause")

FIELDS = tuple(_FIELDS)
"""The fields that a filter of these lists can name."""

_SHARE = "CASE WHEN {n} > 0 THEN {k} / {n} END"

# Deviation first, in every column that counts something.
_COUNTS = {
    "company": Column(_SHARE.format(k="company_k", n="company_n"), descending=True),
    "alone": Column(_SHARE.format(k="alone_k", n="alone_n"), descending=True),
    "failures": Column("failures", descending=True),
}

_GROUPED = """
SELECT
    min(class_rank) AS class_rank, {label} AS label,
    sum(failures)::BIGINT AS failures,
    sum(company_k)::BIGINT AS company_k, sum(company_n)::BIGINT AS company_n,
    sum(alone_k)::BIGINT AS alone_k, sum(alone_n)::BIGINT AS alone_n,
    count(*) AS units, count(DISTINCT test_id) AS tests,
    min(list_position($rows, "row")) AS first_row, bool_and(cause = $no_failure) AS no_failure,
    max(p) AS p,
    min_by(
        {{e: experiment, p: patch_id, t: test_id, v: variant, why: why, act: action}},
        (class_rank, -failures, experiment, patch_id, test_id, coalesce(variant, ''))
    ) AS sample
FROM matching GROUP BY {by}
"""


def _grouped(label: str, by: str, key: tuple[str, ...]) -> Listing:
    return Listing(
        sql=_UNITS,
        columns={
            "class": Column("class_rank"),
            "label": Column("label"),
            **_COUNTS,
            "units": Column("units", descending=True),
        },
        key=key,
        order=("class", "failures", "label"),
        fields=_FIELDS,
        text=_TEXT,
        shown=_GROUPED.format(label=label, by=by),
    )


_LISTINGS = {
    "cause": _grouped("cause", "class_rank, cause", ("class_rank", "label")),
    "patch": _grouped("patch_id", "patch_id", ("label",)),
    "soak": _grouped("experiment", "experiment", ("label",)),
    "class": _grouped("class", "class_rank, class", ("class_rank",)),
}

_UNIT_LISTING = Listing(
    sql=_UNITS,
    columns={
        "class": Column("class_rank"),
        "test": Column("test_id"),
        "patch": Column("patch_id"),
        "soak": Column("experiment"),
        **_COUNTS,
    },
    key=("experiment", "patch_id", "test_id", "variant"),
    order=("class", "failures", "soak", "patch", "test"),
    fields=_FIELDS,
    text=_TEXT,
    shown="""
    SELECT experiment, patch_id, test_id, variant, class_rank, failures, "row", cause,
        company_k, company_n, alone_k, alone_n, p, why, action
    FROM matching
    WHERE $grouping = 'none'
        OR ($grouping = 'cause' AND class = $class AND cause = $label)
        OR ($grouping = 'patch' AND patch_id = $label)
        OR ($grouping = 'soak' AND experiment = $label)
        OR ($grouping = 'class' AND class = $class)
    """,
)

CAUSE_COLUMNS = tuple(_LISTINGS["cause"].columns)
UNIT_COLUMNS = tuple(_UNIT_LISTING.columns)


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
    on them. units: how many; tests: how many different tests; p: the largest.
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
    no_failure: bool
    p: float | None
    sample: UnitKey
    why: str
    action: str

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
    given = {"experiments": list(experiments), "rows": list(_ROWS), "no_failure": NO_FAILURE}
    return page(connection, _LISTINGS[grouping], given, request, _cause)


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
    return page(connection, _UNIT_LISTING, given, request, _unit)


def units_total(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Totals:
    """How many units of the experiments there are to do what with."""
    found = {
        UnitClass(name): count
        for name, count in query.rows(
            connection,
            """SELECT j.class, count(*) FROM units u JOIN judgements j USING (experiment, judgement)
            WHERE list_contains($experiments, u.experiment) GROUP BY j.class""",
            {"experiments": list(experiments)},
        )
    }
    flakes, hold = found.pop(UnitClass.FLAKE, 0), found.pop(UnitClass.STABLE, 0)
    need_runs = found.pop(UnitClass.INSUFFICIENT, 0)
    return Totals(flakes, sum(found.values()), need_runs, hold)


_CLASSES = tuple(UnitClass)


def _cause(
    rank: int,
    label: str,
    failures: int,
    company_k: int,
    company_n: int,
    alone_k: int,
    alone_n: int,
    units: int,
    tests: int,
    first_row: int,
    no_failure: bool,
    p: float | None,
    sample: dict[str, Any],
) -> CauseRow:
    return CauseRow(
        unit_class=_CLASSES[rank],
        row=_ROWS[first_row - 1],
        label=redacted(label),
        key=label,
        company=Side(company_k, company_n),
        alone=Side(alone_k, alone_n),
        failures=failures,
        units=units,
        tests=tests,
        no_failure=no_failure,
        p=p,
        sample=UnitKey(sample["e"], sample["p"], sample["t"], sample["v"]),
        why=redacted(sample["why"]),
        action=redacted(sample["act"]),
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
    )
