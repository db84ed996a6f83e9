"""The command `tui`: finds the command asked for, and turns what went wrong into one line.

Commands are named in a table and imported when they run, so that `tui --help`,
`tui --version` and shell completion start without the engine.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import click
from click.shell_completion import CompletionItem, shell_complete

from analysis.errors import AnalysisError, BadInput, EnvironmentFault
from tui.exit_codes import ExitCode, epilog
from tui.text import safe

PROGRAM = "tui"
_COMPLETION = "_TUI_COMPLETE"
_DEBUG = "SOAKBOARD_DEBUG"


@dataclass(frozen=True)
class Entry:
    """A command before it is imported: `command` in `module`, and its line in the help.

    no: what exit code 1 means for it; empty when it never answers no.
    """

    module: str
    summary: str
    no: str = ""


COMMANDS = {
    "demo": Entry("tui.commands.demo", "Open the dashboard on sample data."),
    "ingest": Entry("tui.commands.ingest", "Read logs into the index."),
    "attribute": Entry("tui.commands.attribute", "Say what class of problem each test is."),
    "check": Entry(
        "tui.commands.check",
        "Say whether the gate may be trusted on this soak.",
        "no: a canary deviates, an outage, a flip, or a class that blocks",
    ),
    "audit": Entry(
        "tui.commands.audit",
        "List the verdicts that prove nothing, and why.",
        "no: a logged pass is no pass",
    ),
    "proof": Entry(
        "tui.commands.proof",
        "Write proofs, and refuse at the gate what the audit would find.",
        "no: refused, with the rule",
    ),
    "compare": Entry("tui.commands.compare", "Say what a change did, test by test."),
    "export": Entry("tui.commands.export", "Write a report to take along: md, html, json, csv."),
    "quarantine": Entry(
        "tui.commands.quarantine",
        "Keep the list of quarantined tests.",
        "no: a rule refuses, or an entry has lapsed",
    ),
    "gate": Entry(
        "tui.commands.gate",
        "Say whether a run passes, with the quarantine list applied.",
        "no: something failed that nothing excuses, or the run proves nothing",
    ),
    "formats": Entry("tui.commands.formats", "List the result files that are read."),
    "rejects": Entry("tui.commands.rejects", "List the lines that could not be read."),
    "sql": Entry("tui.commands.sql", "Ask the index a question of your own."),
    "init": Entry("tui.commands.init", "Write soakboard.toml from what the logs show."),
}


class LazyGroup(click.Group):
    """A group whose commands stand in COMMANDS and are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = import_module(entry.module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.command is no click command")
        command.epilog = command.epilog or epilog(entry.no)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(PROGRAM, "[OPTIONS] [PATH]...")
        formatter.write_usage(PROGRAM, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [one.get_help_record(ctx) for one in (*_dashboard().params, *self.get_params(ctx))]
        with formatter.section("Options of the dashboard"):
            formatter.write_dl([record for record in own if record is not None])
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=epilog("no: the command's question is answered with no"),
)
@click.version_option(package_name="soakboard", prog_name="soakboard")
def group() -> None:
    """Read the logs of a patch gate: which verdicts prove anything, and why others vary.

    Without a command the dashboard opens: on the project's index, or on the logs that are named.
    A first word that is no command and holds a dot or a slash, or is there on disk, is a log.
    """


def _dashboard() -> click.Command:
    command = import_module("tui.commands.dashboard").command
    if not isinstance(command, click.Command):
        raise TypeError("the dashboard is no click command")
    return command


def _opens_the_dashboard(arguments: Sequence[str]) -> bool:
    first = arguments[0] if arguments else ""
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return False
    if not first or first.startswith("-"):
        return True
    return os.sep in first or "." in first or os.path.lexists(first)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tui` with the arguments of the process, or with `argv`; returns the exit code.

    Every error ends here, as one line on standard error.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _accept_any_text(sys.stdout)
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        if argv is None:
            # The process is ending: impatience must not change how.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = _refuse("interrupted", ExitCode.INTERRUPTED)
    except click.ClickException as error:
        code = _refuse(_usage(error), ExitCode.BAD_INPUT)
    except AnalysisError as error:
        code = _refuse(f"{error.message} {error.hint}".strip(), _kind(error))
    except MemoryError:
        code = _refuse("out of memory", ExitCode.ENVIRONMENT)
    except OSError as error:
        code = _system(error)
    # Past this line stands the interpreter, which would end with 1, and 1 means "no".
    except Exception as error:
        code = _internal(error)
    return int(code)


def _run(arguments: list[str]) -> int:
    # click's own main() answers a closed pipe with 1, which here means "no".
    instruction = os.environ.get(_COMPLETION)
    if instruction:
        if shell_complete(group, {}, PROGRAM, _COMPLETION, instruction):
            known = "bash_source, zsh_source or fish_source"
            raise BadInput(f"{_COMPLETION} is {instruction!r}; it may be {known}.")
        return ExitCode.YES
    try:
        command = _dashboard() if _opens_the_dashboard(arguments) else group
        with command.make_context(PROGRAM, arguments) as ctx:
            answer = command.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return answer if isinstance(answer, int) else ExitCode.YES


def _accept_any_text(stream: object) -> None:
    # A path may hold bytes, and a message signs, that the terminal's encoding has not.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _kind(error: AnalysisError) -> ExitCode:
    fault = isinstance(error, EnvironmentFault)
    return ExitCode.ENVIRONMENT if fault else ExitCode.BAD_INPUT


def _usage(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" See '{ctx.command_path} --help'." if ctx else ""
    return error.format_message() + hint


def _system(error: OSError) -> ExitCode:
    _drop_lost_output()
    if error.errno == errno.EPIPE:
        return ExitCode.PIPE_CLOSED
    # Streams do not name themselves; whatever else is written or read has a path.
    place = "standard input or output" if error.filename is None else os.fsdecode(error.filename)
    return _refuse(f"{place}: {error.strerror or error}", ExitCode.ENVIRONMENT)


def _drop_lost_output() -> None:
    # The interpreter would try once more to write what waits as it ends, and end with
    # a code of its own.
    if isinstance(sys.stdout, io.TextIOWrapper):
        try:
            sys.stdout.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def _internal(error: Exception) -> ExitCode:
    if os.environ.get(_DEBUG) == "1":
        for line in traceback.format_exception(error):
            _say("\n".join(map(safe, line.rstrip("\n").split("\n"))))
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    hint = f"(set {_DEBUG}=1 for the traceback)"
    return _refuse(f"internal error: {what} {hint}", ExitCode.INTERNAL)


def _refuse(sentence: str, code: ExitCode) -> ExitCode:
    _say(f"{PROGRAM}: {safe(sentence)}")
    return code


def _say(text: str) -> None:
    # A standard error that is closed or full must not change the answer.
    try:
        click.echo(text, err=True)
    except OSError:
        return
