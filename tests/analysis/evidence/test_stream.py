"""Stream: records that disagree, come twice, or have an impossible clock."""

from __future__ import annotations

import pytest

TEST = {"kind": "test", "run_id": "1", "test_id": "t::a", "outcome": "passed"}


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("base_sha", "a", "b"),
        ("phase", "soak", "gate"),
        ("round", 1, 2),
        ("concurrency", 1, 2),
        ("image_digest", "a", "b"),
        ("patch_digest", "aaaaaaaaaa", "bbbbbbbbbb"),
        ("role", "red", "green"),
        ("patch_id", "A", "B"),
        ("experiment", "A", "B"),
    ],
)
def test_two_lines_of_a_run_that_disagree_are_a_finding(audited, verdict, field, one, other):
    start = {"kind": "run_start", "run_id": "1", "patch_id": "A"}
    end = verdict(kind="run_end")
    found = audited({**start, field: one}, {**end, field: other})
    assert found.sentence("records-disagree") == f"its lines disagree about {field}"
    assert "records-disagree" not in audited({**start, field: one}, {**end, field: one}).rules()


def test_a_digest_and_its_beginning_agree(audited, verdict):
    start = {"kind": "run_start", "run_id": "1", "patch_digest": "0123456789abcdef"}
    assert audited(start, verdict(kind="run_end", patch_digest="01234567")).rules() == set()


def test_verdicts_that_disagree_are_a_fail(audited, verdict):
    found = audited(verdict(), verdict(verdict="fail"))
    assert {"records-disagree", "duplicate-run-id"} <= found.rules()
    assert found.standing()[1] == "fail"


def test_a_run_id_with_other_content_is_a_duplicate(audited, verdict):
    assert "duplicate-run-id" in audited(verdict(), verdict(seed=2)).rules()
    assert "duplicate-run-id" not in audited(verdict(), verdict(run_id="2", seed=2)).rules()


def test_a_byte_identical_line_is_counted_once_and_noted(audited, verdict):
    start = {"kind": "run_start", "run_id": "1"}
    end = verdict(kind="run_end", collected=1, passed=1, steps=1)
    found = audited(start, TEST, TEST, end, end)
    assert found.rules() == {"repeated-line"}
    assert found.column("SELECT count(*) FROM results") == [1]
    assert found.standing() == ("proven", "pass", True)


def test_a_repeated_line_does_not_hide_that_the_suite_was_cut(audited, verdict):
    start = {"kind": "run_start", "run_id": "1"}
    end = verdict(kind="run_end", collected=2, passed=1)
    assert "suite-cut" in audited(start, TEST, end).rules()
    assert "suite-cut" in audited(start, TEST, TEST, end).rules()


def test_attempts_at_one_iteration_are_one_execution(audited):
    first = {**TEST, "iteration": 0, "attempt": 0, "outcome": "failed"}
    found = audited(first, {**TEST, "iteration": 0, "attempt": 1})
    assert "retry-or-collision" in found.rules()
    assert found.column("SELECT outcome FROM results") == ["failed"]
    other = audited(first, {**TEST, "iteration": 1, "attempt": 0})
    assert "retry-or-collision" not in other.rules()
    assert sorted(other.column("SELECT outcome FROM results")) == ["failed", "passed"]


@pytest.mark.parametrize(
    ("fields", "suspect"),
    [
        ({"started": 1_780_000_010, "finished": 1_780_000_000}, True),
        ({"started": 1_780_000_000, "finished": 1_780_000_000}, False),
        ({"finished": "1999-12-31T23:59:59Z"}, True),
        ({"finished": "2000-01-01T00:00:00Z"}, False),
        ({"finished": "2026-06-02T12:00:01Z"}, True),
        ({"finished": "2026-06-02T12:00:00Z"}, False),
    ],
)
def test_an_impossible_clock_is_suspect_and_the_run_counts(audited, verdict, fields, suspect):
    found = audited(verdict(**fields))
    assert ("clock-suspect" in found.rules()) is suspect
    assert found.standing() == ("proven", "pass", True)


def test_a_clock_that_runs_backwards_between_two_lines_is_suspect(audited, verdict):
    start = {"kind": "run_start", "run_id": "1", "started": 1_780_000_010}
    assert audited(start, verdict(kind="run_end", finished=1_780_000_000)).rules() == {
        "clock-suspect"
    }


def test_a_time_without_zone_is_noted(audited, verdict):
    assert audited(verdict(finished="2026-05-01T10:00:00")).rules() == {"unlabelled-zone"}
    assert audited(verdict(finished="2026-05-01T10:00:00Z")).rules() == set()


def test_an_alias_that_says_otherwise_is_noted(audited, verdict):
    assert audited(verdict(patch="B")).rules() == {"alias-conflict"}
    assert audited(verdict(patch="A")).rules() == set()


def test_an_id_with_an_address_is_noted(audited):
    end = {"run_id": "1", "verdict": "pass", "collected": 1, "passed": 1}
    unstable = {**TEST, "test_id": "t::a[<object at 0x7f3a5c0d1e10>]"}
    assert audited(unstable, end).rules() == {"unstable-id"}
    assert audited(TEST, end).rules() == set()
