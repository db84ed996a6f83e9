"""Reading bytes whole, for tests that look at what came out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from analysis.records import Batch, Tail, read
from analysis.records.schema import (
    EXPERIMENT_LINES,
    NOTES,
    REJECTS,
    RUN_LINES,
    TEST_LINES,
)

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Reading:
    """All batches of a source as one."""

    batches: list[Batch]
    runs: Rows
    tests: Rows
    experiments: Rows
    rejects: Rows
    notes: Rows

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """lines, rows, rejects, blank, pending."""
        return (
            sum(batch.lines for batch in self.batches),
            sum(batch.rows for batch in self.batches),
            sum(batch.reject_count for batch in self.batches),
            sum(batch.blank for batch in self.batches),
            sum(batch.pending for batch in self.batches),
        )

    @property
    def tail(self) -> Tail:
        return self.batches[-1].tail

    @property
    def end_offset(self) -> int:
        return self.batches[-1].end_offset

    @property
    def reasons(self) -> list[str]:
        return [reject["reason"] for reject in self.rejects]

    @property
    def rules(self) -> list[str]:
        return [note["rule"] for note in self.notes]


def _rows(batches: list[Batch], name: str, schema: pa.Schema) -> Rows:
    tables = [getattr(batch, name) for batch in batches]
    assert all(table.schema == schema for table in tables)
    table = pa.concat_tables(tables)
    table.validate(full=True)
    # Years beyond 9999 have no datetime; as integers they can be compared.
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=schema.names).to_pylist()


def _read_all(data: bytes, *, final: bool = True, **options: Any) -> Reading:
    stream = options.pop("stream", None) or io.BytesIO(data)
    batches = list(read(stream, final=final, now=options.pop("now", NOW), **options))
    return Reading(
        batches,
        runs=_rows(batches, "run_lines", RUN_LINES),
        tests=_rows(batches, "test_lines", TEST_LINES),
        experiments=_rows(batches, "experiment_lines", EXPERIMENT_LINES),
        rejects=_rows(batches, "rejects", REJECTS),
        notes=_rows(batches, "notes", NOTES),
    )


def _read_items(*items: dict[str, Any]) -> Reading:
    return _read_all(b"".join(json.dumps(item).encode() + b"\n" for item in items))


@pytest.fixture(scope="session")
def read_all() -> Callable[..., Reading]:
    """Reads bytes to their end."""
    return _read_all


@pytest.fixture(scope="session")
def read_items() -> Callable[..., Reading]:
    """Reads objects, one a line."""
    return _read_items
