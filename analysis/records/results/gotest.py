"""`go test -json`: an event a line, of a test or of a package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from analysis.model import Outcome
from analysis.records.results.events import Event, events
from analysis.records.results.reading import FAILED, Execution, Note, Reading, first_lines

NAME = "go-test"
_ENDS = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_ACTIONS = frozenset(
    {
        *_ENDS,
        "start",
        "run",
        "pause",
        "cont",
        "bench",
        "output",
        "attr",
        "build-output",
        "build-fail",
    }
)
_OUTPUT_CHARACTERS = 64_000
_PANIC = "panic: "


@dataclass
class _Package:
    """A package: how it ended, and the tests of it that began and have not."""

    ended: str = ""
    running: dict[str, Execution] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)


class _Stream:
    """Events as they come."""

    def __init__(self) -> None:
        self.reading = Reading(NAME)
        self.packages: dict[str, _Package] = {}
        self._output: dict[tuple[str, str], list[str]] = {}
        self._said: dict[tuple[str, str], int] = {}

    def take(self, event: Event) -> None:
        item = event.item
        action, package, test = item.get("Action"), item.get("Package"), item.get("Test")
        if action not in _ACTIONS:
            self.reading.rejects.append((event.line, event.offset, event.raw))
        elif action == "build-fail":
            self.reading.cut(f"{item.get('ImportPath') or package} did not build")
        elif not isinstance(package, str):
            return
        elif isinstance(test, str):
            self._test(event, action, package, test)
        else:
            self._package(item, action, package)

    def _package(self, item: Mapping[str, Any], action: str, package: str) -> None:
        of = self.packages.setdefault(package, _Package())
        if action == "start":
            of.ended = ""
        elif action in _ENDS:
            of.ended = action
        elif action == "output" and len(of.output) < 1000:
            of.output.append(str(item.get("Output", "")))

    def _test(self, event: Event, action: str, package: str, test: str) -> None:
        of = self.packages.setdefault(package, _Package())
        key = (package, test)
        if action == "run":
            self._output[key] = []
            self._said[key] = 0
            one = Execution(
                f"{package}::{test}", None, event.line, event.offset, started=_time(event.item)
            )
            of.running[test] = one
            self.reading.executions.append(one)
        elif action == "output":
            self._keep(key, str(event.item.get("Output", "")))
        elif action in _ENDS:
            ended = of.running.pop(test, None)
            if ended is None:
                # An end without a beginning is an end nevertheless.
                ended = Execution(f"{package}::{test}", None, event.line, event.offset)
                self.reading.executions.append(ended)
            self._end(ended, _ENDS[action], key, event.item)

    def _keep(self, key: tuple[str, str], text: str) -> None:
        if self._said.get(key, 0) < _OUTPUT_CHARACTERS:
            self._output.setdefault(key, []).append(text)
            self._said[key] = self._said.get(key, 0) + len(text)

    def _end(
        self, one: Execution, outcome: Outcome, key: tuple[str, str], item: Mapping[str, Any]
    ) -> None:
        one.outcome = outcome
        elapsed = item.get("Elapsed")
        one.duration_s = float(elapsed) if isinstance(elapsed, int | float) else None
        said = "".join(self._output.pop(key, ()))
        if outcome in FAILED:
            one.message = first_lines(said)
        elif outcome is Outcome.PASSED and _PANIC in said:
            self.reading.notes.append(
                Note("suspect-pass", f"{one.test_id} is said to pass, and panicked")
            )
            one.outcome = None


def _time(item: Mapping[str, Any]) -> str | None:
    time = item.get("Time")
    return time if isinstance(time, str) else None


def recognise(items: list[Mapping[str, Any]]) -> bool:
    """Whether the first lines are events of it."""
    return any(
        item.get("Action") in _ACTIONS and ("Package" in item or "ImportPath" in item)
        for item in items
    )


def read(stream: BinaryIO) -> Reading:
    """The tests of all packages. A package that failed without a test that did is no pass; nor is
    one without an end."""
    made = _Stream()
    reading = made.reading
    for event in events(stream, reading):
        made.take(event)
    _distrust_parents(reading)
    failed = {one.test_id.split("::", 1)[0] for one in reading.executions if one.outcome in FAILED}
    for name, package in made.packages.items():
        _settle(reading, name, package, failed=name in failed)
    return reading


def _distrust_parents(reading: Reading) -> None:
    """A parent that passes once its failed child is no longer run has not passed."""
    failing: dict[str, bool] = {}
    for one in reading.executions:
        if one.outcome is not None:
            failing[one.test_id] = one.outcome in FAILED
    parents = {name.rpartition("/")[0] for name, fails in failing.items() if fails and "/" in name}
    failed_before: set[str] = set()
    for one in reading.executions:
        if one.outcome in FAILED:
            failed_before.add(one.test_id)
        elif one.test_id in parents & failed_before and one.outcome is Outcome.PASSED:
            one.outcome = None
            reading.notes.append(
                Note("suspect-pass", f"{one.test_id} passed without the part of it that failed")
            )


def _settle(reading: Reading, name: str, package: _Package, *, failed: bool) -> None:
    """What the end of a package says of tests that have none of their own."""
    if package.running and package.ended == "pass":
        for one in package.running.values():
            one.outcome = Outcome.PASSED
        first = next(iter(package.running.values()))
        reading.notes.append(
            Note("outcome-inferred", f"{first.test_id} has no end; its package passed")
        )
    elif package.running:
        first = next(iter(package.running.values()))
        reading.cut(f"{first.test_id} began and has no end on record")
    if not package.ended:
        reading.cut(f"{name} has no end on record")
    elif package.ended == "fail" and not failed:
        said = next((one for one in package.output if _PANIC in one), "").strip()
        reading.cut(
            f"{name} failed, and none of its tests did" + (f" ({said[:120]})" if said else "")
        )
