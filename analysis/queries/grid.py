"""The grid of patches and runs: its rows with cells, its widths, and what stands beside a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from analysis.attribution.statistics import Count, lower, upper
from analysis.queries.canary_cells import CanaryRow, canary_rows
from analysis.queries.cells import in_order
from analysis.queries.paging import Page, PageRequest
from analysis.queries.rates import PhaseRate, TimePoint, rate_over_time, rates_by_phase
from analysis.queries.stability import PatchRow, Totals, filled, stability_page, totals
from analysis.store import query

_WIDEST = """
SELECT phase, max(runs), max(whole)
FROM (
    SELECT phase, count(*) AS runs,
        sum(count(*)) OVER (PARTITION BY experiment, patch_id, role)::BIGINT AS whole
    FROM runs WHERE list_contains($experiments, experiment)
    GROUP BY experiment, patch_id, role, phase
)
GROUP BY phase
"""


@dataclass(frozen=True)
class Grid:
    """widest: {phase: the most runs that a row, or a canary, has in it}, phases in their order.

    most: the most runs of a row in all phases; soaks: how many experiments were asked for.
    """

    widest: Mapping[str, int]
    most: int
    soaks: int
    totals: Totals


@dataclass(frozen=True)
class Pinned:
    """A canary with the one-sided 95 % bounds of the rate at which its pinned test fails."""

    row: CanaryRow
    upper: float
    lower: float


@dataclass(frozen=True)
class Rates:
    """How often a patch of an experiment fails, by phase and over time."""

    experiment: str
    patch_id: str
    phases: tuple[PhaseRate, ...]
    points: tuple[TimePoint, ...]


def grid(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Grid:
    """How wide the grid of all patches of the experiments is, and what it comes to."""
    found = query.rows(connection, _WIDEST, {"experiments": list(experiments)})
    return Grid(
        widest=in_order({phase: runs for phase, runs, _ in found}),
        most=max((whole for _, _, whole in found), default=0),
        soaks=len(experiments),
        totals=totals(connection, experiments),
    )


def patch_page(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], request: PageRequest
) -> Page[PatchRow]:
    """A window of the list of patches, each with its cells and tells."""
    found = stability_page(connection, experiments, request)
    return Page(
        rows=tuple(filled(connection, found.rows)),
        marks=found.marks,
        first=found.first,
        total=found.total,
        everything=found.everything,
        at=found.at,
        hint=found.hint,
    )


def pinned(connection: duckdb.DuckDBPyConnection, experiment: str) -> tuple[Pinned, ...]:
    """The canaries of an experiment, red before green; one that did not run is left out."""
    return tuple(
        Pinned(row, upper(Count(row.k, row.n)), lower(Count(row.k, row.n)))
        for row in canary_rows(connection, experiment)
    )


def rates(connection: duckdb.DuckDBPyConnection, experiment: str, patch_id: str) -> Rates:
    """What there is to draw of a patch."""
    return Rates(
        experiment,
        patch_id,
        rates_by_phase(connection, experiment, patch_id),
        rate_over_time(connection, experiment, patch_id),
    )
