"""Bytes to lines: each line with its offset, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np

MAX_LINE_BYTES = 64 * 1024 * 1024
KEPT_OF_TOO_LONG = 64 * 1024
CHUNK_BYTES = 32 * 1024 * 1024
_NEWLINE, _RETURN = b"\n\r"


class Line(NamedTuple):
    """One line without its ending (a newline and at most one carriage return before it).

    offset: position of the first byte in the source. end: byte after the newline, or after
    the last byte where there is none. length: bytes of the line without its ending; `raw`
    holds all of them, except that a line over the limit keeps its beginning only.
    """

    offset: int
    end: int
    raw: bytes
    length: int
    terminated: bool

    @property
    def lines(self) -> int:
        """One."""
        return 1

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return len(self.raw)

    @property
    def too_long(self) -> bool:
        """Whether the line is over the limit; `raw` is then a part of it."""
        return self.length > MAX_LINE_BYTES


class _Carry:
    """The beginning of a line whose newline has not been read yet."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._last = b""
        self._whole = True

    def add(self, piece: bytes) -> None:
        if not piece:
            return
        self.size += len(piece)
        self._last = piece[-1:]
        if self._whole:
            self._pieces.append(piece)
            # One byte more than the limit: it may be the carriage return of the ending.
            if self.size > MAX_LINE_BYTES + 1:
                self._pieces = [b"".join(self._pieces)[:KEPT_OF_TOO_LONG]]
                self._whole = False

    def line(self, offset: int, *, newline: int) -> Line:
        length = self.size - (self._last == b"\r")
        raw = b"".join(self._pieces)
        raw = raw[:KEPT_OF_TOO_LONG] if length > MAX_LINE_BYTES else raw[:length]
        return Line(offset, offset + self.size + newline, raw, length, newline > 0)


class Block:
    """Whole lines one after the other, each with its newline.

    offset: of the first byte in the source. starts, ends: where each line begins and ends in
    `data`, without its ending.
    """

    def __init__(self, offset: int, data: memoryview) -> None:
        self.offset, self.data = offset, data
        codes = np.frombuffer(data, np.uint8)
        newlines = np.flatnonzero(codes == _NEWLINE)
        self.starts = np.concatenate([[0], newlines[:-1] + 1])
        returns = (newlines > self.starts) & (codes[newlines - 1] == _RETURN)
        self.ends = newlines - returns

    @property
    def lines(self) -> int:
        """How many."""
        return len(self.starts)

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return len(self.data)

    @property
    def end(self) -> int:
        """The byte of the source after the last newline."""
        return self.offset + len(self.data)

    def line(self, index: int) -> Line:
        """One of the lines."""
        start, end = int(self.starts[index]), int(self.ends[index])
        after = int(self.starts[index + 1]) if index + 1 < len(self.starts) else len(self.data)
        length = end - start
        kept = KEPT_OF_TOO_LONG if length > MAX_LINE_BYTES else length
        place = self.offset + start
        raw = bytes(self.data[start : start + kept])
        return Line(place, self.offset + after, raw, length, True)

    def parts(self, most_lines: int) -> Iterator[Block]:
        """The block in blocks of at most `most_lines` lines."""
        if len(self.starts) <= most_lines:
            yield self
            return
        cuts = [*self.starts[::most_lines].tolist(), len(self.data)]
        for start, end in pairwise(cuts):
            yield Block(self.offset + start, self.data[start:end])


def split_blocks(
    stream: BinaryIO, start: int, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[Block | Line]:
    """The lines of a stream that stands at byte `start`, the beginning of a line.

    Lines come in blocks of about `chunk_bytes`; one that crosses from chunk to chunk comes on
    its own. Only the last line can be unterminated, and it is never empty. Holds no more than
    the line limit and two chunks.
    """
    offset = start
    carry = _Carry()
    while chunk := stream.read(chunk_bytes):
        begin = 0
        if carry.size:
            begin = chunk.find(b"\n") + 1
            carry.add(chunk[: begin - 1] if begin else chunk)
            if not begin:
                continue
            line = carry.line(offset, newline=1)
            yield line
            offset = line.end
        end = chunk.rfind(b"\n") + 1
        if begin < end:
            yield Block(offset, memoryview(chunk)[begin:end])
            offset += end - begin
        carry = _Carry()
        carry.add(chunk[max(begin, end) :])
    if carry.size:
        yield carry.line(offset, newline=0)


def split_lines(stream: BinaryIO, start: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Line]:
    """The lines of `split_blocks`, one by one."""
    for part in split_blocks(stream, start, chunk_bytes):
        if isinstance(part, Line):
            yield part
        else:
            yield from map(part.line, range(part.lines))
