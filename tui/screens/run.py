"""One run: how it ended, what is wrong with it, what failed in it, and where its record is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult

from analysis.queries.run_record import FailedTest, RunFinding, RunRecord, run_record
from tui.inks import Ink
from tui.lines import BLANK, Line, Part, Span, bold, cells, dim, fit, line, wrapped
from tui.look import Look, number, plural
from tui.screens.page import PageScreen
from tui.widgets.document import Document, Section, heading
from tui.widgets.frame import Answer
from tui.widgets.notice import Notice

_MOST_LINES = 3
_NAME_CELLS = 20
_LEAST_FACT = 60
_STANDINGS = {"void": Ink.INVALID, "unproven": Ink.HARNESS, "note": Ink.DIM}


class RunScreen(PageScreen):
    """A run on top of another screen; ← → go to its neighbours.

    tab: of the screen beneath. path: the steps to here. runs: ids of an experiment; at: the one
    to show, from 0.
    """

    question = "what happened in this run?"
    keys = (
        ("back", "back"),
        ("right", "next run"),
        ("copy", "copy file:line"),
        ("panel", "next heading"),
        ("refresh", "refresh"),
    )
    signs = (
        "A void run proves nothing, an unproven one weighs less; the findings say why.",
        "The arrows to the left and right show the run before and the next one of the phase.",
    )

    def __init__(
        self, tab: str, path: Sequence[str], experiment: str, runs: Sequence[str], at: int
    ) -> None:
        super().__init__()
        self.tab = tab
        self._path, self._experiment = tuple(path), experiment
        self._runs, self._at = tuple(runs), at
        self._record: RunRecord | None = None

    def compose_body(self) -> ComposeResult:
        yield Document(id="run")

    # Reading

    def read_all(self) -> None:
        experiment, run_id = self._experiment, self._runs[self._at]
        self.ask("run", lambda connection, _: run_record(connection, experiment, run_id))

    def show_answer(self, slot: str, value: Any) -> None:
        other = self._record is None or value is None or value.run_id != self._record.run_id
        self._record = value
        if value is None:
            self.notice(
                Notice(
                    title="This run is not in the index any more.",
                    hints=(("Esc", "back"), ("r", "look again")),
                )
            )
            return
        record: RunRecord = value
        self.query_one(Answer).show_fitting(answer(record, self.board.look))
        self.query_one(Document).show(
            lambda width, look: sections(record, width, look), stay=not other
        )

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._record is not None:
            self.query_one(Answer).show_fitting(answer(self._record, self.board.look))

    # Showing

    def steps(self) -> Sequence[str]:
        return [self.tab.capitalize(), *self._path, self._runs[self._at]]

    def shown(self) -> Part:
        if len(self._runs) == 1:
            return ""
        return f"run {number(self._at + 1)} of {number(len(self._runs))}"

    # Actions

    def refusal(self, name: str) -> str:
        refused = super().refusal(name)
        if refused:
            return refused
        if name == "copy" and self._record is None:
            return "There is no record to copy the place of."
        if name == "right" and self._at == len(self._runs) - 1:
            return "This is the last run here."
        if name == "left" and not self._at:
            return "This is the first run here."
        return ""

    def do_right(self) -> None:
        self._go(self._at + 1)

    def do_left(self) -> None:
        self._go(self._at - 1)

    def _go(self, at: int) -> None:
        self._at = at
        self.read_all()
        self.refresh_frame()

    def copied(self) -> str:
        return "" if self._record is None else f"{self._record.path}:{self._record.line}"


# The answer


def answer(record: RunRecord, look: Look) -> list[Line]:
    """`✗ FAILED  2 failed executions; the run is proven.` The longest form first."""
    glyphs = look.glyphs
    why = record.findings[0].sentence.rstrip(".") if record.findings else ""
    why = f"{why[:1].upper()}{why[1:]}." if why else ""
    outage = " It lies in an outage." if record.in_outage else ""
    if record.standing == "void":
        said = why
        sign, word, ink = glyphs.invalid, "VOID", Ink.INVALID
    elif record.verdict == "fail":
        sign, word, ink = glyphs.failed, "FAILED", Ink.BROKEN
        said = f"{plural(record.failures_total, 'failed execution')} on record."
        if not record.failures_total:
            said = "No failed test is on record that would explain it."
    elif record.verdict == "pass":
        sign, word, ink = glyphs.stable, "PASSED", Ink.STABLE
        said = why if record.standing == "unproven" else "Nothing is against it."
    else:
        sign, word, ink = glyphs.none, "NO VERDICT", Ink.UNSURE
        said = why or f"The log says {record.logged_verdict}, and the run is not complete."
    start = line(bold(f"{sign} {word}", ink), "  ")
    return [line(start, bold(look.data(said + outage))), line(start, bold(look.data(said)))]


# Sections


def sections(record: RunRecord, width: int, look: Look) -> list[Section]:
    """The run in lines of at most `width` cells, what matters first."""
    found = [_record(record, width, look)]
    if record.findings or record.disagreeing:
        found.append(_findings(record, width, look))
    found.append(_failures(record, width, look))
    found.append(_facts(record, width, look))
    return found


def _section(name: str, note: Part, lines: Sequence[Line], width: int, look: Look) -> Section:
    fitting = (fit(one, width, look.glyphs.ellipsis) for one in lines)
    return Section(name, (heading(name, note, width, look), *fitting, BLANK))


def _record(record: RunRecord, width: int, look: Look) -> Section:
    place = look.path(f"{record.path}:{record.line}", width - 2)
    who = f"{record.role} {look.data(record.patch_id)}, {record.phase}"
    when = "" if record.started is None else f", started {look.ago(record.started)}"
    lines = [
        line(" ", bold(look.middle(look.data(record.run_id), width - 2))),
        line(" ", look.middle(f"{who} in {look.data(record.experiment)}{when}", width - 2, 0.7)),
        line(" ", Span(place, Ink.ACCENT)),
    ]
    return _section("RECORD", "", lines, width, look)


def _findings(record: RunRecord, width: int, look: Look) -> Section:
    lines = [one for finding in record.findings for one in _finding(finding, width, look)]
    if record.disagreeing:
        names = ", ".join(look.data(name) for name in record.disagreeing)
        lines += [
            line("   ", one) for one in _told(f"Its lines contradict in: {names}.", width, look)
        ]
    return _section("FINDINGS", dim(number(len(record.findings))), lines, width, look)


def _finding(finding: RunFinding, width: int, look: Look) -> list[Line]:
    signs = {"void": look.glyphs.invalid, "unproven": look.glyphs.unsure}
    sign = signs.get(finding.standing, look.glyphs.passed)
    ink = _STANDINGS.get(finding.standing, Ink.TEXT)
    made = [
        line(" ", Span(f"{sign} {finding.standing} ", ink, bold=True), look.data(finding.rule)),
        *(line("   ", one) for one in _told(look.data(finding.sentence), width, look)),
    ]
    if finding.path is not None:
        made.append(line("   ", dim(look.path(f"{finding.path}:{finding.line}", width - 4))))
    return made


def _told(text: str, width: int, look: Look) -> list[Line]:
    """The beginning of a text, set in."""
    return wrapped(text, width - 4, most=_MOST_LINES, ellipsis=look.glyphs.ellipsis)


def _failures(record: RunRecord, width: int, look: Look) -> Section:
    shown, total = len(record.failures), record.failures_total
    note = f"{number(total)}" if shown == total else f"first {number(shown)} of {number(total)}"
    lines = [one for failure in record.failures for one in _failure(failure, width, look)]
    if not lines:
        lines = [line(dim(" No failed execution is on record."))]
    return _section("FAILED TESTS", dim(note), lines, width, look)


def _failure(failure: FailedTest, width: int, look: Look) -> list[Line]:
    marks = [f"[{look.cut(look.data(failure.variant), 24)}]" if failure.variant else ""]
    marks += [f"iteration {failure.iteration}" if failure.iteration is not None else ""]
    marks += [look.data(failure.outcome) if failure.outcome != "failed" else ""]
    marks += [f"{failure.duration_s:.3g} s" if failure.duration_s is not None else ""]
    tail = "".join(f"  {mark}" for mark in marks if mark)
    name = look.test(failure.test_id, max(20, width - 4 - cells(tail)))
    made = [line(" ", Span(f"{look.glyphs.failed} ", Ink.BROKEN), bold(name), dim(tail))]
    said = look.data(failure.message or "")
    kind = look.data(failure.exc or "")
    text = ": ".join(part for part in (kind, said) if part)
    made += [line("   ", one) for one in _told(text, width, look)]
    where = f"{look.data(failure.where)}  " if failure.where else ""
    room = max(12, width - 4 - cells(where))
    made.append(line("   ", dim(where), dim(look.path(f"{failure.path}:{failure.line}", room))))
    return made


def _facts(record: RunRecord, width: int, look: Look) -> Section:
    """Names and values, in as many columns as there is room for."""
    columns = max(1, width // _LEAST_FACT)
    room = width // columns
    made = [_fact(name, value, room, look) for name, value in record.facts]
    per_column = -(-len(made) // columns)
    lines = [
        line(
            *(
                made[column * per_column + row]
                for column in range(columns)
                if column * per_column + row < len(made)
            )
        )
        for row in range(per_column)
    ]
    return _section("FACTS", dim(number(len(made))), lines, width, look)


def _fact(name: str, value: str, room: int, look: Look) -> Line:
    written = look.middle(look.data(value), max(8, room - _NAME_CELLS - 3))
    label = look.cut(look.data(name), _NAME_CELLS)
    return fit(line(" ", fit(dim(label), _NAME_CELLS), " ", written), room, look.glyphs.ellipsis)
