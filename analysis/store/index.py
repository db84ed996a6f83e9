"""Opening the index: a DuckDB file that can be deleted and rebuilt from the logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import duckdb

from analysis.errors import BadInput, EnvironmentFault
from analysis.store import ledger, query
from analysis.store.connect import SETTINGS, Tell, connect, lock_wait, log_notice
from analysis.store.faults import Damaged, reason
from analysis.store.transaction import transaction

__all__ = ["SCHEMA_VERSION", "Index", "open_index", "open_memory", "transaction"]

SCHEMA_VERSION = 5


@dataclass(frozen=True)
class Index:
    """An open index. notices: sentences that the person should see."""

    connection: duckdb.DuckDBPyConnection
    path: Path | None
    notices: tuple[str, ...] = ()


@contextmanager
def open_memory() -> Iterator[Index]:
    """An index that lives as long as the command."""
    with duckdb.connect(config=SETTINGS) as connection:
        with transaction(connection):
            _create(connection)
        yield Index(connection, None)


@contextmanager
def open_index(path: Path, wait_s: float | None = None, tell: Tell = log_notice) -> Iterator[Index]:
    """Open the index at `path` for writing, creating it where there is none.

    An index of another schema version is set aside and an empty one takes its place, which
    knows the same sources; an ingest of them reads them again. Raises EnvironmentFault when
    another process holds it for longer than `wait_s` seconds (None: as the person chose, see
    `connect.lock_wait`; `tell` gets a sentence when that takes long), when it cannot be written
    or is damaged, or when it was deleted or replaced meanwhile; BadInput when it is no index.
    """
    patience = lock_wait() if wait_s is None else wait_s
    _make_home(path)
    connection = connect(path, patience, tell)
    notices: tuple[str, ...] = ()
    sources: tuple[_Known, ...] = ()
    try:
        with _told_of(path):
            found = version_of(connection, path)
            if found is not None and found != SCHEMA_VERSION:
                sources = _known_sources(connection)
                aside = _set_aside(connection, path, found)
                notices = (_rebuilding(path, aside, sources),)
                connection.close()
                connection = connect(path, patience, tell)
                found = version_of(connection, path)
            place = _place(path)
            with transaction(connection):
                if found is None:
                    _create(connection)
                for source in sources:
                    if source.readable:
                        ledger.seed(
                            connection,
                            source.path,
                            source.given_experiment,
                            source.given_context,
                        )
            yield Index(connection, path, notices)
            if _place(path) != place:
                raise EnvironmentFault(
                    f"{path}: the index was deleted or replaced while it was in use.",
                    "Run the command again: what it did is not in the file that is there now.",
                )
    finally:
        connection.close()


def _place(path: Path) -> tuple[int, int] | None:
    """Which file stands under a path, None for no file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """What the file of the index refuses, with its path."""
    try:
        yield
    except Damaged as fault:
        raise Damaged(fault.why, path) from fault
    except (duckdb.IOException, duckdb.FatalException) as error:
        raise EnvironmentFault(
            f"{path}: the index cannot be used ({reason(error)}).",
            "Nothing is lost: run the command again when the disk is in order.",
        ) from error


def _make_home(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.name == ".soakboard" and not (path.parent / ".gitignore").exists():
            (path.parent / ".gitignore").write_text("*\n")
    except OSError as error:
        raise EnvironmentFault(
            f"{path.parent}: the index cannot be written here ({error.strerror}).",
            "Choose another place with --db or SOAKBOARD_DB.",
        ) from error


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> int | None:
    """The schema version of an index, None for an empty file. BadInput for another database."""
    tables = query.rows(connection, "SELECT table_name FROM information_schema.tables")
    if not tables:
        return None
    try:
        row = query.first(connection, "SELECT version::INTEGER FROM index_version")
    except duckdb.Error:
        row = None
    if row is None or row[0] is None:
        raise BadInput(
            f"{path}: this is a DuckDB file, but no soakboard index.", "Choose another --db."
        )
    return int(row[0])


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    script = resources.files("analysis.store").joinpath("schema.sql").read_text("utf-8")
    query.script(connection, script)
    query.write(
        connection, "INSERT INTO index_version VALUES ($version)", {"version": SCHEMA_VERSION}
    )


@dataclass(frozen=True)
class _Known:
    """A source of an index of another schema version."""

    path: str
    given_experiment: str | None
    given_context: str

    @property
    def readable(self) -> bool:
        """Whether there was a file; standard input cannot be read again."""
        return Path(self.path).is_absolute()


def _known_sources(connection: duckdb.DuckDBPyConnection) -> tuple[_Known, ...]:
    try:
        found = connection.execute("SELECT * FROM sources ORDER BY path")
        columns = [name for name, *_ in found.description or ()]
        sources = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    except duckdb.Error:
        # A schema so different that it has no such table: there is nothing to read again.
        return ()
    return tuple(
        _Known(source["path"], source.get("given_experiment"), source.get("given_context") or "{}")
        for source in sources
        if isinstance(source.get("path"), str)
    )


def _set_aside(connection: duckdb.DuckDBPyConnection, path: Path, version: int) -> Path:
    """Rename the file while it is held: no other process can take it for the index then."""
    aside = path.with_name(f"{path.name}.schema{version}")
    query.write(connection, "CHECKPOINT")
    try:
        path.replace(aside)
    except OSError as error:
        raise EnvironmentFault(
            f"{path}: this index has schema version {version}, not {SCHEMA_VERSION}, and cannot "
            f"be set aside ({error.strerror}).",
            "Choose another place with --db or SOAKBOARD_DB.",
        ) from error
    return aside


def _rebuilding(path: Path, aside: Path, sources: tuple[_Known, ...]) -> str:
    readable = sum(source.readable for source in sources)
    lost = len(sources) - readable
    words = f"; {lost} from standard input cannot be read again" if lost else ""
    logs = "1 log" if readable == 1 else f"{readable} logs"
    return (
        f"{path}: this index has another schema version and is rebuilt from {logs}{words} "
        f"(the old file is now {aside.name})."
    )
