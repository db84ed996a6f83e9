"""Did it help? Two experiments beside each other, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult

from analysis.config import Policy
from analysis.queries.attributions import UnitKey
from analysis.queries.compared import ComparedTest
from analysis.queries.compared_page import COLUMNS, FIELDS, compared_page, comparing
from analysis.queries.comparison import Comparison, compare
from analysis.queries.filters import complete
from tui.lines import Part, dim
from tui.look import number, plural
from tui.screens.base import BoardScreen
from tui.screens.comparison_lines import ComparedPainter, answer, below, sides
from tui.widgets.document import Panel
from tui.widgets.frame import Answer
from tui.widgets.row_list import RowList

ROWS = "compared"


class ComparisonScreen(BoardScreen):
    """before, after: names of experiments. alpha: the error level of the policy."""

    tab = "tests"
    question = "did the fix help?"
    keys = (
        ("open", "open"),
        ("sort", "sort"),
        ("filter", "filter"),
        ("copy", "copy command"),
        ("back", "back"),
        ("refresh", "refresh"),
    )
    signs = (
        "Like is compared with like: the same arms and roles, over all of them together.",
        "p is two-sided. Worse, better and fixed are more than noise among all tests here.",
        "Fixed: it failed, it does not any more, and it ran often enough for that to say so.",
    )

    def __init__(self, before: str, after: str, alpha: float = Policy().alpha) -> None:
        super().__init__()
        self._before, self._after, self._alpha = before, after, alpha
        self._found: Comparison | None = None

    def compose_body(self) -> ComposeResult:
        yield Panel(id="compared-sides")
        yield RowList[ComparedTest](ComparedPainter(), id=ROWS)
        yield Panel(id="compared-below")

    @property
    def rows(self) -> RowList[ComparedTest]:
        """The list."""
        return self.query_one(f"#{ROWS}", RowList)

    # Reading

    def read_all(self) -> None:
        before, after, alpha = self._before, self._after, self._alpha
        self.ask("comparison", lambda connection, _: compare(connection, before, after, alpha))

    def read_list(self, list_id: str) -> None:
        if self._found is not None:
            self.rows.show(compared_page(self._found.tests, self.page_request(self.rows)))

    def show_answer(self, slot: str, value: Any) -> None:
        found: Comparison = value
        self._found = found
        self.query_one(Answer).show_fitting(answer(found, self.board.look))
        panel = self.query_one("#compared-sides", Panel)
        panel.styles.height = len(sides(found, self.size.width, self.board.look))
        panel.show(lambda width, height, look: sides(found, width, look))
        self.read_list(ROWS)

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._found is not None:
            self.query_one(Answer).show_fitting(answer(self._found, self.board.look))

    def sortable(self, list_id: str) -> Sequence[str]:
        return tuple(COLUMNS)

    def completed(self, text: str) -> str:
        offered = complete(text, FIELDS)
        return offered[0] if len(offered) == 1 else text

    # Showing

    def steps(self) -> Sequence[str]:
        look = self.board.look
        room = max(12, self.size.width // 5)
        names = [look.middle(look.data(name), room) for name in (self._before, self._after)]
        return ["Tests", f"{names[0]} {look.glyphs.right} {names[1]}"]

    def shown(self) -> Part:
        page = self.rows.page
        if page is None:
            return ""
        if page.hint:
            return page.hint
        ordering, glyphs = self.rows.ordering, self.board.look.glyphs
        found = plural(page.total, "test")
        if ordering.filter:
            found = f"{number(page.total)} of {plural(page.everything, 'test')}"
        arrow = glyphs.up if ordering.reverse else glyphs.down
        return dim(f"{found} {glyphs.dot} by {ordering.sort or 'change'} {arrow}")

    def on_moved(self, event: Any) -> None:
        found, row = self._found, self.rows.current
        if found is not None:
            self.query_one("#compared-below", Panel).show(
                lambda width, height, look: below(found, row, width, height, look)
            )
        super().on_moved(event)

    # Actions

    def refusal(self, name: str) -> str:
        if name in ("pick", "everything"):
            return "This is about two experiments; Esc goes back to the tests."
        if name == "open" and (not self.is_mounted or self.rows.current is None):
            return "There is no test here."
        return ""

    def do_open(self) -> None:
        row = self.rows.current
        if row is None:
            return
        # What is gone has a detail in the experiment before only.
        experiment, side = (
            (self._before, row.before) if row.after is None else (self._after, row.after)
        )
        if side is not None:
            key = UnitKey(experiment, side.patch_id, side.test_id, row.variant)
            self.board.open_detail(key, self.rows.cursor + 1, self.rows.total)

    def do_back(self) -> None:
        if self.rows.ordering.filter:
            super().do_back()
        else:
            self.board.pop_screen()

    def copied(self) -> str:
        return comparing(self._before, self._after) or ""
