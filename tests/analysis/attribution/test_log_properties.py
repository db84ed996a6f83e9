"""Properties of whole logs: how their lines are ordered, split and repeated changes nothing."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs import PIN, TEST, Log, execution, fails, passes, touches, violates

Lines = list[Mapping[str, object]]
Files = dict[str, Lines]
ROLES = ("subject", "green")
SECOND = "tests/test_order.py::test_second"
FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

said = st.sampled_from(
    [
        {},
        {"exc": "OSError", "message": "[Errno 98] Address already in use"},
        {"exc": "JSONDecodeError", "message": "Expecting value: line 1 column 1 (char 0)"},
    ]
)
extras = st.sampled_from(
    [
        {},
        {},
        touches("/shared/a"),
        touches("/shared/a", "r"),
        touches("8080", kind="port"),
        {"before": [SECOND]},
        {"before": []},
        {"iteration": 0},
        {"iteration": 1},
        {"attempt": 0},
        {"attempt": 1},
        {"started": None, "finished": None},
    ]
)


@st.composite
def executions(draw: st.DrawFn) -> Mapping[str, object]:
    test_id = draw(st.sampled_from([TEST, TEST, SECOND, PIN]))
    outcome = draw(st.sampled_from(["passed", "passed", "failed", "skipped", "xfailed", "error"]))
    message = draw(said) if outcome in ("failed", "error") else {}
    return execution(test_id, outcome, **message, **draw(extras))


contexts = st.fixed_dictionaries(
    {},
    optional={
        "round": st.integers(0, 6),
        "cpus": st.sampled_from([2, 8]),
        "env": st.sampled_from([{"TZ": "UTC"}, {"TZ": "Asia/Tokyo"}]),
        "variant": st.sampled_from(["py312", "py313"]),
        "patch_digest": st.just("a" * 64),
    },
)
ends = st.sampled_from([*[None] * 8, {"verdict": "pass"}, {"collected": 0}, {"complete": False}])


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """A soak whose canaries mostly behave, and runs of any kind."""
    failing = draw(st.sets(st.integers(0, 4)))
    log = Log("log").header().soak(5, failing=failing)
    for _ in range(draw(st.integers(0, 8))):
        role = draw(st.sampled_from(["subject", "subject", "green", "red"]))
        phase = draw(st.sampled_from(["soak", "concurrent", "serial", "repeat", "loaded", "gate"]))
        tests = draw(st.lists(executions(), max_size=4))
        tests = [violates()] if role == "red" and draw(st.booleans()) else tests
        end = draw(ends)
        if draw(st.sampled_from([False] * 9 + [True])):
            log = log.cut(role, phase, tests, **draw(contexts))
        else:
            log = log.beside(role, phase, tests, end=end, **draw(contexts))
        log = log.later(draw(st.integers(0, 1)))
    return log


def answers_to_files(answer_of, files: Files):
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in files.items():
            Log(name, tuple(lines)).write(Path(folder))
        return answer_of(Path(folder))


def compared(answers) -> tuple[object, ...]:
    """All that is said, but for the places in files."""
    flips = [replace(flip, pass_at="", fail_at="") for flip in answers.flips]
    return answers.units, answers.classes, flips


def shuffled(lines: Lines, chance: random.Random) -> Files:
    return {"log": chance.sample(lines, len(lines))}


def in_three_parts(lines: Lines, chance: random.Random) -> Files:
    """The lines of one run may stand in several files."""
    parts: Files = {"a": [], "b": [], "c": []}
    for line in lines:
        parts[chance.choice("abc")].append(line)
    return {name: part for name, part in parts.items() if part}


def twice(lines: Lines, chance: random.Random) -> Files:
    return {"log": lines, "copy": lines}


def overlapping(lines: Lines, chance: random.Random) -> Files:
    start, stop = sorted(chance.sample(range(1, len(lines)), 2))
    return {"a": lines[:stop], "b": lines[start:]}


@FEW
@given(log=logs(), chance=st.randoms(use_true_random=False))
@pytest.mark.parametrize("arrange", [shuffled, in_three_parts, twice, overlapping])
def test_order_parts_and_repetition_of_lines_change_nothing(answer_of, arrange, log, chance):
    lines = list(log.lines)
    plain = answers_to_files(answer_of, {"log": lines})
    other = answers_to_files(answer_of, arrange(lines, chance))
    assert compared(other) == compared(plain)


@FEW
@given(log=logs(), passing=st.integers(1, 60), role=st.sampled_from(["subject", "green"]))
@pytest.mark.parametrize("phase", ["soak", "serial"])
def test_more_passing_runs_make_nothing_stable_that_has_failed(
    answer_to, log, passing, role, phase
):
    before = {(unit.test_id, unit.variant): unit for unit in answer_to(log).units}
    for number in range(passing):
        log = log.run(role, phase, [passes(PIN), passes(), passes(SECOND)], round=100 + number)
    for unit in answer_to(log).units:
        was = before.get((unit.test_id, unit.variant))
        if was is None:
            continue
        failed = sum(
            k for roles in was.counts.values() for r, (k, _) in roles.items() if r != "red"
        )
        if failed or was.elsewhere:
            assert unit.unit_class != "stable"
        alone = ("serial", "repeat", "tightened", "loaded")
        if not any(was.counts.get(arm, {}).get(r, (0, 0))[0] for arm in alone for r in ROLES):
            assert unit.unit_class != "test flake"


def test_a_log_is_the_same_log_whatever_else_stands_in_the_board(answer_to):
    log = Log("mine").header().soak(6, failing=[1, 2]).arm("serial", 1, 20)
    other = Log("other").header()
    for number in range(6):
        other = other.round(number, [fails()], green=[fails()])
    alone = answer_to(log).unit()
    beside = answer_to(log, other).unit(experiment="mine")
    assert beside == alone
