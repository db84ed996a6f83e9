"""Did it help? What is called fixed is shown to be, and unknown is never fixed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import PIN, TEST, Log, fails, passes

from analysis.attribution.statistics import Count, lower, need
from analysis.board import Board, Ingest, Inputs, now, open_board, usable
from analysis.config import Config, Policy
from analysis.errors import BadInput
from analysis.model import Phase, Role, UnitClass
from analysis.queries.compared import LISTED, ComparedTest
from analysis.queries.comparison import NAMED, Comparison, compare
from analysis.queries.difference import (
    Cells,
    Change,
    clean_enough,
    difference,
    runs_missing,
    shown,
)
from analysis.queries.experiments import Choice, chosen
from analysis.store import query

SAMPLES = Path(__file__).parents[3] / "sample_data" / "soak"
GROUND_TRUTH = Path(__file__).parents[2] / "data" / "ground-truth"
ALPHA = Policy().alpha
MIRRORED = {
    Change.WORSE: {Change.BETTER, Change.FIXED},
    Change.BETTER: {Change.WORSE},
    Change.FIXED: {Change.WORSE},
    Change.SAME: {Change.SAME},
    Change.UNCOMPARABLE: {Change.UNCOMPARABLE},
    Change.NEW: {Change.VANISHED},
    Change.VANISHED: {Change.NEW},
}


@contextmanager
def board_of(*paths: Path) -> Iterator[Board]:
    with open_board(None, Config()) as board:
        usable(board.take(Inputs(paths), Ingest(now(), final=True)))
        board.derive()
        yield board


def compared(before: Log, after: Log) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        paths = [log.write(Path(folder)) for log in (before, after)]
        with board_of(*paths) as board:
            return compare(board.connection, before.name, after.name, ALPHA)


def only(found: Comparison, test_id: str = TEST) -> ComparedTest:
    (test,) = (test for test in found.tests if test.test_id == test_id)
    return test


def before() -> Log:
    return Log("before").header()


def after() -> Log:
    return Log("after", runs=50_000, slot=50_000).header()


def half(rounds: int) -> range:
    return range(0, rounds, 2)


@pytest.fixture(scope="module")
def real() -> Iterator[Board]:
    with board_of(SAMPLES, GROUND_TRUTH) as board:
        yield board


@pytest.fixture(scope="module")
def names(real: Board) -> list[str]:
    return chosen(real.connection, Choice(everything=True))


# --- real experiments ------------------------------------------------------------------------


def test_the_rerun_of_the_gateway_in_own_namespaces_fixed_it(real: Board) -> None:
    found = compare(real.connection, "gateway", "gateway-rerun", ALPHA)
    assert found.answer.startswith("Fixed")
    assert found.patches == ("patch-417", "patch-426")
    (test,) = found.tests
    assert (test.change, test.missing) == (Change.FIXED, {})
    assert test.before is not None
    assert test.after is not None
    assert (test.before.unit_class, test.after.unit_class) == (
        UnitClass.HARNESS,
        UnitClass.STABLE,
    )
    assert (test.before.company, test.after.company) == ((12, 36), (0, 32))
    assert (test.before.alone, test.after.alone) == ((0, 12), (0, 75))
    assert sum(pair.tests for pair in found.classes) == 2
    assert test.p is not None
    assert test.p < ALPHA


def test_an_experiment_does_not_differ_from_itself(real: Board, names: list[str]) -> None:
    for name in names:
        found = compare(real.connection, name, name, ALPHA)
        assert {test.change for test in found.tests} <= {Change.SAME, Change.UNCOMPARABLE}
        assert all(pair.before is pair.after for pair in found.classes)
        assert (found.new.total, found.vanished.total) == (0, 0)
        assert found.answer.startswith("No difference is shown")


def test_of_two_soaks_of_one_defect_neither_is_called_fixed(real: Board, names: list[str]) -> None:
    soaks = [name for name in names if name.rpartition("-ep")[2].isdigit()]
    pairs = [
        (one, other)
        for one, other in permutations(soaks, 2)
        if one.rpartition("-ep")[0] == other.rpartition("-ep")[0]
    ]
    assert len(pairs) > 50
    for one, other in pairs:
        for test in compare(real.connection, one, other, ALPHA).tests:
            assert test.change is not Change.FIXED
            # A race fails at another rate on another day; nothing else here does.
            if test.change in (Change.BETTER, Change.WORSE):
                assert test.before is not None
                assert test.before.unit_class is UnitClass.RACE


def test_before_and_after_swapped_swaps_better_and_worse(real: Board) -> None:
    samples = [log.name.partition(".")[0] for log in sorted(SAMPLES.glob("*.jsonl*"))]
    seen = set()
    for one, other in permutations(samples, 2):
        there = compare(real.connection, one, other, ALPHA)
        back = compare(real.connection, other, one, ALPHA)
        changes = {_norm(test): test for test in there.tests}
        assert changes.keys() == {_norm(test) for test in back.tests}
        for test in back.tests:
            forth = changes[_norm(test)]
            assert test.change in MIRRORED[forth.change]
            assert (test.p, test.before, test.after) == (forth.p, forth.after, forth.before)
            seen.add(test.change)
        assert (there.new.total, there.vanished.total) == (back.vanished.total, back.new.total)
    assert {Change.FIXED, Change.WORSE, Change.NEW, Change.VANISHED} <= seen


def _norm(test: ComparedTest) -> tuple[str, str | None]:
    return test.test_id, test.variant


def test_the_list_holds_failures_and_changed_classes_and_nothing_else(
    real: Board, names: list[str]
) -> None:
    for one, other in permutations(names[:8], 2):
        found = compare(real.connection, one, other, ALPHA)
        listed = query.rows(
            real.connection,
            f"SELECT failures > 0, before_class IS DISTINCT FROM after_class FROM ({LISTED})",
            {"before": one, "after": other},
        )
        assert all(failed or changed for failed, changed in listed)
        assert sum(failed for failed, _ in listed) == len(found.tests)
        assert sum(changed for _, changed in listed) == sum(
            pair.tests for pair in found.classes if pair.before is not pair.after
        )


def test_nothing_is_left_behind_in_the_connection(real: Board) -> None:
    tables = "SELECT table_name FROM duckdb_tables() WHERE temporary ORDER BY ALL"
    there = query.rows(real.connection, tables)
    compare(real.connection, "gateway", "gateway-rerun", ALPHA)
    assert query.rows(real.connection, tables) == there


# --- what is fixed ---------------------------------------------------------------------------


def test_a_test_that_was_quiet_long_enough_where_it_failed_is_fixed() -> None:
    test = only(compared(before().soak(12, half(12)), after().soak(40)))
    assert test.change is Change.FIXED


def test_quiet_for_too_short_is_not_fixed_and_says_how_many_runs_are_missing() -> None:
    log = before().soak(12, half(12))
    test = only(compared(log, after().soak(3)))
    assert test.change is Change.UNCOMPARABLE
    # The patch and green ran 12 times each: 6 of 24.
    enough = need(lower(Count(6, 24)))
    assert test.missing == {"company": enough - 6}
    assert f"{enough - 6} more in company without a failure would show a fix" in test.why
    rounds = -(-enough // 2)
    assert only(compared(log, after().soak(rounds))).missing == {}


def test_runs_alone_do_not_show_a_fix_of_what_failed_in_company() -> None:
    log = before().soak(40, half(40)).arm("serial", 0, 20)
    test = only(compared(log, after().soak(4).arm("serial", 0, 500)))
    assert test.change is not Change.FIXED
    assert "company" in test.missing


def test_an_arm_that_failed_and_did_not_run_again_keeps_it_from_being_fixed() -> None:
    log = before().soak(40, half(40)).arm("serial", 10, 20)
    test = only(compared(log, after().soak(60)))
    assert test.change is Change.BETTER
    assert "serial failed before and did not run again" in test.why


@pytest.mark.parametrize("how", ["gate", "cut"])
def test_a_failure_in_a_gate_run_or_in_one_that_was_cut_is_a_failure(how: str) -> None:
    log = after().soak(60)
    if how == "gate":
        log = log.run("subject", "gate", [fails()])
    else:
        log = log.cut("subject", "soak", [fails()], round=60)
    assert only(compared(before().soak(12, half(12)), log)).change is Change.BETTER


def test_a_gate_that_lets_everything_through_fixes_nothing() -> None:
    blind = after()
    for number in range(40):
        blind = blind.round(number, red=[passes(PIN)])
    found = compared(before().soak(12, half(12)), blind)
    test = only(found)
    assert test.change is Change.UNCOMPARABLE
    assert "a pass proves nothing: broken isolation, row 2a" in test.why
    assert not found.answer.startswith(("Fixed", "Better"))


def test_a_test_that_vanished_is_not_fixed() -> None:
    log = after()
    for number in range(40):
        log = log.round(number, [passes("tests/test_new.py::test_it")])
    found = compared(before().soak(12, half(12)), log)
    assert only(found).change is Change.VANISHED
    assert [name[1] for name in found.vanished.named] == [TEST]
    assert [name[1] for name in found.new.named] == ["tests/test_new.py::test_it"]
    assert "Of all tests 1 new and 1 vanished." in found.answer


def test_where_the_process_decides_runs_are_compared_and_not_iterations() -> None:
    log = before().soak(3)
    for number in range(30):
        line = fails if number % 3 == 0 else passes
        log = log.run("subject", "repeat", [line(iteration=at) for at in range(10)])
    quiet = after().soak(3)
    for _ in range(5):
        quiet = quiet.run("subject", "repeat", [passes(iteration=at) for at in range(100)])
    test = only(compared(log, quiet))
    assert test.before is not None
    assert test.before.counted == "runs"
    assert test.change is Change.SAME
    assert "Failed 10/36 before and 0/11 after" in test.why
    assert test.missing == {"alone": need(lower(Count(10, 30))) - 5}


# --- worse, same, not comparable --------------------------------------------------------------


def test_a_test_that_fails_more_is_worse_and_comes_first() -> None:
    other = "tests/test_order.py::test_other"
    one, two = before(), after()
    for number in range(20):
        one = one.round(number, [passes(), fails(other) if number % 2 else passes(other)])
        two = two.round(number, [fails() if number % 2 else passes(), passes(other)])
    found = compared(one, two)
    assert [test.change for test in found.tests] == [Change.WORSE, Change.FIXED]
    assert found.answer.startswith("Some tests are better and some worse")
    assert found.changes() == {Change.WORSE: 1, Change.FIXED: 1}


def test_a_little_less_is_no_difference() -> None:
    test = only(compared(before().soak(20, range(7)), after().soak(20, range(5))))
    assert test.change is Change.SAME
    assert test.missing == {}
    assert "no more than noise" in test.why


def test_other_arms_cannot_be_compared() -> None:
    test = only(
        compared(before().arm("serial", 5, 20), after().arm("repeat", 0, 200)),
    )
    assert (test.change, test.p) == (Change.UNCOMPARABLE, None)
    assert "No arm ran on both sides: serial before, repeat after." in test.why


def test_another_mix_of_arms_does_not_look_like_a_fix() -> None:
    # Half of the loaded runs fail and none of the plain ones, before as after.
    log = before().arm("loaded", 50, 100).arm("repeat", 0, 20)
    test = only(compared(log, after().arm("loaded", 5, 10).arm("repeat", 0, 500)))
    assert test.change is Change.SAME


def test_many_tests_of_noise_are_not_better_or_worse() -> None:
    tests = [f"tests/test_many.py::test_{number}" for number in range(40)]
    logs = []
    for shift, log in ((0, before()), (3, after())):
        for number in range(12):
            lines = [
                (fails if (number * 7 + at * 5 + shift) % 11 < 3 else passes)(test)
                for at, test in enumerate(tests)
            ]
            log = log.round(number, lines)
        logs.append(log)
    found = compared(logs[0], logs[1])
    assert len(found.tests) == 40
    assert {test.change for test in found.tests} <= {Change.SAME, Change.UNCOMPARABLE}


def test_nothing_failed_nothing_to_compare() -> None:
    found = compared(before().soak(3), after().soak(3))
    assert found.tests == ()
    assert found.answer == "No difference is shown: no test failed in either experiment."
    assert sum(pair.tests for pair in found.classes) == 2


# --- which tests belong together -----------------------------------------------------------------


def test_with_several_patches_the_same_patch_is_compared() -> None:
    one, two = before().soak(12, half(12)), after().soak(40)
    one = one.run("subject", "serial", [passes()], patch_id="patch-8")
    found = compared(one, two)
    assert found.patches is None
    test = only(found)
    assert test.change is Change.FIXED
    assert [name[0] for name in found.vanished.named] == ["patch-8"]


def test_other_patches_among_several_are_not_taken_for_each_other() -> None:
    one = before().soak(12, half(12)).run("subject", "serial", [passes()], patch_id="patch-8")
    found = compared(one, after().soak(40, patch_id=None).run("subject", "soak", [fails()]))
    assert {test.change for test in found.tests} <= {Change.VANISHED, Change.NEW, Change.SAME} | {
        Change.UNCOMPARABLE,
        Change.BETTER,
    }


def test_another_spelling_of_a_test_is_the_test_and_another_lane_is_not() -> None:
    one = before().arm("serial", 10, 20)
    spelled = after().arm("serial", 0, 60, passing=lambda: passes(f"./{TEST}"))
    assert only(compared(one, spelled), f"./{TEST}").change is Change.FIXED
    lane = after().arm("serial", 0, 60, passing=lambda: passes(variant="arm64"))
    assert only(compared(one, lane)).change is Change.VANISHED


def test_more_new_tests_than_are_named_are_counted() -> None:
    many = [passes(f"t.py::test_{number:03d}") for number in range(NAMED + 5)]
    found = compared(before().soak(3), after().round(0, [passes(), *many]).round(1).round(2))
    assert found.new.total == NAMED + 5
    assert len(found.new.named) == NAMED
    assert found.new.named == tuple(sorted(found.new.named))


HELL = (
    "t.py::test_a[red]",
    "t.py::test_path[/]",
    "t.py::x[$accent]",
    "t.py::'; DROP TABLE units; --",
    "t.py::a\x1b[2J\x1b]52;c;eA==\x07",
    "t.py::a\x00b",
    "t.py::test_\u202egnp",
    "t.py::👩\u200d👩\u200d👧_e\u0301" + "x" * 2_000,
)


@pytest.mark.parametrize("name", HELL)
def test_names_from_hell_are_compared_like_any(name: str) -> None:
    def arm(log: Log, failures: int) -> Log:
        return log.arm(
            "serial", failures, 60, failing=lambda: fails(name), passing=lambda: passes(name)
        )

    one, two = arm(before(), 20), arm(after(), 0)
    (test,) = compared(one, two).tests
    assert test.change is Change.FIXED


def test_of_an_unknown_experiment_those_near_it_are_named(real: Board) -> None:
    for names in (("gatway", "gateway"), ("gateway", "gatway")):
        with pytest.raises(BadInput) as raised:
            compare(real.connection, *names, ALPHA)
        assert "'gatway'" in raised.value.message
        assert "'gateway'" in raised.value.hint


def test_in_an_empty_index_there_is_nothing_near() -> None:
    with open_board(None, Config()) as board:
        board.derive()
        with pytest.raises(BadInput, match="no experiment 'a'"):
            compare(board.connection, "a", "b", ALPHA)


# --- the statistics -----------------------------------------------------------------------------

counts = st.integers(0, 40).flatmap(lambda n: st.integers(0, n).map(lambda k: Count(k, n)))
sides: st.SearchStrategy[Any] = st.dictionaries(
    st.tuples(st.sampled_from(list(Phase)[:-1]), st.sampled_from([Role.SUBJECT, Role.GREEN])),
    counts,
    max_size=5,
)


@given(sides, sides)
def test_p_is_the_same_from_either_side(one: Cells, other: Cells) -> None:
    there, back = difference(one, other), difference(other, one)
    assert (there.p, there.least) == (back.p, back.least)
    assert not (there.falls and back.falls)
    assert 0 <= there.least <= there.p * (1 + 1e-9) <= 1 + 1e-9


@given(sides)
def test_equal_counts_are_never_a_difference(one: Cells) -> None:
    assert shown([difference(one, one)], ALPHA) == [False]
    assert difference(one, one).p == pytest.approx(1.0)


@given(sides, sides)
def test_cells_of_one_side_only_change_nothing(one: Cells, other: Cells) -> None:
    both = one.keys() & other.keys()
    common = difference({cell: one[cell] for cell in both}, {cell: other[cell] for cell in both})
    whole = difference(one, other)
    assert (whole.p, whole.least, whole.falls) == (common.p, common.least, common.falls)


@given(st.lists(st.tuples(sides, sides), max_size=6))
def test_what_cannot_be_shown_costs_others_nothing(pairs: Sequence[tuple[Cells, Cells]]) -> None:
    asked = [difference(*pair) for pair in pairs]
    able = [one for one in asked if one.least < ALPHA]
    found = shown(asked, ALPHA)
    assert [flag for one, flag in zip(asked, found, strict=True) if one in able] == shown(
        able, ALPHA
    )
    assert all(one.p < ALPHA for one, flag in zip(asked, found, strict=True) if flag)


@given(sides, sides)
def test_silence_speaks_only_with_the_runs_that_exclude_the_rate_of_before(
    one: Cells, other: Cells
) -> None:
    silent = {cell: Count(0, count.n) for cell, count in other.items()}
    found = difference(one, silent)
    missing = runs_missing(found)
    assert all(more > 0 for more in missing.values())
    if clean_enough(found):
        assert not missing
        for cell, count in one.items():
            if count.k:
                assert silent[cell].n > 0
