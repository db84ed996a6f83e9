"""What every test may use: the command as a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import tui

# How long an example takes says something about the machine and nothing about the code.
# HYPOTHESIS_PROFILE=thorough looks at many more of them.
settings.register_profile("soakboard", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "soakboard"))

Tui = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_tui(tmp_path: Path) -> Tui:
    """Runs `tui ARGUMENTS` in a directory (the test's own) and gives exit code and output."""

    def run(
        *arguments: str | Path, cwd: Path = tmp_path, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        # The process uses the same packages as this one, wherever they were imported from.
        packages = str(Path(tui.__file__).parents[1])
        return subprocess.run(
            [sys.executable, "-m", "tui", *map(str, arguments)],
            cwd=cwd,
            input=stdin,
            env={**os.environ, "PYTHONPATH": packages, **environment},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run
