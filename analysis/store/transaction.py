"""All or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from analysis.store.faults import Damaged, IndexFault, is_damage, is_interrupt, reason
from analysis.store.query import running

__all__ = ["IndexFault", "put_back", "transaction"]


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit at the end, roll back on any error.

    IndexFault: the disk is full or another fault of the machine; the connection may be dead.
    """
    try:
        with running():
            connection.begin()
        yield
    except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
        _roll_back(connection)
        raise _fault(error) from error
    except BaseException as error:
        _roll_back(connection)
        # The readers of logs use DuckDB too, in a way of their own.
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    try:
        with running():
            connection.commit()
    except duckdb.Error as error:
        # Nobody else writes, so that a commit can fail only because the disk refuses it.
        _roll_back(connection)
        raise _fault(error) from error
    except BaseException:
        _roll_back(connection)
        raise


@contextmanager
def put_back(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Whatever is written in between is gone at the end."""
    with running():
        connection.begin()
    try:
        yield
    finally:
        _roll_back(connection)


def _fault(error: duckdb.Error) -> IndexFault:
    if is_damage(error):
        return Damaged(reason(error))
    return IndexFault(
        f"The index cannot be written ({reason(error)}).",
        "Nothing is lost: run the command again when there is room for it.",
    )


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    # A connection that died, or one that had not begun, has nothing to roll back.
    with suppress(duckdb.Error):
        connection.rollback()
