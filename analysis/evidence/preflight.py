"""Before a batch: is there room for its evidence, and does the disk keep what it is given?"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import BadInput

MEBIBYTE = 1 << 20
FLOOR_MIB = 2048
BUDGET_MIB = 512


@dataclass(frozen=True)
class Preflight:
    """Three figures. free_mib: room on the disk; used_mib: what the files in the directory take;
    probe_s: seconds that 1 MiB took to be written, synced and read back, None where it failed.

    refusals: disk-floor, over-budget, probe-failed; () where the batch may start.
    """

    free_mib: float
    used_mib: float
    probe_s: float | None
    refusals: tuple[str, ...]


def preflight(
    folder: Path, floor_mib: float = FLOOR_MIB, budget_mib: float = BUDGET_MIB
) -> Preflight:
    """Measure the disk under `folder`. Raises BadInput where that is no directory."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no directory.")
    free = shutil.disk_usage(folder).free / MEBIBYTE
    used = _used(folder) / MEBIBYTE
    probe = _probe(folder)
    refusals = (
        ("disk-floor", free < floor_mib),
        ("over-budget", used > budget_mib),
        ("probe-failed", probe is None),
    )
    return Preflight(free, used, probe, tuple(name for name, holds in refusals if holds))


def _used(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink() and path.is_file():
                total += path.stat().st_size
    return total


def _probe(folder: Path) -> float | None:
    """Random bytes, so that no file system can store them as nothing."""
    block = os.urandom(MEBIBYTE)
    place = folder / f".soakboard-probe-{os.getpid()}"
    began = time.monotonic()
    try:
        try:
            with place.open("xb") as file:
                file.write(block)
                file.flush()
                os.fsync(file.fileno())
            read = hashlib.sha256(place.read_bytes()).digest()
        finally:
            place.unlink(missing_ok=True)
    except OSError:
        return None
    return time.monotonic() - began if read == hashlib.sha256(block).digest() else None
