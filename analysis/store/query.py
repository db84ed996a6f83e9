"""Running statements: every result is taken whole, so that the connection is free again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from analysis.store.faults import Damaged, is_damage, is_interrupt, reason

if TYPE_CHECKING:
    import pyarrow as pa

Parameters = Mapping[str, object]


@contextmanager
def running() -> Iterator[None]:
    """Around a statement: what DuckDB says of Ctrl-C and of memory, in Python's own words.

    Damaged: the file of the index is not what was written.
    """
    try:
        yield
    except (RuntimeError, duckdb.InterruptException, duckdb.InvalidInputException) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    except duckdb.Error as error:
        if is_damage(error):
            raise Damaged(reason(error)) from error
        raise


def write(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None
) -> None:
    """Run a statement for its effect."""
    with running():
        connection.execute(sql, parameters).fetchall()


def rows(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None
) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    with running():
        return connection.execute(sql, parameters).fetchall()


def rows_from(
    connection: duckdb.DuckDBPyConnection,
    given: pa.Table,
    sql: str,
    parameters: Parameters | None = None,
) -> list[tuple[Any, ...]]:
    """Like `rows`; the statement can read an Arrow table under the name `given`.

    DuckDB finds it by the name of the variable. A table that is registered would be kept until
    the transaction ends, and millions of rows with it.
    """
    with running():
        return connection.execute(sql, parameters).fetchall()


def first(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None
) -> tuple[Any, ...] | None:
    """The first row of a query, or None."""
    found = rows(connection, sql, parameters)
    return found[0] if found else None


def script(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Run the statements of a `.sql` file in order."""
    for statement in duckdb.extract_statements(text):
        with running():
            connection.execute(statement).fetchall()
