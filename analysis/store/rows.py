"""The recorded rows of a source: put in, taken out, given to another source."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from analysis.records import Batch, array_of, is_unstable, normal_form, numbers
from analysis.store import query

TABLES = ("run_lines", "executions", "experiment_lines", "reject_lines", "note_lines")


_MANY = 500_000
"""Executions that are inserted at once, in one piece: DuckDB leaves holes between small ones."""

_EXECUTIONS = """
* EXCLUDE (finished),
wrapped(epoch_us(finished) - expected_us(started, duration_s)) AS finished_late
"""

_ADD_RUNS = """
INSERT INTO run_names
SELECT (SELECT coalesce(max(run_key), 0) FROM run_names) + row_number() OVER (ORDER BY place), text
FROM given ANTI JOIN run_names ON run_id = text
"""

_ADD_TESTS = """
INSERT INTO tests
WITH first AS (SELECT coalesce(max(test_key), 0) AS key FROM tests),
added AS (SELECT first.key + row_number() OVER (ORDER BY place) AS test_key, * FROM given, first)
SELECT a.test_key, coalesce(t.norm_key, min(a.test_key) OVER (PARTITION BY a.norm)),
    a.text, a.norm, a.unstable
FROM added a
LEFT JOIN (SELECT test_norm, min(norm_key) AS norm_key FROM tests GROUP BY ALL) t
    ON t.test_norm = a.norm
"""


class Writer:
    """Adds the rows of a source, batch by batch.

    Executions are gathered: DuckDB writes many at once to disk, and keeps few in memory until
    the transaction ends.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, source_id: int) -> None:
        self._connection, self._source_id = connection, source_id
        self._executions: list[pa.Table] = []
        self._gathered = 0

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch."""
        self._insert("run_lines", batch.run_lines)
        self._insert("experiment_lines", batch.experiment_lines)
        self._insert("reject_lines", batch.rejects)
        self._insert("note_lines", batch.notes)
        self._executions.append(_with_keys(self._connection, batch.test_lines))
        self._gathered += batch.test_lines.num_rows
        if self._gathered >= _MANY:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        if self._gathered:
            whole = pa.concat_tables(table for table in self._executions if table.num_rows)
            whole = whole.combine_chunks()
            self._insert("executions", whole, _EXECUTIONS)
        self._executions, self._gathered = [], 0

    def _insert(self, table: str, added: pa.Table, columns: str = "*") -> None:
        if added.num_rows:
            query.rows_from(
                self._connection,
                added,
                f"""INSERT INTO {table} BY NAME
                SELECT $source_id AS source_id, {columns} FROM given""",
                {"source_id": self._source_id},
            )


def _with_keys(connection: duckdb.DuckDBPyConnection, tests: pa.Table) -> pa.Table:
    """Executions with the keys of their names in the place of the names."""
    if not tests.num_rows:
        return tests
    runs = tests.column("run_id").unify_dictionaries().combine_chunks()
    names = tests.column("test_id").unify_dictionaries().combine_chunks()
    kept = tests.drop_columns(["run_id", "test_id", "test_norm", "unstable_id"])
    run_keys = _run_keys(connection, runs.dictionary)
    test_keys = _test_keys(connection, names.dictionary)
    return kept.append_column("run_key", run_keys.take(runs.indices)).append_column(
        "test_key", test_keys.take(names.indices)
    )


def _run_keys(connection: duckdb.DuckDBPyConnection, names: pa.Array) -> pa.Array:
    words = pa.table({"place": numbers(np.arange(len(names))), "text": names})
    query.rows_from(connection, words, _ADD_RUNS)
    return _keys(connection, words, "SELECT run_key FROM given JOIN run_names ON run_id = text")


def _test_keys(connection: duckdb.DuckDBPyConnection, names: pa.Array) -> pa.Array:
    words = pa.table({"place": numbers(np.arange(len(names))), "text": names})
    new = query.rows_from(
        connection, words, "SELECT text FROM given ANTI JOIN tests ON test_id = text ORDER BY place"
    )
    if new:
        texts = [text for (text,) in new]
        added = pa.table(
            {
                "place": numbers(np.arange(len(texts))),
                "text": array_of(texts, pa.string()),
                "norm": array_of(list(map(normal_form, texts)), pa.string()),
                "unstable": array_of(list(map(is_unstable, texts)), pa.bool_()),
            }
        )
        query.rows_from(connection, added, _ADD_TESTS)
    return _keys(connection, words, "SELECT test_key FROM given JOIN tests ON test_id = text")


def _keys(connection: duckdb.DuckDBPyConnection, words: pa.Table, sql: str) -> pa.Array:
    found = query.rows_from(connection, words, f"{sql} ORDER BY place")
    return array_of([key for (key,) in found], pa.int32())


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
