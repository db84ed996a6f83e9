"""Opening the index: a DuckDB file that can be deleted and rebuilt from the logs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import duckdb

from analysis.errors import BadInput, EnvironmentFault
from analysis.store import query

SCHEMA_VERSION = 1
LOCK_WAIT_S = 10.0

# Opening a foreign file must never download anything.
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


@dataclass(frozen=True)
class Index:
    """An open index.

    notices: sentences that the person should see.
    to_rebuild: the sources of an index of another schema version, which was set aside.
    """

    connection: duckdb.DuckDBPyConnection
    path: Path | None
    notices: tuple[str, ...] = ()
    to_rebuild: tuple[Path, ...] = ()


@contextmanager
def open_memory() -> Iterator[Index]:
    """An index that lives as long as the command."""
    with duckdb.connect(config=_SETTINGS) as connection:
        _create(connection)
        yield Index(connection, None)


@contextmanager
def open_index(path: Path) -> Iterator[Index]:
    """Open the index at `path` for writing, creating it where there is none.

    An index of another schema version is set aside and an empty one takes its place; its
    sources are in `to_rebuild`. Raises EnvironmentFault when another process holds it for
    longer than LOCK_WAIT_S or the file cannot be written, BadInput when the file is no index.
    """
    _make_home(path)
    connection = _connect(path)
    notices: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    try:
        found = _version(connection, path)
        if found is not None and found != SCHEMA_VERSION:
            sources = _source_paths(connection)
            connection.close()
            aside = path.with_name(f"{path.name}.schema{found}")
            path.replace(aside)
            notices = (
                f"{path}: schema version {found} is not {SCHEMA_VERSION}; rebuilding it from "
                f"{len(sources)} logs (the old file is now {aside.name}).",
            )
            connection, found = _connect(path), None
        if found is None:
            _create(connection)
        yield Index(connection, path, notices, sources)
    finally:
        connection.close()


def _source_paths(connection: duckdb.DuckDBPyConnection) -> tuple[Path, ...]:
    try:
        rows = query.rows(connection, "SELECT path FROM sources ORDER BY path")
    except duckdb.Error:
        # A schema so different that it has no such table: there is nothing to read again.
        return ()
    return tuple(Path(path) for (path,) in rows if path != "-")


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing: commit at the end, roll back on any error."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


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


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + LOCK_WAIT_S
    pause = 0.02
    while True:
        try:
            return duckdb.connect(str(path), config=_SETTINGS)
        except duckdb.IOException as error:
            text = str(error)
            if "lock" not in text.lower():
                raise EnvironmentFault(
                    f"{path}: the index cannot be opened ({_first_line(text)}).",
                    "If it is damaged, delete it and run `tui ingest` on the logs.",
                ) from error
            if time.monotonic() > deadline:
                raise EnvironmentFault(
                    f"{path}: the index is in use by process {_holder(text)}; waited "
                    f"{LOCK_WAIT_S:.0f} s.",
                    "Nothing is lost: run the command again when that process is done.",
                ) from error
        except duckdb.Error as error:
            raise BadInput(
                f"{path}: this is no soakboard index ({_first_line(str(error))}).",
                "If it was one, delete it and run `tui ingest` on the logs.",
            ) from error
        time.sleep(pause)
        pause = min(pause * 2, 0.5)


def _holder(message: str) -> str:
    found = re.search(r"PID (\d+)", message)
    return found.group(1) if found else "(unknown)"


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "no reason given"


def _version(connection: duckdb.DuckDBPyConnection, path: Path) -> int | None:
    tables = {
        name
        for (name,) in query.rows(connection, "SELECT table_name FROM information_schema.tables")
    }
    if not tables:
        return None
    if "index_version" not in tables:
        raise BadInput(
            f"{path}: this is a DuckDB file, but no soakboard index.", "Choose another --db."
        )
    row = query.first(connection, "SELECT version FROM index_version")
    return None if row is None else int(row[0])


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    script = resources.files("analysis.store").joinpath("schema.sql").read_text("utf-8")
    with transaction(connection):
        query.script(connection, script)
        query.write(
            connection, "INSERT INTO index_version VALUES ($version)", {"version": SCHEMA_VERSION}
        )
