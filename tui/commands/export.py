"""`tui export`: the answers as a file to take along."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.opening import Selection, board_for, experiments_of, reports_on_experiments

if TYPE_CHECKING:
    from analysis.config import Config
    from analysis.quarantine.desk import Desk

FORMATS = ("md", "html", "json", "csv")
WHATS = ("attribution", "stability", "evidence", "quarantine", "all")
STDOUT = Path("-")


@click.command()
@reports_on_experiments
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Otherwise as the suffix of --output says, else md; --json is --format json.",
)
@click.option(
    "--what",
    type=click.Choice(WHATS),
    help="Otherwise all; attribution for CSV, which holds one table.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write, whole or not at all; otherwise standard output.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(
    chosen: Selection,
    as_json: bool,
    form: str | None,
    what: str | None,
    target: Path | None,
    force: bool,
) -> None:
    """Write what tests are, how steady verdicts are and which prove nothing: for a pull request, a
    page or a program.

    Markdown and HTML show the worst first and say what they leave out; JSON and CSV have all
    rows. With PATHs their experiments are exported, otherwise the newest of the index.
    """
    from analysis.board import now
    from analysis.reports.content import Scope, What
    from analysis.reports.export import (
        Format,
        format_of,
        refuse_to_replace,
        refuse_two_tables,
        write,
        write_report,
    )

    into = None if target in (None, STDOUT) else target
    suffixed = None if into is None else format_of(into)
    named = _named(form, as_json)
    chosen_form = Format(named) if named else suffixed or Format.MARKDOWN
    part = What(what or ("attribution" if chosen_form is Format.CSV else "all"))
    # A refusal must not wait until gigabytes have been read.
    refuse_two_tables(part, chosen_form)
    if into is not None:
        refuse_to_replace(into, force=force)
    with board_for(chosen) as board:
        scope = Scope(part, tuple(experiments_of(board, chosen)), now(), desk=_desk(board.config))
        if into is None:
            write(board.connection, scope, chosen_form, sys.stdout)
        else:
            write_report(board.connection, scope, chosen_form, into, force=force)


def _named(form: str | None, as_json: bool) -> str | None:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other.")
    return "json" if as_json else form


def _desk(config: Config) -> Desk:
    """The quarantine list of the project, which is empty where there is none."""
    from analysis.board import now
    from analysis.quarantine.desk import Desk
    from analysis.quarantine.log import list_path

    return Desk(list_path(config, Path.cwd()), config, "", now())
