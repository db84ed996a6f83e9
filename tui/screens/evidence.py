"""What is invalid or unproven: by rule, pass by pass, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
from textual.app import ComposeResult

from analysis.queries.findings import (
    FINDING_COLUMNS,
    RECORD_COLUMNS,
    EvidenceTotals,
    FindingKind,
    FindingRow,
    RecordRow,
    evidence_totals,
    finding_page,
    records_of,
)
from analysis.queries.overturned import OVERTURNED_COLUMNS, OverturnedRow, overturned_page
from analysis.queries.paging import Page
from analysis.queries.recorded import recorded_line
from analysis.queries.rejected import REJECT_COLUMNS, RejectRow, reject_page, rejected_line
from tui.lines import Part, dim
from tui.look import number, plural
from tui.screens.base import BoardScreen
from tui.screens.evidence_lines import (
    FindingPainter,
    OverturnedPainter,
    Place,
    Read,
    RecordPainter,
    RejectPainter,
    answer,
    found_note,
    record_sections,
)
from tui.screens.page import PageScreen
from tui.state import Ordering
from tui.widgets.document import Document
from tui.widgets.frame import Answer
from tui.widgets.row_list import RowList

FINDINGS, OVERTURNED, REJECTS, RECORDS = "findings", "overturned", "rejects", "records"
_FOLLOW = (OVERTURNED, REJECTS)
_KEYS = (
    ("open", "records"),
    ("panel", "panel"),
    ("filter", "filter"),
    ("sort", "sort"),
    ("copy", "copy"),
    ("export", "export"),
    ("pick", "experiment"),
    ("refresh", "refresh"),
)


class EvidenceScreen(BoardScreen):
    """Findings by rule; the passes that one of them overturns and the lines it rejects follow the
    row under the cursor."""

    tab = "evidence"
    what = "evidence"
    question = "what is invalid or unproven, and what follows?"
    keys = _KEYS
    signs = (
        "void: no verdict. unproven: weighs less. reject: a line that is no record.",
        "pending: a last line that is still being written; it is read when it is whole.",
    )

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._totals: EvidenceTotals | None = None
        self._void_rules: tuple[str, ...] = ()
        self._followed: tuple[str, str] | None = None

    def compose_body(self) -> ComposeResult:
        yield RowList[FindingRow](FindingPainter(), id=FINDINGS)
        yield RowList[OverturnedRow](OverturnedPainter(), id=OVERTURNED)
        yield RowList[RejectRow](RejectPainter(), id=REJECTS)

    def _list(self, list_id: str) -> RowList[Any]:
        return self.query_one(f"#{list_id}", RowList)

    def on_mount(self) -> None:
        start = self.board.start
        if start.screen == self.tab and start.filter:
            self._list(FINDINGS).ordering = Ordering(filter=start.filter)
        super().on_mount()

    # Reading

    def read_all(self) -> None:
        self._followed = None
        self.ask("totals", evidence_totals)
        self.read_list(FINDINGS)

    def read_list(self, list_id: str) -> None:
        rows = self._list(list_id)
        request = self.page_request(rows)
        if list_id == FINDINGS:
            self.ask(FINDINGS, lambda connection, names: finding_page(connection, names, request))
        elif list_id == OVERTURNED:
            rule = self._rule_of(FindingKind.VOID)
            self.ask(
                OVERTURNED,
                lambda connection, names: overturned_page(connection, names, request, rule),
            )
        else:
            reason = self._rule_of(FindingKind.REJECT)
            self.ask(
                REJECTS,
                lambda connection, names: reject_page(connection, names, request, reason),
            )

    def _rule_of(self, kind: FindingKind) -> str:
        """The rule under the cursor where a list follows it; empty where it shows everything."""
        row = self._list(FINDINGS).current
        return row.rule if isinstance(row, FindingRow) and row.kind is kind else ""

    def show_answer(self, slot: str, value: Any) -> None:
        if slot == "totals":
            self._totals = value
        else:
            page: Page[Any] = value
            if slot == FINDINGS:
                void = (row.rule for row in page.rows if row.kind is FindingKind.VOID)
                self._void_rules = tuple(void)
            self._list(slot).show(page)
            if slot == FINDINGS:
                self._follow()
        self._say()

    def _follow(self) -> None:
        """Show below what belongs to the row under the cursor, where that is another one."""
        wanted = (self._rule_of(FindingKind.VOID), self._rule_of(FindingKind.REJECT))
        if wanted != self._followed:
            self._followed = wanted
            for list_id in _FOLLOW:
                self._list(list_id).forget()
                self.read_list(list_id)

    # Showing

    def _say(self) -> None:
        totals = self._totals
        if totals is None:
            return
        look = self.board.look
        self.query_one(Answer).show_fitting(answer(totals, self._void_rules, look))
        findings, overturned, rejects = map(self._list, (FINDINGS, OVERTURNED, REJECTS))
        findings.painter = FindingPainter(found_note(findings.total, totals))
        void, reason = self._followed or ("", "")
        overturned.painter = OverturnedPainter(
            look.status(plural(overturned.total, "pass", "passes"), look.data(void))
        )
        rejects.painter = RejectPainter(
            look.status(plural(rejects.total, "line"), look.data(reason))
        )
        for rows in (findings, overturned, rejects):
            rows.redraw()

    def redraw_all(self) -> None:
        super().redraw_all()
        self._say()

    def on_moved(self, event: Any) -> None:
        if event.list_id == FINDINGS:
            self._follow()
        super().on_moved(event)

    def shown(self) -> Part:
        rows, totals = self.the_list(), self._totals
        if totals is None or rows is None or rows.page is None:
            return ""
        if rows.page.hint:
            return rows.page.hint
        if rows.ordering.filter:
            return f"{number(rows.page.total)} of {plural(rows.page.everything, 'row')}"
        return dim(
            self.board.look.status(
                plural(totals.runs, "run"),
                plural(totals.lines, "line"),
                plural(totals.files, "file"),
            )
        )

    def sortable(self, list_id: str) -> Sequence[str]:
        columns = {
            FINDINGS: FINDING_COLUMNS,
            OVERTURNED: OVERTURNED_COLUMNS,
            REJECTS: REJECT_COLUMNS,
        }
        return columns[list_id]

    # Actions

    def refusal(self, name: str) -> str:
        rows = self.the_list() if self.is_mounted else None
        if name in ("open", "copy") and (rows is None or rows.current is None):
            return "There is no row here."
        return ""

    def do_open(self) -> None:
        rows = self.the_list()
        row = None if rows is None else rows.current
        if isinstance(row, FindingRow):
            self.board.push_screen(RecordsScreen(row))
        elif isinstance(row, OverturnedRow | RejectRow):
            place = Place(row.path, row.line, row.source_id)
            self.board.push_screen(RecordScreen((), place))

    def copied(self) -> str:
        rows = self.the_list()
        row = None if rows is None else rows.current
        if isinstance(row, FindingRow):
            return row.rule
        return "" if row is None else f"{row.path}:{row.line}"


class RecordsScreen(BoardScreen):
    """The records that one rule holds for."""

    tab = "evidence"
    question = "which records does this rule hold for?"
    keys = (
        ("open", "record"),
        ("back", "back"),
        ("filter", "filter"),
        ("sort", "sort"),
        ("copy", "copy file:line"),
        ("refresh", "refresh"),
    )

    def __init__(self, finding: FindingRow) -> None:
        super().__init__()
        self._finding = finding

    def compose_body(self) -> ComposeResult:
        yield RowList[RecordRow](RecordPainter(), id=RECORDS)

    @property
    def _rows(self) -> RowList[RecordRow]:
        return self.query_one(f"#{RECORDS}", RowList)

    def read_all(self) -> None:
        self.read_list(RECORDS)

    def read_list(self, list_id: str) -> None:
        kind, rule, request = self._finding.kind, self._finding.rule, self.page_request(self._rows)
        self.ask(
            RECORDS,
            lambda connection, names: records_of(connection, names, kind, rule, request),
        )

    def show_answer(self, slot: str, value: Any) -> None:
        self._rows.show(value)
        self.query_one(Answer).show(self.board.look.data(self._finding.sentence))

    def steps(self) -> Sequence[str]:
        return ["Evidence", self._finding.rule]

    def shown(self) -> Part:
        page = self._rows.page
        if page is None or page.hint:
            return "" if page is None else page.hint
        if self._rows.ordering.filter:
            return f"{number(page.total)} of {plural(page.everything, 'record')}"
        return plural(page.total, "record")

    def sortable(self, list_id: str) -> Sequence[str]:
        return RECORD_COLUMNS

    def refusal(self, name: str) -> str:
        if name in ("pick", "everything", "compare", "export"):
            return "Esc goes back to the screen first."
        row = self._rows.current if self.is_mounted else None
        if name in ("open", "copy") and row is None:
            return "There is no row here."
        if name in ("open", "copy") and row is not None and row.source_id is None:
            return "This was found over several records; no single line says it."
        return ""

    def do_open(self) -> None:
        row = self._rows.current
        if row is not None and row.source_id is not None and row.line is not None:
            place = Place(row.path or "", row.line, row.source_id)
            self.board.push_screen(RecordScreen((row.rule,), place))

    def do_back(self) -> None:
        if self._rows.ordering.filter:
            super().do_back()
        else:
            self.board.pop_screen()

    def copied(self) -> str:
        row = self._rows.current
        return "" if row is None else f"{row.path}:{row.line}"


class RecordScreen(PageScreen):
    """What stands on one line of a log. path: the steps between the screen and here."""

    tab = "evidence"
    question = "what does the log say?"
    keys = (
        ("back", "back"),
        ("copy", "copy file:line"),
        ("refresh", "refresh"),
    )

    def __init__(self, path: Sequence[str], place: Place) -> None:
        super().__init__()
        self._path, self._place = tuple(path), place

    def compose_body(self) -> ComposeResult:
        yield Document(id="record")

    def read_all(self) -> None:
        place = self._place

        def read(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Read:
            return Read(
                place,
                recorded_line(connection, place.source_id, place.line),
                rejected_line(connection, place.source_id, place.line),
            )

        self.ask("record", read)

    def show_answer(self, slot: str, value: Any) -> None:
        read: Read = value
        self.query_one(Answer).show(self.board.look.data(f"{read.place.path}:{read.place.line}"))
        self.query_one(Document).show(
            lambda width, look: record_sections(read, width, look), stay=True
        )

    def steps(self) -> Sequence[str]:
        name = self._place.path.rpartition("/")[2]
        return ["Evidence", *self._path, f"{name}:{self._place.line}"]

    def copied(self) -> str:
        return f"{self._place.path}:{self._place.line}"
