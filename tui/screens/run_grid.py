"""A list of patches of which the cursor can step into the runs of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.strip import Strip

from analysis.queries.stability import PatchRow
from tui.messages import Moved, Opened
from tui.screens.stability_grid import GridPainter, Layout
from tui.widgets.row_list import RowList


@dataclass(frozen=True)
class RunsAt:
    """Runs of the row under the cursor: `size` of its phase from number `first` on, from 0."""

    phase: str
    first: int
    size: int


def stops(strips: Mapping[str, str], at: Layout) -> list[RunsAt]:
    """The cells of a row, from left to right."""
    return [
        RunsAt(band.phase, first, min(at.ratio, len(strips[band.phase]) - first))
        for band in at.bands
        for first in range(0, len(strips.get(band.phase, "")), at.ratio)
    ]


def nearest(wanted: RunsAt, found: Sequence[RunsAt]) -> RunsAt | None:
    """The cell that holds a run, or the one that is nearest to it in its phase, or the first."""
    of_phase = [one for one in found if one.phase == wanted.phase]
    before = [one for one in of_phase if one.first <= wanted.first]
    if before:
        return before[-1]
    return next(iter([*of_phase, *found]), None)


class RunGrid(RowList[PatchRow]):
    """The list of patches. `at`: the cell under the cursor, None while it is on rows."""

    def __init__(self, *, id: str) -> None:
        super().__init__(GridPainter(), id=id)
        self._at: RunsAt | None = None
        self._clicked_x = 0

    @property
    def grid(self) -> GridPainter:
        """How the rows are drawn."""
        assert isinstance(self.painter, GridPainter)
        return self.painter

    def use(self, painter: GridPainter) -> None:
        """Draw the rows otherwise."""
        if painter != self.painter:
            self.painter = painter
            self.redraw()

    @property
    def at(self) -> RunsAt | None:
        """The cell under the cursor, as it is in the row that the cursor is on now."""
        return None if self._at is None else nearest(self._at, self._stops())

    def _layout(self) -> Layout:
        return self.grid.layout(self.size.width - 1)

    def _stops(self) -> list[RunsAt]:
        row = self.current
        return [] if row is None else stops(row.strips, self._layout())

    def step(self, cells: int) -> None:
        """So many cells to the right, or to the left; before the first one are the rows."""
        found, at = self._stops(), self.at
        if not found:
            return
        place = (-1 if at is None else found.index(at)) + cells
        self.stand_in(None if place < 0 else found[min(place, len(found) - 1)])

    def to_end(self, direction: int) -> None:
        """The first cell of the row (-1), or the last (1)."""
        found = self._stops()
        if found:
            self.stand_in(found[0 if direction < 0 else -1])

    def stand_in(self, at: RunsAt | None) -> None:
        """Put the cursor on a cell of its row, or on the row."""
        if at != self._at:
            self._at = at
            self.redraw()
            self.post_message(Moved(self.id or ""))

    # Drawing

    def render_line(self, y: int) -> Strip:
        made = super().render_line(y)
        at, band = self.at, None
        if at is not None and self.has_focus and y == self._line_of_cursor():
            band = self._layout().band(at.phase)
        if at is None or band is None:
            return made
        x = 1 + band.start + at.first // self._layout().ratio
        before, cell, after = made.divide([x, x + 1, made.cell_length])
        # Where the row is reversed already, its cell is not.
        inverse = Style(bold=True, reverse=self.palette.cursor is not None)
        lit = [Segment(one.text, (one.style or Style()) + inverse) for one in cell]
        return Strip.join([before, Strip(lit), after])

    def _line_of_cursor(self) -> int:
        head = self.painter.head(self.size.width, self.look, self.ordering, self.has_focus)
        return len(head) + self.cursor - self._top

    # Mouse

    def on_click(self, event: Click) -> None:
        """Remember where: the click itself is dealt with as in every list."""
        self._clicked_x = event.x

    def clicked(self, y: int) -> None:
        line_before, at_before, focused = self._line_of_cursor(), self.at, self.has_focus
        cell = self._cell_at(y)
        if cell is None:
            self.stand_in(None)
            super().clicked(y)
            return
        if focused and y == line_before and cell == at_before:
            self.post_message(Opened(self.id or ""))
            return
        if y != line_before or not focused:
            super().clicked(y)
        self.stand_in(cell)

    def _cell_at(self, y: int) -> RunsAt | None:
        """The runs under the mouse, if it is in a row and in a band."""
        page, at = self.page, self._layout()
        line_of_list = y - self._line_of_cursor() + self.cursor - self._top
        if page is None or not 0 <= line_of_list < self.visible_rows:
            return None
        position = self._top + line_of_list - page.first
        if not 0 <= position < len(page.rows):
            return None
        x = self._clicked_x - 1
        for band in at.bands:
            if band.start <= x < band.start + band.cells:
                first = (x - band.start) * at.ratio
                found = stops(page.rows[position].strips, at)
                return next(
                    (one for one in found if (one.phase, one.first) == (band.phase, first)), None
                )
        return None
