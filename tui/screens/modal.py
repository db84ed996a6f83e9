"""Boxes over a screen: they take the keys until they are closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.screen import ModalScreen

from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import Line, Part, Span, bold, cells, fit, line
from tui.widgets.lined import Lined

if TYPE_CHECKING:
    from tui.app import Soakboard


WIDTH = 76


class Box(Lined):
    """A frame with a title around lines that may scroll."""

    can_focus = True

    def __init__(self, title: str, *, id: str = "box") -> None:
        super().__init__(id=id)
        self._title = title
        self._top = 0

    def inside(self, width: int) -> Sequence[Line]:
        """The lines in the frame, for a width."""
        raise NotImplementedError

    def move(self, rows: int) -> None:
        """Scroll so many lines."""
        height = self.size.height - 2
        most = max(0, len(self.inside(self.size.width - 4)) - height)
        self._top = max(0, min(self._top + rows, most))
        self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        lines = self.inside(width - 4)
        shown = lines[self._top : self._top + height - 2]
        rest = len(lines) - self._top - len(shown)
        more = f"{rest} more lines below" if rest > 0 else ""
        return framed(self._title, shown, width, height, self.look.glyphs, more)


def framed(
    title: str, lines: Sequence[Line], width: int, height: int, glyphs: Glyphs, more: str = ""
) -> list[Line]:
    """Lines in a box of a size."""
    rule = glyphs.rule
    head = line(Span(glyphs.top_left + rule + " ", Ink.ACCENT), bold(title, Ink.ACCENT), Span(" "))
    made = [_closed(head, rule, glyphs.top_right, width)]
    side = Span(glyphs.column, Ink.ACCENT)
    for one in [*lines, *([()] * (height - 2 - len(lines)))][: height - 2]:
        made.append(line(side, " ", fit(one, width - 4, glyphs.ellipsis), " ", side))
    foot = line(
        Span(glyphs.bottom_left + rule, Ink.ACCENT), Span(f" {more} ", Ink.DIM) if more else ""
    )
    made.append(_closed(foot, rule, glyphs.bottom_right, width))
    return made


def _closed(start: Part, rule: str, corner: str, width: int) -> Line:
    return line(start, Span(rule * (width - cells(start) - 1) + corner, Ink.ACCENT))


class Modal(ModalScreen[None]):
    """A box over the screen beneath; Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]
    DEFAULT_CSS = """
    Modal { align: center middle; background: $background 60%; }
    Modal > Vertical { width: 76; max-width: 96%; height: auto; }
    """

    @property
    def board(self) -> Soakboard:
        """The app."""
        return cast("Soakboard", self.app)

    def box(self) -> Box:
        """What is in the box."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.box()

    def on_resize(self, event: Resize) -> None:
        """As high as what is in it, or as the screen."""
        box = self.query_one(Box)
        lines = len(box.inside(min(WIDTH, event.size.width) - 4))
        box.styles.height = min(lines + 2, event.size.height - 2)

    def redraw_all(self) -> None:
        """Signs, colours or the form of times have changed."""
        self.query_one(Box).redraw()

    def action_close(self) -> None:
        """Give the keys back."""
        self.dismiss(None)

    def action_scroll(self, rows: int) -> None:
        """Scroll the box."""
        self.query_one(Box).move(rows)
