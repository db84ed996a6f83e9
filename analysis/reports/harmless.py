"""Text from data, made harmless where it is written: on a terminal, in a spreadsheet, as JSON."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

# Control characters steer a terminal, bidirectional controls reorder what is read, line
# and paragraph separators break a row in two, lone surrogates cannot be written at all.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PICTURES = 0x2400
_DELETE = 0x7F
_FORMULA = ("=", "+", "-", "@")


def safe(text: str) -> str:
    """`text` with nothing in it that a terminal obeys.

    C0 controls become their pictures (ESC is ␛, a newline ␊), DEL ␡; C1 and bidirectional
    controls, line and paragraph separators and lone surrogates become `<U+202E>`.
    """
    return _UNSAFE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"<U+{code:04X}>"


def inert(value: Any) -> Any:
    """A value as a cell of a CSV: a text is made safe, and gets a leading ' where a spreadsheet
    would take it for a formula. Numbers and None stay."""
    if isinstance(value, (int, float)) or value is None:
        return value
    text = safe(value if isinstance(value, str) else str(plain(value)))
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain(value: object) -> Any:
    """A value that JSON has no form for: times in ISO 8601, bytes as text with escapes."""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return raw_text(bytes(value))
    return str(value)


def raw_text(raw: bytes) -> str:
    """Bytes of a line as text; what is no UTF-8 is written as \\xNN."""
    return raw.decode("utf-8", "backslashreplace")
