"""How steady verdicts are: what the log says, run by run, and what is counted of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import GREEN, PATCH, PIN, RED, TEST, Log, fails, passes, touches, violates

from analysis.attribution.statistics import Count, interval, lower, upper
from analysis.board import Ingest, Inputs, now, open_board, usable
from analysis.config import Config
from analysis.model import Phase
from analysis.queries.canary_cells import canaries_of, canary_rows
from analysis.queries.paging import PageRequest
from analysis.queries.rates import WINDOW, rate_over_time, rates_by_phase
from analysis.queries.reports import reports
from analysis.queries.run_record import MOST_FAILURES, run_record
from analysis.queries.stability import (
    PatchRow,
    filled,
    patch_rows,
    runs_of,
    stability_page,
    totals,
)

GROUND_TRUTH = Path(__file__).parents[2] / "data" / "ground-truth"
TIE = 1_780_000_000.0


@contextmanager
def connected(*logs: Log | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with tempfile.TemporaryDirectory() as folder, open_board(None, Config()) as board:
        paths = tuple(log.write(Path(folder)) if isinstance(log, Log) else log for log in logs)
        usable(board.take(Inputs(paths), Ingest(now(), final=True)))
        board.derive()
        yield board.connection


@pytest.fixture(scope="module")
def truth() -> Iterator[duckdb.DuckDBPyConnection]:
    with connected(GROUND_TRUTH) as connection:
        yield connection


def names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = connection.execute("SELECT experiment FROM experiment_facts ORDER BY ALL").fetchall()
    return [name for (name,) in found]


def only(connection: duckdb.DuckDBPyConnection) -> PatchRow:
    (row,) = patch_rows(connection, names(connection))
    return row


def run(log: Log, sign: str, phase: str = "serial", **context: object) -> Log:
    """One run of the subject that becomes the cell `sign`."""
    end = {"v": {"collected": 0, "passed": 0}, "n": {"verdict": None}}.get(sign)
    tests = [fails() if sign == "f" else passes()]
    return log.run("subject", phase, [] if sign == "v" else tests, end=end, **context)


def flips(strip: str) -> int:
    return sum(one != other for one, other in pairwise(strip.replace("n", "").replace("v", "")))


# --- cells, flips, k/n -------------------------------------------------------------------


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(["soak", "serial", "tightened", "gate"]),
        st.text("pfnv", min_size=1, max_size=12),
        min_size=1,
    )
)
def test_a_strip_is_what_the_log_says_and_flips_count_its_changes(strips: dict[str, str]) -> None:
    log = Log().header(canaries=None)
    for phase, strip in strips.items():
        for sign in strip:
            log = run(log, sign, phase)
    with connected(log) as connection:
        row = only(connection)
        whole = "".join(strips.values())
        assert row.strips == strips
        assert list(row.strips) == [phase for phase in Phase if phase in strips]
        assert row.counts.flips == sum(map(flips, strips.values()))
        assert (row.counts.k, row.counts.n) == (whole.count("f"), len(whole.translate(VERDICTS)))
        assert row.counts.runs == len(whole)
        assert row.counts.upper == upper(Count(row.counts.k, row.counts.n))
        assert row.counts.lower == lower(Count(row.counts.k, row.counts.n))


VERDICTS = str.maketrans("", "", "nv")


def test_a_change_between_two_phases_is_no_flip() -> None:
    with connected(run(run(Log(), "p", "serial"), "f", "repeat")) as connection:
        assert only(connection).counts.flips == 0


def test_runs_stand_in_the_order_of_their_starts_and_ties_in_that_of_their_ids() -> None:
    log = Log()
    for run_id, sign, started in (("b", "f", 5), ("c", "p", 0), ("a", "p", 5), ("d", "f", 1)):
        log = run(log, sign, run_id=run_id, started=TIE + started)
    with connected(log) as connection:
        assert only(connection).strips == {"serial": "pfpf"}
        assert [one.run_id for one in runs_of(connection, "soak", PATCH, "serial")] == [
            "c", "d", "a", "b",
        ]  # fmt: skip


def test_bare_verdicts_without_a_start_stand_in_the_order_of_their_lines() -> None:
    log = Log("gate")
    for number in range(30):
        log = log.verdict(patch="A", verdict="fail" if number >= 15 else "pass")
    with connected(log) as connection:
        row = only(connection)
        assert row.strips == {"gate": "p" * 15 + "f" * 15}
        assert row.counts.flips == 1
        assert [one.line for one in runs_of(connection, row.counts.experiment, "A", "gate")] == [
            *range(1, 31)
        ]


def test_a_cell_is_the_verdict_that_check_prints(truth: duckdb.DuckDBPyConnection) -> None:
    word = {"p": "pass", "f": "fail", "n": "none", "v": "none"}
    rows = {
        (row.counts.experiment, row.counts.patch_id): row for row in patch_rows(truth, names(truth))
    }
    compared = 0
    for report in reports(truth, names(truth)):
        for patch in report.patches:
            if patch.role == "subject":
                strip = rows[report.experiment, patch.patch_id].strips[patch.phase]
                assert sorted(word[sign] for sign in strip) == sorted(patch.verdicts)
                compared += 1
    assert compared == 39


def test_most_flips_come_first_then_the_highest_rate_then_names(
    truth: duckdb.DuckDBPyConnection,
) -> None:
    rows = [row.counts for row in patch_rows(truth, names(truth))]
    order = [
        (-one.flips, -(one.k / one.n if one.n else -1.0), one.patch_id, one.experiment)
        for one in rows
    ]
    assert order == sorted(order)
    assert [row.counts for row in patch_rows(truth, names(truth), 5)] == rows[:5]
    assert list(stability_page(truth, names(truth), PageRequest()).rows) == rows


def test_a_page_is_filled_with_the_cells_of_its_rows(truth: duckdb.DuckDBPyConnection) -> None:
    request = PageRequest(filter="patch:no_flock")
    page = stability_page(truth, names(truth), request)
    assert (page.total, page.everything) == (3, 39)
    whole = [row for row in patch_rows(truth, names(truth)) if row.counts.patch_id == "no_flock"]
    assert filled(truth, page.rows) == whole


def test_the_totals_are_those_of_the_ground_truth(truth: duckdb.DuckDBPyConnection) -> None:
    found = totals(truth, names(truth))
    assert (found.flipped, found.held, found.void, found.rows) == (29, 8, 2, 39)
    assert (found.patches_flipped, found.patches) == (7, 8)


def test_no_experiment_has_no_rows(truth: duckdb.DuckDBPyConnection) -> None:
    assert patch_rows(truth, []) == []
    assert totals(truth, []).rows == 0
    assert canary_rows(truth, "nowhere") == ()


def test_the_tell_marks_both_of_its_patches() -> None:
    log = Log().header()
    for number in range(4):
        log = log.round(number, [fails(**touches("port")), passes(PIN)])
        outcome = fails if number % 2 else passes
        log = replace_last_slot(log).beside(
            "subject", "soak", [outcome(**touches("port")), passes(PIN)],
            patch_id="other", round=number,
        ).later()  # fmt: skip
    with connected(log) as connection:
        told = {row.counts.patch_id: row.tells for row in patch_rows(connection, ["soak"])}
        (tell,) = told["other"]
        assert told == {PATCH: (tell,), "other": (tell,)}
        assert (tell.stable, tell.varying, tell.id) == (PATCH, "other", "port")


def replace_last_slot(log: Log) -> Log:
    return log.later(-1)


# --- canaries ----------------------------------------------------------------------------


def test_canaries_are_judged_on_their_pinned_test_and_not_on_the_suite() -> None:
    log = Log().header()
    for number in range(3):
        log = log.round(number, green=[passes(PIN), fails(TEST)])
    with connected(log) as connection:
        red, green = canary_rows(connection, "soak")
        assert (red.role, red.patch_id, red.strips) == ("red", RED, {"soak": "fff"})
        assert (green.role, green.patch_id, green.strips) == ("green", GREEN, {"soak": "ppp"})
        assert (red.judged_on, green.k, green.n) == (PIN, 0, 3)


def test_a_pass_of_red_and_a_fail_of_green_are_cells_and_deviations() -> None:
    log = Log().header().round(0).round(1, red=[passes(PIN)], green=[fails(PIN)]).round(2)
    with connected(log) as connection:
        red, green = canary_rows(connection, "soak")
        assert (red.strips["soak"], red.flips, red.k, red.n) == ("fpf", 2, 2, 3)
        assert red.deviations == (red.runs["soak"][1],)
        assert (green.strips["soak"], green.deviations) == ("pfp", (green.runs["soak"][1],))


def test_a_red_that_failed_with_another_message_failed_still() -> None:
    log = Log().header().round(0).round(1, red=[violates(message="no disk")]).round(2)
    with connected(log) as connection:
        red, _ = canary_rows(connection, "soak")
        assert (red.strips["soak"], red.other_failures) == ("fff", 1)


def test_without_a_pinned_test_canaries_are_judged_on_their_verdicts() -> None:
    log = Log().header(canaries=None).round(0).round(1, green=[fails()])
    with connected(log) as connection:
        _, green = canary_rows(connection, "soak")
        assert (green.judged_on, green.strips) == ("run verdict", {"soak": "pf"})


def test_deviations_of_canaries_are_those_of_check(truth: duckdb.DuckDBPyConnection) -> None:
    found = canaries_of(truth, names(truth))
    deviating = 0
    for report in reports(truth, names(truth)):
        for row, canary in zip(found[report.experiment], (report.red, report.green), strict=True):
            cells = dict(zip(row.runs["soak"], row.strips["soak"], strict=True))
            wrong = "p" if row.role == "red" else "f"
            assert {name for name, sign in cells.items() if sign == wrong} == set(canary.runs)
            deviating += len(canary.runs)
    assert deviating > 0


# --- rates -------------------------------------------------------------------------------


def test_rates_by_phase_are_counts_of_verdicts_beside_green() -> None:
    log = Log()
    for sign in "pffn":
        log = run(log, sign, "serial")
    log = run(log, "p", "soak")
    for outcome in (passes, fails):
        log = log.run("green", "serial", [outcome()]).run("green", "repeat", [outcome()])
    with connected(log) as connection:
        soak, serial = rates_by_phase(connection, "soak", PATCH)
        assert (soak.phase, soak.patch[:2], soak.green) == ("soak", (0, 1), (0, 0, 0.0, 1.0))
        assert (serial.phase, serial.patch) == ("serial", (2, 3, *interval(Count(2, 3))))
        assert serial.green == (1, 2, *interval(Count(1, 2)))


def rolling(signs: Sequence[str]) -> list[float]:
    windows = (signs[max(0, at - WINDOW + 1) : at + 1] for at in range(len(signs)))
    return [window.count("f") / len(window) for window in windows]


@settings(max_examples=20)
@given(st.text("pf", min_size=1, max_size=40), st.integers(1, 50))
def test_the_rate_over_time_has_every_verdict_in_at_most_so_many_points(
    signs: str, points: int
) -> None:
    log = Log()
    for sign in signs:
        log = run(log, sign)
    with connected(log) as connection:
        found = rate_over_time(connection, "soak", PATCH, points)
    assert len(found) == min(points, len(signs))
    assert sum(point.runs for point in found) == len(signs) == found[-1].at
    expected = rolling(list(signs))
    for point in found:
        stretch = expected[point.at - point.runs : point.at]
        assert point.share == pytest.approx(sum(stretch) / len(stretch))


def test_a_chart_of_no_points_is_refused(truth: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(ValueError, match="0 points"):
        rate_over_time(truth, "soak", PATCH, 0)


# --- one run -----------------------------------------------------------------------------


def test_a_run_shows_what_failed_in_it_and_where_the_log_says_so() -> None:
    secret = "DB_PASSWORD=correct-horse"
    log = Log().run("subject", "serial", [passes("a"), fails(message=secret)], env={"TZ": "UTC"})
    with connected(log) as connection:
        (cell,) = runs_of(connection, "soak", PATCH, "serial")
        record = run_record(connection, "soak", cell.run_id)
    assert record is not None
    assert (record.verdict, record.logged_verdict, record.standing) == ("fail", "fail", "proven")
    assert (Path(record.path).name, record.line) == ("soak.jsonl", 4)
    assert record.path == cell.log
    (failure,) = record.failures
    assert (failure.test_id, failure.line, record.failures_total) == (TEST, 3, 1)
    assert failure.message == "DB_PASSWORD=[redacted]"
    facts = dict(record.facts)
    assert (facts["patch_id"], facts["tests_failed"], facts["complete"]) == (PATCH, "1", "yes")
    assert "worker" not in facts


def test_a_void_run_names_the_rule_that_it_breaks() -> None:
    with connected(run(Log(), "v")) as connection:
        (cell,) = runs_of(connection, "soak", PATCH, "serial")
        record = run_record(connection, "soak", cell.run_id)
    assert record is not None
    assert (record.verdict, record.logged_verdict, record.standing) == ("none", "pass", "void")
    assert "no-tests-collected" in {finding.rule for finding in record.findings}


def test_of_very_many_failures_the_first_are_given_and_all_are_counted() -> None:
    many = MOST_FAILURES + 7
    log = Log().run("subject", "serial", [fails(f"t::{number:04d}") for number in range(many)])
    with connected(log) as connection:
        (cell,) = runs_of(connection, "soak", PATCH, "serial")
        record = run_record(connection, "soak", cell.run_id)
    assert record is not None
    assert (len(record.failures), record.failures_total) == (MOST_FAILURES, many)


def test_a_run_that_is_not_there_is_none(truth: duckdb.DuckDBPyConnection) -> None:
    assert run_record(truth, "shared_port-ep0", "no such run") is None


def test_failures_of_a_run_are_those_of_the_view_results(truth: duckdb.DuckDBPyConnection) -> None:
    counted = truth.execute(
        """SELECT experiment, run_id, count(*) FROM results
        WHERE failed AND test_id <> '(run)' GROUP BY ALL ORDER BY ALL LIMIT 40"""
    ).fetchall()
    assert len(counted) == 40
    for experiment, run_id, failures in counted:
        record = run_record(truth, experiment, run_id)
        assert record is not None
        assert record.failures_total == len(record.failures) == failures
