"""Files that records name: read inside one directory, regular ones only, and never without end."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MOST_HASHED = 1 << 30
"""Bytes of a file that are hashed at most: a sparse file can claim to have any number."""
MOST_READ = 16 << 20
"""Bytes of a file that are taken into memory at most."""

_CHUNK = 1 << 20


class Unreadable(Exception):
    """A file that cannot be looked at; the text says why, without the path."""


@contextmanager
def opened(root: Path, name: str) -> Iterator[BinaryIO]:
    """Open the file `name`, relative to `root` or absolute, for reading.

    Raises Unreadable where it is missing, no regular file, larger than MOST_HASHED, or not inside
    `root` once symbolic links are followed. A link that is put there in between is not followed,
    and a pipe or a device is never waited for.
    """
    try:
        whole = os.path.realpath(root)
        inside = os.path.relpath(os.path.realpath(Path(whole, name)), whole)
        parts = Path(inside).parts
        if not parts or parts[0] == os.pardir:
            raise Unreadable("lies outside the directory of the evidence")
        descriptor = _descend(whole, parts)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise Unreadable(f"cannot be read ({(reason or 'no path').lower()})") from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("is no regular file")
        if about.st_size > MOST_HASHED:
            raise Unreadable(f"is larger than {MOST_HASHED >> 20} MiB and is not read")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def _descend(whole: str, parts: tuple[str, ...]) -> int:
    held = os.open(whole, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=held)
            os.close(held)
            held = below
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=held)
    finally:
        os.close(held)


def digest(file: BinaryIO) -> tuple[int, str]:
    """Size in bytes and SHA-256 (hex) of what is left of a file.

    Raises Unreadable where it fails, or grows beyond MOST_HASHED while it is read.
    """
    size, sha256 = 0, hashlib.sha256()
    try:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            if size > MOST_HASHED:
                raise Unreadable(f"grew beyond {MOST_HASHED >> 20} MiB while it was read")
            sha256.update(chunk)
    except OSError as error:
        raise Unreadable(f"cannot be read ({(error.strerror or 'fault').lower()})") from error
    return size, sha256.hexdigest()


def content(root: Path, name: str) -> bytes:
    """All bytes of a small file. Raises Unreadable, also for one over MOST_READ."""
    with opened(root, name) as file:
        try:
            found = file.read(MOST_READ + 1)
        except OSError as error:
            raise Unreadable(f"cannot be read ({(error.strerror or 'fault').lower()})") from error
    if len(found) > MOST_READ:
        raise Unreadable(f"is larger than {MOST_READ >> 20} MiB and is not read")
    return found
