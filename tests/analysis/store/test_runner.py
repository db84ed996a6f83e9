"""Reads for screens: the newest wins, nothing waits for the old, the index is held for a turn."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.errors import BadInput
from analysis.store import query
from analysis.store.index import open_index
from analysis.store.runner import Failure, NoIndex, OtherVersion, Result, Runner, Waiting

LONG = "SELECT count(*) FROM range(100000000000) a, range(1000) b WHERE a.range % 7 = b.range"
PATIENCE_S = 30


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "index.duckdb"
    with open_index(target):
        pass
    return target


@pytest.fixture
def runner(path: Path) -> Iterator[Runner]:
    made = Runner(path)
    yield made
    made.close()


class Inbox:
    """What was delivered, in order."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Any] = queue.Queue()

    def __call__(self, outcome: Any) -> None:
        self._queue.put(outcome)

    def get(self) -> Any:
        return self._queue.get(timeout=PATIENCE_S)

    def empty(self) -> bool:
        return self._queue.empty()


def number(connection: duckdb.DuckDBPyConnection) -> int:
    return int(query.rows(connection, "SELECT 42")[0][0])


def forever(connection: duckdb.DuckDBPyConnection) -> object:
    return query.rows(connection, LONG)


def test_an_answer_is_delivered(runner: Runner) -> None:
    inbox = Inbox()
    runner.ask("a", number, inbox)
    assert inbox.get() == Result(42)


def test_slots_are_read_beside_each_other(runner: Runner) -> None:
    first, second = threading.Event(), threading.Event()

    def meets(mine: threading.Event, other: threading.Event) -> Any:
        def read(connection: duckdb.DuckDBPyConnection) -> bool:
            mine.set()
            return other.wait(PATIENCE_S)

        return read

    inbox = Inbox()
    runner.ask("a", meets(first, second), inbox)
    runner.ask("b", meets(second, first), inbox)
    assert [inbox.get(), inbox.get()] == [Result(True), Result(True)]


def test_a_newer_request_interrupts_the_older_and_only_the_newer_is_delivered(
    runner: Runner,
) -> None:
    began = threading.Event()
    old, new = Inbox(), Inbox()

    def long(connection: duckdb.DuckDBPyConnection) -> object:
        began.set()
        return forever(connection)

    runner.ask("a", long, old)
    assert began.wait(PATIENCE_S)
    runner.ask("a", number, new)
    assert new.get() == Result(42)
    assert old.empty()


def test_an_interrupt_between_two_statements_is_not_lost(runner: Runner) -> None:
    between, go = threading.Event(), threading.Event()
    old, new = Inbox(), Inbox()

    def two(connection: duckdb.DuckDBPyConnection) -> object:
        between.set()
        assert go.wait(PATIENCE_S)
        return forever(connection)

    runner.ask("a", two, old)
    assert between.wait(PATIENCE_S)
    runner.ask("a", number, new)
    go.set()
    assert new.get() == Result(42)
    assert old.empty()


def test_closing_interrupts_what_runs(path: Path) -> None:
    runner, began = Runner(path), threading.Event()

    def long(connection: duckdb.DuckDBPyConnection) -> object:
        began.set()
        return forever(connection)

    inbox = Inbox()
    runner.ask("a", long, inbox)
    assert began.wait(PATIENCE_S)
    runner.close()
    assert not runner.busy
    assert inbox.empty()


def test_a_request_that_is_forgotten_is_not_delivered(runner: Runner) -> None:
    began = threading.Event()
    forgotten, next_ = Inbox(), Inbox()

    def long(connection: duckdb.DuckDBPyConnection) -> object:
        began.set()
        return forever(connection)

    runner.ask("a", long, forgotten)
    assert began.wait(PATIENCE_S)
    runner.forget("a")
    runner.ask("b", number, next_)
    next_.get()
    while runner.busy:
        time.sleep(0.01)
    assert forgotten.empty()


def test_after_an_error_the_slot_goes_on(runner: Runner) -> None:
    inbox = Inbox()
    runner.ask("a", lambda connection: query.rows(connection, "SELECT nonsense"), inbox)
    failure = inbox.get()
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, duckdb.Error)
    runner.ask("a", number, inbox)
    assert inbox.get() == Result(42)


def test_nothing_can_be_written(runner: Runner) -> None:
    inbox = Inbox()
    runner.ask("a", lambda connection: query.write(connection, "CREATE TABLE x (a INT)"), inbox)
    assert "read-only" in str(inbox.get().error)


def test_between_reads_another_process_can_write(runner: Runner, path: Path) -> None:
    inbox = Inbox()
    for _ in range(3):
        runner.ask("a", number, inbox)
        assert inbox.get() == Result(42)
        while runner.busy:
            time.sleep(0.001)
        in_another_process(path, "connection.execute('CREATE OR REPLACE TABLE other (a INT)')")


def test_who_writes_is_waited_for_and_named_once(runner: Runner, path: Path) -> None:
    script = "import sys; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding(path, script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        inbox = Inbox()
        runner.ask("a", number, inbox)
        assert inbox.get() == Waiting(f"process {holder.pid}")
        holder.stdin.close()
        assert inbox.get() == Result(42)


def test_a_request_that_waits_for_a_writer_gives_way_to_a_newer(runner: Runner, path: Path) -> None:
    script = "import sys; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding(path, script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        old, new = Inbox(), Inbox()
        runner.ask("a", number, old)
        assert isinstance(old.get(), Waiting)
        runner.ask("a", number, new)
        assert isinstance(new.get(), Waiting)
        holder.stdin.close()
        assert new.get() == Result(42)
        assert old.empty()


def test_an_index_that_is_gone_and_comes_back_is_said(path: Path, runner: Runner) -> None:
    inbox = Inbox()
    path.unlink()
    runner.ask("a", number, inbox)
    assert isinstance(inbox.get().error, NoIndex)
    with open_index(path):
        pass
    runner.ask("a", number, inbox)
    assert inbox.get() == Result(42)


def test_another_schema_version_is_said(path: Path, runner: Runner) -> None:
    in_another_process(path, "connection.execute('UPDATE index_version SET version = 1')")
    inbox = Inbox()
    runner.ask("a", number, inbox)
    assert isinstance(inbox.get().error, OtherVersion)


def test_a_file_that_is_no_index_is_said(path: Path, runner: Runner) -> None:
    path.write_text("no database\n" * 1000)
    inbox = Inbox()
    runner.ask("a", number, inbox)
    assert isinstance(inbox.get().error, BadInput)


def holding(path: Path, script: str) -> str:
    return f"import duckdb; connection = duckdb.connect({str(path)!r}); {script}"


def in_another_process(path: Path, script: str) -> None:
    subprocess.run([sys.executable, "-c", holding(path, script)], check=True, timeout=PATIENCE_S)
