"""How the overview is written: trust, classes, what to do next, and the last soaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.model import UnitClass
from analysis.quarantine.replay import Entry
from analysis.quarantine.view import QuarantineView
from analysis.queries.causes import CauseRow
from analysis.queries.overview import CanarySum, ClassCount, Overview, Rank, Tasks, Trust
from tui.glyphs import Glyphs
from tui.inks import OF_CLASS, Ink
from tui.lines import BLANK, Line, Part, Span, bold, cells, dim, fit, line, right, spread
from tui.look import Look, between, count, number, percent, plural
from tui.screens.tests_lines import cause_label
from tui.state import Ordering
from tui.widgets.document import heading

RANK_CELLS = 8
WHERE_CELLS = 26
LABEL_CELLS = 23


@dataclass(frozen=True)
class Task:
    """A line of DO NEXT: a cause, or a quarantine entry that lapsed; neither where a rank has
    nothing to do. position: from 1 within its rank of `of`."""

    rank: Rank
    cause: CauseRow | None
    position: int
    of: int
    entry: Entry | None = None

    @property
    def idle(self) -> bool:
        """There is nothing to do in this rank."""
        return self.cause is None and self.entry is None


def tasks_of(ranks: Sequence[Tasks], most: int, lapsed: Sequence[Entry]) -> list[Task]:
    """The first `most` of each rank; a rank without any keeps its place."""
    found: list[Task] = []
    for rank in ranks:
        if rank.rank is Rank.LAPSED and lapsed:
            found += [
                Task(rank.rank, None, position, len(lapsed), entry)
                for position, entry in enumerate(lapsed[:most], start=1)
            ]
            continue
        found += [
            Task(rank.rank, cause, position, rank.total)
            for position, cause in enumerate(rank.first[:most], start=1)
        ] or [Task(rank.rank, None, 0, 0)]
    return found


def fitting_tasks(ranks: Sequence[Tasks], room: int, lapsed: Sequence[Entry] = ()) -> list[Task]:
    """As many of each rank as fit with their reasons under them; one of each at least."""
    for most in (3, 2):
        tasks = tasks_of(ranks, most, lapsed)
        if 2 * len(tasks) <= room:
            return tasks
    return tasks_of(ranks, 1, lapsed)


def answer(found: Overview, look: Look) -> list[Line]:
    """`◆ DO NOT TRUST  Red passed 9 times, 114 passes prove nothing. Block merges.`

    The longest form first, the last one names one reason.
    """
    if found.trust is Trust.YES:
        said = (
            f"Red failed {count(found.red.good, found.red.judged)}, green passed "
            f"{count(found.green.good, found.green.judged)}, nothing is against it."
        )
        return [_answered(look.glyphs.stable, found.trust, said, Ink.STABLE)]
    unknown = found.trust is Trust.UNKNOWN
    sign = look.glyphs.unsure if unknown else look.glyphs.broken
    end = "Run more." if unknown else "Block merges."
    return [
        _answered(sign, found.trust, f"{_reasons(found, most, look)} {end}", _TRUST[found.trust])
        for most in range(len(found.reasons), 0, -1)
    ]


_TRUST = {Trust.NO: Ink.BROKEN, Trust.UNKNOWN: Ink.UNSURE, Trust.YES: Ink.STABLE}


def _reasons(found: Overview, most: int, look: Look) -> str:
    said = look.data(", ".join(found.reasons[:most]))
    rest = len(found.reasons) - most
    more = f", and {plural(rest, 'more reason')}" if rest else ""
    return f"{said[:1].upper()}{said[1:]}{more}."


def _answered(sign: str, word: str, said: str, ink: Ink) -> Line:
    return line(bold(f"{sign} {word}", ink), "  ", bold(said))


# CLASSES


class ClassPainter:
    """A line a class: how many units, as a bar."""

    def __init__(self, units: int = 0, most: int = 0) -> None:
        self.units, self.most = units, most

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        note = dim(f"{plural(self.units, '(patch, test) pair')}")
        return [heading("CLASSES", note, width, look, focused=focused)]

    def row(self, row: ClassCount, width: int, look: Look, lines: int) -> Sequence[Line]:
        ink = OF_CLASS[row.unit_class]
        units = Span(number(row.units), ink if row.units else Ink.DIM, bold=bool(row.units))
        start = line(fit(look.unit_class(row.unit_class), LABEL_CELLS), right(units, 6), " ")
        split = row.unit_class is UnitClass.INSUFFICIENT and 0 < row.failed < row.units
        words = f" {number(row.failed)} failed, {number(row.units - row.failed)} not"
        note = dim(words) if split and width >= 56 else ""
        room = width - cells(start) - cells(note) - 1
        return [line(start, *_bars(row, self.most, room, look), note)]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return []


def _bars(row: ClassCount, most: int, room: int, look: Look) -> list[Part]:
    """What never failed is drawn light where evidence is missing: it is not so many problems."""
    ink = OF_CLASS[row.unit_class]
    whole = look.bar(row.units, most, room, ink)
    if row.unit_class is not UnitClass.INSUFFICIENT:
        return [whole]
    failed = min(len(whole.text), len(look.bar(row.failed, most, room, ink).text))
    glyphs = look.glyphs
    return [
        Span(glyphs.bar * failed, ink),
        Span(glyphs.light_bar * (len(whole.text) - failed), ink),
    ]


# TRUST


@dataclass(frozen=True)
class Fact:
    """A line of TRUST. target: the screen that has the details."""

    parts: Line
    at_right: str
    target: str


def facts_of(found: Overview, glyphs: Glyphs, held: QuarantineView | None = None) -> list[Fact]:
    """What is known of the gate."""
    facts = [*_canary(found.red, "red failed", "bad accepted", glyphs)]
    facts += _canary(found.green, "green passed", "good refused", glyphs)
    void = found.void_passes
    facts.append(
        Fact(
            _fact(
                glyphs.invalid if void else glyphs.stable,
                "no verdict",
                line(_weighed(void, Ink.INVALID), f" of {plural(found.passes, 'pass', 'passes')}"),
                Ink.INVALID if void else Ink.STABLE,
            ),
            "",
            "evidence",
        )
    )
    rule, most = next(iter(found.void.items()), ("", 0))
    others = f" +{len(found.void) - 1} rules" if len(found.void) > 1 else ""
    unproven = f"{number(found.unproven)} unproven" if found.unproven else "every pass is proven"
    what = f"{rule} {number(most)}{others}" if rule else unproven
    facts.append(Fact(line("  ", dim(what)), "", "evidence"))
    flipped = found.flipped
    facts.append(
        Fact(
            _fact(
                glyphs.race if flipped else glyphs.stable,
                "flipped",
                line(
                    _weighed(flipped, Ink.RACE), f" of {plural(found.patches, 'patch', 'patches')}"
                ),
                Ink.RACE if flipped else Ink.STABLE,
            ),
            "pass and fail",
            "stability",
        )
    )
    outages = len(found.outages)
    where = f" {glyphs.dot} {plural(outages, 'outage')}" if outages else ""
    facts.append(_quarantined(held, where, glyphs))
    return facts


def _quarantined(held: QuarantineView | None, where: str, glyphs: Glyphs) -> Fact:
    """How many tests are excused, and how much could hide behind them."""
    if held is None or not held.listed:
        none = line(f"none{where}")
        return Fact(_fact(glyphs.active, "quarantine", none, Ink.DIM), "", "quarantine")
    lapsed = len(held.lapsed)
    said = line(bold(number(len(held.listed))), f", {lapsed} lapsed" if lapsed else "", where)
    ink = Ink.BROKEN if lapsed or held.inert else Ink.FLAKE
    sign = glyphs.lapsed if lapsed else glyphs.active
    hides = f"hides {glyphs.at_most}{100 * held.upper:.0f}%" if held.excused.n else ""
    return Fact(_fact(sign, "quarantine", said, ink), hides, "quarantine")


def _canary(canary: CanarySum, deed: str, rate: str, glyphs: Glyphs) -> list[Fact]:
    strayed, n = canary.deviating
    if not n:
        none = line(bold("never judged", Ink.UNSURE))
        unknown = line("  ", dim(f"{rate:<13}"), dim("unknown"))
        return [
            Fact(_fact(glyphs.unsure, deed, none, Ink.UNSURE), "", "stability"),
            Fact(unknown, "", "stability"),
        ]
    ink = Ink.BROKEN if strayed else Ink.STABLE
    sign = glyphs.broken if strayed else glyphs.stable
    good = Span(count(canary.good, canary.judged), ink, bold=bool(strayed))
    low, high = canary.interval
    share = line(bold(percent(strayed / n)), dim(f" {between(low, high)}"))
    return [
        Fact(_fact(sign, deed, line(good), ink), "must be all", "stability"),
        Fact(line("  ", dim(f"{rate:<13}"), share), "95 %", "stability"),
    ]


def _fact(sign: str, label: str, value: Line, ink: Ink) -> Line:
    return line(Span(f"{sign} ", ink), f"{label:<13}", value)


def _weighed(value: int, ink: Ink) -> Span:
    return bold(number(value), ink) if value else dim("0")


class FactPainter:
    """The lines of TRUST."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        return [heading("TRUST", "", width, look, focused=focused)]

    def row(self, row: Fact, width: int, look: Look, lines: int) -> Sequence[Line]:
        whole = cells(row.parts) + len(row.at_right) + 2
        return [
            spread(row.parts, dim(f"{row.at_right} "), width, look.glyphs.ellipsis)
            if whole <= width
            else fit(row.parts, width, look.glyphs.ellipsis)
        ]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return []


# DO NEXT

_SIGNS = {
    Rank.BLOCK: ("broken", Ink.BROKEN),
    Rank.INFRA: ("harness", Ink.HARNESS),
    Rank.PATCH: ("race", Ink.RACE),
    Rank.LAPSED: ("lapsed", Ink.ACCENT),
    Rank.RUN_MORE: ("unsure", Ink.UNSURE),
}


class TaskPainter:
    """What to do, and under it why, where there is room."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        note = dim("worst first; one line a rank" if width < 100 else "worst first, by rank")
        return [heading("DO NEXT", note, width, look, focused=focused)]

    def row(self, row: Task, width: int, look: Look, lines: int) -> Sequence[Line]:
        sign, ink = _SIGNS[row.rank]
        first = row.position <= 1
        mark = f"{getattr(look.glyphs, sign)} {row.rank.value:<{RANK_CELLS}} " if first else ""
        start = line(Span(mark, ink, bold=True)) if first else line(" " * (RANK_CELLS + 3))
        room = width - cells(start)
        if row.entry is not None:
            task, because_ = self._lapsed(row, row.entry, room, look)
            return [line(start, task), line(" " * cells(start), because_)][:lines]
        if row.cause is None:
            return [line(Span(mark, Ink.DIM), dim(f"{look.glyphs.dash} none"))]
        what = look.data(imperative(row.cause))
        if len(what) > room - cells(self._of(row)):
            what = f"{what.partition(';')[0].rstrip('.')}."
        made = [line(start, spread(bold(what), self._of(row), room, look.glyphs.ellipsis))]
        if lines > 1:
            where = dim(f" {soaks(row.cause, WHERE_CELLS, look)} ")
            why = dim(because(row.cause, room - cells(where), look))
            blank = " " * cells(start)
            made.append(line(blank, spread(why, where, room, look.glyphs.ellipsis)))
        return made

    def _lapsed(self, row: Task, entry: Entry, room: int, look: Look) -> tuple[Line, Line]:
        what = f"Renew or fix {look.test(entry.test_id, max(12, room - 24))}."
        why = dim(f"owner {look.data(entry.owner)}, lapsed {entry.expires_at:%d %b %H:%MZ}")
        task = spread(bold(what), self._of(row), room, look.glyphs.ellipsis)
        return task, line(why)

    def _of(self, row: Task) -> Part:
        return dim(f" {row.position} of {number(row.of)} ")

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 2 if height >= 2 * rows else 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" Nothing."))]


def imperative(cause: CauseRow) -> str:
    """What to do, with its address."""
    if cause.unit_class is not UnitClass.CONSISTENT:
        return cause.action
    return f"{cause.action.rstrip('.')}: {cause.sample.patch_id}."


def because(cause: CauseRow, room: int, look: Look) -> str:
    """`port 26411: 12/36 in company, 0/12 alone`."""
    counts = (
        f": {count(cause.company.k, cause.company.n)} in company, "
        f"{count(cause.alone.k, cause.alone.n)} alone"
    )
    return cause_label(cause, "cause", max(8, room - len(counts)), look) + counts


def soaks(cause: CauseRow, room: int, look: Look) -> str:
    """`gateway`, or `gateway +2`."""
    more = f" +{cause.soaks - 1}" if cause.soaks > 1 else ""
    return look.middle(look.data(cause.sample.experiment), room - len(more)) + more


# LAST SOAKS

_STRIP_LABEL = 14
_STRIP_NOTE = 10


def history(found: Overview, width: int, height: int, look: Look) -> list[Line]:
    """Signs of trouble soak by soak, the newest at the right."""
    if height < 2 or not found.history:
        return []
    glyphs = look.glyphs
    room = width - _STRIP_LABEL - _STRIP_NOTE - 2
    step = 2 if 2 * len(found.history) <= room else 1
    last = found.history[-(room // step) :]
    shares = [one.fails / one.verdicts if one.verdicts else None for one in last]
    levels = "".join(_level(share, glyphs) + " " * (step - 1) for share in shares)
    of = f" of {number(found.experiments)}" if len(last) < found.experiments else ""
    title = f"LAST {len(last)}{of} SOAKS" if len(last) != 1 else "THE ONLY SOAK"
    note = dim("oldest left; subject verdicts of each")
    made = [
        heading(title, note, width, look),
        _strip("fail share", line(Span(levels, Ink.BROKEN)), "0 to 100 %", width),
    ]
    rows: tuple[tuple[str, list[int], str, Ink], ...] = (
        ("void passes", [one.void_passes for one in last], glyphs.invalid, Ink.INVALID),
        ("red passed", [one.red_passed for one in last], glyphs.broken, Ink.BROKEN),
        ("green failed", [one.green_failed for one in last], glyphs.broken, Ink.BROKEN),
    )
    for label, values, sign, ink in rows:
        marks = [
            Span((sign if value else glyphs.passed) + " " * (step - 1), ink if value else Ink.DIM)
            for value in values
        ]
        soaks_ = sum(1 for value in values if value)
        note_ = plural(soaks_, "soak") if soaks_ else ""
        made.append(_strip(label, line(*marks), note_, width))
    return [*made, BLANK][:height]


def _strip(label: str, marks: Line, note: str, width: int) -> Line:
    return spread(line(" ", dim(f"{label:<{_STRIP_LABEL}}"), marks), dim(f"{note} "), width)


def _level(share: float | None, glyphs: Glyphs) -> str:
    if share is None:
        return " "
    if not share:
        return glyphs.passed
    return glyphs.levels[min(len(glyphs.levels) - 1, int(share * len(glyphs.levels)))]
