"""From the tables of `tally` to facts: the units of one experiment that the table judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import duckdb

from analysis.attribution.facts import Address, Cell, Detail, Experiment, TestKey, Unit
from analysis.attribution.failing import Failing, failing_tests
from analysis.attribution.statistics import Count
from analysis.config import Config
from analysis.model import ALONE, ARMS, RUN_TEST_ID, Phase, Role
from analysis.records.identity import normal_form
from analysis.store import query

_CELLS = """
SELECT judgement, patch_id, test_norm, variant, test_id, crowded, kind, id, runs,
    role, phase, cpus, k, n, cut
FROM judged_cells WHERE experiment = $experiment
ORDER BY judgement, role, phase, cpus
"""


class _Row(NamedTuple):
    """A unit and one arm in which its test was counted; role is None where it never was.

    kind, id, runs: the resource that so many alone runs shared. cut: failures in runs that
    were cut.
    """

    judgement: int
    patch_id: str
    test_norm: str
    variant: str | None
    test_id: str
    crowded: bool
    kind: str | None
    id: str | None
    runs: int | None
    role: str | None
    phase: str
    cpus: int | None
    k: int
    n: int
    cut: int


@dataclass(frozen=True)
class Judged:
    """A unit to be judged, and the number under which its judgement is kept: it holds for all
    units of the same profile."""

    number: int
    unit: Unit


def gather(
    connection: duckdb.DuckDBPyConnection, experiment: Experiment, config: Config
) -> list[Judged]:
    """The units of an experiment that stand for all of its units. Reads the tables of `tally`."""
    rows = [_Row(*row) for row in query.rows(connection, _CELLS, {"experiment": experiment.name})]
    failing = None
    if any(row.k for row in rows if _in_arm(row) and row.role != Role.RED):
        failing = failing_tests(connection, experiment.name)
    return [
        Judged(number, _unit(experiment, config, failing, list(cells)))
        for number, cells in groupby(rows, key=lambda row: row.judgement)
    ]


def _in_arm(row: _Row) -> bool:
    return row.role is not None and row.phase != Phase.GATE and row.n > 0


def _unit(
    experiment: Experiment, config: Config, failing: Failing | None, rows: Sequence[_Row]
) -> Unit:
    first = rows[0]
    key: TestKey = (first.test_norm, first.variant)
    cells = {
        Cell(Role(row.role), Phase(row.phase), row.cpus): Count(row.k, row.n)
        for row in rows
        if row.role is not None and _in_arm(row)
    }
    executions = cells
    found = None
    if failing is not None:
        found = failing.unit(key, first.patch_id, red_counts=_red_counts(config, key))
    if found is not None and found.by_run is not None:
        cells = found.by_run
    unfresh = None if first.kind is None else Address(first.kind, first.id)
    unfresh_failures = 0
    if unfresh is not None:
        unfresh_failures = sum(
            count.k
            for cell, count in cells.items()
            if cell.phase in ALONE and cell.role is not Role.RED
        )
        cells, executions = _without_alone(cells), _without_alone(executions)
    return Unit(
        experiment=experiment,
        patch_id=first.patch_id,
        test_id=first.test_id,
        variant=first.variant,
        cells=cells,
        elsewhere=sum(
            row.cut + (row.k if row.phase == Phase.GATE else 0)
            for row in rows
            if row.role in (Role.SUBJECT, Role.GREEN)
        ),
        by_run=found is not None and found.by_run is not None,
        executions=executions,
        isolated=not first.crowded,
        unfresh=unfresh,
        unfresh_runs=first.runs or 0,
        unfresh_failures=unfresh_failures,
        detail=Detail() if found is None else found.detail,
    )


def _without_alone(cells: dict[Cell, Count]) -> dict[Cell, Count]:
    return {cell: count for cell, count in cells.items() if cell.phase not in ALONE}


def _red_counts(config: Config, key: TestKey) -> bool:
    """Red's executions count as the test's own, except on the test that red is there to fail."""
    red = config.canaries.red
    if red is None or red.test_id is None:
        return key[0] != RUN_TEST_ID
    return normal_form(red.test_id) != key[0]


def arms_of(unit: Unit, roles: Sequence[Role]) -> dict[Phase, dict[Role, Count]]:
    """Failures / executed a phase and role, in the order in which phases are shown."""
    return {
        phase: {role: count for role in roles if (count := unit.count((role,), (phase,))).n}
        for phase in ARMS
        if any(unit.count((role,), (phase,)).n for role in roles)
    }
