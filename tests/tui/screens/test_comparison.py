"""Did the fix help? The sentence first, then each test with its classes and counts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from dashboard import CLOCK, NARROW, SOAKS, WIDE, index_of, opened, press, run, text_of, until
from hell import HELL
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import Log

from analysis.board import open_board
from analysis.config import Config, Policy
from analysis.model import UnitClass
from analysis.queries.compared import ComparedTest, Standing
from analysis.queries.comparison import Comparison, compare
from analysis.queries.difference import Change
from tui.app import Soakboard
from tui.glyphs import ASCII, UNICODE
from tui.inks import Ink
from tui.lines import Line, cells, plain
from tui.look import Look
from tui.screens.comparison import ComparisonScreen
from tui.screens.comparison_lines import ComparedPainter, answer, below, sides, sign_of
from tui.screens.detail import DetailScreen
from tui.state import Ordering
from tui.widgets.frame import ToastLine

LOOK, PLAIN = Look(UNICODE, CLOCK), Look(ASCII, CLOCK)
BEFORE, AFTER = "gateway", "gateway-rerun"
OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
WIDTHS = (72, 80, 99, 100, 120, 159, 160, 200)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("soaks"), SOAKS)


@pytest.fixture(scope="module")
def found(index: Path) -> Comparison:
    with open_board(index, Config()) as board:
        return compare(board.connection, BEFORE, AFTER, Policy().alpha)


def written(lines: list[Line]) -> str:
    return "\n".join(plain(one).rstrip() for one in lines)


names = st.one_of(st.sampled_from(HELL), st.text(max_size=60))
standings = st.builds(
    Standing,
    patch_id=names,
    test_id=names,
    unit_class=st.sampled_from(UnitClass),
    row=st.sampled_from(["V1", "1a", "S"]),
    failures=st.integers(0, 10**6),
    company=st.tuples(st.integers(0, 999), st.integers(0, 10**7)),
    alone=st.tuples(st.integers(0, 999), st.integers(0, 10**7)),
    counted=st.just("executions"),
)
tests = st.builds(
    ComparedTest,
    test_id=names,
    variant=st.none() | names,
    before=st.none() | standings,
    after=st.none() | standings,
    change=st.sampled_from(Change),
    p=st.none() | st.floats(0, 1),
    why=names,
    missing=st.just({}),
)


# Lines


@settings(max_examples=40, deadline=None)
@given(tests, st.sampled_from(WIDTHS), st.sampled_from([LOOK, PLAIN]))
def test_a_row_keeps_to_its_width_and_obeys_nothing(
    test: ComparedTest, width: int, look: Look
) -> None:
    painter = ComparedPainter()
    lines = painter.row(test, width - 1, look, 2)
    assert len(lines) == painter.lines_of_a_row(width, 20, 5)
    for one in lines:
        assert cells(one) <= width - 1
        assert not OBEYED.search(plain(one))
        assert plain(one).isascii() or not look.glyphs.ascii_only


@settings(max_examples=40, deadline=None)
@given(tests, st.sampled_from(WIDTHS), st.integers(4, 12))
def test_what_stands_below_fits(
    found: Comparison, test: ComparedTest, width: int, height: int
) -> None:
    lines = below(found, test, width, height, LOOK)
    assert len(lines) <= height
    for one in lines:
        assert cells(one) <= width
        assert not OBEYED.search(plain(one))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_header_stands_over_its_columns(found: Comparison, width: int) -> None:
    painter, test = ComparedPainter(), found.tests[0]
    heads = [plain(one) for one in painter.head(width, LOOK, Ordering(), focused=True)]
    rows = [f" {plain(one)}" for one in painter.row(test, width - 1, LOOK, 2)]
    assert len(heads) == len(rows)
    assert heads[0].index("TEST") == rows[0].index(test.test_id[:5].split("/")[0][:1], 20)
    assert heads[-1].index("ALONE") + len("ALONE") <= len(rows[-1].rstrip()) + 10


def test_what_does_not_fit_below_is_counted(found: Comparison) -> None:
    many = replace(found, classes=found.classes * 20)
    shown = written(below(many, found.tests[0], 80, 8, LOOK))
    assert re.search(r"… \d+ more$", shown)


def test_a_short_list_of_classes_is_whole(found: Comparison) -> None:
    shown = written(below(found, found.tests[0], 120, 30, LOOK))
    assert " more" not in shown.replace("more than", "").replace("more in company", "")
    total = sum(pair.tests for pair in found.classes)
    assert f"CLASSES of {total} tests" in shown


def test_the_answer_begins_with_its_verdict(found: Comparison) -> None:
    head, _, rest = found.answer.partition(": ")
    whole, short = answer(found, LOOK)
    assert head.upper() in plain(whole)
    assert rest[1:] in plain(whole)
    assert cells(short) <= cells(whole) + 1
    assert whole[0].bold


@pytest.mark.parametrize(
    ("changes", "ink"),
    [
        ([Change.FIXED], Ink.STABLE),
        ([Change.FIXED, Change.SAME], Ink.STABLE),
        ([Change.FIXED, Change.WORSE], Ink.BROKEN),
        ([Change.SAME], Ink.DIM),
        ([Change.UNCOMPARABLE, Change.SAME], Ink.UNSURE),
        ([], Ink.DIM),
    ],
)
def test_the_worst_of_the_changes_colours_the_answer(
    found: Comparison, changes: list[Change], ink: Ink
) -> None:
    told = tuple(replace(found.tests[0], change=change) for change in changes)
    assert answer(replace(found, tests=told), LOOK)[0][0].ink is ink


def test_fixed_has_its_sign_only_where_everything_is_fixed(found: Comparison) -> None:
    fixed = replace(found.tests[0], change=Change.FIXED)
    same = replace(fixed, change=Change.SAME)
    assert plain(answer(replace(found, tests=(fixed,)), LOOK)[0]).startswith("✓ ")
    assert not plain(answer(replace(found, tests=(fixed, same)), LOOK)[0]).startswith("✓ ")


def test_each_change_has_a_sign_of_its_own() -> None:
    for glyphs in (UNICODE, ASCII):
        signs = [sign_of(change, glyphs)[0] for change in Change]
        assert len(set(signs)) == len(signs)


def test_both_sides_are_named_with_class_and_age(found: Comparison) -> None:
    shown = written(sides(found, 80, LOOK)).splitlines()
    assert shown[0].split()[:2] == ["before", BEFORE]
    assert shown[1].split()[:2] == ["after", AFTER]
    for line_, side in zip(shown, (found.before, found.after), strict=False):
        assert str(side.unit_class) in line_
        assert "ago" in line_


def test_patches_of_other_names_are_said_to_be_matched(found: Comparison) -> None:
    other = replace(found, patches=("patch-1", "patch-2"))
    assert "patch patch-1 is compared with patch-2" in written(sides(other, 80, LOOK))
    same = replace(found, patches=("patch-1", "patch-1"))
    assert len(sides(same, 80, LOOK)) == 2


# The screen


def screen(app: Soakboard) -> ComparisonScreen:
    assert isinstance(app.screen, ComparisonScreen)
    return app.screen


def toast(app: Soakboard) -> str:
    return app.screen.query_one(ToastLine).text


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_the_answer_and_the_tests_are_seen_at_once(
    index: Path, found: Comparison, size: tuple[int, int]
) -> None:
    async def check() -> None:
        async with opened(index, size) as (app, pilot):
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "CLASSES of" in text_of(app))
            lines = text_of(app).splitlines()
            assert f"{BEFORE} → {AFTER}" in lines[1]
            assert found.answer.partition(":")[0].upper() in lines[2]
            assert found.tests[0].test_id.rpartition("::")[2] in text_of(app)
            assert found.tests[0].why[:20] in text_of(app)

    run(check())


def test_enter_opens_the_detail_of_the_side_after_and_esc_comes_back(
    index: Path, found: Comparison
) -> None:
    async def check() -> None:
        async with opened(index, WIDE) as (app, pilot):
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "CLASSES of" in text_of(app))
            row = screen(app).rows.current
            assert row is not None
            await press(app, pilot, "enter")
            assert isinstance(app.screen, DetailScreen)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            assert (BEFORE if row.after is None else AFTER) in text_of(app).splitlines()[1]
            await press(app, pilot, "escape")
            assert screen(app).rows.current == row
            await press(app, pilot, "escape")
            assert not isinstance(app.screen, ComparisonScreen)

    run(check())


def test_a_filter_leaves_fewer_tests_and_esc_brings_them_back(
    index: Path, found: Comparison
) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "CLASSES of" in text_of(app))
            await press(app, pilot, "slash", *"zzz")
            await until(pilot, lambda: screen(app).rows.total == 0)
            assert "Nothing matches zzz." in text_of(app)
            await press(app, pilot, "enter", "enter")
            assert toast(app) == "There is no test here."
            await press(app, pilot, "escape")
            await until(pilot, lambda: screen(app).rows.total == len(found.tests))

    run(check())


def test_sorting_is_shown_and_reversed(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "by change ▾" in text_of(app))
            await press(app, pilot, "s", "s", "S")
            assert "by test ▴" in text_of(app)
            assert "TEST▴" in text_of(app)
            y = (
                text_of(app)
                .splitlines()
                .index(next(one for one in text_of(app).splitlines() if "CHANGE" in one))
            )
            await pilot.click(offset=(2, y))
            await press(app, pilot)
            assert "CHANGE▾" in text_of(app)

    run(check())


def test_the_command_of_the_comparison_is_copied(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "CLASSES of" in text_of(app))
            await press(app, pilot, "y")
            assert app.clipboard == f"tui compare -- {BEFORE} {AFTER}"

    run(check())


def test_an_experiment_that_is_not_there_is_said_with_what_is_near(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen("gatewax[red]", AFTER))
            await until(pilot, lambda: "could not be read" in text_of(app))
            assert "gatewax[red]" in text_of(app)
            assert re.search("Near it: .*'gateway'", " ".join(text_of(app).split()))
            await press(app, pilot, "escape")
            assert not isinstance(app.screen, ComparisonScreen)

    run(check())


def test_while_nothing_is_compared_it_says_that_it_reads(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.runner.close()
            app.push_screen(ComparisonScreen(BEFORE, AFTER))
            await until(pilot, lambda: "Reading" in text_of(app))

    run(check())


def test_an_experiment_beside_itself_shows_no_difference(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen(AFTER, AFTER))
            await until(pilot, lambda: "CLASSES of" in text_of(app))
            assert "NO DIFFERENCE IS SHOWN" in text_of(app)

    run(check())


def test_where_no_test_failed_the_list_says_so(tmp_path: Path) -> None:
    logs = [
        Log(name, slot=start, runs=start).header().soak(12).write(tmp_path)
        for name, start in (("quiet", 0), ("quieter", 9000))
    ]
    db = index_of(tmp_path, *logs)

    async def check() -> None:
        async with opened(db, NARROW) as (app, pilot):
            app.push_screen(ComparisonScreen("quiet", "quieter"))
            await until(pilot, lambda: "No test failed in either experiment." in text_of(app))
            await press(app, pilot, "enter")
            assert toast(app) == "There is no test here."

    run(check())
