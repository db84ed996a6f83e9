"""Where the bytes come from: plain, gzip or zstd, told apart by their first bytes."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from analysis.errors import BadInput, EnvironmentFault
from analysis.records.decompress import GZIP_MAGIC, ZSTD_MAGIC, Plain, gunzip, unzstd
from analysis.records.results.formats import HEAD_BYTES, Format, recognise

_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_RESULT_SUFFIXES = (".xml", ".xml.gz", ".json", ".json.gz")
_SKIP_BYTES = 1024 * 1024
_PIECE_BYTES = 32 * 1024 * 1024


class _Decoder(Protocol):
    """Decompressed bytes, a piece of about `size` at a time, none at the end; `damage` once they
    ended too early."""

    damage: str
    consumed: int

    def piece(self, size: int) -> bytes: ...

    def skip(self, count: int) -> int: ...


class SourceStream(io.RawIOBase, BinaryIO):
    """The decompressed bytes of a source, in order.

    damage: empty, or a short reason why the compressed stream ended before its end. It is
    known once reading has come to the end; all bytes before the damage are given.
    """

    def __init__(self, decoder: _Decoder) -> None:
        super().__init__()
        self._decoder = decoder
        self._left = memoryview(b"")
        self._position = 0

    @property
    def damage(self) -> str:
        """Why the stream ended too early; empty where it did not."""
        return self._decoder.damage

    @property
    def consumed(self) -> int:
        """Bytes of the file that were read, as they are stored."""
        return self._decoder.consumed

    @property
    def plain(self) -> bool:
        """Whether the source is not compressed."""
        return isinstance(self._decoder, Plain)

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes given so far."""
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes, fewer only at the end; all that is left without a size."""
        wanted = sys.maxsize if size is None or size < 0 else size
        parts: list[memoryview] = []
        left = wanted
        while left:
            if not self._left and not self._fill(min(left, _PIECE_BYTES)):
                break
            part, self._left = self._left[:left], self._left[left:]
            parts.append(part)
            left -= len(part)
        self._position += wanted - left
        if (
            len(parts) == 1
            and isinstance(parts[0].obj, bytes)
            and len(parts[0]) == len(parts[0].obj)
        ):
            return parts[0].obj
        return b"".join(parts)

    def _fill(self, size: int) -> bool:
        self._left = memoryview(self._decoder.piece(size))
        return len(self._left) > 0

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill `buffer` from the stream; returns the number of bytes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def skip(self, count: int) -> int:
        """Leave out `count` bytes; returns how many there were."""
        left = count
        while left > 0:
            if self._left:
                part = min(left, len(self._left))
                self._left = self._left[part:]
            else:
                part = self._decoder.skip(left)
                if not part and not self._fill(_SKIP_BYTES):
                    break
            left -= part
        self._position += count - left
        return count - left


def decoded(stream: BinaryIO) -> SourceStream:
    """The decompressed bytes of any binary stream, such as standard input."""
    head = b""
    while len(head) < len(ZSTD_MAGIC):
        more = stream.read(len(ZSTD_MAGIC) - len(head))
        if not more:
            break
        head += more
    if head.startswith(GZIP_MAGIC):
        return SourceStream(gunzip(stream, head))
    if head.startswith(ZSTD_MAGIC):
        return SourceStream(unzstd(stream, head))
    return SourceStream(Plain(stream, head))


@contextmanager
def open_source(path: Path) -> Iterator[SourceStream]:
    """The decompressed bytes of a file.

    BadInput: no such file, or a directory. EnvironmentFault: it cannot be opened.
    """
    if _is_directory(path):
        raise BadInput(f"{path} is a directory, not a log file.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise _unopened(path, error) from error
    with file, decoded(file) as stream:
        yield stream


def find_logs(path: Path) -> list[Path]:
    """The log files that a path names: a file itself, a directory its own logs and result files,
    sorted.

    BadInput: nothing there, or a directory without any. EnvironmentFault: no permission.
    """
    if not _is_directory(path):
        return [path]
    try:
        files = [entry for entry in path.iterdir() if not entry.is_dir()]
        logs = sorted(
            entry
            for entry in files
            if entry.name.endswith(_SUFFIXES)
            or (entry.name.endswith(_RESULT_SUFFIXES) and _holds_results(entry))
        )
    except OSError as error:
        raise _unopened(path, error) from error
    if not logs:
        raise BadInput(
            f"{path} has no logs in it.",
            "Logs are named *.jsonl, *.jsonl.gz or *.jsonl.zst; result files *.xml or *.json, "
            "see `tui formats`.",
        )
    return logs


def _holds_results(path: Path) -> bool:
    """Whether a file of a directory is a result file: others with such names are many."""
    with open_source(path) as stream:
        return isinstance(recognise(stream.read(HEAD_BYTES)), Format)


def _is_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        raise _unopened(path, error) from error
    except ValueError as error:
        raise BadInput(f"{str(path)!r} cannot be the name of a file.") from error


def _unopened(path: Path, error: OSError) -> BadInput | EnvironmentFault:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return BadInput(f"{path} does not exist.")
    if isinstance(error, PermissionError):
        return EnvironmentFault(f"{path} cannot be read: no permission.")
    return EnvironmentFault(f"{path} cannot be read: {error.strerror or error}.")
