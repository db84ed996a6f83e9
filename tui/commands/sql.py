"""`tui sql`: a question of your own to the index."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from tui.machine import plain, print_csv, print_json
from tui.opening import Selection, board_for, db_option, log_paths, up_to_date
from tui.text import table


@click.command()
@click.argument("query")
@log_paths
@db_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print the answer.",
)
def command(query: str, paths: tuple[Path, ...], db: Path | None, form: str) -> None:
    """Run one reading SQL statement on the index (DuckDB's dialect).

    Views with stable names: runs, results, attributions, findings, rejects. Times are UTC.
    Nothing can be written, and no other file can be read.
    """
    from analysis.queries.free import ask

    with board_for(Selection(paths, db)) as board:
        answer = ask(up_to_date(board).connection, query)
    if form == "csv":
        print_csv(answer.columns, answer.rows)
    elif form == "json":
        rows = [[_json_value(value) for value in row] for row in answer.rows]
        print_json("sql", {"columns": answer.columns, "rows": rows})
    else:
        click.echo(table(answer.columns, [[_cell(v) for v in row] for row in answer.rows]))


def _json_value(value: Any) -> Any:
    """Numbers that JSON has no form for become text, also inside lists and structs."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(one) for one in value]
    return value


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    return plain(value)
