"""What is excused, on what evidence, until when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult

from tui.inks import Ink
from tui.screens.base import BoardScreen
from tui.widgets.document import Panel
from tui.widgets.notice import Notice


class QuarantineScreen(BoardScreen):
    """The list of quarantined tests; there is none yet."""

    tab = "quarantine"
    question = "what is quarantined, on what evidence, until when?"
    keys = (
        ("tests", "tests"),
        ("filter", "filter"),
        ("copy", "copy command"),
    )

    def compose_body(self) -> ComposeResult:
        yield Panel(id="entries")

    def read_all(self) -> None:
        self.ask("flakes", lambda connection, experiments: list(experiments))

    def show_answer(self, slot: str, value: Sequence[Any]) -> None:
        sign = self.board.look.glyphs.stable
        self.notice(
            Notice(
                title=f"{sign} Nothing is quarantined: no failure is excused.",
                text=(
                    "Only a test flake (row 4a or 4b) with complete stress evidence may ever be "
                    "excused, for a limited time. These tests have that class now:",
                ),
                hints=(
                    ("3 then /class:flake", "the tests that are flaky by themselves"),
                    ("tui attribute", "the same on the command line, with reasons"),
                ),
                ink=Ink.STABLE,
                copy="tui attribute",
            )
        )
