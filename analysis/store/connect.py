"""Connecting to the file of an index, and saying why that is not possible."""

from __future__ import annotations

import re
import time
from pathlib import Path

import duckdb

from analysis.errors import BadInput, EnvironmentFault

LOCK_WAIT_S = 10.0
"""How long to wait for a process that holds the index."""

# Opening a foreign file must never download anything.
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


def connect(path: Path, wait_s: float) -> duckdb.DuckDBPyConnection:
    """A connection that holds the file alone, after at most about `wait_s` seconds.

    EnvironmentFault: another process holds it still, or the file cannot be opened. BadInput:
    it is no database, or one that this version cannot read.
    """
    deadline = time.monotonic() + wait_s
    pause = _FIRST_PAUSE_S
    while True:
        try:
            return duckdb.connect(str(path), config=SETTINGS)
        except duckdb.Error as error:
            fault = _fault(path, str(error), wait_s, error)
            if not _is_held(str(error)) or time.monotonic() >= deadline:
                raise fault from error
        time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
        pause = min(pause * 2, _LONGEST_PAUSE_S)


def _is_held(message: str) -> bool:
    return "could not set lock" in message.lower()


def _fault(
    path: Path, message: str, wait_s: float, error: duckdb.Error
) -> BadInput | EnvironmentFault:
    reason = message.strip().splitlines()[0] if message.strip() else "no reason given"
    if _is_held(message):
        found = re.search(r"PID (\d+)", message)
        holder = f"process {found[1]}" if found else "another process"
        return EnvironmentFault(
            f"{path}: the index is in use by {holder}; waited {wait_s:g} s.",
            "Nothing is lost: run the command again when that process is done.",
        )
    if path.is_dir():
        return BadInput(f"{path}: this is a directory, not an index file.", "Choose another --db.")
    if isinstance(error, duckdb.IOException) and not _is_no_database(message):
        return EnvironmentFault(
            f"{path}: the index cannot be opened ({reason}).",
            "Choose another place with --db or SOAKBOARD_DB; if it is damaged, delete it and run "
            "`tui ingest` on the logs.",
        )
    return BadInput(
        f"{path}: this is no soakboard index ({reason}).",
        "If it was one, delete it and run `tui ingest` on the logs.",
    )


def _is_no_database(message: str) -> bool:
    lowered = message.lower()
    return any(
        sign in lowered
        for sign in (
            "not a valid duckdb database",
            "is a directory",
            "version number",
            "corrupt",
            "extension",  # another engine's file, which an extension could open
        )
    )
