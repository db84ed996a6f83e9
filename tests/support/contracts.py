"""Events of quarantine logs, as tests need them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from analysis.quarantine.events import Event, Kind, Signature, entry_id, stamp

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
TEST = "tests/test_clock.py::test_same_second"
SIGNATURE = Signature("failed", "AssertionError", "clock crossed a boundary: # != #")


def hours(count: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=count)


def event(kind: Kind, at: float = 0, test_id: str = TEST, **fields: Any) -> Event:
    """An event of a test, so many hours after the start."""
    said: dict[str, Any] = {}
    if kind is Kind.QUARANTINED:
        said = {
            "owner": "mara",
            "reason": "compares two clock reads",
            "expires_at": stamp(hours(at + 24)),
            "class": "test flake",
            "row": "4b",
            "experiment": "night",
            "test_file": test_id.partition("::")[0],
            "fixtures": ["tests/fixtures/clock"],
            "signatures": [SIGNATURE._asdict()],
            "evidence": {"alone": {"k": 7, "n": 200}, "newest": stamp(hours(at - 1))},
        }
    elif kind is Kind.RENEWED:
        said = {
            "expires_at": stamp(hours(at + 24)),
            "experiment": "day",
            "evidence": {"alone": {"k": 8, "n": 210}, "newest": stamp(hours(at - 1))},
        }
    elif kind is Kind.REVOKED:
        said = {"reason": "a race"}
    elif kind is Kind.NOTED:
        said = {"text": "seen"}
    variant = fields.pop("variant", None)
    by = fields.pop("by", "mara")
    name = fields.pop("entry", entry_id(test_id, variant))
    return Event(kind, name, test_id, variant, hours(at), by, {**said, **fields})


def log(*events: Event) -> bytes:
    """The log of some events."""
    return b"".join(one.text().encode() + b"\n" for one in events)


OTHERS = ("a.py::lapsed", "b.py::active", "c.py::unlocked", "d.py::gone", "e.py::clean")


def full_list(folder: Path, clock: datetime) -> Path:
    """A list with an entry in every state, as of a clock."""
    now = (clock - START).total_seconds() / 3600
    lapsed, active, unlocked, gone, clean = OTHERS
    path = folder / "quarantine.jsonl"
    long = stamp(clock + timedelta(hours=9, minutes=40))
    events = [
        event(Kind.QUARANTINED, now - 30, lapsed, owner="mara"),
        event(Kind.QUARANTINED, now - 14, active, owner="jonas", expires_at=long),
        event(Kind.QUARANTINED, now - 70, unlocked, owner="jonas"),
        event(Kind.UNLOCKED, now - 5, unlocked, paths=["c.py"], only_waits=False),
        event(Kind.QUARANTINED, now - 60, gone),
        event(Kind.REVOKED, now - 50, gone, reason="it was a race"),
        event(Kind.QUARANTINED, now - 200, clean),
        event(Kind.UNLOCKED, now - 190, clean),
        event(Kind.RELEASED, now - 100, clean, k=0, n=188),
    ]
    path.write_bytes(log(*events))
    return path
