"""What the sample data show when the commands of its README run on them."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.model import UnitClass

Tui = Callable[..., "subprocess.CompletedProcess[str]"]
Unit = tuple[str, str, str]

TOP = Path(__file__).parents[2]
SAMPLE = TOP / "sample_data"
LABELS: list[dict[str, Any]] = json.loads(
    (TOP / "tests/data/sample_labels.json").read_text("utf-8")
)

SPOILERS = (
    *("race", "lock", "thread", "leak", "flak", "random", "seed", "clock", "second", "shared"),
    *("isolat", "exit5", "peer", "port", "stable", "defect", "harness", "bug", "always", "broken"),
)

BROKEN = SAMPLE / "broken" / "soak.jsonl"
REJECTS = {
    4: "truncated",
    6: "two-objects-on-a-line",
    9: "duplicate-key",
    11: "not-json",
    12: "not-utf8",
    14: "nul-byte",
    15: "missing-field:test_id",
    17: "bad-value:outcome",
    18: "bad-type:round",
    19: "interleaved",
    20: "not-an-object",
    24: "truncated",
}
BLANK = {7, 22}
CRLF = 8


def unit_of(item: dict[str, Any]) -> Unit:
    return item["experiment"], item["patch_id"], item["test_id"]


def logs(folder: str) -> list[Path]:
    return sorted(path for path in (SAMPLE / folder).iterdir() if ".jsonl" in path.name)


def records(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.splitlines()]


# --- soak --------------------------------------------------------------------------------


def test_the_soaks_show_each_of_the_eight_classes_where_it_was_planted(run_tui: Tui) -> None:
    result = run_tui("attribute", "--json", SAMPLE / "soak")
    assert result.returncode == 0, result.stderr
    units = {unit_of(unit): unit for unit in json.loads(result.stdout)["units"]}

    planted = {unit_of(label): label["class"] for label in LABELS}
    assert {unit: units[unit]["class"] for unit in planted} == planted
    assert set(planted.values()) == {one.value for one in UnitClass}

    flakes = {unit for unit, found in units.items() if found["class"] == UnitClass.FLAKE}
    assert flakes == {unit for unit, name in planted.items() if name == UnitClass.FLAKE}
    assert not flakes & {unit_of(label) for label in LABELS if label["origin"] != "test"}

    for label in LABELS:
        found = units[unit_of(label)]
        if "locus" in label:
            assert found["locus"] == label["locus"]
        if "resource" in label:
            kind, name = label["resource"]
            assert found["address"]["kind"] == kind
            assert found["address"]["id"].endswith(name)


@pytest.mark.parametrize(("log", "exit_code"), [("gateway", 1), ("gateway-rerun", 0)])
def test_one_suite_is_judged_once_sharing_a_resource_and_once_without(
    run_tui: Tui, log: str, exit_code: int
) -> None:
    path = SAMPLE / "soak" / f"{log}.jsonl"
    result = run_tui("check", "--json", "--allow", "insufficient", path)
    assert result.returncode == exit_code, result.stderr
    (experiment,) = json.loads(result.stdout)["experiments"]
    assert experiment["experiment"] == log
    assert bool(experiment["flips"]) == bool(exit_code)


def test_no_name_in_the_logs_gives_its_defect_away() -> None:
    names: set[str] = set()
    for path in [*logs("soak"), *logs("gate")]:
        names.add(path.name)
        for line in records(path):
            names |= {
                str(line[key])
                for key in ("experiment", "run_id", "patch_id", "patch", "test_id", "where")
                if key in line
            }
            names |= {*line.get("before", ()), *line.get("inventory", ())}
    telling = {name for name in names for word in SPOILERS if word in name.lower()}
    assert len(names) > 100
    assert telling == set()


def test_the_soaks_are_small_enough_to_read() -> None:
    sizes = {path.name: len("".join(map(json.dumps, records(path)))) for path in logs("soak")}
    assert len(sizes) == 8
    assert sum(sizes.values()) < 1_500_000


# --- gate --------------------------------------------------------------------------------


def test_the_gate_log_is_three_runs_of_one_commit_set() -> None:
    (log,) = logs("gate")
    lines = records(log)
    commits = {(line["patch"], line["patch_digest"], line["base_sha"]) for line in lines}
    assert Counter(line["patch"] for line in lines) == {patch: 3 for patch, _, _ in commits}
    assert Counter(line["attempt"] for line in lines) == {1: 3, 2: 3, 3: 3}
    assert len(commits) == 3
    assert len({base for _, _, base in commits}) == 1


def test_check_of_the_gate_log_names_the_patches_that_flipped(run_tui: Tui) -> None:
    result = run_tui("check", SAMPLE / "gate")
    assert result.returncode == 1
    flips = [line for line in result.stdout.splitlines() if line.startswith("flip: ")]
    assert [line.split()[1] for line in flips] == ["patch-435", "patch-438"]
    assert all("gate.jsonl:" in line for line in flips)


def test_check_of_the_gate_log_counts_three_runs_a_patch(run_tui: Tui) -> None:
    result = run_tui("check", "--json", SAMPLE / "gate")
    (experiment,) = json.loads(result.stdout)["experiments"]
    verdicts = {patch["patch_id"]: patch["verdicts"] for patch in experiment["patches"]}
    assert verdicts == {
        "patch-433": ["pass", "pass", "pass"],
        "patch-435": ["pass", "fail", "pass"],
        "patch-438": ["fail", "fail", "pass"],
    }
    unique = {patch["patch_id"] for patch in experiment["patches"] if patch["unique"]}
    assert unique == {"patch-433"}
    assert {flip["patch_id"] for flip in experiment["flips"]} == {"patch-435", "patch-438"}


# --- broken ------------------------------------------------------------------------------


def test_rejects_of_the_broken_log_name_line_byte_and_reason(run_tui: Tui) -> None:
    result = run_tui("rejects", "--json", SAMPLE / "broken")
    assert result.returncode == 0
    found = json.loads(result.stdout)["rejects"]
    assert {reject["line"]: reject["reason"] for reject in found} == REJECTS
    assert len(found) == len(REJECTS)

    lines = BROKEN.read_bytes().split(b"\n")
    starts = {number: sum(len(line) + 1 for line in lines[: number - 1]) for number in REJECTS}
    assert {reject["line"]: reject["offset"] for reject in found} == starts
    assert {Path(reject["path"]).name for reject in found} == {BROKEN.name}


def test_the_broken_log_holds_blank_lines_a_carriage_return_and_no_last_newline() -> None:
    lines = BROKEN.read_bytes().split(b"\n")
    assert {number for number, line in enumerate(lines, 1) if not line.strip()} == BLANK
    assert [number for number, line in enumerate(lines, 1) if line.endswith(b"\r")] == [CRLF]
    assert len(lines) == max(REJECTS)
    assert lines[-1]


@pytest.mark.parametrize(("options", "pending"), [((), 1), (("--final",), 0)])
def test_every_line_of_the_broken_log_is_accounted_for(
    run_tui: Tui, tmp_path: Path, options: tuple[str, ...], pending: int
) -> None:
    result = run_tui(
        "ingest", "--json", *options, "--db", tmp_path / "index.duckdb", SAMPLE / "broken"
    )
    assert result.returncode == 0, result.stderr
    (source,) = json.loads(result.stdout)["sources"]
    assert source["lines"] == 24
    assert source["blank"] == len(BLANK)
    assert source["pending"] == pending
    assert source["rejects"] == len(REJECTS) - pending
    assert source["lines"] == (
        source["rows"] + source["rejects"] + source["blank"] + source["pending"]
    )


def test_a_finished_log_with_a_torn_end_is_not_trusted(run_tui: Tui) -> None:
    result = run_tui("check", "--json", SAMPLE / "broken")
    assert result.returncode == 1
    (experiment,) = json.loads(result.stdout)["experiments"]
    assert experiment["class"] == UnitClass.INVALID
    assert experiment["rejects"] == len(REJECTS)
