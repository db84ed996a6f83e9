"""Every screen and state as it is drawn, at two sizes, sign by sign.

`SOAKBOARD_SNAPSHOTS=write pytest tests/tui/test_snapshots.py` draws them anew; look at the change
before it is committed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from contracts import full_list
from dashboard import CLOCK, NARROW, SAMPLES, WIDE, index_of, opened, press, run, settled, text_of
from rich.cells import cell_len
from rich.segment import Segment

from tui.app import Soakboard, Source
from tui.inks import PLAIN
from tui.state import Start

FOLDER = Path(__file__).with_name("snapshots")
WRITES = os.environ.get("SOAKBOARD_SNAPSHOTS") == "write"
KEYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "overview": ("overview", ()),
    "overview-facts": ("overview", ("tab",)),
    "stability": ("stability", ()),
    "stability-run": ("stability", ("right", "right", "right", "enter")),
    "tests": ("tests", ()),
    "tests-rows": ("tests", ("b", "b", "b", "b")),
    "tests-utc": ("tests", ("t",)),
    "detail": ("tests", ("down", "down", "down", "enter")),
    "evidence": ("evidence", ()),
    "evidence-records": ("evidence", ("enter",)),
    "evidence-record": ("evidence", ("enter", "enter")),
    "experiments": ("overview", ("x",)),
    "comparison": ("overview", ("c", "down", "enter")),
    "help": ("tests", ("question_mark",)),
    "export": ("tests", ("e",)),
    "filter": ("tests", ("slash", "r", "a", "c", "e")),
    "nothing-left": ("tests", ("slash", "z", "z", "z", "enter")),
}
LISTED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "quarantine": ("quarantine", ()),
    "quarantine-contract": ("quarantine", ("enter",)),
    "quarantine-renew": ("quarantine", ("R",)),
    "quarantine-note": ("quarantine", ("N",)),
    "freeze-refused": ("tests", ("down", "down", "down", "Q")),
    "overview-lapsed": ("overview", ()),
}
"""The same with a quarantine list that has an entry in every state."""
STATES = ("empty", "error")
SIZES = {"80x24": NARROW, "120x40": WIDE}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("snapshots")
    logs = shutil.copytree(SAMPLES, folder / "sample_data")
    written = (CLOCK - timedelta(hours=5)).timestamp()
    for log in logs.rglob("*"):
        os.utime(log, (written, written))
    return index_of(folder, *(logs / part for part in ("soak", "gate", "broken")))


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")


def styles(app: Soakboard) -> list[str]:
    """How each line is written: pieces of one style, as `colour[!]` and how many cells."""
    return [" ".join(_pieces([*strip])) for strip in app.screen._compositor.render_strips()]


def _pieces(segments: list[Segment]) -> Iterator[str]:
    before, taken = "", 0
    for segment in segments:
        style = segment.style
        colour = style.color.name if style is not None and style.color is not None else "-"
        lit = style is not None and style.bgcolor is not None and style.bgcolor.name
        now = f"{colour}{'!' if style is not None and style.bold else ''}@{lit or '-'}"
        if now != before and taken:
            yield f"{before}*{taken}"
            taken = 0
        before, taken = now, taken + cell_len(segment.text)
    if taken:
        yield f"{before}*{taken}"


def masked(text: str, folder: Path) -> str:
    """The drawing without what depends on where it was made."""
    text = re.sub(r"\S*(?:snapshots\d+|sample_data|index\.duckdb)\S*", "PATH", text)
    text = text.replace(str(folder), "PATH")
    return re.sub(r"lines 1–\d+ of \d+", "lines 1–N of N", text)


def held(name: str, drawn: str) -> None:
    """The drawing is the one on file."""
    path = FOLDER / f"{name}.txt"
    if WRITES:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text("utf-8") == drawn, f"{name} is drawn otherwise"


def fits(app: Soakboard, size: tuple[int, int]) -> None:
    """No line is longer than the screen, and none is missing."""
    lines = text_of(app).split("\n")
    assert len(lines) == size[1]
    assert [line for line in lines if cell_len(line) > size[0]] == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", KEYS)
def test_a_screen_is_drawn_as_it_was(index: Path, name: str, size: str) -> None:
    tab, keys = KEYS[name]

    async def test() -> None:
        async with opened(index, SIZES[size], start=Start(tab)) as (app, pilot):
            await press(app, pilot, *keys)
            # A filter is asked for a moment after the last key.
            await pilot.pause(0.3)
            await settled(app, pilot)
            fits(app, SIZES[size])
            held(f"{name}-{size}", masked(text_of(app), index.parent) + "\n")

    run(test())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LISTED)
def test_a_screen_with_a_quarantine_list_is_drawn_as_it_was(
    index: Path, tmp_path: Path, name: str, size: str
) -> None:
    tab, keys = LISTED[name]

    async def test() -> None:
        where = Source(index, quarantine=full_list(tmp_path, CLOCK))
        async with opened(where, SIZES[size], start=Start(tab)) as (app, pilot):
            await press(app, pilot, *keys)
            await pilot.pause(0.5)
            await settled(app, pilot)
            fits(app, SIZES[size])
            held(f"{name}-{size}", masked(text_of(app), index.parent) + "\n")

    run(test())


@pytest.mark.parametrize("tab", ["overview", "stability", "tests", "evidence"])
def test_a_screen_has_its_colours_where_it_had_them(index: Path, tab: str) -> None:
    async def test() -> None:
        async with opened(index, start=Start(tab)) as (app, _):
            held(f"{tab}-colours", "\n".join(styles(app)) + "\n")

    run(test())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", STATES)
def test_a_state_without_rows_is_drawn_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, size: str
) -> None:
    # A name that is equally long everywhere.
    monkeypatch.chdir(tmp_path)
    db = Path("index.duckdb")
    if state == "error":
        db.write_bytes(b"this is no index" * 1000)

    async def test() -> None:
        async with opened(Source(db), SIZES[size]) as (app, pilot):
            await pilot.pause(0.3)
            fits(app, SIZES[size])
            held(f"{state}-{size}", text_of(app) + "\n")

    run(test())


@pytest.mark.parametrize("tab", ["overview", "stability", "tests", "evidence"])
def test_without_colour_every_status_has_a_sign_and_a_word(
    index: Path, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    texts: list[str] = []

    async def test() -> None:
        async with opened(index, start=Start(tab)) as (app, _):
            assert app.palette is PLAIN
            texts.append(text_of(app))
            colours = {
                piece.split("@")[0].strip("!") for line in styles(app) for piece in line.split()
            }
            assert colours <= {"-", "default"}, colours

    run(test())
    # The same signs and words as in colour: none of them is told by colour alone.
    held(f"{tab}-80x24", masked(texts[0], index.parent) + "\n")
