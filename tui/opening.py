"""From the options of a command to an open board."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.progress import progress
from tui.text import safe

if TYPE_CHECKING:
    from analysis.board import Board, SourceReport
    from analysis.queries.experiments import Choice

DB_VARIABLE = "SOAKBOARD_DB"
STDIN = Path("-")

Command = Callable[..., Any]


@dataclass(frozen=True)
class Selection:
    """Which logs to read and which experiments to report on, as given on the command line."""

    paths: tuple[Path, ...]
    db: Path | None
    experiment: str | None = None
    since: datetime | None = None
    everything: bool = False


def log_paths(command: Command) -> Command:
    """PATH arguments: logs, directories of logs, `-` for standard input."""
    return click.argument(
        "paths", nargs=-1, type=click.Path(path_type=Path, readable=False), metavar="[PATH]..."
    )(command)


def db_option(command: Command) -> Command:
    """--db."""
    return click.option(
        "--db",
        type=click.Path(path_type=Path, readable=False),
        metavar="FILE",
        help="The index to use; with PATHs and without --db there is none on disk. Otherwise "
        f"{DB_VARIABLE}, or .soakboard/index.duckdb of the project.",
    )(command)


def json_option(command: Command) -> Command:
    """--json."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, with a versioned `schema` key."
    )(command)


def reports_on_experiments(command: Command) -> Command:
    """PATHs, --db, --experiment, --since, --all and --json. The command gets the first five as
    one argument `chosen` (a Selection), the last as `as_json`."""

    @wraps(command)
    def with_selection(
        *,
        paths: tuple[Path, ...],
        db: Path | None,
        experiment: str | None,
        since: datetime | None,
        everything: bool,
        **others: Any,
    ) -> Any:
        moment = None if since is None else since.replace(tzinfo=UTC)
        return command(chosen=Selection(paths, db, experiment, moment, everything), **others)

    options = (
        log_paths,
        db_option,
        click.option(
            "--experiment",
            metavar="NAME",
            help="Report on this experiment; with PATHs it also names lines that name none.",
        ),
        click.option(
            "--since",
            type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]),
            metavar="TIME",
            help="Report on experiments with a run since then (UTC).",
        ),
        click.option("--all", "everything", is_flag=True, help="Report on every experiment."),
        json_option,
    )
    decorated: Command = with_selection
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


@contextmanager
def board_for(chosen: Selection, digests: dict[str, str] | None = None) -> Iterator[Board]:
    """A board with its logs taken: PATHs read to their end, else new bytes of known sources."""
    from analysis.board import Ingest, Inputs, now, open_board, usable
    from analysis.config import load_config

    db = chosen.db if chosen.paths else existing_index(chosen.db)
    with open_board(db, load_config(Path.cwd()), tell_one) as board:
        board.digests = digests or {}
        with progress() as watch:
            if chosen.paths:
                how = Ingest(now(), final=True, experiment=chosen.experiment, watch=watch)
                reports = board.take(Inputs(chosen.paths, stdin_of(chosen.paths)), how)
            else:
                reports = board.catch_up(Ingest(now(), final=False, watch=watch))
        usable(reports)
        if chosen.paths:
            tell_of_sources(reports)
        tell_notices(board)
        yield board


def up_to_date(board: Board) -> Board:
    """The board, with its answers brought up to date and what there is to say of it told."""
    board.derive()
    tell_notices(board)
    return board


def tell_notices(board: Board) -> None:
    """What the board has to say, on standard error, once."""
    tell(board.notices)
    board.notices.clear()


def experiments_of(board: Board, chosen: Selection) -> list[str]:
    """The experiments that a command reports on, their answers brought up to date."""
    up_to_date(board)
    from analysis.board import log_names
    from analysis.queries.experiments import Choice
    from analysis.queries.experiments import chosen as experiments

    logs = log_names(chosen.paths) if chosen.paths else None
    choice: Choice = Choice(chosen.experiment, chosen.since, chosen.everything, logs)
    names = experiments(board.connection, choice)
    if choice == Choice():
        others = len(experiments(board.connection, Choice(everything=True))) - len(names)
        if others:
            tell([f"this is the newest experiment; --all reports on {others} more"])
    return names


def index_for(db: Path | None) -> Path:
    """The index on disk: --db, else the environment, else the project's own."""
    from analysis.config import index_path

    if db is not None:
        return db
    named = os.environ.get(DB_VARIABLE)
    return Path(named) if named else index_path(Path.cwd())


def existing_index(db: Path | None) -> Path:
    """Like `index_for`; BadInput where nothing has been read yet."""
    from analysis.errors import BadInput

    path = index_for(db)
    if not path.exists():
        raise BadInput(
            f"There is no index at {path} yet.",
            "Name logs here, or read them with `tui ingest PATH`.",
        )
    return path


def stdin_of(paths: Sequence[Path]) -> Any:
    """Standard input as bytes if `-` is among the paths."""
    if STDIN not in paths:
        return None
    if sys.stdin is None:
        from analysis.errors import BadInput

        raise BadInput("Standard input is closed.")
    return sys.stdin.buffer


def tell_of_sources(reports: Sequence[SourceReport]) -> None:
    """One line on standard error for each source that is not simply read."""
    for report in reports:
        if report.note:
            tell([f"{report.path}: {report.note}"])
        if report.rejects:
            line = "1 line was" if report.rejects == 1 else f"{report.rejects} lines were"
            tell([f"{report.path}: {line} rejected; `tui rejects` shows them"])


def tell_one(sentence: str) -> None:
    """One sentence for the person."""
    tell([sentence])


def tell(sentences: Sequence[str]) -> None:
    """Words for the person, on standard error."""
    for sentence in sentences:
        click.echo(f"tui: {safe(sentence)}", err=True)
