"""Test lines by the thousand: what the careful reader would say of them, said of many at once.

Lines of a run differ in what one execution did and agree in all else. What they agree in, their
frame, is read by the careful reader, once; what differs is parsed by DuckDB, and taken only
where it is written down again byte by byte (see `shape`). Every other line is left to the
careful reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.model import Kind
from analysis.records import plan
from analysis.records.arrays import numbers, numpy_of, truths
from analysis.records.lines import Block
from analysis.records.parse import Parsed
from analysis.records.record import Record
from analysis.records.refusal import Refused
from analysis.records.shape import Shape, cut, shape_of, word_at
from analysis.records.values import good_values

_LONGEST_LINE = 1024 * 1024
_INLINED = 12
"""Bytes of a text that a view holds itself."""
_MOST_CUTS = 64
_MOST_SHAPES = 8
_SAMPLES = 8
_LINES_PER_FRAME = 5
"""Where fewer lines agree, the careful reader is as fast."""
_ROWS_PER_THREAD = 8192

# Reading a log must never download anything.
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Careful = Callable[[bytes], tuple[Parsed, Record]]


@dataclass(frozen=True)
class Taken:
    """Test lines that were read: their numbers within the block, from 0.

    frames: the record that the careful reader made of the first line of each frame; frame:
    which of them each line has. values: what differs, under the names of
    `schema.TEST_LINES`, as long as `lines`.
    """

    lines: Numbers
    frames: Sequence[Record]
    frame: Numbers
    values: Mapping[str, pa.Array]


class Bulk:
    """Reads the blocks of one source.

    careful: what the careful reader makes of a single line; raises Refused. latest_micros: a
    later time is suspect. fewest: lines of one shape that are worth the statements.
    """

    def __init__(self, careful: Careful, latest_micros: int, fewest: int) -> None:
        self._careful = careful
        self._fewest = fewest
        self._latest_micros = latest_micros
        self._shapes: list[Shape] = []
        self._connection: duckdb.DuckDBPyConnection | None = None

    def take(self, block: Block) -> Iterator[Taken]:
        """The lines of a block that can be read at once, one `Taken` a shape."""
        lines = _Lines(block)
        sample = self._sample(lines, np.arange(len(block.starts)))
        if sample is None:
            return
        left = lines.cut_at(*sample)
        known, tried = list(self._shapes), set[Shape]()
        while len(left) >= self._fewest and len(tried) < _MOST_SHAPES:
            shape = known.pop(0) if known else self._learn(lines, left, tried)
            if shape is None:
                return
            tried.add(shape)
            taken = self._of_shape(lines, left, shape)
            if taken is None:
                continue
            if shape not in self._shapes:
                self._shapes.append(shape)
            left = np.setdiff1d(left, taken.lines, assume_unique=True)
            yield taken

    def _sample(self, lines: _Lines, among: Numbers) -> tuple[bytes, int] | None:
        """A good test line of some lines, and where its tail begins."""
        for line in among[:: max(len(among) // _SAMPLES, 1)]:
            raw = lines.raw(line)
            if len(raw) > _LONGEST_LINE:
                continue
            try:
                parsed, record = self._careful(raw)
            except Refused:
                continue
            at = cut(raw, parsed.item) if record.kind is Kind.TEST else -1
            if at > 0:
                return raw, at
        return None

    def _learn(self, lines: _Lines, left: Numbers, tried: set[Shape]) -> Shape | None:
        """A shape of one of the lines that are left."""
        for line in left[:: max(len(left) // _SAMPLES, 1)]:
            sample = self._sample(lines, np.array([line]))
            shape = shape_of(sample[0][sample[1] :]) if sample else None
            if shape is not None and shape not in tried:
                return shape
        return None

    def _of_shape(self, lines: _Lines, left: Numbers, shape: Shape) -> Taken | None:
        """The lines that have a shape, and nothing that needs care."""
        try:
            found = self._parsed(lines, left, shape)
        except (duckdb.BinderException, duckdb.InvalidInputException, duckdb.ConversionException):
            # A key that no structure can have.
            return None
        places = left[numpy_of(found.column("i"))]
        columns = [found.column(f"c{place}") for place in range(len(shape.read))]
        varying = {key: column for key, column in zip(shape.read, columns, strict=True) if key.name}
        values, good = good_values(varying, self._latest_micros)
        places, kept = places[good], truths(good)
        shared = [
            column.filter(kept)
            for key, column in zip(shape.read, columns, strict=True)
            if not key.name
        ]
        heads = pa.chunked_array([lines.heads(places).cast(pa.large_string())])
        frame, first = _grouped([heads, *shared])
        if len(places) < _LINES_PER_FRAME * len(first):
            return None
        records = [self._frame(lines.raw(places[line]), values) for line in first]
        frames = [record for record in records if record is not None]
        if not frames:
            return None
        usable = np.array([record is not None for record in records], bool)
        number = np.cumsum(usable) - 1
        kept_frames = usable[frame]
        return Taken(
            places[kept_frames],
            frames,
            number[frame][kept_frames],
            {
                name: column.filter(kept).filter(truths(kept_frames))
                for name, column in values.items()
            },
        )

    def _frame(self, raw: bytes, values: Mapping[str, pa.Array]) -> Record | None:
        """What the careful reader makes of the first line of a frame, if it holds for others.

        Not so where a line needs a note, or says one thing twice: the other time it may differ.
        """
        try:
            parsed, record = self._careful(raw)
        except Refused:
            return None
        slots = [plan.TEST.slots.get(key) for key in parsed.item]
        names = [slot.name for slot in slots if slot]
        if record.kind is not Kind.TEST or record.notes or len(set(names)) < len(names):
            return None
        times = {"started", "finished"}
        in_frame = (times & set(record.tests[0])) - set(values)
        return None if in_frame and times & set(values) else record

    def _parsed(self, lines: _Lines, left: Numbers, shape: Shape) -> pa.Table:
        """Those of some lines that have a shape: `i`, their place in `left`, and the values."""
        if self._connection is None:
            self._connection = duckdb.connect(config=_SETTINGS)
        table = pa.table({"i": numbers(np.arange(len(left))), "tail": lines.tails(left)})
        try:
            found = self._ask(shape.parsing(), tails=table)
        except duckdb.InvalidInputException:
            # Looking first costs more, and most logs have nothing to be found.
            found = self._ask(shape.parsing("json_valid(object)"), tails=table)
        tails = lines.tails(left[numpy_of(found.column("i"))])
        exact = self._ask(shape.checking(), parsed=found.append_column("tail", [tails]))
        return found.filter(exact.column("exact"))

    def _ask(self, question: tuple[str, dict[str, str]], **tables: pa.Table) -> pa.Table:
        assert self._connection is not None
        for name, table in tables.items():
            # In pieces, so that every core has some.
            batches = table.to_batches(_ROWS_PER_THREAD)
            self._connection.register(name, pa.Table.from_batches(batches, table.schema))
        statement, parameters = question
        try:
            return self._connection.sql(statement, params=parameters).to_arrow_table()
        finally:
            for name in tables:
                self._connection.unregister(name)


class _Lines:
    """The lines of a block, and where those are cut that have a tail.

    Lines that are very long or not UTF-8 have none.
    """

    def __init__(self, block: Block) -> None:
        self._block, self._starts, self._ends = block.data, block.starts, block.ends
        self._cuts = np.zeros(len(block.starts), np.int64)

    def raw(self, line: int) -> bytes:
        """The bytes of a line."""
        return bytes(self._block[self._starts[line] : self._ends[line]])

    def cut_at(self, raw: bytes, at: int) -> Numbers:
        """Cut all lines where their tail begins as the one of `raw` does, at `at`.

        Returns the numbers of the lines that have such a tail.
        """
        word = word_at(raw, at)
        left = np.flatnonzero(self._ends - self._starts <= _LONGEST_LINE)
        left = np.setdiff1d(left, self._not_utf8(), assume_unique=True)
        for _ in range(_MOST_CUTS):
            while len(left) and (at := self.raw(left[0]).find(word)) <= 0:
                left = left[1:]
            if not len(left):
                break
            here = self._has(word, left, at)
            # Shorter parts would be stored in another way.
            if at > _INLINED:
                self._cuts[left[here]] = at
            left = left[~here]
        tail = self._ends - self._starts - self._cuts
        return np.flatnonzero((self._cuts > 0) & (tail > _INLINED))

    def _not_utf8(self) -> list[int]:
        codes = np.frombuffer(self._block, np.int8)
        if codes.min() >= 0:
            return []
        high = np.flatnonzero(codes < 0)
        lines = np.unique(np.searchsorted(self._starts, high, "right") - 1)
        return [line for line in lines.tolist() if not _is_utf8(self.raw(line))]

    def _has(self, word: bytes, lines: Numbers, at: int) -> Mask:
        """Which lines have a word at the same place."""
        places = self._starts[lines] + at
        here = places + len(word) <= self._ends[lines]
        size = len(self._block) - 7
        eights = np.ndarray((size,), "<u8", self._block, strides=(1,))
        mask = np.uint64(2 ** (8 * len(word)) - 1)
        wanted = np.uint64(int.from_bytes(word, "little"))
        found: Mask = here & ((eights[np.minimum(places, size - 1)] & mask) == wanted)
        return found

    def heads(self, lines: Numbers) -> pa.Array:
        """What stands before the tails of some lines."""
        starts = self._starts[lines]
        return self._texts(starts, starts + self._cuts[lines])

    def tails(self, lines: Numbers) -> pa.Array:
        """The tails of some lines."""
        return self._texts(self._starts[lines] + self._cuts[lines], self._ends[lines])

    def _texts(self, starts: Numbers, ends: Numbers) -> pa.Array:
        """Parts of the block, without copying them; none is as short as an inlined view."""
        views = np.zeros((len(starts), 4), "<i4")
        views[:, 0] = ends - starts
        views[:, 1] = np.ndarray((len(self._block) - 3,), "<i4", self._block, strides=(1,))[starts]
        views[:, 3] = starts
        buffers = [None, pa.py_buffer(views), pa.py_buffer(self._block)]
        return pa.Array.from_buffers(pa.string_view(), len(starts), buffers)


def _grouped(columns: Sequence[pa.ChunkedArray]) -> tuple[Numbers, Numbers]:
    """Rows that agree in all columns: the group of each row, and the first row of each group."""
    group = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = column.dictionary_encode("encode").combine_chunks()
        _, group = np.unique(
            group * (len(codes.dictionary) + 1) + numpy_of(codes.indices), return_inverse=True
        )
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return group, first


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
