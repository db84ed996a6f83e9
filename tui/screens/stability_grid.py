"""How the grid is drawn: patches down, runs across, a band a phase, canaries on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from analysis.model import Role
from analysis.queries.cells import FAILED, NO_VERDICT, PASSED, VOID
from analysis.queries.grid import Pinned
from analysis.queries.stability import PatchRow
from tui.inks import Ink
from tui.lines import Line, Part, Span, bold, cells, dim, fit, line, right, spread
from tui.look import Look, count, plural, short
from tui.state import Ordering
from tui.widgets.document import heading
from tui.widgets.frame import WIDE

BOUND_CELLS = 5
HUGE = 160
TELL = "*"
DIGITS = 9
"""More failures than that in a cell do not fit into one digit."""


@dataclass(frozen=True)
class Band:
    """The cells of a phase. start: where it begins in a row, without the cell of the cursor."""

    phase: str
    start: int
    cells: int


@dataclass(frozen=True)
class Layout:
    """Cells of the columns. soak is 0 where there is one soak only; ratio: runs in a cell."""

    patch: int
    soak: int
    tell: int
    flips: int
    counts: int
    ratio: int
    bands: tuple[Band, ...]

    def band(self, phase: str) -> Band | None:
        """Where a phase stands."""
        return next((one for one in self.bands if one.phase == phase), None)


@lru_cache(maxsize=8)
def layout(width: int, widest: tuple[tuple[str, int], ...], most: int, soaks: int) -> Layout:
    """Columns for rows of `width` cells: as few runs in a cell as let every band fit.

    widest: (phase, the most runs of a row in it); most: the most runs of a row in all.
    """
    wide, huge = width >= WIDE - 1, width >= HUGE - 1
    patch, soak = (24, 24) if huge else (13, 16) if wide else (13, 11)
    if soaks == 1:
        patch, soak = patch + soak // 2, 0
    tell, flips = (2, 4) if wide else (1, max(2, len(short(most))))
    counts = max(6 if wide else 5, 2 * len(short(most)) + 1)
    start = patch + (1 + soak if soak else 0) + tell + flips + 1 + counts + 1 + BOUND_CELLS + 1
    room = max(width - start - 1, 2 * len(widest), 1)
    ratio = max(1, sum(runs for _, runs in widest) // room)
    while sum(-(-runs // ratio) for _, runs in widest) + max(0, len(widest) - 1) > room:
        ratio += 1
    bands = []
    for phase, runs in widest:
        bands.append(Band(phase, start, -(-runs // ratio)))
        start += bands[-1].cells + 1
    return Layout(patch, soak, tell, flips, counts, ratio, tuple(bands))


def sign(bucket: str, ratio: int, look: Look) -> Span:
    """Some runs of a patch as one cell: deviation before habit.

    One run is its verdict. Of several the failures are counted, in tenths where a digit does not
    do; a void run shows before one without a verdict, that before passes.
    """
    glyphs = look.glyphs
    failures = bucket.count(FAILED)
    if failures:
        verdicts = failures + bucket.count(PASSED)
        if ratio == 1 or (ratio > DIGITS and failures == verdicts):
            return Span(glyphs.failed, Ink.BROKEN)
        tenths = min(DIGITS, -(-10 * failures // verdicts))
        return Span(str(failures if ratio <= DIGITS else tenths), Ink.BROKEN)
    if VOID in bucket:
        return Span(glyphs.invalid, Ink.INVALID)
    if NO_VERDICT in bucket:
        return Span(glyphs.none, Ink.UNSURE)
    return dim(glyphs.passed)


def red_sign(bucket: str, ratio: int, look: Look) -> Span:
    """Some runs of the red canary as one cell: it must fail, so a pass is the deviation."""
    if PASSED in bucket:
        return bold(look.glyphs.stable, Ink.BROKEN)
    if FAILED in bucket:
        return dim(look.glyphs.failed)
    return sign(bucket, ratio, look)


def green_sign(bucket: str, ratio: int, look: Look) -> Span:
    """Some runs of the green canary as one cell."""
    made = sign(bucket, ratio, look)
    return bold(made.text, Ink.BROKEN) if FAILED in bucket else made


_SIGNS = {Role.RED: red_sign, Role.GREEN: green_sign, Role.SUBJECT: sign}


def banded(strips: Mapping[str, str], at: Layout, role: Role, look: Look) -> Line:
    """The runs of a row, band by band; what did not run is blank."""
    parts: list[Part] = []
    for position, band in enumerate(at.bands):
        if position:
            parts.append(Span(look.glyphs.column, Ink.RULE))
        strip = strips.get(band.phase, "")
        signs = [
            _SIGNS[role](strip[start : start + at.ratio], at.ratio, look)
            for start in range(0, len(strip), at.ratio)
        ]
        parts.append(fit(_joined(signs), band.cells, look.glyphs.ellipsis))
    return line(*parts)


def _joined(signs: Sequence[Span]) -> Line:
    """Neighbours that look alike as one span."""
    return tuple(
        Span("".join(one.text for one in alike), ink, is_bold)
        for (ink, is_bold), alike in groupby(signs, key=lambda one: (one.ink, one.bold))
    )


def legend(at: Layout, shown: str, width: int, look: Look) -> Line:
    """`rows 1–13 of 39        · pass  ✗ fail  ⊘ void  – none   1 cell = 1 run`."""
    glyphs = look.glyphs
    if at.ratio == 1:
        failed = f"{glyphs.failed} fail"
    elif at.ratio <= DIGITS:
        failed = f"1{glyphs.dash}9 failed"
    else:
        failed = f"1{glyphs.dash}9 tenths failed  {glyphs.failed} all"
    void, none = f"  {glyphs.invalid} void", f"  {glyphs.none} none"
    cell = f"1 cell = {plural(at.ratio, 'run')} "
    forms = (
        f"{glyphs.passed} pass  {failed}{void}{none}   {cell}",
        f"{failed}{void}{none}  {cell}",
        f"{failed}  {cell}",
        cell,
    )
    room = width - cells(shown) - 2
    form = next((one for one in forms if cells(one) <= room), cell)
    return spread(dim(f" {shown}"), dim(form), width, glyphs.ellipsis)


@dataclass(frozen=True)
class GridPainter:
    """Draws patches with their runs, and above them the canaries of the row under the cursor.

    widest, most, soaks: of the whole grid, so that bands stay where they are. canaries_of: the
    experiment of the canaries; None until they are known.
    """

    widest: tuple[tuple[str, int], ...] = ()
    most: int = 0
    soaks: int = 0
    canaries: tuple[Pinned, ...] = ()
    canaries_of: str | None = None

    def layout(self, width: int) -> Layout:
        """Columns of a row without the cell of the cursor."""
        return layout(width, self.widest, self.most, self.soaks)

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        at = self.layout(width - 1)
        return [
            _header(at, ordering, look, wide=width >= WIDE),
            *(
                fit(line(" ", self._canary(role, at, look)), width, look.glyphs.ellipsis)
                for role in (Role.RED, Role.GREEN)
            ),
            heading("", dim(self._judged_on()), width, look),
        ]

    def _canary(self, role: Role, at: Layout, look: Look) -> Line:
        if self.canaries_of is None:
            return ()
        found = next((one for one in self.canaries if one.row.role is role), None)
        ink = Ink.BROKEN if role is Role.RED else Ink.STABLE
        if found is None:
            none = f"no {role} canary in {look.data(self.canaries_of)}: "
            return line(Span(role, ink), dim(f"  {none}its verdicts cannot be judged"))
        row = found.row
        name = role if row.patch_id == role else f"{role} {look.data(row.patch_id)}"
        good = row.k == row.n if role is Role.RED else not row.k
        counts = count(row.k, row.n) if row.n < 10_000 else f"{short(row.k)}/{short(row.n)}"
        return _columns(
            at,
            Span(look.middle(name, at.patch), ink),
            dim(look.middle(look.data(row.experiment), at.soak)) if at.soak else "",
            " ",
            Span(short(row.flips), Ink.DIM if not row.flips else Ink.RACE, bold=bool(row.flips)),
            Span(counts, Ink.TEXT if good else Ink.BROKEN, bold=not good),
            dim(look.bound(row.k, row.n, found.upper, found.lower)),
            banded(row.strips, at, role, look),
        )

    def _judged_on(self) -> str:
        on = {one.row.role: one.row.judged_on for one in self.canaries}
        by_run = [role for role, judged_on in on.items() if judged_on == "run verdict"]
        if not on:
            return "above: canaries of the selected row"
        if not by_run:
            return "above: canaries of the selected row, on their pinned test"
        if len(by_run) == len(on):
            return "above: canaries of the selected row, on their run verdicts (no test is pinned)"
        return f"above: canaries of the selected row, {by_run[0]} on run verdicts"

    def row(self, row: PatchRow, width: int, look: Look, lines: int) -> Sequence[Line]:
        at, counts = self.layout(width), row.counts
        failing = bool(counts.k)
        return [
            _columns(
                at,
                Span(look.middle(look.data(counts.patch_id), at.patch), bold=failing),
                dim(look.middle(look.data(counts.experiment), at.soak)) if at.soak else "",
                bold(TELL, Ink.RACE) if row.tells else " ",
                Span(short(counts.flips)) if counts.flips else dim("0"),
                Span(f"{short(counts.k)}/{short(counts.n)}", bold=True)
                if failing
                else dim(f"0/{short(counts.n)}"),
                dim(look.bound(counts.k, counts.n, counts.upper, counts.lower)),
                banded(row.strips, at, Role.SUBJECT, look),
            )
        ]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [legend(self.layout(width - 1), shown, width, look)]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No patch here."))]


def _header(at: Layout, ordering: Ordering, look: Look, *, wide: bool) -> Line:
    """A click on a column sorts by it; the one that holds is in the colour of keys."""
    now = ordering.sort or "flips"

    def name(word: str, column: str) -> Span:
        ink = Ink.ACCENT if column == now else Ink.HEAD
        return Span(word, ink, bold=True, act=f"sort:{column}" if column else "")

    bands: list[Part] = []
    for position, band in enumerate(at.bands):
        if position:
            bands.append(Span(look.glyphs.column, Ink.RULE))
        bands.append(fit(Span(band.phase[: band.cells], Ink.DIM), band.cells))
    patch, soak = name("PATCH", "patch"), name("SOAK", "soak")
    flips, rate = name("FLIP" if wide else "FL", "flips"), name("k/n", "rate")
    return line(
        " ",
        _columns(at, patch, soak if at.soak else "", " ", flips, rate, dim("95%"), line(*bands)),
    )


def _columns(
    at: Layout,
    patch: Part,
    soak: Part,
    tell: Part,
    flips: Part,
    rate: Part,
    bound: Part,
    runs: Line,
) -> Line:
    return line(
        fit(patch, at.patch),
        line(" ", fit(soak, at.soak)) if at.soak else "",
        right(tell, at.tell),
        right(flips, at.flips),
        " ",
        right(rate, at.counts),
        " ",
        right(bound, BOUND_CELLS),
        " ",
        runs,
    )
