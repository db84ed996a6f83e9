"""The lines of the quarantine log: what may stand on one, and why another is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from analysis.records.parse import LineParser
from analysis.records.refusal import Refused
from analysis.records.times import parse_moment


class Kind(StrEnum):
    """What happened to an entry."""

    QUARANTINED = "quarantined"
    RENEWED = "renewed"
    UNLOCKED = "unlocked"
    RELEASED = "released"
    REVOKED = "revoked"
    NOTED = "noted"


class Signature(NamedTuple):
    """How a test fails: outcome, exception, and the normal form of the message. An empty form
    is the form of failures without a message, and of no others."""

    outcome: str
    exc: str
    form: str


@dataclass(frozen=True)
class Event:
    """A line of the log. line: its number, from 1; 0 for one that is not written yet. fields: what
    its kind adds."""

    kind: Kind
    entry: str
    test_id: str
    variant: str | None
    at: datetime
    by: str
    fields: Mapping[str, Any]
    line: int = 0

    @property
    def expires_at(self) -> datetime | None:
        """When an entry lapses that this event opens or renews."""
        return _moment(self.fields.get("expires_at"))

    @property
    def signatures(self) -> frozenset[Signature]:
        """The failures that are excused."""
        return frozenset(
            Signature(one["outcome"], one["exc"], one["form"])
            for one in self.fields.get("signatures", ())
        )

    def text(self) -> str:
        """The line, without its newline."""
        whole = {
            "event": self.kind.value,
            "entry": self.entry,
            "test_id": self.test_id,
            "variant": self.variant,
            "at": stamp(self.at),
            "by": self.by,
            **self.fields,
        }
        return json.dumps(whole, ensure_ascii=False)


@dataclass(frozen=True)
class Complaint:
    """A line that is not obeyed, and why."""

    line: int
    sentence: str


def entry_id(test_id: str, variant: str | None) -> str:
    """The name of the entry of a test: the same wherever it is made."""
    whole = json.dumps([test_id, variant]).encode()
    return f"q-{sha256(whole).hexdigest()[:12]}"


def stamp(moment: datetime) -> str:
    """A time as it stands in the log: UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


_TEXT = ("entry", "test_id", "by")
_NEEDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.QUARANTINED: ("owner", "reason", "expires_at", "class", "row", "experiment"),
    Kind.RENEWED: ("expires_at", "experiment"),
    Kind.UNLOCKED: (),
    Kind.RELEASED: (),
    Kind.REVOKED: ("reason",),
    Kind.NOTED: ("text",),
}


def read_line(raw: bytes, number: int) -> Event | Complaint:
    """The event of a line, or what is wrong with it."""
    try:
        item = LineParser().parse(raw).item
    except Refused as refused:
        return Complaint(number, f"line {number} is no event ({refused.reason}).")
    wrong = _wrong(item)
    if wrong:
        return Complaint(number, f"line {number}: {wrong}.")
    kind = Kind(item.pop("event"))
    at = _moment(item.pop("at"))
    assert at is not None
    variant = item.pop("variant", None)
    entry, test_id, by = (item.pop(name) for name in _TEXT)
    return Event(kind, entry, test_id, variant, at, by, item, number)


def _wrong(item: Mapping[str, Any]) -> str:
    if item.get("event") not in set(Kind):
        return f"no such event: {item.get('event')!r}"
    kind = Kind(item["event"])
    for name in (*_TEXT, *_NEEDS[kind]):
        if not isinstance(item.get(name), str) or not item[name].strip():
            return f"{kind} needs {name}"
    if not isinstance(item.get("variant"), str | None):
        return "variant is no text"
    for name in ("at", *(["expires_at"] if "expires_at" in _NEEDS[kind] else [])):
        if _moment(item.get(name)) is None:
            return f"{name} is no time with a zone"
    if kind in (Kind.QUARANTINED, Kind.RENEWED):
        return _wrong_contract(item, kind)
    return ""


def _wrong_contract(item: Mapping[str, Any], kind: Kind) -> str:
    signatures = item.get("signatures", [] if kind is Kind.RENEWED else None)
    if not isinstance(signatures, list) or (kind is Kind.QUARANTINED and not signatures):
        return "it excuses no signature"
    for one in signatures:
        names = ("outcome", "exc", "form")
        if not isinstance(one, dict) or not all(isinstance(one.get(name), str) for name in names):
            return "a signature is outcome, exc and form"
    if not isinstance(item.get("evidence"), dict):
        return "it has no evidence"
    at, until = _moment(item["at"]), _moment(item["expires_at"])
    if at is not None and until is not None and until <= at:
        return "it expires before it begins"
    return ""


def _moment(value: object) -> datetime | None:
    """A time of the log: text with a zone."""
    if not isinstance(value, str):
        return None
    try:
        found = parse_moment(value, "at")
    except Refused:
        return None
    if not found.zoned or value.strip().lstrip("+-").replace(".", "").isdigit():
        return None
    return datetime.fromtimestamp(found.micros / 1_000_000, UTC)
