"""Reports on real logs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from analysis.board import Ingest, Inputs, now, open_board, usable
from analysis.config import Config
from analysis.queries.experiments import Choice, chosen
from analysis.reports.content import Scope, What
from analysis.reports.export import Format, write

SAMPLES = Path(__file__).parents[3] / "sample_data" / "soak"
MADE = datetime(2026, 12, 1, 9, 12, tzinfo=UTC)

Connected = Callable[..., AbstractContextManager[duckdb.DuckDBPyConnection]]
Reported = Callable[..., str]


@contextmanager
def _connected(*paths: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_board(None, Config()) as board:
        usable(board.take(Inputs(paths), Ingest(now(), final=True)))
        board.derive()
        yield board.connection


def _reported(
    connection: duckdb.DuckDBPyConnection,
    form: Format,
    what: What = What.ALL,
    words: str = "",
) -> str:
    names = tuple(chosen(connection, Choice(everything=True)))
    stream = io.StringIO()
    write(connection, Scope(what, names, MADE, words), form, stream)
    return stream.getvalue()


@pytest.fixture(scope="session")
def connected() -> Connected:
    """An index in memory of some logs."""
    return _connected


@pytest.fixture(scope="session")
def reported() -> Reported:
    """A report on everything in an index, as text."""
    return _reported


@pytest.fixture(scope="module")
def samples() -> Iterator[duckdb.DuckDBPyConnection]:
    """The sample soaks."""
    with _connected(SAMPLES) as connection:
        yield connection
