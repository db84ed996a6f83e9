"""The quarantine log on disk: appended to under a lock, a line at once or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from analysis.config import Config
from analysis.errors import BadInput, EnvironmentFault
from analysis.quarantine.events import Event
from analysis.quarantine.replay import QuarantineList, replay

FILE_NAME = "quarantine.jsonl"
MOST_BYTES = 64 * 1024 * 1024


def list_path(config: Config, start: Path) -> Path:
    """Where the log of a project lies: beside its configuration, else in `start`."""
    return (config.path.parent if config.path is not None else start) / FILE_NAME


def read_list(path: Path, at: datetime, config: Config) -> QuarantineList:
    """The list at a moment. A log that is not there is an empty list.

    BadInput: it is no file, or longer than a log can be. EnvironmentFault: it may not be read.
    """
    return replay(_bytes(path), at, config.policy.quarantine_max_days)


def append(
    path: Path, at: datetime, config: Config, decide: Callable[[QuarantineList], Event]
) -> QuarantineList:
    """Add the event that `decide` makes of the list as it is now; returns the list with it.

    No other process adds anything in between. What `decide` raises is passed on, and nothing is
    written then. The line is on disk when this returns; if it cannot be written whole, it is taken
    back and EnvironmentFault says so.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        before = _bytes(path)
        event = decide(replay(before, at, config.policy.quarantine_max_days))
        # A line that another process could not end must not swallow this one.
        torn = before and not before.endswith(b"\n")
        line = (b"\n" if torn else b"") + event.text().encode() + b"\n"
        _write(handle, path, line, len(before))
        return replay(before + line, max(at, event.at), config.policy.quarantine_max_days)
    finally:
        os.close(handle)


def _write(handle: int, path: Path, line: bytes, size: int) -> None:
    try:
        written = os.write(handle, line)
        if written != len(line):
            os.ftruncate(handle, size)
            raise EnvironmentFault(f"{path}: the disk took a part of the line; it was taken back.")
        os.fsync(handle)
        folder = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritten(path, error) from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            found = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except IsADirectoryError:
        raise BadInput(f"{path} is a directory, not a quarantine log.") from None
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror}.") from error
    if len(found) > MOST_BYTES:
        raise BadInput(f"{path} is longer than a quarantine log can be.")
    return found


def _unwritten(path: Path, error: OSError) -> EnvironmentFault:
    return EnvironmentFault(f"{path} cannot be written: {error.strerror}. The list is as it was.")
