"""CTRF, the common test report format: one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from analysis.model import Outcome
from analysis.records.results.reading import Execution, Note, Reading, first_lines, print_of

NAME = "ctrf"
MOST_BYTES = 256 * 1024 * 1024
"""A document is held whole; a longer one is refused."""

_STATUS = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
    "other": None,
}
_COUNTED = ("passed", "failed", "skipped", "pending", "other")
_MILLISECONDS = 1000.0


def recognise(head: bytes) -> bool:
    """Whether a document that begins so is one."""
    start = head.lstrip()[:200]
    named = b'"reportFormat"' in start and b"CTRF" in head
    return named or (start.startswith(b"{") and b'"results"' in start and b'"tool"' in head)


def read(stream: BinaryIO) -> Reading:
    """The tests of a document; of one that is cut, none."""
    reading = Reading(NAME)
    raw = stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        reading.cut(f"longer than {MOST_BYTES // 2**20} MiB")
        return reading
    try:
        results = json.loads(raw.decode("utf-8-sig")).get("results")
        tests = results["tests"]
        if not isinstance(tests, list):
            raise TypeError("tests is no list")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reading.cut(f"the document is damaged ({type(error).__name__})")
        return reading
    places = _Places(raw)
    for number, test in enumerate(tests):
        if isinstance(test, dict) and isinstance(test.get("name"), str):
            reading.executions += _attempts(test, places)
        else:
            reading.cut(f"test {number + 1} of the document has no name")
    _compare(reading, results.get("summary"), tests)
    reading.suites = {print_of(reading.executions): reading.executions}
    return reading


class _Places:
    """Where tests stand: the next place where a name is written."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._at, self._line = raw, 0, 1

    def of(self, name: str) -> tuple[int, int]:
        """Line and byte of a test; of the one before where its name is written otherwise."""
        for written in (json.dumps(name), json.dumps(name, ensure_ascii=False)):
            found = self._raw.find(written.encode("utf-8", "replace"), self._at)
            if found >= 0:
                self._line += self._raw.count(b"\n", self._at, found)
                self._at = found
                break
        return self._line, self._at


def _attempts(test: Mapping[str, Any], places: _Places) -> list[Execution]:
    """The attempts of a test, the earlier ones first."""
    line, offset = places.of(test["name"])
    test_id = _identity(test)
    earlier = _earlier(test)
    made = [
        Execution(test_id, outcome, line, offset + number, message=message)
        for number, (outcome, message) in enumerate(earlier)
    ]
    status = test.get("status")
    one = Execution(
        test_id,
        _STATUS.get(status) if isinstance(status, str) else None,
        line,
        offset + len(made),
        _seconds(test.get("duration")),
        _seconds(test.get("start")),
        message=first_lines("\n".join(_texts(test, ("message", "trace")))),
        where=str(test.get("filePath") or ""),
        not_run=status in ("pending", "other"),
    )
    return [*made, one]


def _earlier(test: Mapping[str, Any]) -> list[tuple[Outcome | None, str]]:
    listed = test.get("retryAttempts")
    if isinstance(listed, Sequence) and not isinstance(listed, str) and listed:
        found = [one for one in listed if isinstance(one, dict)]
        # The last attempt may stand in the list as well.
        if len(found) > _number(test.get("retries")) > 0:
            found = found[: _number(test.get("retries"))]
        return [
            (_STATUS.get(str(one.get("status"))), first_lines(str(one.get("message") or "")))
            for one in found
        ]
    if test.get("flaky") is True or test.get("status") == "failed":
        # It is tried again only because it failed.
        return [(Outcome.FAILED, "")] * min(_number(test.get("retries")), 100)
    return []


def _identity(test: Mapping[str, Any]) -> str:
    suite = test.get("suite")
    parts = (
        [str(one) for one in suite] if isinstance(suite, list) else [str(suite)] if suite else []
    )
    path = test.get("filePath")
    return "::".join([*([str(path)] if path else []), *parts, test["name"]])


def _texts(test: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [test[name] for name in names if isinstance(test.get(name), str)]


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def _seconds(milliseconds: object) -> float | None:
    known = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return float(milliseconds) / _MILLISECONDS if known and milliseconds else None  # type: ignore[arg-type]


def _compare(reading: Reading, summary: object, tests: Sequence[Mapping[str, Any]]) -> None:
    """The summary is never trusted against the tests."""
    if not isinstance(summary, dict):
        return
    statuses = [test.get("status") for test in tests if isinstance(test, dict)]
    real = {"tests": len(tests), **{name: statuses.count(name) for name in _COUNTED}}
    for name, count in real.items():
        said = summary.get(name, count)
        if said != count:
            reading.notes.append(
                Note("header-disagrees", f"the summary says {said} {name}, and there are {count}")
            )
