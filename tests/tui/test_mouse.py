"""The mouse does what keys do: tabs, crumbs, footer, headers, rows, wheel."""

from __future__ import annotations

from pathlib import Path

import pytest
from dashboard import NARROW, SAMPLES, index_of, opened, press, run, settled, text_of, until
from textual.events import MouseScrollDown
from textual.pilot import Pilot

from tui.app import Soakboard
from tui.screens.detail import DetailScreen
from tui.state import SCREENS, Start
from tui.widgets.row_list import RowList

SIZE = (120, 40)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logs = [SAMPLES / part for part in ("soak", "gate", "broken")]
    return index_of(tmp_path_factory.mktemp("mouse"), *logs)


async def click(app: Soakboard, pilot: Pilot[int], text: str, *, nth: int = 0) -> None:
    """Click on the first cell of a text that stands on the screen."""
    places = [
        (line.index(text), y) for y, line in enumerate(text_of(app).splitlines()) if text in line
    ]
    await pilot.click(offset=places[nth])
    await settled(app, pilot)


def rows_of(app: Soakboard, name: str = "tests-rows") -> RowList[object]:
    return app.screen.query_one(f"#{name}", RowList)


def test_tabs_open_their_screens(index: Path) -> None:
    async def test() -> None:
        async with opened(index, SIZE) as (app, pilot):
            for name in (*SCREENS[1:], SCREENS[0]):
                await click(app, pilot, name.capitalize())
                assert app.screen.name == name

    run(test())


def test_rows_are_selected_and_opened_and_a_crumb_leads_back(index: Path) -> None:
    async def test() -> None:
        async with opened(index, SIZE, start=Start("tests")) as (app, pilot):
            await click(app, pilot, "port 26411")
            here = rows_of(app).cursor
            assert "port 26411" in text_of(app).splitlines()[5 + here]
            assert app.screen.name == "tests"
            await click(app, pilot, "port 26411")
            assert isinstance(app.screen, DetailScreen)
            await click(app, pilot, "Tests", nth=1)
            assert app.screen.name == "tests"
            assert rows_of(app).cursor == here

    run(test())


def test_headers_sort_and_turn_the_order_around(index: Path) -> None:
    async def test() -> None:
        async with opened(index, SIZE, start=Start("tests")) as (app, pilot):
            await click(app, pilot, "COMPANY")
            assert rows_of(app).ordering.sort == "company"
            first = text_of(app).splitlines()[5]
            await click(app, pilot, "COMPANY")
            assert rows_of(app).ordering.reverse
            assert text_of(app).splitlines()[5] != first

    run(test())


def test_the_footer_acts_and_says_why_not(index: Path) -> None:
    async def test() -> None:
        async with opened(index, SIZE, start=Start("tests")) as (app, pilot):
            await click(app, pilot, "group", nth=-1)
            assert "Grouped by patch." in text_of(app)
            await click(app, pilot, "Q quarantine")
            await until(pilot, lambda: "Quarantine refused" in text_of(app))
            await press(app, pilot, "escape")
            await click(app, pilot, "? help")
            assert "Help: Tests" in text_of(app)

    run(test())


def test_a_filter_is_taken_away_by_its_cross(index: Path) -> None:
    async def test() -> None:
        async with opened(index, SIZE, start=Start("tests", "class:race")) as (app, pilot):
            assert rows_of(app).ordering.filter == "class:race"
            await click(app, pilot, "✕")
            assert rows_of(app).ordering.filter == ""

    run(test())


def test_the_wheel_moves_rows_and_text(index: Path) -> None:
    async def test() -> None:
        async with opened(index, NARROW, start=Start("tests")) as (app, pilot):
            await pilot._post_mouse_events([MouseScrollDown], offset=(20, 6))
            await settled(app, pilot)
            assert rows_of(app).cursor == 3
            await press(app, pilot, "enter")
            before = text_of(app)
            await pilot._post_mouse_events([MouseScrollDown], offset=(20, 15))
            await settled(app, pilot)
            assert text_of(app) != before

    run(test())
