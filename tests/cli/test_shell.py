"""The command as a shell sees it: what it prints where, and the number it ends with."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import click
import pytest

import tui
from analysis.errors import AnalysisError, BadInput, EnvironmentFault
from tui import cli
from tui.cli import COMMANDS
from tui.exit_codes import MEANINGS, ExitCode


def ending_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a `tui` that has one command, which raises `error`."""

    @click.command()
    def command() -> None:
        raise error

    module = type(sys)("tui.commands.raising")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(cli.COMMANDS, "raising", cli.Entry(module.__name__, "Raises."))
    return cli.main(["raising"])


class TestHelp:
    def test_no_command_opens_the_dashboard_which_needs_a_terminal(self, run_tui) -> None:
        bare = run_tui()
        assert bare.returncode == ExitCode.BAD_INPUT
        assert bare.stdout == ""
        assert bare.stderr.startswith("tui: The dashboard needs a terminal. `tui check`")
        assert len(bare.stderr.splitlines()) == 1

    def test_the_help_names_every_command(self, run_tui) -> None:
        shown = run_tui("--help").stdout
        for name in COMMANDS:
            assert f"  {name} " in shown

    def test_the_help_lists_every_exit_code(self, run_tui) -> None:
        shown = run_tui("--help").stdout
        for code in ExitCode:
            assert f"{code.value}  {MEANINGS[code]}" in shown

    def test_the_help_of_a_command_lists_its_exit_codes(self, run_tui) -> None:
        shown = run_tui("init", "--help")
        assert shown.returncode == 0
        assert f"2  {MEANINGS[ExitCode.BAD_INPUT]}" in shown.stdout
        assert "    1  " not in shown.stdout

    def test_the_version_is_that_of_the_distribution(self, run_tui) -> None:
        try:
            version = metadata.version("soakboard")
        except metadata.PackageNotFoundError:
            pytest.skip("soakboard is not installed here")
        shown = run_tui("--version")
        assert shown.returncode == 0
        assert version in shown.stdout


class TestUsage:
    def test_a_mistyped_command_gets_a_suggestion(self, run_tui) -> None:
        done = run_tui("chek")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "'check'" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_a_command_like_no_other_gets_no_suggestion(self, run_tui) -> None:
        done = run_tui("zzzzzz")
        assert done.returncode == 2
        assert "mean" not in done.stderr

    @pytest.mark.parametrize("arguments", [["--nonsense"], ["init", "--nonsense"]])
    def test_an_unknown_option_is_bad_usage(self, run_tui, arguments: list[str]) -> None:
        done = run_tui(*arguments)
        assert done.returncode == 2
        assert "--nonsense" in done.stderr
        assert "--help" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_what_was_typed_is_made_safe(self, run_tui) -> None:
        done = run_tui("\x1b[31mcheck\u202e")
        assert done.returncode == 2
        assert "check" in done.stderr
        assert done.stderr.rstrip("\n").isprintable()


class TestCompletion:
    def complete(self, run_tui, words: str, word: int) -> list[str]:
        done = run_tui(_TUI_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(word))
        assert done.returncode == 0
        return done.stdout.split()

    def test_command_names_complete(self, run_tui) -> None:
        assert self.complete(run_tui, "tui in", 1) == ["plain,ingest", "plain,init"]

    def test_every_command_is_offered(self, run_tui) -> None:
        assert len(self.complete(run_tui, "tui ", 1)) == len(cli.COMMANDS)

    def test_options_of_a_command_complete(self, run_tui) -> None:
        assert self.complete(run_tui, "tui init --fo", 2) == ["plain,--force"]

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_shell_gets_its_script(self, run_tui, shell: str) -> None:
        done = run_tui(_TUI_COMPLETE=f"{shell}_source")
        assert "_TUI_COMPLETE" in done.stdout

    def test_an_unknown_shell_is_told_the_known_ones(self, run_tui) -> None:
        done = run_tui(_TUI_COMPLETE="tcsh_source")
        assert done.returncode == 2
        assert "bash_source" in done.stderr


class TestEndings:
    @pytest.mark.parametrize(
        ("error", "code", "sentence"),
        [
            (BadInput("x.jsonl is no log.", "Give a log."), 2, "x.jsonl is no log. Give a log."),
            (AnalysisError("No."), 2, "No."),
            (EnvironmentFault("The index is busy."), 3, "The index is busy."),
            (PermissionError(13, "Permission denied", "a.db"), 3, "a.db: Permission denied"),
            (OSError(28, "No space left on device", "a.db"), 3, "a.db: No space left on device"),
            (OSError(5, "Input/output error", "a.db"), 3, "a.db: Input/output error"),
            (MemoryError(), 3, "out of memory"),
            (KeyboardInterrupt(), 130, "interrupted"),
            (click.Abort(), 130, "interrupted"),
            (click.FileError("a.db", "is busy"), 2, "Could not open file 'a.db': is busy"),
            (BadInput("\x1b]0;title\x07.jsonl is no log."), 2, "␛]0;title␇.jsonl is no log."),
        ],
    )
    def test_each_fault_is_one_line_and_its_code(
        self, error, code, sentence, monkeypatch, capsys
    ) -> None:
        assert ending_with(error, monkeypatch) == code
        assert capsys.readouterr() == ("", f"tui: {sentence}\n")

    @pytest.mark.parametrize("error", [ValueError("odd"), RecursionError(), AssertionError("x")])
    def test_a_crash_is_70_and_one_line(self, error, monkeypatch, capsys) -> None:
        monkeypatch.delenv("SOAKBOARD_DEBUG", raising=False)
        assert ending_with(error, monkeypatch) == 70
        told = capsys.readouterr().err
        assert told.startswith(f"tui: internal error: {type(error).__name__}")
        assert len(told.splitlines()) == 1

    def test_a_crash_shows_its_traceback_when_asked(self, monkeypatch, capsys) -> None:
        monkeypatch.setenv("SOAKBOARD_DEBUG", "1")
        assert ending_with(ValueError("odd \x1b"), monkeypatch) == 70
        told = capsys.readouterr().err
        assert "Traceback" in told
        assert "\x1b" not in told

    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_a_closed_pipe_is_quiet_and_never_a_no(self, unbuffered: str) -> None:
        with subprocess.Popen(
            [sys.executable, "-m", "tui", "--help"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=with_packages(PYTHONUNBUFFERED=unbuffered),
        ) as process:
            process.stdout.close()
            told = process.stderr.read()
        assert told == b""
        assert process.returncode == ExitCode.PIPE_CLOSED

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_a_full_disk_behind_standard_output_is_told(self, unbuffered: str) -> None:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "tui", "--help"],
                stdout=full,
                stderr=subprocess.PIPE,
                env=with_packages(PYTHONUNBUFFERED=unbuffered),
                check=False,
            )
        assert done.returncode == ExitCode.ENVIRONMENT
        assert len(done.stderr.splitlines()) == 1

    def test_an_interrupt_ends_with_130(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED_COMMAND],
            capture_output=True,
            env=with_packages(),
            timeout=60,
            check=False,
        )
        assert done.returncode == ExitCode.INTERRUPTED
        assert done.stdout == b""
        assert done.stderr == b"tui: interrupted\n"


INTERRUPTED_COMMAND = """
import os, signal, sys, types, click
from tui import cli

@click.command()
def command():
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()

sys.modules["waiting"] = types.SimpleNamespace(command=command)
cli.COMMANDS["waiting"] = cli.Entry("waiting", "Waits.")
sys.exit(cli.main(["waiting"]))
"""


def with_packages(**environment: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(tui.__file__).parents[1]), **environment}
