"""The process that reads logs for the dashboard."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.board import Ingest, Inputs, now, open_board
from analysis.config import Config
from tui.feed import Ended, Feed, Reading, Refused, Taken

PATIENCE_S = 60


class Heard:
    """The events of a feed, in order, without how far it is."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Any] = queue.Queue()

    def __call__(self, event: Any) -> None:
        if not isinstance(event, Reading):
            self._queue.put(event)

    def get(self) -> Any:
        return self._queue.get(timeout=PATIENCE_S)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "gate.jsonl"
    path.write_text(verdict(1))
    return path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "index.duckdb"


@pytest.fixture
def feed(db: Path, log: Path, heard: Heard) -> Iterator[Feed]:
    made = Feed(db, [log], heard)
    yield made
    made.stop()


def verdict(number: int) -> str:
    return json.dumps({"patch": "p", "run": f"r{number}", "verdict": "pass"}) + "\n"


def runs(db: Path) -> int:
    with duckdb.connect(str(db), read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM runs").fetchone()
    return 0 if found is None else int(found[0])


def test_logs_are_read_and_answers_derived(feed: Feed, heard: Heard, db: Path) -> None:
    feed.read()
    assert heard.get() == Taken(True, (), ())
    assert runs(db) == 1


def test_read_again_nothing_has_changed(feed: Feed, heard: Heard) -> None:
    feed.read()
    heard.get()
    feed.read()
    assert heard.get() == Taken(False, (), ())


def test_followed_new_lines_are_taken_as_they_come(
    feed: Feed, heard: Heard, log: Path, db: Path
) -> None:
    feed.read()
    heard.get()
    feed.follow(True)
    with log.open("a") as file:
        file.write(verdict(2))
    assert heard.get() == Taken(True, (), ())
    assert runs(db) == 2


def test_a_new_log_in_a_followed_directory_is_taken(
    db: Path, log: Path, heard: Heard, tmp_path: Path
) -> None:
    feed = Feed(db, [tmp_path], heard)
    try:
        feed.read()
        heard.get()
        feed.follow(True)
        (tmp_path / "later.jsonl").write_text(verdict(2))
        assert heard.get() == Taken(True, (), ())
    finally:
        feed.stop()


def test_what_another_process_ingests_is_derived_and_logs_that_are_not_followed_wait(
    feed: Feed, heard: Heard, db: Path, log: Path, tmp_path: Path
) -> None:
    feed.read()
    heard.get()
    with log.open("a") as file:
        file.write(verdict(2))
    other = tmp_path / "other.jsonl"
    other.write_text(verdict(7))
    with open_board(db, Config()) as board:
        board.take(Inputs((other,)), Ingest(now(), final=True))
    assert heard.get() == Taken(True, (), ())
    assert runs(db) == 2


def test_the_sources_that_the_index_knows_are_followed(db: Path, log: Path, heard: Heard) -> None:
    with open_board(db, Config()) as board:
        board.take(Inputs((log,)), Ingest(now(), final=False))
    feed = Feed(db, [], heard)
    try:
        feed.read()
        assert isinstance(heard.get(), Taken)
        feed.follow(True)
        with log.open("a") as file:
            file.write(verdict(2))
        assert heard.get() == Taken(True, (), ())
    finally:
        feed.stop()


def test_what_is_no_log_is_said(db: Path, heard: Heard, tmp_path: Path) -> None:
    page = tmp_path / "page.jsonl"
    page.write_text("<html><body>404</body></html>\n" * 5)
    feed = Feed(db, [page], heard)
    try:
        feed.read()
        event = heard.get()
        assert len(event.refused) == 1
        assert "page.jsonl" in event.refused[0]
    finally:
        feed.stop()


def test_an_index_that_cannot_be_opened_is_said(log: Path, heard: Heard, tmp_path: Path) -> None:
    feed = Feed(tmp_path, [log], heard)
    try:
        feed.read()
        event = heard.get()
        assert isinstance(event, Refused)
        assert str(tmp_path) in event.sentence
    finally:
        feed.stop()


def test_killed_it_says_so_and_begins_again(feed: Feed, heard: Heard, log: Path) -> None:
    feed.read()
    heard.get()
    assert feed.pid is not None
    os.kill(feed.pid, signal.SIGKILL)
    assert heard.get() == Ended()
    with log.open("a") as file:
        file.write(verdict(2))
    feed.read()
    assert heard.get() == Taken(True, (), ())


def test_stopped_it_is_gone_at_once(feed: Feed, heard: Heard) -> None:
    feed.read()
    heard.get()
    pid = feed.pid
    assert pid is not None
    feed.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_ends_when_the_dashboard_is_killed(db: Path, log: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from tui.feed import Feed\n"
        "show = lambda event: print(event, flush=True)\n"
        "feed = Feed(Path(sys.argv[1]), [Path(sys.argv[2])], show)\n"
        "feed.read(); print(feed.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(db), str(log)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        said = [parent.stdout.readline(), parent.stdout.readline()]
        parent.kill()
    (pid,) = (int(line) for line in said if line.strip().isdigit())
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and alive(pid):
        time.sleep(0.02)
    assert not alive(pid)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
