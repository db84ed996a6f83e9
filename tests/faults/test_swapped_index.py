"""An index that is another file than it was: one sentence, never a wrong answer."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from processes import (
    Ended,
    Processes,
    answers,
    clean_answers,
    clean_rows,
    eventually,
    one_sentence,
    recorded,
)
from soaks import write_soak

BLOCK_BYTES = 256 * 1024
"""Of a DuckDB file, after its three headers of 4 KiB."""


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    return write_soak(tmp_path / "logs", 2, 20)


@pytest.fixture
def db(processes: Processes, tmp_path: Path, logs: list[Path]) -> Path:
    """An index of the logs whose classes are derived."""
    made = tmp_path / "x.duckdb"
    assert processes.tui("ingest", "--db", made, *logs).code == 0
    assert processes.tui("attribute", "--all", "--db", made).code == 0
    return made


def text_file(path: Path) -> None:
    path.write_text("these are my notes\n" * 1000)


def empty_file(path: Path) -> None:
    path.touch()


def sqlite_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sources (path TEXT)")


def other_database(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE sources (path VARCHAR)")


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (text_file, "no soakboard index"),
        (empty_file, "no soakboard index"),
        (sqlite_file, "no soakboard index"),
        (other_database, "no soakboard index"),
        (directory, "this is a directory, not an index"),
        (pipe, "no regular file, not an index"),
    ],
)
@pytest.mark.parametrize("command", [("ingest",), ("attribute", "--all"), ("sql", "FROM runs")])
def test_what_is_no_index_is_bad_input_and_stays_as_it_is(
    processes: Processes,
    tmp_path: Path,
    put: Callable[[Path], None],
    words: str,
    command: tuple[str, ...],
) -> None:
    db = tmp_path / "x.duckdb"
    put(db)
    before = db.lstat()
    ended = processes.tui(*command, "--db", db)
    assert (ended.code, ended.out) == (2, "")
    one_sentence(ended, str(db), words)
    assert (db.lstat().st_ino, db.lstat().st_size) == (before.st_ino, before.st_size)
    assert not db.with_name("x.duckdb.new").exists()


def test_another_index_gives_its_own_answers_and_takes_the_logs(
    processes: Processes, tmp_path: Path, logs: list[Path], db: Path
) -> None:
    others = write_soak(tmp_path / "others", 1, 10, seed=3)
    other = tmp_path / "y.duckdb"
    processes.tui("ingest", "--db", other, *others)
    other.replace(db)
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert answers(processes, db) == clean_answers(processes, *others, *logs)


def test_a_link_that_leads_nowhere_makes_the_index_where_it_points(
    processes: Processes, tmp_path: Path, logs: list[Path]
) -> None:
    db, there = tmp_path / "x.duckdb", tmp_path / "large-disk"
    db.symlink_to(there / "index.duckdb")
    ended = processes.tui("ingest", "--db", db, *logs)
    assert ended.code == 3
    one_sentence(ended, str(db), "the index cannot be opened (No such file or directory)")
    there.mkdir()
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert db.is_symlink()
    assert recorded(there / "index.duckdb") == clean_rows(processes, *logs)


def is_right_or_refused(ended: Ended, db: Path, expected: str) -> bool:
    """Whether it was refused; if not, the answer must be the right one."""
    if ended.code == 0:
        assert (ended.out, ended.err) == (expected, "")
        return False
    assert (ended.code, ended.out) in ((3, ""), (2, "")), ended
    one_sentence(ended, str(db))
    return True


def test_flipped_bits_anywhere_in_the_index_are_never_an_answer(
    processes: Processes, tmp_path: Path, logs: list[Path], db: Path
) -> None:
    random_ = random.Random(1)
    whole = db.read_bytes()
    ask = ("sql", "SELECT * FROM results ORDER BY ALL", "--format", "csv", "--db", db)
    expected = processes.tui(*ask).out
    places = [random_.randrange(12_288) for _ in range(3)]
    places += [random_.randrange(len(whole)) for _ in range(12)]
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << random_.randrange(8)
        db.write_bytes(data)
        ended = processes.tui(*ask)
        assert ended.code in (0, 3)
        is_right_or_refused(ended, db, expected)
    # What is free or not asked for may be flipped unnoticed; not so a bit of every block.
    data = bytearray(whole)
    for start in range(12_288, len(whole), BLOCK_BYTES):
        data[min(start + random_.randrange(4096), len(whole) - 1)] ^= 1
    db.write_bytes(data)
    assert is_right_or_refused(processes.tui(*ask), db, expected)
    db.unlink()
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert recorded(db) == clean_rows(processes, *logs)


def test_an_index_that_was_cut_is_never_an_answer(
    processes: Processes, logs: list[Path], db: Path
) -> None:
    whole = db.read_bytes()
    ask = ("attribute", "--all", "--json", "--db", db)
    expected = processes.tui(*ask).out
    size = len(whole)
    for length in (1, 4096, 12_287, 12_288, 12_289, size // 3, size // 2, size - 262_144, size - 1):
        db.write_bytes(whole[:length])
        assert is_right_or_refused(processes.tui(*ask), db, expected), length
        # The logs are taken, or the damage is named; then no answer is built on it.
        taken = processes.tui("ingest", "--db", db, *logs)
        assert taken.code in (0, 2, 3)
        assert taken.code == 0 or taken.err.count("\n") == 1
        is_right_or_refused(processes.tui(*ask), db, expected)


def deleted(db: Path) -> None:
    db.unlink()


def replaced(db: Path) -> None:
    shutil.copy(db, f"{db}.other")
    Path(f"{db}.other").replace(db)


def replaced_by_text(db: Path) -> None:
    Path(f"{db}.other").write_text("notes")
    Path(f"{db}.other").replace(db)


@pytest.mark.parametrize("swap", [deleted, replaced, replaced_by_text])
def test_an_index_that_goes_while_it_is_in_use_is_no_success(
    processes: Processes, tmp_path: Path, logs: list[Path], swap: Callable[[Path], None]
) -> None:
    db, feed = tmp_path / "x.duckdb", tmp_path / "feed.jsonl"
    assert processes.tui("ingest", "--db", db, logs[0]).code == 0
    os.mkfifo(feed)
    running = processes.start("ingest", "--db", db, feed)
    # It has the index once it opens the pipe, and then waits for what the pipe gives.
    with feed.open("wb") as file:
        swap(db)
        file.write(logs[1].read_bytes())
    ended = running.end()
    assert ended.code == 3
    one_sentence(ended, f"{db}: the index was deleted or replaced while it was in use")
    if swap is replaced_by_text:
        assert db.read_text() == "notes"
        db.unlink()
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert answers(processes, db) == clean_answers(processes, *logs)


def test_an_index_that_is_deleted_and_made_anew_while_it_is_in_use_stays_right(
    processes: Processes, tmp_path: Path, logs: list[Path]
) -> None:
    db, feed = tmp_path / "x.duckdb", tmp_path / "feed.jsonl"
    os.mkfifo(feed)
    first = processes.start("ingest", "--db", db, feed)
    with feed.open("wb") as file:
        db.unlink()
        assert processes.tui("ingest", "--db", db, logs[0]).code == 0
        file.write(logs[1].read_bytes())
    assert first.end().code == 3
    eventually(db.exists, "the new index is there")
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert recorded(db) == clean_rows(processes, *logs)
