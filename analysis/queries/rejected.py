"""The lines that could not be read, as they stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from analysis.queries.findings import SOURCES
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.queries.redaction import redacted
from analysis.store import query

TEXT_SHOWN = 500
"""Characters of a rejected line that a list shows."""

# More than is shown is read, so that a credential is recognised before it is cut.
_REJECTS = Listing(
    sql=f"""
    SELECT f.path, j.line, j.byte_offset, j.reason, j.length, j.raw[1:4000] AS raw, j.source_id
    FROM reject_lines j JOIN ({SOURCES}) f USING (source_id)
    WHERE $reason = '' OR j.reason = $reason
    """,
    columns={
        "file": Column("path"),
        "line": Column("line"),
        "reason": Column("reason"),
        "length": Column("length", descending=True),
    },
    key=("source_id", "byte_offset"),
    order=("file", "line"),
    fields={"rule": "reason", "file": "path"},
    text=("path", "reason", "coalesce(try(decode(raw)), raw::VARCHAR)"),
)

REJECT_COLUMNS = tuple(_REJECTS.columns)


@dataclass(frozen=True)
class RejectRow:
    """A rejected line: line counts from 1, offset and length are bytes. text is the line (its
    beginning for one that was too long), what is no UTF-8 as \\xNN, credentials redacted.
    source_id and line name it for `rejected_line`."""

    path: str
    line: int
    offset: int
    reason: str
    length: int
    text: str
    source_id: int


def rejects(
    connection: duckdb.DuckDBPyConnection, logs: Sequence[str] | None = None
) -> list[RejectRow]:
    """Every rejected line of the index, or of the given logs (absolute paths), in order."""
    found = query.rows(
        connection,
        """SELECT CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END, j.line,
            j.byte_offset, j.reason, j.length, j.raw, j.source_id
        FROM reject_lines j JOIN sources s USING (source_id)
        WHERE $everything OR list_contains($logs, s.path) OR s.source_id IN (
                SELECT same_as FROM sources WHERE list_contains($logs, path)
            ) OR (list_contains($logs, '-') AND starts_with(s.path, '-'))
        ORDER BY s.path, j.byte_offset""",
        {"everything": logs is None, "logs": list(logs or ())},
    )
    return [_reject(*row) for row in found]


def reject_page(
    connection: duckdb.DuckDBPyConnection,
    experiments: Sequence[str],
    request: PageRequest,
    reason: str = "",
) -> Page[RejectRow]:
    """A window of the rejected lines, or of those with one reason: by file and line.

    Their text is cut at TEXT_SHOWN characters, length says how many bytes there are.
    """
    given = {"experiments": list(experiments), "reason": reason}
    return page(connection, _REJECTS, given, request, _cut)


def rejected_line(
    connection: duckdb.DuckDBPyConnection, source_id: int, line: int
) -> RejectRow | None:
    """One rejected line, whole; None where that line was not rejected."""
    found = query.rows(
        connection,
        """SELECT CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END, j.line,
            j.byte_offset, j.reason, j.length, j.raw, j.source_id
        FROM reject_lines j JOIN sources s USING (source_id)
        WHERE j.source_id = $source_id AND j.line = $line ORDER BY j.byte_offset LIMIT 1""",
        {"source_id": source_id, "line": line},
    )
    return _reject(*found[0]) if found else None


def _reject(
    path: str, line: int, offset: int, reason: str, length: int, raw: bytes, source_id: int
) -> RejectRow:
    return RejectRow(path, line, offset, reason, length, _text(raw), source_id)


def _cut(*row: Any) -> RejectRow:
    whole = _reject(*row)
    return replace(whole, text=whole.text[:TEXT_SHOWN])


def _text(raw: bytes) -> str:
    return redacted(bytes(raw).decode("utf-8", "backslashreplace"))
