"""Logs that change under the hands of the reader: in the end the index is that of the files."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import (
    Ended,
    Processes,
    clean_rows,
    eventually,
    one_sentence,
    recorded,
)
from soaks import soak_text, write_soak

Churn = Callable[[Path, bytes, random.Random], None]


def append(log: Path, data: bytes, random_: random.Random) -> None:
    """Grow by some bytes, most often to within a line; begin again at the end."""
    at = log.stat().st_size
    if at >= len(data):
        log.write_bytes(b"")
        at = 0
    with log.open("ab") as file:
        file.write(data[at : at + random_.randrange(1, 4000)])


def rewrite(log: Path, data: bytes, random_: random.Random) -> None:
    """Other content in the same file."""
    lines = data.splitlines(keepends=True)
    random_.shuffle(lines)
    log.write_bytes(b"".join(lines))


def rotate(log: Path, data: bytes, random_: random.Random) -> None:
    """The file gets another name, and a new one takes its place."""
    log.replace(log.with_suffix(".old.jsonl"))
    log.write_bytes(data[: random_.randrange(1, len(data))])


def truncate(log: Path, data: bytes, random_: random.Random) -> None:
    """The file loses its end, and gets it back."""
    os.truncate(log, random_.randrange(len(data)))
    with log.open("r+b") as file:
        file.write(data)


def vanish(log: Path, data: bytes, random_: random.Random) -> None:
    """The file goes and comes again."""
    log.unlink()
    time.sleep(random_.uniform(0, 0.02))
    log.write_bytes(data)


def become_directory(log: Path, data: bytes, random_: random.Random) -> None:
    """A directory takes the place of the file for a while."""
    log.unlink()
    log.mkdir()
    time.sleep(random_.uniform(0, 0.02))
    log.rmdir()
    log.write_bytes(data)


def retarget(log: Path, data: bytes, random_: random.Random) -> None:
    """The file becomes a link, which points to one file and then another."""
    target = log.with_name(f"target-{random_.randrange(3)}.jsonl")
    target.write_bytes(data[random_.randrange(len(data) // 2) :])
    link = log.with_name("link.new")
    link.symlink_to(target)
    link.replace(log)


def churn(name: str, logs: list[str], seed: int, stop: str) -> None:
    """Change the logs all the time, until a file is there."""
    change: Churn = globals()[name]
    random_ = random.Random(seed)
    whole = {Path(log): Path(log).read_bytes() for log in logs}
    Path(f"{stop}.begun").touch()
    while not Path(stop).exists():
        for log, data in whole.items():
            change(log, data, random_)
        time.sleep(0.003)


def is_told(ended: Ended) -> None:
    """It may refuse what is no log at that moment, in sentences."""
    assert ended.code in (0, 2, 3), ended
    assert all(line.startswith("tui: ") for line in ended.err.splitlines())
    assert "internal error" not in ended.err


@pytest.mark.parametrize(
    "change", [append, rewrite, rotate, truncate, vanish, become_directory, retarget]
)
def test_logs_that_change_while_they_are_read_end_as_they_are(
    processes: Processes, tmp_path: Path, change: Churn
) -> None:
    logs = write_soak(tmp_path / "logs", 3, 20)
    if change is retarget:
        for log in logs:
            retarget(log, log.read_bytes(), random.Random(0))
    db, stop = tmp_path / "x.duckdb", tmp_path / "stop"
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    writer = processes.call(churn, change.__name__, [str(log) for log in logs], 1, str(stop))
    eventually(Path(f"{stop}.begun").exists, "the writer has begun")
    for _ in range(6):
        is_told(processes.tui("ingest", "--db", db, *logs))
    stop.touch()
    assert writer.end().code == 0
    # Known logs that are not there any more keep their rows; a clean index never saw them.
    there = sorted(path for path in (tmp_path / "logs").glob("*.jsonl") if path.is_file())
    is_told(processes.tui("ingest", "--db", db, *there))
    assert recorded(db) == clean_rows(processes, *there)


def test_a_log_that_may_not_be_read_any_more_is_named_and_keeps_its_rows(
    processes: Processes, tmp_path: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 2, 10)
    db = tmp_path / "x.duckdb"
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    logs[0].chmod(0)
    with logs[1].open("a") as file:
        file.write(soak_text(5, 2))
    ended = processes.powerless("ingest", "--db", db, *logs)
    assert ended.code == 3
    one_sentence(ended, str(logs[0]), "no permission")
    logs[0].chmod(0o644)
    assert recorded(db) == clean_rows(processes, *logs)


def test_a_link_to_itself_is_named_and_the_other_logs_are_taken(
    processes: Processes, tmp_path: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 2, 10)
    db = tmp_path / "x.duckdb"
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    ended = processes.tui("ingest", "--db", db, loop, *logs)
    assert ended.code in (2, 3)
    one_sentence(ended, str(loop))


def test_a_log_that_is_rewritten_and_restored_between_two_ingests_is_as_it_was(
    processes: Processes, tmp_path: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 2, 10)
    db = tmp_path / "x.duckdb"
    whole = logs[0].read_bytes()
    for data in (whole, soak_text(0, 9, seed=7).encode(), whole):
        logs[0].write_bytes(data)
        assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert recorded(db) == clean_rows(processes, *logs)
