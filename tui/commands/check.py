"""`tui check`: may the gate be trusted, on this soak?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.exit_codes import ExitCode
from tui.findings import check_json
from tui.machine import print_json
from tui.opening import (
    board_for,
    choice_options,
    db_option,
    experiments_of,
    json_option,
    log_paths,
    selection,
)
from tui.text import cut, safe, table

if TYPE_CHECKING:
    from analysis.queries import CanaryReport, ExperimentReport, PatchReport

SIGNS = {"pass": ".", "fail": "F", "none": "0"}
STRIP_CELLS = 40


@click.command()
@log_paths
@db_option
@choice_options
@json_option
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=click.Choice(["insufficient"]),
    help="Do not say no because of this class.",
)
@click.option(
    "--digest",
    "digests",
    multiple=True,
    metavar="[PATCH=]HEX",
    help="The digest that a patch (or every subject) must have been run with.",
)
def command(
    paths: tuple[Path, ...],
    db: Path | None,
    experiment: str | None,
    since: datetime | None,
    everything: bool,
    as_json: bool,
    allowed: tuple[str, ...],
    digests: tuple[str, ...],
) -> ExitCode:
    """Say whether the gate may be trusted on this soak: canaries, outages, flips, classes.

    For CI: 0 is yes, 1 is no, and the reasons are printed. With PATHs their experiments are
    checked, without an index on disk; otherwise the newest experiment of the index.
    """
    from analysis.model import UnitClass
    from analysis.queries import reports

    chosen = selection(paths, db, experiment, since, everything)
    wanted = dict(_digest(text) for text in digests)
    with board_for(chosen, wanted) as board:
        found = reports(board.connection, experiments_of(board, chosen))
    lifted = [UnitClass.INSUFFICIENT] if "insufficient" in allowed else []
    objections = {one.experiment: one.objections(lifted) for one in found}
    trusted = not any(objections.values())
    if as_json:
        print_json(
            "check",
            {
                "ok": trusted,
                "allowed": list(allowed),
                "experiments": [
                    {**check_json(one), "objections": list(objections[one.experiment])}
                    for one in found
                ],
            },
        )
    else:
        click.echo("\n\n".join(_told(one, objections[one.experiment]) for one in found))
    return ExitCode.YES if trusted else ExitCode.NO


def _digest(text: str) -> tuple[str, str]:
    patch, equals, digest = text.rpartition("=")
    if len(digest) < 8 or set(digest.lower()) - set("0123456789abcdef"):
        raise click.BadParameter(
            f"{text!r} is no digest: 8 or more hexadecimal characters", param_hint="--digest"
        )
    return (patch if equals else "", digest.lower())


def _told(report: ExperimentReport, objections: Sequence[str]) -> str:
    answer = "NO, do not trust it" if objections else "YES, trust it within the bounds below"
    lines = [f"{report.experiment}: {answer}"]
    lines += [f"  no: {objection}" for objection in objections]
    lines += ["", _canary(report.red, "passed", "false accepts")]
    lines += [_canary(report.green, "failed", "false rejects"), ""]
    parts = [safe(line) for line in lines]
    parts += [_patches(report.patches), ""]
    units = [unit for unit in report.units if unit.unit_class != "stable"]
    for unit in units:
        name = unit.test_id if unit.variant is None else f"{unit.test_id} [{unit.variant}]"
        parts.append(safe(f"{unit.unit_class} ({unit.row}): {name} on {unit.patch_id}"))
        parts.append(safe(f"  {unit.why}"))
        parts.append(safe(f"  {unit.action}"))
    parts += [safe(line) for line in _remarks(report)]
    return "\n".join(parts).rstrip("\n")


def _canary(canary: CanaryReport, deed: str, rate: str) -> str:
    if canary.patch_id is None:
        return f"{canary.role} canary: none in this log"
    k, n = canary.deviating
    low, high = canary.interval
    other = f", {canary.other_failures} failed otherwise" if canary.other_failures else ""
    runs = f"; run {', '.join(canary.runs[:3])}" if canary.runs else ""
    return (
        f"{canary.role} canary {canary.patch_id}: as it must in {canary.good} of {canary.judged}, "
        f"{deed} {k}{other}{runs}; {rate} {k}/{n}, {low:.1%} to {high:.1%} with 95 % "
        f"(judged on {canary.judged_on})"
    )


def _patches(patches: Sequence[PatchReport]) -> str:
    rows = [
        [
            patch.patch_id,
            patch.role,
            patch.phase,
            _strip(patch),
            "one verdict" if patch.unique else "varies" if patch.verdicts else "none",
            patch.unit_class or "",
            patch.sight if patch.role == "subject" else "",
        ]
        for patch in patches
    ]
    return table(["PATCH", "ROLE", "PHASE", "VERDICTS", "", "CLASS", "WHAT IT COULD SHOW"], rows)


def _strip(patch: PatchReport) -> str:
    """A sign a run: . pass, F fail, 0 no verdict; the newest ones where there are many."""
    signs = "".join(SIGNS[verdict] for verdict in patch.verdicts)
    if len(signs) <= STRIP_CELLS:
        return signs
    return f"…{signs[-STRIP_CELLS:]} (last {STRIP_CELLS} of {len(signs)})"


def _remarks(report: ExperimentReport) -> list[str]:
    lines = [
        f"flip: {flip.patch_id} passed in {flip.pass_run} ({flip.pass_at}) and failed in "
        f"{flip.fail_run} ({flip.fail_at}); {flip.passes} passes, {flip.fails} fails"
        + ("" if flip.digest else "; digest unknown")
        for flip in report.flips
    ]
    for tell in report.tells:
        shared = (
            f"both hold {tell.kind} {tell.id}" if tell.kind else "record resources for these two"
        )
        lines.append(
            f"the tell: {tell.stable} is stably red ({tell.stable_fails}/{tell.stable_runs}) beside "
            f"{tell.varying} ({tell.varying_fails}/{tell.varying_runs}): {shared}"
        )
    lines += [f"void: {count} verdicts, {rule}" for rule, count in report.void.items()]
    if report.unproven:
        lines.append(f"unproven: {report.unproven} of {report.runs} verdicts carry no proof")
    if report.rejects:
        lines.append(f"rejected: {report.rejects} lines; `tui rejects` shows them")
    lines += [f"not executed: {test} on {patch}" for patch, test in report.not_executed]
    lines += [f"note: {cut(note, 200)}" for note in report.notes]
    return lines
