"""A report as Markdown of a limited size, for a pull request or a step summary.

Texts out of logs stay in their cell and stay text: no markup, no link, no mention of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analysis.queries.rates import Rate
from analysis.reports.document import Bars, Column, Document, Kind, Rates, Section, Table
from analysis.reports.fitting import cut, fitting, left_out

MOST_BYTES = 60_000
"""GitHub takes 65,536 characters in a comment and 1 MiB in a step summary."""

_SPARE = 1_000
_LONGEST_NAME, _LONGEST_TEXT = 200, 600
_WIDEST_BAR = 20

_MARKUP = re.compile(r"[\\`*_{}\[\]<>#~$!]")
_ENTITIES = {"&": "&amp;", "|": "&vert;"}
# A zero-width space ends what GitHub would make a link or a mention of, even where it is escaped.
_LINKED = re.compile(r"@(?=\w)|#(?=\d)|:(?=//)|\bwww(?=\.)|\bGH(?=-\d)", re.I)
_HIDDEN = "\u200b"


def markdown(report: Document) -> str:
    """The document in at most MOST_BYTES bytes of UTF-8; it says what it leaves out."""
    tables = [table for section in report.sections for table in _tables(section)]
    bare = len(_text(report, [[] for _ in tables]).encode())
    return _text(report, fitting(tables, _rows, MOST_BYTES - bare - _SPARE))


def prose(text: str) -> str:
    """A sentence that Markdown shows as it stands, on one line and in one cell."""
    plain = cut(text, _LONGEST_TEXT)
    entities = re.sub("[&|]", lambda found: _ENTITIES[found[0]], _MARKUP.sub(r"\\\g<0>", plain))
    return _LINKED.sub(rf"\g<0>{_HIDDEN}", entities)


def code(text: str) -> str:
    """A name as code, in one cell: where a code span could end within it, as an element."""
    plain = cut(text, _LONGEST_NAME)
    if not plain.strip():
        return f"<code>{plain}</code>"
    if "`" not in plain and "|" not in plain:
        return f"`{plain}`"
    marked = re.sub(r"[^\w\s.:/,-]", lambda found: f"&#{ord(found[0])};", plain)
    return f"<code>{marked.replace('_', '&#95;')}</code>"


def _text(report: Document, kept: Sequence[list[str]]) -> str:
    rows = iter(kept)
    parts = [f"# {prose(report.title)}", f"**{prose(report.answer)}**", prose(report.about)]
    for section in report.sections:
        parts += _section(section, rows)
    return "\n\n".join(parts) + "\n"


def _section(section: Section, rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"## {prose(section.title)}"
    if section.answer:
        yield f"**{prose(section.answer)}**"
    yield from map(prose, section.notes)
    for table in _tables(section):
        if table.total:
            yield from _table(table, next(rows))
        else:
            next(rows)


def _table(table: Table, rows: Sequence[str]) -> Iterator[str]:
    yield f"### {prose(table.title)}"
    headings = " | ".join(prose(column.heading) for column in table.columns)
    rule = " | ".join("--:" if column.kind is Kind.NUMBER else "---" for column in table.columns)
    yield "\n".join([f"| {headings} |", f"| {rule} |", *rows])
    missing = left_out(table, len(rows))
    if missing:
        yield missing


def _rows(table: Table) -> Iterator[str]:
    """The rows of a table as they are written, one when it is asked for."""
    return (_row(table.columns, row) for row in table.rows)


def _row(columns: Sequence[Column], cells: Sequence[str]) -> str:
    written = [
        code(cell) if column.kind in (Kind.NAME, Kind.RUNS) and cell else prose(cell)
        for column, cell in zip(columns, cells, strict=True)
    ]
    return f"| {' | '.join(written)} |"


def _tables(section: Section) -> list[Table]:
    """The tables of a section, charts as tables before the others."""
    charts = [_bars(chart) for chart in section.bars]
    if section.rates:
        charts.append(_rates(section.rates))
    return [*charts, *section.tables]


def _bars(chart: Bars) -> Table:
    most = max((bar.count for bar in chart.bars), default=0) or 1
    rows = tuple(
        (
            f"{bar.mark} {bar.unit_class}",
            f"{bar.count:,}",
            "█" * -(-bar.count * _WIDEST_BAR // most),
            f"{bar.count - bar.quiet:,} failed, {bar.quiet:,} never did" if bar.quiet else "",
        )
        for bar in chart.bars
    )
    columns = (Column("class"), Column("tests", Kind.NUMBER), Column(""), Column(""))
    return Table(chart.title, columns, rows, len(rows))


def _rates(charts: Sequence[Rates]) -> Table:
    rows = tuple(
        (
            chart.patch_id,
            chart.experiment,
            one.phase,
            *_rate(one.patch),
            *_rate(one.green),
        )
        for chart in charts
        for one in chart.phases
    )
    names = (Column("patch", Kind.NAME), Column("soak", Kind.NAME), Column("phase"))
    numbers = tuple(
        Column(heading, Kind.NUMBER) for heading in ("patch k/n", "95 %", "green k/n", "95 %")
    )
    title = "Rate by phase, of the patches with most flips"
    return Table(title, (*names, *numbers), rows, len(rows))


def _rate(rate: Rate) -> tuple[str, str]:
    return f"{rate.k}/{rate.n}", f"[{rate.low:.1%}, {rate.high:.1%}]" if rate.n else ""
