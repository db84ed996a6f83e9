"""A grant is allowed once: the first who claims it has it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.errors import EnvironmentFault
from analysis.evidence.keys import canonical_json

_IDENTITY = (
    "task_id",
    "model_class",
    "server_class",
    "tool",
    "arg_hash",
    "approver",
    "expires_at",
)


def claim(grant: Mapping[str, Any], folder: Path) -> bool:
    """Whether a grant was free; from now on it is used.

    folder: keeps an empty file a grant that was used, named after what identifies it. Of any
    number of processes that claim at once one gets it. Raises EnvironmentFault where the folder
    cannot be written: what cannot be remembered is not allowed.
    """
    identity = canonical_json([grant.get(name) for name in _IDENTITY])
    place = folder / f"{hashlib.sha256(identity.encode()).hexdigest()}.used"
    try:
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    except OSError as error:
        raise EnvironmentFault(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True
