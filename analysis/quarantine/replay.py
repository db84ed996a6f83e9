"""The list as the log tells it: events in the order of their lines, contradictions named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from analysis.quarantine.events import Complaint, Event, Kind, Signature, read_line


class State(StrEnum):
    """Where an entry is in its life."""

    ACTIVE = "active"
    LAPSED = "lapsed"
    UNLOCKED = "unlocked"
    RELEASED = "released"
    REVOKED = "revoked"


LISTED = (State.ACTIVE, State.LAPSED, State.UNLOCKED)
EXCUSING = (State.ACTIVE, State.LAPSED)
DUE = timedelta(hours=24)


@dataclass(frozen=True)
class Entry:
    """One test on the list. opened: the event that opened it last; events: all of it, in order."""

    name: str
    test_id: str
    variant: str | None
    state: State
    opened: Event
    expires_at: datetime
    signatures: frozenset[Signature]
    events: tuple[Event, ...]

    @property
    def owner(self) -> str:
        """Who answers for it."""
        return str(self.opened.fields["owner"])

    @property
    def renewals(self) -> int:
        """How often it was renewed since it was opened last."""
        since = self.events[self.events.index(self.opened) :]
        return sum(1 for event in since if event.kind is Kind.RENEWED)

    @property
    def last_evidence(self) -> Event:
        """The event whose evidence holds now."""
        return next(
            event
            for event in reversed(self.events)
            if event.kind in (Kind.QUARANTINED, Kind.RENEWED)
        )

    def held(self, now: datetime) -> timedelta:
        """How long it was on the list in all, whenever that was."""
        whole, since = timedelta(0), None
        for event in self.events:
            if event.kind is Kind.QUARANTINED:
                since = event.at
            elif event.kind in (Kind.RELEASED, Kind.REVOKED) and since is not None:
                whole += event.at - since
                since = None
        return whole + (max(timedelta(0), now - since) if since is not None else timedelta(0))

    def due(self, now: datetime, within: timedelta = DUE) -> bool:
        """Whether it lapses soon."""
        return self.state is State.ACTIVE and self.expires_at - now <= within


@dataclass(frozen=True)
class QuarantineList:
    """The list at a moment. complaints: lines that are not obeyed. notes: events about tests that
    were never on the list. digest: SHA-256 of the log."""

    at: datetime
    entries: Mapping[tuple[str, str | None], Entry] = field(default_factory=dict)
    complaints: tuple[Complaint, ...] = ()
    notes: tuple[Event, ...] = ()
    digest: str = sha256(b"").hexdigest()

    def of(self, test_id: str, variant: str | None) -> Entry | None:
        """The entry of a test: of this very id and variant."""
        return self.entries.get((test_id, variant))

    def listed(self, *states: State) -> tuple[Entry, ...]:
        """The entries in some states, or all that are on the list: lapsed first, then by expiry."""
        wanted = states or LISTED
        found = [one for one in self.entries.values() if one.state in wanted]
        order = (State.LAPSED, State.UNLOCKED, State.ACTIVE, State.REVOKED, State.RELEASED)
        return tuple(
            sorted(found, key=lambda one: (order.index(one.state), one.expires_at, one.test_id))
        )


def replay(log: bytes, at: datetime, max_days: int) -> QuarantineList:
    """The list at a moment: what happened later has not happened yet.

    max_days: a line that asks for a longer life is not obeyed.
    """
    made = _Replay(timedelta(days=max_days))
    lines = log.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            found = read_line(raw, number)
            if isinstance(found, Complaint):
                made.complaints.append(found)
            elif found.at <= at:
                made.take(found)
    entries = {(one.test_id, one.variant): _timed(one, at) for one in made.entries.values()}
    return QuarantineList(
        at, entries, tuple(made.complaints), tuple(made.notes), sha256(log).hexdigest()
    )


def _timed(entry: Entry, at: datetime) -> Entry:
    if entry.state is State.ACTIVE and at >= entry.expires_at:
        return _with(entry, state=State.LAPSED)
    return entry


def _with(entry: Entry, **changes: object) -> Entry:
    from dataclasses import replace

    return replace(entry, **changes)  # type: ignore[arg-type]


class _Replay:
    """The list while its events are taken one after the other."""

    def __init__(self, longest: timedelta) -> None:
        self.entries: dict[str, Entry] = {}
        self.complaints: list[Complaint] = []
        self.notes: list[Event] = []
        self._longest = longest
        self._lines: dict[str, int] = {}

    def take(self, event: Event) -> None:
        """Obey an event, or complain about it."""
        entry = self.entries.get(event.entry)
        against = self._against(event, entry)
        if against:
            self.complaints.append(
                Complaint(
                    event.line, f"line {event.line} ({event.kind}) {against}; it is not obeyed."
                )
            )
            return
        if event.kind is Kind.NOTED and entry is None:
            self.notes.append(event)
        elif event.kind is Kind.QUARANTINED:
            self._open(event, entry)
        elif entry is not None:
            self._go_on(event, entry)

    def _against(self, event: Event, entry: Entry | None) -> str:
        other = self._other(event)
        if other is not None:
            return f"contradicts line {other.events[0].line}: two entries for one test"
        if entry is not None and (event.test_id, event.variant) != (entry.test_id, entry.variant):
            return f"contradicts line {entry.events[0].line}: the entry is of another test"
        if event.kind is Kind.NOTED:
            return ""
        if event.kind is not Kind.QUARANTINED and entry is None:
            return "is about an entry that there is not"
        if entry is not None:
            last = entry.events[-1]
            if event.kind not in _FROM_ANY and entry.state not in _FROM[event.kind]:
                return f"contradicts line {last.line}: the entry is {entry.state}"
            if event.kind is Kind.REVOKED and entry.state is State.REVOKED:
                return f"contradicts line {last.line}: the entry is revoked"
            if event.at < last.at and event.kind in (Kind.QUARANTINED, Kind.RENEWED, Kind.RELEASED):
                return f"is older than line {last.line} before it"
        until = event.expires_at
        if until is not None and until - event.at > self._longest:
            return f"asks for more than {self._longest.days} days"
        return ""

    def _other(self, event: Event) -> Entry | None:
        """Another entry of the same test."""
        if event.kind is not Kind.QUARANTINED:
            return None
        for one in self.entries.values():
            same = (one.test_id, one.variant) == (event.test_id, event.variant)
            if same and one.name != event.entry:
                return one
        return None

    def _open(self, event: Event, entry: Entry | None) -> None:
        assert event.expires_at is not None
        self.entries[event.entry] = Entry(
            event.entry,
            event.test_id,
            event.variant,
            State.ACTIVE,
            event,
            event.expires_at,
            event.signatures,
            (*(entry.events if entry else ()), event),
        )

    def _go_on(self, event: Event, entry: Entry) -> None:
        events = (*entry.events, event)
        if event.kind is Kind.NOTED:
            self.entries[entry.name] = _with(entry, events=events)
            return
        if event.kind is Kind.RENEWED:
            assert event.expires_at is not None
            signatures = entry.signatures | event.signatures
            self.entries[entry.name] = _with(
                entry, events=events, expires_at=event.expires_at, signatures=signatures
            )
            return
        moved = event.fields.get("moved_to")
        moves = event.kind is Kind.UNLOCKED and isinstance(moved, str) and bool(moved)
        self.entries[entry.name] = _with(
            entry,
            events=events,
            state=_TO[event.kind],
            test_id=moved if moves else entry.test_id,
        )


_FROM: Mapping[Kind, Sequence[State]] = {
    Kind.QUARANTINED: (State.UNLOCKED, State.RELEASED, State.REVOKED),
    Kind.RENEWED: (State.ACTIVE,),
    Kind.UNLOCKED: (State.ACTIVE,),
    Kind.RELEASED: (State.UNLOCKED,),
}
_FROM_ANY = (Kind.REVOKED, Kind.NOTED)
_TO = {
    Kind.UNLOCKED: State.UNLOCKED,
    Kind.RELEASED: State.RELEASED,
    Kind.REVOKED: State.REVOKED,
}


def state_words(states: Iterable[State]) -> str:
    """`active or lapsed`."""
    return " or ".join(states)
