"""What crosses the border between a reader and the store."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa


class Tail(StrEnum):
    """What the bytes after the last newline of a source were taken for."""

    NONE = "none"
    ROW = "row"
    BLANK = "blank"
    PENDING = "pending"
    REJECT = "reject"


@dataclass(frozen=True)
class Batch:
    """A run of whole lines, read in order.

    lines = rows + rejects + blank + pending holds for every batch. `rows` counts accepted
    lines, not executions (a verdict line with three tests is one). `end_offset` is the
    byte after the last newline read so far, so that reading can go on from there;
    `tail` tells what became of bytes after it (only the last batch of a source has any).
    The five tables follow `records.schema`.
    """

    lines: int
    rows: int
    reject_count: int
    blank: int
    pending: int
    end_offset: int
    tail: Tail
    run_lines: pa.Table
    test_lines: pa.Table
    experiment_lines: pa.Table
    rejects: pa.Table
    notes: pa.Table
