"""Every key, and what the signs of the screen beneath mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.actions import ACTIONS, Group
from tui.inks import Ink
from tui.lines import BLANK, Line, Span, beside, bold, dim, line, wrapped
from tui.screens.base import BoardScreen
from tui.screens.modal import Box, Modal

_KEY_CELLS = 10
BOUNDS = "k/n is failed / executed. Bounds hold with 95 %, Clopper-Pearson: ≤ and ≥ one-sided, "
BOUNDS += "[low, high] two-sided."


class HelpScreen(Modal):
    """The keys in groups, then the screen's own signs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1,q", "close", show=False)]

    def __init__(self, about: BoardScreen) -> None:
        super().__init__()
        self._about = about

    def box(self) -> Box:
        return HelpBox(self._about)


class HelpBox(Box):
    """What stands in the help."""

    def __init__(self, about: BoardScreen) -> None:
        super().__init__(f"Help: {about.tab.capitalize()}")
        self._about = about

    def inside(self, width: int) -> Sequence[Line]:
        half = (width - 2) // 2
        left = [*_group(Group.MOVE), BLANK, *_group(Group.TIME)]
        right = [*_group(Group.DO), BLANK, *_group(Group.FIND)]
        return [
            *beside(left, right, half, 2),
            BLANK,
            line(bold("THIS SCREEN ", Ink.HEAD), self._about.question),
            *(line(one) for sign in self._about.signs for one in wrapped(sign, width)),
            *wrapped(BOUNDS, width, Ink.DIM),
            line(dim("Data is copied with y; Esc closes this.")),
        ]


def _group(group: Group) -> list[Line]:
    actions = [one for one in ACTIONS if one.group is group]
    return [
        line(bold(group.value, Ink.HEAD)),
        *(
            line(Span(one.shown.ljust(_KEY_CELLS), Ink.ACCENT, bold=True), one.help)
            for one in actions
        ),
    ]
