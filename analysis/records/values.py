"""The values of many test lines at once, each as the careful reader would store it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from analysis.model import Outcome
from analysis.records import fields
from analysis.records.arrays import array_of, numbers, numpy_of, truths, truths_of, valid
from analysis.records.record import EARLIEST_MICROS
from analysis.records.refusal import Refused
from analysis.records.schema import TEST_LINES
from analysis.records.shape import Key
from analysis.records.times import MICROS_PER_SECOND

Mask = npt.NDArray[np.bool_]

_MOMENT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:[0-5]\d(\.\d{1,6})?(Z|\+00:00)$"


def good_values(
    columns: Mapping[Key, pa.ChunkedArray], latest_micros: int
) -> tuple[dict[str, pa.Array], Mask]:
    """Columns of test lines under their names in `schema.TEST_LINES`, and which rows hold.

    columns: what `Shape.parsing` gave of the keys of one execution. A row holds if the careful
    reader would store just these values, without a note; the values of others mean nothing.
    """
    height = len(next(iter(columns.values())))
    good = np.ones(height, bool)
    values = {}
    for key, column in columns.items():
        value, holds = _value(key, column.combine_chunks(), latest_micros)
        values[key.name] = value
        good &= holds
    if "started" in values and "finished" in values:
        good &= numpy_of(values["started"]) <= numpy_of(values["finished"])
    return values, good


def _value(key: Key, column: pa.Array, latest_micros: int) -> tuple[pa.Array, Mask]:
    if key.name == "outcome":
        return _outcome(column)
    if key.name in ("started", "finished"):
        return _moment(key, column, latest_micros)
    match key.kind:
        case "word" | "text":
            return _stored(key, column), valid(column) & (numpy_of(pc.binary_length(column)) > 0)
        case "whole" if key.name == "iteration":
            return column, valid(column) & (numpy_of(column) >= 0)
        case "whole" | "number":
            return column.cast(pa.float64(), safe=False), valid(column)
        case "resources":
            return _resources(column), valid(column)
        case _:
            return _stored(key, column), valid(column)


def _stored(key: Key, column: pa.Array) -> pa.Array:
    kind = TEST_LINES.field(key.name).type
    return column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)


def _outcome(column: pa.Array) -> tuple[pa.Array, Mask]:
    """Outcomes under their canonical names. That an xpassed test was strict is a line's own."""
    encoded = column.dictionary_encode()
    words: list[str | None] = []
    for word in encoded.dictionary.to_pylist():
        try:
            found = fields.outcome(word, "outcome")
        except Refused:
            found = None
        words.append(None if found == Outcome.XPASSED else found)
    stored = array_of(words, pa.string()).take(encoded.indices)
    return stored.dictionary_encode(), valid(stored)


def _moment(key: Key, column: pa.Array, latest_micros: int) -> tuple[pa.Array, Mask]:
    """Microseconds since the epoch, as `times.parse_moment` gives them."""
    if key.kind == "moment":
        micros, good = _from_text(column)
    else:
        good = valid(column)
        seconds = numpy_of(column)
        # No time that holds has more seconds; larger ones would overflow.
        good &= np.abs(seconds) <= latest_micros // MICROS_PER_SECOND + 1
        seconds = np.where(good, seconds, 0)
        if key.kind == "whole":
            micros = seconds * MICROS_PER_SECOND
        else:
            fraction, whole = np.modf(seconds)
            micros = whole.astype(np.int64) * MICROS_PER_SECOND
            micros += np.rint(fraction * MICROS_PER_SECOND).astype(np.int64)
    good &= (micros >= EARLIEST_MICROS) & (micros <= latest_micros)
    return numbers(micros).cast(pa.timestamp("us")), good


def _from_text(texts: pa.Array) -> tuple[npt.NDArray[np.int64], Mask]:
    good = truths_of(pc.match_substring_regex(texts, _MOMENT))
    micros = np.zeros(len(texts), np.int64)
    try:
        moments = texts.filter(truths(good)).cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        # A day that no month has; which one it is the careful reader says.
        return micros, np.zeros(len(texts), bool)
    micros[good] = numpy_of(moments)
    return micros, good


def _resources(column: pa.Array) -> pa.Array:
    """The members of each resource in the order in which they are stored."""
    kind = TEST_LINES.field("resources").type
    members = column.flatten()
    ordered = pa.StructArray.from_arrays(
        [members.field(field.name).cast(pa.string()) for field in kind.value_type],
        fields=list(kind.value_type),
    )
    offsets = pc.subtract(column.offsets, column.offsets[0])
    return pa.ListArray.from_arrays(offsets.cast(pa.int32()), ordered, type=kind)
