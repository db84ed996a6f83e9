"""The identity of a test: its id verbatim, with a normal form to compare by.

Ids are parsed from the left (`::`) and never by matching brackets: a parameter may hold
any character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_REMEMBERED = 100_000
"""Ids of tests come back with every run."""

_ROOT = re.compile(r"(?:\./+|/+)+")
_UNSTABLE = re.compile(
    r"0x[0-9a-f]{6,}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|<[^<>]* at 0x"
    r"|\.\.\.>",
    re.IGNORECASE,
)


@lru_cache(_REMEMBERED)
def normal_form(test_id: str) -> str:
    """The id as it is compared: root-relative, forward slashes, NFC, without `@group`.

    Backslashes turn to slashes in the path only (what stands before the first `::`). An
    xdist group is a last `@...` that no bracket closes after.
    """
    path, colons, name = unicodedata.normalize("NFC", test_id).partition("::")
    path = path.replace("\\", "/")
    root = _ROOT.match(path)
    if root and root.end() < len(path):
        path = path[root.end() :]
    return path + colons + _without_group(name)


def _without_group(name: str) -> str:
    before, at, group = name.rpartition("@")
    is_group = at and group and "]" not in group and before and not before.endswith("::")
    return before if is_group else name


@lru_cache(_REMEMBERED)
def is_unstable(test_id: str) -> bool:
    """Whether the id embeds what differs from run to run: an address, a UUID, a cut repr."""
    return _UNSTABLE.search(test_id) is not None
