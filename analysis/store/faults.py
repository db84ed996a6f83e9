"""What DuckDB says of a file that fails it, in words for the person."""

from __future__ import annotations

from pathlib import Path

import duckdb

from analysis.errors import EnvironmentFault

_DAMAGE = (
    "corrupt database file",  # the checksum of a block or of a header is wrong
    "corrupt wal file",
    "could not read enough bytes",  # cut short
    "replaying wal",  # the write-ahead log is another database's, or cannot be read
)
# Errors of a statement have a kind of their own, and may quote such words from it.
_KINDS = (duckdb.Error, duckdb.IOException, duckdb.FatalException, duckdb.SerializationException)


class IndexFault(EnvironmentFault):
    """The index could not be written; what was committed before is whole."""


class Damaged(IndexFault):
    """Bytes of the index are not those that were written. Nothing is answered from it."""

    def __init__(self, why: str, path: Path | None = None) -> None:
        where = "The index" if path is None else f"{path}: the index"
        super().__init__(
            f"{where} is damaged ({why}).",
            "Delete it and run `tui ingest` on the logs: it is rebuilt from them.",
        )
        self.why = why


def is_damage(error: duckdb.Error) -> bool:
    """Whether the file of the index is not what was written, as against a refusal to write."""
    message = str(error).lower()
    return type(error) in _KINDS and any(sign in message for sign in _DAMAGE)


def is_interrupt(error: BaseException) -> bool:
    """Whether this is DuckDB's word for Ctrl-C: a kind, a sentence, or Python's own passed on."""
    said = str(error).strip().rstrip(":")
    return (
        isinstance(error, duckdb.InterruptException)
        or (type(error) is RuntimeError and said == "Query interrupted")
        or (isinstance(error, duckdb.InvalidInputException) and said.endswith("KeyboardInterrupt"))
    )


def reason(error: BaseException) -> str:
    """The first line of what an error says."""
    said = str(error).strip()
    return said.splitlines()[0] if said else "no reason given"
