"""`tui rejects`: the lines that could not be read."""

from __future__ import annotations

from pathlib import Path

import click

from tui.machine import print_json
from tui.opening import Selection, board_for, db_option, json_option, log_paths
from tui.text import cut, table

RAW_CELLS = 60


@click.command()
@log_paths
@db_option
@json_option
def command(paths: tuple[Path, ...], db: Path | None, as_json: bool) -> None:
    """List rejected lines: file, line, byte offset, reason and raw text, made safe to show."""
    from analysis.board import log_names
    from analysis.queries.rejected import rejects

    with board_for(Selection(paths, db)) as board:
        found = rejects(board.connection, log_names(paths) if paths else None)
    if as_json:
        print_json(
            "rejects",
            {
                "rejects": [
                    {
                        "path": one.path,
                        "line": one.line,
                        "offset": one.offset,
                        "reason": one.reason,
                        "length": one.length,
                        "raw": one.text,
                    }
                    for one in found
                ]
            },
        )
        return
    if not found:
        click.echo("No rejected line.")
        return
    rows = [[one.path, one.line, one.offset, one.reason, cut(one.text, RAW_CELLS)] for one in found]
    click.echo(table(["FILE", "LINE", "OFFSET", "REASON", "RAW"], rows, "lrrll"))
