"""Lines that are read rather than picked: a panel, or a long text with sections to jump to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.events import MouseScrollDown, MouseScrollUp

from tui.inks import Ink
from tui.lines import BLANK, Line, Part, Span, bold, cells, line
from tui.look import Look
from tui.widgets.lined import Lined

WHEEL = 3


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it, for a width."""

    name: str
    lines: tuple[Line, ...]


Paint = Callable[[int, int, Look], Sequence[Line]]
"""Lines for a width, a height and a look."""


def heading(title: str, note: Part, width: int, look: Look, *, focused: bool = False) -> Line:
    """`─ CLASSES 82 pairs ────────`."""
    rule = look.glyphs.rule
    start = line(
        Span(f"{rule} ", Ink.RULE),
        bold(title, Ink.ACCENT if focused else Ink.HEAD) if title else "",
        " " if title and note else "",
        note,
        " ",
    )
    return line(start, Span(rule * max(0, width - cells(start)), Ink.RULE))


class Panel(Lined):
    """A part of a screen without a cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._paint: Paint | None = None

    def show(self, paint: Paint) -> None:
        """What to draw from now on, at any size."""
        self._paint = paint
        self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        return [] if self._paint is None else self._paint(width, height, self.look)


class Document(Lined):
    """Sections under each other that scroll; what is beyond the edges is said in the last line."""

    can_focus = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._sections: Callable[[int, Look], Sequence[Section]] | None = None
        self._top = 0

    def show(self, sections: Callable[[int, Look], Sequence[Section]], *, stay: bool) -> None:
        """What to draw from now on. stay: keep the place, otherwise begin at the top."""
        self._sections = sections
        self._top = self._top if stay else 0
        self.redraw()

    def _all(self, width: int) -> list[Section]:
        return [] if self._sections is None else [*self._sections(width, self.look)]

    def _lines(self, width: int) -> list[Line]:
        return [one for section in self._all(width) for one in section.lines]

    def made(self, width: int, height: int) -> Sequence[Line]:
        lines = self._lines(width)
        if len(lines) <= height:
            return lines
        self._top = max(0, min(self._top, len(lines) - height + 1))
        shown = lines[self._top : self._top + height - 1]
        dash = self.look.glyphs.dash
        place = f" lines {self._top + 1:,}{dash}{self._top + len(shown):,} of {len(lines):,}"
        return [*shown, line(Span(place, Ink.DIM))]

    def move(self, rows: int) -> None:
        """Scroll so many lines."""
        self._to(self._top + rows)

    def move_page(self, direction: int) -> None:
        """Scroll a screenful down (1) or up (-1)."""
        self._to(self._top + direction * max(1, self.size.height - 2))

    def to_first(self) -> None:
        """The beginning."""
        self._to(0)

    def to_last(self) -> None:
        """The end."""
        self._to(len(self._lines(self.size.width)))

    def to_section(self, direction: int) -> None:
        """The next heading, or the one before; after the last comes the first."""
        starts, at = [], 0
        for section in self._all(self.size.width):
            starts.append(at)
            at += len(section.lines)
        if not starts:
            return
        last = max(0, at - self.size.height + 1)
        if direction > 0:
            reachable = [start for start in starts if self._top < start <= last]
            self._to(reachable[0] if reachable else last if self._top < last else 0)
        else:
            before = [start for start in starts if start < self._top]
            self._to(before[-1] if before else last)

    def _to(self, top: int) -> None:
        lines = len(self._lines(self.size.width))
        self._top = max(0, min(top, lines - self.size.height + 1))
        self.redraw()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)


def padded(lines: Sequence[Line], height: int) -> list[Line]:
    """The lines, cut or filled up to `height`."""
    return [*lines[:height], *([BLANK] * (height - len(lines)))]
