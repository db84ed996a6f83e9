"""A screen to be read: one document on top of another screen."""

from __future__ import annotations

from tui.screens.base import BoardScreen
from tui.widgets.document import Document

BEFORE = ("pick", "everything", "compare", "export")
"""What belongs to the screen beneath."""


class PageScreen(BoardScreen):
    """Tab goes from heading to heading, Esc back to where it was opened."""

    def refusal(self, name: str) -> str:
        return "Esc goes back to the screen first." if name in BEFORE else ""

    def panels(self) -> int:
        """Tab is at home here, however many parts there are."""
        return 2

    def do_panel(self) -> None:
        self.query_one(Document).to_section(1)

    def do_panel_back(self) -> None:
        self.query_one(Document).to_section(-1)

    def do_back(self) -> None:
        self.board.pop_screen()
