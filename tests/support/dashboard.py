"""The dashboard in tests: the real app on a real index, driven by keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from analysis.board import Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.queries.experiments import Choice
from tui.app import Soakboard, Source
from tui.glyphs import UNICODE, Glyphs
from tui.state import Start

SAMPLES = Path(__file__).parents[2] / "sample_data"
SOAKS = SAMPLES / "soak"
ALL = Choice(everything=True)
NARROW, WIDE = (80, 24), (120, 40)
CLOCK = datetime(2026, 12, 1, 9, 12, tzinfo=UTC)
PATIENCE = 400


def index_of(folder: Path, *logs: Path) -> Path:
    """An index of some logs, with everything derived."""
    db = folder / "index.duckdb"
    with open_board(db, Config()) as board:
        if logs:
            board.take(Inputs(logs), Ingest(now(), final=True))
        board.derive()
    return db


@asynccontextmanager
async def opened(
    source: Path | Source,
    size: tuple[int, int] = NARROW,
    *,
    choice: Choice = ALL,
    start: Start | None = None,
    glyphs: Glyphs = UNICODE,
) -> AsyncIterator[tuple[Soakboard, Pilot[int]]]:
    """The app, with everything read that it shows at first."""
    where = source if isinstance(source, Source) else Source(source)
    app = Soakboard(where, choice, start, glyphs=glyphs, clock=lambda: CLOCK)
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        yield app, pilot
    if app.defect is not None:
        raise app.defect


async def settled(app: Soakboard, pilot: Pilot[int]) -> None:
    """Wait until the logs are taken and nothing is read any more."""
    for _ in range(PATIENCE):
        await pilot.pause(0.02)
        if app.fed and not app.runner.busy:
            break
    else:
        raise AssertionError("the dashboard does not come to rest")
    await pilot.pause()


async def press(app: Soakboard, pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, waiting for what each of them reads."""
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Wait for something that another thread or process brings about."""
    for _ in range(PATIENCE):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError("it never came to hold")


def text_of(app: Soakboard) -> str:
    """What stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run an asynchronous test to its end."""
    asyncio.run(test)
