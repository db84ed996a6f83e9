"""Reading a small text file that a person wrote."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import BadInput, EnvironmentFault


def read_text(path: Path) -> str:
    try:
        # Editors on some systems put a byte-order mark first.
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 at byte {error.start}.") from error
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror}.") from error
