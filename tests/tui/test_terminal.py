"""The installed command in a real terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from contracts import event
from contracts import log as quarantine_log
from dashboard import SOAKS
from logs import TEST as ID
from logs import Log, passes

from analysis.quarantine.events import Kind

TMUX = shutil.which("tmux")
TUI = Path(sys.executable).with_name("tui")
PATIENCE_S = 60.0

pytestmark = pytest.mark.skipif(TMUX is None or not TUI.exists(), reason="needs tmux and `tui`")


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, socket: Path, folder: Path) -> None:
        self._socket = socket
        self._tmux(
            *("new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder)),
            "env -i PATH=/usr/bin:/bin TERM=tmux-256color COLORTERM=truecolor LANG=C.UTF-8 "
            f"HOME={folder} PS1='shell$ ' sh",
        )
        self.see("shell$")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(TMUX), "-S", str(self._socket), "-f", "/dev/null", *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=True,
        )
        return done.stdout

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        for key in keys:
            self._tmux("send-keys", key)

    def resize(self, width: int, height: int) -> None:
        """Make the terminal another size."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """What stands on it."""
        return self._tmux("capture-pane", "-p")

    def see(self, *signs: str) -> str:
        """Wait until all signs stand on the screen."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            shown = self.screen()
            if all(sign in shown for sign in signs):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{signs} never came:\n{self.screen()}")

    def restored(self) -> bool:
        """Whether the terminal is as a program found it: no other screen, no mouse, a cursor."""
        flags = self._tmux(
            "display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{mouse_sgr_flag}"
        )
        return flags.split() == ["0", "0", "1", "0"]

    def foreground(self) -> int:
        """The process that runs in the shell."""
        shell = self._tmux("display", "-p", "#{pane_pid}").strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])

    def close(self) -> None:
        """Be gone."""
        self._tmux("kill-server")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    home = tmp_path / "home"
    home.mkdir()
    made = Terminal(tmp_path / "tmux", home)
    yield made
    made.close()


def test_it_opens_answers_keys_takes_another_size_and_quits(terminal: Terminal) -> None:
    terminal.type(f"{TUI} {SOAKS}; echo code=$?")
    terminal.see("[1 Overview]", "DO NOT TRUST", "harness bug", "8 experiments")
    terminal.press("3")
    terminal.see("[3 Tests]", "port 26411")
    terminal.press("/")
    terminal.type("class:race")
    shown = terminal.see("1 of 9 causes", "class:race")
    assert "port 26411" not in shown
    terminal.resize(60, 15)
    terminal.see("Needs 72x20, has 60x15.")
    terminal.resize(80, 24)
    terminal.see("[3 Tests]", "patch race")
    terminal.press("q")
    terminal.see("code=0")
    assert terminal.restored()


def test_too_small_it_still_quits(terminal: Terminal) -> None:
    terminal.resize(60, 15)
    terminal.type(f"{TUI} {SOAKS}; echo code=$?")
    terminal.see("Needs 72x20, has 60x15.")
    terminal.press("q")
    terminal.see("code=0")
    assert terminal.restored()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_restores_the_terminal(terminal: Terminal, number: signal.Signals) -> None:
    terminal.type(f"{TUI} {SOAKS}; echo code=$?")
    terminal.see("DO NOT TRUST")
    os.kill(terminal.foreground(), number)
    terminal.see("code=130")
    assert terminal.restored()


def test_it_ends_when_its_terminal_is_gone_and_nobody_says_so() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    # Its own session, of which the terminal is not the controlling one: no SIGHUP will come.
    opened = subprocess.Popen(
        [str(TUI), str(SOAKS)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    seen = b""
    while b"DO NOT TRUST" not in seen:
        seen += os.read(ours, 65536)
    os.close(ours)
    assert opened.wait(PATIENCE_S) == 130


def test_ctrl_c_quits(terminal: Terminal) -> None:
    terminal.type(f"{TUI} {SOAKS}; echo code=$?")
    terminal.see("DO NOT TRUST")
    terminal.press("C-c")
    terminal.see("code=")
    assert terminal.restored()


def test_without_an_index_it_says_how_to_begin(terminal: Terminal) -> None:
    terminal.type(f"{TUI}; echo code=$?")
    terminal.see("Nothing recorded yet.", "tui demo")
    terminal.press("q")
    terminal.see("code=0")


def test_the_demo_opens_on_the_sample_data_and_leaves_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.type(f"TMPDIR={tmp_path} {TUI} demo; echo code=$?")
    terminal.see("DO NOT TRUST", "10 experiments")
    terminal.press("q")
    terminal.see("code=0")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("soakboard")] == []
    assert list((tmp_path / "home").iterdir()) == []


def test_rows_that_another_process_ingests_appear(terminal: Terminal, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(verdicts("first", 3))
    second.write_text(verdicts("second", 4))
    db = tmp_path / "index.duckdb"
    subprocess.run([str(TUI), "ingest", "--db", str(db), str(first)], check=True, timeout=60)
    terminal.type(f"{TUI} --db {db} --all; echo code=$?")
    terminal.see("3 runs")
    subprocess.run([str(TUI), "ingest", "--db", str(db), str(second)], check=True, timeout=60)
    terminal.see("7 runs")
    terminal.press("q")
    terminal.see("code=0")


def test_a_lead_reads_the_list_renews_releases_and_revokes(
    terminal: Terminal, tmp_path: Path
) -> None:
    flaky, clean, raced = ID, "tests/test_clean.py::test_c", "tests/test_raced.py::test_r"
    home, db = tmp_path / "home", tmp_path / "index.duckdb"
    (home / ".gitconfig").write_text("[user]\n\temail = mara@example.org\n")
    counts = {"serial": 1, "repeat": 10, "tightened": 10, "loaded": 4}
    logs = []
    for number in range(3):
        log_ = Log(f"n{number}", slot=10_000 * number).header().soak(12).stress(counts)
        logs.append(log_.stress(counts, "green").write(tmp_path))
    later = Log("later", slot=700_000).header()
    for _ in range(20):
        tests = [passes(clean, iteration=at) for at in range(10)]
        later = later.run("subject", "repeat", tests)
    logs.append(later.write(tmp_path))

    def tui(*arguments: object) -> None:
        command = [str(TUI), *map(str, arguments)]
        subprocess.run(command, check=True, timeout=120, cwd=home, capture_output=True)

    path = home / "quarantine.jsonl"
    path.write_bytes(
        quarantine_log(
            event(Kind.QUARANTINED, -5000, clean, owner="jonas"),
            event(Kind.UNLOCKED, -4900, clean),
            event(Kind.QUARANTINED, -30, raced, owner="jonas"),
        )
    )
    tui("ingest", "-q", "--db", db, logs[0])
    tui("quarantine", "add", flaky, "--owner", "mara", "--reason", "seed", "--db", db)
    tui("ingest", "-q", "--db", db, logs[1])
    tui("quarantine", "renew", flaky, "--db", db)
    tui("ingest", "-q", "--db", db, logs[2], logs[3])

    terminal.type(f"{TUI} --db {db} --all --screen quarantine; echo code=$?")
    terminal.see("1 LAPSED", "Owner: jonas", "3 listed")
    terminal.press("Enter")
    terminal.see("EVENTS", "tests/test_raced.py::test_r")
    terminal.press("Escape")
    terminal.see("PER WEEK")
    terminal.press("V")
    terminal.see("Revoke: it should never have been listed")
    terminal.type("a race")
    terminal.see("NOTHING LAPSED", "2 listed")
    terminal.press("L", "Enter")
    terminal.see("1 listed")
    terminal.press("R")
    terminal.see("Approved by")
    terminal.type("lead@example.org")
    terminal.see("Renewed")
    terminal.press("q")
    terminal.see("code=0")
    kinds = [json.loads(line)["event"] for line in path.read_text().splitlines()]
    assert kinds[3:] == ["quarantined", "renewed", "revoked", "released", "renewed"]


def verdicts(experiment: str, runs: int) -> str:
    return "".join(
        json.dumps(
            {"experiment": experiment, "patch": "p", "run": f"{experiment}-{i}", "verdict": "pass"}
        )
        + "\n"
        for i in range(runs)
    )
