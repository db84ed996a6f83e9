"""Rows to the tables of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from analysis.model import Kind
from analysis.records import schema
from analysis.records.batch import Batch, Tail
from analysis.records.identity import is_unstable, normal_form
from analysis.records.lines import Line
from analysis.records.record import Record

_COMPARED_CONTEXT = tuple(name for name in schema.CONTEXT if name != "variant")
"""The variant belongs to a test, and one run may have tests of several."""


def line_hash(raw: bytes) -> int:
    """64 bits of a line's bytes without its ending: BLAKE2b, little-endian, signed."""
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little", signed=True)


class _Columns:
    """Rows of one table, kept as columns: a row has no object of its own to be collected."""

    def __init__(self, columns: pa.Schema) -> None:
        self.height = 0
        self._schema = columns
        self._columns: dict[str, list[Any]] = {name: [] for name in columns.names}
        self._appends = [(name, values.append) for name, values in self._columns.items()]

    def add(self, row: Mapping[str, Any]) -> None:
        self.height += 1
        get = row.get
        for name, append in self._appends:
            append(get(name))

    def table(self) -> pa.Table:
        arrays = [
            pa.array(values, type=column.type)
            for values, column in zip(self._columns.values(), self._schema, strict=True)
        ]
        return pa.table(arrays, schema=self._schema)


class Assembler:
    """Collects what the lines of one batch gave. One assembler makes one batch."""

    def __init__(self) -> None:
        self.lines = 0
        self._rows = 0
        self._blank = 0
        self._pending = 0
        self._run_lines = _Columns(schema.RUN_LINES)
        self._test_lines = _Columns(schema.TEST_LINES)
        self._experiment_lines = _Columns(schema.EXPERIMENT_LINES)
        self._rejects = _Columns(schema.REJECTS)
        self._notes = _Columns(schema.NOTES)
        self._contexts: set[tuple[Any, ...]] = set()
        self._identities: dict[str, tuple[str, bool]] = {}

    def accept(self, line: Line, number: int, record: Record) -> None:
        """Take the rows of one good line."""
        self.lines += 1
        self._rows += 1
        position = {
            "line": number,
            "byte_offset": line.offset,
            "line_hash": line_hash(line.raw),
        }
        if record.experiment is not None:
            self._experiment_lines.add(record.experiment | position)
        else:
            self._accept_run(record, position)
        for index, test in enumerate(record.tests):
            test.update(position)
            test["item"] = index
            test["test_norm"], test["unstable_id"] = self._identity(test["test_id"])
            self._test_lines.add(test)
        for rule, detail in record.notes:
            self._notes.add(
                {
                    "line": number,
                    "byte_offset": line.offset,
                    "run_id": record.run_id,
                    "rule": rule,
                    "detail": detail,
                }
            )

    def _accept_run(self, record: Record, position: Mapping[str, int]) -> None:
        run = record.run
        seen = (record.run_id, *map(run.get, _COMPARED_CONTEXT))
        if record.kind is Kind.TEST:
            if seen in self._contexts:
                return
            run = {name: run[name] for name in _COMPARED_CONTEXT if name in run}
            run["run_id"] = record.run_id
        self._contexts.add(seen)
        self._run_lines.add({**run, **position, "kind": record.kind.value})

    def _identity(self, test_id: str) -> tuple[str, bool]:
        known = self._identities.get(test_id)
        if known is None:
            known = normal_form(test_id), is_unstable(test_id)
            self._identities[test_id] = known
        return known

    def refuse(self, line: Line, number: int, reason: str) -> None:
        """Take a line that is no record."""
        self.lines += 1
        self._rejects.add(
            {
                "line": number,
                "byte_offset": line.offset,
                "reason": reason,
                "length": line.length,
                "raw": line.raw,
            }
        )

    def skip_blank(self) -> None:
        """Count a line of whitespace."""
        self.lines += 1
        self._blank += 1

    def wait(self) -> None:
        """Count a torn last line that waits for its end."""
        self.lines += 1
        self._pending += 1

    def batch(self, end_offset: int, tail: Tail) -> Batch:
        """The batch of everything taken so far."""
        return Batch(
            lines=self.lines,
            rows=self._rows,
            reject_count=self._rejects.height,
            blank=self._blank,
            pending=self._pending,
            end_offset=end_offset,
            tail=tail,
            run_lines=self._run_lines.table(),
            test_lines=self._test_lines.table(),
            experiment_lines=self._experiment_lines.table(),
            rejects=self._rejects.table(),
            notes=self._notes.table(),
        )
