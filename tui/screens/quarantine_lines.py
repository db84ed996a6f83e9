"""How the list of quarantined tests, a contract and the weeks are written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from analysis.quarantine.admission import Condition
from analysis.quarantine.events import Event, Signature
from analysis.quarantine.forms import span
from analysis.quarantine.replay import Entry, State
from analysis.quarantine.view import QuarantineView
from tui.inks import Ink
from tui.lines import BLANK, Line, Part, Span, bold, columns, dim, fit, line, wrapped
from tui.look import Look, number, plural
from tui.state import Ordering
from tui.widgets.document import Section, heading
from tui.widgets.frame import WIDE

_STATE, _EXPIRES, _OWNER = 10, 12, 12
_LABEL = 10
_INKS = {
    State.LAPSED: Ink.BROKEN,
    State.UNLOCKED: Ink.HARNESS,
    State.ACTIVE: Ink.FLAKE,
    State.RELEASED: Ink.STABLE,
    State.REVOKED: Ink.INVALID,
}


def state(entry: Entry, look: Look) -> Span:
    """Sign and word of a state."""
    glyphs = look.glyphs
    signs = {
        State.LAPSED: glyphs.lapsed,
        State.UNLOCKED: glyphs.unlocked,
        State.ACTIVE: glyphs.active,
        State.RELEASED: glyphs.stable,
        State.REVOKED: glyphs.revoked,
    }
    lapsed = entry.state is State.LAPSED
    return Span(f"{signs[entry.state]} {entry.state}", _INKS[entry.state], bold=lapsed)


def expires(entry: Entry, now: datetime, look: Look) -> str:
    """`in 9h 40m`, `1h 17m ago`; a dash once the code has moved."""
    if entry.state is State.UNLOCKED:
        return look.glyphs.dash
    if look.utc:
        return f"{entry.expires_at:%d %b %H:%MZ}"
    left = entry.expires_at - now
    return f"in {span(left)}" if left > timedelta(0) else f"{span(-left)} ago"


class EntryPainter:
    """A line an entry."""

    def __init__(self, view: QuarantineView | None = None) -> None:
        self.view = view

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        words = ("STATE", "TEST", "EXPIRES", "OWNER", "HELD", "RENEWED", "EXCUSED", "HIDES")
        parts: list[Part] = [bold(word, Ink.ACCENT if focused else Ink.HEAD) for word in words]
        return [line(" ", columns(parts, _widths(width - 1), "llllrrrr"))]

    def row(self, row: Entry, width: int, look: Look, lines: int) -> Sequence[Line]:
        view = self.view
        now = look.now if view is None else view.now
        price = None if view is None else view.prices.get(row.name)
        widths = _widths(width)
        parts: tuple[Part, ...] = (
            state(row, look),
            look.test(_name(row), widths[1]),
            expires(row, now, look),
            look.cut(look.data(row.owner), widths[3]),
            dim(span(row.held(now))),
            dim(number(row.renewals)),
            dim("-") if price is None else str(price.excused),
            dim("-") if price is None else look.upper(price.upper),
        )
        return [columns(parts, widths, "llllrrrr", ellipsis=look.glyphs.ellipsis)]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(f" {shown}"))] if shown else []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" Nothing is quarantined."))]


def _widths(width: int) -> tuple[int, ...]:
    wide = width >= WIDE - 1
    held, renewed = (8, 7) if wide else (0, 0)
    fixed = [_STATE, _EXPIRES, _OWNER, held, renewed, 8, 5]
    gaps = sum(1 for one in fixed if one)
    return (_STATE, max(12, width - sum(fixed) - gaps - 1), *fixed[1:])


def _name(entry: Entry) -> str:
    return entry.test_id if entry.variant is None else f"{entry.test_id} [{entry.variant}]"


def answer(view: QuarantineView, look: Look) -> list[Line]:
    """What fails, since when, and whose it is."""
    glyphs = look.glyphs
    if view.found.complaints:
        first = look.data(view.found.complaints[0].sentence)
        return [line(bold(f"{glyphs.lapsed} {first}", Ink.BROKEN))]
    if view.inert:
        words = look.data(next(iter(view.inert.values())))
        start = bold(
            f"{glyphs.race} {plural(len(view.inert), 'ENTRY', 'ENTRIES')} HID A BUG", Ink.RACE
        )
        return [line(start, f"  {words}"), line(start)]
    lapsed = view.lapsed
    if lapsed:
        start = bold(f"{glyphs.lapsed} {len(lapsed)} LAPSED", Ink.BROKEN)
        since = f"since {lapsed[0].expires_at:%d %b %H:%MZ}"
        owners = ", ".join(sorted({look.data(one.owner) for one in lapsed}))
        said = f"  {since} `tui quarantine check` exits 1. Owner: {owners}."
        brief = f"  {since}. Owner: {owners}."
        return [line(start, bold(said)), line(start, bold(brief)), line(start, f"  {since}")]
    active = [one for one in view.listed if one.state is State.ACTIVE]
    start = bold(f"{glyphs.stable} NOTHING LAPSED", Ink.STABLE)
    if not active:
        return [line(start)]
    left = span(active[0].expires_at - view.now)
    return [line(start, f"  next expires in {left} ({look.data(active[0].owner)}).")]


def contract(entry: Entry, view: QuarantineView, width: int, height: int, look: Look) -> list[Line]:
    """What an entry says, costs, and how it leaves."""
    price = view.prices.get(entry.name)
    head = heading("CONTRACT", dim(look.test(_name(entry), max(20, width - 16))), width, look)
    rows = [
        (
            "entered",
            f"{_when(entry.opened)} by {entry.opened.by} for {span(_life(entry))}; row "
            f"{entry.opened.fields['row']}, {entry.last_evidence.fields['experiment']}",
        ),
        ("reason", str(entry.opened.fields["reason"])),
        ("evidence", _evidence(entry)),
        (
            "excuses",
            "; ".join(map(signature, sorted(entry.signatures))) + ". Anything else blocks.",
        ),
    ]
    if price is not None and not price.excused.n:
        rows.append(("hides", "no run of it since it was entered: nothing is known"))
    elif price is not None:
        rows.append(
            (
                "hides",
                f"{plural(price.excused.k, 'failure')} in {plural(price.runs, 'run')} of "
                f"{plural(price.patches, 'patch', 'patches')}; a regression up to "
                f"{look.upper(price.upper).lstrip(look.glyphs.at_most)} unseen",
            )
        )
    rows.append(("leaves", _leaving(entry, view)))
    made = [head]
    for label, text in rows:
        folded = wrapped(look.data(text), width - _LABEL - 2, most=3, ellipsis=look.glyphs.ellipsis)
        made += [
            line(" ", dim(f"{label if not place else '':<{_LABEL}}"), one)
            for place, one in enumerate(folded or [BLANK])
        ]
    made.append(line(" ", bold("DO ", Ink.ACCENT), bold(look.data(advice(entry, view)))))
    return [fit(one, width, look.glyphs.ellipsis) for one in made][:height]


def _life(entry: Entry) -> timedelta:
    until = entry.opened.expires_at
    return timedelta(0) if until is None else until - entry.opened.at


def _when(event: Event) -> str:
    return f"{event.at:%d %b %Y %H:%MZ}"


def _evidence(entry: Entry) -> str:
    kept = entry.last_evidence.fields["evidence"]
    alone = kept.get("alone", {})
    stress = str(kept.get("stress", "")).partition(":")[2] or str(kept.get("stress", ""))
    return f"{alone.get('k', '?')}/{alone.get('n', '?')} alone;{stress}"


def signature(one: Signature) -> str:
    """Outcome, exception and form of a failure, in words."""
    return " ".join(part for part in one if part)


def _leaving(entry: Entry, view: QuarantineView) -> str:
    needed = view.needed.get(entry.name, 0)
    clean = view.clean.get(entry.name)
    if clean is None:
        return f"unlocked by a diff, then {plural(needed, 'clean run')} alone"
    if clean.k:
        return f"it failed {clean.k} of {clean.n} times since the code moved: not clean"
    return f"{number(clean.n)} of {plural(needed, 'clean run')} since the code moved"


def advice(entry: Entry, view: QuarantineView) -> str:
    """What its owner does next."""
    if entry.name in view.inert:
        return f"V revoke: it {view.inert[entry.name]}."
    if entry.name in view.orphans:
        return "No record of this test is left: was it renamed? U with the diff, or V revoke."
    if entry.state is State.LAPSED:
        return "R renew on newer stress evidence. Or fix the test: a diff unlocks it."
    if entry.state is State.UNLOCKED:
        clean, needed = view.clean.get(entry.name), view.needed.get(entry.name, 0)
        if clean is not None and not clean.k and clean.n >= needed:
            return "L release: it is proven clean."
        return "Run it alone until it is proven clean, then L release."
    return "Fix the test before it lapses; U unlock once the diff is there."


def closed(view: QuarantineView, width: int, height: int, look: Look) -> list[Line]:
    """What left the list: revocations first, for what hid a race is the lesson."""
    if height < 2:
        return []
    gone = view.closed
    counts = [
        f"{sum(1 for one in gone if one.state is what)} {what}"
        for what in (State.REVOKED, State.RELEASED)
    ]
    made = [heading("CLOSED", dim(", ".join(counts)), width, look)]
    revoked_first = sorted(gone, key=lambda one: one.state is not State.REVOKED)
    for entry in revoked_first[: height - 1]:
        last = entry.events[-1]
        said = str(last.fields.get("reason") or f"{last.fields.get('n', '?')} clean runs")
        room = max(16, width // 2 - 12)
        made.append(
            line(
                " ",
                fit(state(entry, look), 11),
                fit(look.test(_name(entry), room), room),
                " ",
                dim(look.data(f"{said}, {last.at:%d %b %Y}")),
            )
        )
    if not gone:
        made.append(line(dim(" Nothing has left the list yet.")))
    return [fit(one, width, look.glyphs.ellipsis) for one in made][:height]


def per_week(view: QuarantineView, width: int, height: int, look: Look) -> list[Line]:
    """What came, what went, and what stays on the list, week by week."""
    if height < 4:
        return []
    note: Part = dim("in, out, and what stays on the list")
    if view.grows:
        note = bold("the list only grows", Ink.BROKEN)
    made = [heading("PER WEEK", note, width, look)]
    room = max(8, (width - 11) // max(1, len(view.weeks)))
    most = max([1, *(max(one.inflow, one.outflow, one.listed) for one in view.weeks)])
    for label, values in (
        ("in", [one.inflow for one in view.weeks]),
        ("out", [one.outflow for one in view.weeks]),
        ("on list", [one.listed for one in view.weeks]),
    ):
        parts: list[Part] = [" ", dim(f"{label:<9}")]
        for week, value in zip(view.weeks, values, strict=True):
            bar = look.bar(value, most, max(1, room - 10), Ink.FLAKE)
            name = f"W{week.start.isocalendar().week:02} "
            parts.append(fit(line(dim(name), bar, f" {number(value)}"), room))
        made.append(line(*parts))
    return [fit(one, width, look.glyphs.ellipsis) for one in made][:height]


def whole_contract(entry: Entry, view: QuarantineView, width: int, look: Look) -> list[Section]:
    """A contract, its events newest first, and its evidence."""
    made = [Section("CONTRACT", (*contract(entry, view, width, 40, look), BLANK))]
    events = [heading("EVENTS", dim("newest first"), width, look)]
    for event in reversed(entry.events):
        said = event.fields.get("reason") or event.fields.get("text") or ""
        paths = event.fields.get("paths")
        said = ", ".join(map(str, paths)) if paths else str(said)
        events.append(
            line(
                f" {_when(event)}  ",
                fit(str(event.kind), 12),
                fit(look.cut(look.data(event.by), 20), 21),
                dim(look.data(f"{said} (line {event.line})")),
            )
        )
    made.append(Section("EVENTS", (*(fit(one, width) for one in events), BLANK)))
    sources = [heading("EVIDENCE", dim("logs it rests on"), width, look)]
    for source in entry.last_evidence.fields["evidence"].get("sources", ()):
        said = f"{source.get('path')}:{source.get('first')}-{source.get('last')}"
        sources.append(line(" ", look.path(said, width - 2)))
        sources.append(
            line("   ", dim(look.cut(look.data(f"sha256 {source.get('sha256')}"), width - 4)))
        )
    made.append(Section("EVIDENCE", tuple(sources)))
    return made


def conditions(found: Sequence[Condition], width: int, look: Look) -> list[Line]:
    """Rules as they were decided: those that refuse first, with what would change them."""
    glyphs = look.glyphs
    made: list[Line] = []
    for one in sorted(found, key=lambda one: one.holds):
        sign = (
            Span(f"{glyphs.stable} ", Ink.STABLE)
            if one.holds
            else Span(f"{glyphs.failed} ", Ink.BROKEN, True)
        )
        rule = line(one.rule) if one.holds else line(bold(one.rule))
        made.append(fit(line(sign, rule), width, glyphs.ellipsis))
        most = 1 if one.holds else 3
        made += [
            line("  ", part)
            for part in wrapped(look.data(one.figures), width - 2, Ink.DIM, most, glyphs.ellipsis)
        ]
    return made
