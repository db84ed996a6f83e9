"""The index under an open dashboard: held, deleted, replaced, written by others, growing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dashboard import index_of, opened, press, run, settled, text_of, until
from logs import Log

from tui.app import Source
from tui.state import Start
from tui.widgets.notice import NoticeBoard

HOLDER = """
import sys, duckdb
with duckdb.connect(sys.argv[1]) as connection:
    print("held", flush=True)
    sys.stdin.readline()
"""
BOARDS = ("overview", "stability", "tests", "evidence", "quarantine")


@contextmanager
def held(db: Path) -> Iterator[subprocess.Popen[str]]:
    """The index, held by a process that writes, until its input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(db)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def let_go(process: subprocess.Popen[str]) -> None:
    """The process gives the index back."""
    process.communicate("\n", timeout=60)


def soak(folder: Path, name: str, rounds: int) -> Path:
    return Log(name).header().soak(rounds).write(folder)


def ingest(db: Path, *logs: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tui", "ingest", "--db", str(db), *map(str, logs)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("tab", BOARDS)
def test_what_another_process_holds_is_waited_for_and_then_shown(tmp_path: Path, tab: str) -> None:
    db = index_of(tmp_path, soak(tmp_path, "night", 3))

    async def test() -> None:
        from tui.app import Soakboard

        with held(db) as holder:
            from dashboard import ALL, CLOCK

            app = Soakboard(Source(db), ALL, Start(tab), clock=lambda: CLOCK)
            async with app.run_test(size=(80, 24)) as pilot:
                await until(pilot, lambda: "Waiting for the index." in text_of(app))
                assert f"process {holder.pid}" in text_of(app)
                let_go(holder)
                await until(pilot, lambda: "Waiting" not in text_of(app))
                await settled(app, pilot)
                rows = not app.screen.has_class("-notice")
                assert rows or "Nothing is quarantined" in text_of(app)
        assert app.defect is None

    run(test())


@pytest.mark.parametrize("tab", BOARDS)
def test_without_an_index_every_screen_says_how_to_begin(tmp_path: Path, tab: str) -> None:
    async def test() -> None:
        async with opened(tmp_path / "none.duckdb", start=Start(tab)) as (app, pilot):
            assert "Nothing recorded yet." in text_of(app)
            await press(app, pilot, "y")
            assert app.clipboard == "tui demo"

    run(test())


@pytest.mark.parametrize("tab", BOARDS)
def test_what_is_no_index_is_said_with_a_way_out(tmp_path: Path, tab: str) -> None:
    db = tmp_path / "index.duckdb"
    db.write_bytes(b"no index" * 5000)

    async def test() -> None:
        async with opened(db, start=Start(tab)) as (app, pilot):
            assert "could not be read" in text_of(app)
            assert "try again" in text_of(app)
            db.unlink()
            index_of(tmp_path, soak(tmp_path, "night", 3))
            await press(app, pilot, "r")
            await until(pilot, lambda: "could not be read" not in text_of(app))

    run(test())


def test_rows_stay_while_another_process_writes_and_the_crumb_says_so(tmp_path: Path) -> None:
    db = index_of(tmp_path, soak(tmp_path, "night", 3))

    async def test() -> None:
        async with opened(db, (120, 40), start=Start("tests")) as (app, pilot):
            with held(db) as holder:
                await pilot.press("s")
                await until(pilot, lambda: f"process {holder.pid} writes" in text_of(app))
                assert "as last read" in text_of(app)
                assert not app.screen.has_class("-notice")
                await pilot.press("down", "question_mark", "escape")
                let_go(holder)
            await until(pilot, lambda: "as last read" not in text_of(app))

    run(test())


def test_a_deleted_index_is_said_and_a_new_one_appears(tmp_path: Path) -> None:
    db = index_of(tmp_path, soak(tmp_path, "night", 3))

    async def test() -> None:
        async with opened(db) as (app, pilot):
            assert "9 runs" in text_of(app)
            db.unlink()
            await press(app, pilot, "r")
            await until(pilot, lambda: "Nothing recorded yet." in text_of(app))
            assert ingest(db, soak(tmp_path, "day", 4)).wait(60) == 0
            await until(pilot, lambda: "12 runs" in text_of(app))

    run(test())


def test_an_index_that_is_replaced_is_shown(tmp_path: Path) -> None:
    db = index_of(tmp_path, soak(tmp_path, "night", 3))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = index_of(elsewhere, soak(elsewhere, "day", 5))

    async def test() -> None:
        async with opened(db) as (app, pilot):
            assert "9 runs" in text_of(app)
            other.replace(db)
            await until(pilot, lambda: "15 runs" in text_of(app))

    run(test())


def test_two_processes_ingest_under_an_open_dashboard(tmp_path: Path) -> None:
    db = index_of(tmp_path, soak(tmp_path, "night", 3))
    one, other = soak(tmp_path, "one", 4), soak(tmp_path, "other", 5)

    async def test() -> None:
        async with opened(db) as (app, pilot):
            both = [ingest(db, one), ingest(db, other)]
            await until(pilot, lambda: all(process.poll() is not None for process in both))
            assert [process.returncode for process in both] == [0, 0]
            await until(pilot, lambda: "36 runs" in text_of(app))

    run(test())


def test_followed_logs_grow_on_the_screen(tmp_path: Path) -> None:
    log = Log("night").header().soak(3)
    path = log.write(tmp_path)
    db = tmp_path / "index.duckdb"

    async def test() -> None:
        async with opened(Source(db, (path,))) as (app, pilot):
            assert "9 runs" in text_of(app)
            await press(app, pilot, "f")
            assert "following" in text_of(app)
            log.soak(1).write(tmp_path)
            await until(pilot, lambda: "12 runs" in text_of(app))
            await press(app, pilot, "f")
            assert "following" not in text_of(app)

    run(test())


def test_new_lines_are_read_when_it_is_asked_for(tmp_path: Path) -> None:
    log = Log("night").header().soak(3)
    path = log.write(tmp_path)
    db = tmp_path / "index.duckdb"

    async def test() -> None:
        async with opened(Source(db, (path,))) as (app, pilot):
            log.soak(2).write(tmp_path)
            await press(app, pilot, "r")
            await until(pilot, lambda: "15 runs" in text_of(app))
            assert app.screen.query_one(NoticeBoard).notice is None or "15 runs" in text_of(app)

    run(test())
