"""The reader: a stream of bytes to batches that lose nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from analysis.records import refusal
from analysis.records.assemble import Assembler
from analysis.records.batch import Batch, Tail
from analysis.records.lines import CHUNK_BYTES, Block, Line, split_blocks
from analysis.records.parse import LineParser, Parsed, is_blank
from analysis.records.record import DAY_MICROS, Record, read_record
from analysis.records.refusal import Refused
from analysis.records.times import micros_of

if TYPE_CHECKING:
    from analysis.records.bulk import Bulk

Part = Block | Line

_BULK_LINES = 5000
"""Fewer lines are read faster one by one."""
_WORKERS = 2

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
    bulk_lines: int = _BULK_LINES,
) -> Iterator[Batch]:
    """Every line of a source from byte `start` on, in batches of at most `batch_lines`.

    stream: stands at byte `start` of the decompressed content, the beginning of line number
    `first_line`. final: nothing will be appended any more, so a torn last line is a reject
    instead of pending. now: what a time is compared with to be called suspect. bulk_lines:
    blocks of fewer lines are read line by line.

    Yields at least one batch. Raises nothing because of what the bytes hold; a stream that
    has a non-empty `damage` at its end was cut there, and its last line is taken as torn.
    """
    readers = SimpleQueue[_Reader]()
    for _ in range(_WORKERS):
        readers.put(_Reader(now, bulk_lines))

    def work(unit: _Unit) -> Batch:
        reader = readers.get()
        try:
            return reader.batch(unit, stream, final=final)
        finally:
            readers.put(reader)

    units = _units(split_blocks(stream, start, chunk_bytes), start, first_line, batch_lines)
    waiting = deque[Future[Batch]]()
    with ThreadPoolExecutor(_WORKERS) as workers, closing(_ahead(units)) as coming:
        for unit in coming:
            waiting.append(workers.submit(work, unit))
            if len(waiting) > _WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass
class _Unit:
    """What becomes a batch. first_line: the number of its first line. end: the byte after it."""

    first_line: int
    end: int
    parts: list[Part] = field(default_factory=list)
    lines: int = 0
    size: int = 0

    def add(self, part: Part) -> None:
        self.parts.append(part)
        self.lines += part.lines
        self.size += part.size
        self.end = part.end


def _units(parts: Iterator[Part], start: int, first_line: int, most_lines: int) -> Iterator[_Unit]:
    """Parts in units of bounded size; at least one."""
    unit = _Unit(first_line, start)
    for part in parts:
        for piece in [part] if isinstance(part, Line) else part.parts(most_lines):
            full = unit.lines + piece.lines > most_lines or unit.size + piece.size > _BATCH_BYTES
            if unit.lines and full:
                yield unit
                unit = _Unit(unit.first_line + unit.lines, unit.end)
            unit.add(piece)
    yield unit


def _ahead(units: Iterator[_Unit]) -> Generator[_Unit]:
    """The units, of which the next is made while the one before is used."""
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(next, units, None)
        while (unit := waiting.result()) is not None:
            waiting = other.submit(next, units, None)
            yield unit


class _Reader:
    """Reads lines. One reader serves one thread."""

    def __init__(self, now: datetime, bulk_lines: int) -> None:
        self._parser = LineParser()
        self._latest_micros = micros_of(now) + DAY_MICROS
        self._bulk: Bulk | None = None
        self._bulk_lines = bulk_lines

    def batch(self, unit: _Unit, stream: BinaryIO, *, final: bool) -> Batch:
        """The batch of some parts; of a source only the last can have a torn line."""
        assembler = Assembler()
        number, end, tail = unit.first_line, unit.end, Tail.NONE
        for part in unit.parts:
            if isinstance(part, Block):
                self._take_block(part, number, assembler)
            elif part.terminated:
                self._take(part, number, assembler)
            else:
                damaged = bool(getattr(stream, "damage", ""))
                tail = self._take_tail(part, number, assembler, final=final, damaged=damaged)
                end = part.offset
            number += part.lines
        return assembler.batch(end, tail)

    def _carefully(self, raw: bytes) -> tuple[Parsed, Record]:
        parsed = self._parser.parse(raw)
        return parsed, read_record(parsed, self._latest_micros)

    def _many(self) -> Bulk:
        if self._bulk is None:
            # What it needs is slow to import, and most logs are short.
            from analysis.records.bulk import Bulk

            self._bulk = Bulk(self._carefully, self._latest_micros, self._bulk_lines // 20)
        return self._bulk

    def _record(self, line: Line) -> Record:
        if line.too_long:
            raise Refused(refusal.TOO_LONG)
        return self._carefully(line.raw)[1]

    def _take_block(self, block: Block, first_line: int, into: Assembler) -> None:
        """Whole lines: many at once where that is possible, each of the others on its own."""
        left = np.ones(len(block.starts), bool)
        if len(left) >= self._bulk_lines:
            for taken in self._many().take(block):
                into.accept_taken(taken, block, first_line)
                left[taken.lines] = False
        for index in np.flatnonzero(left).tolist():
            self._take(block.line(index), first_line + index, into)

    def _take(self, line: Line, number: int, into: Assembler) -> Tail:
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

    def _take_tail(
        self, line: Line, number: int, into: Assembler, *, final: bool, damaged: bool
    ) -> Tail:
        """A line without its newline: whole, or torn and still to be continued."""
        if not self._is_torn(line, damaged=damaged):
            return self._take(line, number, into)
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
