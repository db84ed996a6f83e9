"""Lines of a screen as data: pieces of text with their ink, made by functions of data and width.

No widget is needed to make one or to look at it: `plain` gives the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len, set_cell_size

from tui.inks import Ink


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line. `act` names what a click on it does; `lit` puts the cursor's background
    behind it."""

    text: str
    ink: Ink = Ink.TEXT
    bold: bool = False
    act: str = ""
    lit: bool = False


Line = tuple[Span, ...]
Part = str | Span | Line

BLANK: Line = ()


def dim(text: str) -> Span:
    """Habit: zeros, labels, becauses."""
    return Span(text, Ink.DIM)


def bold(text: str, ink: Ink = Ink.TEXT) -> Span:
    """Deviation."""
    return Span(text, ink, bold=True)


def line(*parts: Part) -> Line:
    """The parts after each other."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(Span(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(span for span in spans if span.text)


def plain(made: Line) -> str:
    """The text of a line."""
    return "".join(span.text for span in made)


def cells(part: Part) -> int:
    """How many terminal cells it takes."""
    if isinstance(part, str):
        return cell_len(part)
    return cell_len(part.text) if isinstance(part, Span) else sum(cells(span) for span in part)


def fit(part: Part, width: int, ellipsis: str = "…") -> Line:
    """Exactly `width` cells: cut at the right with a mark, or filled up with blanks."""
    made = line(part)
    taken = cells(made)
    if taken <= width:
        return line(made, " " * (width - taken))
    room = width - cell_len(ellipsis)
    if room < 0:
        return line(ellipsis[:width])
    kept: list[Span] = []
    for span in made:
        size = cell_len(span.text)
        if size > room:
            kept.append(replace(span, text=set_cell_size(span.text, room) + ellipsis))
            return tuple(kept)
        kept.append(span)
        room -= size
    return tuple(kept)


def right(part: Part, width: int) -> Line:
    """Right-aligned in `width` cells; longer than that it is left whole."""
    return line(" " * (width - cells(part)), part)


def spread(left: Part, at_right: Part, width: int, ellipsis: str = "…") -> Line:
    """One part at the left, which gives way, and one at the right."""
    room = width - cells(at_right)
    if room <= 0:
        return fit(at_right, width, ellipsis)
    return line(fit(left, room, ellipsis), at_right)


def beside(left: Sequence[Line], at_right: Sequence[Line], width: int, gap: int) -> list[Line]:
    """Two columns of lines; the left one is `width` cells wide."""
    height = max(len(left), len(at_right))
    return [
        line(
            fit(left[row] if row < len(left) else BLANK, width),
            " " * gap,
            at_right[row] if row < len(at_right) else BLANK,
        )
        for row in range(height)
    ]


def inked(made: Line, ink: Ink) -> Line:
    """The line in one ink."""
    return tuple(replace(span, ink=ink) for span in made)


def lit(made: Line) -> Line:
    """The line with the cursor's background behind it."""
    return tuple(replace(span, lit=True) for span in made)


def emphasised(made: Line) -> Line:
    """The line in bold."""
    return tuple(replace(span, bold=True) for span in made)


def wrapped(
    text: str, width: int, ink: Ink = Ink.TEXT, most: int = 10, ellipsis: str = "…"
) -> list[Line]:
    """A sentence over several lines of at most `width` cells, broken at blanks where there are
    any; after `most` lines the rest is cut with a mark."""
    found: list[str] = []
    rest = text
    while rest and len(found) < most:
        if cell_len(rest) <= width:
            found.append(rest)
            rest = ""
            break
        head = set_cell_size(rest, width).rstrip(" ") if width > 0 else rest
        head = rest[: len(head)] if rest.startswith(head) else rest[:width]
        blank = head.rfind(" ")
        if rest[len(head) : len(head) + 1] != " " and blank > 0:
            head = head[:blank]
        head = head or rest[:1]
        found.append(head)
        rest = rest[len(head) :].lstrip(" ")
    if rest and found:
        found[-1] = plain(fit(f"{found[-1]} {rest}", width, ellipsis))
    return [line(Span(one, ink)) for one in found]


def columns(
    parts: Iterable[Part], widths: Iterable[int], sides: str, gap: int = 1, ellipsis: str = "…"
) -> Line:
    """One row of a table. sides: `l` or `r` a column. Widths of 0 leave the column out."""
    made: list[Part] = []
    for part, width, side in zip(parts, widths, sides, strict=True):
        if not width:
            continue
        if made:
            made.append(" " * gap)
        fitted = fit(part, width, ellipsis) if side == "l" or cells(part) > width else None
        made.append(right(part, width) if fitted is None else fitted)
    return line(*made)


Maker = Callable[[int], Sequence[Line]]
"""Lines for a width in cells."""
