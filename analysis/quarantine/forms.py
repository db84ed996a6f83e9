"""The list as machines read it, and as lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from analysis.quarantine.admission import Condition
from analysis.quarantine.events import Event, stamp
from analysis.quarantine.price import Price
from analysis.quarantine.replay import Entry, QuarantineList


def entry_json(entry: Entry, now: datetime, price: Price | None = None) -> dict[str, Any]:
    """An entry. price: None where no index was asked."""
    made: dict[str, Any] = {
        "entry": entry.name,
        "test_id": entry.test_id,
        "variant": entry.variant,
        "state": entry.state,
        "owner": entry.owner,
        "reason": entry.opened.fields["reason"],
        "entered": stamp(entry.opened.at),
        "expires_at": stamp(entry.expires_at),
        "due": entry.due(now),
        "held_hours": round(entry.held(now).total_seconds() / 3600, 3),
        "renewals": entry.renewals,
        "row": entry.opened.fields["row"],
        "experiment": entry.last_evidence.fields["experiment"],
        "signatures": [one._asdict() for one in sorted(entry.signatures)],
    }
    if price is not None:
        made["price"] = {
            "excused": price.excused.k,
            "executed": price.excused.n,
            "runs": price.runs,
            "patches": price.patches,
            "upper": price.upper,
        }
    return made


def list_json(found: QuarantineList, prices: Mapping[str, Price]) -> dict[str, Any]:
    """The whole list: entries in the order in which they are to be looked at."""
    every = sorted(found.entries.values(), key=lambda one: one.name)
    listed = [*found.listed(), *(one for one in every if one not in found.listed())]
    return {
        "at": stamp(found.at),
        "digest": found.digest,
        "entries": [entry_json(one, found.at, prices.get(one.name)) for one in listed],
        "complaints": [{"line": one.line, "sentence": one.sentence} for one in found.complaints],
    }


def condition_json(condition: Condition) -> dict[str, Any]:
    """A rule as it was decided."""
    return {
        "rule": condition.rule,
        "holds": condition.holds,
        "figures": condition.figures,
        "remedy": condition.remedy or None,
    }


def event_json(event: Event) -> dict[str, Any]:
    """A line of the log."""
    return {
        "event": event.kind,
        "entry": event.entry,
        "test_id": event.test_id,
        "variant": event.variant,
        "at": stamp(event.at),
        "by": event.by,
        "line": event.line or None,
        **event.fields,
    }


def span(length: timedelta) -> str:
    """A length of time in words: `1h 17m`, `3d 4h`."""
    minutes = max(0, int(length.total_seconds())) // 60
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "d"), (hours, "h"), (0 if days else minutes, "m")]
    return " ".join(f"{value}{unit}" for value, unit in parts if value) or "0m"
