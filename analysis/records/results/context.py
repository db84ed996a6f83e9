"""What is known of the run that a result file is of: from options, from its path, from a file
beside it. What none of them says is missing, and never guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import BadInput

SIDECAR = "soakboard-run.json"
FIELDS = ("experiment", "phase", "patch", "role", "round", "run", "variant")
"""What a layout may take from a path."""

_NAMES = {"patch": "patch_id", "run": "run_id"}
_FIELD = re.compile(r"\{([a-z_]+)\}")
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Layout:
    """A template of paths under a folder, such as `{phase}/{patch}/{round}/*.xml`."""

    template: str
    pattern: re.Pattern[str] = field(compare=False)

    def files(self, folder: Path) -> Iterator[tuple[Path, dict[str, str]]]:
        """The files under a folder that the template fits, sorted, with what their paths say."""
        for path in sorted(folder.glob(_FIELD.sub("*", self.template))):
            found = self.pattern.fullmatch(path.relative_to(folder).as_posix())
            if found and path.is_file():
                said = {name: value for name, value in found.groupdict().items() if value}
                yield path, {_NAMES.get(name, name): value for name, value in said.items()}


def layout(template: str) -> Layout:
    """A template, read. BadInput for a field that there is not, twice the same, or none."""
    named = _FIELD.findall(template)
    unknown = [name for name in named if name not in FIELDS]
    fields = " ".join(f"{{{name}}}" for name in FIELDS)
    if unknown:
        raise BadInput(f"--layout: there is no {{{unknown[0]}}}.", f"There are {fields}.")
    if not named or len(set(named)) < len(named):
        raise BadInput("--layout: every field may stand once, and one must.", f"They are {fields}.")
    if template.startswith("/") or ".." in template.split("/"):
        raise BadInput("--layout is a path below the folder that is given.")
    parts = re.split(r"(\{[a-z_]+\}|\*\*/|\*|\?)", template)
    made = "".join(_PIECES.get(part) or _piece(part) for part in parts)
    return Layout(template, re.compile(made))


_PIECES = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}


def _piece(part: str) -> str:
    named = _FIELD.fullmatch(part)
    return f"(?P<{named[1]}>[^/]+)" if named else re.escape(part)


def beside(path: Path) -> Mapping[str, Any]:
    """What the file `soakboard-run.json` beside a result file says of its run; empty without one.

    BadInput where it is no JSON object.
    """
    sidecar = path.with_name(SIDECAR)
    try:
        with sidecar.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except OSError:
        return {}
    try:
        said = json.loads(raw) if len(raw) <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BadInput(
            f"{sidecar}: this is no JSON object of at most 64 KiB.", "Mend or remove it."
        )
    return {name: value for name, value in said.items() if name not in ("kind", "tests")}
