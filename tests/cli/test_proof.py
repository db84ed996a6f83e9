"""`tui proof`: a gate refuses beforehand, with one line and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.evidence.keys import arguments_hash, completion_key, lease_key

Tui = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def says(run_tui: Tui) -> Callable[..., None]:
    """Runs a verb: its exit code, and what stands in its one line."""

    def check(code: int, words: str, *arguments: object, **options: Any) -> None:
        done = run_tui("proof", *arguments, **options)
        assert done.returncode == code, (done.stdout, done.stderr)
        shown, other = (done.stdout, done.stderr) if code < 2 else (done.stderr, done.stdout)
        assert len(shown.splitlines()) == 1
        assert other == ""
        assert words in shown

    return check


def test_an_envelope_is_sealed_and_opened_or_refused(says: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"verdict": "pass"}')
    says(0, "sealed", "seal", "a", "a.mc1")
    says(0, "19 bytes", "open", "a.mc1", "b")
    assert (tmp_path / "b").read_bytes() == b'{"verdict": "pass"}'
    (tmp_path / "cut").write_bytes((tmp_path / "a.mc1").read_bytes()[:-1])
    says(1, "response-truncated", "open", "cut", "c")
    assert not (tmp_path / "c").exists()
    says(2, "none is no file", "open", "none")
    says(3, "cannot be written", "seal", "a", "no/a.mc1")


def test_a_manifest_is_written_and_verified(says: Any, tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"transcript")
    says(0, "written", "manifest", "a.txt", "--write", "body", "--patch", "A")
    says(0, "holds", "manifest", "a.txt.manifest.json")
    (tmp_path / "a.txt").write_bytes(b"transcrip")
    says(1, "evidence-short, evidence-checksum-mismatch", "manifest", "a.txt.manifest.json")
    says(1, "manifest-missing", "manifest", "none")
    (tmp_path / "body").write_bytes(b"")
    says(2, "empty", "manifest", "b.txt", "--write", "body", "--patch", "A")
    says(3, "no/a.txt", "manifest", "no/a.txt", "--write", "a.txt", "--patch", "A")


def test_a_receipt_is_verified_against_what_it_is_bound_to(says: Any, tmp_path: Path) -> None:
    for name in ("diff", "prompt", "other"):
        (tmp_path / name).write_text(name, "utf-8")
    bound = ("--diff", "diff", "--prompt", "prompt", "--model", "m", "--generation", "g")
    said = ("--verdict", "approve", "--reason", "looked", "--verifier", "v", "--image", "i")
    says(0, "written", "receipt", "r.json", *bound, *said)
    says(0, "holds", "verify", "r.json", *bound, "--image", "i")
    says(1, "image-mismatch", "verify", "r.json", *bound)
    swapped = ("--diff", "other", "--prompt", "prompt", "--model", "n", "--generation", "g")
    says(
        1,
        "receipt-mismatch:diff_sha256, receipt-mismatch:model_id",
        *("verify", "r.json", *swapped, "--image", "i"),
    )
    says(1, "receipt-missing", "verify", "none", *bound)
    says(1, "receipt-unreadable", "verify", "diff", *bound)
    says(2, "none is no file", "verify", "r.json", "--diff", "none", *bound[2:])


def test_a_grant_is_allowed_once_and_on_its_own_route(says: Any, tmp_path: Path) -> None:
    route = {"task_id": "t", "model_class": "free", "server_class": "local", "tool": "read",
             "args": {"path": "a"}}  # fmt: skip
    grant = {name: route[name] for name in route if name != "args"}
    grant |= {"arg_hash": arguments_hash(route["args"]), "expires_at": time.time() + 600}
    (tmp_path / "grant").write_text(json.dumps(grant), "utf-8")
    (tmp_path / "route").write_text(json.dumps(route), "utf-8")
    (tmp_path / "paid").write_text(json.dumps({**route, "model_class": "paid"}), "utf-8")
    (tmp_path / "used").mkdir()
    says(1, "grant-model-class", "grant", "grant", "paid", "--used", "used")
    says(0, "allowed: read, once", "grant", "grant", "route", "--used", "used")
    says(1, "grant-reused", "grant", "grant", "route", "--used", "used")
    (tmp_path / "late").write_text(json.dumps({**grant, "expires_at": 1}), "utf-8")
    says(1, "grant-expired", "grant", "late", "route")
    says(3, "none", "grant", "grant", "route", "--used", "none")
    (tmp_path / "route").write_text("[]", "utf-8")
    says(2, "no JSON object", "grant", "grant", "route")


def test_keys_are_printed(says: Any, tmp_path: Path) -> None:
    work = {"repo": "r", "commit": "c", "config_hash": "h"}
    completion = dict.fromkeys(
        ("prompt_sha256", "model_revision", "image_digest", "fixture_generation"), "x"
    )
    for kind, inputs, key in (
        ("lease", work, lease_key("r", "c", "h")),
        ("completion", completion, completion_key(completion)),
        ("arguments", [1], arguments_hash([1])),
    ):
        (tmp_path / kind).write_text(json.dumps(inputs), "utf-8")
        says(0, key, "key", kind, kind)
    says(2, "lacks", "key", "review", "lease")
    (tmp_path / "secret").write_text(json.dumps(["ghp_" + "a1" * 12]), "utf-8")
    says(2, "secret", "key", "arguments", "secret")
    (tmp_path / "nan").write_text("[NaN]", "utf-8")
    says(2, "canonical", "key", "arguments", "nan")


def git(folder: Path, *arguments: str, author: str = "me@example.org") -> None:
    person = {"NAME": "x", "EMAIL": author, "DATE": "2026-01-01T00:00:00Z"}
    named = {f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in person.items()}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True,
                   env={**os.environ, **named})  # fmt: skip


def test_a_golden_file_needs_a_reviewer_s_label(says: Any, tmp_path: Path) -> None:
    label = "oracle-update-approved"
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "soakboard.toml").write_text(
        '[oracle]\nreviewers = ["lead@example.org"]\n', "utf-8"
    )
    (tmp_path / "a.golden").write_text("one line\n" * 20, "utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    git(tmp_path, "tag", "base")
    (tmp_path / "golden.md").write_text("words about golden files", "utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "a document")
    says(0, "1 changed", "oracle", "--base", "base")
    git(tmp_path, "mv", "a.golden", "a.txt")
    git(tmp_path, "commit", "-qm", "moved away")
    says(1, "golden-unlabelled", "oracle", "--base", "base")
    git(tmp_path, "commit", "-qm", f"mine\n\n{label}", "--allow-empty")
    says(1, "golden-self-labelled", "oracle", "--base", "base")
    git(tmp_path, "commit", "-qm", label, "--allow-empty", author="lead@example.org")
    says(0, "holds", "oracle", "--base", "base")
    says(2, "git", "oracle", "--base", "no-such-revision")
    says(2, "git", "oracle", "--base", "--output=x")
    assert not (tmp_path / "x").exists()


def test_a_workspace_is_admitted_or_refused(says: Any, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    attempt = ("workspace", "ws", "--generation", "g", "--attempt")
    says(1, "lock-missing", *attempt, "0")
    (tmp_path / "ws" / "uv.lock").touch()
    says(0, "fresh", *attempt, "0")
    says(1, "generation-reused", *attempt, "1")
    says(2, "no directory", "workspace", "none", *attempt[2:], "0")


def test_the_preflight_prints_three_figures(says: Any, tmp_path: Path) -> None:
    says(0, "(budget 512), probe", "preflight", ".", "--floor", "0")
    says(1, "disk-floor: free", "preflight", ".", "--floor", "1e12")
    (tmp_path / "a").write_bytes(b"x" * 4096)
    says(1, "over-budget", "preflight", ".", "--floor", "0", "--budget", "0")
    says(2, "no directory", "preflight", "none")


def test_an_inventory_is_pinned_and_compared(says: Any, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("t.py::b\nt.py::a\n\n2 tests collected in 0.1s\n", "utf-8")
    pins = ("--inventory", "pins.txt")
    says(0, "2 tests", "inventory", "ids", *pins, "--write")
    assert (tmp_path / "pins.txt").read_text("utf-8") == "t.py::a\nt.py::b\n"
    says(0, "2 pinned", "inventory", "ids", *pins)
    (tmp_path / "ids").write_text("t.py::b\nt.py::c\n", "utf-8")
    says(1, "1 tests missing, e.g. t.py::a, 1 new", "inventory", "ids", *pins)
    (tmp_path / "ids").write_text("no tests collected in 0.1s\n", "utf-8")
    says(1, "no-tests-collected", "inventory", "ids", *pins, "--write")
    says(2, "No inventory", "inventory", "ids")
