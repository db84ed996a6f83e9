"""Rows V1 to V6, 2a and 2b: the smallest log that trips each, and the nearest that must not.

Where a log must not trip a row it stands beside the row that it falls to instead: I5, as its
tests never fail and never run alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from logs import EXPECT, GREEN, PATCH, PIN, RED, TEST, Log, fails, passes, violates
from logs import execution as executed

ALL_PASSED = {"verdict": "pass", "exit_code": 0, "collected": 1, "passed": 1, "failed": 0}
GONE = "tests/test_gone.py::test_gone"
PINNED = [PIN, TEST, GONE]
A, B = "a" * 64, "b" * 64
Build = Callable[[Log], Log]


def ends(**end: object) -> Build:
    """The subject's run of a sixth round says in its end marker what its tests do not."""
    return lambda log: log.header().soak(5).beside("subject", "soak", [passes()], round=5, end=end)


def started_and_judged_by_a_verdict_line(log: Log) -> Log:
    log = log.header().soak(5).cut("subject", "soak", [passes()], round=5)
    context = {key: log.lines[-1][key] for key in ("experiment", "run_id", "patch_id", "role")}
    return log.line(kind="verdict", verdict="pass", collected=1, passed=1, exit_code=0, **context)


def cut_rounds(whole: int, cut: int) -> Build:
    def build(log: Log) -> Log:
        log = log.header().soak(whole)
        for number in range(whole, whole + cut):
            log = log.round(number, subject=None).cut("subject", "soak", [passes()], round=number)
        return log

    return build


def twice_with(**fields: object) -> Build:
    """The last run has a second end marker that says something else in one field, or nothing."""

    def build(log: Log) -> Log:
        log = log.header().soak(5)
        return log.line(**{**log.lines[-1], **fields})

    return build


def digests(*found: str) -> Build:
    def build(log: Log) -> Log:
        log = log.header()
        for number, digest in enumerate(found):
            log = log.round(number, subject=None)
            log = log.beside(
                "subject", "soak", [passes()], round=number, patch_digest=digest
            ).later()
        return log

    return build


def two_digests_in_one_run(log: Log) -> Log:
    log = log.header().soak(5).beside("subject", "soak", [passes()], round=5, patch_digest=A)
    *rest, marker = log.lines
    return Log(log.name, (*rest, {**marker, "patch_digest": B}))


def generations(*uses: tuple[str, int]) -> Build:
    def build(log: Log) -> Log:
        log = log.header().soak(3)
        for number, (generation, attempt) in enumerate(uses, start=3):
            log = log.round(number, subject=None).beside(
                "subject",
                "soak",
                [passes()],
                round=number,
                attempt=attempt,
                workspace_generation=generation,
            )
        return log

    return build


def red(*rounds: object) -> Build:
    """A soak in which red does what is given, round by round."""

    def build(log: Log) -> Log:
        log = log.header()
        for number, tests in enumerate(rounds):
            log = log.round(number, red=tests if isinstance(tests, list) else [tests])
        return log

    return build


def green(*rounds: Mapping[str, object]) -> Build:
    """A soak in which green does what is given, round by round."""

    def build(log: Log) -> Log:
        log = log.header()
        for number, test in enumerate(rounds):
            log = log.round(number, green=[passes(), test])
        return log

    return build


def red_runs(tests: list[Mapping[str, object]], **end: object) -> Build:
    return lambda log: log.header().soak(5).run("red", "gate", tests, end=end)


def missing(subject: list[Mapping[str, object]]) -> Build:
    """Three pinned tests, all of which the canaries ran in every round."""

    def build(log: Log) -> Log:
        log = log.header(inventory=PINNED)
        whole = [passes(), passes(GONE)]
        for number in range(5):
            log = log.round(number, subject, green=whole, red=[violates(), *whole])
        return log

    return build


OTHER_MESSAGE = fails(PIN, message="fixture 'db' not found")

CASES: dict[str, tuple[str, Build]] = {
    # V1
    "a soak pass that collected nothing": ("V1", ends(collected=0)),
    "a soak pass of which no test passed": ("V1", ends(passed=0)),
    "a soak pass with exit code 5": ("V1", ends(exit_code=5)),
    "a soak pass with another exit code than 0": ("V1", ends(exit_code=2)),
    "a soak pass killed by a signal": ("V1", ends(exit_code=-9)),
    "a soak pass that timed out": ("V1", ends(timed_out=True)),
    "a soak pass that crashed": ("V1", ends(crashed=True)),
    "a soak pass that counts a failure": ("V1", ends(failed=1)),
    "a soak pass that counts an error": ("V1", ends(errors=1)),
    "a soak pass with more results than tests": ("V1", ends(collected=1, skipped=3)),
    "a soak pass of which a test failed": (
        "V1",
        lambda log: (
            log.header()
            .soak(5)
            .round(5, [fails()])
            .beside("subject", "soak", [fails()], round=6, end={"verdict": "pass", "exit_code": 0})
        ),
    ),
    "a soak pass without end marker, whatever a later verdict line says": (
        "V1",
        started_and_judged_by_a_verdict_line,
    ),
    "a canary's pass outside of the soak that collected nothing": (
        "V1",
        lambda log: log.header().soak(5).run("green", "serial", [passes()], end={"collected": 0}),
    ),
    "a soak pass without counts is unproven, not impossible": (
        "I5",
        ends(collected=None, passed=None, failed=None, errors=None, skipped=None),
    ),
    "a soak pass without an exit code": ("I5", ends(exit_code=None)),
    "a soak pass of which one test was skipped": (
        "I5",
        lambda log: (
            log.header()
            .soak(5)
            .beside("subject", "soak", [passes(), executed(PIN, "skipped")], round=5)
        ),
    ),
    "a soak failure that collected nothing says no pass": (
        "I5",
        ends(collected=0, passed=0, verdict="fail", exit_code=1),
    ),
    "a gate run of the patch that collected nothing is no soak or canary run": (
        "I5",
        lambda log: log.header().soak(5).run("subject", "gate", [passes()], end={"collected": 0}),
    ),
    "a soak run without end marker that says nothing": ("I5", cut_rounds(5, 1)),
    # V2
    "a finished log with a torn last line": (
        "V2",
        lambda log: log.header().soak(5).ending('{"kind": "run_start", "run_id": "r'),
    ),
    "a finished log whose last line lacks its newline and is whole": (
        "I5",
        lambda log: (
            log.header()
            .soak(5)
            .ending(json.dumps({"kind": "verdict", "experiment": log.name, "verdict": "pass"}))
        ),
    ),
    "one run id with two different end markers": ("V2", twice_with(passed=7, collected=7)),
    "one run id with the same end marker twice": ("I5", twice_with()),
    "3 of 13 soak rounds unusable": ("V2", cut_rounds(10, 3)),
    "2 of 10 soak rounds unusable are no more than a fifth": ("I5", cut_rounds(8, 2)),
    "two digests of one patch": ("V2", digests(A, A, B)),
    "two digests within one run of a patch": ("V2", two_digests_in_one_run),
    "a digest and its prefix": ("I5", digests(A, A[:12], A[:8])),
    "a workspace generation with two attempts": ("V2", generations(("g1", 0), ("g1", 1))),
    "two attempts with a workspace generation each": ("I5", generations(("g1", 0), ("g2", 1))),
    # V3
    "a pinned test without a record in the soak": (
        "V3",
        missing([fails()]),
    ),
    "a pinned test without a record in a soak that passes": (
        "V3",
        missing([passes()]),
    ),
    "a pinned test with one skipped record in the soak": (
        "I5",
        lambda log: (
            log.header(inventory=[PIN, TEST]).soak(5).round(5, subject=[executed(TEST, "skipped")])
        ),
    ),
    "a pinned test that is always skipped in the soak": (
        "I5",
        missing([passes(), executed(GONE, "skipped")]),
    ),
    # V4
    "no soak": ("V4", lambda log: log.header().arm("serial", 0, 3)),
    "a soak without red": ("V4", lambda log: log.header().round(0, red=None).round(1, red=None)),
    "a soak without green": (
        "V4",
        lambda log: log.header().round(0, green=None).round(1, green=None),
    ),
    "a soak of one round with red and green": ("I5", lambda log: log.header().soak(1)),
    # V5
    "red failed with its message in 2 of 5 rounds": (
        "V5",
        red(violates(), violates(), OTHER_MESSAGE, OTHER_MESSAGE, OTHER_MESSAGE),
    ),
    "red failed its pinned test only with another message": ("V5", red(*[OTHER_MESSAGE] * 3)),
    "red's pinned test was skipped in every round": (
        "V5",
        red(*[[executed(PIN, "skipped"), fails()]] * 3),
    ),
    "red failed another test than the pinned one": ("V5", red(*[fails()] * 3)),
    "red failed with its message in 3 of 5 rounds": (
        "I5",
        red(violates(), violates(), violates(), OTHER_MESSAGE, OTHER_MESSAGE),
    ),
    "red failed with its message in both rounds of two": ("I5", red(violates(), violates())),
    "red's message stands in the exception": (
        "I5",
        red(*[fails(PIN, exc=EXPECT, message="")] * 3),
    ),
    # V6
    "green failed its pinned test in every round": ("V6", green(*[fails(PIN)] * 3)),
    "green failed its pinned test in every round but one": (
        "2b",
        green(fails(PIN), fails(PIN), passes(PIN)),
    ),
    # 2a
    "red passed its pinned test once": ("2a", red(*[violates()] * 4, passes(PIN))),
    "red passed its pinned test before it could be called proven": (
        "2a",
        red(violates(), passes(PIN)),
    ),
    "red passed its pinned test in every round": ("2a", red(*[passes(PIN)] * 3)),
    "red passed its pinned test once, in a gate run": ("2a", red_runs([passes(PIN)])),
    "red passed its pinned test in one of two iterations": (
        "2a",
        red(*[violates()] * 4, [violates(iteration=0), passes(PIN, iteration=1)]),
    ),
    "red passed its pinned test on a second attempt": (
        "2a",
        red_runs([violates(attempt=0), passes(PIN, attempt=1)], **ALL_PASSED),
    ),
    "red passed another test": ("I5", red(*[[violates(), passes()]] * 4)),
    "red failed its pinned test once with another message": (
        "I5",
        red(*[violates()] * 4, OTHER_MESSAGE),
    ),
    # 2b
    "green failed its pinned test once": ("2b", green(*[passes(PIN)] * 4, fails(PIN))),
    "green failed another test once": (
        "I5",
        lambda log: log.header().soak(4).round(4, green=[fails("tests/test_other.py::test_it")]),
    ),
}


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, (row, _) in CASES.items()])
def test_the_experiment_decides(rows, name, row):
    unit = rows[name]
    assert unit.row == row, unit.why
    assert [one.row for one in unit.tried if one.matches] == [row]
    assert unit.why
    assert unit.action
    assert unit.blocks


def test_a_digest_that_is_not_the_one_asked_for_makes_the_evidence_invalid(answer_to):
    log = digests(A, A, A)(Log())
    assert answer_to(log, digests={"": B}).unit().row == "V2"
    assert answer_to(log, digests={PATCH: B[:12]}).unit().row == "V2"


def test_a_digest_that_is_the_one_asked_for_changes_nothing(answer_to):
    log = digests(A, A, A)(Log())
    assert answer_to(log, digests={"": A[:12]}).unit().row == "I5"
    assert answer_to(log, digests={"another-patch": B}).unit().row == "I5"


def test_a_soak_without_canaries_asks_for_the_rounds_that_show_a_failure_in_ten(answer_to):
    unit = answer_to(Log().header().arm("serial", 0, 3)).unit()
    assert unit.need == {"soak": 29}


def test_the_red_canary_that_passed_is_told_with_what_it_shared(answer_to):
    log = Log().header().soak(3)
    used = {"resources": [{"kind": "file", "id": "/shared/artifact.json", "op": "w"}]}
    log = log.round(3, subject=[passes(**used)], red=[passes(), passes(PIN, **used)])
    unit = answer_to(log).unit()
    assert unit.row == "2a"
    assert unit.address == {
        "kind": "file",
        "id": "/shared/artifact.json",
        "peer_patch": PATCH,
        "peer_test": TEST,
    }


@pytest.mark.parametrize(
    ("verdicts", "row"),
    [("fffff", "I5"), ("ffffp", "2a"), ("ppppp", "2a")],
    ids=["always fails", "passed once", "always passed"],
)
def test_a_red_canary_without_pinned_test_is_judged_on_its_run_verdict(answer_to, verdicts, row):
    log = Log().header(canaries={"red": {"patch_id": RED}, "green": {"patch_id": GREEN}})
    for number, verdict in enumerate(verdicts):
        log = log.round(number, red=[violates() if verdict == "f" else passes(PIN)])
    unit = answer_to(log).unit()
    assert unit.row == row
    tried = {one.row: one.numbers for one in unit.tried}
    assert "run verdict (no pinned test configured)" in tried["V5"]


def test_another_flaky_test_in_a_canarys_run_is_no_deviation_where_a_test_is_pinned(answer_to):
    log = Log().header().soak(4).round(4, green=[fails()], red=[violates(), fails()])
    assert answer_to(log).unit().row not in ("2a", "2b", "V5", "V6")


def test_a_green_canary_whose_pinned_test_was_never_executed_is_no_control(answer_to):
    log = Log().header()
    for number in range(5):
        log = log.round(number, green=[executed(PIN, "skipped"), passes()])
    log = log.stress({"repeat": 5}).stress({"repeat": 5}, "green")
    assert answer_to(log).unit().unit_class not in ("test flake", "stable")


def test_a_red_canary_that_passed_in_a_run_without_test_lines_is_not_overlooked(answer_to):
    log = Log().header().soak(5)
    log = log.verdict(
        experiment=log.name, run_id="bare", patch_id=RED, role="red", phase="soak", round=5,
        verdict="pass", collected=2, passed=2, exit_code=0,
    )  # fmt: skip
    assert answer_to(log).unit().row == "2a"
