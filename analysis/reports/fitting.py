"""How much of long tables has room in a document of a limited size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from analysis.reports.document import Table
from analysis.reports.harmless import safe


def fitting(
    tables: Sequence[Table], written: Callable[[Table], Iterable[str]], room: int
) -> list[list[str]]:
    """The first rows of each table, as `written`, that fit into `room` bytes of UTF-8 together.

    Every table may take its share of the room; the shortest come first, and what they leave is
    there for the longer ones.
    """
    kept: list[list[str]] = [[] for _ in tables]
    waiting = sorted(range(len(tables)), key=lambda number: len(tables[number].rows))
    for done, number in enumerate(waiting):
        share = room // (len(tables) - done)
        for row in written(tables[number]):
            size = len(row.encode()) + 1
            if size > share:
                break
            share -= size
            room -= size
            kept[number].append(row)
    return kept


def left_out(table: Table, shown: int) -> str:
    """What of a table is not shown, in words; nothing where all of it is."""
    if shown == table.total:
        return ""
    return (
        f"The first {shown:,} of {table.total:,} rows, {table.total - shown:,} are left out; "
        "`tui export --format json` has all of them."
    )


def cut(text: str, most: int) -> str:
    """A text made safe, in at most so many characters; what goes is the middle, marked by …."""
    whole = safe(text)
    if len(whole) <= most:
        return whole
    head = most // 3
    return f"{whole[:head]}…{whole[head + 1 - most :]}"
