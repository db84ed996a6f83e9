"""Rows to the tables of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.model import Kind
from analysis.records import schema
from analysis.records.arrays import array_of, numbers
from analysis.records.batch import Batch, Tail
from analysis.records.identity import is_unstable, normal_form
from analysis.records.lines import Block, Line
from analysis.records.record import FAILED, Record

if TYPE_CHECKING:
    from analysis.records.bulk import Taken

_COMPARED_CONTEXT = tuple(name for name in schema.CONTEXT if name != "variant")
"""The variant belongs to a test, and one run may have tests of several."""

Context = tuple[Any, ...]
Numbers = npt.NDArray[np.int64]


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
            array_of(values, field.type)
            for values, field in zip(self._columns.values(), self._schema, strict=True)
        ]
        return pa.table(arrays, schema=self._schema)


def _of_words(words: pa.Array, meaning: Callable[[str], Any], kind: pa.DataType) -> pa.Array:
    """What each row's word means, asked once a word."""
    return array_of(list(map(meaning, words.dictionary.to_pylist())), kind).take(words.indices)


def _context(record: Record) -> Context:
    return (record.run_id, *map(record.run.get, _COMPARED_CONTEXT))


class Assembler:
    """Collects what the lines of one batch gave. One assembler makes one batch."""

    def __init__(self) -> None:
        self.lines = 0
        self._rows = 0
        self._blank = 0
        self._pending = 0
        self._runs: list[tuple[int, Context, Mapping[str, Any]]] = []
        self._test_lines = _Columns(schema.TEST_LINES)
        self._taken: list[pa.Table] = []
        self._experiment_lines = _Columns(schema.EXPERIMENT_LINES)
        self._rejects = _Columns(schema.REJECTS)
        self._notes = _Columns(schema.NOTES)
        self._contexts: dict[Context, tuple[int, int, Mapping[str, Any]]] = {}

    def accept(self, line: Line, number: int, record: Record) -> None:
        """Take the rows of one good line."""
        self.lines += 1
        self._rows += 1
        position = {"line": number, "byte_offset": line.offset}
        if record.kind is Kind.TEST:
            position["line_hash"] = self._accept_context(record, position)
        else:
            position["line_hash"] = line_hash(line.raw)
            if record.experiment is not None:
                self._experiment_lines.add(record.experiment | position)
            else:
                row = {**record.run, **position, "kind": record.kind.value}
                self._runs.append((number, _context(record), row))
        for index, test in enumerate(record.tests):
            test.update(position)
            test["item"] = index
            test["test_norm"] = normal_form(test["test_id"])
            test["unstable_id"] = is_unstable(test["test_id"])
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

    def accept_taken(self, taken: Taken, block: Block, first_line: int) -> None:
        """Take test lines of a block whose first line has a number in the source."""
        lines = taken.lines + first_line
        offsets = block.starts[taken.lines] + block.offset
        self.accept_columns(taken.frames, taken.frame, taken.values, lines, offsets)

    def accept_columns(
        self,
        frames: Sequence[Record],
        frame: Numbers,
        values: Mapping[str, pa.Array],
        lines: Numbers,
        offsets: Numbers,
    ) -> None:
        """Take executions as columns: see `bulk.Taken`. lines, offsets: where each stands."""
        height = len(lines)
        self.lines += height
        self._rows += height
        used, first = np.unique(frame, return_index=True)
        hashes = np.zeros(len(frames), np.int64)
        for number, row in zip(used.tolist(), first.tolist(), strict=True):
            position = {"line": int(lines[row]), "byte_offset": int(offsets[row])}
            hashes[number] = self._accept_context(frames[number], position)
        columns = {
            "line": numbers(lines),
            "byte_offset": numbers(offsets),
            "line_hash": numbers(hashes[frame]),
            "item": numbers(np.zeros(height, np.int32)),
            **values,
        }
        tests = [one.tests[0] for one in frames]
        frame_of = numbers(frame)
        for field in schema.TEST_LINES:
            if field.name not in columns:
                shared = [test.get(field.name) for test in tests]
                empty = all(value is None for value in shared)
                columns[field.name] = (
                    pa.nulls(height, field.type)
                    if empty
                    else array_of(shared, field.type).take(frame_of)
                )
        if "outcome" in values:
            columns["failed"] = _of_words(columns["outcome"], FAILED.get, pa.bool_())
        ids = columns["test_id"]
        columns["test_norm"] = _of_words(ids, normal_form, pa.string())
        columns["test_norm"] = columns["test_norm"].dictionary_encode()
        columns["unstable_id"] = _of_words(ids, is_unstable, pa.bool_())
        arrays = [columns[name] for name in schema.TEST_LINES.names]
        self._taken.append(pa.table(arrays, schema=schema.TEST_LINES))

    def _accept_context(self, record: Record, position: Mapping[str, int]) -> int:
        """Keep what a test line says of its run, at the first line that says it."""
        context, line = _context(record), position["line"]
        known = self._contexts.get(context)
        if known is not None and known[0] <= line:
            return known[1]
        found = line_hash(repr(context).encode())
        row = {name: record.run[name] for name in _COMPARED_CONTEXT if name in record.run}
        row |= {"run_id": record.run_id, "kind": record.kind.value, "line_hash": found, **position}
        self._contexts[context] = line, found, row
        return found

    def _run_lines(self) -> pa.Table:
        """Rows of lines about runs, and of contexts that no line above them has."""
        first: dict[Context, int] = {}
        for line, context, _ in self._runs:
            first.setdefault(context, line)
        rows = [(line, row) for line, _, row in self._runs]
        for context, (line, _, row) in self._contexts.items():
            if first.get(context, line) >= line:
                rows.append((line, row))
        columns = _Columns(schema.RUN_LINES)
        for _, row in sorted(rows, key=lambda pair: pair[0]):
            columns.add(row)
        return columns.table()

    def _tests(self) -> pa.Table:
        """Executions in the order of their lines."""
        own = self._test_lines.table()
        if not self._taken:
            return own
        tables = [table for table in (*self._taken, own) if table.num_rows]
        if len(tables) == 1:
            return tables[0]
        whole = pa.concat_tables(tables).unify_dictionaries()
        return whole.sort_by([("line", "ascending"), ("item", "ascending")]).combine_chunks()

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
            run_lines=self._run_lines(),
            test_lines=self._tests(),
            experiment_lines=self._experiment_lines.table(),
            rejects=self._rejects.table(),
            notes=self._notes.table(),
        )
