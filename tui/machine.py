"""Machine output: JSON with a versioned `schema` key, CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from analysis.reports.harmless import inert
from analysis.reports.harmless import plain as plain


def print_json(command: str, body: Mapping[str, Any]) -> None:
    """Print `body` under the schema of a command. Only ASCII, so nothing steers a terminal."""
    document = {"schema": f"soakboard.{command}/1", **body}
    click.echo(json.dumps(document, indent=2, default=plain, allow_nan=False))


def print_csv(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as CSV. Texts are made safe; one that a spreadsheet would take for a formula
    gets a leading '."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([inert(name) for name in headers])
    writer.writerows([inert(value) for value in row] for row in rows)
    click.echo(out.getvalue(), nl=False)
