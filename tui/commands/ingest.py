"""`tui ingest`: reads logs into the index."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.model import Phase, Role
from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import db_option, index_for, json_option, log_paths, stdin_of, tell, tell_one
from tui.progress import progress
from tui.text import table

if TYPE_CHECKING:
    from analysis.board import SourceReport
    from analysis.records.results import Summary

ROLES = tuple(role.value for role in Role)
PHASES = tuple(phase.value for phase in Phase)


@click.command()
@log_paths
@db_option
@json_option
@click.option("--experiment", metavar="NAME", help="Names the experiment of lines that name none.")
@click.option("--final", is_flag=True, help="No writer goes on: a torn last line is a reject.")
@click.option("--patch", metavar="P", help="The patch that result files are of.")
@click.option("--role", type=click.Choice(ROLES), help="What the patch is: subject, or a canary.")
@click.option("--phase", type=click.Choice(PHASES), help="The arm that result files are of.")
@click.option("--run-id", metavar="R", help="The run that result files are of, all of them.")
@click.option("--variant", metavar="V", help="Lane, browser or platform of result files.")
@click.option(
    "--layout",
    "template",
    metavar="TEMPLATE",
    help="Where result files lie below PATH, and what their paths say, such as "
    "'{phase}/{patch}/{round}/*.xml'.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be read, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what was refused.")
def command(
    paths: tuple[Path, ...],
    db: Path | None,
    as_json: bool,
    experiment: str | None,
    final: bool,
    patch: str | None,
    role: str | None,
    phase: str | None,
    run_id: str | None,
    variant: str | None,
    template: str | None,
    dry_run: bool,
    quiet: bool,
) -> ExitCode:
    """Read logs into the index; every line becomes a row or a visible reject.

    PATH is a log (.jsonl, .gz, .zst), a result file of a test runner (see `tui formats`), a
    directory of these, or - for standard input; without one the new bytes of all known logs are
    read. What is known already is not read again.

    A result file does not say which patch and which arm it is of: options, --layout or a file
    soakboard-run.json beside it do.
    """
    from analysis.board import Ingest, Inputs, Status, now, open_board
    from analysis.config import load_config
    from analysis.records.results.context import layout

    said = {
        "patch_id": patch,
        "role": role,
        "phase": phase,
        "run_id": run_id,
        "variant": variant,
    }
    context = {name: value for name, value in said.items() if value}
    if (context or template) and not paths:
        raise click.UsageError("What is said of result files needs the PATH of these files.")

    path: Path | None = index_for(db)
    if dry_run and path is not None and not path.exists():
        path = None  # trying must not leave an index behind
    opened = open_board(path, load_config(Path.cwd()), (lambda _: None) if quiet else tell_one)
    with opened as board, progress(quiet=quiet) as watch:
        how = Ingest(now(), final=final, experiment=experiment, watch=watch, context=context)
        places = layout(template) if template else None
        inputs = Inputs(paths, stdin_of(paths), places) if paths else None
        if dry_run:
            reports = board.rehearse(inputs, how)
        else:
            reports = board.catch_up(how) if inputs is None else board.take(inputs, how)
    # What the reports say stands below; classes are derived when they are asked for.
    if not quiet:
        tell(board.index.notices)
    if as_json:
        print_json(
            "ingest",
            {
                "dry_run": dry_run,
                "sources": [_source_json(one) for one in reports],
            },
        )
    elif not quiet:
        headers = ["SOURCE", "STATUS", "LINES", "ROWS", "REJECTS", "BLANK", "PENDING"]
        rows = [
            [one.path, one.status, one.lines, one.rows, one.rejects, one.blank, one.pending]
            for one in reports
        ]
        click.echo(table(headers, rows, "llrrrrr"))
    refused = [one for one in reports if one.status is Status.REFUSED]
    if not quiet:
        tell([f"{one.path}: {one.note}" for one in reports if one.note and one not in refused])
        tell([f"{one.path}: {_results(one.results)}" for one in reports if one.results])
    tell([one.note for one in refused])
    if not refused:
        return ExitCode.YES
    fault = any(one.environment for one in refused)
    return ExitCode.ENVIRONMENT if fault else ExitCode.BAD_INPUT


def _source_json(one: SourceReport) -> dict[str, Any]:
    """A source, and of a result file its reading."""
    return {
        "path": one.path,
        "lines": one.lines,
        "rows": one.rows,
        "rejects": one.rejects,
        "blank": one.blank,
        "pending": one.pending,
        "status": one.status,
        "note": one.note or None,
        **({} if one.results is None else asdict(one.results)),
    }


def _results(found: Summary) -> str:
    """A reading in one line."""
    said = [f"{found.tests:,} tests ({found.format})", f"{found.passed:,} passed"]
    rest = (
        (found.failed, "failed"),
        (found.errors, "errors"),
        (found.skipped, "skipped"),
        (found.flaky, "flaky"),
        (found.not_run, "not run"),
    )
    said += [f"{count:,} {word}" for count, word in rest if count]
    said += [] if found.complete else ["incomplete, so never a pass"]
    return ", ".join(said) + "".join(f"; {note}" for note in found.notes)
