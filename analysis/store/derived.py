"""What follows from the recorded tables and is kept, an experiment at a time."""

from __future__ import annotations

import duckdb

from analysis.store import query

TABLES = ("run_facts", "findings", "outage_runs", "judgements", "units", "experiment_facts")


def forget_the_gone(connection: duckdb.DuckDBPyConnection) -> None:
    """Delete what is kept of experiments that no source has any more."""
    for table in TABLES:
        query.write(
            connection,
            f"DELETE FROM {table} WHERE experiment NOT IN (SELECT experiment FROM source_runs)",
        )
