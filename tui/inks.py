"""Colours by meaning: what a text says decides its ink, the palette decides how that looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rich.style import Style

from analysis.model import UnitClass


class Ink(StrEnum):
    """What a piece of text is."""

    TEXT = "text"
    DIM = "dim"
    HEAD = "head"
    ACCENT = "accent"
    RULE = "rule"
    INVALID = "invalid"
    BROKEN = "broken"
    HARNESS = "harness"
    RACE = "race"
    FLAKE = "flake"
    FAIL = "fail"
    STABLE = "stable"
    UNSURE = "unsure"


OF_CLASS: Mapping[UnitClass, Ink] = {
    UnitClass.INVALID: Ink.INVALID,
    UnitClass.BROKEN: Ink.BROKEN,
    UnitClass.HARNESS: Ink.HARNESS,
    UnitClass.CONSISTENT: Ink.FAIL,
    UnitClass.RACE: Ink.RACE,
    UnitClass.INSUFFICIENT: Ink.UNSURE,
    UnitClass.FLAKE: Ink.FLAKE,
    UnitClass.STABLE: Ink.STABLE,
}


@dataclass(frozen=True)
class Palette:
    """A colour an ink; None leaves it to the terminal. base, panel and cursor are backgrounds;
    without a cursor background the row under the cursor is reversed."""

    name: str
    dark: bool
    inks: Mapping[Ink, str | None]
    base: str | None
    panel: str | None
    cursor: str | None

    def style(self, ink: Ink, *, bold: bool = False, cursor: bool = False) -> Style:
        """How a text of this ink is written."""
        return Style(
            color=self.inks[ink],
            bgcolor=self.cursor if cursor else self.base,
            bold=bold or ink is Ink.HEAD or None,
            reverse=(cursor and self.cursor is None) or None,
        )


DARK = Palette(
    "dark",
    True,
    {
        Ink.TEXT: "#d9e0e6",
        Ink.DIM: "#97a5b2",
        Ink.HEAD: "#b9c6d2",
        Ink.ACCENT: "#7cc7ff",
        Ink.RULE: "#3a4854",
        Ink.INVALID: "#c9a6ff",
        Ink.BROKEN: "#ff8f94",
        Ink.HARNESS: "#ffb066",
        Ink.RACE: "#f0d35a",
        Ink.FLAKE: "#6fc3ff",
        Ink.FAIL: "#ff9ecb",
        Ink.STABLE: "#7ed491",
        Ink.UNSURE: "#b0bac4",
    },
    base="#0e1318",
    panel="#151c23",
    cursor="#22303d",
)

LIGHT = Palette(
    "light",
    False,
    {
        Ink.TEXT: "#1b2228",
        Ink.DIM: "#515c67",
        Ink.HEAD: "#36424d",
        Ink.ACCENT: "#0a56a3",
        Ink.RULE: "#b9b6ae",
        Ink.INVALID: "#6630b0",
        Ink.BROKEN: "#ad1a27",
        Ink.HARNESS: "#8a4100",
        Ink.RACE: "#655100",
        Ink.FLAKE: "#075a94",
        Ink.FAIL: "#9b1d68",
        Ink.STABLE: "#17602c",
        Ink.UNSURE: "#4d5863",
    },
    base="#fbfaf7",
    panel="#f3f1ec",
    cursor="#dde6ef",
)

_SIXTEEN = {
    Ink.ACCENT: ("bright_cyan", "blue"),
    Ink.INVALID: ("magenta", "magenta"),
    Ink.BROKEN: ("bright_red", "red"),
    Ink.HARNESS: ("yellow", "yellow"),
    Ink.RACE: ("bright_yellow", "yellow"),
    Ink.FLAKE: ("bright_blue", "blue"),
    Ink.FAIL: ("bright_magenta", "magenta"),
    Ink.STABLE: ("green", "green"),
}


def sixteen(*, dark: bool) -> Palette:
    """For terminals with 16 colours: the terminal's own background and foreground."""
    column = 0 if dark else 1
    inks = {ink: _SIXTEEN[ink][column] if ink in _SIXTEEN else None for ink in Ink}
    return Palette(f"sixteen-{'dark' if dark else 'light'}", dark, inks, None, None, None)


PLAIN = Palette("plain", True, dict.fromkeys(Ink, None), None, None, None)
"""Under NO_COLOR: bold and reverse only."""
