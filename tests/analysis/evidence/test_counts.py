"""Counts: a suite that collected nothing, or not all of it, is no pass."""

from __future__ import annotations

import pytest

VOID = ("void", "none", False)
TRIPPED_AND_NOT = {
    "no-tests-collected": (
        ({"collected": 0, "passed": None}, {"collected": 1, "passed": 1}),
        ({"exit_code": 5}, {"exit_code": 0}),
        ({"exit_code": 5, "verdict": "fail"}, {"exit_code": 4, "verdict": "fail"}),
    ),
    "nothing-passed": (
        ({"passed": 0, "skipped": 3}, {"passed": 1, "skipped": 2}),
        ({"passed": 0, "failed": 0, "skipped": 3}, {"passed": 0, "failed": 3, "verdict": "fail"}),
    ),
    "counts-contradict": (
        ({"passed": 2, "failed": 1}, {"passed": 3, "failed": 0}),
        ({"passed": 2, "errors": 1}, {"passed": 3, "errors": 0}),
        ({"exit_code": 1}, {"exit_code": 0}),
        ({"exit_code": 1}, {"exit_code": 1, "verdict": "fail"}),
        ({"passed": 3, "skipped": 1}, {"passed": 2, "skipped": 1}),
        ({"skipped": -1}, {"skipped": 0}),
        ({"failed": -1, "verdict": "fail"}, {"failed": 1, "passed": 2, "verdict": "fail"}),
        ({"timed_out": True}, {"timed_out": False}),
        ({"crashed": True}, {"crashed": False}),
    ),
    "suite-cut": (
        ({"passed": 2}, {"passed": 2, "skipped": 1}),
        ({"passed": 2}, {"passed": 2, "xfailed": 1}),
        ({"passed": 2}, {"passed": 2, "xpassed": 1}),
        ({"passed": 2}, {"passed": 2, "deselected": 1}),
        ({"passed": 2}, {"passed": 1, "failed": 1, "verdict": "fail"}),
    ),
    "inventory-missing": (({"inventory_missing": 1}, {"inventory_missing": 0}),),
}
CASES = [(rule, *pair) for rule, pairs in TRIPPED_AND_NOT.items() for pair in pairs]


@pytest.mark.parametrize(("rule", "trips", "nearest"), CASES)
def test_the_smallest_record_trips_the_rule_and_the_nearest_does_not(
    audited, verdict, rule, trips, nearest
):
    bad = audited(verdict(**trips))
    assert rule in bad.rules()
    assert bad.standing() == VOID
    assert bad.column("SELECT * FROM results WHERE usable") == []
    good = audited(verdict(**nearest))
    assert rule not in good.rules()
    assert good.standing() == ("proven", nearest.get("verdict", "pass"), True)
    assert good.column("SELECT count(*) FROM results WHERE usable") == [1]


@pytest.mark.parametrize("missing", ["collected", "passed"])
def test_a_pass_without_counts_is_unproven_and_counts(audited, verdict, missing):
    found = audited(verdict(**{missing: None}))
    assert found.rules() == {"counts-missing"}
    assert found.sentence("counts-missing").endswith(missing)
    assert found.standing() == ("unproven", "pass", True)
    assert "counts-missing" not in audited(verdict()).rules()
    assert "counts-missing" not in audited(verdict(**{missing: None}, verdict="fail")).rules()


def test_an_unproven_pass_is_no_verdict_where_proof_is_required(audited, verdict):
    assert audited(verdict(passed=None), require_proof=True).standing() == VOID
    assert audited(verdict(), require_proof=True).standing() == ("proven", "pass", True)


def test_a_fail_is_never_turned_into_a_pass(audited, verdict):
    for fields in ({}, {"collected": 0}, {"passed": -1}, {"exit_code": 5}):
        assert audited(verdict(verdict="fail", **fields)).standing()[1] != "pass"


def test_a_suite_of_which_no_record_was_executed_passed_nothing(audited, verdict):
    skipped = {"kind": "test", "run_id": "1", "test_id": "t::a", "outcome": "skipped"}
    end = verdict(kind="run_end", collected=1, passed=1)
    start = {"kind": "run_start", "run_id": "1"}
    assert "nothing-passed" in audited(start, skipped, end).rules()
    assert audited(start, {**skipped, "outcome": "xpassed"}, end).rules() == set()


def test_a_pass_with_a_recorded_failure_contradicts_itself(audited, verdict):
    start = {"kind": "run_start", "run_id": "1"}
    test = {"kind": "test", "run_id": "1", "test_id": "t::a", "outcome": "failed", "iteration": 0}
    end = verdict(kind="run_end", collected=1, passed=1)
    assert "counts-contradict" in audited(start, test, end).rules()
    # A retry that passed explains it.
    again = {**test, "outcome": "passed", "attempt": 1}
    assert "counts-contradict" not in audited(start, test, again, end).rules()


def gate_run(*tests, phase="gate"):
    start = {"kind": "run_start", "run_id": "1", "patch_id": "A", "phase": phase}
    lines = [{"kind": "test", "run_id": "1", "test_id": t, "outcome": "passed"} for t in tests]
    counts = {"collected": len(tests), "passed": len(tests)}
    return [start, *lines, {"kind": "run_end", "run_id": "1", "verdict": "pass", **counts}]


def test_a_pinned_test_that_is_absent_is_named(audited):
    found = audited(*gate_run("t.py::a"), inventory=("t.py::a", "t.py::b", "t.py::c"))
    assert found.standing() == VOID
    assert found.sentence("inventory-missing") == (
        "says pass, but 2 pinned tests are missing, e.g. t.py::b"
    )
    assert audited(*gate_run("t.py::a"), inventory=("t.py::a",)).rules() == set()


def test_the_inventory_is_compared_in_normal_form(audited):
    spelled = ("./t.py::te\u0301st", "dir\\t.py::b", "t.py::c")
    ran = ("t.py::t\u00e9st", "dir/t.py::b", "t.py::c@group")
    assert audited(*gate_run(*ran), inventory=spelled).rules() == set()


@pytest.mark.parametrize("phase", ["concurrent", "serial", "repeat", "tightened", "loaded"])
def test_an_arm_that_repeats_one_test_misses_no_pinned_one(audited, phase):
    lines = gate_run("t.py::a", phase=phase)
    assert audited(*lines, inventory=("t.py::a", "t.py::b")).rules() == set()


@pytest.mark.parametrize("phase", ["soak", "gate"])
def test_a_whole_suite_misses_a_pinned_test(audited, phase):
    lines = gate_run("t.py::a", phase=phase)
    assert audited(*lines, inventory=("t.py::a", "t.py::b")).rules() == {"inventory-missing"}


def test_a_test_that_is_not_in_the_inventory_is_a_note(audited):
    found = audited(*gate_run("t.py::a", "t.py::new"), inventory=("t.py::a",))
    assert found.standing() == ("proven", "pass", True)
    assert found.sentence("inventory-grew") == "1 tests are not in the inventory, e.g. t.py::new"
    assert audited(*gate_run("t.py::a"), inventory=None).rules() == set()


def test_34_a_pass_whose_process_panicked_is_no_pass(audited, verdict):
    assert audited(verdict(exit_code=2)).standing() == VOID
    assert audited(verdict(crash=True, exit_code=0)).standing() == VOID
