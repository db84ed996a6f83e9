"""A reading as records: a `test` record an attempt, and the end of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from analysis.errors import BadInput
from analysis.model import Verdict
from analysis.records import refusal
from analysis.records.arrays import array_of
from analysis.records.assemble import Assembler
from analysis.records.batch import Batch, Tail
from analysis.records.lines import Line
from analysis.records.parse import Parsed
from analysis.records.record import DAY_MICROS, read_record
from analysis.records.refusal import Refused
from analysis.records.results.formats import Format
from analysis.records.results.reading import Execution, Reading, Summary, summary
from analysis.records.schema import TEST_LINES
from analysis.records.times import micros_of, parse_moment

_BATCH = 100_000

Fields = Mapping[str, Any]


def read_results(
    stream: BinaryIO, form: Format, context: Fields, *, size: int, now: datetime
) -> tuple[Reading, Iterator[Batch]]:
    """What a result file says, and the same in batches of records.

    context: fields of the run, `run_id` among them; they go on every record. size: bytes of the
    content, which is read whole. now: what a time is compared with to be called suspect.

    Raises BadInput for a field of the context that holds what it may not.
    """
    _checked(context)
    reading = form.read(stream).settled()
    if getattr(stream, "damage", ""):
        reading.cut("the compressed stream is damaged")
    return reading, _batches(reading, context, size, micros_of(now) + DAY_MICROS)


def _checked(context: Fields) -> None:
    try:
        read_record(Parsed({"kind": "run_end", **context}, False), 0)
    except Refused as refused:
        kind, _, name = refused.reason.partition(":")
        raise BadInput(f"What is said of the run has a {kind} in its field {name}.") from refused


def _batches(reading: Reading, context: Fields, size: int, latest_micros: int) -> Iterator[Batch]:
    places = _Places()
    known = (one for one in reading.executions if one.outcome is not None)
    while part := list(islice(known, _BATCH)):
        assembler = Assembler()
        _accept_executions(assembler, part, places, context, latest_micros)
        yield assembler.batch(size, Tail.NONE)
    assembler = Assembler()
    for number, offset, raw in reading.rejects:
        place = places.after(offset)
        assembler.refuse(_line(raw, place), number, refusal.NOT_JSON)
    last = reading.executions[-1].line if reading.executions else 1
    end = _end(reading, context)
    _accept_end(assembler, end, last, places.after(size), latest_micros, reading)
    yield assembler.batch(size, Tail.NONE)


def _line(raw: bytes, offset: int) -> Line:
    return Line(offset, offset + len(raw), raw, len(raw), True)


class _Places:
    """Bytes at which records stand: no two of them at the same, for that names a record."""

    def __init__(self) -> None:
        self._last = -1

    def after(self, offset: int) -> int:
        self._last = max(offset, self._last + 1)
        return self._last


def _accept_executions(
    into: Assembler,
    executions: Sequence[Execution],
    places: _Places,
    context: Fields,
    latest_micros: int,
) -> None:
    """Executions of one run, all at once: they differ in nothing but these columns."""
    first = executions[0]
    item = {"kind": "test", **context, "test_id": first.test_id, "outcome": str(first.outcome)}
    frame = read_record(Parsed(item, False), latest_micros)
    columns: dict[str, list[Any]] = {
        "test_id": [_text(one.test_id) for one in executions],
        "outcome": [str(one.outcome) for one in executions],
        "attempt": [one.attempt for one in executions],
        "duration_s": [one.duration_s for one in executions],
        "started": [_micros(one.started) for one in executions],
        "exc": [_text(one.exc) or None for one in executions],
        "message": [_text(one.message) or None for one in executions],
        "where": [_text(one.where) or None for one in executions],
    }
    into.accept_columns(
        [frame],
        np.zeros(len(executions), np.int64),
        {name: array_of(values, TEST_LINES.field(name).type) for name, values in columns.items()},
        np.array([one.line for one in executions], np.int64),
        np.array([places.after(one.offset) for one in executions], np.int64),
    )


def _text(text: str) -> str:
    """A lone surrogate is no character that can be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _micros(time: str | float | None) -> int | None:
    try:
        return None if time is None else parse_moment(time, "started").micros
    except Refused:
        return None


def _accept_end(
    into: Assembler,
    item: dict[str, Any],
    number: int,
    offset: int,
    latest_micros: int,
    reading: Reading,
) -> None:
    raw = json.dumps(item, ensure_ascii=False, default=str).encode("utf-8", "replace")
    record = read_record(Parsed(item, False), latest_micros)
    record.notes.extend((note.rule, _text(note.detail)) for note in dict.fromkeys(reading.notes))
    into.accept(_line(raw, offset), number, record)


def _end(reading: Reading, context: Fields) -> dict[str, Any]:
    """The end of the run. Its counts are of tests, its verdict is what the counts say."""
    counts = summary(reading)
    item: dict[str, Any] = {
        "kind": "run_end",
        **context,
        "source": "run",
        "complete": reading.complete,
        "exit_code": reading.exit_code,
        "collected": counts.tests,
        "passed": counts.passed,
        "failed": counts.failed,
        "errors": counts.errors,
        "skipped": counts.skipped + counts.not_run,
        "verdict": _verdict(counts),
        "started": reading.started,
        "finished": reading.finished,
        "format": reading.format,
    }
    return {name: value for name, value in item.items() if value is not None}


def _verdict(counts: Summary) -> str | None:
    """What a gate that reads the file would say; None where it cannot be a pass and nothing
    failed."""
    if counts.failed or counts.errors:
        return Verdict.FAIL.value
    return Verdict.PASS.value if counts.complete and counts.passed else None
