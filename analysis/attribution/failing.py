"""The tests of an experiment that failed, execution by execution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from analysis.attribution.executions import Execution, Meeting, Meetings, Place, describe
from analysis.attribution.facts import Cell, Detail, TestKey
from analysis.attribution.statistics import ZERO, Count
from analysis.model import Phase, Role
from analysis.store import query

_EXECUTIONS = """
SELECT variant, source_id, byte_offset, item, patch_id, role, test_norm, phase, cpus, run_id,
    failed, started, exc, errno, message, env, image_digest, runner, worker, before, resources
FROM failing_executions WHERE experiment = $experiment
ORDER BY started, run_id, source_id, byte_offset, item
"""

_MEETINGS = """
SELECT source_id, byte_offset, item, kind, id, peer_patch, peer_test, times
FROM meetings WHERE experiment = $experiment
"""


@dataclass(frozen=True)
class FailedUnit:
    """What is known of a unit that failed. by_run: its cells counted by runs, where the process
    decides and iterations are not independent; None where executions count."""

    detail: Detail
    by_run: dict[Cell, Count] | None


@dataclass(frozen=True)
class Failing:
    """executions: those of each failing test, in order of time. meetings: the peers of each."""

    executions: Mapping[TestKey, Sequence[Execution]]
    meetings: Meetings

    def unit(self, key: TestKey, patch: str, *, red_counts: bool) -> FailedUnit | None:
        """What is known of a test on a subject patch; None where neither it nor green failed.

        red_counts: whether red's executions are pooled for exposure.
        """
        mine = [
            row
            for row in self.executions.get(key, ())
            if row.role != Role.SUBJECT or row.patch_id == patch
        ]
        if not any(row.failed for row in mine if row.role != Role.RED):
            return None
        if not unanimous_by_run(mine):
            return FailedUnit(describe(mine, self.meetings, red_counts=red_counts), None)
        runs = one_row_a_run(mine)
        met = _met_by_run(self.meetings, mine, runs)
        return FailedUnit(describe(runs, met, red_counts=red_counts), _by_run(mine))


def failing_tests(connection: duckdb.DuckDBPyConnection, experiment: str) -> Failing:
    """The executions of the tests of an experiment that failed. Reads the tables of `tally`."""
    of = {"experiment": experiment}
    executions: dict[TestKey, list[Execution]] = defaultdict(list)
    for variant, source, offset, item, *rest in query.rows(connection, _EXECUTIONS, of):
        row = Execution((source, offset, item), *rest)
        executions[row.test_norm, variant].append(row)
    meetings: dict[Place, list[Meeting]] = defaultdict(list)
    for source, offset, item, *rest in query.rows(connection, _MEETINGS, of):
        meetings[source, offset, item].append(Meeting(*rest))
    return Failing(executions, meetings)


def _by_run_id(rows: Iterable[Execution]) -> dict[str, list[Execution]]:
    runs: dict[str, list[Execution]] = defaultdict(list)
    for row in rows:
        runs[row.run_id].append(row)
    return runs


def unanimous_by_run(rows: Iterable[Execution]) -> bool:
    """Whether the process decides: all iterations of each run agree, and some run failed in
    all of its several. Then runs are independent and iterations are not."""
    runs = _by_run_id(row for row in rows if row.role != Role.RED).values()
    agree = all(len({row.failed for row in run}) == 1 for run in runs)
    return agree and any(len(run) > 1 and run[0].failed for run in runs)


def one_row_a_run(rows: Iterable[Execution]) -> list[Execution]:
    """The rows of a unit whose runs are unanimous, one a run. Of several messages the
    alphabetically first stands for the run, so that line order decides nothing."""

    def rank(row: Execution) -> tuple[object, ...]:
        texts = (row.message, row.exc)
        return (row.started is None, row.started, *((t is None, t) for t in texts), row.place[2])

    return [min(run, key=rank) for run in _by_run_id(rows).values()]


def _met_by_run(
    meetings: Meetings, rows: Iterable[Execution], runs: Iterable[Execution]
) -> dict[Place, list[Meeting]]:
    """The meetings of all executions of a run, as meetings of the one that stands for it."""
    standing = {row.run_id: row.place for row in runs}
    met: dict[Place, list[Meeting]] = defaultdict(list)
    for row in rows:
        met[standing[row.run_id]].extend(meetings.get(row.place, ()))
    return met


def _by_run(rows: Iterable[Execution]) -> dict[Cell, Count]:
    """Failures / runs a cell, where every run of the unit is unanimous."""
    cells: dict[Cell, Count] = defaultdict(lambda: ZERO)
    runs: dict[tuple[str, Cell], bool] = defaultdict(bool)
    for row in rows:
        cell = Cell(Role(row.role), Phase(row.phase), row.cpus)
        runs[row.run_id, cell] |= row.failed
    for (_, cell), failed in runs.items():
        cells[cell] += Count(int(failed), 1)
    return dict(cells)
