"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from analysis.errors import BadInput, EnvironmentFault
from analysis.reports.content import Scope, What
from analysis.reports.export import Format, format_of, write_report

from .conftest import MADE, SAMPLES

SCOPE = Scope(What.ALL, ("gateway",), MADE)


def test_a_report_is_written_and_nothing_else(
    samples: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    write_report(samples, SCOPE, Format.HTML, target, force=False)
    assert target.read_text("utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_is_there_is_replaced_only_with_force(
    samples: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    target = tmp_path / "report.md"
    target.write_text("mine", "utf-8")
    with pytest.raises(BadInput, match="there already"):
        write_report(samples, SCOPE, Format.MARKDOWN, target, force=False)
    assert target.read_text("utf-8") == "mine"
    write_report(samples, SCOPE, Format.MARKDOWN, target, force=True)
    assert target.read_text("utf-8").startswith("# soakboard: gateway")
    assert list(tmp_path.iterdir()) == [target]


def test_behind_a_link_the_file_is_replaced_and_the_link_stays(
    samples: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "report.md", tmp_path / "latest.md"
    link.symlink_to(target)
    with pytest.raises(BadInput, match="there already"):
        write_report(samples, SCOPE, Format.MARKDOWN, link, force=False)
    write_report(samples, SCOPE, Format.MARKDOWN, link, force=True)
    assert link.is_symlink()
    assert target.read_text("utf-8").startswith("# soakboard")


@pytest.mark.parametrize("place", [".", "/dev/null"])
def test_what_is_no_file_is_never_replaced(
    samples: duckdb.DuckDBPyConnection, tmp_path: Path, place: str
) -> None:
    with pytest.raises(BadInput, match=r"is a directory|no regular file"):
        write_report(samples, SCOPE, Format.MARKDOWN, tmp_path / place, force=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_an_environment_fault(
    samples: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentFault, match=os.strerror(errno.ENOENT)):
        write_report(samples, SCOPE, Format.MARKDOWN, tmp_path / "no" / "x.md", force=False)


def test_a_process_killed_while_it_writes_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old", "utf-8")
    code = f"""
import os, signal
from pathlib import Path
from analysis.board import *
from analysis.config import Config
from analysis.reports.content import Scope, What
from analysis.reports.export import Format, write_report
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
with open_board(None, Config()) as board:
    board.take(Inputs((Path({str(SAMPLES)!r}),)), Ingest(now(), final=True))
    board.derive()
    scope = Scope(What.ALL, ("gateway",), now())
    write_report(board.connection, scope, Format.JSON, Path({str(target)!r}), force=True)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert target.read_text("utf-8") == "old"


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.md", "md"), ("a.HTML", "html"), ("a.json", "json"), ("a.csv", "csv"), ("a", None)],
)
def test_the_suffix_of_a_file_names_its_format(name: str, form: str | None) -> None:
    assert format_of(Path(name)) == form
    assert format_of(Path("a.txt")) is None
