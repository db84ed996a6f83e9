"""The list is what its log says: in order, contradictions named, nothing widened."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from contracts import SIGNATURE, START, TEST, event, hours, log
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from analysis.quarantine.events import Event, Kind
from analysis.quarantine.replay import EXCUSING, LISTED, QuarantineList, State, replay

DAYS = 30
Q, R, U, L, V, N = (
    Kind.QUARANTINED,
    Kind.RENEWED,
    Kind.UNLOCKED,
    Kind.RELEASED,
    Kind.REVOKED,
    Kind.NOTED,
)


def at(found: bytes, when: float) -> QuarantineList:
    return replay(found, hours(when), DAYS)


def state(found: bytes, when: float) -> State | None:
    entry = at(found, when).of(TEST, None)
    return None if entry is None else entry.state


@pytest.mark.parametrize(
    ("kinds", "when", "expected"),
    [
        ([Q], 1, State.ACTIVE),
        ([Q], 24, State.LAPSED),
        ([Q, R], 10, State.ACTIVE),
        ([Q, U], 10, State.UNLOCKED),
        ([Q, U, L], 10, State.RELEASED),
        ([Q, V], 10, State.REVOKED),
        ([Q, U, V], 10, State.REVOKED),
        ([Q, U, L, Q], 10, State.ACTIVE),
        ([Q, V, Q], 10, State.ACTIVE),
        ([Q, U, Q], 10, State.ACTIVE),
        ([Q, N], 1, State.ACTIVE),
    ],
)
def test_an_entry_goes_the_ways_that_there_are(
    kinds: list[Kind], when: float, expected: State
) -> None:
    found = log(*(event(kind, number) for number, kind in enumerate(kinds)))
    assert state(found, when) is expected
    assert not at(found, when).complaints


@pytest.mark.parametrize(
    ("kinds", "left"),
    [
        ([Q, Q], State.ACTIVE),
        ([Q, L], State.ACTIVE),
        ([Q, U, R], State.UNLOCKED),
        ([Q, U, U], State.UNLOCKED),
        ([Q, V, V], State.REVOKED),
        ([Q, V, L], State.REVOKED),
        ([Q, U, L, R], State.RELEASED),
        ([R], None),
        ([U], None),
    ],
)
def test_a_contradiction_is_named_and_changes_nothing(
    kinds: list[Kind], left: State | None
) -> None:
    found = log(*(event(kind, number) for number, kind in enumerate(kinds)))
    assert state(found, 10) is left
    (complaint,) = at(found, 10).complaints
    assert complaint.line == len(kinds)
    assert f"line {len(kinds)}" in complaint.sentence


def test_it_lapses_at_the_second_and_not_before() -> None:
    found = log(event(Q))
    before, then = hours(24) - timedelta(seconds=1), hours(24)
    assert replay(found, before, DAYS).of(TEST, None).state is State.ACTIVE  # type: ignore[union-attr]
    assert replay(found, then, DAYS).of(TEST, None).state is State.LAPSED  # type: ignore[union-attr]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid", "America/New_York", "Asia/Kathmandu"])
def test_the_zone_of_a_time_does_not_matter(zone: str) -> None:
    # Over the change to winter time in Madrid, whose clocks show this hour twice.
    begun = datetime(2026, 10, 24, 23, 30, tzinfo=UTC)
    local = begun.astimezone(ZoneInfo(zone))
    line = json.loads(event(Q).text())
    line |= {"at": local.isoformat(), "expires_at": (begun + timedelta(hours=4)).isoformat()}
    found = json.dumps(line).encode() + b"\n"
    edge = begun + timedelta(hours=4)
    for moment, expected in ((edge - timedelta(seconds=1), State.ACTIVE), (edge, State.LAPSED)):
        entry = replay(found, moment.astimezone(ZoneInfo(zone)), DAYS).of(TEST, None)
        assert entry is not None
        assert entry.state is expected


def test_what_happens_later_has_not_happened_yet() -> None:
    found = log(event(Q), event(V, 5))
    assert state(found, 4) is State.ACTIVE
    assert state(found, 5) is State.REVOKED
    assert state(found, -1) is None


def test_an_event_that_is_older_than_the_one_before_widens_nothing() -> None:
    found = log(event(Q, 10), event(R, 5))
    assert at(found, 40).of(TEST, None).state is State.LAPSED  # type: ignore[union-attr]
    assert "older" in at(found, 40).complaints[0].sentence
    # What takes away is obeyed whenever it was written.
    assert state(log(event(Q, 10), event(V, 5)), 40) is State.REVOKED


def test_a_longer_life_than_the_policy_allows_is_not_obeyed() -> None:
    line = json.loads(event(Q).text()) | {"expires_at": "2099-01-01T00:00:00Z"}
    found = replay(json.dumps(line).encode(), hours(1), DAYS)
    assert found.of(TEST, None) is None
    assert "more than 30 days" in found.complaints[0].sentence


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b"\xff",
        b'{"event": "frozen"}',
        b'{"event": "quarantined", "entry": "q", "entry": "r"}',
        json.dumps(json.loads(event(Q).text()) | {"test_id": ""}).encode(),
        json.dumps(json.loads(event(Q).text()) | {"at": "2026-11-30T09:00:00"}).encode(),
        json.dumps(json.loads(event(Q).text()) | {"at": 1796000000}).encode(),
        json.dumps(json.loads(event(Q).text()) | {"signatures": []}).encode(),
        json.dumps(json.loads(event(Q).text()) | {"signatures": ["*"]}).encode(),
        json.dumps(json.loads(event(Q).text()) | {"owner": "  "}).encode(),
    ],
)
def test_a_malformed_line_rejects_itself_alone(line: bytes) -> None:
    other = event(Q, 1, "tests/test_other.py::test_b")
    found = replay(line + b"\n" + log(other), hours(2), DAYS)
    assert [one.test_id for one in found.listed()] == [other.test_id]
    (complaint,) = found.complaints
    assert complaint.line == 1


IDS = (
    "test_x",
    "test_x2",
    "test_x[a]",
    "test_x[a-b]",
    "test_*",
    "test x",
    "[",
    "caf\u00e9",
    "cafe\u0301",
)


@pytest.mark.parametrize("name", IDS)
def test_an_entry_is_of_one_test_and_of_no_other(name: str) -> None:
    found = at(log(event(Q, 0, name)), 1)
    assert [one for one in IDS if found.of(one, None) is not None] == [name]
    assert found.of(name, "linux") is None


def test_two_branches_that_list_different_tests_merge_in_either_order() -> None:
    one, other = event(Q, 0, "a.py::a"), event(Q, 1, "b.py::b")
    merged, turned = at(log(one, other), 2), at(log(other, one), 2)
    assert merged.entries.keys() == turned.entries.keys()
    assert not merged.complaints
    assert not turned.complaints


def test_two_branches_that_list_the_same_test_name_the_conflict() -> None:
    found = at(log(event(Q, 0), event(Q, 1, by="jonas", owner="jonas")), 2)
    assert found.of(TEST, None).owner == "mara"  # type: ignore[union-attr]
    assert "contradicts line 1" in found.complaints[0].sentence


def test_a_renamed_test_keeps_its_history() -> None:
    found = at(log(event(Q), event(U, 1, moved_to="tests/new.py::test_n")), 2)
    assert found.of(TEST, None) is None
    moved = found.of("tests/new.py::test_n", None)
    assert moved is not None
    assert [one.kind for one in moved.events] == [Q, U]


@given(st.lists(st.binary(max_size=80), max_size=6), st.integers(0, 6))
def test_any_lines_leave_a_good_one_as_it_is(lines: list[bytes], place: int) -> None:
    noise = [line.replace(b"\n", b" ") for line in lines]
    noise.insert(min(place, len(noise)), event(Q).text().encode())
    found = replay(b"\n".join(noise), hours(1), DAYS)
    assert [one.test_id for one in found.listed()] == [TEST]
    bad = sum(1 for line in noise if line.strip()) - 1
    assert len(found.complaints) == bad


class Lives(RuleBasedStateMachine):
    """Any sequence of events: replayed at once it is what it was step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Event] = []
        self.clock = 0.0

    @rule(
        kind=st.sampled_from(list(Kind)),
        test=st.sampled_from(["a.py::a", "b.py::b"]),
        later=st.floats(0, 40),
    )
    def happens(self, kind: Kind, test: str, later: float) -> None:
        self.clock += later
        self.lines.append(event(kind, self.clock, test))

    @precondition(lambda self: self.lines)
    @rule(cut=st.integers(1, 60))
    def crashes_while_writing(self, cut: int) -> None:
        whole = log(*self.lines)
        torn = whole[: len(whole) - min(cut, len(self.lines[-1].text()))]
        before = replay(log(*self.lines[:-1]), hours(self.clock), DAYS)
        after = replay(torn, hours(self.clock), DAYS)
        assert (
            after.entries == before.entries
            or after.entries == replay(whole, hours(self.clock), DAYS).entries
        )

    @invariant()
    def what_is_excused_was_opened_and_has_not_left(self) -> None:
        found = replay(log(*self.lines), hours(self.clock), DAYS)
        again = replay(log(*self.lines), hours(self.clock), DAYS)
        assert found == again
        for entry in found.entries.values():
            assert entry.events[0].kind is Kind.QUARANTINED
            if entry.state in EXCUSING:
                assert entry.signatures == {SIGNATURE}
                assert entry.expires_at <= START + timedelta(hours=self.clock + 24)
        obeyed = sum(len(entry.events) for entry in found.entries.values()) + len(found.notes)
        assert obeyed + len(found.complaints) == len(self.lines)
        assert {one.state for one in found.listed()} <= set(LISTED)


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
