"""How the detail of a test is written: the answer, what to do, the table, and the rest."""

from __future__ import annotations

from analysis.model import Locus, UnitClass
from analysis.queries.attributions import Tried, UnitRow
from analysis.queries.detail import TestDetail
from analysis.queries.exposure import Shared
from tui.inks import OF_CLASS, Ink
from tui.lines import (
    BLANK,
    Line,
    Span,
    beside,
    bold,
    cells,
    dim,
    emphasised,
    fit,
    line,
    lit,
    spread,
    wrapped,
)
from tui.look import Look, number
from tui.screens.arms_lines import arms, runs
from tui.screens.failure_lines import failures, messages, records, timeline
from tui.widgets.document import Section, heading
from tui.widgets.frame import WIDE

HUGE = 160
TIMELINE = "TIMELINE"
_GAP = 2
_MOST = 200

_MEANS = {
    UnitClass.INVALID: "nothing here proves anything",
    UnitClass.BROKEN: "the gate itself is not isolated, trust nothing",
    UnitClass.HARNESS: "fix isolation, quarantine nothing",
    UnitClass.CONSISTENT: "fix the patch, it fails every time",
    UnitClass.RACE: "fix the race, quarantine nothing",
    UnitClass.INSUFFICIENT: "run more before anything is decided",
    UnitClass.FLAKE: "may be quarantined, for a limited time",
    UnitClass.STABLE: "its verdicts can be believed",
}
_WHERE = {
    Locus.PATCH: "the race is in the patch: fix it, quarantine nothing",
    Locus.BASE: "the race is in the base: fix it, quarantine nothing",
    Locus.UNVERIFIED: "a race, whose place is not verified: quarantine nothing",
}
_NOT_AT_FAULT = {
    UnitClass.INVALID: "nothing is known of the test",
    UnitClass.BROKEN: "the gate is at fault, not the test",
    UnitClass.HARNESS: "the harness is at fault, not the test",
    UnitClass.CONSISTENT: "it fails every time: a quarantine would hide the defect",
    UnitClass.RACE: "the failures are a real race: a quarantine would hide it",
    UnitClass.INSUFFICIENT: "too little is known to excuse a failure",
    UnitClass.STABLE: "it does not fail",
}
_MISSING = ("no resource recorded", "no test order recorded")
_LITERAL = {
    1: UnitClass.HARNESS,
    2: UnitClass.BROKEN,
    3: UnitClass.RACE,
    4: UnitClass.FLAKE,
}


def answer(unit: UnitRow, look: Look) -> list[Line]:
    """`▲ HARNESS BUG  row 1a  fix isolation, quarantine nothing`, longest form first."""
    ink, sign = OF_CLASS[unit.unit_class], look.glyphs.of_class(unit.unit_class)
    means = _MEANS[unit.unit_class]
    if unit.unit_class is UnitClass.RACE and unit.locus is not None:
        means = _WHERE[Locus(unit.locus)]
    head = line(bold(f"{sign} {unit.unit_class.upper()}", ink), dim(f"  row {unit.row}  "))
    whole = line(head, bold(means))
    blocking = dim(f" {look.glyphs.dot} blocks merges")
    return [line(whole, blocking), whole] if unit.blocks else [whole]


def freezing(unit: UnitRow) -> str:
    """Why the test cannot be quarantined now."""
    if unit.unit_class is UnitClass.FLAKE:
        return "It may be quarantined, but the list is not kept by this version yet."
    return (
        f"Refused: {unit.unit_class} (row {unit.row}) is no test flake (4a, 4b): "
        f"{_NOT_AT_FAULT[unit.unit_class]}."
    )


def sections(detail: TestDetail, width: int, look: Look) -> list[Section]:
    """The whole document. From 100 cells on panels stand beside each other."""
    top = Section("", tuple(_top(detail, width, look)))
    why = Section("WHY", tuple(_why(detail, width, look)))
    rest = [Section("MESSAGE", tuple(one)) for one in messages(detail, width, look)]
    rest.append(Section("KEPT OUTPUT", tuple(records(detail, width, look))))
    rest.append(Section("NAMES", tuple(_names(detail, width, look))))
    rest = [one for one in rest if one.lines]
    if width < WIDE - 1:
        parts = (
            ("ARMS", arms),
            ("WHY", _why),
            (TIMELINE, timeline),
            ("FAILURES", failures),
            ("RESOURCES", _resources),
            ("RUNS", runs),
            ("QUARANTINE", _quarantine),
        )
        narrow = [Section(name, tuple(make(detail, width, look))) for name, make in parts]
        return [top, *narrow, *rest]
    left = (width - _GAP) * 11 // 20
    at_right = width - _GAP - left
    proof = beside(arms(detail, left, look), timeline(detail, at_right, look), left, _GAP)
    kinds = [*failures(detail, left, look), BLANK, *_resources(detail, left, look)]
    cells_ = [*runs(detail, at_right, look), BLANK, *_quarantine(detail, at_right, look)]
    wide = [
        top,
        Section(TIMELINE, tuple(proof)),
        why,
        Section("FAILURES", tuple(beside(kinds, cells_, left, _GAP))),
        *rest,
    ]
    return [Section(one.name, (*one.lines, BLANK)) for one in wide]


# What it is and what to do


def _top(detail: TestDetail, width: int, look: Look) -> list[Line]:
    unit = detail.unit
    why = wrapped(look.data(unit.why), width - 2, most=_MOST)
    return [*(line(" ", one) for one in why), *_do(detail, width, look)]


def _do(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """The imperative, and the command that shows the reasoning, which `y` copies whole."""
    action = wrapped(look.data(detail.unit.action), width - 5, most=_MOST)
    made = [
        line(bold(" DO ", Ink.ACCENT) if not at else "    ", *emphasised(one))
        for at, one in enumerate(action)
    ]
    copies = Span("y copies ", Ink.DIM, act="copy")
    if detail.command is None:
        text = "No command to copy: an id holds a control character."
        return [*made, line("    ", Span(text, Ink.UNSURE))]
    whole = look.data(detail.command)
    used = cells(made[-1]) + 2 if made else 4
    room = width - used - len(copies.text) - 2
    if made and room >= min(cells(whole), 48):
        command = Span(look.middle(whole, room), Ink.ACCENT, act="copy")
        return [*made[:-1], spread(line(made[-1], "  ", command), copies, width)]
    command = Span(look.middle(whole, width - 4 - len(copies.text) - 2), Ink.ACCENT, act="copy")
    return [*made, spread(line("    ", command), copies, width)]


# WHY ROW


def _why(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """The row that matched, then every row above it with the numbers that made it no."""
    unit = detail.unit
    note = dim("first match wins; what stands above it did not match")
    made = [heading(f"WHY ROW {unit.row}", note, width, look)]
    for one in detail.tried:
        made += _tried(one, width, look)
    return [*made, _literal(unit, width, look)]


def _tried(one: Tried, width: int, look: Look) -> list[Line]:
    ink = OF_CLASS[one.unit_class]
    if one.matches:
        start = line(bold(f" {one.row:<3}{look.glyphs.match} yes ", ink))
    else:
        word = dim("no ") if judged(one) else Span("?  ", Ink.UNSURE, bold=True)
        start = line(dim(f" {one.row:<3}  "), word, " ")
    condition: Line = BLANK
    if width >= HUGE:
        condition = line(dim(fit(one.condition, 56, look.glyphs.ellipsis)[0].text), "  ")
        condition = fit(condition, 58)
    indent = cells(start) + cells(condition)
    numbers = wrapped(look.data(one.numbers), width - indent - 1, most=_MOST) or [BLANK]
    lines = [line(start, condition, numbers[0])]
    lines += [line(" " * indent, more) for more in numbers[1:]]
    if not one.matches:
        return lines
    return [lit(emphasised(fit(made, width, look.glyphs.ellipsis))) for made in lines]


def judged(one: Tried) -> bool:
    """Whether the log holds what the row asks for; its numbers say what is missing."""
    return not one.numbers.startswith(_MISSING) and "(nothing to compare" not in one.numbers


def _literal(unit: UnitRow, width: int, look: Look) -> Line:
    """What the four-row table says when it is taken by the letter."""
    label = dim(" literal table  ")
    if unit.seed_row is None:
        return fit(line(label, dim("no row of it matches")), width, look.glyphs.ellipsis)
    said = _LITERAL[unit.seed_row]
    agrees = said is unit.unit_class
    verdict = dim("agrees") if agrees else Span("differs", Ink.UNSURE, bold=True)
    return fit(line(label, f"row {unit.seed_row} {said}  ", verdict), width, look.glyphs.ellipsis)


# RESOURCES


def _resources(detail: TestDetail, width: int, look: Look) -> list[Line]:
    found = detail.resources
    made = [heading("RESOURCES", dim("touched by two or more runs, one wrote"), width, look)]
    if not found.recorded:
        text = "What executions touched is not recorded: who held what is not known."
        return [*made, *(line(" ", one) for one in wrapped(text, width - 2, Ink.UNSURE))]
    if not found.shared:
        return [*made, line(dim(" Nothing was shared with another run."))]
    for one in found.shared:
        made += _shared(one, detail.unit, width, look)
    rest = found.total - len(found.shared)
    return made + ([line(dim(f" and {number(rest)} more"))] if rest else [])


def _shared(one: Shared, unit: UnitRow, width: int, look: Look) -> list[Line]:
    name = wrapped(look.data(f"{one.held.kind} {one.held.id}"), width - 2, most=_MOST)
    writes = "all write" if one.writes == one.uses else f"{number(one.writes)} write"
    alone = f", {number(one.alone)} alone" if one.alone else ""
    covered = f"{number(one.covered)} of {number(one.failures)}"
    said = [
        f"{number(one.uses)} uses in company, {writes}{alone}; {number(one.runs)} runs in all",
        f"a peer held it during {covered} failures in company",
    ]
    if one.peer_test is not None:
        same = one.peer_test == unit.test_id
        test = "the same test" if same else one.peer_test
        said.append(f"peer {one.peer_patch}, running {test}")
    lines = [part for text in said for part in wrapped(look.data(text), width - 4, Ink.DIM, _MOST)]
    return [
        *(line(" ", *emphasised(part)) for part in name),
        *(line("   ", part) for part in lines),
    ]


# QUARANTINE and the names


def _quarantine(detail: TestDetail, width: int, look: Look) -> list[Line]:
    unit = detail.unit
    refused = unit.unit_class is not UnitClass.FLAKE
    note = dim("refused" if refused else "possible")
    made = [heading("QUARANTINE", note, width, look)]
    texts = [(freezing(unit), Ink.TEXT)]
    if refused:
        texts.append((f"What would change it: {look.data(unit.action)}", Ink.DIM))
    for text, ink in texts:
        made += [line(" ", one) for one in wrapped(text, width - 2, ink, _MOST)]
    return made


def _names(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """Every name whole: elsewhere they are cut."""
    unit = detail.unit
    logs = dict.fromkeys(one.at.rpartition(":")[0] for one in detail.failing)
    named: list[tuple[str, str | None]] = [
        ("test", unit.test_id),
        ("variant", unit.variant),
        ("patch", unit.patch_id),
        ("experiment", unit.experiment),
        ("cause", unit.cause or None),
        *(("log", log) for log in logs),
    ]
    made = [heading("NAMES", dim("whole"), width, look)]
    for label, value in named:
        if value is None:
            continue
        lines = wrapped(look.data(value), width - 14, most=_MOST) or [BLANK]
        made.append(line(dim(f" {label:<12}"), lines[0]))
        made += [line(" " * 13, more) for more in lines[1:]]
    return made
