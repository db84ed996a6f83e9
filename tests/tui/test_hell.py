"""Names from hell on every screen: shown, and obeyed by nobody."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from dashboard import NARROW, index_of, opened, press, run, settled, text_of
from hell import HELL
from textual.pilot import Pilot

from analysis.queries.filters import exactly
from tui.app import Soakboard
from tui.glyphs import ASCII, UNICODE, Glyphs
from tui.state import SCREENS, Start
from tui.widgets.frame import ToastLine

BIDI = set(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)))
HUGE = (200, 60)


def log_of(folder: Path) -> Path:
    """Every name from hell as experiment, patch, run, test, variant, message and resource."""
    lines: list[dict[str, object]] = []
    for number, name in enumerate(HELL):
        whose = {"experiment": name, "patch_id": name, "phase": "gate", "patch_digest": "d"}
        for verdict, outcome in (("pass", "passed"), ("fail", "failed")):
            run_id = f"{name}-{number}-{verdict}"
            lines.append(
                {
                    "kind": "test",
                    "run_id": run_id,
                    **whose,
                    "test_id": name,
                    "variant": name,
                    "outcome": outcome,
                    "exc": name,
                    "message": name,
                    "resources": [{"kind": "file", "id": name, "op": "w"}],
                }
            )
            lines.append({"kind": "run_end", "run_id": run_id, **whose, "verdict": verdict})
        lines.append({"kind": "run_end", "run_id": name})
    path = folder / "hell.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hell")
    return index_of(folder, log_of(folder))


def harmless(app: Soakboard, size: tuple[int, int]) -> None:
    """Nothing of what is drawn does anything but stand there."""
    shown = text_of(app)
    lines = shown.split("\n")
    assert len(lines) == size[1]
    assert not [sign for sign in shown if unicodedata.category(sign) == "Cc" and sign != "\n"]
    assert not [sign for sign in shown if unicodedata.category(sign) in ("Zl", "Zp", "Cs")]
    assert not BIDI & set(shown)
    if app.look.glyphs.ascii_only:
        assert [line for line in lines if not line.isascii()] == []


async def walk(app: Soakboard, pilot: Pilot[int], size: tuple[int, int], *keys: str) -> None:
    """Press keys, looking after each."""
    for key in keys:
        await press(app, pilot, key)
        harmless(app, size)


@pytest.mark.parametrize("size", [NARROW, HUGE])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_screen_shows_them_and_obeys_none(
    index: Path, size: tuple[int, int], glyphs: Glyphs
) -> None:
    async def test() -> None:
        async with opened(index, size, glyphs=glyphs) as (app, pilot):
            for number, _ in enumerate(SCREENS, start=1):
                await walk(app, pilot, size, str(number), "down", "G", "t", "t", "question_mark")
                await walk(app, pilot, size, "escape")
            # Into everything that opens: run, records, record, experiments, comparison.
            await walk(app, pilot, size, "2", "right", "enter", "escape", "escape")
            await walk(app, pilot, size, "4", "g", "enter", "enter", "escape", "escape")
            await walk(app, pilot, size, "x", "G", "y", "escape", "3", "e", "escape")
            await walk(app, pilot, size, "1", "c", "down", "enter", "escape")

    run(test())


def test_every_test_has_a_detail_a_copy_and_a_toast(index: Path) -> None:
    async def test() -> None:
        async with opened(index, start=Start("tests")) as (app, pilot):
            await press(app, pilot, "b", "b", "b", "b", "g")
            copied = set()
            for _ in HELL:
                await walk(app, pilot, NARROW, "y", "enter")
                assert len(app.screen_stack) == 3
                await walk(app, pilot, NARROW, "G", "escape")
                await press(app, pilot, "y")
                copied.add(app.clipboard)
                assert app.screen.query_one(ToastLine).text.startswith("Copied:")
                await press(app, pilot, "down")
            # The clipboard gets a name as it is; only the screen needs it made safe.
            assert set(HELL) - {""} <= copied

    run(test())


def test_each_name_is_found_by_a_filter_that_asks_for_the_whole_of_it(index: Path) -> None:
    async def test() -> None:
        async with opened(index, start=Start("tests")) as (app, pilot):
            for name in HELL[:-1]:
                app.open_tests(exactly("patch", name))
                await pilot.pause(0.05)
                await settled(app, pilot)
                harmless(app, NARROW)
                assert "1 of" in text_of(app), name

    run(test())
