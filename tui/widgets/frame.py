"""What every screen has in the same place: tabs, crumb, answer, footer, and the toast."""

from __future__ import annotations

from collections.abc import Sequence

from textual.timer import Timer

from tui.actions import BY_NAME
from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import BLANK, Line, Part, Span, bold, cells, dim, fit, line, spread
from tui.look import Look, number
from tui.state import SCREENS, Masthead
from tui.widgets.lined import Lined

WIDE = 100
ALWAYS = ("help", "quit")
TITLES = {name: name.capitalize() for name in SCREENS}


class TabBar(Lined):
    """Which screens there are, which of them this is, and how old the newest record is."""

    def __init__(self, current: str) -> None:
        super().__init__(id="tabs")
        self._current = current
        self._masthead = Masthead()

    def show(self, masthead: Masthead) -> None:
        """What is known of the index now."""
        if masthead != self._masthead:
            self._masthead = masthead
            self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        return [tabs(self._current, self._masthead, self.look, width)]


def tabs(current: str, masthead: Masthead, look: Look, width: int) -> Line:
    """`[1 Overview] 2 Stability  3 Tests  4 Evidence 114  5 Quarantine      7h old`."""
    wide = width >= WIDE
    parts: list[Part] = [bold(" soakboard  ", Ink.DIM) if wide else ""]
    badges = {"evidence": masthead.void, "quarantine": masthead.lapsed}
    for position, name in enumerate(SCREENS, start=1):
        badge = f" {number(badges[name])}" if badges.get(name) else ""
        here = name == current
        opening, closing = ("[", "]") if here else (" ", " ")
        ink = Ink.ACCENT if here else Ink.TEXT
        act = f"{name}"
        parts += [
            Span(f"{opening}", ink, here, act, here),
            Span(f"{position} ", Ink.ACCENT, True, act, here),
            Span(TITLES[name], ink, here, act, here),
            Span(badge, Ink.BROKEN, True, act, here),
            Span(closing, ink, here, act, here),
            " " if wide else "",
        ]
    return spread(line(*parts), line(*_right_of_tabs(masthead, look), " "), width)


def _right_of_tabs(masthead: Masthead, look: Look) -> list[Part]:
    if masthead.doing:
        return [Span(look.data(masthead.doing), Ink.ACCENT)]
    parts: list[Part] = [bold("following ", Ink.ACCENT)] if masthead.following else []
    if masthead.newest is not None:
        old = look.age(masthead.newest)
        parts.append(dim(old if look.utc else f"{old} old"))
    return parts


class Crumb(Lined):
    """Where this is; at the right what is shown of what exists."""

    def __init__(self) -> None:
        super().__init__(id="crumb")
        self._steps: tuple[str, ...] = ()
        self._right: Part = ""
        self._filter = ""

    def show(self, steps: Sequence[str], right: Part, filter: str = "") -> None:
        """steps: the way from the screen to here, of data text."""
        self._steps, self._right, self._filter = tuple(steps), right, filter
        self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        return [crumb(self._steps, self._filter, self._right, self.look, width)]


def crumb(steps: Sequence[str], filter: str, at_right: Part, look: Look, width: int) -> Line:
    """` Tests › port 26411 › class:race ✕        3 of 15`."""
    glyphs = look.glyphs
    parts: list[Part] = [" "]
    for number_, step in enumerate(steps):
        last = number_ == len(steps) - 1
        text = look.data(step)
        parts.append(
            Span(text, Ink.TEXT, bold=True) if last else Span(text, Ink.DIM, act=f"step:{number_}")
        )
        parts.append("" if last else Span(f" {glyphs.crumb} ", Ink.DIM))
    if filter:
        parts += [
            Span(f" {glyphs.crumb} ", Ink.DIM),
            Span(look.data(filter), Ink.ACCENT, act="filter"),
            Span(f" {glyphs.close}", Ink.ACCENT, act="unfilter"),
        ]
    return spread(line(*parts), line(" ", at_right, " "), width, glyphs.ellipsis)


class Answer(Lined):
    """The sentence that answers the screen's question."""

    def __init__(self) -> None:
        super().__init__(id="answer")
        self._forms: Sequence[Line] = (BLANK,)

    def show(self, *parts: Part) -> None:
        """What the screen says."""
        self.show_fitting([line(*parts)])

    def show_fitting(self, forms: Sequence[Line]) -> None:
        """The first of several forms that fits; the last one is cut if it must be."""
        self._forms = forms
        self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        fitting = (form for form in self._forms if cells(form) < width)
        form = next(fitting, self._forms[-1])
        return [fit(line(" ", form), width, self.look.glyphs.ellipsis)]


class Footer(Lined):
    """The keys of this place, in the order of use; what does not apply stands in brackets."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._keys: tuple[tuple[str, str, bool], ...] = ()

    def show(self, keys: Sequence[tuple[str, str, bool]]) -> None:
        """keys: the action, its words here, and whether it applies now."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        return [footer(self._keys, self.look.glyphs, width)]


def footer(keys: Sequence[tuple[str, str, bool]], glyphs: Glyphs, width: int) -> Line:
    """` ↵ open  s sort  (Q quarantine)            ? help  q quit `."""
    always = line(*(_key(name, BY_NAME[name].words, True, glyphs) for name in ALWAYS))
    room = width - cells(always) - 2
    shown: list[Part] = [" "]
    for name, words, applies in keys:
        if name in ALWAYS:
            continue
        made = _key(name, words, applies, glyphs)
        if sum(map(cells, shown)) + cells(made) > room:
            break
        shown.append(made)
    return spread(line(*shown), always, width, glyphs.ellipsis)


def _key(name: str, words: str, applies: bool, glyphs: Glyphs) -> Line:
    key = BY_NAME[name].key(glyphs)
    if not applies:
        return line(Span(f"({key} {words})", Ink.DIM, act=name), "  ")
    return line(
        Span(key, Ink.ACCENT, bold=True, act=name), Span(f" {words}", Ink.TEXT, act=name), "  "
    )


class ToastLine(Lined):
    """One line over the line above the footer, for three seconds."""

    LASTS_S = 3.0

    def __init__(self) -> None:
        super().__init__(id="toast")
        self._text: Line = BLANK
        self._timer: Timer | None = None

    @property
    def text(self) -> str:
        """What is said now; empty for nothing."""
        return "".join(span.text for span in self._text).strip()

    def show(self, text: str) -> None:
        """Say it; a text from data is made harmless."""
        self._text = line(Span(f" {self.look.data(text)}", Ink.ACCENT, bold=True, lit=True))
        self.add_class("-said")
        self.redraw()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.LASTS_S, self._hide)

    def _hide(self) -> None:
        self._text = BLANK
        self.remove_class("-said")

    def made(self, width: int, height: int) -> Sequence[Line]:
        made = fit(self._text, width, self.look.glyphs.ellipsis)
        return [tuple(Span(s.text, s.ink, s.bold, lit=True) for s in made)]
