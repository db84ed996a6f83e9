"""Processes that want the index at the same time: all of them get their turn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from processes import (
    PATIENCE_S,
    Ended,
    Processes,
    Running,
    answers,
    clean_answers,
    eventually,
    one_sentence,
)
from soaks import write_soak

from analysis.errors import BadInput
from analysis.store.connect import LOCK_WAIT_S, LOCK_WAIT_VARIABLE, lock_wait


def hold(db: str, until: str) -> None:
    """Hold a database until a file is there."""
    with duckdb.connect(db):
        Path(f"{db}.held").touch()
        eventually(Path(until).exists, "the holder may go")


def work_on(db: str, seconds: float) -> None:
    """Hold a database and change it all the time."""
    deadline = time.monotonic() + seconds
    with duckdb.connect(db) as connection:
        Path(f"{db}.held").touch()
        connection.execute("CREATE TABLE IF NOT EXISTS busy (n INTEGER)")
        while time.monotonic() < deadline:
            connection.execute("INSERT INTO busy VALUES (1)")
            time.sleep(0.05)
        connection.execute("DROP TABLE busy")


def sleep_on(db: str, seconds: float) -> None:
    """Hold a database and do nothing."""
    with duckdb.connect(db):
        Path(f"{db}.held").touch()
        time.sleep(seconds)


@pytest.fixture
def db(processes: Processes, tmp_path: Path) -> Path:
    """An index that knows nothing."""
    made = tmp_path / "x.duckdb"
    log = write_soak(tmp_path / "first", 1, 1)
    assert processes.tui("ingest", "--db", made, *log).code == 0
    return made


def in_the_way(processes: Processes, db: Path, function: Any, *arguments: object) -> Running:
    running = processes.call(function, str(db), *arguments)
    eventually(Path(f"{db}.held").exists, "the index is held")
    return running


def finished(running: Running) -> Ended:
    """It did its work. Waiting long may be told; nothing else is."""
    ended = running.end()
    assert ended.code == 0, ended.err
    assert all("waiting for it" in line for line in ended.err.splitlines())
    return ended


@pytest.mark.parametrize(
    "parts", [(slice(None), slice(None)), (slice(0, None, 2), slice(1, None, 2))]
)
def test_two_ingests_at_once_of_the_same_or_of_different_logs_double_and_lose_nothing(
    processes: Processes, tmp_path: Path, parts: tuple[slice, slice]
) -> None:
    logs = write_soak(tmp_path / "logs", 6, 20)
    db = tmp_path / ".soakboard" / "x.duckdb"  # neither finds an index, nor its home
    both = [processes.start("ingest", "--db", db, *logs[part]) for part in parts]
    for one in both:
        finished(one)
    assert answers(processes, db) == clean_answers(processes, *logs)


def test_four_ingests_of_overlapping_sets_of_50_logs_at_once_all_succeed(
    processes: Processes, tmp_path: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 80, 1)
    db = tmp_path / "x.duckdb"
    four = [processes.start("ingest", "--db", db, *logs[at : at + 50]) for at in (0, 10, 20, 30)]
    for one in four:
        assert finished(one).out.count("part-") == 50
    assert answers(processes, db) == clean_answers(processes, *logs)


def test_a_holder_that_stays_is_named_and_one_sentence_says_what_to_do(
    processes: Processes, tmp_path: Path, db: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 1, 2)
    holder = in_the_way(processes, db, hold, str(tmp_path / "go"))
    ended = processes.tui("ingest", "--db", db, *logs, SOAKBOARD_WAIT="0.5")
    assert ended.code == 3
    one_sentence(
        ended, f"in use by process {holder.pid}; waited 0.5 s", "run the command again when"
    )
    assert ended.out == ""
    (tmp_path / "go").touch()
    holder.end()
    assert processes.tui("ingest", "--db", db, *logs, SOAKBOARD_WAIT="0.5").code == 0


def test_a_wait_that_takes_long_is_told_once_and_goes_on_when_the_holder_leaves(
    processes: Processes, tmp_path: Path, db: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 1, 2)
    holder = in_the_way(processes, db, hold, str(tmp_path / "go"))
    waiting = processes.start("ingest", "--db", db, *logs)
    told = f"tui: {db}: the index is in use by process {holder.pid}; waiting for it.\n"
    eventually(lambda: waiting.said, "the wait is told")
    (tmp_path / "go").touch()
    ended = waiting.end()
    assert ended.code == 0
    assert ended.err == told


def test_a_holder_that_goes_on_working_is_waited_for_longer_than_an_idle_one(
    processes: Processes, tmp_path: Path, db: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 1, 2)
    holder = in_the_way(processes, db, work_on, 5)
    ended = processes.tui("ingest", "--db", db, *logs, SOAKBOARD_WAIT="1.5")
    assert ended.code == 0, ended.err
    assert holder.end().code == 0


def test_the_wait_for_a_holder_that_never_stops_working_has_an_end(
    processes: Processes, tmp_path: Path, db: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 1, 2)
    in_the_way(processes, db, work_on, PATIENCE_S)
    ended = processes.tui("ingest", "--db", db, *logs, SOAKBOARD_WAIT="0.2")
    assert ended.code == 3
    assert "in use by process" in ended.err.splitlines()[-1]


def test_a_reader_of_30_seconds_costs_no_line(
    processes: Processes, tmp_path: Path, db: Path
) -> None:
    # Waiting costs no work: other tests run meanwhile.
    logs = write_soak(tmp_path / "logs", 2, 10)
    in_the_way(processes, db, sleep_on, 30)
    began = time.monotonic()
    ended = processes.tui("ingest", "--db", db, *logs)
    assert ended.code == 0, ended.err
    assert time.monotonic() - began > 20
    first = list((tmp_path / "first").iterdir())
    assert answers(processes, db) == clean_answers(processes, *first, *logs)


@pytest.mark.parametrize("given", ["soon", "-1", "nan", "inf", "1e9"])
def test_a_wait_that_is_no_number_of_seconds_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv(LOCK_WAIT_VARIABLE, given)
    with pytest.raises(BadInput, match=f"SOAKBOARD_WAIT is '{given}'"):
        lock_wait()


def test_without_a_choice_a_minute_of_nothing_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(LOCK_WAIT_VARIABLE, "7.5")
    assert lock_wait() == 7.5
    monkeypatch.delenv(LOCK_WAIT_VARIABLE)
    assert lock_wait() == LOCK_WAIT_S == 60
