"""One row a (patch, test), or one line a cause: whose fault is it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textual.app import ComposeResult

from analysis.queries import causes
from analysis.queries.causes import CauseRow, Group, UnitLine
from analysis.queries.filters import complete
from analysis.queries.paging import Page
from tui.lines import Part
from tui.look import number, plural
from tui.screens.base import BoardScreen
from tui.screens.tests_lines import CausePainter, UnitPainter, answer, preview
from tui.state import Ordering
from tui.widgets.document import Panel
from tui.widgets.frame import Answer
from tui.widgets.row_list import RowList

ROWS = "tests-rows"


class TestsScreen(BoardScreen):
    """The list of tests, grouped by what is behind them, and a preview of the row under the
    cursor."""

    __test__ = False

    tab = "tests"
    what = "attribution"
    question = "whose fault is it, and why?"
    keys = (
        ("open", "open"),
        ("sort", "sort"),
        ("group", "group"),
        ("filter", "filter"),
        ("copy", "copy"),
        ("freeze", "quarantine"),
        ("export", "export"),
        ("pick", "experiment"),
        ("compare", "compare"),
        ("refresh", "refresh"),
    )
    signs = (
        "COMPANY: failed / executed with other runs beside it. ALONE: in a fresh namespace.",
        "One line is one cause; N rows are behind it. b groups otherwise.",
    )

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._grouping = causes.GROUPINGS[0]
        self._group: Group | None = None
        self._outer = Ordering()
        self._totals: causes.Totals | None = None
        self._pending_test: str | None = None

    def compose_body(self) -> ComposeResult:
        yield RowList[Any](CausePainter(self._grouping), id=ROWS)
        yield Panel(id="tests-preview")

    @property
    def rows(self) -> RowList[Any]:
        """The list."""
        return self.query_one(f"#{ROWS}", RowList)

    def on_mount(self) -> None:
        start = self.board.start
        self._pending_test = start.test
        if start.screen == self.tab and start.filter:
            self.rows.ordering = Ordering(filter=start.filter)
            if start.test is not None:
                self._show_units(None)
        super().on_mount()

    # Reading

    def read_all(self) -> None:
        self.ask("totals", causes.units_total)
        self.read_list(ROWS)

    def read_list(self, list_id: str) -> None:
        request, grouping, group = self.page_request(self.rows), self._grouping, self._group
        if self._lists_units:
            self.ask(
                "rows",
                lambda connection, names: causes.unit_page(connection, names, request, group),
            )
        else:
            self.ask(
                "rows",
                lambda connection, names: causes.cause_page(connection, names, grouping, request),
            )

    def show_answer(self, slot: str, value: Any) -> None:
        if slot == "totals":
            self._totals = value
            self.query_one(Answer).show(
                answer(value.flakes, value.need_fix, value.need_runs, value.hold, self.board.look)
            )
            return
        page: Page[Any] = value
        self.rows.show(page)
        if self._pending_test is not None and page.rows:
            self._pending_test = None
            self.do_open()

    def sortable(self, list_id: str) -> Sequence[str]:
        return causes.UNIT_COLUMNS if self._lists_units else causes.CAUSE_COLUMNS

    def completed(self, text: str) -> str:
        offered = complete(text, causes.FIELDS)
        return offered[0] if len(offered) == 1 else text

    # Showing

    @property
    def _lists_units(self) -> bool:
        return self._group is not None or self._grouping == "none"

    def steps(self) -> Sequence[str]:
        if self._group is None:
            return ["Tests"]
        return ["Tests", self._group.label or str(self._group.unit_class)]

    def shown(self) -> Part:
        page = self.rows.page
        if page is None:
            return ""
        ordering = self.rows.ordering
        unit = "row" if self._lists_units else _WORDS[self._grouping]
        many = "classes" if unit == "class" else f"{unit}s"
        found = plural(page.total, unit, many)
        if ordering.filter:
            found = f"{number(page.total)} of {plural(page.everything, unit, many)}"
        elif self._totals is not None and not self._lists_units:
            found = f"{plural(self._totals.units, 'row')} as {found}"
        arrow = self.board.look.glyphs.up if ordering.reverse else self.board.look.glyphs.down
        order = f"sorted by {ordering.sort or 'what to do'} {arrow}"
        return self.board.look.status(page.hint or found, "" if page.hint else order)

    def on_moved(self, event: Any) -> None:
        row = self.rows.current
        panel = self.query_one("#tests-preview", Panel)
        if row is None:
            panel.show(lambda width, height, look: [])
        else:
            panel.show(lambda width, height, look: preview(row, width, height, look))
        super().on_moved(event)

    # Actions

    def refusal(self, name: str) -> str:
        row = self.rows.current if self.is_mounted else None
        if name in ("open", "copy", "freeze") and row is None:
            return "There is no row here."
        if name == "group" and self._group is not None:
            return "These rows are one group; Esc goes back to the groups."
        return ""

    def do_open(self) -> None:
        row = self.rows.current
        if isinstance(row, UnitLine):
            self.board.open_detail(row.key, self.rows.cursor + 1, self.rows.total)
        elif isinstance(row, CauseRow) and row.units == 1:
            self.board.open_detail(row.sample, 1, 1)
        elif isinstance(row, CauseRow):
            self._show_units(Group(self._grouping, row.unit_class, row.key))

    def _show_units(self, group: Group | None) -> None:
        if group is None:
            self._grouping = "none"
        else:
            self._outer = self.rows.ordering
            self._group = group
        self.rows.painter = UnitPainter()
        self._restart(replace(self.rows.ordering, sort="", reverse=False))

    def _show_groups(self, grouping: str, ordering: Ordering) -> None:
        self._grouping, self._group = grouping, None
        self.rows.painter = UnitPainter() if grouping == "none" else CausePainter(grouping)
        self._restart(ordering)

    def _restart(self, ordering: Ordering) -> None:
        self.rows.forget()
        self.rows.ordering = ordering
        self.read_list(ROWS)
        self.refresh_frame()

    def open_with(self, text: str) -> None:
        """Show what a filter leaves, grouped by cause."""
        self._show_groups(causes.GROUPINGS[0], Ordering(filter=text))

    def open_cause(self, cause: CauseRow) -> None:
        """Show the tests behind a cause."""
        self._show_groups(causes.GROUPINGS[0], Ordering())
        self._show_units(Group(causes.GROUPINGS[0], cause.unit_class, cause.key))

    def do_freeze(self) -> None:
        row = self.rows.current
        if row is not None:
            self.board.freeze(row.key if isinstance(row, UnitLine) else row.sample)

    def do_group(self) -> None:
        names = causes.GROUPINGS
        following = names[(names.index(self._grouping) + 1) % len(names)]
        self._show_groups(following, Ordering(filter=self.rows.ordering.filter))
        self.toast("Not grouped." if following == "none" else f"Grouped by {following}.")

    def do_back(self) -> None:
        if self._group is not None:
            self._show_groups(self._grouping, self._outer)
        else:
            super().do_back()

    def copied(self) -> str:
        row = self.rows.current
        if isinstance(row, UnitLine):
            return row.key.test_id
        return row.sample.test_id if isinstance(row, CauseRow) else ""


_WORDS = {"cause": "cause", "patch": "patch", "soak": "soak", "class": "class"}
