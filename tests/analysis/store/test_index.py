"""The file of the index: who holds it, what it is, and what a crash leaves of it."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from shelf import NOW, Shelf, fresh, run_line, snapshot, test_line, text

import analysis
from analysis.errors import BadInput, EnvironmentFault
from analysis.store import ledger, query
from analysis.store.index import SCHEMA_VERSION, open_index
from analysis.store.loader import Ingest, Status, ingest
from analysis.store.transaction import IndexFault, transaction

PACKAGES = str(Path(analysis.__file__).parents[1])
HOLD = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""
INGEST = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from datetime import UTC, datetime
from analysis.store.index import open_index
from analysis.store.loader import Ingest, ingest
print("started", flush=True)
with open_index(Path(sys.argv[2]), 60) as index:
    print("opened", flush=True)
    how = Ingest(datetime(2026, 6, 1, 12, tzinfo=UTC), False)
    ingest(index.connection, [(path, Path(path)) for path in sys.argv[3:]], how)
"""


def start(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@contextlib.contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a database until it gets a line."""
    process = start(HOLD, path)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def write_log(path: Path, runs: int, first: int = 0) -> Path:
    path.write_bytes(
        text(
            *(
                line
                for run in range(first, first + runs)
                for line in (test_line(run, f"t::{run % 7}"), run_line(run), b"junk")
            )
        )
    )
    return path


def in_index(db: Path, root: Path) -> Shelf:
    """A shelf whose index is a copy in memory of the one on disk."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{db}' AS disk (READ_ONLY)")
    connection.execute("COPY FROM DATABASE disk TO memory")
    connection.execute("DETACH disk")
    return Shelf(root, connection)


def test_50_an_index_that_is_held_is_waited_for_and_its_holder_named(tmp_path: Path) -> None:
    db = tmp_path / "x.duckdb"
    with open_index(db):
        pass
    with holder(db) as process:
        before = time.monotonic()
        with pytest.raises(EnvironmentFault) as caught, open_index(db, 0.3):
            pass
        assert 0.3 <= time.monotonic() - before < 5
        assert caught.value.message == (
            f"{db}: the index is in use by process {process.pid}; waited 0.3 s."
        )
        assert "run the command again" in caught.value.hint


def test_50_an_index_that_is_released_in_time_is_opened(tmp_path: Path) -> None:
    db = tmp_path / "x.duckdb"
    with open_index(db):
        pass
    with holder(db) as process:
        release(process)
        with open_index(db, 30) as index:
            assert index.notices == ()


def test_two_ingests_at_once_both_finish_and_double_nothing(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path / f"{name}.jsonl", 500, first)
        for name, first in (("a", 0), ("b", 500), ("c", 0))
    ]  # c holds what a holds
    db = tmp_path / "x.duckdb"
    both = [start(INGEST, PACKAGES, db, *logs), start(INGEST, PACKAGES, db, *reversed(logs))]
    for process in both:
        with process:
            assert process.wait(120) == 0
    shelf = in_index(db, tmp_path)
    with shelf.connection:
        assert shelf.count("test_lines") == 1000
        shelf.agrees_with_the_files()


def test_a_process_that_is_killed_leaves_an_index_that_goes_on(tmp_path: Path) -> None:
    random_ = random.Random(7)
    logs = [
        write_log(tmp_path / f"{name}.jsonl", 3000, first)
        for name, first in (("a", 0), ("b", 3000))
    ]
    db = tmp_path / "x.duckdb"
    for _ in range(4):
        with start(INGEST, PACKAGES, db, *logs) as process:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(2)] == ["started\n", "opened\n"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(random_.uniform(0, 0.6))
            process.send_signal(signal.SIGKILL)
        with open_index(db) as index:
            # A source is there whole or not at all.
            assert {
                lines for (lines,) in query.rows(index.connection, "SELECT lines FROM sources")
            } <= {9000}
    with open_index(db) as index:
        how = Ingest(NOW, False)
        ingest(index.connection, [(str(log), log) for log in logs], how)
        shelf = Shelf(tmp_path, index.connection)
        assert shelf.count("test_lines") == 6000
        shelf.agrees_with_the_files()


FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from datetime import UTC, datetime
from analysis.errors import EnvironmentFault
from analysis.store.index import open_index
from analysis.store.loader import Ingest, ingest
try:
    with open_index(Path(sys.argv[2])) as index:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        how = Ingest(datetime(2026, 6, 1, 12, tzinfo=UTC), False)
        for path in sys.argv[3:]:
            ingest(index.connection, [(path, Path(path))], how)
            print("done", flush=True)
except EnvironmentFault as fault:
    print(type(fault).__name__, fault.message)
"""


def test_a_full_disk_is_a_fault_of_the_machine_and_loses_nothing(tmp_path: Path) -> None:
    small = write_log(tmp_path / "a.jsonl", 10)
    large = write_log(tmp_path / "b.jsonl", 8_000, 10)
    db = tmp_path / "x.duckdb"
    with start(FULL, PACKAGES, db, small, large) as process:
        said, _ = process.communicate(timeout=120)
    assert said.splitlines()[0] == "done"
    assert said.splitlines()[1].startswith("IndexFault The index cannot be written (")
    with open_index(db) as index:
        shelf = Shelf(tmp_path, index.connection)
        assert shelf.count("test_lines") == 10
        ingest(index.connection, [(str(large), large)], Ingest(NOW, False))
        shelf.agrees_with_the_files()


def test_an_index_of_no_bytes_yet_is_made_with_its_home(tmp_path: Path) -> None:
    db = tmp_path / ".soakboard" / "index.duckdb"
    with open_index(db) as index:
        assert index.notices == ()
    assert (db.parent / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("content", [b"", b"<html>" * 2000, b"SQLite format 3\0" + bytes(9000)])
def test_a_file_that_is_no_database_is_bad_input(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "x.duckdb"
    db.write_bytes(content)
    with (
        pytest.raises(BadInput, match=re.escape(f"{db}: this is no soakboard index")) as caught,
        open_index(db),
    ):
        pass
    assert "\n" not in caught.value.message
    assert db.read_bytes() == content


def test_a_directory_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a directory, not an index"), open_index(tmp_path):
        pass


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE theirs (a INTEGER)",
        "CREATE TABLE index_version (other INTEGER)",
        "CREATE TABLE index_version (version INTEGER)",
        "CREATE TABLE index_version AS SELECT 'one' AS version",
    ],
)
def test_another_database_is_bad_input_and_stays_as_it_is(tmp_path: Path, made: str) -> None:
    db = tmp_path / "x.duckdb"
    with duckdb.connect(db) as connection:
        connection.execute(made)
    with pytest.raises(BadInput, match="but no soakboard index"), open_index(db):
        pass
    with duckdb.connect(db) as connection:
        assert len(connection.execute("SHOW TABLES").fetchall()) == 1


def test_a_place_that_cannot_be_written_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    db = tmp_path / "file" / "x.duckdb"
    with pytest.raises(EnvironmentFault, match="cannot be written here") as caught, open_index(db):
        pass
    assert "--db" in caught.value.hint


def make_older(db: Path) -> None:
    """Turn an index into one of a schema that is not ours."""
    with duckdb.connect(db) as connection:
        connection.execute(f"UPDATE index_version SET version = {SCHEMA_VERSION + 6}")
        connection.execute("ALTER TABLE sources DROP COLUMN tail")
        connection.execute("DELETE FROM run_lines")


def test_an_index_of_another_schema_is_set_aside_and_knows_its_sources(tmp_path: Path) -> None:
    db = tmp_path / "x.duckdb"
    named, plain, gone = (
        write_log(tmp_path / f"{name}.jsonl", 3, first)
        for name, first in (("named", 0), ("plain", 3), ("gone", 6))
    )
    with open_index(db) as index:
        for log, experiment in ((named, "X"), (plain, None), (gone, None)):
            ingest(index.connection, [(str(log), log)], Ingest(NOW, False, experiment))
        ingest(index.connection, [("-", plain)], Ingest(NOW, False))
    make_older(db)
    gone.unlink()
    with open_index(db) as index:
        assert index.notices == (
            f"{db}: this index has another schema version and is rebuilt from 3 logs; 1 from "
            f"standard input cannot be read again (the old file is now "
            f"x.duckdb.schema{SCHEMA_VERSION + 6}).",
        )
        assert set(ledger.known_paths(index.connection)) == {named, plain, gone}
    # A crash between the two would lose nothing: the sources stay known.
    with open_index(db) as index:
        assert index.notices == ()
        shelf = Shelf(tmp_path, index.connection)
        reports = shelf.take(*shelf.known())
        assert {Path(report.path).name: report.status for report in reports} == {
            "named.jsonl": Status.NEW,
            "plain.jsonl": Status.NEW,
            "gone.jsonl": Status.VANISHED,
        }
        assert shelf.known()["named.jsonl"] == "X"
        shelf.agrees_with_the_files()
    with duckdb.connect(tmp_path / f"x.duckdb.schema{SCHEMA_VERSION + 6}") as old:
        assert old.execute("SELECT count(*) FROM sources").fetchone() == (4,)


def test_deleting_the_index_loses_nothing(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 20)
    db = tmp_path / "x.duckdb"
    found = []
    for _ in range(2):
        with open_index(db) as index:
            ingest(index.connection, [(str(log), log)], Ingest(NOW, False))
            found.append(snapshot(index.connection))
        db.unlink()
    assert found[0] == found[1]


def test_a_transaction_that_fails_leaves_nothing_and_the_connection_usable() -> None:
    with fresh(Path()) as shelf:
        with pytest.raises(duckdb.ConversionException), transaction(shelf.connection):
            query.script(
                shelf.connection,
                "INSERT INTO derived_key VALUES ('x'); SELECT 'no number'::INTEGER",
            )
        assert shelf.count("derived_key") == 0
        with transaction(shelf.connection):
            query.write(shelf.connection, "INSERT INTO derived_key VALUES ('x')")
        assert shelf.count("derived_key") == 1


def test_a_connection_that_is_gone_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 2)
    with fresh(tmp_path) as shelf:
        error = duckdb.FatalException("the database is dead")
        with pytest.raises(IndexFault, match="the database is dead"), transaction(shelf.connection):
            raise error
        assert ingest(shelf.connection, [(str(log), log)], Ingest(NOW, False))
