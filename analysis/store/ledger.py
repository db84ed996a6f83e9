"""The ledger: what was read of each source, and what a source holds now.

Sources of the same content form a group. One of them, the holder, has the rows; the others
point to it. Which one that is depends on the group alone, never on the order of ingest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb

from analysis.records import Tail
from analysis.store import query, rows
from analysis.store.content import NOTHING, Content

STDIN = "-"
STREAM_DIRECTORY = "stdin"
"""Stands for the directory of what can be read once only; a real one is an absolute path."""

_SETTLED_NS = 2_000_000_000
"""A file that changed less than this ago may change again under the same time stamp."""


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
class Stamp:
    """What the file system says of a file. Equal stamps: the file was not touched."""

    disk_size: int
    mtime_ns: int
    ctime_ns: int


NO_STAMP = Stamp(-1, -1, -1)


@dataclass(frozen=True)
class Counts:
    """What the lines of a source became, and where whole lines end (`done`, in bytes)."""

    lines: int = 0
    accepted: int = 0
    rejected: int = 0
    blank: int = 0
    pending: int = 0
    done: int = 0
    tail: Tail = Tail.NONE
    first_reject: str = ""

    def before_the_tail(self) -> Counts:
        """The counts without the bytes after the last newline."""
        return Counts(
            lines=self.lines - (self.tail is not Tail.NONE),
            accepted=self.accepted - (self.tail is Tail.ROW),
            rejected=self.rejected - (self.tail is Tail.REJECT),
            blank=self.blank - (self.tail is Tail.BLANK),
            pending=0,
            done=self.done,
        )


@dataclass(frozen=True)
class Entry:
    """A row of `sources`. same_as: the holder's id, None for a holder. given_context: what was
    said at ingest of the run of a result file, as a JSON object."""

    source_id: int
    path: str
    directory: str
    given_experiment: str | None
    content: Content
    stamp: Stamp
    counts: Counts
    finished: bool
    vanished: bool
    same_as: int | None
    given_context: str = "{}"

    @property
    def holder(self) -> int:
        """The source that has the rows of this one's content."""
        return self.source_id if self.same_as is None else self.same_as


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file, NO_STAMP where it may change unseen. Raises OSError."""
    facts = path.stat()
    if time.time_ns() - max(facts.st_mtime_ns, facts.st_ctime_ns) < _SETTLED_NS:
        return NO_STAMP
    return Stamp(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def has_beginning(connection: duckdb.DuckDBPyConnection, identity: str) -> bool:
    """Whether a source begins with the same 64 KiB."""
    return (
        query.first(
            connection, "SELECT 1 FROM sources WHERE identity = $identity", {"identity": identity}
        )
        is not None
    )


def has_copies(connection: duckdb.DuckDBPyConnection, source_id: int) -> bool:
    """Whether other sources have the content of this one."""
    return (
        query.first(connection, "SELECT 1 FROM sources WHERE same_as = $id", {"id": source_id})
        is not None
    )


def entry_of(connection: duckdb.DuckDBPyConnection, path: str) -> Entry | None:
    """The ledger's row for a path, or None."""
    return _first(connection, "path = $path", {"path": path})


def entry_with_id(connection: duckdb.DuckDBPyConnection, source_id: int) -> Entry:
    """The ledger's row for an id that exists."""
    found = _first(connection, "source_id = $source_id", {"source_id": source_id})
    assert found is not None
    return found


def holder_of(connection: duckdb.DuckDBPyConnection, content: Content, path: str) -> Entry | None:
    """Another source than `path` that has the rows of this content, or None.

    The last line of a damaged stream is taken for torn, so that one is another content.
    """
    return _first(
        connection,
        """content_sha256 = $sha256 AND (damage = '') = $whole AND path <> $path
        AND same_as IS NULL""",
        {"sha256": content.sha256, "whole": content.damage == "", "path": path},
    )


def write(connection: duckdb.DuckDBPyConnection, entry: Entry) -> None:
    """Put a row of the ledger in the place of the one with its id."""
    query.write(connection, "DELETE FROM sources WHERE source_id = $id", {"id": entry.source_id})
    query.write(
        connection,
        """INSERT INTO sources BY NAME SELECT
            $source_id AS source_id, $path AS path, $directory AS directory,
            $given AS given_experiment, $identity AS identity, $sha256 AS content_sha256,
            $size AS content_size, $chain AS chain, $disk_size AS disk_size, $mtime_ns AS mtime_ns,
            $ctime_ns AS ctime_ns, $done AS done, $lines AS lines, $accepted AS accepted,
            $rejected AS rejected, $blank AS blank, $pending AS pending, $tail AS tail,
            $finished AS finished, $damage AS damage, $vanished AS vanished,
            $same_as AS same_as, $given_context AS given_context""",
        _columns(entry),
    )


def next_id(connection: duckdb.DuckDBPyConnection) -> int:
    """An id that no source has had."""
    row = query.first(connection, "SELECT nextval('source_ids')")
    assert row is not None
    return int(row[0])


def set_counts(connection: duckdb.DuckDBPyConnection, holder: int, counts: Counts) -> None:
    """Write the counts of a content to every source that has it."""
    query.write(
        connection,
        """UPDATE sources SET lines = $lines, accepted = $accepted, rejected = $rejected,
            blank = $blank, pending = $pending, done = $done, tail = $tail
        WHERE source_id = $holder OR same_as = $holder""",
        {
            "holder": holder,
            "lines": counts.lines,
            "accepted": counts.accepted,
            "rejected": counts.rejected,
            "blank": counts.blank,
            "pending": counts.pending,
            "done": counts.done,
            "tail": str(counts.tail),
        },
    )


def forget_content(connection: duckdb.DuckDBPyConnection, holder: int) -> None:
    """Of every source of a content: its path stays known, and that nothing of it is held."""
    query.write(
        connection,
        """UPDATE sources SET identity = '', content_sha256 = '', content_size = 0,
            damage = '', chain = '', disk_size = -1, mtime_ns = -1, ctime_ns = -1,
            lines = 0, accepted = 0, rejected = 0,
            blank = 0, pending = 0, done = 0, tail = 'none', same_as = NULL
        WHERE source_id = $holder OR same_as = $holder""",
        {"holder": holder},
    )


_BEST = """
ORDER BY vanished, given_experiment IS NULL, directory = 'stdin', path LIMIT 1
"""


def elect(connection: duckdb.DuckDBPyConnection, holder: int) -> None:
    """Give the rows of a group to the source that should have them.

    A source that is there comes before one that is not, one with a given experiment before one
    without, a file before standard input; among equals the first path.
    """
    best = query.first(
        connection,
        "SELECT source_id FROM sources WHERE source_id = $holder OR same_as = $holder" + _BEST,
        {"holder": holder},
    )
    if best and best[0] != holder:
        _pass_on(connection, holder, best[0])


def leave_group(connection: duckdb.DuckDBPyConnection, entry: Entry) -> None:
    """A source's content is another now: what it held for copies goes to one of them."""
    heir = query.first(
        connection,
        "SELECT source_id FROM sources WHERE same_as = $holder" + _BEST,
        {"holder": entry.source_id},
    )
    if heir:
        _pass_on(connection, entry.source_id, heir[0])


def _pass_on(connection: duckdb.DuckDBPyConnection, holder: int, heir: int) -> None:
    rows.move(connection, holder, heir)
    query.write(
        connection,
        """UPDATE sources SET same_as = nullif($heir, source_id)
        WHERE source_id = $holder OR same_as = $holder""",
        {"holder": holder, "heir": heir},
    )


def known_paths(connection: duckdb.DuckDBPyConnection) -> list[Path]:
    """Every path that the index was given, in the order of first sight, but streams."""
    found = query.rows(
        connection,
        "SELECT path FROM sources WHERE directory <> $stream ORDER BY source_id",
        {"stream": STREAM_DIRECTORY},
    )
    return [Path(path) for (path,) in found]


def seed(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    given_experiment: str | None,
    given_context: str,
) -> None:
    """Make a path known without reading it; `ingest` of known paths does."""
    if entry_of(connection, path) is None:
        entry = Entry(
            next_id(connection),
            path,
            str(Path(path).parent),
            given_experiment,
            NOTHING,
            NO_STAMP,
            Counts(),
            finished=False,
            vanished=False,
            same_as=None,
            given_context=given_context,
        )
        write(connection, entry)


def _first(
    connection: duckdb.DuckDBPyConnection, condition: str, parameters: query.Parameters
) -> Entry | None:
    row = query.first(
        connection,
        f"""SELECT source_id, path, directory, given_experiment,
            {{'identity': identity, 'sha256': content_sha256, 'size': content_size,
                'damage': damage, 'chain': chain}},
            {{'disk_size': disk_size, 'mtime_ns': mtime_ns, 'ctime_ns': ctime_ns}},
            {{'lines': lines, 'accepted': accepted, 'rejected': rejected, 'blank': blank,
                'pending': pending, 'done': done}},
            tail, finished, vanished, same_as, given_context
        FROM sources WHERE {condition} ORDER BY source_id LIMIT 1""",
        parameters,
    )
    if row is None:
        return None
    source_id, path, directory, given, content, stamp, counts, tail, *rest = row
    return Entry(
        source_id,
        path,
        directory,
        given,
        Content(**content),
        Stamp(**stamp),
        Counts(**counts, tail=Tail(tail)),
        *rest,
    )


def _columns(entry: Entry) -> dict[str, Any]:
    return {
        "source_id": entry.source_id,
        "path": entry.path,
        "directory": entry.directory,
        "given": entry.given_experiment,
        "identity": entry.content.identity,
        "sha256": entry.content.sha256,
        "size": entry.content.size,
        "chain": entry.content.chain,
        "disk_size": entry.stamp.disk_size,
        "mtime_ns": entry.stamp.mtime_ns,
        "ctime_ns": entry.stamp.ctime_ns,
        "done": entry.counts.done,
        "lines": entry.counts.lines,
        "accepted": entry.counts.accepted,
        "rejected": entry.counts.rejected,
        "blank": entry.counts.blank,
        "pending": entry.counts.pending,
        "tail": str(entry.counts.tail),
        "finished": entry.finished,
        "damage": entry.content.damage,
        "vanished": entry.vanished,
        "same_as": entry.same_as,
        "given_context": entry.given_context,
    }
