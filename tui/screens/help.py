"""Every key, and what the signs of the screen beneath mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.actions import ACTIONS, Group
from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import BLANK, Line, Span, beside, bold, dim, line, wrapped
from tui.screens.base import BoardScreen
from tui.screens.modal import Box, Modal

_KEY_CELLS = 11


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
        glyphs = self.look.glyphs
        left = [*_group(Group.MOVE, glyphs), BLANK, *_group(Group.TIME, glyphs)]
        right = [*_group(Group.DO, glyphs), BLANK, *_group(Group.FIND, glyphs)]
        return [
            *beside(left, right, half, 2),
            BLANK,
            line(bold("THIS SCREEN ", Ink.HEAD), self._about.question),
            *(line(one) for sign in self._about.signs for one in wrapped(sign, width)),
            *wrapped(_bounds(glyphs), width, Ink.DIM),
            line(dim("Data is copied with y; Esc closes this.")),
        ]


def _bounds(glyphs: Glyphs) -> str:
    return (
        "k/n is failed / executed. Bounds hold with 95 %, Clopper-Pearson: "
        f"{glyphs.at_most} and {glyphs.at_least} one-sided, [low, high] two-sided."
    )


def _group(group: Group, glyphs: Glyphs) -> list[Line]:
    actions = [one for one in ACTIONS if one.group is group]
    return [
        line(bold(group.value, Ink.HEAD)),
        *(
            line(Span(one.all_keys(glyphs).ljust(_KEY_CELLS), Ink.ACCENT, bold=True), one.help)
            for one in actions
        ),
    ]
