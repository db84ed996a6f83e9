"""What a source holds: hashes that tell contents apart, and that a content goes on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from analysis.records import SourceStream, open_source

IDENTITY_BYTES = 64 * 1024
BLOCK_BYTES = 1024 * 1024
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Content:
    """The decompressed bytes of a source at one moment.

    identity: SHA-256 of the first 64 KiB. sha256, chain: see `Digest`. damage: why
    decompression stopped early, or empty.
    """

    identity: str
    sha256: str
    size: int
    damage: str
    chain: str


NOTHING = Content("", "", 0, "", "")
"""Of a source that the index knows and holds no content of."""


class Digest:
    """The hash of a content, which can go on where the content grows.

    It is a chain over blocks of 1 MiB: chain = SHA-256(chain + SHA-256(block)), from nothing;
    the hash is SHA-256(chain + bytes after the last whole block).
    """

    def __init__(self, before: Content = NOTHING) -> None:
        """Of nothing, or of the whole blocks of a content that has them."""
        self.size = before.size // BLOCK_BYTES * BLOCK_BYTES
        self._chain = bytes.fromhex(before.chain)
        self._head = hashlib.sha256()
        self._identity = before.identity if self.size else ""
        self._rest = bytearray()

    @staticmethod
    def of(head: bytes) -> str:
        """The identity of a content with this beginning."""
        return hashlib.sha256(head[:IDENTITY_BYTES]).hexdigest()

    def update(self, data: bytes | memoryview) -> None:
        """Take more bytes."""
        view = memoryview(data)
        if self.size < IDENTITY_BYTES and not self._identity:
            self._head.update(view[: IDENTITY_BYTES - self.size])
        while view:
            part = view[: BLOCK_BYTES - len(self._rest)]
            self._rest += part
            self.size += len(part)
            view = view[len(part) :]
            if len(self._rest) == BLOCK_BYTES:
                block = hashlib.sha256(self._rest).digest()
                self._chain = hashlib.sha256(self._chain + block).digest()
                self._rest.clear()

    def content(self, damage: str = "") -> Content:
        """What was taken."""
        return Content(
            self._identity or self._head.hexdigest(),
            hashlib.sha256(self._chain + self._rest).hexdigest(),
            self.size,
            damage,
            self._chain.hex(),
        )


def fingerprint(stream: SourceStream, prefix: int) -> tuple[Content, str | None]:
    """Read a stream to its end: what it holds, and the hash of its first `prefix` bytes.

    The second is None where there are not as many.
    """
    digest = Digest()
    at_prefix = digest.content().sha256 if prefix == 0 else None
    while chunk := stream.read(CHUNK_BYTES):
        if digest.size < prefix <= digest.size + len(chunk):
            cut = prefix - digest.size
            digest.update(chunk[:cut])
            at_prefix = digest.content().sha256
            chunk = chunk[cut:]
        digest.update(chunk)
    return digest.content(stream.damage), at_prefix


def has_grown(path: Path, known: Content) -> bool:
    """Whether a file that is not compressed begins with what is known of it and goes on.

    Looked at are its first 64 KiB and what follows the last whole block of the known content,
    so that a log of gigabytes can be read on at once.
    """
    if known.size < BLOCK_BYTES or known.damage:
        return False
    with open_source(path) as stream:
        if not stream.plain or Digest.of(stream.read(IDENTITY_BYTES)) != known.identity:
            return False
        digest = Digest(known)
        stream.skip(digest.size - IDENTITY_BYTES)
        digest.update(stream.read(known.size - digest.size))
        return digest.content() == known and stream.read(1) != b""


def begins_like(path: Path) -> str:
    """The identity of what a file holds: see `Content`."""
    with open_source(path) as stream:
        return Digest.of(stream.read(IDENTITY_BYTES))
