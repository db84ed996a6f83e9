"""Reading a source into the index, and saying of a file that it is no log."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from analysis.records import Batch, SourceStream, open_source, read
from analysis.records.results import Foreign, Format, Summary, recognise, summary
from analysis.records.results.batches import read_results
from analysis.records.results.formats import HEAD_BYTES
from analysis.store import rows
from analysis.store.content import CHUNK_BYTES, Content, Digest
from analysis.store.ledger import Counts


@contextmanager
def standard_input(stream: BinaryIO) -> Iterator[Path]:
    """Standard input as a file, so that it is read like every other source."""
    with tempfile.NamedTemporaryFile(prefix="soakboard-", suffix=".jsonl") as copy:
        while chunk := stream.read(CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def is_stream(path: Path) -> bool:
    """Whether a path can be read once only: a pipe or a device, such as `<(zcat log)` gives."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def is_gone(path: Path) -> bool:
    """Whether no file is there any more. One that may not be looked at is not gone."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return stat.S_ISDIR(mode)


@dataclass(frozen=True)
class Progress:
    """How far the reading of a source is. done and total: bytes of the file as it is stored;
    lines: read so far, those of before included."""

    path: Path
    done: int
    total: int
    lines: int


Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class Reading:
    """How to read: final, that no writer will complete a torn last line; now, the clock; watch,
    who is told how far it is."""

    final: bool
    now: datetime
    watch: Watch | None = None


def read_from(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    content: Content,
    source_id: int,
    before: Counts,
    how: Reading,
) -> Counts:
    """Store what follows the whole lines counted in `before`; returns the counts of it all.

    content: what the file held when it was fingerprinted. Nothing beyond it is read, because
    a writer may be appending right now.
    """
    with open_source(path) as stream:
        stream.skip(before.done)
        limited = _Limited(stream, content.size - before.done, content.damage)
        told = _teller(how, path, stream)
        return _store(connection, path, limited, source_id, before, how, told)


def read_on(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    known: Content,
    source_id: int,
    before: Counts,
    how: Reading,
) -> tuple[Counts, Content]:
    """Like `read_from`, up to where the file ends now, and what it then holds.

    known: the content that the file was found to begin with; NOTHING for a new one.
    """
    digest = Digest(known)
    with open_source(path) as stream:
        hashed = digest.size
        stream.skip(min(before.done, hashed))
        if hashed < before.done:
            digest.update(stream.read(before.done - hashed))
        with _Hashed(stream, digest, max(hashed - before.done, 0)) as heard:
            told = _teller(how, path, stream)
            counts = _store(connection, path, heard, source_id, before, how, told)
    return counts, digest.content(stream.damage)


@dataclass
class ResultFile:
    """A result file that is to be read. said: of its run at ingest; context: all that is known of
    the run; elsewhere: which of some suites other files have, by their prints. summary, prints,
    copied: of what was read; copied: the suites that are left out."""

    form: Format
    said: Mapping[str, Any]
    context: Mapping[str, Any]
    elsewhere: Callable[[Collection[str]], Mapping[str, str]]
    summary: Summary | None = None
    prints: Collection[str] = ()
    copied: Mapping[str, str] = field(default_factory=dict)

    @property
    def given(self) -> str:
        """What was said of its run, as a JSON object."""
        return json.dumps(self.said, sort_keys=True)

    @property
    def is_copy(self) -> bool:
        """Whether other files have all that it holds."""
        return bool(self.copied) and len(self.copied) == len(self.prints)

    def bound(self, sha256: str) -> str:
        """The hash of a content that belongs to this run: the same bytes may be of another."""
        if not self.context:
            return sha256
        whole = json.dumps([sha256, self.context], sort_keys=True, default=str)
        return hashlib.sha256(whole.encode()).hexdigest()


def format_of(path: Path) -> Format | None:
    """Which kind of result file this is; None for a log, and for what is neither."""
    with open_source(path) as stream:
        found = recognise(stream.read(HEAD_BYTES))
    return found if isinstance(found, Format) else None


def read_results_from(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    content: Content,
    source_id: int,
    results: ResultFile,
    how: Reading,
) -> Counts:
    """Store what a result file says; its run is named by its content where nothing else does."""
    context = {"run_id": content.sha256[:16], **results.context}
    with open_source(path) as stream:
        found, batches = read_results(
            _Limited(stream, content.size, content.damage),
            results.form,
            context,
            size=content.size,
            now=how.now,
        )
        results.summary, results.prints = summary(found), tuple(found.suites)
        results.copied = results.elsewhere(results.prints)
        if results.is_copy:
            return Counts(done=content.size)
        found.leave_out(results.copied)
        told = _teller(how, path, stream)
        return _store_batches(connection, path, batches, source_id, Counts(), told)


def _teller(how: Reading, path: Path, stream: SourceStream) -> Callable[[int], None]:
    """Tells the one who watches how far the reading of a file is."""
    watch = how.watch
    if watch is None:
        return lambda _: None
    total = path.stat().st_size
    return lambda lines: watch(Progress(path, stream.consumed, total, lines))


def _store(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    stream: BinaryIO,
    source_id: int,
    before: Counts,
    how: Reading,
    tell: Callable[[int], None],
) -> Counts:
    """Store the lines of a stream that stands after the whole lines counted in `before`.

    tell: gets the number of lines, again and again.
    """
    batches = read(
        stream, final=how.final, now=how.now, start=before.done, first_line=before.lines + 1
    )
    return _store_batches(connection, path, batches, source_id, before, tell)


def _store_batches(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    batches: Iterable[Batch],
    source_id: int,
    before: Counts,
    tell: Callable[[int], None],
) -> Counts:
    counts = before
    writer = rows.Writer(connection, source_id)
    for batch in batches:
        writer.add(batch)
        counts = Counts(
            lines=counts.lines + batch.lines,
            accepted=counts.accepted + batch.rows,
            rejected=counts.rejected + batch.reject_count,
            blank=counts.blank + batch.blank,
            pending=counts.pending + batch.pending,
            done=batch.end_offset,
            tail=batch.tail,
            first_reject=counts.first_reject or _first_reject(batch),
        )
        tell(counts.lines)
    writer.flush()
    found = counts.accepted + counts.rejected + counts.blank + counts.pending
    if counts.lines != found:
        raise RuntimeError(f"{path}: {counts.lines} lines, but {found} accounted for")
    return counts


def _first_reject(batch: Batch) -> str:
    if not batch.reject_count:
        return ""
    first = batch.rejects.slice(0, 1).to_pylist()[0]
    return f"line {first['line']}: {first['reason']}"


def why_no_log(path: Path, shown: str, content: Content, counts: Counts) -> str:
    """The sentence that refuses a file of which no line is a record; empty for a log."""
    if content.size == 0:
        if content.damage:
            return f"{shown}: the compressed stream is damaged ({content.damage})."
        return f"{shown}: the file is empty. A log has one JSON object a line."
    if counts.lines == counts.blank:
        return f"{shown}: the file holds blank lines only."
    if counts.accepted or counts.pending:
        return ""
    with open_source(path) as stream:
        beginning = stream.read(HEAD_BYTES)
    found = recognise(beginning)
    if isinstance(found, Foreign):
        return f"{shown}: {found.sentence}"
    return (
        f"{shown}: {_looks_like(beginning)}; no line of it is a record ({counts.first_reject}). "
        "A log has one JSON object a line, see the README; `tui formats` lists the result "
        "files that are read."
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


class _Hashed(io.RawIOBase, BinaryIO):
    """A stream whose bytes, but the first `skip`, are hashed beside the reading of them."""

    def __init__(self, stream: SourceStream, digest: Digest, skip: int) -> None:
        super().__init__()
        self._stream, self._digest, self._skip = stream, digest, skip
        self._hashing = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    @property
    def damage(self) -> str:
        """Why the stream ended too early."""
        return self._stream.damage

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes, fewer at the end."""
        chunk = self._stream.read(size)
        unknown = memoryview(chunk)[self._skip :]
        self._skip -= len(chunk) - len(unknown)
        if self._last is not None:
            self._last.result()
        self._last = self._hashing.submit(self._digest.update, unknown)
        return chunk

    def close(self) -> None:
        """Wait for the last bytes to be hashed."""
        self._hashing.shutdown()
        super().close()
        if self._last is not None:
            self._last.result()


class _Limited(io.RawIOBase, BinaryIO):
    """At most `size` bytes of a stream that is known to end in `damage`."""

    def __init__(self, stream: SourceStream, size: int, damage: str) -> None:
        super().__init__()
        self._stream, self._left = stream, size
        self.damage = damage

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes, fewer at the limit or the end."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        chunk = self._stream.read(wanted) if wanted else b""
        self._left -= len(chunk)
        return chunk
