"""Evidence on disk: the body first, its manifest last, and only when the body is really there.

    from analysis.evidence.manifest import faults_of, write_evidence

A manifest is a JSON object: patch_id, body (the name of the file beside it), bytes, sha256.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.errors import BadInput, EnvironmentFault
from analysis.evidence.keys import canonical_json
from analysis.evidence.rooted import Unreadable, content, digest, opened

SUFFIX = ".manifest.json"

Fault = tuple[str, str]
"""The name of a rule, and its sentence."""


@dataclass(frozen=True)
class Manifest:
    """What was written. path: of the manifest; body: the file's name; bytes, sha256: of it."""

    path: Path
    patch_id: str
    body: str
    bytes: int
    sha256: str


def write_evidence(body: bytes, target: Path, patch_id: str) -> Manifest:
    """Write `body` to `target` and its manifest beside it, as `<target>.manifest.json`.

    Write, flush, fsync, size check, digest of what is read back, and the manifest last. An older
    manifest is gone before the first byte is written. Raises EnvironmentFault where any step
    fails, BadInput for an empty body; there is no manifest then.
    """
    if not body:
        raise BadInput(f"The evidence for {target} is empty.", "Nothing was written.")
    beside = target.with_name(target.name + SUFFIX)
    sha256 = hashlib.sha256(body).hexdigest()
    manifest = Manifest(beside, patch_id, target.name, len(body), sha256)
    said = canonical_json(
        {"patch_id": patch_id, "body": target.name, "bytes": len(body), "sha256": sha256}
    )
    try:
        beside.unlink(missing_ok=True)
        write_whole(target, body)
        if (len(body), sha256) != _read_back(target):
            raise EnvironmentFault(f"{target} does not read back as it was written.")
        write_whole(beside, said.encode() + b"\n")
    except OSError as error:
        raise EnvironmentFault(
            f"{target} cannot be written: {error.strerror}.", "There is no manifest of it."
        ) from error
    return manifest


def write_whole(target: Path, content: bytes) -> None:
    """Write a file, all of it on the disk or nothing. Raises OSError."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if os.fstat(file.fileno()).st_size != len(content):
                raise OSError(0, "fewer bytes than were written", str(target))
        part.replace(target)
        _sync_directory(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync_directory(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_back(target: Path) -> tuple[int, str]:
    try:
        with opened(target.parent, target.name) as file:
            return digest(file)
    except Unreadable as error:
        raise EnvironmentFault(f"{target} {error}.") from error


def faults_of(root: Path, path: str, offered: Mapping[str, Any] | None = None) -> list[Fault]:
    """What is wrong with the manifest `path` inside `root` and with the body that it names.

    offered: the block `manifest` of a record, whose bytes, sha256 and body must be the same. []
    where all of it holds.
    """
    try:
        said = json.loads(content(root, path))
    except Unreadable as error:
        return [("manifest-missing", f"its manifest {path} {error}")]
    except (ValueError, RecursionError):
        return [("manifest-missing", f"its manifest {path} is no JSON")]
    if not isinstance(said, dict) or not isinstance(said.get("body"), str) or not said["body"]:
        return [("evidence-missing", f"its manifest {path} names no body")]
    body = str(PurePosixPath(path).parent / said["body"])
    try:
        with opened(root, body) as file:
            size, sha256 = digest(file)
    except Unreadable as error:
        return [("evidence-missing", f"its evidence {body} {error}")]
    if size == 0:
        return [("evidence-empty", f"its evidence {body} has 0 bytes")]
    faults = []
    for source in (said, offered or {}):
        declared = source.get("bytes", None if source is said else size)
        if declared != size:
            faults.append(
                ("evidence-short", f"its evidence {body} has {size} bytes, not {declared}")
            )
        wanted = source.get("sha256", None if source is said else sha256)
        if not isinstance(wanted, str) or wanted.lower() != sha256:
            faults.append(
                ("evidence-checksum-mismatch", f"its evidence {body} is not what was written")
            )
    return list(dict.fromkeys(faults))
