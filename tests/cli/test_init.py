"""`tui init`: what the logs show, written so that it reads back as it was meant."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.config import Canaries, Canary, Config, load_config
from analysis.scan import Proposal, config_text, inventory_text, propose

PINNED = "tests/test_contract.py::test_property"
EVIL = 'tests/x.py::t["x"]\n[evil]\\'


def log(folder: Path, lines: Sequence[dict[str, object]], name: str = "soak.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def run(role: str, number: int, *tests: tuple[str, str, str]) -> list[dict[str, object]]:
    """The lines of one run: tests are (test id, outcome, message)."""
    ids = {"run_id": f"{role}-{number}", "patch_id": f"the-{role}", "role": role}
    return [
        {"kind": "run_start", **ids},
        *(
            {"kind": "test", **ids, "test_id": test, "outcome": outcome, "message": message}
            for test, outcome, message in tests
        ),
        {"kind": "run_end", **ids, "verdict": "fail" if role == "red" else "pass"},
    ]


def soak(rounds: int = 3) -> list[dict[str, object]]:
    """Red fails its pinned test in every run, and another test in one of them."""
    lines = []
    for number in range(rounds):
        flaky = ("t.py::flaky", "failed" if number == 1 else "passed", "Address in use")
        violated = (PINNED, "failed", f"property violated: file {number} missing")
        lines += run("red", number, violated, flaky)
        lines += run("green", number, (PINNED, "passed", ""), flaky)
        lines += run("subject", number, (PINNED, "passed", ""), ("t.py::mine", "skipped", ""))
    return lines


class TestWhatTheLogsShow:
    def test_roles_give_the_canaries_and_their_failures_the_pin(self, tmp_path: Path) -> None:
        proposal = propose([log(tmp_path, soak())])
        assert proposal == Proposal(
            canaries=Canaries(
                Canary("the-red", PINNED, "property violated: file"), Canary("the-green", PINNED)
            ),
            inventory=("t.py::flaky", "t.py::mine", PINNED),
        )

    def test_the_header_goes_before_what_the_runs_suggest(self, tmp_path: Path) -> None:
        header = {
            "kind": "experiment",
            "experiment": "e",
            "canaries": {"red": {"patch_id": "r", "test_id": "a::b", "expect": "no"}},
            "inventory": ["a::never_seen"],
        }
        proposal = propose([log(tmp_path, [header, *soak()])])
        assert proposal.canaries.red == Canary("r", "a::b", "no")
        assert "a::never_seen" in proposal.inventory

    def test_a_test_that_green_fails_too_is_not_the_pin(self, tmp_path: Path) -> None:
        both = ("t.py::broken", "failed", "boom")
        lines = run("red", 0, (PINNED, "failed", "violated!"), both) + run("green", 0, both)
        assert propose([log(tmp_path, lines)]).canaries.red.test_id == PINNED

    def test_two_candidates_are_left_to_the_reader(self, tmp_path: Path) -> None:
        lines = run("red", 0, ("a::x", "failed", "m"), ("a::y", "failed", "m"))
        proposal = propose([log(tmp_path, lines)])
        assert proposal.canaries.red.test_id is None
        assert any("a::x" in note and "a::y" in note for note in proposal.notes)

    def test_messages_with_nothing_in_common_give_no_message(self, tmp_path: Path) -> None:
        lines = run("red", 0, (PINNED, "failed", "abc")) + run("red", 1, (PINNED, "failed", "xyz"))
        assert propose([log(tmp_path, lines)]).canaries.red == Canary("the-red", PINNED, None)

    def test_runs_that_name_no_role_leave_the_canaries_open(self, tmp_path: Path) -> None:
        proposal = propose([log(tmp_path, [{"patch_id": "a", "verdict": "pass"}])])
        assert proposal.canaries == Canaries()
        assert len(proposal.notes) == 2

    def test_namespaces_of_a_bare_soak_give_the_roles(self, tmp_path: Path) -> None:
        lines = [
            {"patch": name, "ns": f"soak-{number}-{role}", "verdict": verdict}
            for number in range(2)
            for name, role, verdict in (("r", "red", "fail"), ("g", "green", "pass"))
        ]
        proposal = propose([log(tmp_path, lines)])
        assert proposal.canaries == Canaries(Canary("r"), Canary("g"))

    def test_several_logs_are_taken_together(self, tmp_path: Path) -> None:
        log(tmp_path, run("red", 0, (PINNED, "failed", "violated!")), "a.jsonl")
        log(tmp_path, run("green", 0, ("t.py::other", "passed", "")), "b.jsonl")
        proposal = propose([tmp_path])
        assert proposal.inventory == ("t.py::other", PINNED)
        assert proposal.canaries.green.patch_id == "the-green"


class TestTheFile:
    @given(
        red=st.builds(Canary, *[st.none() | st.text(min_size=1).filter(str.strip)] * 3),
        notes=st.lists(st.text()),
        ids=st.lists(st.text()),
    )
    def test_any_text_reads_back_as_it_was(self, red: Canary, notes, ids) -> None:
        proposal = Proposal(Canaries(red), left_out=tuple(ids), notes=tuple(notes))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "soakboard.toml"
            path.write_text(config_text(proposal, None), encoding="utf-8", newline="")
            assert load_config(Path(folder)) == Config(path=path, canaries=Canaries(red))

    def test_the_defaults_shown_as_comments_are_the_defaults(self, tmp_path: Path) -> None:
        shown = config_text(Proposal(), None).splitlines()
        settings = [line.removeprefix("# ") for line in shown if " = " in line or line[:1] == "["]
        (tmp_path / "test_inventory.txt").write_text("a::b\n")
        path = tmp_path / "soakboard.toml"
        path.write_text("\n".join(settings), encoding="utf-8")
        config = load_config(tmp_path)
        assert (config.policy, config.oracle.globs) == (Config().policy, Config().oracle.globs)
        assert config.inventory == ("a::b",)

    def test_the_inventory_file_is_deterministic_and_says_what_it_is(self) -> None:
        text = inventory_text(Proposal(inventory=("a::b", "c::d")))
        assert text.splitlines()[0].startswith("#")
        assert text.endswith("\na::b\nc::d\n")


class TestTheCommand:
    def test_it_writes_what_it_found_and_says_so(self, run_tui, tmp_path: Path) -> None:
        log(tmp_path, soak())
        done = run_tui("init")
        assert (done.returncode, done.stderr) == (0, "")
        assert "the-red" in done.stdout
        config = load_config(tmp_path)
        assert config.canaries.red == Canary("the-red", PINNED, "property violated: file")
        assert config.inventory == ("t.py::flaky", "t.py::mine", PINNED)
        assert config == Config(
            config.path, config.canaries, config.inventory, tmp_path / "test_inventory.txt"
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "soak.jsonl",
            "soakboard.toml",
            "test_inventory.txt",
        ]

    def test_without_logs_it_writes_the_defaults(self, run_tui, tmp_path: Path) -> None:
        done = run_tui("init")
        assert done.returncode == 0
        assert load_config(tmp_path) == Config(path=tmp_path / "soakboard.toml")

    def test_an_evil_id_stays_data(self, run_tui, tmp_path: Path) -> None:
        lines = [
            {**line, "patch_id": f'"]\n[evil] {line["patch_id"]}'}
            for line in run("red", 0, (EVIL, "failed", 'say "x"]\x1b now')) + run("green", 0)
        ]
        done = run_tui("init", log(tmp_path, lines))
        assert done.returncode == 0
        assert "\x1b" not in done.stdout + done.stderr
        assert "Left out of the inventory" in done.stderr
        config = load_config(tmp_path)
        assert config.canaries == Canaries(
            Canary('"]\n[evil] the-red', EVIL, 'say "x"]\x1b now'), Canary('"]\n[evil] the-green')
        )
        assert config.inventory is None

    @pytest.mark.parametrize("name", ["soakboard.toml", "test_inventory.txt"])
    def test_a_file_that_is_there_is_kept(self, run_tui, tmp_path: Path, name: str) -> None:
        log(tmp_path, soak())
        (tmp_path / name).write_text("# mine\n")
        before = sorted(path.name for path in tmp_path.iterdir())
        done = run_tui("init")
        assert done.returncode == 2
        assert name in done.stderr
        assert "--force" in done.stderr
        assert (tmp_path / name).read_text() == "# mine\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    def test_force_replaces_it(self, run_tui, tmp_path: Path) -> None:
        (tmp_path / "soakboard.toml").write_text("[broken")
        assert run_tui("init", "--force").returncode == 0
        assert load_config(tmp_path).policy == Config().policy

    def test_a_configured_pyproject_is_not_overruled(self, run_tui, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text("[tool.soakboard.policy]\nalpha = 0.02\n")
        done = run_tui("init")
        assert done.returncode == 2
        assert "pyproject.toml" in done.stderr
        assert not (tmp_path / "soakboard.toml").exists()

    def test_a_pyproject_of_others_is_no_hindrance(self, run_tui, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
        assert run_tui("init").returncode == 0

    @pytest.mark.parametrize(
        ("name", "content"),
        [("page.jsonl", b"<html>\n<p>\n"), ("empty.jsonl", b""), ("b.jsonl", b"\x00\xff\n" * 9)],
    )
    def test_a_file_that_is_no_log_is_refused(self, run_tui, tmp_path, name, content) -> None:
        (tmp_path / name).write_bytes(content)
        done = run_tui("init", name)
        assert done.returncode == 2
        assert name in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "soakboard.toml").exists()

    def test_a_missing_path_is_refused(self, run_tui) -> None:
        done = run_tui("init", "nowhere")
        assert done.returncode == 2
        assert "nowhere" in done.stderr

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_directory_without_permission_is_a_fault_of_the_environment(
        self, run_tui, tmp_path: Path
    ) -> None:
        tmp_path.chmod(0o500)
        done = run_tui("init")
        tmp_path.chmod(0o700)
        assert done.returncode == 3
        assert "soakboard.toml cannot be written" in done.stderr
