"""Where to write what a screen shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.inks import Ink
from tui.lines import BLANK, Line, Span, bold, dim, line, wrapped
from tui.screens.modal import Box, Modal

_SUFFIXES = (".md", ".html", ".json", ".csv")


class ExportBox(Box):
    """What is written, and what the suffixes mean."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.complaint = ""

    def inside(self, width: int) -> list[Line]:
        formats = (
            ".md a pull request or step summary   .html one page with charts",
            ".json for machines                  .csv for a spreadsheet",
        )
        made = [line(bold("File", Ink.HEAD), dim("  its suffix chooses the format")), BLANK, BLANK]
        made += [line(dim(one)) for one in formats]
        made.append(BLANK)
        if self.complaint:
            made += [
                line(Span(one[0].text, Ink.BROKEN))
                for one in wrapped(self.complaint, width, most=2)
            ]
        else:
            made.append(line(dim("Enter writes it, Esc does not.")))
        return [*made, *([BLANK] * (8 - len(made)))]


class ExportScreen(Modal):
    """Asks for a file; Enter writes it, a second time also over a file that is there."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    DEFAULT_CSS = """
    ExportScreen > Vertical { layers: base over; }
    ExportScreen #target { layer: over; offset: 3 2; width: 70; height: 1; border: none;
        padding: 0 1; background: $panel; }
    """

    def __init__(self, what: str, write: Callable[[Path, bool], None]) -> None:
        super().__init__()
        self._what, self._write = what, write
        self._asked: Path | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            box = ExportBox(f"Export {self._what}")
            yield box
            yield Input(f"soakboard-{self._what}.md", id="target", compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another name is another question."""
        self._complain("")
        self._asked = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write it, unless something speaks against it."""
        target = Path(event.value).expanduser()
        if target.suffix not in _SUFFIXES:
            self._complain(f"The suffix may be {', '.join(_SUFFIXES)}.")
        elif target.exists() and self._asked != target:
            self._asked = target
            self._complain("This file exists. Enter again replaces it.")
        else:
            self.dismiss(None)
            self._write(target, self._asked == target)

    def _complain(self, sentence: str) -> None:
        box = self.query_one(ExportBox)
        box.complaint = sentence
        box.redraw()
