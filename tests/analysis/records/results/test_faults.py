"""Faults that readers of result files have had, each as small as it can be."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from analysis.model import Outcome
from analysis.records.results import Format, Reading, Summary, recognise, summary

BUGS = Path(__file__).parents[3] / "data" / "bugs"


def reading_of(raw: bytes) -> Reading:
    form = recognise(raw[: 64 * 1024])
    assert isinstance(form, Format)
    return form.read(io.BytesIO(raw)).settled()


def bug(name: str, file: str) -> Reading:
    (folder,) = BUGS.glob(f"{name}-*")
    return reading_of((folder / file).read_bytes())


def counts(found: Summary) -> tuple[int, ...]:
    return (found.tests, found.passed, found.failed, found.skipped, found.flaky, found.not_run)


@pytest.mark.parametrize(
    ("name", "file", "tests_passed_failed_skipped_flaky_notrun", "complete"),
    [
        ("01", "report.xml", (2, 1, 1, 0, 0, 0), True),
        ("02", "report.xml", (2, 1, 1, 0, 0, 0), True),
        ("04", "TEST-a.ParamTest.xml", (1, 1, 0, 0, 1, 0), True),
        ("04", "TEST-a.ParamTest-expanded.xml", (3, 2, 1, 0, 0, 0), True),
        ("05", "report.xml", (3, 2, 1, 0, 0, 0), True),
        ("07", "TEST-c.AuthIT.xml", (2, 2, 0, 0, 1, 0), True),
        ("08", "report.xml", (2, 1, 1, 0, 0, 0), True),
        ("10", "TEST-e.S.shard1.xml", (1, 1, 0, 0, 0, 0), True),
        ("10", "TEST-e.S.shard2.xml", (1, 0, 1, 0, 0, 0), True),
        ("11", "report.xml", (2, 0, 1, 1, 0, 0), True),
        ("13", "report.jsonl", (3, 1, 0, 0, 0, 2), False),
        ("14", "report.jsonl", (1, 0, 0, 0, 0, 1), False),
        ("26", "report.xml", (2, 1, 1, 0, 0, 0), True),
        ("28", "report.xml", (2, 2, 0, 0, 0, 0), True),
        ("34", "go.jsonl", (1, 0, 0, 0, 0, 1), False),
        ("35", "go.jsonl", (1, 1, 0, 0, 0, 0), True),
        ("37", "go.jsonl", (2, 0, 2, 0, 0, 0), True),
    ],
)
def test_a_known_fault_is_not_repeated(
    name: str,
    file: str,
    tests_passed_failed_skipped_flaky_notrun: tuple[int, ...],
    complete: bool,
) -> None:
    found = summary(bug(name, file))
    assert counts(found) == tests_passed_failed_skipped_flaky_notrun
    assert found.complete == complete


def test_an_empty_record_that_a_failing_one_follows_is_an_attempt_and_no_pass() -> None:
    found = bug("02", "report.xml")
    dialled = [one for one in found.executions if one.test_id.endswith("test_dial")]
    assert [one.outcome for one in dialled] == [None, None, Outcome.FAILED]
    assert [note.rule for note in found.notes] == ["header-disagrees", "attempt-unfinished"]


def test_both_messages_of_one_case_are_kept() -> None:
    (failed,) = (one for one in bug("08", "report.xml").executions if one.message)
    assert "retry 1" in failed.message
    assert "retry 2" in failed.message


def test_durations_are_read_as_they_are_meant() -> None:
    assert [one.duration_s for one in bug("16", "report.xml").executions] == [0.16, 12.5]
    assert [one.duration_s for one in bug("17", "report.xml").executions] == [0.693097, None]


@pytest.mark.parametrize(
    ("name", "hour"), [("19", "2026-02-03T04:05:06"), ("20", "2026-02-03T04:05:06+00:00")]
)
def test_the_time_of_a_suite_is_found_wherever_it_stands(name: str, hour: str) -> None:
    assert bug(name, "report.xml").started == hour


def test_what_is_repaired_is_said() -> None:
    for name in ("26", "28"):
        assert [note.rule for note in bug(name, "report.xml").notes] == ["file-repaired"]


def test_a_long_output_is_not_kept() -> None:
    output = "x" * 99 + "\n"
    raw = (
        "<testsuite name='s' tests='2' failures='1'><testcase classname='c' name='log'>"
        f"<system-out><![CDATA[{output * 110_000}]]></system-out></testcase>"
        "<testcase classname='c' name='bad'><failure message='m'>f</failure></testcase></testsuite>"
    )
    found = reading_of(raw.encode())
    assert counts(summary(found)) == (2, 1, 1, 0, 0, 0)
    assert max(len(one.message) for one in found.executions) < 10


def test_an_attempt_is_never_an_extra_test() -> None:
    case = "<testcase classname='c' name='t'>{}</testcase>"
    rows = [case.format(""), case.format("<failure/>"), case.format("<error/>")]
    found = reading_of(f"<testsuite name='c' tests='3'>{''.join(rows)}</testsuite>".encode())
    assert counts(summary(found)) == (1, 0, 0, 0, 0, 0)
    assert summary(found).errors == 1
    assert [one.attempt for one in found.executions] == [0, 1, 2]


def test_a_skipped_attempt_does_not_undo_a_failed_one() -> None:
    failed, skipped = (f"<testcase name='t'><{end}/></testcase>" for end in ("failure", "skipped"))
    raw = f"<testsuite>{failed}{skipped}</testsuite>".encode()
    assert counts(summary(reading_of(raw))) == (1, 0, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("attribute", "not_run"),
    [("status='disabled'", 1), ("status='notrun' result='suppressed'", 1), ("status='run'", 0)],
)
def test_a_case_that_only_an_attribute_disables_was_not_run(attribute: str, not_run: int) -> None:
    raw = f"<testsuite><testcase name='a' {attribute}/><testcase name='b'/></testsuite>"
    assert summary(reading_of(raw.encode())).not_run == not_run


def test_an_expected_failure_is_no_pass_and_no_failure() -> None:
    raw = b"<testsuite><testcase name='t'><skipped type='pytest.xfail'/></testcase></testsuite>"
    (one,) = reading_of(raw).executions
    assert one.outcome is Outcome.XFAILED


@pytest.mark.parametrize(
    "raw",
    [
        b"<testsuites/>",
        b"<testsuite tests='6'/>",
        b"<testsuite><error message='no'/></testsuite>",
        b"<testsuite><testcase name='a'/><error message='teardown of the suite'/></testsuite>",
        b"<testsuite><testcase name='a'/>",
        b'{"$report_type": "SessionStart"}\n{"$report_type": "SessionFinish", "exitstatus": 5}\n',
        b'{"Action": "start", "Package": "p"}\n{"Action": "pass", "Package": "p"}\n',
        b'{"results": {"tool": {"name": "x"}, "summary": {}, "tests": []}}',
    ],
)
def test_a_run_without_results_or_with_an_error_of_its_own_is_incomplete(raw: bytes) -> None:
    assert not summary(reading_of(raw)).complete
