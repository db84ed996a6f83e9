"""A round in which everything fails is one outage, not sixty flaky tests."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from logs import PIN, RED, STRESS_RUNS, TEST, Log, fails, passes, violates

OTHERS = [f"tests/test_suite.py::test_{number:02}" for number in range(58)]
SUITE = [TEST, *OTHERS, PIN]  # 60 tests
DOWN = {"exc": "ConnectionRefusedError", "message": "[Errno 111] db:5432 refused"}


def everything(test: Mapping[str, object] | None = None, tests=SUITE) -> list[dict[str, object]]:
    """Every test passes, but for one that is given."""
    whole = {name: passes(name) for name in tests}
    return list((whole | ({str(test["test_id"]): dict(test)} if test else {})).values())


def nothing(tests=SUITE) -> list[dict[str, object]]:
    """Every test fails."""
    return [fails(name, **DOWN) for name in tests]


def red(tests: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same for red, whose pinned test fails with its message."""
    return [test for test in tests if test["test_id"] != PIN] + [violates()]


def soaked(rounds: int, down: Mapping[int, Log] | range = range(0), name: str = "soak") -> Log:
    log = Log(name).header()
    for number in range(rounds):
        whole = nothing() if number in down else everything()
        log = log.round(number, whole, green=whole, red=red(whole))
    return log.arm("serial", 0, 60)


def flaky(log: Log) -> Log:
    for role in ("subject", "green"):
        for phase, runs in STRESS_RUNS.items():
            log = log.arm(phase, runs // 10, runs, role)
    return log


@pytest.fixture(scope="module")
def soak_of_forty(answer_to):
    """40 rounds of 60 tests, once with a round in which everything fails and once without."""
    return answer_to(flaky(soaked(40, range(17, 18), "down")), flaky(soaked(39, name="up")))


def test_an_outage_leaves_every_test_what_it_was(soak_of_forty):
    classes = {
        name: {u.test_id: (u.row, u.counts) for u in soak_of_forty.units if u.experiment == name}
        for name in ("down", "up")
    }
    assert len(classes["up"]) == 60
    assert classes["down"] == classes["up"]
    assert classes["down"][TEST][0] == "4b"
    assert soak_of_forty.classes["down"] == soak_of_forty.classes["up"]


def test_an_outage_is_one_finding_with_time_share_and_message(soak_of_forty):
    (sentence,) = soak_of_forty.sentences("outage")
    assert "soak round 17" in sentence
    assert "2026-" in sentence
    assert "180 of 180 executions failed" in sentence
    assert "ConnectionRefusedError: [Errno #] db:# refused" in sentence


def test_an_outage_is_no_flip(soak_of_forty):
    flips = [flip for flip in soak_of_forty.flips if "down" in flip.experiments]
    assert [flip.fails for flip in flips if flip.patch_id == RED] == []


@pytest.mark.parametrize(
    ("failing", "outages"), [(48, 1), (47, 0)], ids=["48 of 60 tests fail", "47 of 60 fail"]
)
def test_four_fifths_of_the_tests_make_an_outage(answer_to, failing, outages):
    log = soaked(3)
    part = [*nothing(SUITE[:failing]), *everything(tests=SUITE[failing:])]
    log = log.round(3, part, green=part, red=red(everything()))
    assert len(answer_to(log).sentences("outage")) == outages


@pytest.mark.parametrize(
    ("tests", "outages"), [(20, 1), (19, 0)], ids=["20 tests fail", "all of 19 tests fail"]
)
def test_twenty_tests_make_an_outage(answer_to, tests, outages):
    suite, log = SUITE[:tests], Log().header()
    for number in range(4):
        whole = nothing(suite) if number == 2 else everything(tests=suite)
        log = log.beside("subject", "soak", whole, round=number)
        log = log.beside("green", "soak", whole, round=number)
        log = log.beside("red", "soak", [violates()], round=number).later()
    assert len(answer_to(log).sentences("outage")) == outages


def test_a_patch_that_breaks_everything_is_no_outage(answer_to):
    log = soaked(3).round(3, nothing(), green=everything(), red=red(everything()))
    answers = answer_to(log)
    assert answers.sentences("outage") == []
    assert answers.unit().counts["soak"]["subject"] == (1, 4)


def test_a_base_that_always_breaks_everything_is_no_outage(answer_to):
    assert answer_to(soaked(3, range(3))).sentences("outage") == []


def test_repetitions_of_a_single_test_are_no_suite_that_is_down(answer_to):
    """A process that fails on patch and green in all of its 20 repetitions is a failure."""
    log = soaked(3)
    for number in range(5):
        test = fails if number == 0 else passes
        body = [test(iteration=at) for at in range(20)]
        log = log.beside("subject", "repeat", body, round=number)
        log = log.beside("green", "repeat", body, round=number).later()
    answers = answer_to(log)
    assert answers.sentences("outage") == []
    assert answers.unit().row != "S"


def test_a_red_canary_that_passed_in_an_outage_is_not_set_aside(answer_to):
    log = soaked(5).round(5, nothing(), green=nothing(), red=[*red(nothing())[:-1], passes(PIN)])
    answers = answer_to(log)
    assert len(answers.sentences("outage")) == 1
    assert answers.unit().row == "2a"


def test_green_that_failed_in_an_outage_is_no_deviation(answer_to):
    assert answer_to(soaked(5, range(4, 5))).unit().row not in ("2b", "V6")


def test_a_run_that_was_cut_by_the_outage_is_set_aside_with_it(answer_to):
    log = soaked(9).beside("red", "soak", red(nothing()), round=9)
    log = log.beside("green", "soak", nothing(), round=9)
    log = log.beside("subject", "soak", nothing(), round=9)
    log = log.cut("subject", "soak", nothing(), round=9)
    log = log.later().arm("serial", 0, 60)
    assert answer_to(log).unit().elsewhere == 0


def test_without_rounds_runs_that_overlap_are_one_set(answer_to):
    log = soaked(3)
    for number in range(4):
        whole = nothing() if number == 1 else everything()
        log = log.beside("subject", "concurrent", whole).beside("green", "concurrent", whole)
        log = log.later()
    answers = answer_to(log)
    assert len(answers.sentences("outage")) == 1
    assert answers.unit().counts["concurrent"] == {"subject": (0, 3), "green": (0, 3)}


def test_two_outages_are_two_findings(answer_to):
    assert len(answer_to(soaked(8, range(3, 5))).sentences("outage")) == 2


def test_a_test_on_three_lanes_is_three_tests(answer_to):
    def on_lanes(tests: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{**test, "variant": lane} for test in tests for lane in ("a", "b", "c")]

    few = [*OTHERS[:7], PIN]  # 24 with their lanes
    log = Log().header()
    for number in range(5):
        whole = on_lanes(nothing(few) if number == 2 else everything(tests=few))
        log = log.round(number, whole, green=whole, red=whole)
    (sentence,) = answer_to(log).sentences("outage")
    assert "soak round 2" in sentence
