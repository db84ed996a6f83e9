"""The log on disk: whole lines, from many writers, whatever ends them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from contracts import TEST, event, hours, log

from analysis.config import Config
from analysis.errors import BadInput, EnvironmentFault
from analysis.quarantine.events import Kind
from analysis.quarantine.log import append, list_path, read_list

SUPPORT = Path(__file__).parents[2] / "support"
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from contracts import event, hours
from analysis.config import Config
from analysis.quarantine.events import Kind
from analysis.quarantine.log import append

print("ready", flush=True)
for number in range(int(sys.argv[4])):
    made = event(Kind.QUARANTINED, 0, f"t.py::test_{sys.argv[3]}_{number}", reason="x" * 2000)
    append(Path(sys.argv[2]), hours(1), Config(), lambda listed: made)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(SUPPORT), str(path), name, str(count)],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def test_a_log_that_is_not_there_is_an_empty_list(tmp_path: Path) -> None:
    found = read_list(tmp_path / "none.jsonl", hours(0), Config())
    assert not found.entries
    assert not found.complaints


def test_it_lies_beside_the_configuration(tmp_path: Path) -> None:
    assert list_path(Config(), tmp_path) == tmp_path / "quarantine.jsonl"
    config = Config(path=tmp_path / "conf" / "soakboard.toml")
    assert list_path(config, tmp_path) == tmp_path / "conf" / "quarantine.jsonl"


def test_eight_processes_append_fifty_entries_each(tmp_path: Path) -> None:
    path = tmp_path / "quarantine.jsonl"
    processes = [writer(path, str(number), 50) for number in range(8)]
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0] * 8
    found = read_list(path, hours(2), Config())
    assert len(found.listed()) == 400
    assert not found.complaints


@pytest.mark.parametrize("wait_s", [0.0, 0.02, 0.05])
def test_a_killed_writer_leaves_whole_lines(tmp_path: Path, wait_s: float) -> None:
    path = tmp_path / "quarantine.jsonl"
    process = writer(path, "a", 5000)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(wait_s)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    found = read_list(path, hours(2), Config())
    assert not found.complaints
    text = path.read_bytes() if path.exists() else b""
    assert len(found.listed()) == text.count(b"\n")
    # Whoever comes next goes on.
    append(path, hours(3), Config(), lambda listed: event(Kind.QUARANTINED, 2))
    assert read_list(path, hours(4), Config()).of(TEST, None) is not None


def test_a_torn_line_does_not_swallow_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "quarantine.jsonl"
    path.write_bytes(log(event(Kind.QUARANTINED, 0, "a.py::a"))[:-40])
    append(path, hours(1), Config(), lambda listed: event(Kind.QUARANTINED))
    found = read_list(path, hours(2), Config())
    assert [one.test_id for one in found.listed()] == [TEST]
    assert [one.line for one in found.complaints] == [1]


def test_a_refusal_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "quarantine.jsonl"

    def refuse(listed: object) -> object:
        raise BadInput("no")

    with pytest.raises(BadInput):
        append(path, hours(1), Config(), refuse)  # type: ignore[arg-type]
    assert path.read_bytes() == b""


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "list"
    folder.mkdir()
    with pytest.raises((BadInput, EnvironmentFault)):
        append(folder, hours(1), Config(), lambda listed: event(Kind.QUARANTINED))
    with pytest.raises(EnvironmentFault, match="The list is as it was"):
        append(tmp_path / "no" / "q.jsonl", hours(1), Config(), lambda _: event(Kind.QUARANTINED))
