"""One test on one patch: whose fault it is, and what that rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from textual.app import ComposeResult

from analysis.queries.attributions import UnitKey
from analysis.queries.detail import TestDetail, detail_of
from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import Part, cells, dim
from tui.look import Look, number
from tui.screens.base import BoardScreen
from tui.screens.detail_lines import TIMELINE, answer, freezing, sections
from tui.screens.run import RunScreen
from tui.widgets.document import Document, Section
from tui.widgets.frame import WIDE, Answer
from tui.widgets.notice import Notice

_CRUMB_CELLS = 20


class DetailDocument(Document):
    """The detail as a text; a section can be brought into view by its name."""

    def bring(self, name: str) -> None:
        """Scroll to a section unless it is seen."""
        start = 0
        for section in self._all(self.size.width):
            if section.name == name:
                break
            start += len(section.lines)
        else:
            return
        length = len(section.lines)
        if not self._top <= start <= self._top + self.size.height - 1 - min(length, 4):
            self._to(start)


class DetailScreen(BoardScreen):
    """position: the place of the test among `total` rows of the list beneath, from 1."""

    tab = "tests"
    what = "attribution"
    question = "why does this test have this class?"
    keys = (
        ("panel", "section"),
        ("right", "failure"),
        ("copy", "copy"),
        ("freeze", "quarantine"),
        ("back", "back"),
        ("open", "run"),
        ("export", "export"),
        ("refresh", "refresh"),
    )
    signs = (
        "ARMS: the patch with its two-sided 95 % interval, and green's point.",
        "WHY: the first row of the table that matches decides; ? could not be judged.",
        "TIMELINE: real times of one failing execution, and who held a resource with it.",
    )

    def __init__(self, key: UnitKey, position: int = 1, total: int = 1) -> None:
        super().__init__()
        self._key, self._position, self._total = key, position, total
        self._found: TestDetail | None = None
        self._failure = 0

    def compose(self) -> ComposeResult:
        beneath = self._beneath()
        if beneath is not None:
            self.tab = beneath.tab
        yield from super().compose()

    def compose_body(self) -> ComposeResult:
        yield DetailDocument(id="detail")

    def _beneath(self) -> BoardScreen | None:
        stack = self.board.screen_stack
        place = stack.index(self) if self in stack else len(stack)
        found = stack[place - 1] if place else None
        return found if isinstance(found, BoardScreen) else None

    @property
    def document(self) -> DetailDocument:
        """The text."""
        return self.query_one(DetailDocument)

    # Reading

    def read_all(self) -> None:
        key, failure = self._key, self._failure
        self.ask("detail", lambda connection, _: detail_of(connection, key, failure))

    def show_answer(self, slot: str, value: Any) -> None:
        first, self._found = self._found is None, value
        if value is None:
            self.notice(_gone(self._key))
            return
        found: TestDetail = value
        self._failure = 0 if found.timeline is None else found.timeline.failure.number
        self.query_one(Answer).show_fitting(answer(found.unit, self.board.look))
        self.document.show(_laid_out(found), stay=not first)

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._found is not None:
            self.query_one(Answer).show_fitting(answer(self._found.unit, self.board.look))

    # Showing

    def steps(self) -> Sequence[str]:
        beneath = self._beneath()
        above = ["Tests"] if beneath is None else [*beneath.steps()]
        taken = sum(cells(self.board.look.data(step)) + 3 for step in above)
        room = self.size.width - taken - cells(self.shown()) - 4
        return [*above, self.board.look.test(self._key.test_id, max(12, room))]

    def shown(self) -> Part:
        look, key = self.board.look, self._key
        named = [look.middle(look.data(key.experiment), _CRUMB_CELLS)]
        if self.size.width >= WIDE:
            named.append(look.middle(look.data(key.patch_id), _CRUMB_CELLS))
        if key.variant is not None:
            named.append(look.middle(look.data(key.variant), _CRUMB_CELLS // 2))
        if self._total > 1:
            named.append(f"{number(self._position)} of {number(self._total)}")
        return dim(f" {look.glyphs.dot} ".join(named))

    # Actions

    def refusal(self, name: str) -> str:
        shown = None if self._found is None else self._found.timeline
        if name in ("left", "right", "open") and shown is None:
            return "No failure of it is on record."
        if name in ("left", "right") and shown is not None and shown.failures == 1:
            return "It failed once."
        if name == "right" and shown is not None and self._failure >= shown.failures - 1:
            return f"This is the last of {number(shown.failures)} failures."
        if name == "left" and self._failure == 0:
            return "This is the first failure."
        if name == "freeze":
            return "Nothing is read yet." if self._found is None else freezing(self._found.unit)
        if name in ("pick", "everything", "compare"):
            return "This is about one test; Esc goes back to the list."
        return ""

    def do_open(self) -> None:
        """The run of the failure on the time axis."""
        if self._found is not None and self._found.timeline is not None:
            run = self._found.timeline.failure.run_id
            path = (self._key.test_id,)
            self.board.push_screen(RunScreen(self.tab, path, self._key.experiment, (run,), 0))

    def do_right(self) -> None:
        self._step(1)

    def do_left(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        self._failure += by
        self.document.bring(TIMELINE)
        self.read_all()
        self.refresh_frame()

    def panels(self) -> int:
        """Tab goes from heading to heading."""
        return 2

    def do_panel(self) -> None:
        self.document.to_section(1)

    def do_panel_back(self) -> None:
        self.document.to_section(-1)

    def do_back(self) -> None:
        self.board.pop_screen()

    def copied(self) -> str:
        if self._found is None or self._found.command is None:
            return self._key.test_id
        return self._found.command


def _laid_out(found: TestDetail) -> Callable[[int, Look], Sequence[Section]]:
    """The sections for a width, made once: they may be thousands of lines, and every key that
    scrolls asks for them. Nothing in them is an age."""

    @lru_cache(maxsize=2)
    def made(width: int, glyphs: Glyphs) -> Sequence[Section]:
        return sections(found, width, Look(glyphs))

    return lambda width, look: made(width, look.glyphs)


def _gone(key: UnitKey) -> Notice:
    return Notice(
        title="This test is not in the index any more.",
        text=(
            f"{key.test_id} on {key.patch_id} in {key.experiment}: its log was removed, or the "
            "experiment is judged otherwise now.",
        ),
        hints=(("Esc", "back to the list"),),
        ink=Ink.HEAD,
        copy=key.test_id,
    )
