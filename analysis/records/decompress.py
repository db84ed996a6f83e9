"""Decompression that gives every byte before a damage, and says that there was one."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, Protocol

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

ENDS_EARLY = "the compressed data ends early"
IS_DAMAGED = "the compressed data is damaged"

_PLAIN_BYTES = 256 * 1024
_COMPRESSED_BYTES = 64 * 1024
_ZSTD_FEED_BYTES = 1024
"""Four bytes of zstd can stand for 128 KiB; small bites bound what one of them becomes."""


class Plain:
    """Bytes that are not compressed."""

    damage = ""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        self._stream = stream
        self._head = head
        self.consumed = 0

    def piece(self, size: int) -> bytes:
        """The next bytes, about `size` of them; none at the end."""
        head, self._head = self._head, b""
        piece = head or self._stream.read(size)
        self.consumed += len(piece)
        return piece

    def skip(self, count: int) -> int:
        """Leave out the next bytes without reading them, where that is possible; how many."""
        if self._head or not self._stream.seekable():
            return 0
        here = self._stream.tell()
        there = min(here + count, self._stream.seek(0, io.SEEK_END))
        self._stream.seek(max(here, there))
        skipped = max(there - here, 0)
        self.consumed += skipped
        return skipped


class _Damaged(Exception):
    """The compressed data is wrong from here on."""


class _Member(Protocol):
    """One gzip member or one zstd frame."""

    @property
    def ended(self) -> bool: ...

    @property
    def rest(self) -> bytes: ...

    def feed(self, data: bytes) -> Iterator[bytes]: ...


class Members:
    """Compressed members one after the other; each begins where the one before ended."""

    def __init__(self, stream: BinaryIO, head: bytes, begin: Callable[[], _Member]) -> None:
        self.damage = ""
        self._stream = stream
        self._head = head
        self._begin = begin
        self.consumed = 0
        self._pieces = self._decompressed()

    def piece(self, size: int) -> bytes:
        """The next bytes, not many more than `size`; none at the end or the damage, which
        `damage` then names."""
        return next(filter(None, self._pieces), b"")

    def skip(self, count: int) -> int:
        """Nothing: what is compressed has to be read."""
        return 0

    def _decompressed(self) -> Iterator[bytes]:
        member: _Member | None = None
        try:
            for data in self._compressed():
                while data:
                    if member is None:
                        # Archives may be padded with zero bytes between and after members.
                        data = data.lstrip(b"\x00")
                        if not data:
                            break
                        member = self._begin()
                    yield from member.feed(data)
                    data = b""
                    if member.ended:
                        data = member.rest
                        member = None
        except _Damaged:
            self.damage = IS_DAMAGED
            return
        if member is not None:
            self.damage = ENDS_EARLY

    def _compressed(self) -> Iterator[bytes]:
        yield self._head
        while data := self._stream.read(_COMPRESSED_BYTES):
            self.consumed += len(data)
            yield data


class _GzipMember:
    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)

    @property
    def ended(self) -> bool:
        return self._inflate.eof

    @property
    def rest(self) -> bytes:
        return self._inflate.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            before = self._inflate.copy()
            try:
                piece = self._inflate.decompress(data, _PLAIN_BYTES)
            except zlib.error:
                yield from _up_to_the_damage(before, data)
                raise _Damaged from None
            if piece:
                yield piece
            if self._inflate.eof:
                # `unconsumed_tail` may still hold what it held before.
                return
            data = self._inflate.unconsumed_tail
            if not data and len(piece) == _PLAIN_BYTES:
                yield from self._held()

    def _held(self) -> Iterator[bytes]:
        """What is left inside when a piece was full and its input used up."""
        while piece := self._inflate.decompress(b"", _PLAIN_BYTES):
            yield piece


def _up_to_the_damage(inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Inflate in ever smaller bites: a call that fails gives back nothing of what it made."""
    for bite in (4096, 64, 1):
        while data:
            ahead = inflate.copy()
            try:
                piece = ahead.decompress(data[:bite])
            except zlib.error:
                break
            inflate, data = ahead, data[bite:]
            yield piece
    rest = data[:1]
    with suppress(zlib.error):
        while piece := inflate.decompress(rest, 1):
            yield piece
            rest = inflate.unconsumed_tail


class _ZstdFrame:
    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._rest = b""

    @property
    def ended(self) -> bool:
        return self._frame.eof

    @property
    def rest(self) -> bytes:
        return self._rest

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), _ZSTD_FEED_BYTES):
            end = at + _ZSTD_FEED_BYTES
            try:
                piece = self._frame.decompress(data[at:end])
            except zstandard.ZstdError:
                raise _Damaged from None
            if piece:
                yield piece
            if self._frame.eof:
                self._rest = self._frame.unused_data + data[end:]
                return


def gunzip(stream: BinaryIO, head: bytes) -> Members:
    """The bytes of a gzip stream of one or more members; `head` was read from it already."""
    return Members(stream, head, _GzipMember)


def unzstd(stream: BinaryIO, head: bytes) -> Members:
    """The bytes of a zstd stream of one or more frames; `head` was read from it already."""
    return Members(stream, head, _ZstdFrame)
