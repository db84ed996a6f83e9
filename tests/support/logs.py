"""Logs of experiments, built line by line: what a gate would have written.

A `Log` is frozen; every method returns a longer one. Time is counted in slots of ten seconds:
runs of one slot overlap, runs of different slots do not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Line = Mapping[str, Any]

PATCH, RED, GREEN = "patch-7", "canary-red", "canary-green"
TEST = "tests/test_order.py::test_total"
PIN = "tests/test_contract.py::test_property"
EXPECT = "property violated"
CANARIES = {
    "red": {"patch_id": RED, "test_id": PIN, "expect": EXPECT},
    "green": {"patch_id": GREEN, "test_id": PIN},
}
PATCH_OF_ROLE = {"subject": PATCH, "red": RED, "green": GREEN}

EPOCH = 1_780_000_000.0
SLOT = 10.0
"""Seconds from the start of one slot to the start of the next. A run takes a fifth of it."""

NOT_FAILING = ("passed", "skipped", "xfailed", "xpassed")
NOT_EXECUTED = ("skipped", "xfailed")


def execution(test_id: str = TEST, outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    """What a `test` line says of one execution."""
    return {"test_id": test_id, "outcome": outcome, **fields}


def passes(test_id: str = TEST, **fields: Any) -> dict[str, Any]:
    """A passing execution."""
    return execution(test_id, "passed", **fields)


def fails(test_id: str = TEST, **fields: Any) -> dict[str, Any]:
    """A failing execution; the message is a plain assertion unless given."""
    said = {"exc": "AssertionError", "message": "assert 3 == 4"}
    return execution(test_id, "failed", **{**said, **fields})


def violates(**fields: Any) -> dict[str, Any]:
    """The red canary as it should be: the pinned test fails with its message."""
    return fails(PIN, **{"message": f"assert False, {EXPECT}", **fields})


def touches(name: str, op: str = "w", kind: str = "file") -> dict[str, Any]:
    """The resource that an execution used, as a keyword argument of `passes` and `fails`."""
    return {"resources": [{"kind": kind, "id": name, "op": op}]}


@dataclass(frozen=True)
class Log:
    """The lines of one experiment so far. `slot` is where the next run starts."""

    name: str = "soak"
    lines: tuple[Line, ...] = ()
    slot: int = 0
    runs: int = 0
    tail: str = ""

    def line(self, **fields: Any) -> Log:
        """One line as it stands."""
        return replace(self, lines=(*self.lines, fields))

    def header(self, **fields: Any) -> Log:
        """The experiment's header: pinned canaries unless given."""
        said = {"kind": "experiment", "experiment": self.name, "canaries": CANARIES, **fields}
        return self.line(**{key: value for key, value in said.items() if value is not None})

    def later(self, slots: int = 1) -> Log:
        """The next run starts that much later."""
        return replace(self, slot=self.slot + slots)

    def beside(
        self,
        role: str,
        phase: str,
        tests: Iterable[Line],
        /,
        *,
        end: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> Log:
        """One run in this slot: start, a line a test, end marker with true counts.

        end: fields that the end marker says otherwise; a field of value None is left out. None
        as a context field leaves that field out.
        """
        start = self._start(role, phase, context)
        body = self._tests(start, tests)
        marker = {**start, "kind": "run_end", **_counts(body), **(end or {})}
        marker["finished"] = start["started"] + SLOT / 5
        return self._add(start, *body, marker)

    def run(
        self,
        role: str,
        phase: str,
        tests: Iterable[Line],
        /,
        *,
        end: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> Log:
        """One run in a slot of its own."""
        return self.beside(role, phase, tests, end=end, **context).later()

    def cut(self, role: str, phase: str, tests: Iterable[Line], /, **context: Any) -> Log:
        """One run that started and has no end marker, in this slot."""
        start = self._start(role, phase, context)
        return self._add(start, *self._tests(start, tests))

    def verdict(self, **fields: Any) -> Log:
        """One bare verdict line, exactly as given."""
        return replace(self.line(**fields), runs=self.runs + 1)

    def round(
        self,
        number: int,
        subject: Sequence[Line] | None = (passes(),),
        green: Sequence[Line] | None = (passes(),),
        red: Sequence[Line] | None = (violates(),),
        **context: Any,
    ) -> Log:
        """One soak round: red, green and subject at the same time. None leaves a run out.

        Green and subject also pass the pinned test, unless they say something of it.
        """
        log = self
        for role, tests in (("red", red), ("green", green), ("subject", subject)):
            if tests is not None:
                pinned = role == "red" or any(test["test_id"] == PIN for test in tests)
                whole = tests if pinned else [passes(PIN), *tests]
                log = log.beside(role, "soak", whole, **{"round": number, **context})
        return log.later()

    def soak(self, rounds: int, failing: Collection[int] = (), **context: Any) -> Log:
        """Soak rounds with canaries that behave; TEST fails on the subject in some of them."""
        log = self
        for number in range(rounds):
            subject = [fails() if number in failing else passes()]
            log = log.round(number, subject, **context)
        return log

    def arm(
        self,
        phase: str,
        failures: int,
        runs: int,
        role: str = "subject",
        *,
        failing: Callable[[], Line] = fails,
        passing: Callable[[], Line] = passes,
        each: int = 10,
        **context: Any,
    ) -> Log:
        """`runs` executions of TEST, `each` of them in one process and slot, spread evenly so
        that processes do not decide. The first `failures` of them fail."""
        processes = -(-runs // each)
        outcomes: list[list[Line]] = [[] for _ in range(processes)]
        for number in range(runs):
            line = failing() if number < failures else passing()
            outcomes[number % processes].append(line)
        log = self
        for tests in outcomes:
            numbered = [{**test, "iteration": at} for at, test in enumerate(tests)]
            log = log.run(role, phase, numbered, **context)
        return log

    def stress(self, failures: Mapping[str, int] | None = None, role: str = "subject") -> Log:
        """Complete stress arms of TEST: 20 serial, 80 repeat, 100 tightened, 40 loaded."""
        log = self
        for phase, runs in STRESS_RUNS.items():
            log = log.arm(phase, (failures or {}).get(phase, 0), runs, role)
        return log

    def ending(self, tail: str) -> Log:
        """Bytes after the last newline."""
        return replace(self, tail=tail)

    @property
    def text(self) -> str:
        """The log as JSONL, and a last line as it stands."""
        return "".join(json.dumps(line) + "\n" for line in self.lines) + self.tail

    def write(self, folder: Path) -> Path:
        """The log as a file of its experiment's name."""
        path = folder / f"{self.name}.jsonl"
        path.write_text(self.text, encoding="utf-8")
        return path

    def _start(self, role: str, phase: str, context: Mapping[str, Any]) -> dict[str, Any]:
        said = {
            "kind": "run_start",
            "experiment": self.name,
            "run_id": f"{self.name}-{self.runs:05d}",
            "patch_id": PATCH_OF_ROLE[role],
            "role": role,
            "phase": phase,
            "ns": f"ns-{self.runs}",
            "started": EPOCH + SLOT * self.slot,
            **context,
        }
        return {key: value for key, value in said.items() if value is not None}

    def _tests(self, start: Mapping[str, Any], tests: Iterable[Line]) -> list[dict[str, Any]]:
        begin = start["started"]
        return [
            {
                **start,
                "kind": "test",
                "started": begin + 0.1 * at,
                "finished": begin + 0.1 * at + 0.05,
                **test,
            }
            for at, test in enumerate(tests)
        ]

    def _add(self, *lines: Line) -> Log:
        return replace(self, lines=(*self.lines, *lines), runs=self.runs + 1)


STRESS_RUNS = {"serial": 20, "repeat": 80, "tightened": 100, "loaded": 40}


def _counts(tests: Sequence[Line]) -> dict[str, Any]:
    outcomes = [test["outcome"] for test in tests]
    failed = sum(outcome not in NOT_FAILING for outcome in outcomes)
    skipped = sum(outcome in NOT_EXECUTED for outcome in outcomes)
    return {
        "exit_code": 1 if failed else 0,
        "collected": len(outcomes),
        "passed": len(outcomes) - failed - skipped,
        "failed": failed,
        "errors": 0,
        "skipped": skipped,
        "verdict": "fail" if failed else "pass",
        "complete": True,
    }
