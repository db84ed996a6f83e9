"""Run log: an empty, cut or foreign stream of records is no pass."""

from __future__ import annotations

import pytest

VOID = ("void", "none", False)
START = {"kind": "run_start", "run_id": "1", "patch_id": "A", "phase": "soak"}
TEST = {"kind": "test", "run_id": "1", "test_id": "t::a", "outcome": "passed"}
END = {"kind": "run_end", "run_id": "1", "verdict": "pass", "collected": 1, "passed": 1}


def test_a_run_with_start_records_and_end_is_proven(audited):
    found = audited(START, TEST, END)
    assert found.rules() == set()
    assert found.standing() == ("proven", "pass", True)


def test_a_run_without_end_has_no_verdict_whatever_its_tests_say(audited):
    found = audited(START, TEST)
    assert found.rules() == {"log-incomplete"}
    assert found.standing() == VOID
    assert found.column("SELECT usable FROM results") == [False]


def test_a_verdict_does_not_end_a_run_that_has_a_start(audited):
    verdict = {"run_id": "1", "verdict": "pass", "collected": 1, "passed": 1}
    assert audited(START, TEST, verdict).standing() == VOID
    assert audited(TEST, verdict).standing() == ("proven", "pass", True)
    assert audited(START, TEST, verdict, END).standing()[1] == "pass"


@pytest.mark.parametrize("end", [END, {**END, "kind": "verdict"}])
def test_an_end_that_says_it_is_not_complete_is_no_end(audited, end):
    lines = [START, TEST] if end["kind"] == "run_end" else [TEST]
    cut = audited(*lines, {**end, "complete": False})
    assert cut.rules() == {"log-incomplete"}
    assert cut.standing() == VOID
    assert audited(*lines, {**end, "complete": True}).standing() == ("proven", "pass", True)


@pytest.mark.parametrize("lines", [[START, END], [START, TEST, END]])
def test_steps_that_are_not_the_records_are_an_incomplete_log(audited, lines):
    records = len(lines) - 2
    start, *tests, end = lines
    counts = {"collected": 1, "passed": 1}
    assert audited(start, *tests, {**end, **counts, "steps": records + 1}).standing() == VOID
    whole = audited(start, *tests, {**end, **counts, "steps": records})
    assert "log-incomplete" not in whole.rules()


def test_event_words_and_kind_words_are_the_same(audited):
    said = [
        {"event": "start", "run_id": "1"},
        {"event": "step", "run_id": "1", "test_id": "t::a", "outcome": "passed"},
        {"event": "done", "run_id": "1", "status": "pass", "collected": 1, "passed": 1, "steps": 1},
    ]
    assert audited(*said).standing() == ("proven", "pass", True)
    assert audited(*said[:-1]).standing() == VOID


def test_an_end_without_a_start_is_unproven(audited):
    assert audited(TEST, END).standing() == ("unproven", "pass", True)
    assert audited(TEST, END, require_proof=True).standing() == VOID


def test_results_without_start_end_or_verdict_are_unproven(audited):
    assert audited(TEST).standing() == ("unproven", "none", True)


def test_lines_that_are_no_record_are_counted_and_the_first_named(audited):
    found = audited(START, '{"torn', TEST, "junk", END)
    sentence = found.sentence("log-truncated")
    assert sentence.startswith("2 of 5 lines")
    assert sentence.endswith("first: line 2, truncated")
    assert found.standing() == ("proven", "pass", True)
    # A record with a wrong field is a reject, and the log is a log.
    assert "log-truncated" not in audited(START, TEST, END, {**TEST, "round": 2.5}).rules()


def test_a_finished_log_that_ends_in_a_torn_line_says_so(audited):
    torn = '{"kind": "test", "run_'
    assert "log-torn" in audited(START, TEST, END, tail=torn).rules()
    assert "log-torn" not in audited(START, TEST, END, tail=" ").rules()
    assert "log-torn" not in audited(START, TEST, torn, END).rules()


def test_an_item_of_another_run_is_a_mismatch(audited, verdict):
    item = {"test_id": "t::a", "outcome": "passed"}
    counts = {"collected": 1, "passed": 1}
    found = audited(verdict(tests=[{**item, "run_id": "2"}], **counts))
    assert found.rules() == {"log-run-mismatch"}
    assert audited(verdict(tests=[{**item, "run_id": "1"}], **counts)).rules() == set()


def test_a_log_that_is_read_from_two_overlapping_files_is_the_same_log(audited):
    lines = [START, TEST, {**END, "steps": 1}]
    longer = [*lines, {"run_id": "2", "verdict": "pass", "collected": 1, "passed": 1}]
    found = audited(logs={"a.jsonl": lines, "b.jsonl": longer})
    assert found.standing() == ("proven", "pass", True)
    assert found.column("SELECT count(*) FROM results WHERE run_id = '1' AND test_id = 't::a'") == [
        1
    ]
