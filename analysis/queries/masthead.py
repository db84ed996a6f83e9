"""What stands above every screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analysis.store import query


@dataclass(frozen=True)
class Summary:
    """newest: when the last run ended, in UTC. void_passes: runs that the log calls a pass and
    that have no verdict."""

    experiments: tuple[str, ...]
    newest: datetime | None
    void_passes: int


_SUMMARY = """
SELECT
    (
        SELECT max(newest) FROM experiment_facts
        WHERE list_contains($experiments, experiment)
    ),
    (
        SELECT count(*) FROM runs
        WHERE logged_verdict = 'pass' AND verdict = 'none'
            AND list_contains($experiments, experiment)
    )
"""


def summary(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Summary:
    """The summary of some experiments."""
    ((newest, void),) = query.rows(connection, _SUMMARY, {"experiments": list(experiments)})
    return Summary(tuple(experiments), newest, void)
