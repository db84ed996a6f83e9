"""How a value is written on a screen: with which signs, as age or as time, in how many cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from rich.cells import cell_len, set_cell_size

from analysis.model import UnitClass
from tui.glyphs import UNICODE, Glyphs
from tui.inks import OF_CLASS, Ink
from tui.lines import Line, Span, line
from tui.text import safe


@dataclass(frozen=True)
class Look:
    """Signs, the clock, and whether times are shown as ages or in UTC."""

    glyphs: Glyphs = UNICODE
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    utc: bool = False

    def data(self, text: str) -> str:
        """Text from data, with nothing in it that a terminal obeys."""
        clean = safe(text)
        if self.glyphs.ascii_only and not clean.isascii():
            return clean.encode("ascii", "backslashreplace").decode("ascii")
        return clean

    def cut(self, text: str, cells: int) -> str:
        """The beginning of a text and a mark, in at most `cells` cells."""
        if cell_len(text) <= cells:
            return text
        mark = self.glyphs.ellipsis
        return set_cell_size(text, max(0, cells - len(mark))).rstrip(" ") + mark[: max(0, cells)]

    def middle(self, text: str, cells: int, tail: float = 0.6) -> str:
        """Beginning and end of a text around a mark, in at most `cells` cells; `tail` is the share
        of the end."""
        if cell_len(text) <= cells:
            return text
        room = cells - len(self.glyphs.ellipsis)
        if room < 2:
            return self.cut(text, cells)
        end = min(room - 1, max(1, round(room * tail)))
        return set_cell_size(text, room - end).rstrip(" ") + self.glyphs.ellipsis + _end(text, end)

    def test(self, test_id: str, cells: int) -> str:
        """A test id of which file, parameters and both ends of the name survive longest."""
        whole = self.data(test_id)
        if cell_len(whole) <= cells:
            return whole
        path, colons, name = whole.partition("::")
        if not colons:
            return self.middle(whole, cells)
        directory, slash, file = path.rpartition("/")
        if slash and directory:
            short = f"{self.glyphs.ellipsis}/{file}"
            path = short if len(short) < len(path) else path
            if cell_len(f"{path}::{name}") <= cells:
                return f"{path}::{name}"
            path = file
        stem, bracket, parameters = name.partition("[")
        parameters = bracket + parameters
        room = cells - cell_len(path) - 2
        name_room = max(room - cell_len(parameters), 5)
        stem = self.middle(stem, name_room, 0.5) if cell_len(stem) > name_room else stem
        left = room - cell_len(stem)
        if cell_len(parameters) > left:
            parameters = self.middle(parameters, max(left, 8), 0.4) if parameters else ""
        return self.middle(f"{path}::{stem}{parameters}", cells)

    def path(self, path: str, cells: int) -> str:
        """A path of which the end survives."""
        whole = self.data(path)
        if cell_len(whole) <= cells:
            return whole
        mark = self.glyphs.ellipsis
        return mark[:cells] + _end(whole, max(0, cells - len(mark)))

    def upper(self, rate: float) -> str:
        """An upper bound, rounded up: `≤8%`, under 1 % `≤.3%`."""
        return self.glyphs.at_most + _percent(rate, math.ceil)

    def lower(self, rate: float) -> str:
        """A lower bound, rounded down: `≥78%`."""
        return self.glyphs.at_least + _percent(rate, math.floor)

    def bound(self, k: int, n: int, upper: float, lower: float) -> str:
        """The bound of a rate: the lower one where it never passed, nothing for 0 of 0."""
        if not n:
            return ""
        return self.lower(lower) if k == n else self.upper(upper)

    def age(self, then: datetime | None) -> str:
        """`7h`, or the time in UTC where that is wanted."""
        if then is None:
            return self.glyphs.dash
        return self.time(then) if self.utc else age(self.now - aware(then))

    def ago(self, then: datetime | None) -> str:
        """`7h ago`, or the time in UTC."""
        if then is None:
            return "at an unknown time"
        if self.utc:
            return self.time(then)
        past = self.now - aware(then)
        return f"{age(past)} ago" if past >= timedelta(0) else f"in {age(-past)}"

    @staticmethod
    def time(then: datetime) -> str:
        """`2026-11-30 07:55Z`."""
        return f"{aware(then):%Y-%m-%d %H:%MZ}"

    def status(self, *parts: str) -> str:
        """Parts of a status, with a middle dot between those that are not empty."""
        return f" {self.glyphs.dot} ".join(part for part in parts if part)

    def unit_class(self, unit_class: UnitClass, *, short: bool = False) -> Line:
        """Sign and word of a class, in its ink."""
        word = "insufficient" if short and unit_class is UnitClass.INSUFFICIENT else str(unit_class)
        return line(Span(f"{self.glyphs.of_class(unit_class)} {word}", OF_CLASS[unit_class]))

    def bar(self, value: float, most: float, cells: int, ink: Ink, *, light: bool = False) -> Span:
        """A bar; what is more than nothing has at least one cell."""
        length = 0 if value <= 0 or most <= 0 else max(1, round(cells * min(1.0, value / most)))
        return Span((self.glyphs.light_bar if light else self.glyphs.bar) * length, ink)


def count(k: int, n: int) -> str:
    """Failures of executed."""
    return f"{k}/{n}"


def number(value: int) -> str:
    """In prose: `12,431`."""
    return f"{value:,}"


def short(value: int) -> str:
    """In four cells at most: `9999`, `12k`, `1.3M`. The whole number stands in the detail."""
    if value < 10_000:
        return str(value)
    if value < 1_000_000:
        return f"{value // 1000}k"
    return f"{value / 1e6:.1f}M" if value < 10_000_000 else f"{value // 1_000_000}M"


def plural(value: int, one: str, many: str = "") -> str:
    """`1 run`, `2 runs`."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def percent(rate: float) -> str:
    """`1.9 %`."""
    return f"{100 * rate:.1f} %"


def between(low: float, high: float) -> str:
    """A two-sided interval in per cent: `[0.9, 3.6]`."""
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def aware(then: datetime) -> datetime:
    """Times of the index are in UTC and do not say so."""
    return then.replace(tzinfo=UTC) if then.tzinfo is None else then


def age(span: timedelta) -> str:
    """The largest one or two units: `3d`, `7h`, `1h 17m`, `12m`, `40s`."""
    seconds = max(0, int(span.total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if days >= 2:
        return f"{days}d"
    if hours >= 3:
        return f"{hours}h"
    if hours:
        rest = minutes % 60
        return f"{hours}h {rest}m" if rest else f"{hours}h"
    return f"{minutes}m" if minutes else f"{seconds}s"


def _percent(rate: float, to_whole: Callable[[float], int]) -> str:
    value = 100 * min(1.0, max(0.0, rate))
    # What rounds to the bound itself is the bound: 7.9999999 % is 8 %.
    if value >= 1:
        return f"{to_whole(round(value, 6))}%"
    tenths = to_whole(round(value * 10, 6))
    return "1%" if tenths == 10 else f".{tenths}%" if tenths else "0%"


def _end(text: str, cells: int) -> str:
    start = len(text)
    taken = 0
    while start and taken + cell_len(text[start - 1]) <= cells:
        start -= 1
        taken += cell_len(text[start])
    return text[start:]
