"""Alone runs and canaries that do not deserve the trust that their number asks for."""

from __future__ import annotations

import pytest
from logs import PIN, Log, fails, passes, touches, violates
from logs import execution as executed

FLAKY = {"serial": 2, "repeat": 8, "tightened": 10, "loaded": 4}
RUNS = {"serial": 20, "repeat": 80, "tightened": 100, "loaded": 40}
TAKEN = {"exc": "OSError", "errno": "EADDRINUSE", "message": "[Errno 98] Address already in use"}


def stressed(failing=fails, passing=passes, **context) -> Log:
    """A sound soak and complete arms in which TEST fails like a flake."""
    log = Log().header().soak(15)
    for role in ("subject", "green"):
        for phase, runs in RUNS.items():
            log = log.arm(
                phase, FLAKY[phase], runs, role, failing=failing, passing=passing, **context
            )
    return log


def test_a_flake_whose_arms_are_complete_and_alone_is_one_and_says_what_is_taken_on_trust(
    answer_to,
):
    unit = answer_to(stressed()).unit()
    assert unit.row == "4b"
    assert "taken on trust" in unit.why


def test_a_flake_whose_resources_are_recorded_needs_no_trust(answer_to):
    number = iter(range(10_000))

    def touching(kind):
        return lambda: kind(**touches(f"/ns/{next(number)}/own.txt"))

    unit = answer_to(stressed(failing=touching(fails), passing=touching(passes))).unit()
    assert unit.row == "4b"
    assert "taken on trust" not in unit.why


@pytest.mark.parametrize("context", [{"concurrency": 8}, {"isolation": "off"}])
def test_alone_runs_that_say_they_were_not_alone_make_no_flake(answer_to, context):
    unit = answer_to(stressed(**context)).unit()
    assert unit.row == "I2"
    assert "none is proven fresh" in unit.why


@pytest.mark.parametrize("context", [{"concurrency": 3}, {"isolation": "off"}])
def test_clean_alone_runs_that_say_they_were_not_alone_are_not_stable(answer_to, context):
    log = Log().header().soak(30)
    clean = log.arm("serial", 0, 60, each=1)
    assert answer_to(clean).unit().row == "S"
    assert answer_to(log.arm("serial", 0, 60, each=1, **context)).unit().row == "I5"


@pytest.mark.parametrize(
    "said",
    [
        TAKEN,
        {"exc": "OperationalError", "message": "database is locked"},
        {"exc": "OSError", "errno": "ENOSPC", "message": "No space left on device"},
    ],
)
def test_failures_that_name_a_shared_resource_or_an_exhausted_machine_make_no_flake(
    answer_to, said
):
    unit = answer_to(stressed(failing=lambda: fails(**said))).unit()
    assert unit.row == "I2"
    assert "name a shared resource or an exhausted machine" in unit.why


def test_failures_that_follow_one_runner_make_no_flake(answer_to):
    log = Log().header().soak(15)
    for role in ("subject", "green"):
        for phase, runs in RUNS.items():
            log = log.arm(phase, 0, runs - 2 * FLAKY[phase], role, each=2, runner="one")
            log = log.arm(phase, FLAKY[phase], 2 * FLAKY[phase], role, each=2, runner="two")
    unit = answer_to(log).unit()
    assert unit.unit_class not in ("test flake", "stable")


def test_alone_runs_that_overlap_on_one_port_are_not_fresh_and_in_turn_they_are(answer_to):
    port = touches("5432", kind="port")

    def log(slots: int) -> Log:
        log = Log().header().soak(15)
        for number in range(12):
            kind = fails if number % 4 == 0 else passes
            log = log.beside("subject", "serial", [kind(**port)]).later(slots)
        return log

    unit = answer_to(log(0)).unit()
    assert unit.row == "1c"
    assert (unit.address["kind"], unit.address["id"]) == ("port", "5432")
    assert answer_to(log(1)).unit().row != "1c"


def test_stable_needs_executions_of_the_patch_itself_in_company(answer_to):
    log = Log().header()
    for number in range(40):
        log = log.round(number, [executed(PIN, "passed")])
    log = log.arm("serial", 0, 60, each=1)
    unit = answer_to(log).unit()
    assert unit.row == "I5"
    assert "never executed it in company" in unit.why


@pytest.mark.parametrize(("hollow", "row"), [(2, None), (3, "V2")])
def test_a_red_canary_that_was_not_judged_in_more_than_a_fifth_of_its_rounds_is_hollow(
    answer_to, hollow, row
):
    log = Log().header()
    for number in range(10):
        red = [executed(PIN, "xfailed"), fails()] if number < hollow else [violates()]
        log = log.round(number, red=red)
    unit = answer_to(log).unit()
    assert (unit.row == "V2") == (row == "V2"), unit.why
