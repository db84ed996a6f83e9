"""The ledger: what has been read of each source, and what a source is now."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import duckdb

from analysis.store import query

IDENTITY_BYTES = 64 * 1024
CHUNK_BYTES = 1024 * 1024


class Status(StrEnum):
    """What an ingest found a source to be."""

    NEW = "new"
    KNOWN = "known"
    GROWN = "grown"
    REWRITTEN = "rewritten"
    SAME_CONTENT = "same content"
    VANISHED = "vanished"
    REFUSED = "refused"


@dataclass(frozen=True)
class Entry:
    """A row of `sources`: sizes and offsets in bytes, counts in lines."""

    source_id: int
    path: str
    given_experiment: str | None
    identity: str
    content_sha256: str
    content_size: int
    disk_size: int
    mtime_ns: int
    done: int
    lines: int
    accepted: int
    rejected: int
    blank: int
    pending: int
    tail: str
    finished: bool
    same_as: int | None


@dataclass(frozen=True)
class Fingerprint:
    """The content of a source at one moment. `prefix_sha256` is of its first `prefix` bytes."""

    identity: str
    sha256: str
    size: int
    prefix_sha256: str


def fingerprint(stream: BinaryIO, prefix: int) -> Fingerprint:
    """Read a stream to its end and say what it holds, and what its first `prefix` bytes are."""
    digest, head = hashlib.sha256(), hashlib.sha256()
    size, at_prefix = 0, digest.hexdigest() if prefix == 0 else ""
    while chunk := stream.read(CHUNK_BYTES):
        if size < IDENTITY_BYTES:
            head.update(chunk[: IDENTITY_BYTES - size])
        if size < prefix <= size + len(chunk):
            cut = prefix - size
            digest.update(chunk[:cut])
            at_prefix = digest.hexdigest()
            digest.update(chunk[cut:])
        else:
            digest.update(chunk)
        size += len(chunk)
    return Fingerprint(head.hexdigest(), digest.hexdigest(), size, at_prefix)


_ENTRY = """
SELECT source_id, path, given_experiment, identity, content_sha256, content_size, disk_size,
    mtime_ns, done, lines, accepted, rejected, blank, pending, tail, finished, same_as
FROM sources
"""


def entry_of(connection: duckdb.DuckDBPyConnection, path: str) -> Entry | None:
    """The ledger's row for a path, or None."""
    row = query.first(connection, _ENTRY + "WHERE path = $path", {"path": path})
    return None if row is None else Entry(*row)


def entry_with(connection: duckdb.DuckDBPyConnection, sha256: str, path: str) -> Entry | None:
    """Another source that holds exactly this content and has its rows, or None."""
    row = query.first(
        connection,
        _ENTRY
        + """WHERE content_sha256 = $sha256 AND path <> $path AND same_as IS NULL
        ORDER BY source_id LIMIT 1""",
        {"sha256": sha256, "path": path},
    )
    return None if row is None else Entry(*row)


def copies_of(connection: duckdb.DuckDBPyConnection, source_id: int) -> list[Entry]:
    """The sources whose content is counted under this one."""
    rows = query.rows(
        connection,
        _ENTRY + "WHERE same_as = $source_id ORDER BY source_id",
        {"source_id": source_id},
    )
    return [Entry(*row) for row in rows]


def known_paths(connection: duckdb.DuckDBPyConnection) -> list[Path]:
    """Every path that the index was given, in the order of first sight; standard input is none."""
    rows = query.rows(
        connection, "SELECT path FROM sources WHERE path NOT LIKE '-%' ORDER BY source_id"
    )
    return [Path(path) for (path,) in rows]
