"""Times and durations as runners write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime

_PLAIN = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+")
_CLOCK = re.compile(r"(\d+):([0-5]?\d):([0-5]?\d(?:[.,]\d+)?)")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)")
_COMMA = re.compile(r"(\d+),(\d+)")
_ISO = re.compile(r"(\d{4})-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?")


def writes_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether one of the durations of a file can only be read with a comma for a point."""
    for text in texts:
        found = _COMMA.fullmatch(text.strip())
        if found and (len(found[2]) != 3 or found[1].startswith("0")):
            return True
    return False


def seconds(text: str | None, *, decimal_commas: bool = False) -> float | None:
    """A duration in seconds: `1.5`, `1,5`, `2,503.1`, `0:00:00.69`; None where it is not known.

    decimal_commas: of the file, for `1,024`, which alone could be either.
    """
    said = (text or "").strip()
    if _PLAIN.fullmatch(said):
        value = float(said)
        return value if value < float("inf") else None
    clock = _CLOCK.fullmatch(said)
    if clock:
        hours, minutes, rest = clock.groups()
        return int(hours) * 3600 + int(minutes) * 60 + float(rest.replace(",", "."))
    if _THOUSANDS.fullmatch(said):
        return float(said.replace(",", ""))
    comma = _COMMA.fullmatch(said)
    if comma and (len(comma[2]) != 3 or comma[1].startswith("0") or decimal_commas):
        return float(said.replace(",", "."))
    return None


def moment(text: str | None) -> str | None:
    """A time in RFC 3339, or as it stands without a zone; None where it is none, or Go's zero."""
    if not text:
        return None
    said = text.strip()
    iso = _ISO.fullmatch(said)
    if iso:
        return None if int(iso[1]) < 1000 else said.replace(" ", "T", 1).replace(",", ".")
    try:
        return parsedate_to_datetime(said).isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
