"""Ingest: every byte of a source becomes a row or a visible reject, once.

One transaction a source. Same bytes again: nothing happens. Grown: the new bytes are read.
Rewritten: the rows of before are replaced. The same content under a second path: counted once.
Whatever happened before, the index is what reading the files as they are now would give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from analysis.errors import AnalysisError, BadInput
from analysis.records import open_source
from analysis.records.results import Format, Summary
from analysis.records.results.context import beside
from analysis.store import copies, ledger, reading, rows
from analysis.store.content import NOTHING, Content, begins_like, fingerprint, has_grown
from analysis.store.ledger import STDIN, Counts, Entry, Stamp, Status
from analysis.store.reading import Reading, ResultFile, Watch, standard_input
from analysis.store.transaction import IndexFault, transaction

__all__ = [
    "STDIN",
    "Ingest",
    "SourceReport",
    "ingest",
    "rehearse",
    "standard_input",
]


@dataclass(frozen=True)
class SourceReport:
    """What an ingest made of one source. Counts are lines of the whole source.

    lines = rows + rejects + blank + pending. `note` is a sentence where there is something to
    say; for a refused source it is the reason and nothing of it is stored. results: of a result
    file that was read.
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
    results: Summary | None = None


@dataclass(frozen=True)
class Ingest:
    """How to read: `final` says that no writer will complete a torn last line; `watch` is told
    how far it is. context: fields of the run of every result file; contexts: of some, by name."""

    now: datetime
    final: bool
    experiment: str | None = None
    watch: Watch | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    contexts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def ingest(
    connection: duckdb.DuckDBPyConnection,
    sources: Iterable[tuple[str, Path]],
    how: Ingest,
) -> list[SourceReport]:
    """Take what is new of each source, one transaction a source.

    sources: (name, file to read) pairs; the name is the absolute path, or `-` for standard
    input. A source that cannot be used is reported as refused and leaves the others alone.
    IndexFault: the index cannot be written.
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
            with _as_file(name, path) as given, unit_of_work():
                reports.append(_take(connection, given, how))
        except IndexFault:
            raise
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


@dataclass(frozen=True)
class _Given:
    """A source to take: its name in the ledger and a file that can be read twice."""

    name: str
    file: Path
    directory: str


@contextmanager
def _as_file(name: str, path: Path) -> Iterator[_Given]:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{name!r}: the name of this file is not UTF-8.", "Rename it.") from error
    if name == STDIN:
        yield _Given(name, path, ledger.STREAM_DIRECTORY)
    elif reading.is_stream(path):
        with path.open("rb") as stream, standard_input(stream) as copy:
            yield _Given(name, copy, ledger.STREAM_DIRECTORY)
    else:
        yield _Given(name, path, str(Path(name).parent))


@dataclass(frozen=True)
class _Source:
    """A source as it is now."""

    given: _Given
    stamp: Stamp
    content: Content
    how: Ingest
    results: ResultFile | None = None

    def read(self, connection: duckdb.DuckDBPyConnection, source_id: int, before: Counts) -> Counts:
        """Store what follows `before`, up to the end of the content. A result file is whole."""
        if self.results is not None:
            return reading.read_results_from(
                connection, self.given.file, self.content, source_id, self.results, self._reading
            )
        return reading.read_from(
            connection, self.given.file, self.content, source_id, before, self._reading
        )

    def read_on(
        self, connection: duckdb.DuckDBPyConnection, source_id: int, before: Counts
    ) -> tuple[_Source, Counts]:
        """Store what follows `before`, up to where the file ends now; the source with that."""
        counts, content = reading.read_on(
            connection, self.given.file, self.content, source_id, before, self._reading
        )
        return replace(self, content=content), counts

    @property
    def _reading(self) -> Reading:
        return Reading(self.how.final, self.how.now, self.how.watch)

    def refusal(self, counts: Counts) -> str:
        """Why this is no log; empty for one."""
        if self.results is not None:
            return ""
        shown = _shown(self.given.name)
        return reading.why_no_log(self.given.file, shown, self.content, counts)

    def entry(
        self, source_id: int, known: Entry | None, counts: Counts, same_as: int | None = None
    ) -> Entry:
        return Entry(
            source_id,
            self.given.name,
            self.given.directory,
            self.how.experiment or (known.given_experiment if known else None),
            self.content,
            self.stamp,
            counts,
            finished=self.how.final,
            vanished=False,
            same_as=same_as,
            given_context=self.results.given if self.results else "{}",
        )


def _take(connection: duckdb.DuckDBPyConnection, given: _Given, how: Ingest) -> SourceReport:
    known = None if given.name == STDIN else ledger.entry_of(connection, given.name)
    if known and reading.is_gone(given.file):
        return _vanished(connection, known)
    stamp = _stamp(given.file)
    if known and _untouched(known, stamp) and _settled(known, how):
        return _report(known, Status.KNOWN)
    form = reading.format_of(given.file)
    if form is not None:
        return _take_results(connection, given, known, stamp, how, form)
    if given.name != STDIN:
        # What cannot be anything else is read once; otherwise what it is has to be known first.
        if known is None:
            if not ledger.has_beginning(connection, begins_like(given.file)):
                return _read_on(connection, _Source(given, stamp, NOTHING, how), None)
        elif _goes_on(connection, given, known):
            return _read_on(connection, _Source(given, stamp, known.content, how), known)
    with open_source(given.file) as stream:
        content, prefix = fingerprint(stream, known.content.size if known else 0)
    if given.name == STDIN:
        given = replace(given, name=f"{STDIN}{content.sha256[:16]}")
        known = ledger.entry_of(connection, given.name)
    source = _Source(given, stamp, content, how)
    if known and known.content == content:
        return _seen_again(connection, source, known)
    return _changed(connection, source, known, prefix)


def _take_results(
    connection: duckdb.DuckDBPyConnection,
    given: _Given,
    known: Entry | None,
    stamp: Stamp,
    how: Ingest,
    form: Format,
) -> SourceReport:
    """A result file: read whole, and counted unless others of its directory say the same."""
    said = {**how.contexts.get(given.name, {}), **how.context}
    if not said and known is not None:
        said = json.loads(known.given_context)
    source_id = known.source_id if known else -1
    results = ResultFile(
        form,
        said,
        {**beside(Path(given.name)), **said},
        lambda prints: copies.elsewhere(connection, source_id, given.directory, prints),
    )
    with open_source(given.file) as stream:
        content, _ = fingerprint(stream, 0)
    content = replace(content, sha256=results.bound(content.sha256))
    if given.name == STDIN:
        given = replace(given, name=f"{STDIN}{content.sha256[:16]}")
        known = ledger.entry_of(connection, given.name)
    source = _Source(given, stamp, content, how, results)
    if known and known.content == content:
        return _seen_again(connection, source, known)
    if known:
        copies.forget(connection, known.source_id)
    report = replace(_changed(connection, source, known, None), results=results.summary)
    entry = ledger.entry_of(connection, given.name)
    if entry is None or entry.content != content:
        return report
    copies.remember(connection, entry, results.prints, results.copied)
    if not results.copied:
        return report
    many = f"{len(results.copied)} of its {len(results.prints)} suites are those"
    of = "the same results as" if results.is_copy else f"{many} of"
    return replace(
        report,
        status=Status.SAME_CONTENT if results.is_copy else report.status,
        note=f"{of} {_shown(min(results.copied.values()))}; counted once",
    )


def _stamp(path: Path) -> Stamp:
    try:
        return ledger.stamp_of(path)
    except OSError:
        with open_source(path):  # says in one sentence why a path cannot be read
            return ledger.NO_STAMP


def _untouched(known: Entry, stamp: Stamp) -> bool:
    return known.stamp == stamp != ledger.NO_STAMP and not known.vanished


def _settled(known: Entry, how: Ingest) -> bool:
    """Nothing about the source would be read differently this time."""
    named = how.experiment is None or how.experiment == known.given_experiment
    said = {**how.contexts.get(known.path, {}), **how.context}
    named = named and (not said or said == json.loads(known.given_context))
    return named and not (how.final and known.counts.pending)


def _vanished(connection: duckdb.DuckDBPyConnection, known: Entry) -> SourceReport:
    if not known.vanished:
        ledger.write(connection, replace(known, vanished=True, stamp=ledger.NO_STAMP))
        ledger.elect(connection, known.holder)
    if known.content == NOTHING:
        note = "not there any more, and nothing of it is in the index"
    else:
        note = "not there any more; what was read of it is kept"
    return replace(_report(known, Status.VANISHED), note=note)


def _seen_again(
    connection: duckdb.DuckDBPyConnection, source: _Source, known: Entry
) -> SourceReport:
    """The bytes of before; at most the torn last line or the experiment is another now."""
    now = source.entry(known.source_id, known, known.counts, known.same_as)
    ledger.write(connection, replace(now, finished=known.finished or source.how.final))
    return _agree(connection, source, now, Status.KNOWN)


def _goes_on(connection: duckdb.DuckDBPyConnection, given: _Given, known: Entry) -> bool:
    """Whether a source holds its rows for itself alone, and new bytes follow them."""
    alone = known.same_as is None and not ledger.has_copies(connection, known.source_id)
    return alone and has_grown(given.file, known.content)


def _read_on(
    connection: duckdb.DuckDBPyConnection, source: _Source, known: Entry | None
) -> SourceReport:
    """New bytes of a source, after those that are known."""
    source_id = known.source_id if known else ledger.next_id(connection)
    before = known.counts.before_the_tail() if known else Counts()
    if known:
        rows.drop(connection, source_id, before.done)
    source, counts = source.read_on(connection, source_id, before)
    twin = ledger.holder_of(connection, source.content, source.given.name)
    if twin:
        return _same_content(connection, source, source_id, known, twin)
    return _counted(connection, source, source_id, known, counts, grown=known is not None)


def _changed(
    connection: duckdb.DuckDBPyConnection,
    source: _Source,
    known: Entry | None,
    prefix: str | None,
) -> SourceReport:
    """A new source, or other bytes than before."""
    source_id = known.source_id if known else ledger.next_id(connection)
    has_rows = False
    if known:
        ledger.leave_group(connection, known)
        has_rows = ledger.entry_with_id(connection, source_id).same_as is None
    grown = known is not None and known.content.sha256 == prefix
    twin = ledger.holder_of(connection, source.content, source.given.name)
    if twin:
        return _same_content(connection, source, source_id, known, twin)
    before = known.counts.before_the_tail() if known and grown and has_rows else Counts()
    if known:
        rows.drop(connection, source_id, before.done)
    counts = source.read(connection, source_id, before)
    return _counted(connection, source, source_id, known, counts, grown=grown)


def _same_content(
    connection: duckdb.DuckDBPyConnection,
    source: _Source,
    source_id: int,
    known: Entry | None,
    twin: Entry,
) -> SourceReport:
    """Another source has the rows of this content."""
    rows.drop(connection, source_id)
    entry = source.entry(source_id, known, twin.counts, twin.source_id)
    ledger.write(connection, entry)
    return _agree(connection, source, entry, Status.SAME_CONTENT)


def _counted(
    connection: duckdb.DuckDBPyConnection,
    source: _Source,
    source_id: int,
    known: Entry | None,
    counts: Counts,
    *,
    grown: bool,
) -> SourceReport:
    """Write down what the lines of a source became, or refuse it."""
    refusal = source.refusal(counts)
    entry = source.entry(source_id, known, counts)
    if refusal:
        return _refuse(connection, entry, refusal, known)
    ledger.write(connection, entry)
    return _changed_report(entry, known, grown=grown)


def _agree(
    connection: duckdb.DuckDBPyConnection, source: _Source, entry: Entry, status: Status
) -> SourceReport:
    """Settle what sources of one content share: the torn last line, and who has the rows."""
    counts = entry.counts
    if source.how.final and counts.pending:
        before = counts.before_the_tail()
        rows.drop(connection, entry.holder, before.done)
        counts = source.read(connection, entry.holder, before)
        refusal = source.refusal(counts)
        if refusal:
            return _refuse(connection, entry, refusal)
        ledger.set_counts(connection, entry.holder, counts)
    twin = ledger.entry_with_id(connection, entry.holder)
    ledger.elect(connection, entry.holder)
    report = _report(replace(entry, counts=counts), status)
    if status is not Status.SAME_CONTENT:
        return report
    same = f"the same content as {_shown(twin.path)}; counted once"
    return replace(report, note=f"{same}; {report.note}" if report.note else same)


def _refuse(
    connection: duckdb.DuckDBPyConnection, entry: Entry, reason: str, known: Entry | None = None
) -> SourceReport:
    """Keep nothing of a file that is no log; its name stays known if it was."""
    rows.drop(connection, entry.holder)
    ledger.forget_content(connection, entry.holder)
    if known and known.counts.accepted:
        reason += " What was read of it before is not counted any more."
    return SourceReport(_shown(entry.path), Status.REFUSED, note=reason)


def _changed_report(entry: Entry, known: Entry | None, *, grown: bool) -> SourceReport:
    if known is None or known.content == NOTHING:
        return _report(entry, Status.NEW)
    if grown:
        longer = entry.content.size > known.content.size
        return _report(entry, Status.GROWN if longer else Status.KNOWN)
    report = _report(entry, Status.REWRITTEN)
    note = f"rewritten or rotated: {known.counts.accepted} rows of before were replaced"
    return replace(report, note=f"{note}; {report.note}" if report.note else note)


def _report(entry: Entry, status: Status) -> SourceReport:
    counts, damage = entry.counts, entry.content.damage
    return SourceReport(
        _shown(entry.path),
        status,
        counts.lines,
        counts.accepted,
        counts.rejected,
        counts.blank,
        counts.pending,
        f"the compressed stream is damaged: {damage}" if damage else "",
    )


def _shown(name: str) -> str:
    return STDIN if name.startswith(STDIN) else name
