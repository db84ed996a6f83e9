"""The tests of an experiment that failed, execution by execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pandas as pd

from analysis.attribution.executions import EXECUTION, describe
from analysis.attribution.facts import Cell, Detail, TestKey
from analysis.attribution.statistics import ZERO, Count
from analysis.attribution.touches import TOUCHES
from analysis.model import Phase, Role
from analysis.store import query

_EXECUTIONS = """
SELECT patch_id, role, test_norm, variant, phase, cpus, run_id, failed, started, finished,
    exc, errno, message, env, image_digest, runner, worker, before, resources,
    source_id, byte_offset, item
FROM results_now
WHERE experiment = $experiment AND usable AND NOT in_outage AND failed IS NOT NULL
    AND phase <> 'gate' AND list_contains($tests, test_norm)
ORDER BY started, run_id, source_id, byte_offset, item
"""

# Two tests of different runs are exposed to each other when both touched the same resource, at
# least one wrote, and their times overlap.
_OVERLAPS = (
    TOUCHES
    + """
SELECT a.source_id, a.byte_offset, a.item, a.kind, a.id, b.patch_id AS peer_patch,
    b.test_id AS peer_test, count(*) AS meetings
FROM touches a
JOIN touches b ON a.kind = b.kind AND a.id = b.id AND a.run_id <> b.run_id
    AND (a.writes OR b.writes) AND a.started <= b.finished AND b.started <= a.finished
WHERE a.phase IN ('soak', 'concurrent') AND b.phase IN ('soak', 'concurrent')
    AND list_contains($tests, a.test_norm)
GROUP BY ALL
"""
)


@dataclass(frozen=True)
class FailedUnit:
    """What is known of a unit that failed. by_run: its cells counted by runs, where the process
    decides and iterations are not independent; None where executions count."""

    detail: Detail
    by_run: dict[Cell, Count] | None


@dataclass(frozen=True)
class Failing:
    """executions: the rows of each failing test. overlaps: which of them (by source_id,
    byte_offset, item) a peer met on which resource, a row a peer."""

    executions: Mapping[TestKey, pd.DataFrame]
    overlaps: pd.DataFrame

    def unit(self, key: TestKey, patch: str, *, red_counts: bool) -> FailedUnit | None:
        """What is known of a test on a subject patch; None where neither it nor green failed.

        red_counts: whether red's executions are pooled for exposure.
        """
        rows = self.executions.get(key)
        if rows is None:
            return None
        mine = rows[(rows["role"] != Role.SUBJECT) | (rows["patch_id"] == patch)]
        if not bool(mine.loc[mine["role"] != Role.RED, "failed"].any()):
            return None
        if not unanimous_by_run(mine):
            return FailedUnit(describe(mine, self.overlaps, red_counts=red_counts), None)
        runs = one_row_a_run(mine)
        met = _met_by_run(self.overlaps, mine, runs)
        return FailedUnit(describe(runs, met, red_counts=red_counts), _by_run(mine))


def failing_tests(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object], tests: Iterable[str]
) -> Failing:
    """Fetch the executions of the tests (normal forms) of an experiment, and their overlaps."""
    chosen = {**of, "tests": sorted(tests)}
    by_test: Any = query.frame(connection, _EXECUTIONS, chosen).groupby(
        ["test_norm", "variant"], dropna=False
    )
    executions = {
        (str(test), None if pd.isna(variant) else str(variant)): rows.reset_index(drop=True)
        for (test, variant), rows in by_test
    }
    return Failing(executions, query.frame(connection, _OVERLAPS, chosen))


def unanimous_by_run(rows: pd.DataFrame) -> bool:
    """Whether the process decides: all iterations of each run agree, and some run failed in
    all of its several. Then runs are independent and iterations are not."""
    own = rows[rows["role"] != Role.RED]
    runs = own.groupby("run_id")["failed"].agg(["sum", "count"])
    failed, executed = runs["sum"].astype(int), runs["count"].astype(int)
    unanimous = ((failed == 0) | (failed == executed)).all()
    return bool(unanimous and ((failed == executed) & (executed > 1)).any())


def one_row_a_run(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a unit whose runs are unanimous, one a run. Of several messages the
    alphabetically first stands for the run, so that line order decides nothing."""
    return (
        rows.sort_values(["started", "run_id", "message", "exc", "item"], kind="stable")
        .drop_duplicates("run_id")
        .reset_index(drop=True)
    )


def _met_by_run(overlaps: pd.DataFrame, rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The overlaps of all executions of a run, as overlaps of the one that stands for it."""
    standing = runs[["run_id", *EXECUTION]]
    of_run = overlaps.merge(rows[[*EXECUTION, "run_id"]], on=EXECUTION).drop(columns=EXECUTION)
    return of_run.merge(standing, on="run_id").drop(columns="run_id")


def _by_run(rows: pd.DataFrame) -> dict[Cell, Count]:
    """Failures / runs a cell, where every run of the unit is unanimous."""
    cells: dict[Cell, Count] = {}
    runs: Any = rows.groupby(["role", "phase", "cpus", "run_id"], dropna=False)["failed"].any()
    for (role, phase, cpus, _), failed in runs.items():
        cell = Cell(Role(role), Phase(phase), None if pd.isna(cpus) else int(cpus))
        cells[cell] = cells.get(cell, ZERO) + Count(int(failed), 1)
    return cells
