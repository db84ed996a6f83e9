"""`tui ingest`: reads logs into the index."""

from __future__ import annotations

from pathlib import Path

import click

from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import db_option, index_for, json_option, log_paths, stdin_of, tell, tell_one
from tui.progress import progress
from tui.text import table


@click.command()
@log_paths
@db_option
@json_option
@click.option("--experiment", metavar="NAME", help="Names the experiment of lines that name none.")
@click.option("--final", is_flag=True, help="No writer goes on: a torn last line is a reject.")
@click.option("--dry-run", is_flag=True, help="Say what would be read, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what was refused.")
def command(
    paths: tuple[Path, ...],
    db: Path | None,
    as_json: bool,
    experiment: str | None,
    final: bool,
    dry_run: bool,
    quiet: bool,
) -> ExitCode:
    """Read logs into the index; every line becomes a row or a visible reject.

    PATH is a log (.jsonl, .gz, .zst), a directory of logs, or - for standard input; without one
    the new bytes of all known logs are read. What is known already is not read again.
    """
    from analysis.board import Ingest, Inputs, Status, now, open_board
    from analysis.config import load_config

    path: Path | None = index_for(db)
    if dry_run and path is not None and not path.exists():
        path = None  # trying must not leave an index behind
    opened = open_board(path, load_config(Path.cwd()), (lambda _: None) if quiet else tell_one)
    with opened as board, progress(quiet=quiet) as watch:
        how = Ingest(now(), final=final, experiment=experiment, watch=watch)
        inputs = Inputs(paths, stdin_of(paths)) if paths else None
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
                "sources": [
                    {
                        "path": one.path,
                        "lines": one.lines,
                        "rows": one.rows,
                        "rejects": one.rejects,
                        "blank": one.blank,
                        "pending": one.pending,
                        "status": one.status,
                        "note": one.note or None,
                    }
                    for one in reports
                ],
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
    tell([one.note for one in refused])
    if not refused:
        return ExitCode.YES
    fault = any(one.environment for one in refused)
    return ExitCode.ENVIRONMENT if fault else ExitCode.BAD_INPUT
