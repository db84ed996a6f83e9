"""The reader: a stream of bytes to batches that lose nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

from analysis.records import refusal
from analysis.records.assemble import Assembler
from analysis.records.batch import Batch, Tail
from analysis.records.lines import CHUNK_BYTES, Line, split_lines
from analysis.records.parse import LineParser, is_blank
from analysis.records.record import DAY_MICROS, Record, read_record
from analysis.records.refusal import Refused
from analysis.records.times import micros_of

_BATCH_BYTES = 64 * 1024 * 1024
"""A batch of long lines ends early, so that memory stays bounded."""


def read(
    stream: BinaryIO,
    *,
    final: bool,
    now: datetime,
    start: int = 0,
    first_line: int = 1,
    batch_lines: int = 20_000,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[Batch]:
    """Every line of a source from byte `start` on, in batches of at most `batch_lines`.

    stream: stands at byte `start` of the decompressed content, the beginning of line number
    `first_line`. final: nothing will be appended any more, so a torn last line is a reject
    instead of pending. now: what a time is compared with to be called suspect.

    Yields at least one batch. Raises nothing because of what the bytes hold; a stream that
    has a non-empty `damage` at its end was cut there, and its last line is taken as torn.
    """
    reader = _Reader(now)
    assembler = Assembler()
    number = first_line
    end_offset = start
    held = 0
    tail = Tail.NONE
    for line in split_lines(stream, start, chunk_bytes):
        if assembler.lines >= batch_lines or held >= _BATCH_BYTES:
            yield assembler.batch(end_offset, Tail.NONE)
            assembler, held = Assembler(), 0
        if line.terminated:
            reader.take(line, number, assembler)
            end_offset = line.end
        else:
            damaged = bool(getattr(stream, "damage", ""))
            tail = reader.take_tail(line, number, assembler, final=final, damaged=damaged)
        number += 1
        held += len(line.raw)
    yield assembler.batch(end_offset, tail)


class _Reader:
    """What a line is, decided one line at a time."""

    def __init__(self, now: datetime) -> None:
        self._parser = LineParser()
        self._latest_micros = micros_of(now) + DAY_MICROS

    def _record(self, line: Line) -> Record:
        if line.too_long:
            raise Refused(refusal.TOO_LONG)
        return read_record(self._parser.parse(line.raw), self._latest_micros)

    def take(self, line: Line, number: int, into: Assembler) -> Tail:
        """A whole line: a record, a reject or blank."""
        if is_blank(line.raw) and not line.too_long:
            into.skip_blank()
            return Tail.BLANK
        try:
            record = self._record(line)
        except Refused as refused:
            into.refuse(line, number, refused.reason)
            return Tail.REJECT
        into.accept(line, number, record)
        return Tail.ROW

    def take_tail(
        self, line: Line, number: int, into: Assembler, *, final: bool, damaged: bool
    ) -> Tail:
        """A line without its newline: whole, or torn and still to be continued."""
        if not self._is_torn(line, damaged=damaged):
            return self.take(line, number, into)
        if final:
            into.refuse(line, number, refusal.TRUNCATED)
            return Tail.REJECT
        into.wait()
        return Tail.PENDING

    def _is_torn(self, line: Line, *, damaged: bool) -> bool:
        if line.too_long or is_blank(line.raw):
            return False
        if damaged:
            return True
        try:
            self._parser.parse(line.raw)
        except Refused as refused:
            return refused.reason == refusal.TRUNCATED
        return False
