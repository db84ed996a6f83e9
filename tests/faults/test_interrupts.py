"""Ctrl-C at any moment of an ingest: 130, one line, and nothing lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from processes import (
    PATIENCE_S,
    Processes,
    answers,
    clean_answers,
    eventually,
    one_sentence,
    recorded,
)
from soaks import write_soak

import tui

INTERRUPTS = 8


def test_an_interrupt_at_any_moment_ends_with_130_and_costs_no_line(
    processes: Processes, tmp_path: Path
) -> None:
    random_ = random.Random(1)
    logs = write_soak(tmp_path / "logs", 3, 30)
    before = time.monotonic()
    clean = clean_answers(processes, *logs)
    takes_s = (time.monotonic() - before) / 2
    interrupted = 0
    for number in range(INTERRUPTS):
        db = tmp_path / f"{number}.duckdb"
        running = processes.start("ingest", "--db", db, *logs)
        # Before there is an index, the interpreter may still be starting.
        eventually(db.exists, "the index is made")
        running.over_after(random_.uniform(0, takes_s))
        running.send(signal.SIGINT)
        ended = running.end()
        if ended.code == 0:
            continue
        interrupted += 1
        assert (ended.code, ended.out) == (130, "")
        one_sentence(ended, "interrupted")
        assert processes.tui("ingest", "--db", db, *logs).code == 0
        assert recorded(db) == clean.rows
    assert interrupted
    assert answers(processes, db) == clean


def test_an_interrupt_while_the_index_is_held_ends_the_wait(
    processes: Processes, tmp_path: Path
) -> None:
    db, feed = tmp_path / "x.duckdb", tmp_path / "feed.jsonl"
    os.mkfifo(feed)
    logs = write_soak(tmp_path / "logs", 2, 5)
    holder = processes.start("ingest", "--db", db, feed)
    with feed.open("wb") as file:
        waiting = processes.start("ingest", "--db", db, logs[0])
        eventually(lambda: "waiting for it" in waiting.said, "the wait is told")
        waiting.send(signal.SIGINT)
        ended = waiting.end()
        assert ended.code == 130
        assert ended.err.splitlines()[1:] == ["tui: interrupted"]
        file.write(logs[1].read_bytes())
    assert holder.end().code == 0


def test_an_interrupt_of_the_command_as_it_is_installed_ends_with_130(
    processes: Processes, tmp_path: Path
) -> None:
    db, feed = tmp_path / "x.duckdb", tmp_path / "feed.jsonl"
    os.mkfifo(feed)
    logs = write_soak(tmp_path / "logs", 1, 5)
    packages = str(Path(tui.__file__).parents[1])
    with (
        subprocess.Popen(
            [sys.executable, "-m", "tui", "ingest", "--db", db, logs[0], feed],
            env={**os.environ, "PYTHONPATH": packages},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process,
        feed.open("wb"),
    ):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, "", "tui: interrupted\n")
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert answers(processes, db) == clean_answers(processes, *logs)
