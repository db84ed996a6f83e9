"""Sentences about units, for people: one cause is told once."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tui.text import cut_middle, safe, table, width

if TYPE_CHECKING:
    from analysis.queries.attributions import UnitRow

NAMED = 3
NARROWEST = 12


def fitted(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    align: str,
    flexible: Sequence[str],
) -> str:
    """A table whose columns named in `flexible`, in the order in which they give way, are cut in
    the middle until it fits the terminal; whole where the output is no terminal."""
    whole = table(headers, rows, align)
    if not _on_a_terminal():
        return whole
    excess = max(map(width, whole.splitlines())) - shutil.get_terminal_size().columns
    cells = [list(row) for row in rows]
    for name in flexible:
        column = headers.index(name)
        widest = max((width(safe(str(row[column]))) for row in cells), default=0)
        keep = max(NARROWEST, widest - excess)
        if excess <= 0 or keep >= widest:
            continue
        excess -= widest - keep
        for row in cells:
            row[column] = cut_middle(safe(str(row[column])), keep)
    return table(headers, cells, align)


def _on_a_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def unit_name(unit: UnitRow) -> str:
    """A test id with its variant."""
    return unit.test_id if unit.variant is None else f"{unit.test_id} [{unit.variant}]"


def reasons(units: Sequence[UnitRow]) -> list[str]:
    """Why and what to do, a block of lines a cause: units that share class, row, reason and
    action are one cause and the first three of them are named."""
    causes: dict[tuple[str, ...], list[UnitRow]] = {}
    for unit in units:
        key = (unit.experiment, unit.unit_class, unit.row, unit.why, unit.action)
        causes.setdefault(key, []).append(unit)
    lines: list[str] = []
    for (experiment, unit_class, row, why, action), members in causes.items():
        lines += paragraph(f"{unit_class} (row {row}) in {experiment}: {_named(members)}", "")
        lines += paragraph(f"why {why}", "  ")
        lines += paragraph(f"do  {action}", "  ")
    return lines


def _named(members: Sequence[UnitRow]) -> str:
    shown = [f"{unit_name(unit)} on {unit.patch_id}" for unit in members[:NAMED]]
    rest = len(members) - NAMED
    return "; ".join(shown) + (f"; and {rest} more" if rest > 0 else "")


def paragraph(text: str, indent: str) -> list[str]:
    """A sentence as lines: folded to the terminal's width, whole where the output is no terminal.

    The text is made safe; lines after the first stand four cells further in.
    """
    clean = safe(text)
    if not _on_a_terminal():
        return [indent + clean]
    return textwrap.wrap(
        clean,
        width=max(40, shutil.get_terminal_size().columns),
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    ) or [indent]


def paragraphs(texts: Iterable[str], indent: str) -> list[str]:
    """Several sentences, each as `paragraph`."""
    return [line for text in texts for line in paragraph(text, indent)]
