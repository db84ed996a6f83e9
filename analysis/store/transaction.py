"""All or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from analysis.errors import EnvironmentFault


class IndexFault(EnvironmentFault):
    """The index could not be written; what was committed before is whole."""


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit at the end, roll back on any error.

    IndexFault: the disk is full or another fault of the machine; the connection may be dead.
    """
    try:
        connection.begin()
        yield
    except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
        _roll_back(connection)
        raise _fault(error) from error
    except BaseException:
        _roll_back(connection)
        raise
    try:
        connection.commit()
    except duckdb.Error as error:
        # Nobody else writes, so that a commit can fail only because the disk refuses it.
        _roll_back(connection)
        raise _fault(error) from error


def _fault(error: duckdb.Error) -> IndexFault:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"
    return IndexFault(
        f"The index cannot be written ({reason}).",
        "Nothing is lost: run the command again when there is room for it.",
    )


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    # A connection that died, or one that had not begun, has nothing to roll back.
    with suppress(duckdb.Error):
        connection.rollback()
