"""Machine output: JSON with a versioned `schema` key, CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from tui.text import safe

_FORMULA = ("=", "+", "-", "@")


def print_json(command: str, body: Mapping[str, Any]) -> None:
    """Print `body` under the schema of a command. Only ASCII, so nothing steers a terminal."""
    document = {"schema": f"soakboard.{command}/1", **body}
    click.echo(json.dumps(document, indent=2, default=plain, allow_nan=False))


def print_csv(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as CSV. Texts are made safe; one that a spreadsheet would take for a formula
    gets a leading '."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_inert(name) for name in headers])
    writer.writerows([_inert(value) for value in row] for row in rows)
    click.echo(out.getvalue(), nl=False)


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


def _inert(value: Any) -> Any:
    if isinstance(value, (int, float)) or value is None:
        return value
    text = safe(value if isinstance(value, str) else str(plain(value)))
    return f"'{text}" if text.startswith(_FORMULA) else text
