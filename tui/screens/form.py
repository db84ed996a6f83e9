"""A box that asks for a few texts, and one that only tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import Input

from tui.inks import Ink
from tui.lines import BLANK, Line, Span, bold, dim, line, wrapped
from tui.look import Look
from tui.screens.modal import WIDTH, Box, Modal

Lines = Callable[[int, Look], Sequence[Line]]
"""Lines for a width."""


@dataclass(frozen=True)
class Field:
    """A text that is asked for. needed: it may not be blank."""

    name: str
    label: str
    text: str = ""
    needed: bool = True


class TellingBox(Box):
    """Lines in a box."""

    def __init__(self, title: str, lines: Lines) -> None:
        super().__init__(title)
        self._lines = lines

    def inside(self, width: int) -> Sequence[Line]:
        return [*self._lines(width, self.look), BLANK, line(dim("Esc closes this."))]


class TellingScreen(Modal):
    """Says why, and what would change it. copy: what `y` copies."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,q", "close", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, title: str, lines: Lines, copy: str = "") -> None:
        super().__init__()
        self._title_text, self._lines, self._copied = title, lines, copy

    def box(self) -> Box:
        return TellingBox(self._title_text, self._lines)

    def action_copy(self) -> None:
        """Copy the command that does the same."""
        if self._copied:
            self.board.copy_to_clipboard(self._copied)


class FormBox(Box):
    """What is asked, around the places of the inputs."""

    def __init__(self, title: str, intro: Lines, fields: Sequence[Field]) -> None:
        super().__init__(title)
        self._intro, self._fields = intro, fields
        self.complaint = ""

    def label_cells(self) -> int:
        """How wide the labels are."""
        return max(len(field.label) for field in self._fields) + 2

    def first_field(self, width: int) -> int:
        """The line of the first input, from the top of the inside."""
        return len(self._intro(width, self.look)) + 1

    def inside(self, width: int) -> list[Line]:
        made = [*self._intro(width, self.look), BLANK]
        made += [line(bold(field.label, Ink.HEAD)) for field in self._fields]
        made.append(BLANK)
        if self.complaint:
            said = wrapped(self.look.data(self.complaint), width, most=2)
            made += [line(Span(one[0].text, Ink.BROKEN)) for one in said if one]
        else:
            made.append(
                line(dim("Enter: next field; on the last one it is written. Esc: nothing is."))
            )
        return made


class FormScreen(Modal):
    """Asks for texts and gives them to `submit`, once every needed one is there."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    DEFAULT_CSS = """
    FormScreen > Vertical { layers: base over; }
    FormScreen Input { layer: over; height: 1; border: none; padding: 0 1; background: $panel; }
    """

    def __init__(
        self,
        title: str,
        intro: Lines,
        fields: Sequence[Field],
        submit: Callable[[dict[str, str]], None],
    ) -> None:
        super().__init__()
        self._title_text, self._intro, self._fields = title, intro, fields
        self._submit = submit

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FormBox(self._title_text, self._intro, self._fields)
            for field in self._fields:
                yield Input(field.text, id=f"field-{field.name}", compact=True)

    def on_mount(self) -> None:
        self._focus_first_blank()

    def on_resize(self, event: Resize) -> None:
        """The inputs stand in the box, beside their labels."""
        box = self.query_one(FormBox)
        width = min(WIDTH, event.size.width) - 4
        # In their layer they stand below each other from the top of the box.
        for field in self._fields:
            one = self.query_one(f"#field-{field.name}", Input)
            one.styles.offset = (2 + box.label_cells(), 1 + box.first_field(width))
            one.styles.width = width - box.label_cells()

    def _focus_first_blank(self) -> None:
        blank = next((one for one in self._fields if not one.text), self._fields[0])
        self.query_one(f"#field-{blank.name}", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong is being changed."""
        self._complain("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The next field, or all of them."""
        names = [f"field-{field.name}" for field in self._fields]
        place = names.index(event.input.id or "")
        if place + 1 < len(names):
            self.query_one(f"#{names[place + 1]}", Input).focus()
            return
        given = {
            field.name: self.query_one(f"#field-{field.name}", Input).value.strip()
            for field in self._fields
        }
        missing = [one for one in self._fields if one.needed and not given[one.name]]
        if missing:
            self._complain(f"{missing[0].label} is missing.")
            self.query_one(f"#field-{missing[0].name}", Input).focus()
            return
        self.dismiss(None)
        self._submit(given)

    def _complain(self, sentence: str) -> None:
        box = self.query_one(FormBox)
        box.complaint = sentence
        box.redraw()
