"""Bytes to lines: each line with its offset, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE_BYTES = 64 * 1024 * 1024
KEPT_OF_TOO_LONG = 64 * 1024
CHUNK_BYTES = 1024 * 1024


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


def split_lines(stream: BinaryIO, start: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Line]:
    """The lines of a stream that stands at byte `start`, the beginning of a line.

    Only the last line can be unterminated, and it is never empty. Holds no more than the
    line limit and two chunks.
    """
    offset = start
    carry = _Carry()
    while chunk := stream.read(chunk_bytes):
        first, *rest = chunk.split(b"\n")
        carry.add(first)
        if not rest:
            continue
        line = carry.line(offset, newline=1)
        yield line
        offset = line.end
        carry = _Carry()
        carry.add(rest.pop())
        for whole in rest:
            end = offset + len(whole) + 1
            raw = whole[:-1] if whole.endswith(b"\r") else whole
            if len(raw) > MAX_LINE_BYTES:
                yield Line(offset, end, raw[:KEPT_OF_TOO_LONG], len(raw), True)
            else:
                yield Line(offset, end, raw, len(raw), True)
            offset = end
    if carry.size:
        yield carry.line(offset, newline=0)
