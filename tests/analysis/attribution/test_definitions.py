"""The definitions that the rows rest on: pooling, strata, independence, gate and void runs."""

from __future__ import annotations

import random

import pytest
from logs import GREEN, PATCH, PIN, RED, TEST, Log, fails, passes, touches, violates
from logs import execution as executed

SHARED = "/shared/bookings.json"
FLAKY = {"serial": 2, "repeat": 8, "tightened": 10, "loaded": 4}


def sound(rounds: int = 15) -> Log:
    return Log().header().soak(rounds)


def flaky() -> Log:
    return sound().stress(FLAKY).stress(FLAKY, "green")


# Units and counts


def test_a_test_of_which_every_record_is_skipped_or_an_expected_failure_is_no_unit(answer_to):
    log = Log().header()
    for number, outcome in enumerate(("skipped", "xfailed", "skipped")):
        log = log.round(number, [executed(TEST, outcome)])
    assert {unit.test_id for unit in answer_to(log).units} == {PIN}


def test_an_unexpected_pass_is_an_executed_pass(answer_to):
    log = Log().header().round(0, [executed(TEST, "xpassed")])
    assert answer_to(log).unit().counts["soak"]["subject"] == (0, 1)


@pytest.mark.parametrize("outcome", ["failed", "error", "timeout", "crash"])
def test_every_kind_of_failure_counts_as_one(answer_to, outcome):
    log = Log().header().round(0, [executed(TEST, outcome)])
    assert answer_to(log).unit().counts["soak"]["subject"] == (1, 1)


def test_two_variants_of_a_test_are_two_units(answer_to):
    log = Log().header().soak(3)
    for number in range(3, 6):
        log = log.round(number, [fails(variant="py312"), passes(variant="py313")])
    found = {unit.variant: unit for unit in answer_to(log).units if unit.test_id == TEST}
    assert set(found) == {None, "py312", "py313"}
    assert found["py312"].counts["soak"]["subject"] == (3, 3)
    assert found["py313"].counts["soak"]["subject"] == (0, 3)


def test_two_patches_of_one_soak_have_units_of_their_own(answer_to):
    log = Log().header().soak(3)
    for number in range(3):
        log = log.beside("subject", "soak", [fails()], round=number, patch_id="patch-8")
    answers = answer_to(log)
    assert answers.unit(patch_id="patch-8").counts["soak"]["subject"] == (3, 3)
    assert answers.unit(patch_id=PATCH).counts["soak"]["subject"] == (0, 3)
    assert answers.unit(patch_id="patch-8").counts["soak"]["green"] == (0, 3)


def test_a_log_of_bare_verdicts_has_the_run_as_its_test(answer_to):
    log = Log()
    for number in range(5):
        for role, verdict in (("red", "fail"), ("green", "pass"), ("subj", "pass")):
            log = log.verdict(patch=role, ns=f"soak-{number}-{role}", verdict=verdict)
    (unit,) = answer_to(log).units
    assert (unit.test_id, unit.patch_id, unit.row) == ("(run)", "subj", "I5")
    assert unit.counts["soak"] == {"subject": (0, 5), "red": (5, 5), "green": (0, 5)}


def test_a_test_with_one_failure_alone_beside_many_in_company_is_no_flake(answer_to):
    """It interferes with its peers; that it also failed once alone does not undo that."""
    log = Log().header()
    for number in range(20):
        test = [fails() if number < 10 else passes()]
        log = log.round(number, test, green=test)
    clean = log.stress().stress(role="green")
    assert answer_to(clean).unit().unit_class == "harness bug"
    once_alone = clean.arm("repeat", 1, 1)
    assert answer_to(once_alone).unit().unit_class != "test flake"


# What counts nowhere, and what only as a failure


def test_a_failure_in_a_gate_run_enters_no_arm_and_asks_for_a_look_at_the_environment(answer_to):
    log = sound().stress().stress(role="green").run("subject", "gate", [fails()])
    unit = answer_to(log).unit()
    assert unit.row == "I4"
    assert "gate" not in unit.counts
    assert unit.elsewhere == 1
    assert "not reproduced" in unit.why
    assert "suspect a polluted environment" in unit.why


def test_passes_in_gate_runs_are_no_evidence_of_absence(answer_to):
    log = Log().header().soak(5)
    for _ in range(60):
        log = log.run("subject", "gate", [passes()])
    unit = answer_to(log).unit()
    assert unit.row == "I5"
    assert set(unit.counts) == {"soak"}


def test_a_failure_in_a_void_run_counts_nowhere(answer_to):
    void = {"verdict": "pass", "collected": 0, "exit_code": 5}
    stable = sound().stress().stress(role="green")
    unit = answer_to(stable.run("subject", "gate", [fails()], end=void)).unit()
    assert unit.row == "S"
    assert unit.elsewhere == 0


def test_failures_in_void_runs_do_not_make_up_the_number_that_a_flake_needs(answer_to):
    void = {"verdict": "pass", "collected": 0, "exit_code": 5}
    log = sound().stress({"repeat": 1}).stress({"repeat": 1}, "green")
    for _ in range(2):
        log = log.run("subject", "gate", [fails()], end=void)
    assert answer_to(log).unit().row == "I1"


def test_passes_of_a_run_without_end_marker_count_nowhere(answer_to):
    log = Log().header().soak(5)
    log = log.cut("subject", "serial", [passes(iteration=number) for number in range(60)])
    assert set(answer_to(log).unit().counts) == {"soak"}


# Pooling


def test_red_is_pooled_where_a_peer_is_named(answer_to):
    """Red shows it most often: subject and green alone would not separate."""
    log = Log().header()
    for number in range(8):
        met = number < 4
        for role, pin in (("subject", passes(PIN)), ("green", passes(PIN)), ("red", violates())):
            failed = met and (role == "red" or (role == "subject" and number == 0))
            outcome = fails if failed else passes
            name = SHARED if met else f"/{role}.json"
            log = log.beside(role, "soak", [outcome(**touches(name)), pin], round=number)
        log = log.later()
    unit = answer_to(log).unit()
    tried = {one.row: one.numbers for one in unit.tried}
    assert tried["1a"].startswith("5/12 while a peer holds file")


def test_red_is_not_pooled_on_the_test_that_it_must_fail(answer_to):
    log = Log().header()
    for number in range(8):
        for role in ("subject", "green", "red"):
            name = SHARED if number < 4 else f"/{role}.json"
            test = violates(**touches(name)) if role == "red" else passes(PIN, **touches(name))
            log = log.beside(role, "soak", [test], round=number)
        log = log.later()
    unit = answer_to(log).unit(PIN)
    assert unit.row == "I5"


def test_the_peer_with_a_name_is_the_one_met_most_often(answer_to):
    log = Log().header()
    for number in range(20):
        met = number < 10
        outcome = fails if met else passes
        mine, theirs = (SHARED, SHARED) if met else ("/a", "/b")
        log = log.beside("subject", "soak", [outcome(**touches(mine))], round=number)
        log = log.beside("green", "soak", [outcome(**touches(theirs))], round=number)
        log = log.beside("red", "soak", [violates(**touches("/red"))], round=number).later()
    unit = answer_to(log).unit()
    assert unit.row == "1a"
    assert unit.address == {
        "kind": "file", "id": SHARED, "peer_patch": GREEN, "peer_test": TEST,
    }  # fmt: skip
    assert unit.unit_class == "harness bug"
    assert "quarantine nothing" in unit.action


# Strata of machine size


def test_more_failures_on_the_smaller_machine_count_as_a_climb_under_load(answer_to):
    log = Log().header().soak(15, cpus=8)
    for role in ("subject", "green"):
        for cpus, failures in ((2, 20), (8, 2)):
            for phase, runs in (("serial", 10), ("repeat", 60), ("tightened", 60), ("loaded", 30)):
                log = log.arm(phase, failures * runs // 60, runs, role, cpus=cpus)
    unit = answer_to(log).unit()
    assert unit.row == "I3"
    assert "smaller machine" in unit.why


def test_a_patch_that_ran_on_a_smaller_machine_than_green_is_not_called_equal_to_it(answer_to):
    log = Log().header()
    for number in range(15):
        log = log.beside("red", "soak", [violates()], round=number, cpus=2)
        log = log.beside("green", "soak", [passes(PIN), passes()], round=number, cpus=8)
        log = log.beside("subject", "soak", [passes(PIN), passes()], round=number, cpus=2).later()
    for role, cpus, failures in (("subject", 2, 4), ("green", 8, 0)):
        for phase, runs in (("serial", 20), ("repeat", 80), ("tightened", 100), ("loaded", 40)):
            log = log.arm(phase, failures * runs // 20, runs, role, cpus=cpus)
    assert answer_to(log).unit().unit_class != "test flake"


def test_a_patch_whose_green_never_ran_the_failing_arm_is_not_called_equal_to_it(answer_to):
    log = sound().stress({"repeat": 8, "tightened": 10, "loaded": 4})
    log = log.arm("serial", 0, 60, "green")
    assert answer_to(log).unit().unit_class != "test flake"


def test_a_race_in_the_base_that_was_only_run_tightened_is_not_called_flat(answer_to):
    log = sound()
    for role in ("subject", "green"):
        log = log.arm("tightened", 60, 200, role).arm("loaded", 0, 60, role)
    assert answer_to(log).unit().unit_class != "test flake"


def test_stable_tells_the_bound_of_the_machine_that_was_tried_least(answer_to):
    log = Log().header().soak(15, cpus=8).arm("serial", 0, 50, cpus=8).arm("serial", 0, 9, cpus=2)
    unit = answer_to(log).unit()
    assert unit.row == "S"
    assert "On 2 cpus, the least tried: 0/9, at most 28.31%" in unit.why


def test_company_on_one_machine_size_and_alone_on_another_compare_nothing(answer_to):
    log = Log().header()
    for number in range(20):
        test = [fails() if number < 8 else passes()]
        log = log.round(number, test, green=test, cpus=2)
    log = log.arm("serial", 0, 100, cpus=8)
    unit = answer_to(log).unit()
    assert unit.row == "I4"
    assert {one.row: one.numbers for one in unit.tried}["1e"].endswith("(nothing to compare)")


# Independence of iterations


def by_process(log: Log, role: str, phase: str, failing: int, processes: int, each: int) -> Log:
    """Processes that fail or pass in all of their iterations."""
    for number in range(processes):
        test = fails if number < failing else passes
        log = log.run(role, phase, [test(iteration=at) for at in range(each)])
    return log


def test_where_the_process_decides_runs_are_counted_and_not_iterations(answer_to):
    log = by_process(sound(), "subject", "repeat", 2, 6, 20)
    log = by_process(log, "green", "repeat", 0, 6, 20)
    unit = answer_to(log).unit()
    assert unit.counted == "runs"
    assert unit.counts["repeat"] == {"subject": (2, 6), "green": (0, 6)}
    # 40/120 against 0/120 would be a race of the patch; 2/6 against 0/6 is nothing.
    assert unit.row != "3a"


def test_one_run_that_is_not_unanimous_counts_iterations_again(answer_to):
    log = by_process(sound(), "subject", "repeat", 2, 6, 20)
    log = log.run("green", "repeat", [fails(iteration=0), passes(iteration=1)])
    unit = answer_to(log).unit()
    assert unit.counted == "executions"
    assert unit.counts["repeat"] == {"subject": (40, 120), "green": (1, 2)}


def test_runs_of_one_iteration_are_unanimous_and_count_as_they_are(answer_to):
    log = by_process(sound(), "subject", "repeat", 2, 6, 1)
    assert answer_to(log).unit().counted == "executions"


def test_the_minima_of_the_stress_verdict_still_mean_executions(answer_to):
    log = sound()
    for role in ("subject", "green"):
        for phase, processes in (("serial", 5), ("repeat", 8), ("tightened", 10), ("loaded", 4)):
            log = by_process(log, role, phase, 1, processes, 10)
    unit = answer_to(log).unit()
    assert unit.counted == "runs"
    assert unit.counts["tightened"]["subject"] == (1, 10)
    assert unit.row == "4b"


def test_one_message_of_a_run_that_the_process_decides_does_not_depend_on_line_order(answer_to):
    taken = {"exc": "OSError", "message": "[Errno 98] Address already in use"}
    log = Log().header().soak(5)
    for number in range(5, 8):
        log = log.round(number, subject=None).beside(
            "subject",
            "soak",
            [
                fails(iteration=0, started=None, finished=None, **taken),
                fails(iteration=1, started=None, finished=None),
            ],
            round=number,
            started=1_780_000_000 + 10 * number,
        )
    log = log.arm("serial", 0, 1)
    backwards = Log(log.name, tuple(reversed(log.lines)))
    assert answer_to(log).unit().row == answer_to(backwards).unit().row


# Order


def test_a_test_does_not_pollute_itself(answer_to):
    """Its own id in another spelling stands among what ran before."""
    mine = f"./{TEST}"
    log = sound()
    for role in ("subject", "green"):
        log = log.stress(role=role)
        for number in range(20):
            later = fails if number < 12 else passes
            log = log.run(role, "repeat", [passes(mine, before=[]), later(mine, before=[mine])])
    answers = answer_to(log)
    (unit,) = (unit for unit in answers.units if unit.test_id in (mine, TEST))
    assert unit.row != "4a", unit.why


def test_the_polluter_is_named_and_asked_to_clean_up(answer_to):
    polluter = "tests/test_first.py::test_leaves_things_behind"
    log = sound().stress().stress(role="green")
    for role in ("subject", "green"):
        for number in range(10):
            after = {"before": [polluter]}
            log = log.run(role, "repeat", [(fails if number < 6 else passes)(**after)])
            log = log.run(role, "repeat", [passes(before=[])])
    unit = answer_to(log).unit()
    assert (unit.row, unit.unit_class) == ("4a", "test flake")
    assert unit.address == {
        "kind": "test", "id": polluter, "peer_patch": None, "peer_test": None,
    }  # fmt: skip


# Many tests


def test_of_three_hundred_tests_that_fail_at_random_none_is_promoted(answer_to):
    """Each fails by chance in a tenth of its executions, on patch or green, serial or not."""
    chance = random.Random(7)
    tests = [f"tests/test_many.py::test_{number}" for number in range(300)]
    log = Log().header().soak(1)
    for number in range(1, 9):
        for role in ("subject", "green"):
            body = [(fails if chance.random() < 0.1 else passes)(test) for test in tests]
            log = log.beside(role, "soak", [passes(PIN), *body], round=number)
        log = log.beside("red", "soak", [violates()], round=number).later()
    for _ in range(8):
        body = [(fails if chance.random() < 0.1 else passes)(test) for test in tests]
        log = log.run("subject", "serial", body)
    answers = answer_to(log)
    flagged = [unit for unit in answers.units if unit.unit_class in ("harness bug", "patch race")]
    assert sum(unit.form is not None for unit in answers.units) > 250
    assert flagged == []


def test_a_real_difference_is_promoted_among_noise(answer_to):
    tests = [f"tests/test_many.py::test_{number}" for number in range(30)]
    log = Log().header()
    for number in range(15):
        noise = [(fails if at == number else passes)(test) for at, test in enumerate(tests)]
        log = log.round(number, [*noise, fails()], green=[*noise, passes()])
    log = log.arm("serial", 9, 10).arm("serial", 0, 10, "green")
    answers = answer_to(log)
    assert answers.unit().row == "3a"
    assert {unit.row for unit in answers.units if unit.unit_class == "patch race"} == {"3a"}
    assert sum(unit.unit_class == "patch race" for unit in answers.units) == 1


# Canaries


def test_an_experiment_with_canaries_only_is_worth_what_they_say(answer_to):
    behaving, broken = Log("behaving").header(), Log("broken").header()
    for number in range(4):
        behaving = behaving.round(number, subject=None)
        red = [passes(PIN)] if number == 2 else [violates()]
        broken = broken.round(number, subject=None, red=red)
    classes = answer_to(behaving, broken).classes
    assert classes == {"behaving": "insufficient evidence", "broken": "broken isolation"}


def test_roles_follow_from_the_configured_canaries_where_runs_name_none(answer_to):
    log = Log().header()
    for number in range(3):
        for patch, tests in ((RED, [violates()]), (GREEN, [passes(PIN)]), (PATCH, [passes()])):
            log = log.beside("subject", "soak", tests, round=number, role=None, patch_id=patch)
    unit = answer_to(log).unit()
    assert unit.row == "I5"
    assert {answer.patch_id for answer in answer_to(log).units} == {PATCH}
