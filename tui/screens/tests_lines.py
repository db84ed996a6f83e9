"""How the lists and the preview of the Tests screen are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.model import UnitClass
from analysis.queries.causes import CauseRow, Side, UnitLine
from tui.inks import OF_CLASS, Ink
from tui.lines import Line, Part, Span, bold, columns, dim, line, spread, wrapped
from tui.look import Look, number, plural, short
from tui.state import Ordering
from tui.widgets.document import heading
from tui.widgets.frame import WIDE

CLASS_CELLS = 23
SHORT_CLASS_CELLS = 20
ROW_CELLS = 3
COUNT_CELLS = 8
BOUND_CELLS = 5
HUGE = 160


@dataclass(frozen=True)
class Columns:
    """Widths of a list. patch and soak are 0 where there is no room for them."""

    unit_class: int
    label: int
    patch: int
    soak: int
    why: int
    number: int

    @classmethod
    def of(cls, width: int, *, units: bool) -> Columns:
        """For a list without the cell of the cursor. The counts never give way."""
        wide, huge = width >= WIDE - 1, width >= HUGE - 1
        unit_class = CLASS_CELLS if wide else SHORT_CLASS_CELLS
        patch = (16 if huge else 14) if units else 0
        patch = patch if wide or not units else 10
        soak = (20 if huge else 16) if units and wide else 0
        number_ = 0 if units else 4
        fixed = unit_class + 1 + ROW_CELLS + 1 + 2 * (1 + COUNT_CELLS + 1 + BOUND_CELLS)
        fixed += sum(1 + one for one in (patch, soak, number_) if one)
        rest = width - fixed - 1
        why = rest // 2 if huge else 0
        return cls(unit_class, rest - (why + 1 if why else 0), patch, soak, why, number_)


class CausePainter:
    """A line a cause, patch, soak or class."""

    def __init__(self, grouping: str) -> None:
        self.grouping = grouping

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        at = Columns.of(width - 1, units=False)
        label = {"cause": "CAUSE", "patch": "PATCH", "soak": "SOAK", "class": "CLASS"}
        names = ("class", "", "label", "company", "", "alone", "", "units")
        words = ("CLASS", "ROW", label[self.grouping], "COMPANY", "95%", "ALONE", "95%", "N")
        return [_headed(names, words, _widths(at), ordering, focused, look, "lllrrrrr")]

    def row(self, row: CauseRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        at = Columns.of(width, units=False)
        brief = at.unit_class < CLASS_CELLS
        return [
            columns(
                (
                    look.unit_class(row.unit_class, short=brief),
                    dim(row.row),
                    cause_label(row, self.grouping, at.label, look),
                    _counted(row.company, row.unit_class),
                    dim(_bound(row.company, look)),
                    _counted(row.alone, row.unit_class),
                    dim(_bound(row.alone, look)),
                    dim(short(row.units)),
                ),
                _widths(at),
                "lllrrrrr",
                ellipsis=look.glyphs.ellipsis,
            )
        ]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return _foot(shown)

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No test was executed."))]


class UnitPainter:
    """A line a (patch, test, variant)."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        at = Columns.of(width - 1, units=True)
        names = ("class", "", "test", "patch", "soak", "company", "", "alone", "")
        words = ("CLASS", "ROW", "TEST", "PATCH", "SOAK", "COMPANY", "95%", "ALONE", "95%")
        return [_headed(names, words, _unit_widths(at), ordering, focused, look, "lllllrrrr")]

    def row(self, row: UnitLine, width: int, look: Look, lines: int) -> Sequence[Line]:
        at = Columns.of(width, units=True)
        brief = at.unit_class < CLASS_CELLS
        return [
            columns(
                (
                    look.unit_class(row.unit_class, short=brief),
                    dim(row.row),
                    test_label(row, at.label, look),
                    Span(look.middle(look.data(row.key.patch_id), at.patch or 1), Ink.DIM),
                    Span(look.middle(look.data(row.key.experiment), at.soak or 1), Ink.DIM),
                    _counted(row.company, row.unit_class),
                    dim(_bound(row.company, look)),
                    _counted(row.alone, row.unit_class),
                    dim(_bound(row.alone, look)),
                ),
                _unit_widths(at),
                "lllllrrrr",
                ellipsis=look.glyphs.ellipsis,
            )
        ]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return _foot(shown)

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No test was executed."))]


def _widths(at: Columns) -> tuple[int, ...]:
    counts = (COUNT_CELLS, BOUND_CELLS)
    return (at.unit_class, ROW_CELLS, at.label, *counts, *counts, at.number)


def _unit_widths(at: Columns) -> tuple[int, ...]:
    counts = (COUNT_CELLS, BOUND_CELLS)
    return (at.unit_class, ROW_CELLS, at.label, at.patch, at.soak, *counts, *counts)


def _headed(
    names: Sequence[str],
    words: Sequence[str],
    widths: Sequence[int],
    ordering: Ordering,
    focused: bool,
    look: Look,
    sides: str,
) -> Line:
    """The header: a click on a column sorts by it, an arrow shows which one it is."""
    parts: list[Part] = []
    for name, word in zip(names, words, strict=True):
        sorted_by = bool(name) and ordering.sort == name
        arrow = (look.glyphs.up if ordering.reverse else look.glyphs.down) if sorted_by else ""
        ink = Ink.ACCENT if sorted_by or (focused and name == "class") else Ink.HEAD
        parts.append(Span(word + arrow, ink, bold=True, act=f"sort:{name}" if name else ""))
    return line(" ", columns(parts, widths, sides, ellipsis=look.glyphs.ellipsis))


def _foot(shown: str) -> Sequence[Line]:
    return [line(dim(f" {shown}"))] if shown else []


def _counted(side: Side, unit_class: UnitClass) -> Span:
    if not side.n:
        return dim("-")
    written = f"{short(side.k)}/{short(side.n)}"
    if not side.k:
        return dim(written)
    return Span(written, Ink.TEXT, bold=unit_class is not UnitClass.STABLE)


def _bound(side: Side, look: Look) -> str:
    return look.bound(side.k, side.n, side.upper, side.lower)


def cause_label(row: CauseRow, grouping: str, cells: int, look: Look) -> str:
    """A resource by the end of its name, a test by its ends, `4 tests, no failure`."""
    label = row.label
    if grouping == "class":
        return ""
    if grouping != "cause":
        return look.middle(look.data(label), cells)
    if row.no_failure:
        return f"{plural(row.tests, 'test')}, no failure"
    kind, blank, rest = label.partition(" ")
    if blank and rest.startswith("/"):
        return f"{kind} {look.path(rest.rpartition('/')[2], max(1, cells - len(kind) - 1))}"
    return look.test(label, cells) if "::" in label else look.cut(look.data(label), cells)


def test_label(row: UnitLine, cells: int, look: Look) -> str:
    """A test id, and its variant if it has one."""
    if row.key.variant is None:
        return look.test(row.key.test_id, cells)
    variant = f" [{look.cut(look.data(row.key.variant), max(3, cells // 4))}]"
    return look.test(row.key.test_id, cells - len(variant)) + variant


def preview(row: CauseRow | UnitLine, width: int, height: int, look: Look) -> list[Line]:
    """What does not fit into the list: the whole id, why, and what to do."""
    ink = OF_CLASS[row.unit_class]
    title = f"{look.glyphs.of_class(row.unit_class)} {row.unit_class}"
    rows = isinstance(row, CauseRow)
    note = f"row {row.row}" + (
        f" {look.glyphs.dot} {plural(row.units, 'row')}" if isinstance(row, CauseRow) else ""
    )
    key = row.sample if isinstance(row, CauseRow) else row.key
    head = heading("", line(bold(title, ink), dim(f" {note}")), width, look)
    name = look.data(key.test_id) + (f" [{look.data(key.variant)}]" if key.variant else "")
    several = rows and isinstance(row, CauseRow) and row.units > 1
    where = dim(f"  on {look.data(key.patch_id)} in {look.data(key.experiment)}")
    more = dim(" and others") if several else ""
    first = spread(line(" ", bold(look.test(name, max(20, width - 40))), where, more), "", width)
    room = max(1, height - 3)
    why = wrapped(look.data(row.why), width - 2, most=max(1, room - 1))
    do = [
        line(bold("DO ", Ink.ACCENT), bold(one[0].text) if one else "")
        for one in wrapped(look.data(row.action), width - 16, most=1)
    ]
    return [
        head,
        first,
        *(line(" ", one) for one in why),
        *(spread(line(" ", one), dim("y copies "), width) for one in do),
    ]


def answer(flakes: int, need_fix: int, need_runs: int, hold: int, look: Look) -> Line:
    """`≈ 6 OF 82 MAY BE QUARANTINED  27 need a fix first, 39 more runs, 10 hold.`"""
    total = flakes + need_fix + need_runs + hold
    rest = (
        f"  {number(need_fix)} need a fix first, {number(need_runs)} more runs, "
        f"{number(hold)} hold."
    )
    if flakes:
        sign, ink = look.glyphs.flake, Ink.FLAKE
    else:
        sign, ink = (look.glyphs.stable, Ink.STABLE) if not need_fix else ("", Ink.HEAD)
    word = f"{number(flakes)} OF {number(total)} MAY BE QUARANTINED"
    return line(Span(f"{sign} " if sign else "", ink, True), bold(word, ink), bold(rest))
