"""An index that cannot be written: one sentence."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Processes, one_sentence, recorded
from soaks import write_soak

COMMANDS = (
    ("ingest",),
    ("attribute", "--all"),
    ("check",),
    ("rejects",),
    ("sql", "SELECT count(*) FROM runs"),
)


@pytest.fixture
def db(processes: Processes, tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    made = home / "x.duckdb"
    assert processes.tui("ingest", "--db", made, *write_soak(tmp_path / "logs", 1, 10)).code == 0
    return made


@pytest.fixture
def read_only(db: Path) -> Iterator[Path]:
    """The index on a disk that can only be read."""
    for arguments in (["--bind", db.parent, db.parent], ["-o", "remount,bind,ro", db.parent]):
        try:
            subprocess.run(["mount", *arguments], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            subprocess.run(["umount", "--lazy", db.parent], check=False, capture_output=True)
            pytest.skip(f"mounting is not possible here: {error}")
    try:
        yield db
    finally:
        subprocess.run(["umount", "--lazy", db.parent], check=True)


def test_a_read_only_disk_is_told_in_one_sentence_and_harms_nothing(
    processes: Processes, read_only: Path
) -> None:
    for command in COMMANDS:
        ended = processes.tui(*command, "--db", read_only)
        assert (ended.code, ended.out) == (3, ""), command
        one_sentence(ended, str(read_only), "Read-only file system", "--db")
    ended = processes.tui("ingest", "--db", read_only.with_name("new.duckdb"), "logs")
    assert ended.code == 3
    one_sentence(ended, "new.duckdb", "Read-only file system")
    ended = processes.tui("ingest", "--db", read_only.parent / "new" / "x.duckdb", "logs")
    assert ended.code == 3
    one_sentence(ended, "cannot be written here", "Read-only file system")


def test_an_index_that_may_not_be_written_is_told_in_one_sentence(
    processes: Processes, db: Path
) -> None:
    before = recorded(db)
    for mode in (0o444, 0o000):
        db.chmod(mode)
        for command in COMMANDS:
            ended = processes.powerless(*command, "--db", db)
            assert (ended.code, ended.out) == (3, ""), (command, ended)
            one_sentence(ended, str(db), "Permission denied")
    db.chmod(0o644)
    db.parent.chmod(0o555)
    ended = processes.powerless("ingest", "--db", db.with_name("new.duckdb"), "logs")
    db.parent.chmod(0o755)
    assert ended.code == 3
    one_sentence(ended, "new.duckdb", "Permission denied")
    assert recorded(db) == before
