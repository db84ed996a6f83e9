"""Race patterns: failures whose cause is known, kept beside the configuration."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, EnvironmentFault
from analysis.quarantine.events import Signature

FILE_NAME = "race-patterns.toml"
_TEXTS = ("cause", "fix")


@dataclass(frozen=True)
class Pattern:
    """A race that was found. test: an exact id, or the beginning of one up to `::`, for a class or
    a file; form: the normal form of its failures, "" for any."""

    test: str
    form: str
    cause: str
    fix: str
    date: str

    def matches(self, test_id: str, signatures: Collection[Signature]) -> bool:
        """Whether a test fails as it did."""
        of_test = test_id == self.test or test_id.startswith(f"{self.test}::")
        return of_test and (not self.form or any(one.form == self.form for one in signatures))


def read_patterns(path: Path) -> tuple[Pattern, ...]:
    """The patterns of a file; none where there is no file.

    BadInput: a pattern lacks what it needs. EnvironmentFault: the file may not be read.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}.") from error
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror}.") from error
    found = table.get("pattern", [])
    if not isinstance(found, list):
        raise BadInput(f"{path}: patterns stand under [[pattern]].")
    return tuple(_pattern(path, number, one) for number, one in enumerate(found, start=1))


def _pattern(path: Path, number: int, table: object) -> Pattern:
    if not isinstance(table, dict) or not str(table.get("test", "")).strip():
        raise BadInput(f"{path}: pattern {number} names no test.")
    for name in _TEXTS:
        if not isinstance(table.get(name), str) or not table[name].strip():
            raise BadInput(f"{path}: pattern {number} has no {name}.")
    return Pattern(
        str(table["test"]),
        str(table.get("signature", "")),
        table["cause"],
        table["fix"],
        str(table.get("date", "")),
    )


def pattern_text(fields: Mapping[str, Any]) -> str:
    """A record to append to the file."""
    import json

    lines = [f"{name} = {json.dumps(str(value))}" for name, value in fields.items()]
    return "\n".join(["[[pattern]]", *lines]) + "\n"
