"""A process that is killed at any moment costs no line."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest
from processes import Processes, answers, clean_answers
from soaks import soak_text, write_soak

from analysis.store.index import open_index

KILLS = 10
LOGS, ROUNDS = 3, 30


class Victim:
    """An ingest that is killed at a random moment of the time it takes, and then run again."""

    def __init__(self, processes: Processes, db: Path, logs: list[Path], seed: int) -> None:
        self.processes, self.db, self.logs = processes, db, logs
        self.random = random.Random(seed)
        self.takes_s = 0.0

    def measured(self, db: Path) -> None:
        """One whole run, to know how long it takes."""
        before = time.monotonic()
        ended = self.processes.tui("ingest", "--db", db, *self.logs)
        self.takes_s = time.monotonic() - before
        assert (ended.code, ended.err) == (0, "")

    def killed(self) -> None:
        """Whatever it was doing, the index opens and holds whole sources only."""
        running = self.processes.start("ingest", "--db", self.db, *self.logs)
        running.over_after(self.random.uniform(0, self.takes_s))
        running.send(signal.SIGKILL)
        assert running.end().code in (-signal.SIGKILL, 0)
        with open_index(self.db):
            pass

    def run_again(self) -> None:
        ended = self.processes.tui("ingest", "--db", self.db, *self.logs)
        assert ended.code == 0, ended.err
        assert "Traceback" not in ended.err


def test_ten_kills_on_fresh_sources_cost_no_line(processes: Processes, tmp_path: Path) -> None:
    logs = write_soak(tmp_path / "logs", LOGS, ROUNDS)
    db = tmp_path / "x.duckdb"
    victim = Victim(processes, db, logs, seed=1)
    victim.measured(tmp_path / "whole.duckdb")
    clean = clean_answers(processes, *logs)
    for _ in range(KILLS):
        victim.killed()
        victim.run_again()
        assert answers(processes, db) == clean
        for file in tmp_path.glob("x.duckdb*"):
            file.unlink()


def test_ten_kills_in_a_row_on_one_index_cost_no_line(processes: Processes, tmp_path: Path) -> None:
    logs = write_soak(tmp_path / "logs", LOGS, ROUNDS)
    victim = Victim(processes, tmp_path / "x.duckdb", logs, seed=2)
    victim.measured(tmp_path / "whole.duckdb")
    for _ in range(KILLS):
        victim.killed()
    victim.run_again()
    assert answers(processes, victim.db) == clean_answers(processes, *logs)


def test_ten_kills_on_growing_sources_cost_no_line(processes: Processes, tmp_path: Path) -> None:
    logs = write_soak(tmp_path / "logs", LOGS, ROUNDS)
    whole = {log: log.read_bytes() for log in logs}
    victim = Victim(processes, tmp_path / "x.duckdb", logs, seed=3)
    victim.measured(tmp_path / "whole.duckdb")
    for step in range(KILLS):
        for log, data in whole.items():
            # Most of the cuts are within a line.
            log.write_bytes(data[: len(data) * (step + 1) // KILLS])
        victim.killed()
        victim.run_again()
        assert answers(processes, victim.db) == clean_answers(processes, *logs)


def test_ten_kills_on_rewritten_sources_cost_no_line(processes: Processes, tmp_path: Path) -> None:
    logs = write_soak(tmp_path / "logs", LOGS, ROUNDS)
    victim = Victim(processes, tmp_path / "x.duckdb", logs, seed=4)
    victim.measured(tmp_path / "x.duckdb")
    clean = {}
    for kill in range(KILLS):
        seed = 100 * (1 + kill % 2)
        for part, log in enumerate(logs):
            log.write_text(soak_text(part, ROUNDS - kill % 2, seed + part), "utf-8")
        if seed not in clean:
            clean[seed] = clean_answers(processes, *logs)
        victim.killed()
        victim.run_again()
        assert answers(processes, victim.db) == clean[seed]


@pytest.mark.parametrize("seed", [5, 6])
def test_kills_while_classes_are_derived_leave_the_right_ones(
    processes: Processes, tmp_path: Path, seed: int
) -> None:
    logs = write_soak(tmp_path / "logs", LOGS, ROUNDS, seed)
    clean = clean_answers(processes, *logs)
    db = tmp_path / "x.duckdb"
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    random_ = random.Random(seed)
    for _ in range(3):
        running = processes.start("attribute", "--all", "--db", db)
        running.over_after(random_.uniform(0, 0.6))
        running.send(signal.SIGKILL)
        running.end()
    assert answers(processes, db) == clean
