"""A widget that draws lines, and tells what was clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from rich.segment import Segment
from textual.events import Click
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.inks import Palette
from tui.lines import Line, cells, fit
from tui.look import Look
from tui.messages import Acted

if TYPE_CHECKING:
    from tui.app import Soakboard


class Lined(Widget):
    """Draws what `made` returns, cut to its size."""

    DEFAULT_CSS = "Lined { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._made: tuple[Size, Sequence[Line]] | None = None

    def made(self, width: int, height: int) -> Sequence[Line]:
        """The lines of the widget; more than `height` are not shown."""
        raise NotImplementedError

    @property
    def look(self) -> Look:
        """How values are written now."""
        return cast("Soakboard", self.app).look

    @property
    def palette(self) -> Palette:
        """Which colours hold."""
        return cast("Soakboard", self.app).palette

    def redraw(self) -> None:
        """What is shown has changed."""
        self._made = None
        self.refresh()

    def notify_style_update(self) -> None:
        self._made = None
        super().notify_style_update()

    def lines_now(self) -> Sequence[Line]:
        """The lines as they are drawn."""
        if self._made is None or self._made[0] != self.size:
            self._made = (self.size, self.made(self.size.width, self.size.height))
        return self._made[1]

    def render_line(self, y: int) -> Strip:
        width, lines = self.size.width, self.lines_now()
        if y >= len(lines):
            return strip((), width, self.palette)
        glyphs = self.look.glyphs
        made = lines[y]
        if glyphs.ascii_only:
            # A mark of a cut that was made where signs are not known.
            made = tuple(replace(one, text=one.text.replace("…", glyphs.ellipsis)) for one in made)
        return strip(made, width, self.palette, glyphs.ellipsis)

    def on_click(self, event: Click) -> None:
        """A click on a piece of text that does something does it; else on the line."""
        event.stop()
        lines = self.lines_now()
        x = 0
        for span in lines[event.y] if event.y < len(lines) else ():
            x += cells(span)
            if event.x < x:
                if span.act:
                    self.post_message(Acted(span.act))
                    return
                break
        self.clicked(event.y)

    def clicked(self, y: int) -> None:
        """A line was clicked, beside everything that does something of its own."""


def strip(made: Line, width: int, palette: Palette, ellipsis: str = "…") -> Strip:
    """A line as the terminal gets it, exactly `width` cells."""
    return Strip(
        [
            Segment(span.text, palette.style(span.ink, bold=span.bold, cursor=span.lit))
            for span in fit(made, width, ellipsis)
            if span.text
        ]
    ).adjust_cell_length(width)
