"""Logs of soaks as large as one wants, for the benchmarks: real keys, invented runs.

An experiment is a soak of red, green and one subject with 2,000 tests a run, of which ten fail now
and then, and serial repetitions of those ten.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = 2_000
ROUNDS = 33
FLAKY = 10
REPETITIONS = 20
PIN = "tests/unit/test_module_000.py::TestThing::test_case_00"

_IDS = [
    f"tests/unit/test_module_{i // 40:03d}.py::TestThing::test_case_{i % 40:02d}"
    for i in range(TESTS)
]
_BAD = (
    b'{"kind": "test", "run_id": "r1", "test_id": "cut he',
    b"Traceback (most recent call last):",
    b'{"kind": "test", "run_id": "r1", "outcome": "passed"}',
    b'{"kind": "test", "run_id": "r1", "test_id": "t", "outcome": "passed", "round": 2.5}',
)

COLUMNS = {
    **dict.fromkeys(
        ("kind", "experiment", "run_id", "patch_id", "patch_digest", "role", "phase"), "VARCHAR"
    ),
    "round": "BIGINT",
    **dict.fromkeys(("ns", "isolation"), "VARCHAR"),
    **dict.fromkeys(("concurrency", "cpu_load"), "BIGINT"),
    "switch_interval": "DOUBLE",
    "cpus": "BIGINT",
    "order": "VARCHAR",
    "env": "MAP(VARCHAR, VARCHAR)",
    **dict.fromkeys(("test_id", "outcome"), "VARCHAR"),
    **dict.fromkeys(("started", "finished", "duration_s"), "DOUBLE"),
    **dict.fromkeys(("exc", "message", "where"), "VARCHAR"),
}
"""The keys of the lines, as a plain read names them."""


def write(path: Path, results: int, *, bad_every: int = 0, rounds: int = ROUNDS) -> Path:
    """A log of so many test lines. bad_every: one line more in so many is no record. rounds: of
    each soak; fewer make more experiments and units of the same number of results."""
    with path.open("wb", buffering=1 << 20) as file:
        for number, line in enumerate(_lines(results, rounds)):
            if bad_every and number % bad_every == bad_every - 1:
                file.write(_BAD[number // bad_every % len(_BAD)] + b"\n")
            file.write(line)
    return path


def _lines(results: int, rounds: int) -> Iterator[bytes]:
    chance = random.Random(results)
    written = 0
    experiment = 0
    while True:
        experiment += 1
        name = f"soak-{experiment:05d}"
        header = {
            "kind": "experiment",
            "experiment": name,
            "canaries": {
                "red": {"patch_id": "red", "test_id": PIN, "expect": "property violated"},
                "green": {"patch_id": "green", "test_id": PIN},
            },
        }
        yield json.dumps(header).encode() + b"\n"
        flaky = set(chance.sample(range(1, TESTS), FLAKY))
        for run in _runs(name, flaky, rounds):
            for line in _run(run, flaky, chance):
                yield line
                written += b'"kind": "test"' in line[:20]
                if written == results:
                    return


def _runs(name: str, flaky: set[int], rounds: int) -> Iterator[tuple[dict[str, Any], list[int]]]:
    number = 0
    for round_ in range(rounds):
        for role in ("red", "green", "subject"):
            number += 1
            yield _context(name, number, role, "soak", round_, 3), list(range(TESTS))
    for repetition in range(REPETITIONS):
        for test in sorted(flaky):
            number += 1
            yield _context(name, number, "subject", "serial", repetition, 1), [test]


def _context(
    name: str, number: int, role: str, phase: str, round_: int, concurrency: int
) -> dict[str, Any]:
    began = 1_764_000_000 + int(name[5:]) * 10_000 + (0 if phase == "soak" else 3_000 + number)
    return {
        "clock": began + 60.0 * round_ + number % 3 / 8,
        "experiment": name,
        "run_id": f"{name}-{number:06d}",
        "patch_id": role if role != "subject" else f"change-{name[5:]}",
        "patch_digest": ("ab" if role == "red" else "cd" if role == "green" else "ef") * 16,
        "role": role,
        "phase": phase,
        "round": round_,
        "ns": f"{phase}-{round_}-{role}",
        "isolation": "on",
        "concurrency": concurrency,
        "cpu_load": 0,
        "switch_interval": 0.005,
        "cpus": 8,
        "order": "fixed",
        "env": {"TZ": "UTC", "LANG": "C.UTF-8"},
    }


def _run(
    run: tuple[dict[str, Any], list[int]], flaky: set[int], chance: random.Random
) -> Iterator[bytes]:
    context, tests = run
    clock = context.pop("clock")
    start = {"kind": "run_start", **context, "started": clock, "collected": len(tests)}
    yield json.dumps(start).encode() + b"\n"
    head = json.dumps({"kind": "test", **context})[:-1]
    red = context["role"] == "red"
    failed = 0
    for test in tests:
        took = round(chance.expovariate(50), 6)
        fails = (red and test == 0) or (test in flaky and chance.random() < 0.1)
        failed += fails
        outcome = "failed" if fails else "passed"
        end = round(clock + took, 6)
        tail = f', "started": {clock}, "finished": {end}, "duration_s": {took}'
        if fails:
            message = "property violated" if test == 0 else "assert 1 == 2"
            where = f"tests/unit/test_module_{test // 40:03d}.py:12"
            tail += f', "exc": "AssertionError", "message": "{message}", "where": "{where}"'
        yield f'{head}, "test_id": "{_IDS[test]}", "outcome": "{outcome}"{tail}}}\n'.encode()
        clock = end
    marker = {
        "kind": "run_end",
        **context,
        "exit_code": int(failed > 0),
        "complete": True,
        "collected": len(tests),
        "passed": len(tests) - failed,
        "failed": failed,
        "verdict": "fail" if failed else "pass",
        "finished": clock,
    }
    yield json.dumps(marker).encode() + b"\n"
