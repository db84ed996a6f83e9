"""What a patch changes, from git, in the words of a proof of the oracle."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, EnvironmentFault

_SECONDS = 60


def oracle_block(repository: Path, base: str) -> dict[str, Any]:
    """The block `oracle` of the commits since `base`: changed, label_commits, author.

    A rename has both of its paths. author: of the first commit, whose patch it is. Raises
    BadInput where git knows no such revision, EnvironmentFault where there is no git.
    """
    start = _git(repository, "merge-base", "--end-of-options", base, "HEAD").strip()
    changed: list[Any] = []
    words = iter(_git(repository, "diff", "--name-status", "-z", "-M", start, "HEAD").split("\0"))
    for status in words:
        if not status:
            break
        path = next(words)
        renamed = status[0] in "RC"
        changed.append({"from": path, "to": next(words)} if renamed else path)
    log = _git(repository, "log", "--reverse", "-z", "--format=%an <%ae>%n%B", f"{start}..HEAD")
    commits = [
        dict(zip(("author", "message"), entry.split("\n", 1), strict=True))
        for entry in log.split("\0")
        if entry
    ]
    author = commits[0]["author"] if commits else ""
    return {"changed": changed, "label_commits": commits, "author": author}


def _git(repository: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *arguments],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(f"git does not answer: {error}.") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BadInput(f"git {arguments[0]} fails: {lines[0] if lines else 'no reason given'}.")
    return done.stdout.decode("utf-8", "replace")
