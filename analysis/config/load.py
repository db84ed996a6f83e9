"""soakboard.toml, or [tool.soakboard] in pyproject.toml: canaries, inventory, policy, oracle.

What is written wrong is refused with file, key, what was found and what is allowed; an
experiment's header line overrides the file, and what is wrong there is named and left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from analysis.config.files import read_text
from analysis.config.inventory import read_inventory
from analysis.config.rules import (
    TABLE,
    TEXT,
    TEXTS,
    Reader,
    Rule,
    count,
    read_flag,
    read_pins,
    read_true,
    share,
    word,
)
from analysis.errors import BadInput

FILE_NAME = "soakboard.toml"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True)
class Canary:
    """A patch whose verdict is known, its pinned test, and the message it fails with."""

    patch_id: str | None = None
    test_id: str | None = None
    expect: str | None = None


@dataclass(frozen=True)
class Canaries:
    """Red must fail on every run, green must pass on every run."""

    red: Canary = Canary()
    green: Canary = Canary()


@dataclass(frozen=True)
class Policy:
    """The numbers the decision table works with.

    alpha: one-sided error level of every comparison. min_failures: failures below which a
    test that fails alone is not classified. stress_runs, min_tightened, min_loaded: runs
    that the stress arms need. rate_alone, rate_company: failure rates (0 to 1).
    quarantine_hours, quarantine_max_days: the life of an entry. on_lapse: hold or block.
    """

    alpha: float = 0.01
    min_failures: int = 3
    require_stress_verdict: bool = True
    require_proof: bool = False
    stress_runs: int = 200
    min_tightened: int = 100
    min_loaded: int = 40
    rate_alone: float = 0.05
    rate_company: float = 0.10
    quarantine_hours: int = 24
    quarantine_max_days: int = 30
    on_lapse: str = "hold"


@dataclass(frozen=True)
class Oracle:
    """Who may approve a changed golden file, and which files are golden."""

    reviewers: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    globs: tuple[str, ...] = ("*.golden", "**/__snapshots__/**")


@dataclass(frozen=True)
class Config:
    """What holds for a project.

    path: the file it was read from, None for the defaults. inventory: the pinned test ids
    in the order of their file, None where nothing is pinned. prompt_versions: those whose cached
    answers may be used; () for any.
    """

    path: Path | None = None
    canaries: Canaries = Canaries()
    inventory: tuple[str, ...] | None = None
    inventory_file: Path | None = None
    policy: Policy = field(default_factory=Policy)
    oracle: Oracle = field(default_factory=Oracle)
    prompt_versions: tuple[str, ...] = ()


def load_config(start: Path) -> Config:
    """The configuration of the nearest file upward from the directory `start`.

    In one directory soakboard.toml goes before pyproject.toml; a pyproject.toml without
    [tool.soakboard] is passed over. Without any file: the defaults. Raises BadInput for
    what is written wrong, EnvironmentFault for what may not be read.
    """
    for folder in _upward(start):
        path = configured_in(folder)
        if path is not None:
            return _config(path, _own_table(path))
    return Config()


def configured_in(folder: Path) -> Path | None:
    """The file of this very directory that holds the configuration, if one does."""
    own, shared = folder / FILE_NAME, folder / PYPROJECT
    if own.is_file():
        return own
    return shared if shared.is_file() and _own_table(shared) is not None else None


def override(config: Config, header: Mapping[str, object]) -> tuple[Config, tuple[str, ...]]:
    """`config` with what an experiment's header line says of canaries, inventory and policy.

    What the header leaves open stays as configured. Keys that are unknown, and values of a
    wrong type or out of range, change nothing; each is named by one sentence.
    """
    complaints: list[str] = []
    reader = Reader("experiment header", "", complaints.append)
    present = {key: value for key, value in header.items() if key in _HEADER}
    known = reader.values(_without_missing(present), _HEADER, "")
    inventory = known.get("inventory", config.inventory)
    changed = replace(
        config,
        canaries=_canaries(reader, known.get("canaries", {}), config.canaries),
        policy=_policy(reader, known.get("policy", {}), config.policy),
        inventory=inventory,
        inventory_file=config.inventory_file if inventory is config.inventory else None,
    )
    return changed, tuple(complaints)


def differences(before: Config, after: Config) -> tuple[str, ...]:
    """The keys of canaries, inventory and policy in which two configurations differ."""
    pairs: list[tuple[str, Any, Any]] = [
        ("canaries.red", before.canaries.red, after.canaries.red),
        ("canaries.green", before.canaries.green, after.canaries.green),
        ("policy", before.policy, after.policy),
    ]
    keys = [
        f"{where}.{one.name}"
        for where, old, new in pairs
        for one in fields(old)
        if getattr(old, one.name) != getattr(new, one.name)
    ]
    return (*keys, *(("inventory",) if before.inventory != after.inventory else ()))


def index_path(start: Path) -> Path:
    """Where the index of the project around the directory `start` lives.

    `.soakboard/index.duckdb` beside the nearest soakboard.toml, pyproject.toml or .git
    upward, else beside `start`. Neither folder nor file need exist.
    """
    marks = (FILE_NAME, PYPROJECT, ".git")
    homes = (folder for folder in _upward(start) if any((folder / mark).exists() for mark in marks))
    return next(homes, start.absolute()) / ".soakboard" / "index.duckdb"


def _upward(start: Path) -> tuple[Path, ...]:
    here = start.absolute()
    return (here, *here.parents)


def _without_missing(value: object) -> object:
    # In a log line null and "" count as missing.
    if not isinstance(value, Mapping):
        return value
    return {key: _without_missing(one) for key, one in value.items() if one not in (None, "")}


def _own_table(path: Path) -> object | None:
    try:
        document = tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}.") from error
    if path.name != PYPROJECT:
        return document
    tool = document.get("tool")
    return tool.get("soakboard") if isinstance(tool, dict) else None


def _config(path: Path, table: object) -> Config:
    def refuse(sentence: str) -> None:
        raise BadInput(sentence)

    prefix = "" if path.name != PYPROJECT else "tool.soakboard."
    reader = Reader(str(path), prefix, refuse)
    sections = reader.values(table, _SECTIONS, "")
    file = reader.values(sections.get("inventory", {}), _INVENTORY, "inventory").get("file")
    listed = None if file is None else path.parent / file
    oracle = reader.values(sections.get("oracle", {}), _ORACLE, "oracle")
    evidence = reader.values(sections.get("evidence", {}), _EVIDENCE, "evidence")
    return Config(
        path=path,
        canaries=_canaries(reader, sections.get("canaries", {}), Canaries()),
        inventory=None if listed is None else read_inventory(listed, path),
        inventory_file=listed,
        policy=_policy(reader, sections.get("policy", {}), Policy()),
        oracle=replace(Oracle(), **oracle),
        prompt_versions=evidence.get("prompt_versions", ()),
    )


def _canaries(reader: Reader, raw: object, base: Canaries) -> Canaries:
    parts = reader.values(raw, {"red": TABLE, "green": TABLE}, "canaries")
    red = reader.values(parts.get("red", {}), _CANARY, "canaries.red")
    green = reader.values(parts.get("green", {}), _CANARY, "canaries.green")
    return Canaries(replace(base.red, **red), replace(base.green, **green))


def _policy(reader: Reader, raw: object, base: Policy) -> Policy:
    return replace(base, **reader.values(raw, _POLICY, "policy"))


_SECTIONS = dict.fromkeys(("canaries", "inventory", "policy", "oracle", "evidence"), TABLE)
_HEADER = {
    "canaries": TABLE,
    "inventory": Rule("a list of at least one test id", read_pins),
    "policy": TABLE,
}
_INVENTORY = {"file": TEXT}
_CANARY = dict.fromkeys(("patch_id", "test_id", "expect"), TEXT)
_EVIDENCE = {"prompt_versions": TEXTS}
_ORACLE = dict.fromkeys(("reviewers", "bots", "globs"), TEXTS)
_POLICY = {
    "alpha": share(below=0.5),
    "min_failures": count(most=1_000_000),
    "require_stress_verdict": Rule("true: the list exists for it", read_true),
    "require_proof": Rule("true or false", read_flag),
    "stress_runs": count(most=1_000_000),
    "min_tightened": count(most=1_000_000),
    "min_loaded": count(most=1_000_000),
    "rate_alone": share(below=1),
    "rate_company": share(below=1),
    "quarantine_hours": count(most=24 * 365),
    "quarantine_max_days": count(most=365),
    "on_lapse": word("hold", "block"),
}
