"""The recorded rows of a source: put in, taken out, given to another source."""

from __future__ import annotations

import duckdb

from analysis.records import Batch
from analysis.store import query

TABLES = {  # table of the index: table of a batch
    "run_lines": "run_lines",
    "test_lines": "test_lines",
    "experiment_lines": "experiment_lines",
    "reject_lines": "rejects",
    "note_lines": "notes",
}


def insert(connection: duckdb.DuckDBPyConnection, source_id: int, batch: Batch) -> None:
    """Add the rows of a batch."""
    for table, name in TABLES.items():
        added = getattr(batch, name)
        if not added.num_rows:
            continue
        connection.register("batch", added)
        query.write(
            connection,
            f"INSERT INTO {table} BY NAME SELECT $source_id AS source_id, * FROM batch",
            {"source_id": source_id},
        )
        connection.unregister("batch")


def drop(connection: duckdb.DuckDBPyConnection, source_id: int, start: int = 0) -> None:
    """Delete the rows of a source from byte `start` on."""
    for table in TABLES:
        query.write(
            connection,
            f"DELETE FROM {table} WHERE source_id = $source_id AND byte_offset >= $start",
            {"source_id": source_id, "start": start},
        )


def move(connection: duckdb.DuckDBPyConnection, source_id: int, heir: int) -> None:
    """Give all rows of a source to another one of the same content."""
    for table in TABLES:
        query.write(
            connection,
            f"UPDATE {table} SET source_id = $heir WHERE source_id = $source_id",
            {"source_id": source_id, "heir": heir},
        )
