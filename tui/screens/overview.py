"""Can the gate be trusted right now?"""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal

from analysis.quarantine.view import QuarantineView, view
from analysis.queries.detail import explaining
from analysis.queries.overview import Overview, overview
from tui.lines import Part, dim
from tui.look import plural
from tui.messages import Wanted
from tui.screens.base import BoardScreen
from tui.screens.overview_lines import (
    ClassPainter,
    Fact,
    FactPainter,
    Task,
    TaskPainter,
    answer,
    facts_of,
    fitting_tasks,
    history,
)
from tui.widgets.document import Panel
from tui.widgets.frame import Answer
from tui.widgets.row_list import RowList, whole

NEXT, CLASSES, TRUST = "next", "classes", "trust"


class TaskList(RowList[Task]):
    """The next things to do, as many as there is room for."""

    def on_resize(self) -> None:
        self.post_message(Wanted(self.id or ""))


class OverviewScreen(BoardScreen):
    """The answer, what it rests on, and the next things to do."""

    tab = "overview"
    what = "all"
    question = "can the gate be trusted right now?"
    keys = (
        ("open", "open"),
        ("panel", "panel"),
        ("copy", "copy command"),
        ("export", "export"),
        ("pick", "experiment"),
        ("refresh", "refresh"),
        ("follow", "follow"),
        ("palette", "palette"),
    )
    signs = (
        "Red must fail in every run, green must pass: what they did else are false verdicts.",
        "A flip is a pass and a fail of one patch digest on one base.",
    )

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._found: Overview | None = None
        self._held: QuarantineView | None = None

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="overview-top"):
            yield RowList[Any](ClassPainter(), id=CLASSES)
            yield RowList[Any](FactPainter(), id=TRUST)
        yield TaskList(TaskPainter(), id=NEXT)
        yield Panel(id="history")

    def focus_first(self) -> None:
        self.query_one(f"#{NEXT}").focus()

    def read_all(self) -> None:
        desk = self.board.desk()
        self.ask("overview", overview)
        self.ask("quarantine", lambda connection, _: view(connection, desk()))

    def read_list(self, list_id: str) -> None:
        """Everything is there; how many tasks are shown depends on the room for them."""
        if list_id == NEXT:
            self._show_tasks()

    def show_answer(self, slot: str, value: Any) -> None:
        if slot == "quarantine":
            self._held = value
            if self._found is None:
                return
            value = self._found
        self._found = value
        self.query_one(Answer).show_fitting(answer(value, self.board.look))
        classes = self.query_one(f"#{CLASSES}", RowList)
        most = max((one.units for one in value.classes), default=0)
        classes.painter = ClassPainter(value.units, most)
        classes.show(whole(value.classes, [one.unit_class for one in value.classes]))
        facts = facts_of(value, self.board.look.glyphs, self._held)
        self.query_one(f"#{TRUST}", RowList).show(whole(facts, range(len(facts))))
        self._show_tasks()
        self.query_one("#history", Panel).show(
            lambda width, height, look: history(value, width, height, look)
        )

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._found is not None:
            self.show_answer("overview", self._found)

    def _show_tasks(self) -> None:
        if self._found is None:
            return
        rows = self.query_one(f"#{NEXT}", RowList)
        lapsed = () if self._held is None else self._held.lapsed
        tasks = fitting_tasks(self._found.next, rows.size.height - 1, lapsed)
        rows.show(whole(tasks, [(task.rank, task.position) for task in tasks]))

    def shown(self) -> Part:
        found = self._found
        if found is None:
            return ""
        names = self.board.experiments
        what = (
            names[0]
            if found.experiments == 1 and names
            else plural(found.experiments, "experiment")
        )
        look = self.board.look
        newest = f"newest {look.ago(found.newest)}" if found.newest else ""
        return dim(look.status(look.data(what), plural(found.runs, "run"), newest))

    def refusal(self, name: str) -> str:
        if name == "filter":
            return "The overview counts everything; filter the tests (3)."
        if name in ("open", "copy") and self.is_mounted and self._current() is None:
            return "There is nothing to do in this rank."
        return ""

    def _current(self) -> Any:
        rows = self.the_list()
        row = None if rows is None else rows.current
        return None if isinstance(row, Task) and row.idle else row

    def do_open(self) -> None:
        row = self._current()
        if isinstance(row, Task) and row.cause is not None:
            cause = row.cause
            if cause.units == 1:
                self.board.open_detail(cause.sample, 1, 1)
            else:
                self.board.open_cause(cause)
        elif isinstance(row, Task):
            self.board.go("quarantine")
        elif isinstance(row, Fact):
            self.board.go(row.target)
        elif row is not None:
            self.board.open_tests(f'class:"{row.unit_class}"')

    def copied(self) -> str:
        row = self._current()
        if isinstance(row, Task) and row.cause is not None:
            return explaining(row.cause.sample) or ""
        if isinstance(row, Task):
            return "tui quarantine check"
        if isinstance(row, Fact):
            return "tui check"
        return "" if row is None else "tui attribute"
