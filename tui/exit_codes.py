"""What the number a command ends with means: one set for every command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The answer of a command to the shell that called it. A crash is never 1."""

    YES = 0
    NO = 1
    BAD_INPUT = 2
    ENVIRONMENT = 3
    INTERNAL = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS = {
    ExitCode.YES: "yes, or the work is done",
    ExitCode.NO: "no",
    ExitCode.BAD_INPUT: "bad input or bad usage",
    ExitCode.ENVIRONMENT: "environment: index busy, disk full, file unreadable",
    ExitCode.INTERNAL: "internal error (SOAKBOARD_DEBUG=1 shows the traceback)",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.PIPE_CLOSED: "the reader of standard output went away",
}


def epilog(no: str = "") -> str:
    r"""The exit codes as the last paragraph of a command's help.

    no: what 1 means for this command; empty when the command never answers no.
    The leading \b keeps click from filling the lines into one paragraph.
    """
    told = {**MEANINGS, ExitCode.NO: no}
    lines = [f"{code.value:>5}  {words}" for code, words in told.items() if words]
    return "\n".join(["\b", "Exit codes:", *lines])
