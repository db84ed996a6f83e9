"""What is excused, on what evidence, until when?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
from textual.app import ComposeResult

from analysis.quarantine.forms import span
from analysis.quarantine.replay import Entry
from analysis.quarantine.view import QuarantineView
from tui.acts import Act, act_on, acts_for
from tui.inks import Ink
from tui.lines import Part, dim
from tui.look import Look, number, plural
from tui.screens.base import BoardScreen
from tui.screens.form import FormScreen
from tui.screens.page import PageScreen
from tui.screens.quarantine_lines import (
    EntryPainter,
    answer,
    closed,
    contract,
    per_week,
    whole_contract,
)
from tui.state import Ordering
from tui.widgets.document import Document, Panel
from tui.widgets.frame import Answer
from tui.widgets.notice import Notice
from tui.widgets.row_list import RowList, whole

ENTRIES = "entries"


class QuarantineScreen(BoardScreen):
    """The list, lapsed first; the contract under the cursor; what left; and the weeks."""

    tab = "quarantine"
    what = "quarantine"
    question = "what is quarantined, on what evidence, until when?"
    keys = (
        ("open", "contract"),
        ("renew", "renew"),
        ("unlock", "unlock"),
        ("release", "release"),
        ("note", "note"),
        ("revoke", "revoke"),
        ("filter", "filter"),
        ("copy", "copy"),
        ("export", "export"),
    )
    signs = (
        "EXCUSED: failures of executions since it was entered. HIDES: how often a regression with",
        "the same message could fail unseen, one-sided 95 %. Filter by owner:, test:.",
    )

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._view: QuarantineView | None = None

    def compose_body(self) -> ComposeResult:
        yield RowList[Entry](EntryPainter(), id=ENTRIES)
        yield Panel(id="contract")
        yield Panel(id="closed")
        yield Panel(id="weeks")

    @property
    def rows(self) -> RowList[Entry]:
        """The list."""
        return self.query_one(f"#{ENTRIES}", RowList)

    def on_mount(self) -> None:
        start = self.board.start
        if start.screen == self.tab and start.filter:
            self.rows.ordering = Ordering(filter=start.filter)
        super().on_mount()

    # Reading

    def read_all(self) -> None:
        from analysis.quarantine.view import view

        desk = self.board.desk()

        def read(connection: duckdb.DuckDBPyConnection, _: Sequence[str]) -> QuarantineView:
            return view(connection, desk())

        self.ask("view", read)

    def read_list(self, list_id: str) -> None:
        """Everything is there; a filter leaves some of it."""
        self._show_rows()

    def show_answer(self, slot: str, value: Any) -> None:
        self._view = value
        look = self.board.look
        self.query_one(Answer).show_fitting(answer(value, look))
        self.rows.painter = EntryPainter(value)
        if not value.found.entries and not value.found.complaints:
            self.notice(_nothing(look))
            return
        self._show_rows()
        self.query_one("#closed", Panel).show(
            lambda width, height, look: closed(value, width, height, look)
        )
        self.query_one("#weeks", Panel).show(
            lambda width, height, look: per_week(value, width, height, look)
        )

    def _show_rows(self) -> None:
        view = self._view
        if view is None:
            return
        shown = tuple(filter(_matching(self.rows.ordering.filter), view.listed))
        self.rows.show(whole(shown, [one.name for one in shown]))

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._view is not None and not self.has_class("-notice"):
            self.query_one(Answer).show_fitting(answer(self._view, self.board.look))

    def shown(self) -> Part:
        view, page = self._view, self.rows.page
        if view is None or page is None:
            return ""
        if self.rows.ordering.filter:
            return f"{number(page.total)} of {plural(len(view.listed), 'entry', 'entries')}"
        age = "" if view.median_age is None else f"median age {span(view.median_age)}"
        status = (f"{len(view.listed)} listed", f"{len(view.closed)} closed", age)
        return dim(self.board.look.status(*status))

    def on_moved(self, event: Any) -> None:
        entry, view = self.rows.current, self._view
        panel = self.query_one("#contract", Panel)
        if entry is None or view is None:
            panel.show(lambda width, height, look: [])
        else:
            panel.show(lambda width, height, look: contract(entry, view, width, height, look))
        super().on_moved(event)

    # Actions

    def refusal(self, name: str) -> str:
        entry = self.rows.current if self.is_mounted else None
        if name in ("open", "copy", *acts_for(None)) and entry is None:
            return "There is no row here."
        if name in ("sort", "reverse"):
            return "This list has one order: lapsed first, then by expiry."
        if entry is not None and self._view is not None and name in acts_for(None):
            return acts_for(entry)[name]
        return ""

    def do_open(self) -> None:
        entry, view = self.rows.current, self._view
        if entry is not None and view is not None:
            self.board.push_screen(ContractScreen(entry, view))

    def _ask(self, name: str) -> None:
        entry = self.rows.current
        if entry is None:
            return
        act: Act = act_on(name, entry)

        def submit(given: dict[str, str]) -> None:
            self.board.do_act(act, given)

        self.board.push_screen(FormScreen(act.title, act.intro, act.fields, submit))

    def do_renew(self) -> None:
        self._ask("renew")

    def do_unlock(self) -> None:
        self._ask("unlock")

    def do_release(self) -> None:
        self._ask("release")

    def do_note(self) -> None:
        self._ask("note")

    def do_revoke(self) -> None:
        self._ask("revoke")

    def copied(self) -> str:
        entry = self.rows.current
        return "" if entry is None else entry.test_id


def _matching(text: str) -> Callable[[Entry], bool]:
    """Does an entry have every word of a filter? `owner:mara` is the Monday filter."""
    from analysis.queries.filters import parse

    terms = parse(text)

    def holds(entry: Entry) -> bool:
        for term in terms:
            places = {
                "owner": entry.owner,
                "test": entry.test_id,
                "": f"{entry.owner} {entry.test_id} {entry.variant or ''} {entry.state}",
            }
            where = places.get(term.field)
            if where is None:
                return False
            one, other = where.lower(), term.value.lower()
            found = one == other if term.whole else other in one
            if found == term.excluded:
                return False
        return True

    return holds


def _nothing(look: Look) -> Notice:
    return Notice(
        title=f"{look.glyphs.stable} Nothing is quarantined: no failure is excused.",
        text=(
            "Only a test flake (row 4a or 4b) with complete stress evidence may ever be "
            "excused, for a limited time. Q on such a test quarantines it.",
        ),
        hints=(
            ("3 then /class:flake", "the tests that are flaky by themselves"),
            ("tui quarantine add TEST", "the same on the command line"),
        ),
        ink=Ink.STABLE,
        copy="tui quarantine add",
    )


class ContractScreen(PageScreen):
    """One entry, whole."""

    tab = "quarantine"
    question = "what was agreed, and what happened since?"
    keys = (("back", "back"), ("panel", "next heading"), ("copy", "copy id"))

    def __init__(self, entry: Entry, view: QuarantineView) -> None:
        super().__init__()
        self._entry, self._view = entry, view

    def compose_body(self) -> ComposeResult:
        yield Document(id="record")

    def read_all(self) -> None:
        entry, view = self._entry, self._view
        self._has_rows = True
        self.refresh_frame()
        self.query_one(Answer).show_fitting(answer(view, self.board.look))
        self.query_one(Document).show(
            lambda width, look: whole_contract(entry, view, width, look), stay=True
        )

    def steps(self) -> Sequence[str]:
        return ["Quarantine", self._entry.test_id]

    def copied(self) -> str:
        return self._entry.test_id
