"""Ingest: every byte of a source becomes a row or a visible reject, once.

One transaction a source. Same bytes again: nothing happens. Grown: the new bytes are read.
Rewritten: the rows of before are replaced. The same content under a second path: counted once.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import duckdb

from analysis.errors import AnalysisError, BadInput
from analysis.records import Batch, SourceStream, Tail, open_source, read
from analysis.store import ledger, query
from analysis.store.index import transaction
from analysis.store.ledger import Entry, Fingerprint, Status

STDIN = "-"
_TABLES = {  # table of the index: table of a batch
    "run_lines": "run_lines",
    "test_lines": "test_lines",
    "experiment_lines": "experiment_lines",
    "reject_lines": "rejects",
    "note_lines": "notes",
}


@dataclass(frozen=True)
class SourceReport:
    """What an ingest made of one source. Counts are lines of the whole source.

    lines = rows + rejects + blank + pending. `note` is a sentence where there is something to
    say; for a refused source it is the reason and nothing was stored.
    """

    path: str
    status: Status
    lines: int = 0
    rows: int = 0
    rejects: int = 0
    blank: int = 0
    pending: int = 0
    note: str = ""
    environment: bool = False


@dataclass(frozen=True)
class Ingest:
    """How to read: `final` says that no writer will complete a torn last line."""

    now: datetime
    final: bool
    experiment: str | None = None


@dataclass(frozen=True)
class _Counts:
    """What the lines of a source became, and where whole lines end (`done`, in bytes)."""

    lines: int = 0
    accepted: int = 0
    rejected: int = 0
    blank: int = 0
    pending: int = 0
    done: int = 0
    tail: Tail = Tail.NONE
    damage: str = ""


@contextmanager
def standard_input(stream: BinaryIO) -> Iterator[Path]:
    """Standard input as a file, so that it is read like every other source."""
    with tempfile.NamedTemporaryFile(prefix="soakboard-", suffix=".jsonl") as copy:
        while chunk := stream.read(ledger.CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def ingest(
    connection: duckdb.DuckDBPyConnection,
    sources: Iterable[tuple[str, Path]],
    how: Ingest,
) -> list[SourceReport]:
    """Take what is new of each source, one transaction a source.

    sources: (name, file to read) pairs; the name is the absolute path, or `-` for standard
    input. A source that cannot be used is reported as refused and leaves the others alone.
    """
    return _each(connection, sources, how, lambda: transaction(connection))


def rehearse(
    connection: duckdb.DuckDBPyConnection,
    sources: Iterable[tuple[str, Path]],
    how: Ingest,
) -> list[SourceReport]:
    """What `ingest` would do. The index is as before when this returns."""

    class Rehearsed(Exception):
        pass

    @contextmanager
    def part_of_the_whole() -> Iterator[None]:
        yield

    reports: list[SourceReport] = []
    try:
        with transaction(connection):
            reports = _each(connection, sources, how, part_of_the_whole)
            raise Rehearsed
    except Rehearsed:
        return reports


def _each(
    connection: duckdb.DuckDBPyConnection,
    sources: Iterable[tuple[str, Path]],
    how: Ingest,
    unit_of_work: Callable[[], AbstractContextManager[None]],
) -> list[SourceReport]:
    reports = []
    seen: set[str] = set()
    for name, path in sources:
        if name in seen:
            continue
        seen.add(name)
        try:
            with unit_of_work():
                reports.extend(_take(connection, name, path, how))
        except AnalysisError as error:
            reports.append(
                SourceReport(
                    name,
                    Status.REFUSED,
                    note=f"{error.message} {error.hint}".strip(),
                    environment=not isinstance(error, BadInput),
                )
            )
    return reports


def _take(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, how: Ingest
) -> list[SourceReport]:
    known = None if name == STDIN else ledger.entry_of(connection, name)
    if known and not path.exists():
        return [_vanished(connection, known)]
    disk_size, mtime_ns = _on_disk(path)
    if known and _untouched(known, disk_size, mtime_ns, how):
        return [_report(known, Status.KNOWN)]
    now = _fingerprint(path, known)
    if name == STDIN:
        name = f"{STDIN}{now.identity[:12]}"
        known = ledger.entry_of(connection, name)
    if known and known.content_sha256 == now.sha256 and _settled(known, how):
        _touch(connection, known, disk_size, mtime_ns)
        return [_report(known, Status.KNOWN)]
    source = _Source(name, path, disk_size, mtime_ns, now, how)
    original = ledger.entry_with(connection, now.sha256, name)
    if original:
        return _count_once(connection, source, known, original)
    if known and now.prefix_sha256 == known.content_sha256:
        return [_grow(connection, source, known)]
    return _load(connection, source, known)


@dataclass(frozen=True)
class _Source:
    name: str
    path: Path
    disk_size: int
    mtime_ns: int
    now: Fingerprint
    how: Ingest


def _on_disk(path: Path) -> tuple[int, int]:
    with open_source(path):  # says in one sentence why a path cannot be read
        facts = path.stat()
    return facts.st_size, facts.st_mtime_ns


def _untouched(known: Entry, disk_size: int, mtime_ns: int, how: Ingest) -> bool:
    same = known.disk_size == disk_size and known.mtime_ns == mtime_ns
    return same and _settled(known, how)


def _settled(known: Entry, how: Ingest) -> bool:
    """Nothing about the source would be read differently this time."""
    named = how.experiment is None or how.experiment == known.given_experiment
    return named and not (how.final and known.pending)


def _fingerprint(path: Path, known: Entry | None) -> Fingerprint:
    with open_source(path) as stream:
        return ledger.fingerprint(stream, known.content_size if known else 0)


def _touch(
    connection: duckdb.DuckDBPyConnection, known: Entry, disk_size: int, mtime_ns: int
) -> None:
    query.write(
        connection,
        """UPDATE sources SET disk_size = $disk_size, mtime_ns = $mtime_ns, vanished = false
        WHERE source_id = $source_id""",
        {"disk_size": disk_size, "mtime_ns": mtime_ns, "source_id": known.source_id},
    )


def _vanished(connection: duckdb.DuckDBPyConnection, known: Entry) -> SourceReport:
    query.write(
        connection,
        "UPDATE sources SET vanished = true WHERE source_id = $source_id",
        {"source_id": known.source_id},
    )
    return replace(
        _report(known, Status.VANISHED), note="not there any more; what was read of it is kept"
    )


def _count_once(
    connection: duckdb.DuckDBPyConnection, source: _Source, known: Entry | None, original: Entry
) -> list[SourceReport]:
    """The content is in the index under another path: remember the path, add no rows."""
    released = _replace(connection, known, source.how)
    counts = _Counts(
        original.lines,
        original.accepted,
        original.rejected,
        original.blank,
        original.pending,
        original.done,
        Tail(original.tail),
    )
    _write_entry(connection, source, known, counts, same_as=original.source_id)
    report = _outcome(source, Status.SAME_CONTENT, counts)
    note = f"the same content as {original.path}; counted once"
    return [replace(report, note=note), *released]


def _load(
    connection: duckdb.DuckDBPyConnection, source: _Source, known: Entry | None
) -> list[SourceReport]:
    """Read a source from its beginning; rows of what stood there before are replaced."""
    released = _replace(connection, known, source.how)
    source_id = known.source_id if known else _next_id(connection)
    counts = _read(connection, source, source_id, _Counts())
    _refuse_what_is_no_log(source, counts)
    _write_entry(connection, source, known, counts, source_id=source_id)
    report = _outcome(source, Status.REWRITTEN if known else Status.NEW, counts)
    if known:
        report = replace(
            report,
            note=f"rewritten or rotated: {known.accepted} rows of before were replaced",
        )
    return [report, *released]


def _grow(connection: duckdb.DuckDBPyConnection, source: _Source, known: Entry) -> SourceReport:
    """Read what was appended. Rows behind `done` were provisional and are read again."""
    for table in _TABLES:
        query.write(
            connection,
            f"DELETE FROM {table} WHERE source_id = $source_id AND byte_offset >= $done",
            {"source_id": known.source_id, "done": known.done},
        )
    before = _before_the_tail(known)
    counts = _read(connection, source, known.source_id, before)
    grown = source.now.size > known.content_size
    _write_entry(connection, source, known, counts, same_as=known.same_as)
    return _outcome(source, Status.GROWN if grown else Status.KNOWN, counts)


def _before_the_tail(known: Entry) -> _Counts:
    tail = Tail(known.tail)
    return _Counts(
        lines=known.lines - (tail is not Tail.NONE),
        accepted=known.accepted - (tail is Tail.ROW),
        rejected=known.rejected - (tail is Tail.REJECT),
        blank=known.blank - (tail is Tail.BLANK),
        pending=0,
        done=known.done,
    )


def _replace(
    connection: duckdb.DuckDBPyConnection, known: Entry | None, how: Ingest
) -> list[SourceReport]:
    """Drop a source's rows. Copies that were counted under it stand on their own again."""
    if known is None:
        return []
    copies = ledger.copies_of(connection, known.source_id)
    present = [copy for copy in copies if Path(copy.path).exists()]
    _hand_over(connection, known, [copy for copy in copies if copy not in present])
    for table in _TABLES:
        query.write(
            connection,
            f"DELETE FROM {table} WHERE source_id = $source_id",
            {"source_id": known.source_id},
        )
    _forget_content(connection, known)
    reports: list[SourceReport] = []
    for copy in present:
        _forget_content(connection, copy)
        again = replace(how, experiment=copy.given_experiment)
        reports.extend(_take(connection, copy.path, Path(copy.path), again))
    return reports


def _forget_content(connection: duckdb.DuckDBPyConnection, known: Entry) -> None:
    query.write(
        connection,
        """UPDATE sources SET content_sha256 = '', mtime_ns = -1, same_as = NULL
        WHERE source_id = $source_id""",
        {"source_id": known.source_id},
    )


def _hand_over(connection: duckdb.DuckDBPyConnection, known: Entry, vanished: list[Entry]) -> None:
    """A copy that cannot be read again inherits the rows that stood for it."""
    if not vanished:
        return
    heir = vanished[0]
    for table in _TABLES:
        query.write(
            connection,
            f"""UPDATE {table} SET source_id = $heir
            WHERE source_id = $source_id AND byte_offset < $size""",
            {"heir": heir.source_id, "source_id": known.source_id, "size": heir.content_size},
        )
    query.write(
        connection,
        """UPDATE sources SET same_as = CASE WHEN source_id = $heir THEN NULL ELSE $heir END
        WHERE list_contains($vanished, source_id)""",
        {"heir": heir.source_id, "vanished": [copy.source_id for copy in vanished]},
    )


def _next_id(connection: duckdb.DuckDBPyConnection) -> int:
    row = query.first(connection, "SELECT nextval('source_ids')")
    assert row is not None
    return int(row[0])


def _read(
    connection: duckdb.DuckDBPyConnection, source: _Source, source_id: int, counts: _Counts
) -> _Counts:
    with open_source(source.path) as stream:
        # Not beyond what was fingerprinted: a writer may be appending right now.
        stream.skip(counts.done)
        limited = _Limited(stream, source.now.size - counts.done)
        batches = read(
            limited,
            final=source.how.final,
            now=source.how.now,
            start=counts.done,
            first_line=counts.lines + 1,
        )
        for batch in batches:
            _insert(connection, source_id, batch)
            counts = _Counts(
                lines=counts.lines + batch.lines,
                accepted=counts.accepted + batch.rows,
                rejected=counts.rejected + batch.reject_count,
                blank=counts.blank + batch.blank,
                pending=counts.pending + batch.pending,
                done=batch.end_offset,
                tail=batch.tail,
                damage=stream.damage,
            )
    return counts


class _Limited(io.RawIOBase, BinaryIO):
    """At most `size` bytes of a stream."""

    def __init__(self, stream: SourceStream, size: int) -> None:
        super().__init__()
        self._stream, self._left = stream, size

    @property
    def damage(self) -> str:
        """Why the stream under it ended too early."""
        return self._stream.damage

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes, fewer at the limit or the end."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        chunk = self._stream.read(wanted) if wanted else b""
        self._left -= len(chunk)
        return chunk


def _insert(connection: duckdb.DuckDBPyConnection, source_id: int, batch: Batch) -> None:
    for table, name in _TABLES.items():
        rows = getattr(batch, name)
        if not rows.num_rows:
            continue
        connection.register("batch", rows)
        query.write(
            connection,
            f"INSERT INTO {table} BY NAME SELECT $source_id AS source_id, * FROM batch",
            {"source_id": source_id},
        )
        connection.unregister("batch")


def _refuse_what_is_no_log(source: _Source, counts: _Counts) -> None:
    name = source.name
    if source.now.size == 0:
        raise BadInput(f"{name}: the file is empty.", "A log has one JSON object a line.")
    if counts.lines == counts.blank:
        raise BadInput(f"{name}: the file holds blank lines only.")
    if counts.accepted == 0 and counts.pending == 0:
        with open_source(source.path) as stream:
            beginning = stream.read(400)
        raise BadInput(
            f"{name}: {_looks_like(beginning)}; no line of it is a record.",
            "A log has one JSON object a line, see the README.",
        )


def _looks_like(beginning: bytes) -> str:
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "this is an HTML page"
    if text.startswith(b"<"):
        return "this looks like XML"
    if b"\0" in beginning:
        return "this is a binary file"
    return "this is no soakboard log"


def _write_entry(
    connection: duckdb.DuckDBPyConnection,
    source: _Source,
    known: Entry | None,
    counts: _Counts,
    *,
    source_id: int | None = None,
    same_as: int | None = None,
) -> None:
    found = counts.accepted + counts.rejected + counts.blank + counts.pending
    if counts.lines != found:
        raise RuntimeError(f"{source.name}: {counts.lines} lines, but {found} accounted for")
    if source_id is None:
        source_id = known.source_id if known else _next_id(connection)
    parent = Path(source.name).parent
    query.write(connection, "DELETE FROM sources WHERE source_id = $id", {"id": source_id})
    query.write(
        connection,
        """INSERT INTO sources BY NAME SELECT
            $source_id AS source_id, $path AS path, $directory AS directory,
            $given AS given_experiment, $identity AS identity, $sha256 AS content_sha256,
            $size AS content_size, $disk_size AS disk_size, $mtime_ns AS mtime_ns,
            $done AS done, $lines AS lines, $accepted AS accepted, $rejected AS rejected,
            $blank AS blank, $pending AS pending, $tail AS tail, $finished AS finished,
            $damage AS damage, false AS vanished, $same_as AS same_as""",
        {
            "source_id": source_id,
            "path": source.name,
            "directory": "stdin" if source.name.startswith(STDIN) else str(parent),
            "given": source.how.experiment or (known.given_experiment if known else None),
            "identity": source.now.identity,
            "sha256": source.now.sha256,
            "size": source.now.size,
            "disk_size": source.disk_size,
            "mtime_ns": source.mtime_ns,
            "done": counts.done,
            "lines": counts.lines,
            "accepted": counts.accepted,
            "rejected": counts.rejected,
            "blank": counts.blank,
            "pending": counts.pending,
            "tail": str(counts.tail),
            "finished": source.how.final,
            "damage": counts.damage,
            "same_as": same_as,
        },
    )


def _report(entry: Entry, status: Status) -> SourceReport:
    return SourceReport(
        entry.path, status, entry.lines, entry.accepted, entry.rejected, entry.blank, entry.pending
    )


def _outcome(source: _Source, status: Status, counts: _Counts) -> SourceReport:
    note = f"the compressed stream is damaged: {counts.damage}" if counts.damage else ""
    return SourceReport(
        STDIN if source.name.startswith(STDIN) else source.name,
        status,
        counts.lines,
        counts.accepted,
        counts.rejected,
        counts.blank,
        counts.pending,
        note,
    )
