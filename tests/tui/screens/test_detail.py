"""The detail of a test: the proof on the first screenful, and keys that lead on from there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dashboard import NARROW, SOAKS, WIDE, index_of, opened, press, run, text_of, until
from details import all_details, harness_bug

from analysis.board import open_board
from analysis.config import Config
from analysis.queries.attributions import UnitKey
from analysis.queries.detail import TestDetail
from tui.app import Soakboard
from tui.screens.detail import DetailScreen
from tui.screens.run import RunScreen
from tui.widgets.frame import ToastLine


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("soaks"), SOAKS)


@pytest.fixture(scope="module")
def details(index: Path) -> list[TestDetail]:
    with open_board(index, Config()) as board:
        return all_details(board)


@pytest.fixture(scope="module")
def key(details: list[TestDetail]) -> UnitKey:
    unit = harness_bug(details).unit
    return UnitKey(unit.experiment, unit.patch_id, unit.test_id, unit.variant)


def screen(app: Soakboard) -> DetailScreen:
    assert isinstance(app.screen, DetailScreen)
    return app.screen


def toast(app: Soakboard) -> str:
    return app.screen.query_one(ToastLine).text


def first_line(app: Soakboard) -> str:
    return text_of(app).splitlines()[screen(app).document.region.y]


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_the_first_screenful_is_the_proof(index: Path, key: UnitKey, size: tuple[int, int]) -> None:
    async def check() -> None:
        async with opened(index, size) as (app, pilot):
            app.open_detail(key, 1, 2)
            await press(app, pilot)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            shown = text_of(app)
            assert "▲ HARNESS BUG  row 1a" in shown
            assert "1 of 2" in shown.splitlines()[1]
            assert "─ ARMS ● patch  ○ green" in shown
            assert re.search(r"(?m)^ 1a ▸ yes", shown)
            assert ("─ TIMELINE" in shown) == (size == WIDE)

    run(check())


def test_arrows_step_through_the_failures_and_say_where_they_end(
    index: Path, key: UnitKey, details: list[TestDetail]
) -> None:
    shown = harness_bug(details).timeline
    assert shown is not None
    assert shown.failures > 2

    async def check() -> None:
        async with opened(index, WIDE) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: f"failure 1 of {shown.failures}" in text_of(app))
            await press(app, pilot, "left")
            assert toast(app) == "This is the first failure."
            await pilot.press("right", "right")
            await until(pilot, lambda: f"failure 3 of {shown.failures}" in text_of(app))
            await pilot.press("left")
            await until(pilot, lambda: f"failure 2 of {shown.failures}" in text_of(app))
            await pilot.press(*["right"] * (shown.failures + 3))
            last = f"failure {shown.failures} of {shown.failures}"
            await until(pilot, lambda: last in text_of(app))
            assert toast(app) == f"This is the last of {shown.failures} failures."

    run(check())


def test_a_click_on_an_arrow_steps_too(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, WIDE) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "failure 1 of" in text_of(app))
            lines = text_of(app).splitlines()
            y = next(at for at, one in enumerate(lines) if "failure 1 of" in one)
            await pilot.click(offset=(lines[y].index("→"), y))
            await until(pilot, lambda: "failure 2 of" in text_of(app))

    run(check())


def test_stepping_brings_the_time_axis_into_view(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            assert "TIMELINE" not in text_of(app)
            await pilot.press("right")
            await until(pilot, lambda: "TIMELINE failure 2 of" in text_of(app))

    run(check())


def test_tab_goes_from_heading_to_heading_and_back(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            seen = []
            for pressed in ("tab", "tab", "tab", "shift+tab"):
                await press(app, pilot, pressed)
                seen.append(first_line(app).split()[1])
            assert seen == ["ARMS", "WHY", "TIMELINE", "WHY"]

    run(check())


def test_the_whole_command_is_copied_however_it_is_cut(
    index: Path, key: UnitKey, details: list[TestDetail]
) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "y copies" in text_of(app))
            await press(app, pilot, "y")
            assert app.clipboard == harness_bug(details).command
            assert toast(app).startswith("Copied: tui attribute --experiment")

    run(check())


def test_quarantine_is_refused_in_words(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "(Q quarantine)" in text_of(app))
            await press(app, pilot, "Q")
            assert toast(app).startswith("Refused: harness bug (row 1a) is no test flake")

    run(check())


def test_enter_opens_the_run_of_the_failure_and_esc_goes_back_step_by_step(
    index: Path, key: UnitKey, details: list[TestDetail]
) -> None:
    shown = harness_bug(details).timeline
    assert shown is not None

    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            await press(app, pilot, "3")
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            await press(app, pilot, "enter")
            assert isinstance(app.screen, RunScreen)
            await until(pilot, lambda: shown.failure.run_id in text_of(app))
            await press(app, pilot, "escape")
            assert "▲ HARNESS BUG" in text_of(app)
            await press(app, pilot, "escape")
            assert app.screen.name == "tests"

    run(check())


def test_the_tab_beneath_stays_lit(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            assert text_of(app).startswith("[1 Overview]")
            assert " Overview › " in text_of(app)

    run(check())


def test_a_test_without_a_failure_has_nothing_to_step_through(
    index: Path, details: list[TestDetail]
) -> None:
    unit = next(one.unit for one in details if one.timeline is None)

    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(UnitKey(unit.experiment, unit.patch_id, unit.test_id), 1, 1)
            await until(pilot, lambda: "WHY ROW" in text_of(app))
            for pressed in ("right", "left", "enter"):
                await press(app, pilot, pressed)
                assert toast(app) == "No failure of it is on record."

    run(check())


def test_a_test_that_is_gone_is_said_to_be_gone(index: Path) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.open_detail(UnitKey("no such soak", "x[red]", "test_a[/]"), 1, 1)
            await until(pilot, lambda: "not in the index any more" in text_of(app))
            assert "test_a[/] on x[red] in no such soak" in text_of(app)
            await press(app, pilot, "escape")
            assert not isinstance(app.screen, DetailScreen)

    run(check())


def test_while_nothing_is_read_it_says_that_it_reads(index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(index, NARROW) as (app, pilot):
            app.runner.close()
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: "Reading" in text_of(app))
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, DetailScreen))

    run(check())


@pytest.fixture
def broken_index(tmp_path: Path) -> Path:
    return index_of(tmp_path, SOAKS)


def test_what_cannot_be_read_is_said_with_what_to_do(broken_index: Path, key: UnitKey) -> None:
    async def check() -> None:
        async with opened(broken_index, NARROW) as (app, pilot):
            spoilt = broken_index.with_suffix(".spoilt")
            spoilt.write_bytes(b"no database" * 1000)
            spoilt.replace(broken_index)
            app.open_detail(key, 1, 1)
            await until(pilot, lambda: app.screen.has_class("-notice"))
            assert "▲ HARNESS BUG" not in text_of(app)
            assert "again" in text_of(app) or "Reading" in text_of(app)

    run(check())
