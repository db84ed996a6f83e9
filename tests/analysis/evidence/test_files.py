"""Files that records offer: looked at inside one directory, and never anywhere else."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import analysis
from analysis.errors import BadInput, EnvironmentFault
from analysis.evidence.claims import claim
from analysis.evidence.disk import DIRTY_MARKER, admit
from analysis.evidence.logged import faults_of_log
from analysis.evidence.manifest import SUFFIX, faults_of, write_evidence
from analysis.evidence.pinning import compare
from analysis.evidence.preflight import preflight
from analysis.evidence.rooted import MOST_HASHED, Unreadable, content, opened


def rules(faults: list[tuple[str, str]]) -> set[str]:
    return {rule for rule, _ in faults}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory of evidence, with a secret beside it."""
    (tmp_path / "secret").write_text("secret", "utf-8")
    inside = tmp_path / "evidence"
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "a.txt").write_text("evidence", "utf-8")
    return inside


@pytest.mark.parametrize(
    "name", ["deep/a.txt", "./deep/../deep/a.txt", "link", "deep/back/deep/a.txt"]
)
def test_what_lies_inside_is_read(root: Path, name: str) -> None:
    (root / "link").symlink_to("deep/a.txt")
    (root / "deep" / "back").symlink_to(root)
    assert content(root, name) == b"evidence"
    assert content(root, str(root / "deep" / "a.txt")) == b"evidence"


@pytest.mark.parametrize(
    "name",
    ["../secret", "deep/../../secret", "/etc/passwd", "out", "up/secret", "loop", "deep", "none",
     ".", "..", "a\0b", "x" * 5000, "deep/a.txt/b", "pipe", "/dev/zero", "\ud800"],
)  # fmt: skip
def test_whatever_else_is_named_is_not_read(root: Path, name: str) -> None:
    (root / "out").symlink_to(root.parent / "secret")
    (root / "up").symlink_to(root.parent)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    with pytest.raises(Unreadable):
        content(root, name)


def test_a_file_without_end_is_not_read(root: Path) -> None:
    with (root / "sparse").open("wb") as file:
        file.truncate(MOST_HASHED + 1)
    with pytest.raises(Unreadable, match="larger"), opened(root, "sparse"):
        pass


def test_evidence_is_written_with_its_manifest(tmp_path: Path) -> None:
    written = write_evidence(b"transcript", tmp_path / "a.txt", "A")
    assert (tmp_path / "a.txt").read_bytes() == b"transcript"
    assert json.loads(written.path.read_bytes()) == {
        "patch_id": "A",
        "body": "a.txt",
        "bytes": 10,
        "sha256": hashlib.sha256(b"transcript").hexdigest(),
    }
    assert faults_of(tmp_path, written.path.name) == []
    assert names(tmp_path) == ["a.txt", "a.txt" + SUFFIX]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "evidence-empty"),
        (b"transcrip", "evidence-short"),
        (b"transcripT", "evidence-checksum-mismatch"),
        (None, "evidence-missing"),
    ],
)
def test_a_manifest_whose_body_is_not_what_was_written_is_found(
    tmp_path: Path, body: bytes | None, rule: str
) -> None:
    written = write_evidence(b"transcript", tmp_path / "a.txt", "A")
    (tmp_path / "a.txt").unlink()
    if body is not None:
        (tmp_path / "a.txt").write_bytes(body)
    assert rule in rules(faults_of(tmp_path, written.path.name))


def test_a_manifest_that_is_none_is_found(tmp_path: Path) -> None:
    assert rules(faults_of(tmp_path, "none")) == {"manifest-missing"}
    for text, rule in (("{", "manifest-missing"), ("[]", "evidence-missing")):
        (tmp_path / "m").write_text(text, "utf-8")
        assert rules(faults_of(tmp_path, "m")) == {rule}
    (tmp_path / "m").write_text('{"body": "../../etc/passwd", "bytes": 1}', "utf-8")
    assert rules(faults_of(tmp_path, "m")) == {"evidence-missing"}


def test_a_record_and_a_manifest_that_differ_are_found(tmp_path: Path) -> None:
    written = write_evidence(b"transcript", tmp_path / "a.txt", "A")
    name = written.path.name
    assert faults_of(tmp_path, name, {"bytes": 10, "sha256": written.sha256}) == []
    assert rules(faults_of(tmp_path, name, {"bytes": 11})) == {"evidence-short"}
    other = {"bytes": 10, "sha256": "0" * 64}
    assert rules(faults_of(tmp_path, name, other)) == {"evidence-checksum-mismatch"}


def test_nothing_is_written_for_an_empty_body(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        write_evidence(b"", tmp_path / "a.txt", "A")
    assert names(tmp_path) == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"mounting is not possible here: {error}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_raises_and_leaves_no_manifest(full_disk: Path) -> None:
    write_evidence(b"x" * 1000, full_disk / "a.txt", "A")
    with pytest.raises(EnvironmentFault, match="No space left"):
        write_evidence(os.urandom(100_000), full_disk / "a.txt", "A")
    assert not (full_disk / ("a.txt" + SUFFIX)).exists()
    assert not list(full_disk.glob(".*"))


def test_room_for_the_body_and_not_for_the_manifest_leaves_none(full_disk: Path) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    (full_disk / "filler").write_bytes(b"x" * (64 * 1024 - page))
    with pytest.raises(EnvironmentFault):
        write_evidence(b"x" * page, full_disk / "a.txt", "A")
    assert not list(full_disk.glob("*" + SUFFIX))


def test_the_preflight_finds_a_full_disk(full_disk: Path) -> None:
    found = preflight(full_disk)
    assert found.refusals == ("disk-floor", "probe-failed")
    assert found.probe_s is None
    assert found.free_mib <= 0.0625
    assert not names(full_disk)


def test_a_file_size_limit_raises_and_leaves_no_manifest(tmp_path: Path) -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"sys.path.insert(0, {str(Path(analysis.__file__).parents[1])!r}); "
        "from pathlib import Path; from analysis.evidence.manifest import write_evidence; "
        f"write_evidence(b'x' * 9000, Path({str(tmp_path)!r}) / 'a.txt', 'A')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "EnvironmentFault" in done.stderr
    assert names(tmp_path) == []


def test_the_preflight_measures_room_budget_and_a_probe(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (2 << 20))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = preflight(tmp_path, 0, 2)
    assert found.refusals == ()
    assert found.used_mib == 2
    assert found.probe_s is not None
    assert preflight(tmp_path, 0, 1.9).refusals == ("over-budget",)
    assert preflight(tmp_path, 1e12, 2).refusals == ("disk-floor",)
    assert names(tmp_path) == ["a", "link"]
    with pytest.raises(BadInput):
        preflight(tmp_path / "none")


START, STEP, DONE = {"event": "start", "run_id": "1"}, {"event": "step"}, {"event": "done"}
LOG = [START, STEP, {**DONE, "steps": 1}]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (LOG, set()),
        ([{"kind": "run_start"}, {"kind": "test"}, {"kind": "run_end", "steps": 1}], set()),
        ([START, DONE], set()),
        ([], {"log-missing"}),
        ([START, STEP], {"log-incomplete"}),
        ([STEP, DONE], {"log-incomplete"}),
        ([START, {**DONE, "steps": 1}], {"log-incomplete"}),
        ([START, "{", *LOG[1:]], {"log-truncated"}),
        ([START, "[]", *LOG[1:]], {"log-truncated"}),
        ([START, "[" * 200_000, *LOG[1:]], {"log-truncated"}),
        ([START, {**STEP, "run_id": "2"}, LOG[2]], {"log-run-mismatch"}),
    ],
)
def test_a_log_is_whole_and_of_its_run(tmp_path: Path, lines: list[Any], found: set[str]) -> None:
    text = "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines)
    (tmp_path / "log").write_text(text, "utf-8")
    assert rules(faults_of_log(tmp_path, "log", "1", None)) == found
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    # The same bytes have the same digest, however often they are read.
    for _ in range(2):
        assert rules(faults_of_log(tmp_path, "log", "1", sha256)) == found
    changed = rules(faults_of_log(tmp_path, "log", "1", "0" * 64))
    assert changed == (found | {"log-digest-mismatch"} if lines else found)


def test_a_log_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert rules(faults_of_log(tmp_path, "log", "1", None)) == {"log-missing"}


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "uv.lock").write_text("1", "utf-8")
    return tmp_path


def test_a_fresh_disk_is_admitted_and_its_own_attempt_again(disk: Path) -> None:
    assert admit(disk, "g1", "0") == []
    assert admit(disk, "g1", "0") == []
    assert admit(disk, "g2", "1") == []


def test_a_recycled_disk_is_refused_with_its_reason(disk: Path) -> None:
    assert rules(admit(disk, "", "0")) == {"generation-missing"}
    assert rules(admit(disk, "g1", " ")) == {"attempt-missing"}
    assert admit(disk, "g1", "0") == []
    assert rules(admit(disk, "g1", "1")) == {"generation-reused"}
    (disk / "uv.lock").write_text("2", "utf-8")
    assert rules(admit(disk, "g1", "0")) == {"lock-drift"}
    assert admit(disk, "g2", "0") == []
    (disk / DIRTY_MARKER).touch()
    assert rules(admit(disk, "g3", "0")) == {"workspace-dirty"}
    (disk / DIRTY_MARKER).unlink()
    (disk / "uv.lock").unlink()
    assert rules(admit(disk, "g3", "0")) == {"lock-missing"}


def test_a_state_that_is_none_is_bad_input_and_kept(disk: Path) -> None:
    state = disk / "state.json"
    for text in ("{", "[]", '{"g1": 1}'):
        state.write_text(text, "utf-8")
        with pytest.raises(BadInput):
            admit(disk, "g1", "0", state)
        assert state.read_text("utf-8") == text


def test_of_many_who_claim_a_grant_at_once_one_has_it(tmp_path: Path) -> None:
    grant = {"task_id": "t", "tool": "read", "arg_hash": "0", "expires_at": 1}
    answers: list[bool] = []
    threads = [
        threading.Thread(target=lambda: answers.append(claim(grant, tmp_path))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 19 + [True]
    assert claim({**grant, "task_id": "u"}, tmp_path)
    with pytest.raises(EnvironmentFault):
        claim(grant, tmp_path / "none")


def test_collected_ids_are_compared_in_normal_form() -> None:
    found = compare(["./t.py::a", "t.py::b", "t.py::c"], ["t.py::a", "t.py::c@group", "t.py::d"])
    assert (found.pinned, found.missing, found.grown) == (3, ("t.py::b",), ("t.py::d",))
