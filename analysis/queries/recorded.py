"""A line of a log as the index has it: its fields, by their names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.queries.redaction import redacted
from analysis.store import query

MOST_RECORDS = 50
"""Records of one line that are shown: a line can hold the executions of a whole suite."""

_PLACE = ("source_id", "line", "byte_offset", "line_hash", "item")

_RUN_LINES = """
SELECT s.path, r.byte_offset, to_json(r)
FROM run_lines r JOIN sources s USING (source_id)
WHERE r.source_id = $source_id AND r.line = $line
"""

_HEADERS = """
SELECT s.path, e.byte_offset, to_json(e)
FROM experiment_lines e JOIN sources s USING (source_id)
WHERE e.source_id = $source_id AND e.line = $line
"""

_TESTS = """
SELECT s.path, t.byte_offset, to_json(t)
FROM test_lines t JOIN sources s USING (source_id)
WHERE t.source_id = $source_id AND t.line = $line
ORDER BY t.item LIMIT $most
"""


@dataclass(frozen=True)
class Recorded:
    """A record that stands on a line, or one of several on it.

    fields: (name, value as text) in the order of the format, what is not given left out,
    credentials redacted. offset: of the line, in bytes.
    """

    path: str
    line: int
    offset: int
    fields: tuple[tuple[str, str], ...]


def recorded_line(
    connection: duckdb.DuckDBPyConnection, source_id: int, line: int
) -> tuple[Recorded, ...]:
    """What was read from a line: its header or run, then its executions, at most MOST_RECORDS.

    Empty for a line that was rejected or is blank: `rejected.reject_page` has those.
    """
    at = {"source_id": source_id, "line": line}
    found = [
        *query.rows(connection, _HEADERS, at),
        *query.rows(connection, _RUN_LINES, at),
        *query.rows(connection, _TESTS, {**at, "most": MOST_RECORDS}),
    ]
    return tuple(
        Recorded("-" if path.startswith("-") else path, line, offset, _fields(text))
        for path, offset, text in found
    )


def _fields(text: str) -> tuple[tuple[str, str], ...]:
    row = json.loads(text)
    given = {name: value for name, value in row.items() if name not in _PLACE and name != "extra"}
    # What the format does not know is kept as the JSON text of an object.
    given.update(json.loads(row["extra"]) if row.get("extra") else {})
    return tuple(
        (redacted(name), _value(name, value)) for name, value in given.items() if value is not None
    )


def _value(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A value may be a credential because of its name alone.
    return redacted(f"{name}={text}").removeprefix(f"{name}=")
