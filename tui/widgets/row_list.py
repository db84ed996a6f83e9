"""A list of any length: it holds a window of rows around its cursor and asks for more in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from textual.events import Blur, Focus, MouseScrollDown, MouseScrollUp
from textual.geometry import Size

from analysis.queries.paging import Mark, Page
from tui.inks import Ink
from tui.lines import BLANK, Line, Span, dim, line, lit, wrapped
from tui.look import Look
from tui.messages import Moved, Opened, Wanted
from tui.state import Ordering
from tui.widgets.lined import Lined

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)

MARGIN = 100
WHEEL = 3


class Painter(Protocol[R_contra]):
    """How a list looks. Every row takes the same number of lines."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        """The lines above the rows. A piece with act `sort:NAME` sorts by that column."""

    def row(self, row: R_contra, width: int, look: Look, lines: int) -> Sequence[Line]:
        """One row, as so many lines, without the cell of the cursor at the left."""

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        """How many lines a row may take where `height` lines are there for `rows` rows."""

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        """The lines below the rows. shown: `rows 1–13 of 39`; empty where all are seen."""

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        """What stands in the place of rows where there are none."""


class RowList(Lined, Generic[R]):
    """Rows under a cursor. The cursor is shown where the list has the focus."""

    can_focus = True

    def __init__(self, painter: Painter[R], *, id: str) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.ordering = Ordering()
        self._page: Page[R] | None = None
        self._cursor = 0
        self._top = 0
        self._wants_end = False

    # What it holds

    @property
    def page(self) -> Page[R] | None:
        """The window of rows that is held."""
        return self._page

    @property
    def total(self) -> int:
        """How many rows there are in all."""
        return 0 if self._page is None else self._page.total

    @property
    def cursor(self) -> int:
        """The ordinal of the row under the cursor, from 0."""
        return self._cursor

    @property
    def current(self) -> R | None:
        """The row under the cursor."""
        if self._page is None:
            return None
        position = self._cursor - self._page.first
        return self._page.rows[position] if 0 <= position < len(self._page.rows) else None

    @property
    def standing(self) -> Mark | None:
        """Where the row under the cursor stands, to ask for rows around it."""
        if self._page is None:
            return None
        position = self._cursor - self._page.first
        return self._page.marks[position] if 0 <= position < len(self._page.marks) else None

    @property
    def wants_end(self) -> bool:
        """Whether the last row was asked for and is not held."""
        return self._wants_end

    def show(self, page: Page[R], *, stay: bool = True) -> None:
        """New rows. The cursor stays on its row, or on its neighbour if that is gone.

        stay: otherwise it goes to where the page was asked for.
        """
        at = page.at
        mark = self.standing
        if stay and mark is not None and not self._wants_end:
            keys = [one.key for one in page.marks]
            at = page.first + keys.index(mark.key) if mark.key in keys else page.at
        below_top = self._cursor - self._top
        other_size = page.total != self.total
        self._page, self._wants_end = page, False
        self._cursor = max(0, min(at, page.total - 1))
        self._top = self._cursor - below_top
        self._keep_in_view()
        self.redraw()
        if other_size:
            self.refresh(layout=True)
        self.post_message(Moved(self.id or ""))

    def forget(self) -> None:
        """Hold nothing."""
        self._page, self._cursor, self._top = None, 0, 0
        self.redraw()

    # Moving

    def move(self, rows: int) -> None:
        """So many rows down, or up."""
        if self._page is None or not self._page.rows:
            return
        held_from, held_to = self._page.first, self._page.first + len(self._page.rows) - 1
        self._stand_on(max(held_from, min(self._cursor + rows, held_to)))

    def move_page(self, direction: int) -> None:
        """A screenful down (1) or up (-1)."""
        self.move(direction * max(1, self.visible_rows - 1))

    def to_first(self) -> None:
        """The first row of all."""
        if self._page is None:
            return
        if self._page.first == 0:
            self._stand_on(0)
        else:
            self.forget()
            self.post_message(Wanted(self.id or ""))

    def to_last(self) -> None:
        """The last row of all."""
        if self._page is None:
            return
        if self._page.first + len(self._page.rows) == self._page.total:
            self._stand_on(max(0, self._page.total - 1))
        else:
            self._wants_end = True
            self.post_message(Wanted(self.id or ""))

    def _stand_on(self, ordinal: int) -> None:
        page = self._page
        if page is None or ordinal == self._cursor:
            return
        self._cursor = ordinal
        self._keep_in_view()
        self.redraw()
        self.post_message(Moved(self.id or ""))
        to_start, to_end = ordinal - page.first, page.first + len(page.rows) - 1 - ordinal
        more_before = page.first > 0 and to_start < MARGIN
        more_after = page.first + len(page.rows) < page.total and to_end < MARGIN
        if more_before or more_after:
            self.post_message(Wanted(self.id or ""))

    def _keep_in_view(self) -> None:
        rows = self.visible_rows
        if not self._top <= self._cursor < self._top + rows:
            self._top = self._cursor if self._cursor < self._top else self._cursor - rows + 1
        self._top = max(0, min(self._top, self.total - rows))

    # Drawing

    @property
    def row_lines(self) -> int:
        """Lines that a row takes now."""
        return max(
            1, self.painter.lines_of_a_row(self.size.width, self._room(), max(1, self.total))
        )

    @property
    def visible_rows(self) -> int:
        """How many rows are seen at once."""
        return max(1, self._room() // self.row_lines)

    def _room(self) -> int:
        """Lines for rows: where not all of them fit, the foot says so and takes one too."""
        width, look = self.size.width, self.look
        free = self.size.height - len(self.painter.head(width, look, self.ordering, self.has_focus))
        room = max(1, free - len(self.painter.foot("", width, look)))
        if self.total * max(1, self.painter.lines_of_a_row(width, room, max(1, self.total))) > room:
            room = max(1, free - len(self.painter.foot("rows", width, look)))
        return room

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        look = self.look
        around = [*self.painter.head(width, look, self.ordering, False)]
        around += self.painter.foot("", width, look)
        return len(around) + max(1, self.total)

    def on_resize(self) -> None:
        self._keep_in_view()
        self.redraw()

    def shown(self) -> str:
        """`rows 1–13 of 39`; empty where all are seen."""
        first, last = self._top + 1, min(self._top + self.visible_rows, self.total)
        if self._page is None or (first == 1 and last == self.total):
            return ""
        return f"rows {first:,}{self.look.glyphs.dash}{last:,} of {self.total:,}"

    def made(self, width: int, height: int) -> Sequence[Line]:
        head = [*self.painter.head(width, self.look, self.ordering, self.has_focus)]
        if self._page is None:
            return head
        if not self._page.total:
            return [*head, *self._nothing(self._page, width)]
        body: list[Line] = []
        for ordinal in range(self._top, min(self._top + self.visible_rows, self.total)):
            body += self._row(ordinal, width)
        foot = self.painter.foot(self.shown(), width, self.look)
        body += [BLANK] * (height - len(head) - len(body) - len(foot))
        return [*head, *body, *foot]

    def _nothing(self, page: Page[R], width: int) -> Sequence[Line]:
        if not page.hint:
            return self.painter.nothing(width, self.look)
        hint = self.look.data(f"{page.hint} Esc clears the filter.")
        return [BLANK, *(line(" ", one) for one in wrapped(hint, width - 2))]

    def _row(self, ordinal: int, width: int) -> list[Line]:
        page, lines = self._page, self.row_lines
        assert page is not None
        position = ordinal - page.first
        here = ordinal == self._cursor and self.has_focus
        bar = Span(self.look.glyphs.cursor, Ink.ACCENT) if here else Span(" ")
        if not 0 <= position < len(page.rows):
            return [line(" ", dim(self.look.glyphs.ellipsis))] * lines
        made = [*self.painter.row(page.rows[position], width - 1, self.look, lines)][:lines]
        made += [BLANK] * (lines - len(made))
        whole = [line(bar, one) for one in made]
        return [_filled(lit(one), width) for one in whole] if here else whole

    # Mouse and focus

    def clicked(self, y: int) -> None:
        head = len(self.painter.head(self.size.width, self.look, self.ordering, self.has_focus))
        ordinal = self._top + (y - head) // self.row_lines
        if y < head or ordinal >= self.total:
            return
        if ordinal == self._cursor and self.has_focus:
            self.post_message(Opened(self.id or ""))
            return
        self.focus()
        self._stand_on(ordinal)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_focus(self, event: Focus) -> None:
        self.redraw()

    def on_blur(self, event: Blur) -> None:
        self.redraw()


def _filled(made: Line, width: int) -> Line:
    taken = sum(len(span.text) for span in made)
    return (*made, replace(Span(" " * max(0, width - taken)), lit=True))


def whole(rows: Sequence[R], keys: Sequence[object]) -> Page[R]:
    """All rows of a short list, as a page."""
    marks = tuple(Mark((key,), (), ()) for key in keys)
    return Page(tuple(rows), marks, 0, len(rows), len(rows), 0)
