"""What the logs show of a project: its canaries, their pinned tests and its inventory.

A proposal for soakboard.toml, for a person to read and correct.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from analysis.config import Canaries, Canary, Config, Policy, listed_ids, override
from analysis.errors import BadInput
from analysis.model import Role
from analysis.records import Batch, find_logs, open_source, read

_SHORTEST_EXPECT = 8


@dataclass(frozen=True)
class Proposal:
    """What the logs show.

    canaries: what is not known stays None. inventory: the test ids seen or pinned by a
    header, sorted. left_out: ids that no line of an inventory file can hold. notes: one
    sentence for each thing that a person has to decide.
    """

    canaries: Canaries = field(default_factory=Canaries)
    inventory: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Seen:
    """What was read so far. A run is its id, or its place where it has none."""

    roles: dict[object, str] = field(default_factory=dict)
    patches: dict[object, str] = field(default_factory=dict)
    failures: dict[object, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    executed: dict[object, set[str]] = field(default_factory=lambda: defaultdict(set))
    ids: set[str] = field(default_factory=set)
    config: Config = field(default_factory=Config)
    notes: list[str] = field(default_factory=list)


def propose(paths: Sequence[Path]) -> Proposal:
    """What the logs at `paths` (files or directories) show, all of them taken together.

    Raises BadInput for a path that holds no record, EnvironmentFault for one that may not
    be read.
    """
    seen = _Seen()
    for number, path in enumerate(log for given in paths for log in find_logs(given)):
        records = 0
        for batch in _batches(path):
            records += batch.rows
            _take_runs(seen, number, batch)
            _take_tests(seen, number, batch)
            _take_headers(seen, batch)
        if not records:
            raise BadInput(f"{path} holds no record.", "Give a log with one JSON object a line.")
    return _proposal(seen)


def _batches(path: Path) -> Iterator[Batch]:
    with open_source(path) as stream:
        yield from read(stream, final=True, now=datetime.now(UTC))


def _take_runs(seen: _Seen, source: int, batch: Batch) -> None:
    columns = ["run_id", "line", "role", "patch_id"]
    for row in batch.run_lines.select(columns).to_pylist():
        run = row["run_id"] or (source, row["line"])
        if row["role"]:
            seen.roles[run] = row["role"]
        if row["patch_id"]:
            seen.patches[run] = row["patch_id"]


def _take_tests(seen: _Seen, source: int, batch: Batch) -> None:
    columns = ["run_id", "line", "test_id", "failed", "message"]
    for row in batch.test_lines.select(columns).to_pylist():
        run, test = row["run_id"] or (source, row["line"]), row["test_id"]
        seen.ids.add(test)
        if row["failed"] is not None:
            seen.executed[run].add(test)
        if row["failed"]:
            seen.failures[run].setdefault(test, row["message"] or "")


def _take_headers(seen: _Seen, batch: Batch) -> None:
    for row in batch.experiment_lines.select(["canaries", "inventory"]).to_pylist():
        header = {"canaries": json.loads(row["canaries"] or "{}")}
        before = seen.config
        seen.config, complaints = override(before, header)
        seen.notes.extend(complaints)
        if before.canaries not in (Canaries(), seen.config.canaries):
            seen.notes.append("The experiments name different canaries; the last one is taken.")
        seen.ids.update(row["inventory"] or ())


def _proposal(seen: _Seen) -> Proposal:
    named = seen.config.canaries
    notes = list(seen.notes)
    red_patch = named.red.patch_id or _played(seen, Role.RED, notes)
    green_patch = named.green.patch_id or _played(seen, Role.GREEN, notes)
    red_runs = _runs(seen, Role.RED, red_patch)
    green_runs = _runs(seen, Role.GREEN, green_patch)
    pinned = named.red.test_id or _pinned(seen, red_runs, green_runs, notes)
    expect = named.red.expect or _common_message(seen, red_runs, pinned)
    ran = any(pinned in seen.executed[run] for run in green_runs)
    green_pinned = named.green.test_id or (pinned if ran else None)
    ids = sorted(seen.ids)
    held = [test for test in ids if listed_ids(test) == (test,)]
    return Proposal(
        canaries=Canaries(Canary(red_patch, pinned, expect), Canary(green_patch, green_pinned)),
        inventory=tuple(held),
        left_out=tuple(test for test in ids if test not in set(held)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _played(seen: _Seen, role: Role, notes: list[str]) -> str | None:
    """The patch that plays `role` in most runs; of equals the first by name."""
    runs = Counter(
        patch for run, patch in seen.patches.items() if seen.roles.get(run) == role
    ).most_common()
    if not runs:
        notes.append(f"No run says that it is the {role} canary; name its patch yourself.")
        return None
    if len(runs) > 1:
        names = ", ".join(_quoted(patch) for patch, _ in runs)
        notes.append(f"Several patches play {role}: {names}; the one with most runs is taken.")
    return min(runs, key=lambda pair: (-pair[1], pair[0]))[0]


def _runs(seen: _Seen, role: Role, patch: str | None) -> list[object]:
    runs = dict.fromkeys((*seen.roles, *seen.patches))
    return [
        run
        for run in runs
        if seen.executed[run] and (seen.roles.get(run) == role or seen.patches.get(run) == patch)
    ]


def _pinned(
    seen: _Seen, red: Sequence[object], green: Sequence[object], notes: list[str]
) -> str | None:
    """The test that failed in every red run; of several, the one that green never fails."""
    failing = [set(seen.failures[run]) for run in red]
    always = set.intersection(*failing) if failing else set()
    healthy = always - {test for run in green for test in seen.failures[run]}
    candidates = sorted(healthy or always)
    if len(candidates) == 1:
        return candidates[0]
    if red and not candidates:
        notes.append("No test failed in every run of the red canary; pin its test yourself.")
    if candidates:
        named = ", ".join(map(_quoted, candidates[:3]))
        notes.append(f"{len(candidates)} tests failed in every red run ({named}); pin one of them.")
    return None


def _common_message(seen: _Seen, red: Sequence[object], pinned: str | None) -> str | None:
    """What the first lines of the pinned test's messages begin with, if that says enough."""
    messages = [seen.failures[run][pinned] for run in red if pinned in seen.failures[run]]
    firsts = [(message.strip().splitlines() or [""])[0].strip() for message in messages]
    # commonprefix compares characters, which is what is wanted of texts that are no paths.
    common = os.path.commonprefix(firsts).strip() if firsts else ""  # noqa: RUF071
    return common if len(common) >= _SHORTEST_EXPECT or (common in firsts and common) else None


def config_text(proposal: Proposal, inventory_file: str | None) -> str:
    """soakboard.toml for a proposal: what was found, and the defaults as comments.

    inventory_file: the name to refer to, None to leave the inventory open.
    """
    red, green = proposal.canaries.red, proposal.canaries.green
    parts = [
        "# What soakboard knows of this project. A line that is commented out shows the",
        "# default or an example. An experiment's header line overrides what stands here.",
        *(f"# To decide: {_comment(note)}" for note in proposal.notes),
        "",
        "[canaries.red]",
        "# A patch with a known violated property: it must fail on every run, in its pinned",
        "# test and with this message. A red canary that passes means broken isolation.",
        _entry("patch_id", red.patch_id, '"red"'),
        _entry("test_id", red.test_id, '"tests/test_contract.py::test_property"'),
        _entry("expect", red.expect, '"property violated"'),
        "",
        "[canaries.green]",
        "# The base without any patch, or a harmless one: it must pass on every run.",
        _entry("patch_id", green.patch_id, '"green"'),
        _entry("test_id", green.test_id, '"tests/test_contract.py::test_property"'),
        "",
        "[inventory]",
        "# One test id a line: a run in which one of them is absent proves nothing.",
        *(f"# No line can hold the id {_quoted(test)}." for test in proposal.left_out),
        _entry("file", inventory_file, '"test_inventory.txt"'),
        "",
        "[policy]",
        *(f"# {words}\n# {key} = {value}" for key, value, words in _policy_lines()),
        "",
        "[oracle]",
        '# Who may approve a changed golden file.\n# reviewers = ["lead@example.org"]',
        "# Authors whose approval does not count.\n# bots = []",
        '# Which files are golden.\n# globs = ["*.golden", "**/__snapshots__/**"]',
    ]
    return "\n".join(parts) + "\n"


def inventory_text(proposal: Proposal) -> str:
    """The inventory file for a proposal: a comment, then one test id a line."""
    head = "# The tests that must run. soakboard.toml refers to this file; commit both."
    return "\n".join([head, *proposal.inventory]) + "\n"


_POLICY_WORDS: Mapping[str, str] = {
    "alpha": "Error level of every comparison, one-sided.",
    "min_failures": "With fewer failures a test that fails alone is not classified.",
    "require_stress_verdict": "No quarantine without a stress verdict; false is refused.",
    "require_proof": "Whether a pass that nothing proves is no verdict.",
    "stress_runs": "Runs of the stress arms before a test that fails alone is called a flake.",
    "min_tightened": "Of these, runs with timing tightened.",
    "min_loaded": "Of these, runs under CPU load.",
    "rate_alone": "A stable test has run often enough alone to rule out this failure rate.",
    "rate_company": "The same for its runs in company.",
    "quarantine_hours": "How long a quarantine entry holds unless it says otherwise, in hours.",
    "quarantine_max_days": "How long it may hold at most, in days.",
    "on_lapse": 'A lapsed entry still excuses ("hold") or no longer does ("block").',
}


def _policy_lines() -> Iterator[tuple[str, str, str]]:
    defaults = Policy()
    for key, words in _POLICY_WORDS.items():
        yield key, json.dumps(getattr(defaults, key)), words


def _entry(key: str, value: str | None, example: str) -> str:
    return f"# {key} = {example}" if value is None else f"{key} = {_quoted(value)}"


def _quoted(text: str) -> str:
    """`text` as a TOML basic string of printable characters."""
    escaped = (_escape(character) for character in json.dumps(text, ensure_ascii=False))
    return "".join(escaped)


def _comment(text: str) -> str:
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
