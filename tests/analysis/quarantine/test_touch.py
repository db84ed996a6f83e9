"""What a diff touches, on a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from contracts import TEST, event, hours, log

from analysis.config import Config
from analysis.errors import BadInput
from analysis.quarantine.desk import Desk
from analysis.quarantine.events import Kind
from analysis.quarantine.replay import State
from analysis.quarantine.touch import git_diff, read_diff

FILE = "tests/test_clock.py"


class Repository:
    """A repository with a test, its fixtures, and other code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "mara@example.org")
        self.git("config", "user.name", "Mara")
        self.write(FILE, "import time\n\ndef test_same_second():\n    assert True\n")
        self.write("tests/fixtures/clock/zone.txt", "one\ntwo\nthree\nfour\n")
        self.write("src/app.py", "x = 1\n")
        self.commit()

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def diff(self) -> str:
        return git_diff(self.folder, "HEAD~1", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "work"
    folder.mkdir()
    return Repository(folder)


def desk(tmp_path: Path, when: float = 30) -> Desk:
    path = tmp_path / "quarantine.jsonl"
    if not path.exists():
        path.write_bytes(log(event(Kind.QUARANTINED)))
    return Desk(path, Config(), "ci", hours(when))


def unlocked(repository: Repository, tmp_path: Path) -> list[tuple[str, bool]]:
    repository.commit()
    written = desk(tmp_path).unlock(read_diff(repository.diff()), {})
    return [(event.test_id, only_waits) for event, only_waits in written]


def test_a_change_of_the_test_unlocks_it(repository: Repository, tmp_path: Path) -> None:
    repository.write(FILE, "import time\n\ndef test_same_second():\n    assert 1 + 1 == 2\n")
    assert unlocked(repository, tmp_path) == [(TEST, False)]
    assert desk(tmp_path).list_now().of(TEST, None).state is State.UNLOCKED  # type: ignore[union-attr]


def test_a_change_below_a_directory_it_reads_unlocks_it(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("tests/fixtures/clock/new/deep.txt", "x\n")
    assert unlocked(repository, tmp_path) == [(TEST, False)]


def test_a_renamed_fixture_unlocks_it(repository: Repository, tmp_path: Path) -> None:
    repository.git("mv", "tests/fixtures/clock/zone.txt", "zone.txt")
    assert unlocked(repository, tmp_path) == [(TEST, False)]


def test_a_deleted_fixture_unlocks_it(repository: Repository, tmp_path: Path) -> None:
    repository.git("rm", "-q", "tests/fixtures/clock/zone.txt")
    assert unlocked(repository, tmp_path) == [(TEST, False)]


def test_a_change_that_only_waits_is_said_to_do_that(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write(
        FILE, "import time\n\ndef test_same_second():\n    time.sleep(2)\n    assert True\n"
    )
    assert unlocked(repository, tmp_path) == [(TEST, True)]


def test_a_change_elsewhere_leaves_it_frozen(repository: Repository, tmp_path: Path) -> None:
    repository.write("src/app.py", "x = 2\n")
    repository.write("tests/fixtures/clockwork.txt", "a prefix of the name, and not of the path\n")
    assert unlocked(repository, tmp_path) == []
    assert desk(tmp_path).list_now().of(TEST, None).state is State.LAPSED  # type: ignore[union-attr]


def test_a_renamed_test_keeps_its_entry(repository: Repository, tmp_path: Path) -> None:
    repository.git("mv", FILE, "tests/test_time.py")
    repository.commit()
    new = "tests/test_time.py::test_same_second"
    desk(tmp_path).unlock(read_diff(repository.diff()), {TEST: new})
    found = desk(tmp_path).list_now()
    assert found.of(TEST, None) is None
    assert found.of(new, None) is not None


@pytest.mark.parametrize("revision", ["nonsense", "--output=x", "-p"])
def test_a_revision_that_there_is_not_is_one_sentence(
    repository: Repository, revision: str
) -> None:
    with pytest.raises(BadInput, match="git cannot compare"):
        git_diff(repository.folder, revision, "HEAD")
    assert not (repository.folder / "x").exists()


def test_lines_that_look_like_headers_are_no_files() -> None:
    diff = (
        "diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n"
        "@@ -1,2 +1,2 @@\n same\n--- a/tests/test_clock.py\n+++ b/tests/test_clock.py\n"
    )
    assert set(read_diff(diff)) == {"notes.txt"}


def test_paths_with_signs_of_their_own_are_read() -> None:
    diff = (
        'diff --git "a/t/\\303\\251 a.py" "b/t/\\303\\251 a.py"\n--- "a/t/\\303\\251 a.py"\n'
        '+++ "b/t/\\303\\251 a.py"\n@@ -1 +1 @@\n-a\n+b\n'
    )
    assert set(read_diff(diff)) == {"t/\u00e9 a.py"}
