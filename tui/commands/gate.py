"""`tui gate`: is this run a pass, with the quarantine list applied?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.commands.quarantine import at_option, db_option, hidden, list_option
from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import json_option, stdin_of, tell, tell_of_sources
from tui.text import safe

if TYPE_CHECKING:
    from analysis.quarantine.gate import Failure, Ruling


@click.command()
@click.argument(
    "results",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, readable=False),
    metavar="RESULTS...",
)
@list_option
@db_option
@at_option
@json_option
def command(
    results: tuple[Path, ...],
    path: Path | None,
    db: Path | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Exit 0 only if nothing failed but what the list excuses, something passed, every run is
    complete, and no pinned test is absent.

    RESULTS are result files of a test runner (see `tui formats`), logs, directories of these, or -
    for standard input. A failure is excused if its exact test is quarantined for failures like it.
    """
    from analysis.board import Ingest, Inputs, now, open_board, usable
    from analysis.config import load_config
    from analysis.quarantine.gate import Rules, rule
    from analysis.quarantine.log import list_path, read_list

    config = load_config(Path.cwd())
    moment = (at or datetime.now(UTC)).replace(microsecond=0)
    found = read_list(path or list_path(config, Path.cwd()), moment, config)
    rules = Rules(hidden(db, found), config.policy.on_lapse, config.inventory)
    with open_board(None, config) as board:
        reports = board.take(Inputs(results, stdin_of(results)), Ingest(now(), final=True))
        usable(reports)
        tell_of_sources(reports)
        board.derive()
        ruling = rule(board.connection, found, rules)
    tell([one.sentence for one in found.complaints])
    if as_json:
        print_json("gate", _json(ruling, found.digest, moment))
    else:
        _print(ruling, found.digest)
    return ExitCode.YES if ruling.passes else ExitCode.NO


def _print(ruling: Ruling, digest: str) -> None:
    for one in ruling.failures:
        word = "excused" if one.excused else "BLOCKS"
        click.echo(f"{word}: {safe(_name(one))} in run {safe(one.run_id)}: {safe(one.why)}")
        click.echo(f"  {safe(' '.join(part for part in one.signature if part))}")
    for sentence in ruling.warnings:
        click.echo(f"note: {safe(sentence)}")
    for sentence in ruling.objections:
        click.echo(f"no: {safe(sentence)}")
    excused = sum(1 for one in ruling.failures if one.excused)
    word = "PASS" if ruling.passes else "FAIL"
    click.echo(
        f"{word}: {ruling.passed:,} passed, {len(ruling.failures) - excused:,} failed, "
        f"{excused:,} excused, in {ruling.runs:,} runs; list {digest[:12]}"
    )


def _name(one: Failure) -> str:
    return one.test_id if one.variant is None else f"{one.test_id} [{one.variant}]"


def _json(ruling: Ruling, digest: str, at: datetime) -> dict[str, object]:
    return {
        "pass": ruling.passes,
        "at": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "list": digest,
        "runs": ruling.runs,
        "passed": ruling.passed,
        "failures": [
            {
                "run_id": one.run_id,
                "test_id": one.test_id,
                "variant": one.variant,
                "signature": one.signature._asdict(),
                "excused": one.excused,
                "entry": None if one.entry is None else one.entry.name,
                "owner": None if one.entry is None else one.entry.owner,
                "why": one.why,
            }
            for one in ruling.failures
        ],
        "objections": list(ruling.objections),
        "warnings": list(ruling.warnings),
    }
