"""How a test failed: one execution on a time axis with its peers, the forms of failure, messages,
and where each of them is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from analysis.model import FAILING, NOT_EXECUTED, Outcome
from analysis.queries.detail import TestDetail, Timeline
from analysis.queries.exposure import Bar
from analysis.queries.failures import Excerpt, FailedExecution, FailureForm
from tui.glyphs import Glyphs
from tui.inks import OF_CLASS, Ink
from tui.lines import BLANK, Line, Part, Span, bold, cells, dim, fit, line, lit, right, wrapped
from tui.look import Look, number, plural
from tui.widgets.document import heading

_FORM_LINES = 3
_MOST = 200
"""A value is shown whole: so many lines hold the longest that is stored."""


# TIMELINE


def timeline(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """Real times of one failing execution and of those that held a resource with it."""
    shown = detail.timeline
    if shown is None:
        nothing = line(dim(" No failure on record."))
        return [heading("TIMELINE", "", width, look), nothing]
    own = shown.failure
    if own.started is None or own.finished is None:
        bars: list[Line] = [line(Span(" Its start and end are not recorded.", Ink.UNSURE))]
    else:
        bars = _bars(own, own.started, own.finished, shown.peers, width, look)
    return [
        heading("TIMELINE", _place(shown, width, look), width, look),
        *bars,
        *_company(detail, shown, width, look),
        *_run(own, width, look),
    ]


def _place(shown: Timeline, width: int, look: Look) -> Line:
    """Which failure, and of which arm; the arrows step to the one before and after."""
    own, glyphs = shown.failure, look.glyphs
    arrows: list[Part] = []
    if shown.failures > 1:
        arrows = [
            Span(f" {glyphs.left}", Ink.ACCENT, True, "left"),
            Span(f" {glyphs.right}", Ink.ACCENT, True, "right"),
        ]
    which = line(dim(f"failure {number(own.number + 1)} of {number(shown.failures)}"), *arrows)
    room = width - len("- TIMELINE  ") - cells(which)
    round_ = "" if own.round is None else f" round {own.round}"
    where = f" {glyphs.dot} {own.phase}{round_}"
    return line(which, dim(where)) if cells(where) <= room else which


def _bars(
    own: FailedExecution,
    started: datetime,
    finished: datetime,
    peers: Sequence[Bar],
    width: int,
    look: Look,
) -> list[Line]:
    names = [bold(str(own.role)), *(Span(_peer_name(peer, own, look)) for peer in peers)]
    label = min(max(8, *map(cells, names)), max(8, width // 3))
    room = max(8, width - label - 6)
    times = [(started, finished), *((peer.started, peer.finished) for peer in peers)]
    known = [moment for pair in times for moment in pair if moment is not None]
    first, last = min(known), max(known)
    span = max((last - first).total_seconds(), 1e-6)

    def at(moment: datetime) -> int:
        return round((moment - first).total_seconds() / span * (room - 1))

    made = []
    outcomes = [own.outcome, *(peer.outcome for peer in peers)]
    for name, outcome, (start, end) in zip(names, outcomes, times, strict=True):
        sign, ink = outcome_sign(outcome, look.glyphs)
        begin = line(" ", fit(name, label, look.glyphs.ellipsis), Span(f" {sign} ", ink))
        if start is None or end is None:
            made.append(line(begin, Span(look.cut("times not known", room), Ink.UNSURE)))
            continue
        bar = look.glyphs.run_bar * max(1, at(end) - at(start) + 1)
        made.append(line(begin, " " * at(start), Span(bar, ink)))
    axis = _time_axis(first - started, last - started, at(started), room)
    return [*made, line(" " * (label + 4), dim(axis))]


def _peer_name(peer: Bar, own: FailedExecution, look: Look) -> str:
    """Which run it was; its patch where it is not that of a canary."""
    return f"{peer.role} {look.data(peer.patch_id)}" if peer.role == own.role else str(peer.role)


def _time_axis(before: timedelta, after: timedelta, zero: int, room: int) -> str:
    """Times in ms or s from the start of the failing execution, where they do not overlap."""
    in_seconds = max(abs(before), after) >= timedelta(seconds=10)
    unit, factor = ("s", 1.0) if in_seconds else ("ms", 1000.0)

    def text(moment: timedelta) -> str:
        value = moment.total_seconds() * factor
        return f"{value:,.0f}" if abs(value) >= 10 or not value else f"{value:.1f}"

    end = f"{text(after)} {unit}"
    axis = [" "] * room
    _put(axis, end, room - len(end))
    _put(axis, "0", zero)
    if before:
        _put(axis, text(before), 0)
    return "".join(axis)


def _put(axis: list[str], text: str, at: int) -> None:
    """Write a label where nothing stands yet, with a blank around it."""
    taken = axis[max(0, at - 1) : at + len(text) + 1]
    if at >= 0 and at + len(text) <= len(axis) and not "".join(taken).strip():
        axis[at : at + len(text)] = text


def outcome_sign(outcome: Outcome, glyphs: Glyphs) -> tuple[str, Ink]:
    """Sign and ink of how an execution ended."""
    if outcome in FAILING:
        return glyphs.failed, Ink.BROKEN
    return (glyphs.none, Ink.DIM) if outcome in NOT_EXECUTED else (glyphs.stable, Ink.STABLE)


def _company(detail: TestDetail, shown: Timeline, width: int, look: Look) -> list[Line]:
    """What the peers held, or why nobody is beside it."""
    if not detail.resources.recorded:
        text = "What executions touched is not recorded: who was beside it is not known."
        return _said(text, width, Ink.UNSURE)
    if not shown.peers:
        return _said("No other run held a resource of it meanwhile.", width, Ink.DIM)
    held: dict[str, list[str]] = {}
    for peer in shown.peers:
        for one in peer.resources:
            held.setdefault(f"{one.kind} {one.id}", []).append(_who(peer, detail))
    made: list[Line] = []
    for resource, who in list(held.items())[:_FORM_LINES]:
        beside = ", ".join(dict.fromkeys(who))
        made += _said(f"{resource}: held by {beside}, too", width, Ink.TEXT, look)
    rest = shown.peers_total - len(shown.peers)
    return made + (_said(f"and {number(rest)} more executions", width, Ink.DIM) if rest else [])


def _who(peer: Bar, detail: TestDetail) -> str:
    same = peer.test_id == detail.unit.test_id
    return str(peer.role) if same else f"{peer.role} in {peer.test_id}"


def _run(own: FailedExecution, width: int, look: Look) -> list[Line]:
    """Which run it was, when, and where its record is."""
    when = "" if own.started is None else f", {own.started:%Y-%m-%d %H:%M:%SZ}"
    if own.started is not None and own.finished is not None:
        when += f", took {(own.finished - own.started).total_seconds() * 1000:,.0f} ms"
    at = own.at.rpartition("/")[2]
    arm = f"{own.phase}" + ("" if own.round is None else f" round {own.round}")
    place = f"run {own.run_id} of {own.patch_id}, {arm}{when}, {own.outcome}; recorded at {at}"
    return _said(place, width, Ink.DIM, look)


def _said(text: str, width: int, ink: Ink, look: Look | None = None) -> list[Line]:
    clean = text if look is None else look.data(text)
    return [line(" ", one) for one in wrapped(clean, width - 2, ink, _MOST)]


# FAILURES


def failures(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """A block a normal form: how often, what was raised where, the form, and by whom."""
    forms = detail.forms
    note = f"{number(forms.failures)} in {plural(forms.distinct, 'normal form')}"
    made = [heading("FAILURES", dim(note), width, look)]
    if not forms.failures:
        return [*made, line(dim(" No failure on record."))]
    ink = OF_CLASS[detail.unit.unit_class]
    for form in forms.forms:
        made += _form(form, width, ink, look)
    rest = forms.distinct - len(forms.forms)
    if rest:
        made += _said(f"and {plural(rest, 'more form')}", width, Ink.DIM)
    if forms.unread:
        text = f"{plural(forms.unread, 'failure')} more differ so much that no form was taken"
        made += _said(text, width, Ink.UNSURE)
    return made


def _form(form: FailureForm, width: int, ink: Ink, look: Look) -> list[Line]:
    glyphs = look.glyphs
    raised = " ".join(look.data(part) for part in (form.exc, form.errno) if part)
    where = f"  {look.data(form.where)}" if form.where else ""
    counted = right(bold(number(form.count)), 5)
    head = line(counted, "  ", bold(raised or "no exception named", ink), dim(where))
    made = [fit(head, width, glyphs.ellipsis)]
    if form.form is None:
        made.append(line(" " * 7, Span("no message recorded", Ink.UNSURE)))
    else:
        lines = [one for one in form.form.splitlines() if one.strip()]
        shown = [one for text in lines for one in _wrapped_by(text, width - 8, look)]
        made += [line(" " * 7, one) for one in shown[:_FORM_LINES]]
        if len(shown) > _FORM_LINES:
            made.append(line(" " * 7, dim(f"{glyphs.ellipsis} whole under MESSAGE")))
    by_role = f" {glyphs.dot} ".join(f"{role} {number(n)}" for role, n in form.by_role.items())
    return [*made, line(" " * 7, dim(by_role))]


def _wrapped_by(text: str, width: int, look: Look) -> list[Line]:
    return wrapped(look.data(text), width, most=_MOST)


# MESSAGES


def messages(detail: TestDetail, width: int, look: Look) -> list[list[Line]]:
    """A block a message: that of the failure on the time axis, then one of each normal form."""
    examples = [form.example for form in detail.forms.forms]
    if detail.timeline is not None:
        examples = [detail.timeline.failure, *examples]
    once: dict[Excerpt | None, FailedExecution] = {}
    for one in examples:
        once.setdefault(one.message, one)
    return [_message(one, width, look) for one in once.values()]


def _message(one: FailedExecution, width: int, look: Look) -> list[Line]:
    note = f"of failure {number(one.number + 1)}: {one.role}, {one.phase}"
    if one.message is None:
        nothing = line(Span(" The record has no message.", Ink.UNSURE))
        return [heading("MESSAGE", dim(note), width, look), nothing]
    shown = sum(map(len, one.message.passages))
    note += f", {plural(one.message.lines, 'line')}"
    if shown < one.message.lines:
        note += f", {number(shown)} shown"
    return [heading("MESSAGE", dim(note), width, look), *_excerpt(one.message, width, look)]


def _excerpt(message: Excerpt, width: int, look: Look) -> list[Line]:
    made: list[Line] = []
    for passage in message.passages:
        if made:
            made.append(line(" ", dim(look.glyphs.ellipsis)))
        for text in passage:
            made += [line(" ", one) for one in _wrapped_by(text, width - 2, look)] or [BLANK]
    return made


# RECORDS


def records(detail: TestDetail, width: int, look: Look) -> list[Line]:
    """Where each failure is recorded, and the output that was kept of it."""
    shown, total = len(detail.failing), detail.failures_total
    if not shown:
        return []
    of = (
        f"the first {number(shown)} of {number(total)} failures"
        if shown < total
        else "each failure"
    )
    made = [heading("KEPT OUTPUT", dim(f"and the record of {of}"), width, look)]
    if all(one.log is None for one in detail.failing):
        made += _said("No output of a failing run was kept.", width, Ink.UNSURE)
    current = None if detail.timeline is None else detail.timeline.failure.number
    arm = max(len(_arm(one)) for one in detail.failing)
    for one in detail.failing:
        made += _record(one, arm, width, look, current=one.number == current)
    return made


def _arm(one: FailedExecution) -> str:
    return f"{one.role} {one.phase}" + ("" if one.round is None else f" {one.round}")


def _record(one: FailedExecution, arm: int, width: int, look: Look, *, current: bool) -> list[Line]:
    mark = look.glyphs.match if current else " "
    when = "no time recorded" if one.started is None else f"{one.started:%Y-%m-%d %H:%M:%SZ}"
    head = line(
        Span(mark, Ink.ACCENT),
        right(dim(number(one.number + 1)), 4),
        f"  {_arm(one):<{arm}}  ",
        dim(f"{when}  "),
    )
    at = one.at.rpartition("/")[2]
    place = line(head, look.path(at, max(12, width - cells(head) - 1)))
    made = [lit(fit(place, width, look.glyphs.ellipsis)) if current else place]
    if one.log is not None:
        indent = " " * 7
        kept = [one.log.path] + ([f"sha256 {one.log.sha256}"] if one.log.sha256 else [])
        for text in kept:
            clean = wrapped(look.data(text), width - 8, Ink.TEXT, _MOST)
            made += [line(indent, part) for part in clean]
    return made
