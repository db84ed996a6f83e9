"""What a failure message gives away: its normal form, and the kind of shared resource."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

_BLANKS = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "<uuid>"),
    (
        re.compile(
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
        ),
        "<date>",
    ),
    (
        re.compile(r"(?<![\w.])/(?:tmp|var/tmp|var/folders|private/tmp|dev/shm)/[^\s'\":,;)\]]*"),
        "<tmp>",
    ),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.I), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b", re.I), "<hex>"),
    (
        re.compile(r"\b\d+(?:[.,]\d+)?\s?(?:ns|us|µs|ms|s|sec|seconds|min|minutes|h)\b"),
        "<duration>",
    ),
    (re.compile(r"\d+(?:[.,]\d+)*"), "#"),
)


def normal_form(message: str) -> str:
    """A message without what differs from run to run, on one line, at most 200 characters.

    Numbers, hexadecimal, addresses, UUIDs, durations, dates, temp paths and ports are blanked.
    """
    text = " ".join(message.split())
    for pattern, blank in _BLANKS:
        text = pattern.sub(blank, text)
    return text[:200]


class Sign(StrEnum):
    """The kind of resource that a message names reliably enough to weigh (row 1d)."""

    PORT = "port"
    DATABASE = "db"
    HALF_WRITTEN = "file"


_PORT = re.compile(r"EADDRINUSE|address already in use|Only one usage of each socket address", re.I)
_DATABASE = re.compile(
    r"database (?:is|table is) locked|database \S+ (?:already exists|does not exist)"
    r"|no such table|relation \S+ (?:already exists|does not exist)|table \S+ already exists"
    r"|deadlock detected|could not obtain lock",
    re.I,
)
_DATABASE_TYPES = re.compile(
    r"OperationalError|ProgrammingError|DatabaseError|DuplicateDatabase|DuplicateTable"
)
_HALF_WRITTEN = re.compile(
    r"JSONDecodeError|Expecting value: line|Extra data: line|Unterminated string starting"
    r"|UnpicklingError|pickle data was truncated|Ran out of input|BadZipFile"
    r"|File is not a zip file|EOFError|unexpected end of (?:file|JSON input|data)"
    r"|unexpected EOF|Compressed file ended before",
    re.I,
)


def sign(exc: str | None, errno: str | None, message: str | None) -> Sign | None:
    """Which shared resource a failure names, or None: file-not-found and the like are hints."""
    text = " ".join(part for part in (exc, errno, message) if part)
    if _PORT.search(text):
        return Sign.PORT
    if _DATABASE.search(text) and (
        exc is None or _DATABASE_TYPES.search(exc) or "database" in text.lower()
    ):
        return Sign.DATABASE
    if _HALF_WRITTEN.search(text):
        return Sign.HALF_WRITTEN
    return None


_EXHAUSTED = re.compile(
    r"ENOSPC|No space left on device|EMFILE|ENFILE|Too many open files|ENOMEM"
    r"|Cannot allocate memory|MemoryError|EDQUOT|Disk quota exceeded|\bKilled\b|SIGKILL|OOM",
)


def blames_infrastructure(exc: str | None, errno: str | None, message: str | None) -> bool:
    """Whether a failure names a shared resource or an exhausted machine: not the test's fault."""
    text = " ".join(part for part in (exc, errno, message) if part)
    return sign(exc, errno, message) is not None or _EXHAUSTED.search(text) is not None


def most_common(texts: Iterable[str]) -> str | None:
    """The most frequent text, the alphabetically first of those that tie; None for none."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return min(counts, key=lambda text: (-counts[text], text)) if counts else None
