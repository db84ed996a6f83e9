"""Questions that nobody foresaw: SQL on the index that can only read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.errors import BadInput
from analysis.store import query

VIEWS = ("runs", "results", "attributions", "findings", "rejects")

_READING = {
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
}


@dataclass(frozen=True)
class Answer:
    """Column names and rows, in the query's order. Values are Python's; times are UTC."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(connection: duckdb.DuckDBPyConnection, sql: str) -> Answer:
    """Run one SELECT (or VALUES, WITH, DESCRIBE, SHOW, EXPLAIN) and return all of it.

    The statement cannot write to the index, nor read or write any file, nor load an extension.
    Raises BadInput for anything else and for what DuckDB refuses.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise BadInput(f"The query cannot be read: {_line(error)}") from error
    if len(statements) != 1 or statements[0].type not in _READING:
        raise BadInput("Only one reading statement is answered.", f"Tables: {', '.join(VIEWS)}.")
    if query.first(connection, "SELECT current_setting('lock_configuration')") != (True,):
        query.write(connection, "SET TimeZone = 'UTC'")
        query.write(connection, "SET enable_external_access = false")
        query.write(connection, "SET lock_configuration = true")
    query.write(connection, "BEGIN TRANSACTION READ ONLY")
    try:
        with query.running():
            cursor = connection.execute(statements[0])
            columns = tuple(str(column[0]) for column in cursor.description or ())
            rows = tuple(tuple(row) for row in cursor.fetchall())
    except duckdb.Error as error:
        raise BadInput(
            f"The query failed: {_line(error)}", f"Tables: {', '.join(VIEWS)}."
        ) from error
    finally:
        connection.rollback()
    return Answer(columns, rows)


def _line(error: duckdb.Error) -> str:
    return " ".join(str(error).split())
