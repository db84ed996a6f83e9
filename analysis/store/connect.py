"""Connecting to the file of an index, and saying why that is not possible."""

from __future__ import annotations

import fcntl
import logging
import math
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from analysis.errors import BadInput, EnvironmentFault
from analysis.store.faults import Damaged, is_damage, reason

LOCK_WAIT_S = 60.0
"""How long to wait for a process that holds the index and does nothing to it."""

LOCK_WAIT_VARIABLE = "SOAKBOARD_WAIT"
"""The environment variable that says another number of seconds."""

PATIENCE = 20
"""A holder that goes on working is waited for so many times as long, and no longer."""

# Opening a foreign file must never download anything.
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

MEMORY_LIMIT = "1GB"
"""Of an index on disk: what does not fit waits there. DuckDB would take most of the machine."""


_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5
_TOLD_AFTER_S = 2.0
_LONGEST_WAIT_S = 86_400.0

Tell = Callable[[str], None]


def log_notice(sentence: str) -> None:
    """A notice for a person who waits; standard error gets it where nothing else is set up."""
    logging.getLogger("soakboard").warning("%s", sentence)


def lock_wait() -> float:
    """The seconds to wait for an idle holder: as SOAKBOARD_WAIT says, else LOCK_WAIT_S."""
    given = os.environ.get(LOCK_WAIT_VARIABLE)
    if not given:
        return LOCK_WAIT_S
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_WAIT_S:
        raise BadInput(
            f"{LOCK_WAIT_VARIABLE} is {given!r}; it may be a number of seconds from 0 to "
            f"{_LONGEST_WAIT_S:.0f}."
        )
    return seconds


def connect(path: Path, wait_s: float, tell: Tell = log_notice) -> duckdb.DuckDBPyConnection:
    """A connection that holds the file alone; a file that is not there is made.

    A process that holds it is waited for until it did nothing to the index for `wait_s`
    seconds, but not longer than PATIENCE times that. `tell` gets a sentence when it takes long.

    EnvironmentFault: another process holds it still, it cannot be opened, or it is damaged.
    BadInput: it is no database, or one that this version cannot read.
    """
    wait = _Wait(path, wait_s, tell)
    while True:
        try:
            return _open(path)
        except Held as held:
            wait.for_(held)


class Held(Exception):
    """Another process holds the index. holder: the words for it."""

    def __init__(self, holder: str = "another process") -> None:
        super().__init__(holder)
        self.holder = holder


class _Wait:
    """The wait of one process for the others, with pauses that grow."""

    def __init__(self, path: Path, wait_s: float, tell: Tell) -> None:
        self._path, self._wait_s, self._tell = path, wait_s, tell
        self._began = self._changed = time.monotonic()
        self._trace: object = None
        self._pause = _FIRST_PAUSE_S
        self._told = False

    def for_(self, held: Held) -> None:
        """Pause once. EnvironmentFault when the time is over."""
        now, trace = time.monotonic(), (held.holder, _trace(self._path))
        if self._trace not in (None, trace):
            self._changed = now
        self._trace = trace
        left = min(self._changed + self._wait_s, self._began + self._wait_s * PATIENCE) - now
        if left <= 0:
            idle = self._changed == self._began
            waited = self._wait_s if idle else round(now - self._began)
            raise EnvironmentFault(
                f"{self._path}: the index is in use by {held.holder}; waited {waited:g} s.",
                "Nothing is lost: run the command again when that process is done.",
            ) from None
        if now - self._began >= _TOLD_AFTER_S and not self._told:
            self._told = True
            self._tell(f"{self._path}: the index is in use by {held.holder}; waiting for it.")
        # Many that wait for one must not all try at the same moment.
        time.sleep(min(self._pause * random.uniform(0.5, 1), left))
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_S)


def _trace(path: Path) -> list[tuple[int, int, int] | None]:
    """What changes when somebody works on the index."""
    found: list[tuple[int, int, int] | None] = []
    for file in (path, _log_of(path)):
        try:
            facts = file.stat()
            found.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def _log_of(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(f"{path.name}.wal")


def connect_to_read(path: Path, threads: int) -> duckdb.DuckDBPyConnection:
    """A connection that only reads, beside others that do; nobody can write until it is closed.

    Held: a process writes. FileNotFoundError: there is no file. Otherwise as `connect`.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    with _told_why_not(path):
        return duckdb.connect(
            str(path),
            read_only=True,
            config={**SETTINGS, "memory_limit": MEMORY_LIMIT, "threads": threads},
        )


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    with _told_why_not(path):
        if not path.exists():
            _make(path)
        elif not path.is_file():
            what = "a directory" if path.is_dir() else "no regular file"
            raise BadInput(f"{path}: this is {what}, not an index file.", "Choose another --db.")
        return duckdb.connect(str(path), config={**SETTINGS, "memory_limit": MEMORY_LIMIT})


@contextmanager
def _told_why_not(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unopened(path, error.strerror or str(error)) from error
    except duckdb.Error as error:
        said = str(error)
        if "could not set lock" in said.lower():
            found = re.search(r"PID (\d+)", said)
            raise Held(f"process {found[1]}" if found else "another process") from error
        raise _fault(path, error) from error


def _make(path: Path) -> None:
    """Put an empty database where nothing is: the whole file or none, whenever this ends.

    What is left of a database that was deleted goes first: its log would be taken for this one's.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f"{target.name}.new")
    with _alone_in(target.parent):
        if target.exists():
            return
        for remnant in (fresh, _log_of(fresh), _log_of(path)):
            remnant.unlink(missing_ok=True)
        try:
            duckdb.connect(str(fresh), config=SETTINGS).close()
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Only one process at a time makes an index in a folder. A dead one holds nothing."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        # A file system without such locks leaves it to luck.
        with suppress(OSError):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Held from error
        yield
    finally:
        os.close(handle)


def _fault(path: Path, error: duckdb.Error) -> BadInput | EnvironmentFault:
    if is_damage(error):
        return Damaged(reason(error), path)
    if isinstance(error, duckdb.IOException) and not _is_no_database(str(error)):
        return _unopened(path, reason(error))
    why = "" if _NO_DATABASE in str(error).lower() else f" ({reason(error)})"
    return BadInput(
        f"{path}: this is no soakboard index{why}.",
        "If it was one, delete it and run `tui ingest` on the logs.",
    )


def _unopened(path: Path, why: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"{path}: the index cannot be opened ({why}).",
        "Choose another place with --db or SOAKBOARD_DB.",
    )


_NO_DATABASE = "not a valid duckdb database"


def _is_no_database(message: str) -> bool:
    lowered = message.lower()
    return any(
        sign in lowered
        for sign in (
            _NO_DATABASE,
            "version number",
            "extension",  # another engine's file, which an extension could open
        )
    )
