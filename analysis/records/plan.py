"""Which keys each kind of line reads, under which canonical name and by which parser.

A key that a kind's plan does not list is kept in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from analysis.model import Kind
from analysis.records import fields
from analysis.records.fields import Parser
from analysis.records.refusal import bad_type, bad_value, missing_field
from analysis.records.schema import (
    CONTEXT_BOOLEAN,
    CONTEXT_FLOAT,
    CONTEXT_INTEGER,
    CONTEXT_TEXT,
    COUNTS,
)
from analysis.records.times import parse_moment

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "patch_id": ("patch", "pr", "pr_id"),
        "patch_digest": ("diff_sha256", "diff_sha"),
        "run_id": ("run",),
        "exit_code": ("rc", "exit", "returncode"),
        "test_id": ("nodeid", "test", "name"),
        "outcome": ("status", "result"),
        "verdict": ("status", "result"),
        "started": ("started_at",),
        "finished": ("finished_at", "created_at", "checked_at", "at"),
        "timed_out": ("timeout",),
        "crashed": ("crash",),
    }
)
"""Aliases of each canonical name, the ones that win first."""

EVENTS: Mapping[str, Kind] = MappingProxyType(
    {kind.value: kind for kind in Kind}
    | {"start": Kind.RUN_START, "done": Kind.RUN_END, "step": Kind.TEST}
)
"""What the values of `event` say about the kind, where `kind` says nothing."""

_PLAIN: Mapping[Parser, type] = MappingProxyType({fields.text: str, fields.boolean: bool})
_NEVER_NEGATIVE = ("round", "attempt", "concurrency", "cpu_load", "cpus")
_CONTEXT: dict[str, Parser] = {
    **dict.fromkeys(CONTEXT_TEXT, fields.text),
    **dict.fromkeys(CONTEXT_INTEGER, fields.integer),
    **dict.fromkeys(_NEVER_NEGATIVE, fields.natural),
    **dict.fromkeys(CONTEXT_FLOAT, fields.real),
    **dict.fromkeys(CONTEXT_BOOLEAN, fields.boolean),
    "role": fields.role,
    "phase": fields.phase,
    "isolation": fields.isolation,
    "env": fields.environment,
}
_TIMES: dict[str, Parser] = {"started": parse_moment, "finished": parse_moment}
_END: dict[str, Parser] = {
    **dict.fromkeys(COUNTS, fields.integer),
    **_TIMES,
    "verdict": fields.verdict,
    "complete": fields.boolean,
    "timed_out": fields.boolean,
    "crashed": fields.boolean,
    "host": fields.object_json,
    "proof": fields.object_json,
}
_EXECUTION: dict[str, Parser] = {
    "test_id": fields.text,
    "iteration": fields.natural,
    **_TIMES,
    "duration_s": fields.real,
    "log": fields.object_or_text_json,
    "exc": fields.text,
    "errno": fields.text,
    "message": fields.text,
    "where": fields.text,
    "before": fields.texts,
    "resources": fields.resources,
}
EXECUTION_ONLY = tuple(name for name in _EXECUTION if name not in _TIMES)
"""What a line says of one execution and not of its run."""


class Slot(NamedTuple):
    """What one key of a line means. rank 0 is the canonical name, then the aliases.

    plain: a value of exactly this type is stored as it is.
    """

    name: str
    key: str
    rank: int
    parse: Parser
    plain: type | None


class Plan(NamedTuple):
    """The keys that a kind of line reads, and the names that it cannot do without."""

    slots: Mapping[str, Slot]
    needs: tuple[str, ...]


def _plan(parsers: Mapping[str, Parser], needs: Iterable[str] = ()) -> Plan:
    slots = {
        key: Slot(name, key, rank, parse, _PLAIN.get(parse))
        for name, parse in parsers.items()
        for rank, key in enumerate((name, *ALIASES.get(name, ())))
    }
    return Plan(slots, tuple(needs))


_RUN: dict[str, Parser] = {"run_id": fields.text, **_CONTEXT}
_TEST: dict[str, Parser] = {**_EXECUTION, "outcome": fields.outcome}
_ONE_LINE_RUN: dict[str, Parser] = {**_RUN, **_END, "tests": fields.items}

EXPERIMENT = _plan(
    {
        "experiment": fields.text,
        "canaries": fields.object_json,
        "inventory": fields.texts,
        "policy": fields.object_json,
    },
    needs=("experiment",),
)
RUN_START = _plan({**_RUN, "started": parse_moment, "collected": fields.integer}, needs=("run_id",))
RUN_END = _plan({**_RUN, **_END}, needs=("run_id",))
TEST = _plan({**_RUN, **_TEST}, needs=("run_id", "test_id", "outcome"))
VERDICT = _plan(_ONE_LINE_RUN)
VERDICT_OF_TEST = _plan({**_ONE_LINE_RUN, **_EXECUTION})
ITEM = _plan(
    {
        "run_id": fields.text,
        "variant": fields.text,
        "attempt": fields.natural,
        "env": fields.environment,
        **_TEST,
    },
    needs=("test_id", "outcome"),
)
SAYS_A_VERDICT = ("verdict", *COUNTS)
"""One of these makes a line without `kind` a record."""


def is_missing(value: object) -> bool:
    """Null and empty text say nothing."""
    return value is None or value == ""


def kind_of(item: Mapping[str, Any]) -> Kind:
    """The kind that a line names; one that names none is a verdict line."""
    key = "event" if is_missing(item.get("kind")) else "kind"
    word = item.get(key)
    if is_missing(word):
        return Kind.VERDICT
    if not isinstance(word, str):
        raise bad_type("kind")
    if key == "kind" and word not in Kind.__members__.values():
        raise bad_value("kind")
    if word not in EVENTS:
        raise bad_value("kind")
    return EVENTS[word]


def plan_of(kind: Kind, item: Mapping[str, Any]) -> Plan:
    """How a line of this kind is read. Refused: a verdict line that says nothing."""
    match kind:
        case Kind.EXPERIMENT:
            return EXPERIMENT
        case Kind.RUN_START:
            return RUN_START
        case Kind.RUN_END:
            return RUN_END
        case Kind.TEST:
            return TEST
        case Kind.VERDICT:
            names = {
                slot.name
                for key, value in item.items()
                if (slot := VERDICT_OF_TEST.slots.get(key))
                and (slot.name == "verdict" or not is_missing(value))
            }
            if names.isdisjoint(SAYS_A_VERDICT):
                raise missing_field("verdict")
            return VERDICT_OF_TEST if "test_id" in names else VERDICT


def canonical_name(key: str, item: Mapping[str, Any]) -> str:
    """The name under which a key is spoken of, whatever else is wrong with its line."""
    if key == "event":
        return "kind"
    slots = TEST.slots if EVENTS.get(str(item.get("kind"))) is Kind.TEST else VERDICT_OF_TEST.slots
    slot = slots.get(key)
    return slot.name if slot else key
