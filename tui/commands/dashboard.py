"""`tui`: the dashboard."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from analysis.errors import BadInput
from tui.exit_codes import ExitCode
from tui.opening import db_option, index_for, log_paths
from tui.state import SCREENS

if TYPE_CHECKING:
    from analysis.queries.experiments import Choice
    from tui.app import Source
    from tui.state import Start


@click.command(name="tui")
@log_paths
@db_option
@click.option(
    "--experiment",
    metavar="NAME",
    help="Open on this experiment; with PATHs it also names lines that name none.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]),
    metavar="TIME",
    help="Open on the experiments with a run since then (UTC).",
)
@click.option("--all", "everything", is_flag=True, help="Open on every experiment.")
@click.option("--screen", type=click.Choice(SCREENS), help="Open this screen.")
@click.option("--test", metavar="ID", help="Open the detail of a test.")
@click.option("--patch", metavar="ID", help="Show this patch only.")
@click.option("--filter", "text", metavar="TEXT", help="Show only what this filter leaves.")
@click.option(
    "--final", is_flag=True, help="The logs of PATHs are complete: a torn last line is a reject."
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII signs only.")
def command(
    paths: tuple[Path, ...],
    db: Path | None,
    experiment: str | None,
    since: datetime | None,
    everything: bool,
    screen: str | None,
    test: str | None,
    patch: str | None,
    text: str | None,
    final: bool,
    ascii_only: bool,
) -> int:
    """Look at a gate: which verdicts prove anything, whose fault a failure is, what to do next.

    Without PATHs the dashboard opens on the project's index and takes new lines of its logs. With
    PATHs it opens on those logs, in an index that is gone afterwards unless --db names one.
    """
    need_a_terminal()
    from analysis.queries.experiments import Choice
    from analysis.records import find_logs

    for path in paths:
        find_logs(path)
    moment = None if since is None else since.replace(tzinfo=UTC)
    whole = everything or bool(paths and experiment is None and moment is None)
    choice = Choice(experiment, moment, whole)
    start = start_at(screen, test, patch, text)
    return open_on(paths, db, experiment, choice, start, final=final, ascii_only=ascii_only)


def need_a_terminal() -> None:
    """BadInput where there is none, before anything large is imported."""
    if not _has_terminal():
        raise BadInput(
            "The dashboard needs a terminal.",
            "`tui check` and `tui attribute` answer without one; `tui export` writes a report.",
        )


def _has_terminal() -> bool:
    return all(one is not None and one.isatty() for one in (sys.stdin, sys.stdout))


def start_at(screen: str | None, test: str | None, patch: str | None, text: str | None) -> Start:
    """Where the dashboard opens; a test or a patch is looked for among the tests."""
    from analysis.queries.filters import exactly
    from tui.state import Start

    words = [
        text or "",
        exactly("patch", patch) if patch else "",
        exactly("test", test) if test else "",
    ]
    usual = "tests" if test or patch or text else "overview"
    return Start(screen or usual, " ".join(word for word in words if word), test)


def open_on(
    paths: tuple[Path, ...],
    db: Path | None,
    experiment: str | None,
    choice: Choice,
    start: Start,
    *,
    final: bool,
    ascii_only: bool = False,
    own_list: bool = False,
) -> int:
    """Open the dashboard on some logs, or on the index, until it is quit; its exit code.

    own_list: with a quarantine list that is gone afterwards, and not that of the project.
    """
    try:
        return _opened(
            paths,
            db,
            experiment,
            choice,
            start,
            final=final,
            ascii_only=ascii_only,
            own_list=own_list,
        )
    finally:
        # The thread that reads the terminal does not always end with it, and would keep the
        # process, which is done.
        if not _has_terminal():
            os._exit(ExitCode.INTERRUPTED)


def _opened(
    paths: tuple[Path, ...],
    db: Path | None,
    experiment: str | None,
    choice: Choice,
    start: Start,
    *,
    final: bool,
    ascii_only: bool,
    own_list: bool,
) -> int:
    from tui.app import Source

    with ExitStack() as stack:
        index, listed = index_for(db), None
        if paths and db is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="soakboard-")))
            index, listed = folder / "index", folder / "quarantine.jsonl" if own_list else None
        source = Source(index, paths, experiment, final, listed)
        return run(source, choice, start, ascii_only=ascii_only)


def run(source: Source, choice: Choice, start: Start, *, ascii_only: bool) -> int:
    """Run the app; an error of its own ends here like that of any command."""
    from tui.app import Soakboard
    from tui.glyphs import glyphs_for

    app = Soakboard(source, choice, start, glyphs=glyphs_for(ascii_only=ascii_only))
    answer = app.run()
    if app.defect is not None:
        raise app.defect
    return answer or ExitCode.YES
