"""Why a line is refused: one word each, with the field's name where there is one."""

from __future__ import annotations

TOO_LONG = "too-long"
NUL_BYTE = "nul-byte"
NOT_UTF8 = "not-utf8"
NOT_JSON = "not-json"
NOT_AN_OBJECT = "not-an-object"
TWO_OBJECTS = "two-objects-on-a-line"
TRUNCATED = "truncated"
INTERLEAVED = "interleaved"
DUPLICATE_KEY = "duplicate-key"


class Refused(Exception):
    """A line that cannot be accepted whole. `reason` is a word of the vocabulary."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def missing_field(name: str) -> Refused:
    """The line lacks a field that its kind needs."""
    return Refused(f"missing-field:{name}")


def bad_type(name: str) -> Refused:
    """The field holds another type than it may hold."""
    return Refused(f"bad-type:{name}")


def bad_value(name: str) -> Refused:
    """The field has the right type and a value that it may not have."""
    return Refused(f"bad-value:{name}")
