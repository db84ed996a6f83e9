"""What the reason of a rejected line means, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from analysis.records import refusal

_WHOLE: Mapping[str, str] = MappingProxyType(
    {
        refusal.TOO_LONG: "longer than a line may be",
        refusal.NUL_BYTE: "a NUL byte stands in it",
        refusal.NOT_UTF8: "its bytes are no UTF-8",
        refusal.NOT_JSON: "it is no JSON",
        refusal.NOT_AN_OBJECT: "it is JSON, but no object",
        refusal.TWO_OBJECTS: "two objects: record and newline were written in two calls",
        refusal.TRUNCATED: "it ends in the middle of a record",
        refusal.INTERLEAVED: "another record stands in the middle of it",
        refusal.DUPLICATE_KEY: "one key twice in one object",
    }
)
_OF_A_FIELD: Mapping[str, str] = MappingProxyType(
    {
        "missing-field": "it lacks the field {}",
        "bad-type": "{} holds another type than it may",
        "bad-value": "{} holds a value that it may not",
    }
)


def reject_words(reason: str) -> str:
    """A sentence about the reason; the reason itself where there is none."""
    kind, _, field = reason.partition(":")
    if kind in _OF_A_FIELD:
        return _OF_A_FIELD[kind].replace("{}", field)
    return _WHOLE.get(reason, reason)
