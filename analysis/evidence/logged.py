"""The file of a run's log: is it whole, of this run, and as it was when it was written?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from analysis.evidence.manifest import Fault
from analysis.evidence.rooted import MOST_HASHED, MOST_READ, Unreadable, opened

_STARTS, _ENDS, _STEPS = ("run_start", "start"), ("run_end", "done"), ("test", "step")


def faults_of_log(root: Path, path: str, run_id: str, sha256: str | None) -> list[Fault]:
    """What is wrong with the log `path` inside `root`, one fault a rule; [] where it holds.

    The log is one JSON object a line, with `event` start, step, done or the `kind` for them.
    sha256: the digest that the record gives, None where it gives none.
    """
    try:
        with opened(root, path) as file:
            return _faults(file, path, run_id, sha256)
    except Unreadable as error:
        return [("log-missing", f"its log {path} {error}")]


def _faults(file: BinaryIO, path: str, run_id: str, sha256: str | None) -> list[Fault]:
    found: dict[str, str] = {}
    hashed, size, steps, started, said = hashlib.sha256(), 0, 0, False, None
    for number, line in enumerate(_lines(file), 1):
        size += len(line)
        hashed.update(line)
        if not line.strip():
            continue
        event = _object(line)
        if event is None:
            found.setdefault("log-truncated", f"line {number} of its log {path} is no JSON object")
            continue
        what = event.get("kind", event.get("event"))
        started = started or what in _STARTS
        steps += what in _STEPS
        said = event if what in _ENDS else said
        other = event.get("run_id", event.get("run", run_id))
        if other != run_id:
            found.setdefault(
                "log-run-mismatch", f"line {number} of its log {path} is of another run"
            )
    if not size:
        return [("log-missing", f"its log {path} is empty")]
    if not started or said is None:
        lacks = "start" if not started else "end"
        found["log-incomplete"] = f"its log {path} has no {lacks} event"
    elif said.get("steps", steps) != steps:
        found["log-incomplete"] = f"its log {path} has {steps} steps, not {said['steps']}"
    if sha256 is not None and sha256.lower() != hashed.hexdigest():
        found["log-digest-mismatch"] = f"its log {path} is not what was written"
    return list(found.items())


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines; one that is longer than MOST_READ comes in pieces, which are no JSON."""
    size = 0
    try:
        while line := file.readline(MOST_READ):
            size += len(line)
            if size > MOST_HASHED:
                raise Unreadable("grew while it was read")
            yield line
    except OSError as error:
        raise Unreadable("cannot be read") from error


def _object(line: bytes) -> Mapping[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
