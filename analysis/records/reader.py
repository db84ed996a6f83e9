"""The reader: a stream of bytes to batches that lose nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import BinaryIO

import numpy as np

from analysis.records import refusal
from analysis.records.assemble import Assembler
from analysis.records.batch import Batch, Tail
from analysis.records.bulk import FEWEST_LINES, Bulk
from analysis.records.lines import CHUNK_BYTES, Block, Line, split_blocks
from analysis.records.parse import LineParser, Parsed, is_blank
from analysis.records.record import DAY_MICROS, Record, read_record
from analysis.records.refusal import Refused
from analysis.records.times import micros_of

Part = Block | Line

_BATCH_BYTES = 64 * 1024 * 1024
"""A batch of long lines ends early, so that memory stays bounded."""


def read(
    stream: BinaryIO,
    *,
    final: bool,
    now: datetime,
    start: int = 0,
    first_line: int = 1,
    batch_lines: int = 250_000,
    chunk_bytes: int = CHUNK_BYTES,
    bulk_lines: int = FEWEST_LINES,
) -> Iterator[Batch]:
    """Every line of a source from byte `start` on, in batches of at most `batch_lines`.

    stream: stands at byte `start` of the decompressed content, the beginning of line number
    `first_line`. final: nothing will be appended any more, so a torn last line is a reject
    instead of pending. now: what a time is compared with to be called suspect. bulk_lines:
    blocks of fewer lines are read line by line.

    Yields at least one batch. Raises nothing because of what the bytes hold; a stream that
    has a non-empty `damage` at its end was cut there, and its last line is taken as torn.
    """
    reader = _Reader(now, bulk_lines)
    assembler = Assembler()
    number = first_line
    end_offset = start
    held = 0
    tail = Tail.NONE
    for part in _ahead(split_blocks(stream, start, chunk_bytes)):
        pieces = [part] if isinstance(part, Line) else part.parts(batch_lines)
        for piece in pieces:
            lines, size = (
                (1, len(piece.raw))
                if isinstance(piece, Line)
                else (len(piece.starts), len(piece.data))
            )
            if assembler.lines and (
                assembler.lines + lines > batch_lines or held + size > _BATCH_BYTES
            ):
                yield assembler.batch(end_offset, Tail.NONE)
                assembler, held = Assembler(), 0
            if isinstance(piece, Block):
                reader.take_block(piece, number, assembler)
            elif piece.terminated:
                reader.take(piece, number, assembler)
            else:
                damaged = bool(getattr(stream, "damage", ""))
                tail = reader.take_tail(piece, number, assembler, final=final, damaged=damaged)
            if tail is Tail.NONE:
                end_offset = piece.end
            number += lines
            held += size
    yield assembler.batch(end_offset, tail)


def _ahead(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts, of which the next is made while the one before is used."""
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(next, parts, None)
        while (part := waiting.result()) is not None:
            waiting = other.submit(next, parts, None)
            yield part


class _Reader:
    """What a line is, decided one line at a time."""

    def __init__(self, now: datetime, bulk_lines: int) -> None:
        self._parser = LineParser()
        self._latest_micros = micros_of(now) + DAY_MICROS

        self._bulk = Bulk(self._carefully, self._latest_micros, bulk_lines)
        self._bulk_lines = bulk_lines

    def _carefully(self, raw: bytes) -> tuple[Parsed, Record]:
        parsed = self._parser.parse(raw)
        return parsed, read_record(parsed, self._latest_micros)

    def _record(self, line: Line) -> Record:
        if line.too_long:
            raise Refused(refusal.TOO_LONG)
        return self._carefully(line.raw)[1]

    def take_block(self, block: Block, first_line: int, into: Assembler) -> None:
        """Whole lines: many at once where that is possible, each of the others on its own."""
        left = np.ones(len(block.starts), bool)
        if len(left) >= self._bulk_lines:
            for taken in self._bulk.take(block):
                into.accept_taken(taken, block, first_line)
                left[taken.lines] = False
        for index in np.flatnonzero(left).tolist():
            self.take(block.line(index), first_line + index, into)

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
