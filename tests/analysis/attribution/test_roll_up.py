"""Units to patches to experiments, what blocks, and the literal row of the four-row table."""

from __future__ import annotations

import itertools

import pytest
from logs import PIN, Log, fails, passes

from analysis.attribution.rollup import BLOCKING, roll_up
from analysis.model import UnitClass

WORST_FIRST = [
    "invalid evidence",
    "broken isolation",
    "harness bug",
    "consistent failure",
    "patch race",
    "insufficient evidence",
    "test flake",
    "stable",
]


@pytest.mark.parametrize(("worse", "better"), list(itertools.combinations(WORST_FIRST, 2)))
def test_the_worse_class_of_two_units_is_that_of_the_patch(worse, better):
    pair = [UnitClass(better), UnitClass(worse)]
    assert roll_up(pair) == roll_up(pair[::-1]) == UnitClass(worse)


def test_a_patch_is_stable_only_if_every_unit_is():
    assert roll_up([UnitClass.STABLE] * 3) is UnitClass.STABLE
    for other in set(UnitClass) - {UnitClass.STABLE}:
        assert roll_up([UnitClass.STABLE, other, UnitClass.STABLE]) is other


def test_no_unit_at_all_is_no_evidence():
    assert roll_up([]) is UnitClass.INSUFFICIENT


def test_every_class_but_stable_blocks():
    assert frozenset(UnitClass) - {UnitClass.STABLE} == BLOCKING


def test_the_class_of_an_experiment_is_the_worst_of_its_units(answer_to):
    log = Log().header()
    for number in range(15):
        log = log.round(number, [fails() if number < 3 else passes()])
    answers = answer_to(log)
    assert {str(unit.unit_class) for unit in answers.units} == {
        "harness bug",
        "insufficient evidence",
    }
    assert answers.classes == {"soak": "harness bug"}


# The row of the user's table


def soak(failing: int, **more: tuple[int, int]) -> Log:
    log = Log().header().soak(6, failing=range(failing))
    for phase, (failures, runs) in more.items():
        log = log.arm(phase, failures, runs)
    return log


@pytest.mark.parametrize(
    ("log", "row"),
    [
        (soak(2), 1),
        (soak(2, serial=(1, 3)), 1),
        (soak(0, concurrent=(2, 6), serial=(0, 3)), 3),
        (soak(0, concurrent=(0, 6), serial=(1, 3)), 4),
        (soak(0, concurrent=(2, 6), serial=(1, 3)), 4),
        (soak(6, serial=(1, 3)), 4),
        (soak(0, serial=(0, 3)), None),
        (soak(6, serial=(3, 3)), None),
        (soak(0, concurrent=(6, 6), serial=(0, 3)), None),
    ],
    ids=[
        "varies in the soak",
        "varies in the soak and in serial",
        "varies at high concurrency only",
        "varies in serial only",
        "varies at high concurrency and in serial",
        "always fails in the soak, varies in serial",
        "never fails",
        "always fails",
        "always fails at high concurrency",
    ],
)
def test_the_row_that_the_unit_matches_literally(answer_to, log, row):
    assert answer_to(log).unit().seed_row == row


def test_a_red_canary_that_passed_is_the_second_row_whatever_the_unit_does(answer_to):
    log = soak(2).round(6, red=[passes(PIN)])
    assert {unit.seed_row for unit in answer_to(log).units} == {2}


def test_varying_verdicts_beside_a_green_that_deviates_match_no_row(answer_to):
    log = soak(2).round(6, green=[fails(PIN)])
    assert answer_to(log).unit().seed_row is None


def test_without_a_soak_no_row_matches(answer_to):
    assert answer_to(Log().header().arm("serial", 1, 3)).unit().seed_row is None


def test_the_literal_row_stands_beside_the_complete_answer(answer_to):
    unit = answer_to(soak(0, concurrent=(2, 6), serial=(1, 3))).unit()
    assert (unit.seed_row, unit.unit_class) == (4, "insufficient evidence")
