"""What stands in the place of rows: nothing yet, nothing to see, or what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tui.inks import Ink
from tui.lines import BLANK, Line, Span, bold, cells, dim, line, wrapped
from tui.look import Look
from tui.widgets.lined import Lined

MARGIN = 10
MOST_CELLS = 76


@dataclass(frozen=True)
class Notice:
    """title: one sentence; text: sentences under it; hints: what to do, as (label, command or
    key, words); detail: the raw words, last and dim. ink: of the title."""

    title: str
    text: tuple[str, ...] = ()
    hints: tuple[tuple[str, str], ...] = ()
    detail: str = ""
    ink: Ink = Ink.HEAD
    copy: str = ""


class NoticeBoard(Lined):
    """Shows a notice in the middle of a screen."""

    can_focus = True

    def __init__(self) -> None:
        super().__init__(id="notice")
        self._notice: Notice | None = None

    @property
    def notice(self) -> Notice | None:
        """What is shown."""
        return self._notice

    def show(self, notice: Notice) -> None:
        """Show another notice."""
        self._notice = notice
        self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        if self._notice is None:
            return []
        lines = notice_lines(self._notice, width, self.look)
        above = max(0, (height - len(lines)) // 3)
        return [*([BLANK] * above), *lines]


def notice_lines(notice: Notice, width: int, look: Look) -> list[Line]:
    """The lines of a notice, set in from the left."""
    margin = " " * min(MARGIN, max(1, (width - 60) // 2))
    room = min(MOST_CELLS, width - 2 * len(margin))
    title = [line(bold(look.data(text), notice.ink)) for text in _folded(notice.title, room)]
    made: list[Line] = [*title, BLANK]
    for text in notice.text:
        made += [*wrapped(look.data(text), room), BLANK]
    widest = max((cells(look.data(label)) for label, _ in notice.hints), default=0)
    for label, words in notice.hints:
        label = look.data(label)
        gap = " " * (widest - cells(label) + 3)
        made.append(line("  ", Span(label, Ink.ACCENT, bold=True), gap, look.data(words)))
    if notice.detail:
        made += [BLANK, *(line(dim(one)) for one in _folded(look.data(notice.detail), room))]
    return [line(margin, one) for one in made]


def _folded(text: str, room: int) -> list[str]:
    return ["".join(span.text for span in one) for one in wrapped(text, room, most=6)]
