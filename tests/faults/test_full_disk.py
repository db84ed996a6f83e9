"""A disk that is full: one sentence, and nothing lost once there is room."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from processes import (
    Ended,
    Processes,
    answers,
    clean_answers,
    clean_rows,
    one_sentence,
    recorded,
)
from soaks import write_soak


def mount(*arguments: str | Path) -> None:
    """Mount, or skip the test where that is not allowed."""
    try:
        subprocess.run(["mount", *map(str, arguments)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"mounting is not possible here: {error}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount("-t", "tmpfs", "-o", "size=256k", "tmpfs", place)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def is_told(ended: Ended) -> None:
    assert ended.code == 3
    one_sentence(ended, "Nothing is lost: run the command again when there is room")


def test_an_ingest_on_a_disk_that_fills_up_says_so_and_goes_on_with_more_room(
    processes: Processes, tmp_path: Path, small_disk: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 3, 60)
    clean = clean_answers(processes, *logs)
    db = small_disk / "x.duckdb"
    for _ in range(2):
        is_told(processes.tui("ingest", "--db", db, *logs))
    mount("-o", "remount,size=64m", small_disk)
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert answers(processes, db) == clean


def test_a_disk_without_room_for_an_index_leaves_nothing_in_the_way_of_one(
    processes: Processes, tmp_path: Path, small_disk: Path
) -> None:
    logs = write_soak(tmp_path / "logs", 1, 5)
    fill = small_disk / "fill"
    with fill.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    db = small_disk / "x.duckdb"
    ended = processes.tui("ingest", "--db", db, *logs)
    assert ended.code == 3
    one_sentence(ended, str(db), "the index cannot be opened")
    assert sorted(small_disk.iterdir()) == [fill]
    fill.unlink()
    mount("-o", "remount,size=64m", small_disk)
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert recorded(db) == clean_rows(processes, *logs)


def limited(arguments: list[str], size: int) -> None:
    """`tui` where no file may grow beyond a size."""
    from tui.cli import main

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    os._exit(main(arguments))


@pytest.mark.parametrize("size", [0, 4096, 60_000, 200_000])
def test_a_file_that_may_not_grow_is_told_in_one_sentence_and_costs_no_line(
    processes: Processes, tmp_path: Path, size: int
) -> None:
    logs = write_soak(tmp_path / "logs", 2, 60)
    db = tmp_path / "x.duckdb"
    (tmp_path / ".soakboard").mkdir()
    ended = processes.call(limited, ["ingest", "--db", str(db), *map(str, logs)], size).end()
    assert ended.code == 3
    if ended.err:  # it goes to a file, which may not grow either
        one_sentence(ended)
    assert processes.tui("ingest", "--db", db, *logs).code == 0
    assert recorded(db) == clean_rows(processes, *logs)
