"""A write-ahead log that was cut, damaged, lost or taken from elsewhere: never a wrong answer."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import duckdb
import pytest
from processes import Processes, clean_rows, one_sentence, recorded
from shelf import NOW, Snapshot, assert_accounted_for
from soaks import write_soak

from analysis.store import query
from analysis.store.faults import Damaged
from analysis.store.index import open_index
from analysis.store.loader import Ingest, ingest


def ingest_and_die(db: str, logs: list[str]) -> None:
    """Commit every log, and end before a checkpoint."""
    with open_index(Path(db)) as index:
        for log in logs:
            ingest(index.connection, [(log, Path(log))], Ingest(NOW, False))
        os.kill(os.getpid(), signal.SIGKILL)


class Torn:
    """An index of which all is in the write-ahead log, to be torn again and again."""

    def __init__(self, processes: Processes, root: Path, seed: int) -> None:
        self.processes, self.root = processes, root
        self.db = root / "x.duckdb"
        self.logs = write_soak(root / f"logs-{seed}", 3, 8, seed)
        made = root / f"made-{seed}.duckdb"
        processes.call(ingest_and_die, str(made), [str(log) for log in self.logs]).end()
        self.file = made.read_bytes()
        self.wal = made.with_name(f"{made.name}.wal").read_bytes()
        assert len(self.wal) > 10_000

    @property
    def wal_path(self) -> Path:
        return self.root / "x.duckdb.wal"

    def lay_out(self, wal: bytes | None) -> None:
        self.db.write_bytes(self.file)
        self.wal_path.unlink(missing_ok=True)
        if wal is not None:
            self.wal_path.write_bytes(wal)

    def agrees_after_ingest(self, clean: Snapshot) -> None:
        ended = self.processes.tui("ingest", "--db", self.db, *self.logs)
        assert ended.code == 0, ended.err
        assert recorded(self.db) == clean

    def is_refused(self, clean: Snapshot) -> None:
        """In one sentence, and doing what it says helps."""
        ended = self.processes.tui("ingest", "--db", self.db, *self.logs)
        assert ended.code == 3
        one_sentence(ended, f"{self.db}: the index is damaged", "Delete it and run `tui ingest`")
        self.db.unlink()
        self.agrees_after_ingest(clean)


@pytest.fixture
def torn(processes: Processes, tmp_path: Path) -> Torn:
    return Torn(processes, tmp_path, 0)


@pytest.fixture
def clean(processes: Processes, torn: Torn) -> Snapshot:
    return clean_rows(processes, *torn.logs)


def test_a_cut_log_gives_whole_sources_only_and_the_rest_comes_again(
    torn: Torn, clean: Snapshot
) -> None:
    random_ = random.Random(1)
    sources = set()
    whole = len(torn.wal)
    cuts = [whole - 7, *(random_.randrange(whole) for _ in range(12))]
    for cut in cuts:
        torn.lay_out(torn.wal[:cut])
        with open_index(torn.db) as index:
            # What the ledger says and what is there are of one transaction.
            assert_accounted_for(index.connection)
            sources.add(query.first(index.connection, "SELECT count(*) FROM sources"))
    assert {(0,), (1,), (2,)} <= sources
    for cut in (10, whole // 2, whole - 7):
        torn.lay_out(torn.wal[:cut])
        torn.agrees_after_ingest(clean)


def test_flipped_bits_of_the_log_are_found_or_harmless(torn: Torn, clean: Snapshot) -> None:
    random_ = random.Random(2)
    refused = 0
    for _ in range(25):
        data = bytearray(torn.wal)
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
        torn.lay_out(bytes(data))
        try:
            with open_index(torn.db) as index:
                assert_accounted_for(index.connection)
        except Damaged:
            refused += 1
    assert refused
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(range(64))
    torn.lay_out(bytes(data))
    torn.is_refused(clean)


@pytest.mark.parametrize("wal", [None, b"", b"no log at all\n" * 1000], ids=["lost", "empty", "?"])
def test_a_lost_log_loses_no_line(torn: Torn, clean: Snapshot, wal: bytes | None) -> None:
    torn.lay_out(wal)
    torn.agrees_after_ingest(clean)


def test_the_log_of_another_index_is_refused(
    processes: Processes, torn: Torn, clean: Snapshot, tmp_path: Path
) -> None:
    torn.lay_out(Torn(processes, tmp_path, 50).wal)
    torn.is_refused(clean)


def test_a_log_that_survived_its_index_is_not_taken_for_that_of_the_next(
    torn: Torn, clean: Snapshot
) -> None:
    torn.lay_out(torn.wal)
    torn.db.unlink()
    torn.agrees_after_ingest(clean)
    assert not torn.wal_path.exists()


def test_a_log_is_recovered_whole(torn: Torn, clean: Snapshot) -> None:
    torn.lay_out(torn.wal)
    assert recorded(torn.db) == clean
    with duckdb.connect(str(torn.db), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM sources").fetchone() == (3,)
