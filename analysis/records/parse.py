"""The bytes of one line to a JSON object, or the reason why they are none."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from analysis.records import refusal
from analysis.records.prefix import is_cut_short
from analysis.records.refusal import Refused

MAX_DEPTH = 200
"""Deeper nesting is refused; a fixed number, so that the answer does not depend on how
much of the interpreter's stack the caller has used."""

_BOM = b"\xef\xbb\xbf"
_WHITESPACE = " \t\r\n"
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Parsed(NamedTuple):
    """A JSON object without repeated keys. nonfinite: it holds NaN or an Infinity."""

    item: dict[str, Any]
    nonfinite: bool


class LineParser:
    """Parses one line at a time. One parser serves one thread."""

    def __init__(self) -> None:
        self._repeated = False
        self._nonfinite = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs, parse_constant=self._constant
        )

    def parse(self, raw: bytes) -> Parsed:
        """The object that the line holds. Refused says why there is none."""
        if b"\x00" in raw:
            raise Refused(refusal.NUL_BYTE)
        text = _decode(raw)
        if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
            raise Refused(refusal.NOT_JSON)
        item = self._object(text)
        if _ESCAPED_SURROGATE.search(raw) and not _encodes(item):
            raise Refused(refusal.NOT_JSON)
        if self._repeated:
            raise Refused(refusal.DUPLICATE_KEY)
        return Parsed(item, self._nonfinite)

    def _object(self, text: str) -> dict[str, Any]:
        try:
            value, end = self._decode_at(text, 0)
        except json.JSONDecodeError:
            raise Refused(self._why_not(text)) from None
        except (ValueError, RecursionError):
            # ValueError: an integer literal of more digits than the interpreter converts.
            raise Refused(refusal.NOT_JSON) from None
        rest = text[end:].lstrip(_WHITESPACE)
        if rest:
            two = isinstance(value, dict) and rest.startswith("{")
            raise Refused(refusal.TWO_OBJECTS if two else refusal.NOT_JSON)
        if not isinstance(value, dict):
            raise Refused(refusal.NOT_AN_OBJECT)
        return value

    def _why_not(self, text: str) -> str:
        if not text.startswith("{"):
            return refusal.NOT_JSON
        if is_cut_short(text):
            return refusal.TRUNCATED
        return refusal.INTERLEAVED if self._ends_in_object(text) else refusal.NOT_JSON

    def _ends_in_object(self, text: str) -> bool:
        """Whether a later object reaches exactly to the end: another writer's record."""
        length = len(text.rstrip(_WHITESPACE))
        budget = 8 * length + 64 * 1024
        at = text.rfind('{"', 1)
        while at > 0 and budget > 0:
            budget -= length - at
            try:
                _, end = self._decode_at(text, at)
            except (ValueError, RecursionError):
                end = -1
            if end == length:
                return True
            at = text.rfind('{"', 1, at)
        return False

    def _decode_at(self, text: str, at: int) -> tuple[Any, int]:
        self._repeated = False
        self._nonfinite = False
        return self._decoder.raw_decode(text, at)

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        item = dict(pairs)
        if len(item) != len(pairs):
            self._repeated = True
        return item

    def _constant(self, word: str) -> float:
        self._nonfinite = True
        return float(word)


def _decode(raw: bytes) -> str:
    body = raw.removeprefix(_BOM)
    try:
        return body.decode("utf-8").strip(_WHITESPACE)
    except UnicodeDecodeError as error:
        # A record that is cut in the middle of a character is a cut record.
        if error.reason == "unexpected end of data":
            text = body[: error.start].decode("utf-8").strip(_WHITESPACE)
            if text.startswith("{") and is_cut_short(text):
                raise Refused(refusal.TRUNCATED) from None
        raise Refused(refusal.NOT_UTF8) from None


def is_blank(raw: bytes) -> bool:
    """Whether a line holds nothing but whitespace (and a byte-order mark)."""
    body = raw.removeprefix(_BOM)
    return not body or body.isspace()


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _encodes(item: dict[str, Any]) -> bool:
    """Whether every text in the object is Unicode: a lone surrogate is not."""
    try:
        json.dumps(item, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
