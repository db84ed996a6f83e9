"""Who acts."""

from __future__ import annotations

import os
import subprocess


def who() -> str:
    """Git's user, else the user of the machine."""
    try:
        done = subprocess.run(
            ["git", "config", "user.email"], capture_output=True, text=True, timeout=10, check=False
        )
        said = done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    return said or os.environ.get("USER") or "unknown"
