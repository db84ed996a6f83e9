"""The values of fields: each parser takes a present value and the field's canonical name.

A parser returns the value as it is stored or raises Refused with the name. It never sees
null or empty text: these count as missing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from analysis.model import Outcome, Phase, Role, Verdict
from analysis.records.refusal import bad_type, bad_value, missing_field

Parser = Callable[[Any, str], Any]

INT64_MAX = 2**63 - 1
_MOST_DIGITS = 100
ENV_NAMES = frozenset(("TZ", "LC_ALL", "LANG", "PYTHONHASHSEED", "HOME", "TMPDIR", "umask"))

_CANONICAL_JSON = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")

_ROLES: Mapping[str, str] = MappingProxyType(
    {role.value: role.value for role in Role}
    | {"red_canary": Role.RED.value, "green_canary": Role.GREEN.value}
)
_PHASES: Mapping[str, str] = MappingProxyType(
    {phase.value: phase.value for phase in Phase}
    | {
        "peers": Phase.CONCURRENT.value,
        "high_concurrency": Phase.CONCURRENT.value,
        "stress": Phase.REPEAT.value,
        "switch": Phase.TIGHTENED.value,
        "load": Phase.LOADED.value,
    }
)
_OUTCOMES: Mapping[str, str] = MappingProxyType(
    {outcome.value: outcome.value for outcome in Outcome}
    | {
        "pass": Outcome.PASSED.value,
        "ok": Outcome.PASSED.value,
        "fail": Outcome.FAILED.value,
        "skip": Outcome.SKIPPED.value,
    }
)
_VERDICTS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("pass", "passed", "ok", "green", "approve"), Verdict.PASS.value)
    | dict.fromkeys(("fail", "failed", "red", "block", "reject"), Verdict.FAIL.value)
)


def json_text(value: object, name: str) -> str:
    """Canonical JSON: sorted keys, no spaces. Refused: a number that no float can hold."""
    try:
        return _CANONICAL_JSON.encode(value)
    except ValueError:
        raise bad_value(name) from None


def text(value: Any, name: str) -> str:
    """Text, or an integer as its digits."""
    if isinstance(value, str):
        return value
    if type(value) is not int:
        raise bad_type(name)
    return str(value)


def integer(value: Any, name: str) -> int:
    """An integer of 64 bits; `3.0` and `"3"` are 3."""
    number = value if type(value) is int else _whole(value, name)
    if not -INT64_MAX - 1 <= number <= INT64_MAX:
        raise bad_value(name)
    return number


def natural(value: Any, name: str) -> int:
    """An integer that is not negative."""
    if type(value) is int and 0 <= value <= INT64_MAX:
        return value
    number = integer(value, name)
    if number < 0:
        raise bad_value(name)
    return number


def _whole(value: Any, name: str) -> int:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        digits = value.strip()
        # The interpreter does not convert texts of thousands of digits.
        if len(digits) > _MOST_DIGITS:
            raise bad_value(name)
        return int(digits)
    exact = real(value, name)
    if not exact.is_integer():
        raise bad_value(name)
    return int(exact)


def real(value: Any, name: str) -> float:
    """A finite number, or text that is one."""
    if type(value) is not float:
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = value.strip()
        elif type(value) is not int:
            raise bad_type(name)
        try:
            value = float(value)
        except OverflowError:
            raise bad_value(name) from None
    if not math.isfinite(value):
        raise bad_value(name)
    return float(value)


def boolean(value: Any, name: str) -> bool:
    """true, false, 0, 1, `"true"` or `"false"`."""
    if isinstance(value, bool):
        return value
    if value == "true" or (type(value) is int and value == 1):
        return True
    if value == "false" or (type(value) is int and value == 0):
        return False
    raise bad_type(name)


def _one_of(words: Mapping[str, str], meaning: str) -> Parser:
    def parse(value: Any, name: str) -> str:
        if type(value) is not str:
            raise bad_type(name)
        if value not in words:
            raise bad_value(name)
        return words[value]

    parse.__doc__ = meaning
    return parse


role = _one_of(_ROLES, "A role or its alias.")
phase = _one_of(_PHASES, "A phase or its alias.")
outcome = _one_of(_OUTCOMES, "One of the eight outcomes, or a verdict's word for one.")


def isolation(value: Any, name: str) -> str:
    """`on` or `off`, or a boolean for them."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, str | int):
        raise bad_type(name)
    if value not in ("on", "off"):
        raise bad_value(name)
    return str(value)


def verdict(value: Any, name: str) -> str:
    """pass or fail where the word says so, none for everything else: unknown is no pass."""
    if not isinstance(value, str):
        return Verdict.NONE.value
    return _VERDICTS.get(value.strip().lower(), Verdict.NONE.value)


def object_json(value: Any, name: str) -> str:
    """An object, as canonical JSON."""
    if not isinstance(value, dict):
        raise bad_type(name)
    return json_text(value, name)


def object_or_text_json(value: Any, name: str) -> str:
    """An object or text, as canonical JSON."""
    if not isinstance(value, dict | str):
        raise bad_type(name)
    return json_text(value, name)


def environment(value: Any, name: str) -> Any:
    """An object of variables, or a label of the environment."""
    if not isinstance(value, dict | str):
        raise bad_type(name)
    return value


def texts(value: Any, name: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list):
        raise bad_type(name)
    if all(type(member) is str for member in value):
        return value
    return [text(member, name) for member in value]


def resources(value: Any, name: str) -> list[dict[str, str]]:
    """A list of what a test touched, each with kind, id and op (`r` or `w`)."""
    if not isinstance(value, list):
        raise bad_type(name)
    return [_resource(member, name) for member in value]


def _resource(value: Any, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise bad_type(name)
    found = {}
    for key in ("kind", "id", "op"):
        member = value.get(key)
        if member is None or member == "":
            raise missing_field(name)
        found[key] = member if type(member) is str else text(member, name)
    if found["op"] not in ("r", "w"):
        raise bad_value(name)
    return found


def items(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects."""
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        raise bad_type(name)
    return value
