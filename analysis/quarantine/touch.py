"""Did the code of a quarantined test move? What a diff touches, and whether it only waits."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.errors import BadInput, EnvironmentFault
from analysis.quarantine.replay import Entry

_WAITS = re.compile(r"sleep|timeout|retr(?:y|ies)|\bwait|rerun|flaky|backoff|\bdelay", re.I)
_QUOTED = re.compile(r"\\([0-7]{3}|.)")


@dataclass
class Change:
    """What a diff does to one file. lines: those added and removed, without their sign."""

    lines: list[str] = field(default_factory=list)

    @property
    def only_waits(self) -> bool:
        """Nothing but sleeps, retries or timeouts was added or taken away."""
        said = [line.strip() for line in self.lines if line.strip()]
        told = [line for line in said if not line.startswith(("import ", "from ", "#"))]
        return bool(told) and all(_WAITS.search(line) for line in told)


@dataclass(frozen=True)
class Touch:
    """What of an entry a diff touches. only_waits: it does nothing to the test but wait."""

    paths: tuple[str, ...]
    only_waits: bool


def read_diff(text: str) -> dict[str, Change]:
    """The files of a unified diff, under their old and their new names."""
    changes: dict[str, Change] = {}
    current: list[Change] = []
    in_hunk = 0, 0
    for line in text.split("\n"):
        old, new = in_hunk
        if old > 0 or new > 0:
            in_hunk = _in_hunk(line, old, new, current)
            continue
        if line.startswith("@@"):
            in_hunk = _sizes(line)
        elif line.startswith("diff --git "):
            current = []
        names = _names(line)
        for name in names:
            change = current[0] if current else Change()
            current = [change]
            changes.setdefault(name, change)
            if changes[name] is not change:
                current = [changes[name]]
    return changes


def _in_hunk(line: str, old: int, new: int, current: list[Change]) -> tuple[int, int]:
    if line.startswith(("+", "-")) and current:
        current[0].lines.append(line[1:])
    return (
        old - (not line.startswith(("+", "\\"))),
        new - (not line.startswith(("-", "\\"))),
    )


def _sizes(line: str) -> tuple[int, int]:
    found = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
    if found is None:
        return 0, 0
    old, new = (1 if size is None else int(size) for size in found.groups())
    return old, new


def _names(line: str) -> list[str]:
    for start in ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "):
        if line.startswith(start):
            name = _plain(line[len(start) :].partition("\t")[0].rstrip("\r"))
            if start in ("--- ", "+++ "):
                name = name[2:] if name[:2] in ("a/", "b/") else name
            return [] if name == "/dev/null" else [name]
    return []


def _plain(name: str) -> str:
    """A path that git has put in quotes."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    raw = _QUOTED.sub(
        lambda found: chr(int(found[1], 8)) if found[1].isdigit() else found[1], name[1:-1]
    )
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def git_diff(folder: Path, base: str, head: str) -> str:
    """What changed between two revisions of a repository. BadInput: git does not know one."""
    command = [
        "git",
        "-C",
        str(folder),
        "diff",
        "--no-color",
        "--no-ext-diff",
        "-M",
        "--end-of-options",
    ]
    try:
        done = subprocess.run(
            [*command, base, head, "--"], capture_output=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(f"git could not be run: {error}.") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BadInput(
            f"git cannot compare {base} and {head}: {said[-1] if said else 'no reason'}."
        )
    return done.stdout.decode("utf-8", "replace")


def touched(entry: Entry, changes: Mapping[str, Change]) -> Touch | None:
    """What of an entry's test and fixtures a diff touches; None for nothing."""
    watched = watched_paths(entry)
    hits = [path for path in changes if any(_is_in(path, one) for one in watched)]
    if not hits:
        return None
    own = file_of(entry)
    only = all(changes[path].only_waits for path in hits) and own is not None
    return Touch(tuple(sorted(hits)), only)


def file_of(entry: Entry) -> str | None:
    """The file of the test."""
    said = entry.opened.fields.get("test_file")
    return said if isinstance(said, str) and said else None


def watched_paths(entry: Entry) -> tuple[str, ...]:
    """The test's file and what it reads, as paths in the repository."""
    fixtures: Iterable[object] = entry.opened.fields.get("fixtures") or ()
    own = file_of(entry)
    return (*([own] if own else []), *(one for one in fixtures if isinstance(one, str) and one))


def _is_in(path: str, watched: str) -> bool:
    """Whether a path is a watched one, or lies in a watched directory."""
    plain = watched.strip().removeprefix("./").rstrip("/")
    return bool(plain) and (path == plain or path.startswith(f"{plain}/"))
