"""Python values to Arrow arrays, and Arrow arrays to numpy.

`pyarrow.array`, `pyarrow.scalar` and `to_numpy` do the same, but import pandas to ask whether they
were given some of its objects; that takes longer than reading most logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_NUMBERS: dict[pa.DataType, str] = {
    pa.int32(): "i4",
    pa.int64(): "i8",
    pa.float64(): "f8",
    pa.timestamp("us"): "i8",
}


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The values, None for null, as an array of a type of `schema`. Times are microseconds."""
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if pa.types.is_dictionary(kind):
        words = list(dict.fromkeys(value for value in values if value is not None))
        place = {word: index for index, word in enumerate(words)}
        codes = array_of(list(map(place.get, values)), kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, array_of(words, kind.value_type))
    validity = _bits([value is not None for value in values])
    if pa.types.is_struct(kind):
        children = [
            array_of([None if value is None else value[field.name] for value in values], field.type)
            for field in kind
        ]
        return pa.Array.from_buffers(kind, len(values), [validity], children=children)
    if pa.types.is_list(kind):
        members = list(chain.from_iterable(value for value in values if value is not None))
        buffers = [validity, _offsets(values)]
        child = array_of(members, kind.value_type)
        return pa.Array.from_buffers(kind, len(values), buffers, children=[child])
    if pa.types.is_string(kind):
        values = [None if value is None else value.encode() for value in values]
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        data = pa.py_buffer(b"".join(filter(None, values)))
        return pa.Array.from_buffers(kind, len(values), [validity, _offsets(values), data])
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, len(values), [validity, _bits(map(bool, values))])
    plain = [0 if value is None else value for value in values]
    return pa.Array.from_buffers(
        kind, len(values), [validity, pa.py_buffer(np.array(plain, _NUMBERS[kind]))]
    )


def numbers(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers without nulls, not copied."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def truths(flags: npt.NDArray[np.bool_]) -> pa.Array:
    """Truths without nulls."""
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, _bits(flags)])


def numpy_of(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers or times of an array. What stands for null means nothing."""
    if isinstance(array, pa.ChunkedArray):
        return np.concatenate([np.empty(0, "i8"), *map(numpy_of, array.chunks)])
    kind = array.type.bit_width // 8
    dtype = "f8" if pa.types.is_floating(array.type) else f"i{kind}"
    values = np.frombuffer(array.buffers()[1], dtype)
    return values[array.offset : array.offset + len(array)]


def truths_of(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values of a boolean array are true."""
    return _flags(array, 1) & valid(array)


def valid(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values of an array are not null."""
    return np.ones(len(array), bool) if array.null_count == 0 else _flags(array, 0)


def _flags(array: pa.Array, buffer: int) -> npt.NDArray[np.bool_]:
    bits = np.frombuffer(array.buffers()[buffer], np.uint8)
    end = array.offset + len(array)
    return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].astype(bool)


def _bits(flags: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.fromiter(flags, bool), bitorder="little"))


def _offsets(values: Sequence[Any]) -> pa.Buffer:
    lengths = (0 if value is None else len(value) for value in values)
    return pa.py_buffer(np.fromiter(accumulate(lengths, initial=0), "i4"))
