"""What the Stability screen says beside its grid: the answer, rates by phase, tells, a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.attribution.tell import Tell
from analysis.queries.cells import FAILED, NO_VERDICT, VOID
from analysis.queries.grid import Grid, Rates
from analysis.queries.rates import PhaseRate, Rate
from analysis.queries.stability import PatchRow, RunCell
from tui.inks import Ink
from tui.lines import BLANK, Line, Span, bold, cells, dim, line, right, wrapped
from tui.look import Look, count, number, plural
from tui.screens.interval import interval_bar
from tui.screens.run_grid import RunsAt
from tui.screens.stability_grid import TELL
from tui.widgets.document import heading

_PHASE_CELLS = 11
_LEAST_SIDE = 5
_LEAST_AXIS = 12
_RESOURCE_CELLS = 60
_HELD = ("port", "lock")


# The answer


def answer(found: Grid, look: Look) -> list[Line]:
    """`⇄ 7 OF 8 PATCHES FLIPPED  in 29 of 39 soaks; 8 held, 2 have no verdict.`

    The longest form first.
    """
    totals = found.totals
    if not totals.patches:
        said = f"{plural(totals.runs, 'run')} of {plural(totals.rows, 'patch', 'patches')}."
        return [_answered(look.glyphs.unsure, "NO VERDICT", said, Ink.UNSURE)]
    row = "soak" if totals.rows == found.soaks else f"patch {look.glyphs.times} soak row"
    rest = [f"{number(totals.held)} held" if totals.held else ""]
    have = "has" if totals.void == 1 else "have"
    rest += [f"{number(totals.void)} {have} no verdict" if totals.void else ""]
    others = ", ".join(part for part in rest if part)
    if not totals.patches_flipped:
        word, sign, ink = "NO PATCH FLIPPED", look.glyphs.stable, Ink.STABLE
        said = f"{plural(totals.patches, 'patch', 'patches')}, {plural(totals.runs, 'run')}"
        # Both outcomes on different digests or bases, or in an outage, are no flip.
        mixed = f"{number(totals.flipped)} have both verdicts" if totals.flipped else ""
        tail = "; ".join(part for part in (said, mixed, others) if part)
        return [_answered(sign, word, f"{tail}.", ink), _answered(sign, word, f"{said}.", ink)]
    word = f"{number(totals.patches_flipped)} OF {number(totals.patches)} PATCHES FLIPPED"
    said = f"in {number(totals.flipped)} of {plural(totals.rows, row)}"
    if totals.rows == totals.flipped == found.soaks == 1:
        said = "in the only row of this soak"
    tail = f"{said}; {others}." if others else f"{said}."
    return [
        _answered(look.glyphs.race, word, tail, Ink.RACE),
        _answered(look.glyphs.race, word, f"{said}.", Ink.RACE),
    ]


def _answered(sign: str, word: str, said: str, ink: Ink) -> Line:
    return line(bold(f"{sign} {word}", ink), "  ", bold(said))


# BY PHASE


def phases(found: Rates, width: int, height: int, look: Look) -> list[Line]:
    """The failure rate of a patch and of green in each phase, with the interval of the patch."""
    counts = [count(rate.k, rate.n) for one in found.phases for rate in (one.patch, one.green)]
    side = max([_LEAST_SIDE, *(len(text) for text in counts)])
    start = 1 + _PHASE_CELLS + 2 * (2 + side) + 2 + 2
    axis = width - start - 2
    head = _axis_head(start, axis, width, look)
    if not found.phases:
        return [head, line(dim(" No verdict in any phase: there is no rate."))][:height]
    lines = [_phase(one, side, axis, look) for one in found.phases]
    if len(lines) >= height:
        left = len(lines) - (height - 2)
        lines = [*lines[: height - 2], line(dim(f" {plural(left, 'more phase')}: needs room"))]
    return [head, *lines][:height]


def _axis_head(start: int, axis: int, width: int, look: Look) -> Line:
    """`─ BY PHASE ● patch  ○ green ──0 ───── 50 ───── 100 %`."""
    glyphs = look.glyphs
    note = line(Span(glyphs.point, Ink.RACE), dim(" patch  "), Span(glyphs.control), dim(" green"))
    made = heading("BY PHASE", note, width, look)
    if axis < _LEAST_AXIS:
        return made
    signs = [replace(span, text=sign) for span in made for sign in span.text]
    for label, end in (("0 ", 2), (" 50 ", axis // 2 + 2), (" 100 % ", axis + 1)):
        first = start + end - len(label)
        signs[first : start + end] = [dim(sign) for sign in label]
    return line(*signs)


def _phase(one: PhaseRate, side: int, axis: int, look: Look) -> Line:
    glyphs = look.glyphs
    ink = Ink.TEXT if one.patch.k or one.green.k else Ink.DIM
    return line(
        Span(f" {one.phase:<{_PHASE_CELLS}}", ink),
        Span(f"{glyphs.point} ", Ink.RACE),
        right(_weighed(one.patch, glyphs.dash), side),
        "  ",
        Span(f"{glyphs.control} "),
        right(_weighed(one.green, glyphs.dash), side),
        "  ",
        _bar(one, axis, look) if axis >= _LEAST_AXIS else "",
    )


def _weighed(rate: Rate, none: str) -> Span:
    if not rate.n:
        return dim(none)
    return bold(count(rate.k, rate.n)) if rate.k else dim(count(rate.k, rate.n))


def _bar(one: PhaseRate, axis: int, look: Look) -> Line:
    patch, green = one.patch, one.green
    return interval_bar(
        (patch.low, patch.high) if patch.n else None,
        patch.k / patch.n if patch.n else None,
        green.k / green.n if green.n else None,
        axis,
        Ink.RACE,
        look.glyphs,
    )


# THE TELL, and what else there is to say of a row


def notes(row: PatchRow, width: int, height: int, look: Look) -> list[Line]:
    """The tells of a row: one line, or a panel of them where there is room."""
    counts = row.counts
    outage = (
        f"{number(counts.outage_runs)} of its {plural(counts.runs, 'run')} lie in an outage."
        if counts.outage_runs
        else ""
    )
    if height < 3:
        return [_one_line(row, outage, width, look)]
    made: list[Line] = []
    for tell in row.tells:
        where = f"in {look.data(counts.experiment)}" if counts.experiment else ""
        text = _whole(tell, where, look)
        made += [
            line(" ", bold(TELL, Ink.RACE) if not at else " ", " ", one)
            for at, one in enumerate(
                wrapped(text, width - 4, most=2, ellipsis=look.glyphs.ellipsis)
            )
        ]
    note = "No patch is stably red beside this one."
    if row.tells:
        known = any(tell.kind is not None for tell in row.tells)
        named = "Row 1a names resource and peer. " if known else ""
        note = f"{named}Enter shows the tests of this patch."
    made.append(line(dim(f"   {note}")))
    if outage:
        made.append(line(dim(f"   {outage}")))
    if len(made) >= height:
        left = len(made) - (height - 2)
        made = [*made[: height - 2], line(dim(f"   {plural(left, 'more line')}: needs room"))]
    return [heading("THE TELL", "", width, look), *made][:height]


def _shared(tell: Tell, look: Look, most: int) -> str:
    """`port 26411`; of a path the end."""
    kind, name = look.cut(look.data(tell.kind or ""), 10), tell.id or ""
    room = max(4, most - cells(kind) - 1)
    written = look.path(name, room) if "/" in name else look.cut(look.data(name), room)
    return f"{kind} {written}"


def _one_line(row: PatchRow, outage: str, width: int, look: Look) -> Line:
    """The first tell, and how many more there are."""
    if not row.tells:
        said = outage or "no tell: nothing is stably red beside it."
        return line(dim(f"   {said}"))
    tell, more = row.tells[0], f" +{len(row.tells) - 1}" if len(row.tells) > 1 else ""
    beside = f"{look.middle(look.data(tell.stable), 16)} stays red beside it"
    if tell.stable == row.counts.patch_id:
        beside = f"stays red beside {look.middle(look.data(tell.varying), 16)}"
    start = line(" ", bold(TELL, Ink.RACE), f" the tell: {beside}")
    if tell.kind is None:
        return line(start, f"; record resources for these two.{more}")
    room = width - cells(start) - cells(more) - len(" on . ")
    return line(start, f" on {_shared(tell, look, room)}.{more}")


def _whole(tell: Tell, where: str, look: Look) -> str:
    stable = (
        f"{look.data(tell.stable)} is stably red ({count(tell.stable_fails, tell.stable_runs)})"
    )
    varying = f"{look.data(tell.varying)} ({count(tell.varying_fails, tell.varying_runs)})"
    if tell.kind is None:
        return f"{stable} beside {varying} {where}: record resources for these two."
    verb = "hold" if tell.kind in _HELD else "use"
    return f"{stable} beside {varying} {where}: both {verb} {_shared(tell, look, _RESOURCE_CELLS)}."


# The cell under the cursor

_WORDS = {"p": "passed", "f": "failed", "n": "no verdict", "v": "void"}


def opened_run(at: RunsAt, runs: Sequence[RunCell]) -> int | None:
    """The number of the run that a cell stands for, from 0: its first failure, or its first."""
    held = range(at.first, min(at.first + at.size, len(runs)))
    failed = [number_ for number_ in held if runs[number_].cell == FAILED]
    odd = [number_ for number_ in held if runs[number_].cell in (VOID, NO_VERDICT)]
    return next(iter([*failed, *odd, *held]), None)


def cell_notes(
    at: RunsAt, runs: Sequence[RunCell] | None, width: int, height: int, look: Look
) -> list[Line]:
    """What a cell holds: which runs of the phase, how they ended, and the one that Enter opens."""
    if runs is None:
        return [line(dim(f" {at.phase}: reading {look.glyphs.ellipsis}"))]
    opened = opened_run(at, runs)
    if opened is None:
        return [line(dim(" These runs are gone."))]
    run = runs[opened]
    last = at.first + at.size
    which = f"{at.first + 1}{look.glyphs.dash}{last}" if at.size > 1 else f"{last}"
    place = f"{at.phase} {which} of {number(len(runs))}"
    held = [one.cell for one in runs[at.first : last]]
    ends = ", ".join(
        f"{held.count(cell)} {word}"
        for cell, word in _WORDS.items()
        if at.size > 1 and held.count(cell)
    )
    ended = _WORDS.get(run.cell, run.cell) + (" in an outage" if run.in_outage else "")
    name, when = look.data(run.run_id), look.ago(run.started)
    if height < 3:
        said = f" {place}: {ends + '; ' if ends else ''}{look.glyphs.enter} "
        tail = f" {ended}, {when}"
        room = max(8, width - cells(said) - cells(tail) - 1)
        return [line(bold(said), Span(look.middle(name, room), Ink.ACCENT), dim(tail))]
    record = look.path(f"{run.log}:{run.line}", width - 4)
    round_ = f", round {run.round}" if run.round is not None else ""
    made = [
        line("   ", Span(look.middle(name, width - 30), Ink.ACCENT), f" {ended}"),
        line(dim(f"   {when}{round_}")),
        line(dim(f"   {record}")),
    ]
    note = dim(f"{place}{': ' if ends else ''}{ends}")
    lines = [heading("RUN", note, width, look), *made, BLANK]
    return lines[:height]
