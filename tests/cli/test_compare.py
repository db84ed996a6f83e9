"""`tui compare` as people call it: real processes, real logs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from logs import Log, fails, passes

Tui = Callable[..., "CompletedProcess[str]"]

SAMPLES = Path(__file__).parents[2] / "sample_data" / "soak"
GATEWAY = ("compare", "gateway", "gateway-rerun")


def test_the_answer_comes_first_and_the_exit_code_is_yes(run_tui: Tui) -> None:
    result = run_tui(*GATEWAY, SAMPLES)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "Fixed: 1 test failed in either experiment, 1 fixed."
    assert "patch-417 is compared with patch-426" in lines[1]
    (row,) = (line for line in lines if line.startswith("fixed  "))
    for part in ("harness bug (1a)", "stable (S)", "12/36 → 0/32", "0/12 → 0/75"):
        assert part in row
    assert "  harness bug → stable: 1" in lines


def test_worse_is_no_failure_of_the_command(run_tui: Tui) -> None:
    result = run_tui("compare", "gateway-rerun", "gateway", SAMPLES)
    assert result.returncode == 0
    assert result.stdout.startswith("Worse: ")


def test_json_has_a_schema_and_the_numbers_of_attribute(run_tui: Tui) -> None:
    body = json.loads(run_tui(*GATEWAY, SAMPLES, "--json").stdout)
    assert body["schema"] == "soakboard.compare/1"
    assert [body[side]["experiment"] for side in ("before", "after")] == [
        "gateway",
        "gateway-rerun",
    ]
    assert body["before"]["newest"].endswith("+00:00")
    assert body["changes"] == {"fixed": 1}
    (test,) = body["tests"]
    told = json.loads(run_tui("attribute", SAMPLES, "--all", "--json").stdout)["units"]
    for side in ("before", "after"):
        (unit,) = (
            unit
            for unit in told
            if unit["experiment"] == body[side]["experiment"]
            and unit["test_id"] == test[side]["test_id"]
        )
        assert (unit["class"], unit["row"]) == (test[side]["class"], test[side]["row"])
        for group in ("company", "alone"):
            assert [unit["bounds"][group][key] for key in "kn"] == test[side][group]


def test_without_paths_the_index_is_asked(run_tui: Tui, tmp_path: Path) -> None:
    index = tmp_path / "index.duckdb"
    for name in ("gateway", "gateway-rerun"):
        assert run_tui("ingest", SAMPLES / f"{name}.jsonl", "--db", index).returncode == 0
    there = run_tui(*GATEWAY, "--db", index)
    assert there.returncode == 0
    assert there.stdout == run_tui(*GATEWAY, SAMPLES).stdout


def test_without_an_index_it_says_what_to_do(run_tui: Tui, tmp_path: Path) -> None:
    result = run_tui(*GATEWAY, "--db", tmp_path / "none")
    assert result.returncode == 2
    assert "tui ingest" in result.stderr


@pytest.mark.parametrize("names", [("gatway", "gateway-rerun"), ("gateway", "gatway")])
def test_an_unknown_name_is_one_line_with_those_near_it(
    run_tui: Tui, names: tuple[str, str]
) -> None:
    result = run_tui("compare", *names, SAMPLES)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "'gatway'" in result.stderr
    assert "'gateway'" in result.stderr


def test_one_name_is_bad_usage(run_tui: Tui) -> None:
    result = run_tui("compare", "gateway")
    assert result.returncode == 2
    assert "AFTER" in result.stderr


def test_the_alpha_of_the_policy_decides(run_tui: Tui, tmp_path: Path) -> None:
    (tmp_path / "soakboard.toml").write_text("[policy]\nalpha = 0.0001\n", "utf-8")
    body = json.loads(run_tui(*GATEWAY, SAMPLES, "--json").stdout)
    assert body["alpha"] == 0.0001
    assert "fixed" not in body["changes"]


def test_names_from_hell_steer_no_terminal(run_tui: Tui, tmp_path: Path) -> None:
    names = ["t.py::a\x1b[2J", "t.py::b\x1b]52;c;eA==\x07", "t.py::\u202egnp", "t.py::c\x00[/]"]
    paths = []
    for at, (name, outcome) in enumerate((("\x1b[31mone", fails), ("two\u202e", passes))):
        log = Log(name, runs=1_000 * at, slot=1_000 * at).header()
        for _ in range(40):
            log = log.run("subject", "serial", [outcome(test) for test in [*names, f"n{at}"]])
        path = tmp_path / f"{at}.jsonl"
        path.write_text(log.text, "utf-8")
        paths.append(path)
    text = run_tui("compare", "\x1b[31mone", "two\u202e", *paths)
    machine = run_tui("compare", "\x1b[31mone", "two\u202e", *paths, "--json")
    wrong = run_tui("compare", "one", "two", *paths)
    assert (text.returncode, machine.returncode, wrong.returncode) == (0, 0, 2)
    for stream in (text.stdout, text.stderr, machine.stdout, wrong.stderr):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", stream)
    tests = json.loads(machine.stdout)["tests"]
    assert {test["test_id"] for test in tests} == {*names, "n0"}
