"""What a key of the configuration may hold, and the sentence for what it may not."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rule:
    """What a key may hold, in words, and the reading of it: raises ValueError otherwise."""

    allowed: str
    read: Callable[[object], Any]


@dataclass(frozen=True)
class Reader:
    """Reads tables by their rules and tells `complain` what is wrong in them."""

    source: str
    prefix: str
    complain: Callable[[str], None]

    def values(self, raw: object, rules: Mapping[str, Rule], where: str) -> dict[str, Any]:
        """The keys of `raw` that are known and right, read."""
        if not isinstance(raw, Mapping):
            self._wrong(where, raw, TABLE.allowed)
            return {}
        taken = {}
        for key, value in raw.items():
            rule = rules.get(key)
            if rule is None:
                self.complain(self._unknown(where, str(key), rules))
                continue
            try:
                taken[key] = rule.read(value)
            except ValueError:
                self._wrong(f"{where}.{key}".lstrip("."), value, rule.allowed)
        return taken

    def _wrong(self, key: str, value: object, allowed: str) -> None:
        found = _shown(value)
        name = f"{self.prefix}{key}".strip(".")
        self.complain(f"{self.source}: {name} is {found}; allowed is {allowed}.")

    def _unknown(self, where: str, key: str, rules: Mapping[str, Rule]) -> str:
        name = f"{self.prefix}{where}".strip(".")
        place = f"[{name}]" if name else "the top level"
        close = difflib.get_close_matches(key, rules, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        known = ", ".join(rules)
        return f"{self.source}: {place} has no key {_shown(key)}.{guess} Allowed: {known}."


_SHOWN = 60


def _shown(value: object) -> str:
    """A value as it would be written, short enough for a sentence."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    if isinstance(value, dict | list):
        return f"a {'table' if isinstance(value, dict) else 'list'} ({short})"
    return short


def _read_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _read_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(map(_read_text, value))


def read_pins(value: object) -> tuple[str, ...]:
    """At least one text: pins that pin nothing would let every run pass."""
    pins = _read_texts(value)
    if not pins:
        raise ValueError
    return pins


def _read_table(value: object) -> object:
    if not isinstance(value, Mapping):
        raise ValueError
    return value


def read_flag(value: object) -> bool:
    """true or false, and no number in their place."""
    if not isinstance(value, bool):
        raise ValueError
    return value


def read_true(value: object) -> bool:
    """true, for a key that may be written down but not switched off."""
    if value is not True:
        raise ValueError
    return True


def share(below: float) -> Rule:
    """A rate or an error level: between 0 and `below`, both excluded."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < below:
            raise ValueError
        return float(value)

    return Rule(f"a number above 0 and below {below:g}", read)


def count(most: int) -> Rule:
    """A number of runs, hours or days: 1 to `most`."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise ValueError
        return value

    return Rule(f"a whole number from 1 to {most}", read)


def word(*words: str) -> Rule:
    """One word of a closed set."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError
        return value

    return Rule(" or ".join(f'"{word}"' for word in words), read)


TABLE = Rule("a table", _read_table)
TEXT = Rule("a text that is not empty", _read_text)
TEXTS = Rule("a list of texts that are not empty", _read_texts)
