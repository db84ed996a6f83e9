"""A report as one HTML file: charts within, no script, nothing loaded from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from analysis.reports.charts import bars_svg, rates_svg
from analysis.reports.document import Column, Document, Kind, Section, Table
from analysis.reports.fitting import cut, fitting, left_out

MOST_BYTES = 1_900_000
"""A page that a browser opens at once and a mail takes along."""

_SPARE = 10_000
_LONGEST_NAME, _LONGEST_TEXT = 500, 1_000

# Even where something were overlooked, a browser runs and loads nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Document) -> str:
    """The document as a page of at most MOST_BYTES bytes; it says what it leaves out."""
    tables = [table for section in report.sections for table in section.tables]
    bare = len(_text(report, [[] for _ in tables]).encode())
    return _text(report, fitting(tables, _rows, MOST_BYTES - bare - _SPARE))


def _text(report: Document, kept: Sequence[list[str]]) -> str:
    rows = iter(kept)
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_words(report.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>",
        f"<h1>{_words(report.title)}</h1>",
        f'<p class="answer">{_words(report.answer)}</p>',
        f'<p class="about">{_words(report.about)}</p>',
    ]
    for section in report.sections:
        lines += _section(section, rows)
    return "\n".join([*lines, "</body>\n</html>\n"])


def _section(section: Section, rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"<section>\n<h2>{_words(section.title)}</h2>"
    if section.answer:
        yield f'<p class="answer">{_words(section.answer)}</p>'
    for chart in section.bars:
        yield f"<h3>{_words(chart.title)}</h3>\n{bars_svg(chart)}"
    if section.rates:
        shown = f"the {len(section.rates):,} of {section.total_rates:,} patches with most flips"
        yield f"<h3>Failure rate by phase: {shown}</h3>"
        yield "<p>● patch, ○ green, k/n and 95 % interval of each.</p>"
    for rates in section.rates:
        yield f"<h3>{_name(rates.patch_id)} in {_name(rates.experiment)}</h3>\n{rates_svg(rates)}"
    yield from (f"<p>{_words(note)}</p>" for note in section.notes)
    for table in section.tables:
        yield from _table(table, next(rows))
    yield "</section>"


def _table(table: Table, rows: Sequence[str]) -> Iterator[str]:
    if not table.total:
        return
    yield f'<h3>{_words(table.title)}</h3>\n<div class="table"><table>\n<thead><tr>'
    for column in table.columns:
        yield f'<th class="{column.kind}" scope="col">{_words(column.heading)}</th>'
    yield "</tr></thead>\n<tbody>"
    yield from rows
    yield "</tbody>\n</table></div>"
    missing = left_out(table, len(rows))
    if missing:
        yield f'<p class="left-out">{_words(missing)}</p>'


def _rows(table: Table) -> Iterator[str]:
    """The rows of a table as they are written, one when it is asked for."""
    return (_row(table.columns, row) for row in table.rows)


def _row(columns: Sequence[Column], cells: Sequence[str]) -> str:
    written = (
        f'<td class="{column.kind}">{_cell(column.kind, cell)}</td>'
        for column, cell in zip(columns, cells, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def _cell(kind: Kind, text: str) -> str:
    if kind is Kind.NAME:
        return _name(text)
    if kind is Kind.RUNS:
        return re.sub("[✗⊘]+", r"<b>\g<0></b>", _words(text))
    return _words(text)


def _name(text: str) -> str:
    """A name out of data; its direction of writing is its own affair."""
    return f"<code><bdi>{escape(cut(text, _LONGEST_NAME))}</bdi></code>"


def _words(text: str) -> str:
    return escape(cut(text, _LONGEST_TEXT))
