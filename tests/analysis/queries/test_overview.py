"""The overview says what `check` says, in sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from logs import PIN, TEST, Log, fails, passes

from analysis.attribution.statistics import Count, interval
from analysis.board import Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.model import UnitClass
from analysis.queries.experiments import Choice, chosen
from analysis.queries.overview import MOST_TASKS, RANK_OF, Overview, Rank, Trust, overview
from analysis.queries.reports import ExperimentReport, reports
from analysis.store import query

TOP = Path(__file__).parents[3]
Answers = tuple[duckdb.DuckDBPyConnection, list[str], Overview, list[ExperimentReport]]


def answers_to(*paths: Path) -> Iterator[Answers]:
    with open_board(None, Config()) as board:
        board.take(Inputs(paths), Ingest(now(), final=True))
        board.derive()
        names = chosen(board.connection, Choice(everything=True))
        yield (
            board.connection,
            names,
            overview(board.connection, names),
            reports(board.connection, names),
        )


@pytest.fixture(scope="module", params=["ground-truth", "sample"])
def answers(request: pytest.FixtureRequest) -> Iterator[Answers]:
    sample = [TOP / "sample_data" / name for name in ("soak", "gate", "broken")]
    yield from answers_to(
        *(sample if request.param == "sample" else [TOP / "tests/data/ground-truth"])
    )


def test_the_sums_are_those_of_the_reports(answers: Answers) -> None:
    _, _, found, whole = answers
    assert found.experiments == len(whole)
    assert found.runs == sum(one.runs for one in whole)
    classes: Counter[UnitClass] = Counter()
    failed: Counter[UnitClass] = Counter()
    for one in whole:
        classes.update(unit.unit_class for unit in one.units)
        failed.update(unit.unit_class for unit in one.units if unit.failures)
    assert {one.unit_class: one.units for one in found.classes if one.units} == dict(classes)
    assert {one.unit_class: one.failed for one in found.classes if one.failed} == dict(failed)
    assert found.units == sum(classes.values())
    assert found.outages == tuple(
        outage
        for name in sorted(one.experiment for one in whole)
        for one in whole
        if one.experiment == name
        for outage in one.outages
    )
    assert found.flipped == len({flip.patch_id for one in whole for flip in one.flips})
    assert found.flipped <= found.patches
    for canary, parts in (
        (found.red, [one.red for one in whole]),
        (found.green, [one.green for one in whole]),
    ):
        assert canary.good == sum(part.good for part in parts)
        assert canary.judged == sum(part.judged for part in parts)
        assert canary.deviating == (
            sum(part.deviating[0] for part in parts),
            sum(part.deviating[1] for part in parts),
        )
        assert canary.interval == interval(Count(*canary.deviating))


def test_passes_that_prove_nothing_are_the_runs_that_lost_their_verdict(answers: Answers) -> None:
    connection, _, found, _ = answers
    logged = query.rows(connection, "SELECT verdict FROM runs WHERE logged_verdict = 'pass'")
    assert found.passes == len(logged)
    assert found.void_passes == logged.count(("none",))
    assert max(found.void.values(), default=0) <= found.void_passes


def test_the_first_things_to_do_are_the_worst_causes_of_each_rank(answers: Answers) -> None:
    _, _, found, whole = answers
    assert [tasks.rank for tasks in found.next] == list(Rank)
    causes: dict[Rank, Counter[tuple[UnitClass, str]]] = {rank: Counter() for rank in Rank}
    for one in whole:
        for unit in one.units:
            if unit.unit_class in RANK_OF:
                causes[RANK_OF[unit.unit_class]][unit.unit_class, unit.cause] += unit.failures
    ranks = list(UnitClass)
    for tasks in found.next:
        expected = sorted(
            causes[tasks.rank],
            key=lambda cause, of=causes[tasks.rank]: (ranks.index(cause[0]), -of[cause], cause[1]),
        )
        assert tasks.total == len(expected)
        assert [(row.unit_class, row.label) for row in tasks.first] == expected[:MOST_TASKS]
        assert [row.failures for row in tasks.first] == [
            causes[tasks.rank][cause] for cause in expected[:MOST_TASKS]
        ]


def test_the_history_is_of_every_soak_oldest_first(answers: Answers) -> None:
    _, names, found, whole = answers
    assert [one.experiment for one in found.history] == names
    by_name = {one.experiment: one for one in whole}
    for soak in found.history:
        report = by_name[soak.experiment]
        subjects = [patch for patch in report.patches if patch.role == "subject"]
        assert soak.fails == sum(patch.fails for patch in subjects)
        assert soak.verdicts == sum(patch.fails + patch.passes for patch in subjects)
        assert soak.red_passed == report.red.deviating[0]
        assert soak.green_failed == report.green.deviating[0]
    assert sum(soak.void_passes for soak in found.history) == found.void_passes


def soak_of(rounds: int = 30) -> Log:
    """A soak in which everything behaves, with enough runs to trust it."""
    log = Log("night").header().soak(rounds)
    for test in (TEST, PIN):
        for phase, runs in (("serial", 80), ("repeat", 20)):
            log = log.arm(phase, 0, runs, passing=lambda test=test: passes(test))
    return log


def one_flip() -> Log:
    log = Log("night").header()
    for number in range(30):
        log = log.round(number, patch_digest="a" * 12)
    return log.run("subject", "gate", [fails()], patch_digest="a" * 12)


def void_pass() -> Log:
    return soak_of().run("subject", "gate", [], end={"verdict": "pass"})


LOGS = {
    "all is well": (soak_of(), Trust.YES),
    "nothing but a header": (Log("night").header(), None),
    "too few runs": (Log("night").header().soak(5), Trust.UNKNOWN),
    "no canaries": (Log("night").run("subject", "soak", [passes()]), Trust.UNKNOWN),
    "no subject": (Log("night").header().round(1, subject=None), Trust.UNKNOWN),
    "red passed": (soak_of().round(99, red=[passes(PIN)]), Trust.NO),
    "green failed": (soak_of().round(99, green=[fails(PIN)]), Trust.NO),
    "a flip": (one_flip(), Trust.NO),
    "a pass that proves nothing": (void_pass(), Trust.NO),
    "a test that always fails": (
        Log("night").header().soak(9, failing=range(9)).arm("serial", 5, 5),
        Trust.NO,
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_unknown_is_never_trusted_and_trust_is_what_check_says(name: str, tmp_path: Path) -> None:
    log, trust = LOGS[name]
    with open_board(None, Config()) as board:
        board.take(Inputs((log.write(tmp_path),)), Ingest(now(), final=True))
        board.derive()
        names = [
            row[0]
            for row in query.rows(board.connection, "SELECT experiment FROM experiment_facts")
        ]
        found = overview(board.connection, names)
        whole = reports(board.connection, names)
    objections = [text for one in whole for text in one.objections([])]
    if trust is None:
        assert found.trust is not Trust.YES
        return
    assert found.trust is trust, found.reasons
    assert (trust is Trust.YES) == (not found.reasons)
    if objections:
        assert trust is not Trust.YES
    else:
        assert trust is Trust.YES or found.void_passes


@pytest.mark.parametrize("names", [[], ["of nobody"]])
def test_where_nothing_was_run_nothing_is_trusted(names: Sequence[str]) -> None:
    with open_board(None, Config()) as board:
        found = overview(board.connection, names)
    assert found.trust is Trust.UNKNOWN
    assert found.reasons
    assert (found.experiments, found.runs, found.units, found.newest) == (0, 0, 0, None)


def test_a_clock_that_is_off_by_millennia_leaves_the_time_unknown(tmp_path: Path) -> None:
    log = Log("night").run("subject", "soak", [passes()], started=4e11)
    with open_board(None, Config()) as board:
        board.take(Inputs((log.write(tmp_path),)), Ingest(now(), final=True))
        board.derive()
        found = overview(board.connection, ["night"])
    assert found.newest is None or isinstance(found.newest, datetime)
    assert found.runs == 1
