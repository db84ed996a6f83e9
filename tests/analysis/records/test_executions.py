"""Lines that stand for executions, and the contexts that test lines carry."""

from __future__ import annotations

import json

TEST = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "passed"}


def test_a_verdict_line_of_one_test_is_one_execution(read_items):
    more = {"message": "boom", "exc": "E", "started": 1.7e9, "finished": 1.7e9 + 2, "env": "py3.9"}
    reading = read_items({"run": "r", "test": "t::a", "verdict": "fail", "attempt": 1} | more)
    (run,) = reading.runs
    (test,) = reading.tests
    assert (run["verdict"], run["extra"], run["variant"]) == ("fail", None, "py3.9")
    assert (test["test_id"], test["outcome"], test["failed"]) == ("t::a", "failed", True)
    assert (test["run_id"], test["item"], test["variant"], test["attempt"]) == ("r", 0, "py3.9", 1)
    assert (test["message"], test["exc"]) == ("boom", "E")
    assert test["finished"] - test["started"] == 2_000_000
    assert test["extra"] is None
    assert test["line_hash"] == run["line_hash"]


def test_a_verdict_line_without_verdict_is_no_execution_and_keeps_its_test(read_items):
    reading = read_items({"test": "t::a", "verdict": None, "message": "cut", "before": ["b"]})
    (run,) = reading.runs
    assert reading.tests == []
    assert run["verdict"] == "none"
    assert json.loads(run["extra"]) == {"test": "t::a", "message": "cut", "before": ["b"]}


def test_an_execution_needs_a_verdict_and_no_exit_code_stands_for_it(read_items):
    assert read_items({"test": "t::a", "rc": 0}).tests == []


def test_fields_of_a_test_on_a_line_without_test_are_kept_aside(read_items):
    (run,) = read_items({"verdict": "pass", "message": {"any": "shape"}}).runs
    assert json.loads(run["extra"]) == {"message": {"any": "shape"}}


def test_a_verdict_line_may_carry_tests(read_items):
    tests = [
        {"nodeid": "a", "status": "passed"},
        {"name": "b", "result": "error", "variant": "w", "attempt": 2, "at": 1.7e9, "odd": 1},
    ]
    item = {"run": "r", "verdict": "fail", "variant": "v", "attempt": 1, "tests": tests}
    reading = read_items(item)
    assert reading.counts == (1, 1, 0, 0, 0)
    first, second = reading.tests
    assert (first["item"], first["test_id"], first["outcome"]) == (0, "a", "passed")
    assert (first["variant"], first["attempt"], first["run_id"]) == ("v", 1, "r")
    assert (second["item"], second["test_id"], second["failed"]) == (1, "b", True)
    assert (second["variant"], second["attempt"]) == ("w", 2)
    assert second["finished"] == 1_700_000_000_000_000
    assert json.loads(second["extra"]) == {"odd": 1}
    assert reading.runs[0]["extra"] is None


def test_the_lines_own_test_comes_before_its_tests(read_items):
    item = {"verdict": "pass", "test_id": "own", "tests": [{"name": "a", "status": "skipped"}]}
    reading = read_items(item)
    assert [(row["item"], row["test_id"]) for row in reading.tests] == [(0, "own"), (1, "a")]


def test_a_test_of_another_run_is_noted(read_items):
    test = {"name": "a", "status": "passed", "run": "other"}
    reading = read_items({"run": "r", "verdict": "pass", "tests": [test]})
    assert reading.rules == ["log-run-mismatch"]
    assert "other" in reading.notes[0]["detail"]
    assert reading.notes[0]["run_id"] == "r"
    assert reading.tests[0]["run_id"] == "r"
    assert json.loads(reading.tests[0]["extra"]) == {"run": "other"}
    assert read_items({"run": "other", "verdict": "pass", "tests": [test]}).notes == []


def test_notes_of_a_test_in_a_line_say_which_one(read_items):
    tests = [{"name": "a", "status": "passed", "result": "failed", "at": "2026-01-01"}]
    reading = read_items({"verdict": "pass", "tests": tests})
    assert sorted(reading.rules) == ["alias-conflict", "unlabelled-zone"]
    assert all("tests[0]" in note["detail"] for note in reading.notes)


def test_contexts_of_tests_make_a_row_once(read_items):
    soak = {"patch": "p", "phase": "soak"}
    reading = read_items(TEST | soak, TEST | soak, TEST | {"phase": "serial"}, TEST | soak)
    assert [run["kind"] for run in reading.runs] == ["test", "test"]
    assert [run["line"] for run in reading.runs] == [1, 3]
    assert [run["phase"] for run in reading.runs] == ["soak", "serial"]
    assert len(reading.tests) == 4


def test_a_context_that_a_run_line_has_makes_no_other_row(read_items):
    soak = {"run_id": "r", "patch": "p", "phase": "soak"}
    reading = read_items({"kind": "run_start"} | soak, TEST | soak | {"variant": "v"})
    assert [run["kind"] for run in reading.runs] == ["run_start"]
    other = read_items({"kind": "run_start"} | soak, TEST | soak | {"run_id": "s"})
    assert [run["run_id"] for run in other.runs] == ["r", "s"]


def test_a_context_row_holds_its_context_only(read_items):
    item = TEST | {"variant": "v", "started": 1.7e9, "note": 1, "patch": "p", "attempt": 3}
    (run,) = read_items(item).runs
    said = {name: value for name, value in run.items() if value is not None}
    position = {name: said.pop(name) for name in ("line", "byte_offset", "line_hash")}
    assert position["line"] == 1
    assert said == {"kind": "test", "run_id": "r", "patch_id": "p", "attempt": 3}
