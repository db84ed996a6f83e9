"""The bar that takes the place of the crumb while a filter is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.lines import Part, line
from tui.widgets.document import Panel

DEBOUNCE_S = 0.15


class FilterInput(Input):
    """Typing goes in; what moves rows or ends typing is told."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "say('escape')", show=False),
        Binding("down", "say('down')", show=False),
        Binding("up", "say('up')", show=False),
        Binding("tab", "say('tab')", show=False),
    ]

    @dataclass
    class Said(Message):
        """A key that is no text."""

        key: str

    def action_say(self, key: str) -> None:
        """Tell of a key."""
        self.post_message(self.Said(key))


class FilterBar(Horizontal):
    """`/ class:race                       3 of 15 causes, 8 of 82 rows`."""

    @dataclass
    class Changed(Message):
        """The filter, once nothing was typed for a moment."""

        text: str

    @dataclass
    class Closed(Message):
        """Typing is over; the filter stays."""

    @dataclass
    class Completing(Message):
        """Tab: the text is to be completed."""

        text: str

    @dataclass
    class Moved(Message):
        """The rows are to be moved."""

        rows: int

    def __init__(self) -> None:
        super().__init__(id="filterbar")
        self._count = Panel(id="filtercount")
        self._sign = Panel(id="filtersign")
        self._input = FilterInput(id="filterinput", select_on_focus=False, compact=True)
        self._pending = 0
        self.is_open = False

    def compose(self) -> ComposeResult:
        yield self._sign
        yield self._input
        yield self._count

    def on_mount(self) -> None:
        self._sign.show(lambda width, height, look: [line(" / ")])

    def open(self, text: str) -> None:
        """Begin with the filter that holds."""
        self.is_open = True
        self._input.value = text
        self._input.cursor_position = len(text)
        # At once: `focus` waits for a turn, and a key may be typed before that.
        self.screen.set_focus(self._input)

    def count(self, part: Part) -> None:
        """What the filter leaves, at the right."""
        self._count.show(lambda width, height, look: [line(" ", part)])

    def complete(self, text: str) -> None:
        """The text, completed."""
        self._input.value = text
        self._input.cursor_position = len(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Wait a moment for more."""
        event.stop()
        self._pending += 1
        serial = self._pending
        self.set_timer(DEBOUNCE_S, lambda: self._settled(serial))

    def _settled(self, serial: int) -> None:
        if serial == self._pending and self.is_open:
            self.post_message(self.Changed(self._input.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter keeps the filter."""
        event.stop()
        self._close()

    def on_filter_input_said(self, event: FilterInput.Said) -> None:
        """Esc clears, then closes; arrows move the rows."""
        event.stop()
        if event.key == "tab":
            self.post_message(self.Completing(self._input.value))
        elif event.key in ("down", "up"):
            self.post_message(self.Moved(1 if event.key == "down" else -1))
        elif self._input.value:
            self._input.value = ""
        else:
            self._close()

    def _close(self) -> None:
        # What was typed last holds, also where it was not waited for.
        self._pending += 1
        self.is_open = False
        self.post_message(self.Changed(self._input.value))
        self.post_message(self.Closed())
