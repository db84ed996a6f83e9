"""How the lists of the Evidence screen and a record are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.queries.findings import EvidenceTotals, FindingKind, FindingRow, RecordRow
from analysis.queries.overturned import OverturnedRow
from analysis.queries.recorded import Recorded
from analysis.queries.rejected import RejectRow
from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import Line, Part, Span, bold, cells, columns, dim, fit, line, wrapped
from tui.look import Look, number, plural
from tui.state import Ordering
from tui.widgets.document import Section, heading
from tui.widgets.frame import WIDE

KIND_CELLS = 10
RULE_CELLS = 24
COUNT_CELLS = 5
AGE_CELLS = 17
_NAME_CELLS = 20
_MOST_LINES = 30

_INKS = {
    FindingKind.VOID: Ink.INVALID,
    FindingKind.UNPROVEN: Ink.HARNESS,
    FindingKind.REJECT: Ink.BROKEN,
    FindingKind.PENDING: Ink.UNSURE,
    FindingKind.NOTE: Ink.DIM,
}


def _sign(kind: FindingKind, glyphs: Glyphs) -> str:
    signs = {
        FindingKind.VOID: glyphs.invalid,
        FindingKind.UNPROVEN: glyphs.unsure,
        FindingKind.REJECT: glyphs.reject,
        FindingKind.PENDING: glyphs.pending,
        FindingKind.NOTE: glyphs.dot,
    }
    return signs[kind]


class _Plain:
    """A list of one line a row, that says below how much of it is seen."""

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(f" {shown}"))] if shown else []


def _titled(title: str, note: str, sort: str, width: int, look: Look, focused: bool) -> Line:
    """A heading that says what the list is sorted by where that is not its usual order."""
    said = look.status(note, f"sorted by {sort}" if sort else "")
    return heading(title, dim(said), width, look, focused=focused)


class FindingPainter(_Plain):
    """A line a rule. note: of how many records and lines."""

    def __init__(self, note: str = "") -> None:
        self.note = note

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        return [_titled("FINDINGS", self.note, ordering.sort, width, look, focused)]

    def row(self, row: FindingRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        ink = _INKS[row.kind]
        wide = width >= WIDE - 1
        made = columns(
            (
                Span(f"{_sign(row.kind, look.glyphs)} {row.kind}", ink, bold=True),
                look.cut(look.data(row.rule), RULE_CELLS),
                number(row.count),
                look.data(row.sentence),
                dim(look.ago(row.newest)) if row.newest is not None else "",
            ),
            _finding_widths(width, wide=wide),
            "llrlr",
            ellipsis=look.glyphs.ellipsis,
        )
        return [made]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" Nothing speaks against any record."))]


def _finding_widths(width: int, *, wide: bool) -> tuple[int, ...]:
    age = AGE_CELLS if wide else 0
    gaps = 4 if wide else 3
    rest = width - KIND_CELLS - RULE_CELLS - COUNT_CELLS - age - gaps - 1
    return (KIND_CELLS, RULE_CELLS, COUNT_CELLS, rest, age)


class OverturnedPainter(_Plain):
    """A line a pass that proves nothing. note: which of them."""

    def __init__(self, note: str = "") -> None:
        self.note = note

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        note = f"pass {look.glyphs.right} no verdict; {self.note}"
        return [_titled("OVERTURNED", note, ordering.sort, width, look, focused)]

    def row(self, row: OverturnedRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        wide = width >= WIDE - 1
        run, soak, patch = (22, 18, 16) if wide else (18, 14, 0)
        phase, age = 9, AGE_CELLS if wide else 0
        fixed = run + soak + patch + phase + age
        gaps = 5 if wide else 3
        rest = max(8, width - fixed - gaps - 1)
        merged = {
            True: line(bold("MERGED ", Ink.INVALID)),
            False: line(dim("not merged ")),
            None: (),
        }
        parts: tuple[Part, ...] = (
            look.middle(look.data(row.run_id), run),
            Span(look.middle(look.data(row.experiment), soak), Ink.DIM),
            Span(look.middle(look.data(row.patch_id), patch or 1), Ink.DIM),
            dim(str(row.phase)),
            line(merged[row.merged], look.data(row.sentence)),
            dim(look.ago(row.at)),
        )
        widths = (run, soak, patch, phase, rest, age)
        return [columns(parts, widths, "lllllr", ellipsis=look.glyphs.ellipsis)]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No pass is overturned by this."))]


class RejectPainter(_Plain):
    """A line a rejected line. note: how many, of how many files."""

    def __init__(self, note: str = "") -> None:
        self.note = note

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        return [_titled("REJECTS", self.note, ordering.sort, width, look, focused)]

    def row(self, row: RejectRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        place = 30 if width >= WIDE - 1 else 19
        rest = max(8, width - place - RULE_CELLS - 3)
        parts: tuple[Part, ...] = (
            look.path(f"{row.path}:{row.line}", place),
            look.cut(look.data(row.reason), RULE_CELLS),
            Span(look.data(row.text), Ink.DIM),
        )
        return [
            columns(parts, (place, RULE_CELLS, rest), "lll", ellipsis=look.glyphs.ellipsis),
        ]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No line is rejected for this."))]


class RecordPainter(_Plain):
    """A line a record that one rule holds for."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        return [_titled("RECORDS", "newest first", ordering.sort, width, look, focused)]

    def row(self, row: RecordRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        wide = width >= WIDE - 1
        run, soak, place = (22, 18, 30) if wide else (18, 0, 20)
        age = AGE_CELLS if wide else 0
        gaps = 4 if wide else 2
        rest = max(8, width - run - soak - place - age - gaps - 1)
        where = look.glyphs.dash if row.path is None else f"{row.path}:{row.line}"
        parts: tuple[Part, ...] = (
            look.middle(look.data(row.run_id or look.glyphs.dash), run),
            Span(look.middle(look.data(row.experiment or ""), soak or 1), Ink.DIM),
            look.path(where, place),
            look.data(row.sentence),
            dim(look.ago(row.at)) if row.at is not None else "",
        )
        return [
            columns(parts, (run, soak, place, rest, age), "llllr", ellipsis=look.glyphs.ellipsis)
        ]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No record of this rule."))]


def answer(totals: EvidenceTotals, rules: Sequence[str], look: Look) -> list[Line]:
    """`⊘ 114 OF 3,369 PASSES  prove nothing: no-tests-collected.`, or that all hold. The longest
    form first. rules: that leave passes without a verdict, worst first."""
    glyphs = look.glyphs
    void = totals.passes - totals.holding
    lines = f"{plural(totals.rejected, 'line')} rejected."
    if void:
        start = bold(
            f"{glyphs.invalid} {number(void)} OF {plural(totals.passes, 'PASS', 'PASSES')}",
            Ink.INVALID,
        )
        words = " proves nothing" if void == 1 else " prove nothing"
        forms = [f"{words}: {', '.join(map(look.data, rules))}."] if rules else []
        if len(rules) > 1:
            forms.append(f"{words}: {look.data(rules[0])} and {len(rules) - 1} more.")
        return [line(start, " ", bold(form)) for form in (*forms, f"{words}.")]
    if not totals.passes:
        start = bold(f"{glyphs.unsure} NO PASS", Ink.UNSURE)
        return [line(start, bold(f"  is on record that could prove anything; {lines}"))]
    ink = Ink.BROKEN if totals.rejected else Ink.STABLE
    sign = glyphs.reject if totals.rejected else glyphs.stable
    held = f"{number(totals.holding)} OF {plural(totals.passes, 'PASS', 'PASSES')}"
    hold = "holds" if totals.passes == 1 else "hold"
    return [line(bold(f"{sign} {held}", ink), bold(f"  {hold}; {lines}"))]


def found_note(total: int, totals: EvidenceTotals) -> str:
    """What the list of findings counts."""
    void = totals.passes - totals.holding
    return (
        f"by rule; {plural(void, 'pass', 'passes')} without proof, "
        f"{plural(totals.rejected, 'rejected line')}"
        if total
        else ""
    )


@dataclass(frozen=True)
class Place:
    """A line of a log, as the index names it."""

    path: str
    line: int
    source_id: int


@dataclass(frozen=True)
class Read:
    """What was read from a line: its records, or why it is none."""

    place: Place
    records: tuple[Recorded, ...]
    reject: RejectRow | None


def record_sections(read: Read, width: int, look: Look) -> list[Section]:
    """A record field by field, or the raw text of a rejected line."""
    if read.reject is not None:
        return [_raw(read.reject, width, look)]
    found = [
        _fields(one, position, len(read.records), width, look)
        for position, one in enumerate(read.records, start=1)
    ]
    if found:
        return found
    words = "The index has no record of this line; it may have been read anew since."
    return [Section("RECORD", (heading("RECORD", "", width, look), line(" ", dim(words))))]


def _raw(row: RejectRow, width: int, look: Look) -> Section:
    note = f"{plural(row.length, 'byte')} from byte {number(row.offset)}; {look.data(row.reason)}"
    text = wrapped(look.data(row.text), width - 2, most=200, ellipsis=look.glyphs.ellipsis)
    return Section(
        "REJECTED", (heading("REJECTED", dim(note), width, look), *(line(" ", one) for one in text))
    )


def _fields(one: Recorded, position: int, of: int, width: int, look: Look) -> Section:
    note = f"byte {number(one.offset)}" + (f"; {position} of {of} on this line" if of > 1 else "")
    lines: list[Line] = []
    for name, value in one.fields:
        label = fit(dim(look.cut(look.data(name), _NAME_CELLS)), _NAME_CELLS)
        folded = wrapped(
            look.data(value),
            max(8, width - _NAME_CELLS - 3),
            most=_MOST_LINES,
            ellipsis=look.glyphs.ellipsis,
        )
        blank = " " * cells(label)
        lines += [
            line(" ", label if not row else blank, " ", part)
            for row, part in enumerate(folded or [()])
        ]
    return Section("RECORD", (heading("RECORD", dim(note), width, look), *lines, ()))
