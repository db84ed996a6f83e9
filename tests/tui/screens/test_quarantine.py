"""The quarantine screen: what a lead reads on Monday, and what can be done from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from contracts import TEST, event, full_list, log
from dashboard import CLOCK, NARROW, SAMPLES, WIDE, index_of, opened, press, run, text_of, until
from logs import Log

from analysis.quarantine.events import Kind
from tui.app import Soakboard, Source
from tui.screens.form import FormScreen, TellingScreen
from tui.state import Start
from tui.widgets.frame import Footer, ToastLine

FLAKY = "tests/test_order.py::test_total"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quarantine")
    log_ = Log("night").header().soak(12)
    counts = {"serial": 1, "repeat": 10, "tightened": 10, "loaded": 4}
    return index_of(folder, log_.stress(counts).stress(counts, "green").write(folder))


def source(index: Path, folder: Path) -> Source:
    return Source(index, quarantine=full_list(folder, CLOCK))


def said(app: Soakboard) -> str:
    return app.screen.query_one(ToastLine).text


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_what_lapsed_stands_first_with_its_owner(
    index: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    async def test() -> None:
        async with opened(source(index, tmp_path), size, start=Start("quarantine")) as (app, _):
            lines = text_of(app).splitlines()
            assert "1 LAPSED" in text_of(app)
            assert "Owner: mara" in text_of(app)
            rows = [line for line in lines if line[1:].split()[1:2] and "py::" in line][:3]
            assert ["lapsed" in rows[0], "unlocked" in rows[1], "active" in rows[2]] == [True] * 3
            assert "in 9h 40m" in rows[2]
            assert "3 listed · 2 closed" in text_of(app)
            assert "it was a race" in text_of(app)
            assert "PER WEEK" in text_of(app)
            assert "5 Quarantine 1" in text_of(app)

    run(test())


def test_the_contract_follows_the_cursor_and_opens_whole(index: Path, tmp_path: Path) -> None:
    async def test() -> None:
        where = source(index, tmp_path)
        async with opened(where, WIDE, start=Start("quarantine")) as (app, pilot):
            assert "CONTRACT a.py::lapsed" in text_of(app)
            await press(app, pilot, "down", "down")
            assert "CONTRACT b.py::active" in text_of(app)
            await press(app, pilot, "enter")
            assert "EVENTS" in text_of(app)
            assert "Quarantine › b.py::active" in text_of(app)
            await press(app, pilot, "escape")
            assert "CONTRACT b.py::active" in text_of(app)

    run(test())


def test_a_filter_by_owner_leaves_what_is_theirs(index: Path, tmp_path: Path) -> None:
    async def test() -> None:
        start = Start("quarantine", "owner:jonas")
        async with opened(source(index, tmp_path), start=start) as (app, _):
            assert "2 of 3 entries" in text_of(app)
            assert "a.py::lapsed" not in text_of(app)

    run(test())


@pytest.mark.parametrize(
    ("row", "key", "reason"),
    [
        (0, "L", "Only what a diff unlocked can be released; U unlocks."),
        (1, "R", "It is unlocked: quarantine it anew instead."),
        (1, "U", "It is unlocked already."),
    ],
)
def test_what_does_not_apply_says_why(
    index: Path, tmp_path: Path, row: int, key: str, reason: str
) -> None:
    async def test() -> None:
        where = source(index, tmp_path)
        async with opened(where, start=Start("quarantine")) as (app, pilot):
            await press(app, pilot, *["down"] * row, key)
            assert said(app) == reason
            footer = "".join(span.text for span in app.screen.query_one(Footer).lines_now()[0])
            assert f"({key} " in footer

    run(test())


def test_notes_and_revocations_are_asked_for_and_written(index: Path, tmp_path: Path) -> None:
    async def test() -> None:
        where = source(index, tmp_path)
        async with opened(where, start=Start("quarantine")) as (app, pilot):
            await press(app, pilot, "N")
            assert isinstance(app.screen, FormScreen)
            await press(app, pilot, "enter")
            assert "Text is missing." in text_of(app)
            await pilot.press(*"why")
            await press(app, pilot, "enter")
            await until(pilot, lambda: said(app) == "Noted on a.py::lapsed.")
            await press(app, pilot, "V")
            await pilot.press(*"race")
            await press(app, pilot, "enter")
            await until(pilot, lambda: "2 listed · 3 closed" in text_of(app))
            text = (tmp_path / "quarantine.jsonl").read_text()
            assert '"text": "why"' in text
            assert '"reason": "race"' in text

    run(test())


def test_a_release_that_is_not_earned_says_how_many_runs_are_missing(
    index: Path, tmp_path: Path
) -> None:
    async def test() -> None:
        where = source(index, tmp_path)
        async with opened(where, start=Start("quarantine")) as (app, pilot):
            await press(app, pilot, "down", "L", "enter")
            await until(pilot, lambda: isinstance(app.screen, TellingScreen))
            assert "0 failures in 0 runs" in text_of(app)
            assert "180 times more" in text_of(app)
            await press(app, pilot, "escape")

    run(test())


def test_q_on_a_flake_asks_for_owner_and_reason_and_writes_the_entry(
    index: Path, tmp_path: Path
) -> None:
    path = tmp_path / "quarantine.jsonl"

    async def test() -> None:
        where = Source(index, quarantine=path)
        async with opened(where, start=Start("tests", "class:flake")) as (app, pilot):
            await press(app, pilot, "Q")
            await until(pilot, lambda: isinstance(app.screen, FormScreen))
            assert "Quarantine one test, for a limited time" in text_of(app)
            assert "clean runs alone" in text_of(app)
            await pilot.press(*"seed")
            await press(app, pilot, "enter", "enter")
            await until(pilot, lambda: said(app).startswith(f"Quarantined {FLAKY} until"))
            await press(app, pilot, "5")
            assert "1 listed" in text_of(app)
            assert path.read_text().count("\n") == 1

    run(test())


def test_q_on_what_is_at_no_fault_of_its_own_is_refused_with_every_rule(tmp_path: Path) -> None:
    db = index_of(tmp_path, SAMPLES / "soak")

    async def test() -> None:
        where = Source(db, quarantine=tmp_path / "quarantine.jsonl")
        start = Start("tests", "row:1a")
        async with opened(where, (120, 50), start=start) as (app, pilot):
            await press(app, pilot, "Q")
            await until(pilot, lambda: isinstance(app.screen, TellingScreen))
            shown = text_of(app)
            assert "Quarantine refused" in shown
            assert shown.index("✗ class is test flake") < shown.index("✓ canaries behaved")
            assert "What would change it" in shown
            assert "Lease one fixed port per run" in shown
            await press(app, pilot, "escape")
            assert not (tmp_path / "quarantine.jsonl").exists()

    run(test())


def test_an_empty_list_says_that_nothing_is_excused(index: Path, tmp_path: Path) -> None:
    async def test() -> None:
        where = Source(index, quarantine=tmp_path / "none.jsonl")
        async with opened(where, start=Start("quarantine")) as (app, pilot):
            assert "Nothing is quarantined: no failure is excused." in text_of(app)
            await press(app, pilot, "y")
            assert app.clipboard == "tui quarantine add"

    run(test())


def test_a_line_that_is_not_obeyed_is_what_the_screen_says_first(
    index: Path, tmp_path: Path
) -> None:
    path = full_list(tmp_path, CLOCK)
    path.write_bytes(path.read_bytes() + b"[red]nonsense[/]\n")

    async def test() -> None:
        where = Source(index, quarantine=path)
        async with opened(where, WIDE, start=Start("quarantine")) as (app, _):
            assert "line 10 is no event (not-json)" in text_of(app)

    run(test())


def test_the_overview_names_what_lapsed_and_opens_the_list(index: Path, tmp_path: Path) -> None:
    async def test() -> None:
        async with opened(source(index, tmp_path), WIDE) as (app, pilot):
            await until(pilot, lambda: "Renew or fix a.py::lapsed." in text_of(app))
            assert "3, 1 lapsed" in text_of(app)
            lines = text_of(app).splitlines()
            (place,) = [at for at, one in enumerate(lines) if "Renew or fix" in one]
            await pilot.click(offset=(30, place))
            await pilot.pause()
            await pilot.click(offset=(30, place))
            await until(pilot, lambda: app.screen.name == "quarantine")

    run(test())


def test_the_ids_of_the_list_are_as_harmless_as_any(index: Path, tmp_path: Path) -> None:
    hostile = "x.py::\x1b[31m[red]\u202e$accent"
    path = tmp_path / "quarantine.jsonl"
    made = event(Kind.QUARANTINED, 0, hostile, owner="[link]\x07", reason="\x1b]8;;x\x07")
    path.write_bytes(log(made))

    async def test() -> None:
        where = Source(index, quarantine=path)
        async with opened(where, start=Start("quarantine")) as (app, pilot):
            await press(app, pilot, "y", "enter")
            assert not {"\x1b", "\x07", "\u202e"} & set(text_of(app))
            assert "[red]" in text_of(app)
            await press(app, pilot, "escape", "N")
            assert not {"\x1b", "\x07", "\u202e"} & set(text_of(app))

    run(test())
    assert TEST not in path.read_text()
