"""How often a test failed in each arm of an experiment: as a chart, and run by run."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.model import ARMS, Role
from analysis.queries.detail import Arm, Strip, TestDetail
from tui.glyphs import Glyphs
from tui.inks import OF_CLASS, Ink
from tui.lines import Line, Part, Span, bold, dim, line, right, spread, wrapped
from tui.look import Look, count, number
from tui.screens.interval import interval_bar
from tui.widgets.document import heading

_PHASE_CELLS = 11
_ROLE_CELLS = 8
_SMALL = 0.25


def arms(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """A line an arm: k/n of the patch with its interval, k/n of green, both on one axis."""
    glyphs, ink = look.glyphs, OF_CLASS[detail.unit.unit_class]
    top = axis_end(detail.arms)
    own = max([5, *(len(count(*one.subject)) for one in detail.arms)])
    green = max([5, *(len(count(*one.green)) for one in detail.arms)])
    start = 1 + _PHASE_CELLS + 2 + own + 2 + 2 + green + 2
    room = max(8, width - start - 3)
    legend = line(Span(glyphs.point, ink), dim(" patch  "), glyphs.control, dim(" green"))
    made = [line(heading("ARMS", legend, start, look), *_axis(top, room, width - start, look))]
    for one in detail.arms:
        failed = bool(one.subject[0])
        label = f" {one.phase:<{_PHASE_CELLS}}"
        subject = right(count(*one.subject), own) if one.subject[1] else right("-", own)
        made.append(
            line(
                label if failed else dim(label),
                Span(f"{glyphs.point} ", ink),
                *(bold(span.text, ink) if failed else dim(span.text) for span in subject),
                Span(f"  {glyphs.control} ", Ink.TEXT if one.green[0] else Ink.DIM),
                _green(one, green),
                "  ",
                *_bar(one, top, room, ink, glyphs),
            )
        )
    if not detail.arms:
        made.append(line(dim(" No run of an arm counts.")))
    return [*made, *_bounds(detail, width, look), *_missing(detail, width)]


def _green(one: Arm, width: int) -> Line:
    written = count(*one.green) if one.green[1] else "-"
    return right(written if one.green[0] else dim(written), width)


def axis_end(shown: Sequence[Arm]) -> float:
    """Where the axis ends: at 100 %, or at 25 % if every interval and point is below."""
    highest = [one.interval[1] for one in shown if one.subject[1]]
    highest += [one.green[0] / one.green[1] for one in shown if one.green[1]]
    return _SMALL if highest and max(highest) < _SMALL else 1.0


def _axis(top: float, room: int, width: int, look: Look) -> Line:
    """`0 ────── 50 ────── 100 %` over the bars, which are `room` cells wide."""
    rule = look.glyphs.rule
    end = f" {100 * top:.0f}"
    middle = f" {50 * top:g} "
    first = (room - len(middle)) // 2 - 1
    second = room - 1 - first - len(middle) - len(end)
    if min(first, second) < 2:
        rules = Span(f" {rule * max(0, room - 2 - len(end))}", Ink.RULE)
        return spread(line(dim("0"), rules, dim(f"{end} %")), "", width, look.glyphs.ellipsis)
    return line(
        dim("0"),
        Span(f" {rule * (first - 1)}", Ink.RULE),
        dim(middle),
        Span(rule * second, Ink.RULE),
        dim(f"{end} %"),
    )


def _bar(one: Arm, top: float, room: int, ink: Ink, glyphs: Glyphs) -> Line:
    k, n = one.subject
    green_k, green_n = one.green
    low, high = one.interval
    return interval_bar(
        (low / top, high / top) if n else None,
        k / n / top if n else None,
        green_k / green_n / top if green_n else None,
        room,
        ink,
        glyphs,
    )


def _bounds(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """What the arms say together, and what stands in none of them."""
    unit = detail.unit
    said = []
    for group, words in (("company", "in company"), ("alone", "alone")):
        bound = unit.bounds[group]
        k, n = int(bound["k"]), int(bound["n"])
        limit = look.bound(k, n, bound["upper"], bound["lower"])
        said.append(f"{words} {count(k, n)} {limit}" if n else f"{words} not judged")
    if unit.counted != "executions":
        said.append(f"in {unit.counted}")
    if unit.elsewhere:
        said.append(f"{number(unit.elsewhere)} more failed in gate or cut runs")
    text = f" {look.glyphs.dot} ".join(said)
    return [line(" ", one) for one in wrapped(text, width - 2, Ink.DIM)]


def _missing(detail: TestDetail, width: int) -> list[Line]:
    """Arms without a count: those that never ran, and those that ran and say nothing."""
    counted = {one.phase for one in detail.arms}
    ran = {strip.phase for strip in detail.strips if strip.role is not Role.RED}
    absent = [phase for phase in ARMS if phase not in counted | ran]
    left_out = [phase for phase in ARMS if phase in ran - counted]
    said = [f"not run: {', '.join(absent)}"] if absent else []
    if left_out:
        said.append(f"ran, but left out as not fresh: {', '.join(left_out)}")
    return [line(" ", one) for text in said for one in wrapped(text, width - 2, Ink.UNSURE)]


# RUNS


def runs(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """A strip an arm and role: a sign an execution, in start order."""
    total = sum(strip.n for strip in detail.strips)
    note = dim(f"{number(total)} executions, in start order")
    made = [heading("RUNS", note, width, look)]
    for strip in detail.strips:
        made += [_strip(strip, width, look)]
    return made if detail.strips else [*made, line(dim(" No execution counts."))]


def _strip(strip: Strip, width: int, look: Look) -> Line:
    label = f" {strip.phase:<{_PHASE_CELLS}}{strip.role:<{_ROLE_CELLS}}"
    counted = f" {count(strip.k, strip.n)} "
    room = max(8, width - len(label) - max(10, len(counted)) - 2)
    signs, size = strip.signs, strip.size
    if len(signs) > room - (len(_scale(size)) if size > 1 else 0):
        signs, size = squeezed(signs, size, room - len(_scale(100 * size)))
    scale = dim(_scale(size)) if size > 1 else ""
    ink = Ink.TEXT if strip.role is Role.SUBJECT else Ink.DIM
    return spread(
        line(Span(label, ink), *_signs(signs, strip, look.glyphs), scale),
        Span(counted, ink, bold=bool(strip.k) and strip.role is Role.SUBJECT),
        width,
        look.glyphs.ellipsis,
    )


def _scale(size: int) -> str:
    return f" 1 cell = {size}"


def _signs(signs: str, strip: Strip, glyphs: Glyphs) -> list[Part]:
    """Runs of equal signs as one span each. Red is there to fail: its signs stay dim."""
    made: list[Part] = []
    for sign in signs:
        fails = sign == "f"
        text = glyphs.failed if fails else glyphs.passed
        ink = Ink.BROKEN if fails and strip.role is not Role.RED else Ink.DIM
        last = made[-1] if made else None
        if isinstance(last, Span) and last.ink is ink and last.text[0] == text:
            made[-1] = Span(last.text + text, ink)
        else:
            made.append(Span(text, ink))
    return made


def squeezed(signs: str, size: int, room: int) -> tuple[str, int]:
    """Signs in at most `room` cells, several to a cell where they must be: a failure shows."""
    step = max(1, -(-len(signs) // max(1, room)))
    parts = [signs[at : at + step] for at in range(0, len(signs), step)]
    return "".join("f" if "f" in part else "p" for part in parts), size * step
