"""The lines that could not be read, as they stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from analysis.queries.redaction import redacted
from analysis.store import query


@dataclass(frozen=True)
class RejectRow:
    """A rejected line: line counts from 1, offset and length are bytes. text is the line (its
    beginning for one that was too long), what is no UTF-8 as \\xNN, credentials redacted."""

    path: str
    line: int
    offset: int
    reason: str
    length: int
    text: str


def rejects(
    connection: duckdb.DuckDBPyConnection, logs: Sequence[str] | None = None
) -> list[RejectRow]:
    """Every rejected line of the index, or of the given logs (absolute paths), in order."""
    found = query.rows(
        connection,
        """SELECT CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END, j.line,
            j.byte_offset, j.reason, j.length, j.raw
        FROM reject_lines j JOIN sources s USING (source_id)
        WHERE $everything OR list_contains($logs, s.path) OR s.source_id IN (
                SELECT same_as FROM sources WHERE list_contains($logs, path)
            ) OR (list_contains($logs, '-') AND starts_with(s.path, '-'))
        ORDER BY s.path, j.byte_offset""",
        {"everything": logs is None, "logs": list(logs or ())},
    )
    return [
        RejectRow(path, line, offset, reason, length, _text(raw))
        for path, line, offset, reason, length, raw in found
    ]


def _text(raw: bytes) -> str:
    return redacted(bytes(raw).decode("utf-8", "backslashreplace"))
