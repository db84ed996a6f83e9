"""Text from data, made fit for a terminal: harmless, of a known width, in columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from analysis.reports.harmless import safe as safe

_GAP = "  "


def width(text: str) -> int:
    """How many terminal cells `text` takes: 2 for wide characters, 0 for combining ones."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut(text: str, cells: int) -> str:
    """`text`, or its beginning and `…`, in at most `cells` terminal cells."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    taken = 0
    for position, character in enumerate(text):
        taken += _cells(character)
        if taken > cells - 1:
            return text[:position] + "…"
    return text


def cut_middle(text: str, cells: int) -> str:
    """`text`, or its beginning and end around `…`, in at most `cells` terminal cells.

    The end gets more room: the names of tests, files and patches differ there.
    """
    if width(text) <= cells:
        return text
    if cells < 2:
        return cut(text, cells)
    head = cut(text, (cells - 1) // 3 + 1)[:-1]
    start = len(text)
    left = cells - 1 - width(head)
    while start and _cells(text[start - 1]) <= left:
        start -= 1
        left -= _cells(text[start])
    return f"{head}…{text[start:]}"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], align: str = "") -> str:
    """An aligned table of plain text: a line of headers, then a line a row.

    align: one letter a column, `l` or `r`; columns beyond it are left-aligned. None is an
    empty cell. Cells are made safe. No line ends in blanks, nor the table in a newline.
    """
    lines = [[_cell(value) for value in row] for row in (headers, *rows)]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    sides = align.ljust(len(widths), "l")
    return "\n".join(
        _GAP.join(
            _pad(cell, cells, side) for cell, cells, side in zip(line, widths, sides, strict=True)
        ).rstrip(" ")
        for line in lines
    )


def _cell(value: object) -> str:
    return "" if value is None else safe(str(value))


def _pad(cell: str, cells: int, side: str) -> str:
    blanks = " " * (cells - width(cell))
    return blanks + cell if side == "r" else cell + blanks
