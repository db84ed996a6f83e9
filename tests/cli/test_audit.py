"""`tui audit`: every pass that proves nothing is found, by name, with its record."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.evidence.manifest import write_evidence

Tui = Callable[..., "subprocess.CompletedProcess[str]"]


def record(number: int, **fields: Any) -> dict[str, Any]:
    sound = {"run_id": f"r{number}", "patch_id": f"P{number}", "verdict": "pass"}
    return {**sound, "collected": 3, "passed": 3, "finished": 1_767_225_600 + number, **fields}


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def audited(result: subprocess.CompletedProcess[str], code: int) -> dict[str, Any]:
    assert result.returncode == code, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["schema"] == "soakboard.audit/1"
    return found


def test_a_log_of_sound_verdicts_is_answered_with_yes(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", record(1), record(2, verdict="fail", failed=1, passed=2))
    found = audited(run_tui("audit", log, "--json"), 0)
    assert found["findings"] == found["overturned"] == []
    assert found["totals"] == {
        "runs": 2, "passes": 1, "overturned": 0, "void": 0, "unproven": 0, "rules": {},
    }  # fmt: skip
    assert (
        run_tui("audit", log).stdout == "0 of 1 logged passes prove nothing (2 runs, 0 unproven)\n"
    )


def test_a_finding_names_rule_record_and_both_verdicts(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", record(1), record(2, collected=0, passed=0, merged=True))
    found = audited(run_tui("audit", log, "--json"), 1)
    first = next(one for one in found["findings"] if one["rule"] == "no-tests-collected")
    assert first == {
        "rule": "no-tests-collected",
        "family": "counts",
        "experiment": tmp_path.name,
        "run_id": "r2",
        "patch_id": "P2",
        "path": str(log),
        "line": 2,
        "sentence": "says pass, but collected 0 tests",
        "logged": "pass",
        "verdict": "none",
        "standing": "void",
    }
    (passed,) = found["overturned"]
    assert (passed["run_id"], passed["merged"]) == ("r2", True)
    text = run_tui("audit", log)
    assert text.returncode == 1
    assert "no-tests-collected" in text.stdout
    assert f"{log}:2" in text.stdout


def test_one_rule_is_asked_for_by_name(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", record(1, passed=2, failed=1), record(2, exit_code=1))
    found = audited(run_tui("audit", log, "--json", "--rule", "counts-contradict"), 1)
    assert [one["run_id"] for one in found["overturned"]] == ["r2", "r1"]
    assert {one["rule"] for one in found["findings"]} == {"counts-contradict"}
    assert audited(run_tui("audit", log, "--json", "--rule", "suite-cut"), 0)["findings"] == []
    refused = run_tui("audit", log, "--rule", "no-such-rule")
    assert refused.returncode == 2
    assert "suite-cut" in refused.stderr


def test_the_recall_lists_overturned_passes_of_all_experiments_newest_first(
    run_tui: Tui, tmp_path: Path
) -> None:
    write(tmp_path / "a" / "a.jsonl", record(1, collected=0, passed=0))
    write(tmp_path / "b" / "b.jsonl", record(2, exit_code=1, merged=False))
    assert run_tui("ingest", "--db", "x.duckdb", tmp_path / "a", tmp_path / "b").returncode == 0
    found = audited(run_tui("audit", "--db", "x.duckdb", "--recall", "--json"), 1)
    assert [(one["run_id"], one["merged"]) for one in found["overturned"]] == [
        ("r2", False),
        ("r1", None),
    ]
    assert "findings" not in found


def test_a_pinned_test_that_did_not_run_is_found_with_the_inventory_given(
    run_tui: Tui, tmp_path: Path
) -> None:
    start = {"kind": "run_start", "run_id": "r1", "patch_id": "A"}
    test = {"kind": "test", "run_id": "r1", "test_id": "t.py::a", "outcome": "passed"}
    end = {"kind": "run_end", "run_id": "r1", "verdict": "pass", "collected": 1, "passed": 1}
    log = write(tmp_path / "logs" / "a.jsonl", start, test, end)
    (tmp_path / "pins.txt").write_text("t.py::a\nt.py::b\n", "utf-8")
    assert run_tui("audit", log).returncode == 0
    found = audited(run_tui("audit", log, "--json", "--inventory", tmp_path / "pins.txt"), 1)
    assert [one["rule"] for one in found["findings"]] == ["inventory-missing"]
    assert run_tui("audit", log, "--inventory", tmp_path / "none.txt").returncode == 2


def test_files_are_looked_for_beside_the_log_or_in_the_root(run_tui: Tui, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    made = write_evidence(b"transcript", folder / "a.txt", "P1")
    block = {"path": made.path.name, "body": "a.txt", "bytes": 10, "sha256": made.sha256}
    log = write(tmp_path / "logs" / "a.jsonl", record(1, proof={"manifest": block}))
    missing = audited(run_tui("audit", log, "--json"), 1)
    assert [one["rule"] for one in missing["findings"]] == ["manifest-missing"]
    assert audited(run_tui("audit", log, "--json", "--root", folder), 0)["findings"] == []
    (folder / "a.txt").write_bytes(b"transcripT")
    found = audited(run_tui("audit", log, "--json", "--root", folder), 1)
    assert [one["rule"] for one in found["findings"]] == ["evidence-checksum-mismatch"]


def test_what_files_say_does_not_stay_in_the_index(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", record(1, proof={"log": {"path": "x", "sha256": "0"}}))
    assert run_tui("ingest", "--db", "x.duckdb", log).returncode == 0
    for _ in range(2):
        assert len(audited(run_tui("audit", "--db", "x.duckdb", "--json"), 1)["findings"]) == 1
    (tmp_path / "x").write_text('{"event": "start"}\n{"event": "done"}\n', "utf-8")
    found = audited(run_tui("audit", "--db", "x.duckdb", "--json"), 1)
    assert [one["rule"] for one in found["findings"]] == ["log-digest-mismatch"]


def test_bodies_and_receipts_in_files_are_asked_all_rules(run_tui: Tui, tmp_path: Path) -> None:
    body = json.dumps({"verdict": "pass", "diff_sha256": "d" * 64, "policy_version": "1"})
    response = {
        "status": 200, "content_type": "application/json", "bytes": len(body),
        "declared_bytes": len(body), "sentinel": True, "finish_reason": "stop", "path": "body",
        "declared_sha256": hashlib.sha256(body.encode()).hexdigest(),
    }  # fmt: skip
    own = {"patch_digest": "d" * 64, "prompt_sha256": "e" * 64, "model_id": "m"}
    receipt = {"diff_sha256": "d" * 64, "prompt_sha256": "e" * 64, "model_id": "m",
               "workspace_generation": "g", "verdict": "pass", "reasons": ["x"]}  # fmt: skip
    proof = {"response": {**response, "sha256": response["declared_sha256"]},
             "receipt": {"path": "receipt"}}  # fmt: skip
    log = write(tmp_path / "a.jsonl", record(1, proof=proof, workspace_generation="g", **own))
    cases: list[tuple[str, dict[str, Any] | None, set[str]]] = [
        (body, receipt, set()),
        (body[:-1], receipt, {"response-bad-shape", "response-truncated",
                              "response-digest-mismatch"}),
        (body, {**receipt, "model_id": "n"}, {"receipt-mismatch:model_id"}),
        (body, None, {"receipt-missing"}),
    ]  # fmt: skip
    for text, said, rules in cases:
        (tmp_path / "body").write_text(text, "utf-8")
        (tmp_path / "receipt").unlink(missing_ok=True)
        if said is not None:
            (tmp_path / "receipt").write_text(json.dumps(said), "utf-8")
        found = audited(run_tui("audit", log, "--json"), int(bool(rules)))
        assert {one["rule"] for one in found["findings"]} == rules


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "link", "pipe", "/dev/zero", "a\0b", "x" * 5000, "."]
)
def test_nothing_in_a_log_makes_the_audit_read_elsewhere_or_wait(
    run_tui: Tui, tmp_path: Path, path: str
) -> None:
    folder = tmp_path / "logs"
    blocks = {"log": {"path": path, "sha256": "0" * 64}, "receipt": {"path": path},
              "manifest": {"path": path, "body": path, "bytes": 1, "sha256": "0"},
              "response": {"path": path}}  # fmt: skip
    log = write(folder / "a.jsonl", record(1, proof=blocks))
    (tmp_path / "secret").write_text('{"event": "start"}\n{"event": "done"}\n', "utf-8")
    (folder / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    found = audited(run_tui("audit", log, "--json"), 1)
    rules = {one["rule"] for one in found["findings"]}
    assert {"log-missing", "receipt-missing", "manifest-missing"} <= rules
    assert not {"log-incomplete", "log-digest-mismatch", "receipt-unreadable"} & rules


# --- suites that really ran ------------------------------------------------------------------


def gated(folder: Path, *selection: str) -> dict[str, Any]:
    """What a fooled gate writes of a real suite: it maps whatever happened to pass."""
    report = folder / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         f"--junitxml={report}", *selection],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    suite = ElementTree.parse(report).getroot()[0]
    cases = [
        {"test_id": f"test_many.py::{one.get('name')}", "outcome": "passed"}
        for one in suite.iter("testcase")
    ]
    return {
        "run_id": "r1",
        "patch_id": "A",
        "verdict": "pass",
        "exit_code": done.returncode,
        "collected": int(suite.get("tests", "0")),
        "passed": len(cases),
        "tests": cases,
    }


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "test_many.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.parametrize('n', range(412))\ndef test_one(n):\n    assert n >= 0\n",
        "utf-8",
    )
    pins = "".join(f"test_many.py::test_one[{n}]\n" for n in range(412))
    (folder / "pins.txt").write_text(pins, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("selection", "rule", "sentence"),
    [
        (("-k", "nothing_has_this_name"), "no-tests-collected", "collected 0 tests"),
        (
            ("-k", "tset_one"),
            "inventory-missing",
            "412 pinned tests are missing, e.g. test_many.py",
        ),
        ((), None, ""),
    ],
)
def test_a_suite_that_really_ran_is_worth_what_it_ran(
    run_tui: Tui, suite: Path, tmp_path: Path, selection: tuple[str, ...], rule: str | None,
    sentence: str,
) -> None:  # fmt: skip
    log = write(tmp_path / "logs" / "gate.jsonl", gated(suite, *selection))
    pinned = ("--inventory", suite / "pins.txt")
    first = run_tui("audit", log, "--json", *pinned)
    # Replayed, the same.
    assert run_tui("audit", log, "--json", *pinned).stdout == first.stdout
    found = audited(first, int(rule is not None))
    if rule is None:
        assert found["findings"] == []
        assert found["totals"]["unproven"] == found["totals"]["void"] == 0
        return
    assert len(found["overturned"]) == 1
    said = [one["sentence"] for one in found["findings"] if one["rule"] == rule]
    assert any(sentence in one for one in said), found["findings"]
