"""The inventory: a committed file of the test ids that must run, one a line."""

from __future__ import annotations

import re
from pathlib import Path

from analysis.config.files import read_text
from analysis.errors import BadInput

# A runner that lists its tests closes with words of its own: "3 tests collected in 0.1s",
# "ok  example.org/pkg 0.2s", "Total: 3 tests in 1 file", "=== 3 tests collected ===".
# Only those are left out: an id that is taken for a count would never be missed.
_COUNT = re.compile(
    r"=+.*"
    r"|(Total:\s*|collected\s+)?(no|\d+(/\d+)?)\s+(tests?|items?|errors?|warnings?)\b.*"
    r"|ok\s+\S+\s+[\d(].*"
)
_COLLECTION_ERROR = re.compile(r"ERROR\s")


def listed_ids(text: str) -> tuple[str, ...]:
    """The test ids in the text of an inventory file, each once, in order.

    Blank lines, lines that start with # and a runner's trailing count are no ids.
    """
    lines = (line.strip() for line in text.split("\n"))
    return tuple(dict.fromkeys(line for line in lines if _is_id(line)))


def read_inventory(path: Path, named_in: Path) -> tuple[str, ...]:
    """The test ids of the inventory file `path`, which the file `named_in` names.

    Raises BadInput where it is missing or lists no test: a pin that pins nothing would let
    every run pass.
    """
    if not path.is_file():
        raise BadInput(f"{path} is not there, but {named_in} names it as the inventory.")
    ids = listed_ids(read_text(path))
    if not ids:
        raise BadInput(f"{path} lists no test, but {named_in} names it as the inventory.")
    return ids


def _is_id(line: str) -> bool:
    if not line or line.startswith("#") or _COLLECTION_ERROR.match(line):
        return False
    return "::" in line or _COUNT.fullmatch(line) is None
