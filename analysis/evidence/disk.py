"""The disk that an attempt is to run on: is it fresh, and are its locks what they were?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, EnvironmentFault
from analysis.evidence.keys import canonical_json
from analysis.evidence.manifest import Fault, write_whole
from analysis.evidence.rooted import Unreadable, digest, opened

DIRTY_MARKER = ".volume_dirty"
LOCK_FILES = ("uv.lock", "poetry.lock", "package-lock.json", "requirements.txt")
STATE_FILE = ".soakboard-workspace.json"


@dataclass(frozen=True)
class Workspace:
    """A disk. locks: {file: SHA-256} of the lock files in it; state: where it is remembered."""

    generation: str
    attempt: str
    locks: dict[str, str]
    state: Path


def admit(folder: Path, generation: str, attempt: str, state: Path | None = None) -> list[Fault]:
    """Why an attempt must not run in `folder`; [] where it may, which is then remembered.

    state: the file that remembers each generation; None for one in the folder, which is as old as
    the disk. Raises BadInput where the folder is none, EnvironmentFault where it cannot be read or
    the state cannot be written.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is no directory.")
    place = state or folder / STATE_FILE
    faults: list[Fault] = []
    if not generation.strip():
        faults.append(("generation-missing", "the workspace has no generation"))
    if not attempt.strip():
        faults.append(("attempt-missing", "the workspace has no attempt"))
    if (folder / DIRTY_MARKER).exists() or (folder / DIRTY_MARKER).is_symlink():
        faults.append(("workspace-dirty", f"{folder / DIRTY_MARKER} is there"))
    locks = _locks(folder)
    if not locks:
        faults.append(("lock-missing", f"{folder} has none of {', '.join(LOCK_FILES)}"))
    if faults:
        return faults
    seen = _seen(place)
    before = seen.get(generation)
    if before is not None:
        if before["attempt"] != attempt:
            sentence = f"generation {generation} was made for attempt {before['attempt']}"
            faults.append(("generation-reused", sentence))
        if before["locks"] != locks:
            faults.append(("lock-drift", f"the lock files of generation {generation} have changed"))
    if not faults:
        _remember(place, {**seen, generation: {"attempt": attempt, "locks": locks}})
    return faults


def _locks(folder: Path) -> dict[str, str]:
    found = {}
    for name in LOCK_FILES:
        if not (folder / name).is_file():
            continue
        try:
            with opened(folder, name) as file:
                found[name] = digest(file)[1]
        except Unreadable as error:
            raise EnvironmentFault(f"{folder / name} {error}.") from error
    return found


def _seen(place: Path) -> dict[str, Any]:
    try:
        said = json.loads(place.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise EnvironmentFault(f"{place} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{place} is no JSON.", "Make a fresh workspace.") from error
    known = isinstance(said, dict) and all(
        isinstance(one, dict) and {"attempt", "locks"} <= set(one) for one in said.values()
    )
    if not known:
        raise BadInput(f"{place} is no state of workspaces.", "Make a fresh workspace.")
    found: dict[str, Any] = said
    return found


def _remember(place: Path, seen: dict[str, Any]) -> None:
    try:
        write_whole(place, canonical_json(seen).encode() + b"\n")
    except OSError as error:
        raise EnvironmentFault(f"{place} cannot be written: {error.strerror}.") from error
