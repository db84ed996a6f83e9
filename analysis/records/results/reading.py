"""What a result file says, in the terms of records, whatever its format."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from analysis.model import Outcome

MESSAGE_CHARACTERS = 8_000
"""Of a failure's text; what a runner captured beside it is not kept."""

FAILED = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASH})
EXECUTED = FAILED | {Outcome.PASSED, Outcome.XPASSED}


class Note(NamedTuple):
    """Something odd about a file. rule: a name of the evidence rules; detail: a sentence."""

    rule: str
    detail: str


@dataclass(slots=True)
class Execution:
    """One attempt at one test, where it stands in the file.

    outcome: None for an attempt of which no end is known. not_run: the runner says that it was
    left out, by a mark of its own. attempt: from 0, set once the whole file is read.
    """

    test_id: str
    outcome: Outcome | None
    line: int
    offset: int
    duration_s: float | None = None
    started: str | float | None = None
    exc: str = ""
    message: str = ""
    where: str = ""
    not_run: bool = False
    attempt: int | None = None


@dataclass
class Reading:
    """A result file, read.

    complete: the runner came to its end and nothing of the file is missing. exit_code, started:
    None where the format does not say. suites: the executions of each suite by the print of
    its content, by which copies are told. rejects: (line, offset, raw bytes) of lines that are no
    event.
    """

    format: str
    executions: list[Execution] = field(default_factory=list)
    complete: bool = True
    exit_code: int | None = None
    started: str | float | None = None
    finished: str | float | None = None
    notes: list[Note] = field(default_factory=list)
    suites: Mapping[str, Sequence[Execution]] = field(default_factory=dict)
    rejects: list[tuple[int, int, bytes]] = field(default_factory=list)
    never_reported: int = 0

    def cut(self, why: str) -> None:
        """Say that something is missing: the run cannot be a pass."""
        self.complete = False
        self.notes.append(Note("results-incomplete", why))

    def leave_out(self, prints: Collection[str]) -> None:
        """Take the executions of some suites out: they are counted elsewhere."""
        out = {id(one) for name in prints for one in self.suites.get(name, ())}
        self.executions = [one for one in self.executions if id(one) not in out]

    def settled(self) -> Reading:
        """The reading, its attempts numbered. A run without any result is incomplete."""
        number_attempts(self.executions)
        if not any(one.outcome is not None for one in self.executions):
            self.cut("no result of any test")
        return self


@dataclass(frozen=True)
class Summary:
    """A reading in numbers: of tests, each counted once by the end of its last attempt."""

    format: str
    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int
    flaky: int
    attempts: int
    not_run: int
    complete: bool
    notes: tuple[str, ...]


def number_attempts(executions: Iterable[Execution]) -> None:
    """Records of one test in one file are attempts at it, in their order."""
    of_test: dict[str, list[Execution]] = defaultdict(list)
    for one in executions:
        of_test[one.test_id].append(one)
    for attempts in of_test.values():
        if len(attempts) > 1:
            for number, one in enumerate(attempts):
                one.attempt = number


def summary(reading: Reading) -> Summary:
    """The numbers of a reading. The worst phase of the last attempt that ran decides; flaky: it
    passed after an attempt that did not."""
    counts = dict.fromkeys(("passed", "failed", "errors", "skipped", "flaky", "not_run"), 0)
    tests = 0
    for attempts in _tests(reading.executions):
        tests += 1
        ran = [one.outcome for one in attempts if one.outcome in EXECUTED]
        if ran:
            last = ran[-1]
            passed = last in (Outcome.PASSED, Outcome.XPASSED)
            counts["passed"] += passed
            counts["errors"] += last is Outcome.ERROR
            counts["failed"] += last in FAILED and last is not Outcome.ERROR
            counts["flaky"] += passed and any(one in FAILED for one in ran)
        elif any(one.not_run or one.outcome is None for one in attempts):
            counts["not_run"] += 1
        else:
            counts["skipped"] += 1
    counts["not_run"] += reading.never_reported
    return Summary(
        format=reading.format,
        tests=tests + reading.never_reported,
        attempts=len(reading.executions),
        complete=reading.complete,
        notes=tuple(dict.fromkeys(f"{note.rule}: {note.detail}" for note in reading.notes)),
        **counts,
    )


def _tests(executions: Iterable[Execution]) -> Iterator[list[Execution]]:
    of_test: dict[str, list[Execution]] = defaultdict(list)
    for one in executions:
        of_test[one.test_id].append(one)
    yield from of_test.values()


def print_of(executions: Iterable[Execution]) -> str:
    """What tells the results of a suite from all others: names, outcomes, times, messages."""
    digest = sha256()
    for one in executions:
        facts = (one.test_id, one.outcome, one.duration_s, one.exc, one.message[:200])
        digest.update(repr(facts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def first_lines(text: str) -> str:
    """A message as it is kept."""
    return text.strip()[:MESSAGE_CHARACTERS]
