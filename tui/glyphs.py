"""The signs of the dashboard: one cell each, none with an emoji form, and what replaces them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from analysis.model import UnitClass


@dataclass(frozen=True)
class Glyphs:
    """One sign a meaning. `ellipsis`, `at_most` and `at_least` may take two cells."""

    invalid: str = "⊘"
    broken: str = "◆"
    harness: str = "▲"
    race: str = "⇄"
    flake: str = "≈"
    consistent: str = "✗"
    stable: str = "✓"
    unsure: str = "?"
    passed: str = "·"
    failed: str = "✗"
    none: str = "–"
    lapsed: str = "!"
    reject: str = "!"
    active: str = "◷"
    unlocked: str = "↺"
    revoked: str = "⊗"
    pending: str = "◌"
    cursor: str = "▌"
    match: str = "▸"
    point: str = "●"
    control: str = "○"
    span_left: str = "├"
    span: str = "─"
    span_right: str = "┤"
    bar: str = "▆"
    light_bar: str = "░"
    run_bar: str = "━"
    ellipsis: str = "…"
    down: str = "▾"
    up: str = "▴"
    enter: str = "↵"
    crumb: str = "›"
    dot: str = "·"
    times: str = "×"
    at_most: str = "≤"
    at_least: str = "≥"
    right: str = "→"
    left: str = "←"
    rule: str = "─"
    column: str = "│"
    dash: str = "–"
    close: str = "✕"
    caret: str = "▏"
    levels: str = "▁▂▃▄▅▆▇█"
    top_left: str = "╭"
    top_right: str = "╮"
    bottom_left: str = "╰"
    bottom_right: str = "╯"
    plot_marker: str = "hd"
    ascii_only: bool = False

    def of_class(self, unit_class: UnitClass) -> str:
        """The sign of a class."""
        names: Mapping[UnitClass, str] = {
            UnitClass.INVALID: self.invalid,
            UnitClass.BROKEN: self.broken,
            UnitClass.HARNESS: self.harness,
            UnitClass.CONSISTENT: self.consistent,
            UnitClass.RACE: self.race,
            UnitClass.INSUFFICIENT: self.unsure,
            UnitClass.FLAKE: self.flake,
            UnitClass.STABLE: self.stable,
        }
        return names[unit_class]


UNICODE = Glyphs()

ASCII = Glyphs(
    invalid="0",
    broken="#",
    harness="^",
    race="&",
    flake="~",
    consistent="x",
    stable="+",
    unsure="?",
    passed=".",
    failed="x",
    none="-",
    active="o",
    unlocked="u",
    revoked="X",
    pending="_",
    cursor=">",
    match=">",
    point="*",
    control="o",
    span_left="[",
    span="-",
    span_right="]",
    bar="#",
    light_bar=".",
    run_bar="=",
    ellipsis="~",
    down="v",
    up="^",
    enter="Enter",
    crumb=">",
    dot=".",
    times="x",
    at_most="<=",
    at_least=">=",
    right=">",
    left="<",
    rule="-",
    column="|",
    dash="-",
    close="x",
    caret="_",
    levels="01234567",
    top_left="+",
    top_right="+",
    bottom_left="+",
    bottom_right="+",
    plot_marker="*",
    ascii_only=True,
)

_WIDE_LANGUAGES = ("zh", "ja", "ko")


def glyphs_for(environment: Mapping[str, str] | None = None, *, ascii_only: bool = False) -> Glyphs:
    """ASCII where it is asked for, where the locale is not UTF-8, or where signs of ambiguous
    width take two cells."""
    env = os.environ if environment is None else environment
    named = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    is_utf8 = "utf8" in named.lower().replace("-", "")
    if ascii_only or (named and not is_utf8) or named.lower().startswith(_WIDE_LANGUAGES):
        return ASCII
    return UNICODE
