"""Files that a person names on the command line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, EnvironmentFault


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file that a person names. Raises BadInput where it is none."""
    return hashlib.sha256(bytes_of(path)).hexdigest()


def bytes_of(path: Path) -> bytes:
    """All bytes of a file that a person names. Raises BadInput, EnvironmentFault."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise BadInput(f"{path} is no file.") from error
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror}.") from error


def object_in(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises BadInput where it holds none, EnvironmentFault."""
    try:
        said = json.loads(bytes_of(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no JSON.") from error
    if not isinstance(said, dict):
        raise BadInput(f"{path} is no JSON object.")
    return said
