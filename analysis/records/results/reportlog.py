"""pytest-reportlog: a JSON object a line, one a phase of a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from analysis.model import Outcome
from analysis.records.results.events import Event, events
from analysis.records.results.reading import Execution, Note, Reading, first_lines

NAME = "pytest-reportlog"
KEY = "$report_type"
_INTERRUPTED = "the session ended with exit status {}"


@dataclass
class _Attempt:
    """The phases of one attempt, as far as they are on record."""

    execution: Execution
    worst: Outcome = Outcome.PASSED
    phases: set[str] = field(default_factory=set)

    @property
    def ran(self) -> bool:
        """Called or torn down: set up alone, nothing is known of it."""
        return bool(self.phases - {"setup"})


_WORSE = (
    Outcome.PASSED,
    Outcome.XPASSED,
    Outcome.SKIPPED,
    Outcome.XFAILED,
    Outcome.FAILED,
    Outcome.ERROR,
)


class _Session:
    """A session as its lines come."""

    def __init__(self) -> None:
        self.reading = Reading(NAME)
        self.open: dict[str, _Attempt] = {}
        self.collected: dict[str, None] = {}
        self.reported: set[str] = set()
        self.finished = False

    def take(self, event: Event) -> None:
        kind = event.item.get(KEY)
        if kind == "TestReport":
            self._test(event)
        elif kind == "CollectReport":
            self._collect(event.item)
        elif kind == "SessionFinish":
            self.finished = True
            status = event.item.get("exitstatus")
            self.reading.exit_code = status if type(status) is int else None

    def _collect(self, item: Mapping[str, Any]) -> None:
        if item.get("outcome") == "failed":
            self.reading.cut(f"collection of {item.get('nodeid') or 'the session'} failed")
        for found in item.get("result") or ():
            if isinstance(found, dict) and isinstance(found.get("nodeid"), str):
                inner = found.get("type") in ("Function", "TestCaseFunction", "Item", "DoctestItem")
                if inner or "::" in found["nodeid"]:
                    self.collected[found["nodeid"]] = None
        # What is collected in turn is no test.
        self.collected.pop(str(item.get("nodeid")), None)

    def _test(self, event: Event) -> None:
        item = event.item
        test_id, phase = item.get("nodeid"), item.get("when")
        if not isinstance(test_id, str) or not isinstance(phase, str):
            self.reading.rejects.append((event.line, event.offset, event.raw))
            return
        self.reported.add(test_id)
        attempt = self.open.get(test_id)
        if attempt is None or phase == "setup" or phase in attempt.phases:
            attempt = _Attempt(
                Execution(test_id, None, event.line, event.offset, started=_number(item, "start"))
            )
            self.open[test_id] = attempt
            self.reading.executions.append(attempt.execution)
        attempt.phases.add(phase)
        self._worsen(attempt, item, phase)
        if attempt.ran:
            attempt.execution.outcome = attempt.worst

    def _worsen(self, attempt: _Attempt, item: Mapping[str, Any], phase: str) -> None:
        outcome = _outcome(item, phase)
        one = attempt.execution
        if outcome in _WORSE and _WORSE.index(outcome) > _WORSE.index(attempt.worst):
            attempt.worst = outcome
        if outcome in (Outcome.FAILED, Outcome.ERROR):
            one.outcome = attempt.worst
            one.exc, one.message, one.where = _failure(item.get("longrepr"))
        duration = _number(item, "duration")
        if phase == "call" or one.duration_s is None:
            one.duration_s = duration


def _outcome(item: Mapping[str, Any], phase: str) -> Outcome:
    said = item.get("outcome")
    xfail = "wasxfail" in item
    if said in ("failed", "rerun"):
        return Outcome.FAILED if phase == "call" else Outcome.ERROR
    if said == "skipped":
        return Outcome.XFAILED if xfail else Outcome.SKIPPED
    return Outcome.XPASSED if xfail and phase == "call" else Outcome.PASSED


def _number(item: Mapping[str, Any], name: str) -> float | None:
    value = item.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _failure(longrepr: object) -> tuple[str, str, str]:
    """Exception, message and place of a failure."""
    if isinstance(longrepr, str):
        return "", first_lines(longrepr), ""
    if not isinstance(longrepr, dict):
        return "", first_lines(str(longrepr)) if longrepr else "", ""
    crash = longrepr.get("reprcrash")
    if not isinstance(crash, dict):
        return "", first_lines(str(longrepr.get("longrepr") or "")), ""
    message = str(crash.get("message") or "")
    head, colon, _ = message.partition(":")
    exc = head if colon and head.replace(".", "").replace("_", "").isalnum() else ""
    where = f"{crash.get('path')}:{crash.get('lineno')}" if crash.get("path") else ""
    return exc, first_lines(message), where


def recognise(items: list[Mapping[str, Any]]) -> bool:
    """Whether the first lines are of a session."""
    return any(KEY in item for item in items)


def read(stream: BinaryIO) -> Reading:
    """A session; whatever was collected and not reported was not run."""
    session = _Session()
    reading = session.reading
    for event in events(stream, reading):
        session.take(event)
    missing = [one for one in session.collected if one not in session.reported]
    if missing:
        reading.never_reported = len(missing)
        reading.cut(f"{len(missing)} collected tests were never reported, such as {missing[0]}")
    unfinished = [one.test_id for one in reading.executions if one.outcome is None]
    if unfinished:
        reading.cut(f"{unfinished[0]} began and has no end on record")
    if not session.finished:
        reading.cut("the session has no end on record")
    elif reading.exit_code not in (0, 1):
        reading.cut(_INTERRUPTED.format(reading.exit_code))
    if reading.exit_code == 0 and any(
        one.outcome in (Outcome.FAILED, Outcome.ERROR) for one in reading.executions
    ):
        reading.notes.append(Note("header-disagrees", "exit status 0, and a failed attempt"))
    return reading
