"""The line that says how far the reading of a log is."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import tui
from analysis.store.reading import Progress
from tui.progress import words

GB = 1_000_000_000


def test_the_line_says_share_bytes_rate_and_time_left() -> None:
    progress = Progress(Path("/logs/soak.jsonl"), 2 * GB, 5 * GB, 4_000_000)
    said = words(progress, (10.0, 1 * GB, 2_000_000), 12.0, 100)
    assert said == "soak.jsonl  40 %  2.0 of 5.0 GB  1,000,000 lines/s  6 s left"


@pytest.mark.parametrize("cells", [20, 40, 60, 79])
def test_the_line_fits_the_terminal(cells: int) -> None:
    progress = Progress(Path("/logs/" + "very-" * 20 + "long.jsonl"), GB, 5 * GB, 4_000_000)
    said = words(progress, (0.0, 0, 0), 2000.0, cells)
    assert len(said) <= cells
    assert "20 %" in said


def test_nothing_is_divided_by_nothing() -> None:
    empty = Progress(Path("a.jsonl"), 0, 0, 0)
    assert words(empty, (1.0, 0, 0), 1.0, 80) == "a.jsonl  0 %  0 of 0 B"


def test_a_name_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in words(Progress(Path("a\x1b[2J.jsonl"), 1, 2, 1), (0.0, 0, 0), 1.0, 80)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that takes longer than the patience of a person."""
    path = tmp_path / "gate.jsonl"
    lines = (json.dumps({"patch": f"p{i}", "verdict": "pass", "n": i}) for i in range(40_000))
    path.write_text("".join(line + "\n" for line in lines))
    return path


def on_a_terminal(*arguments: str | Path, cwd: Path) -> str:
    """What a command writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    packages = str(Path(tui.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-m", "tui", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": packages},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert process.returncode == 0
    return said.decode()


def test_a_terminal_shows_the_line_and_then_is_clear_again(log: Path, tmp_path: Path) -> None:
    said = on_a_terminal("ingest", log, cwd=tmp_path)
    assert "gate.jsonl" in said
    assert "100 %" in said
    assert said.endswith("\r\x1b[K")


def test_quiet_shows_nothing_on_a_terminal(log: Path, tmp_path: Path) -> None:
    assert on_a_terminal("ingest", "--quiet", log, cwd=tmp_path) == ""


def test_a_pipe_gets_nothing(log: Path, run_tui, tmp_path: Path) -> None:
    result = run_tui("ingest", log)
    assert (result.returncode, result.stderr) == (0, "")
    assert "40000" in result.stdout


def test_quiet_prints_only_what_was_refused(run_tui, tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text('{"patch": "p", "verdict": "pass"}\n')
    page = tmp_path / "page.jsonl"
    page.write_text("<html>\n")
    result = run_tui("ingest", "-q", good, page)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "HTML" in result.stderr
