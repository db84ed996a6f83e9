"""`tui check`: may the gate be trusted, on this soak?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from analysis.reports.forms import check_json
from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import Selection, board_for, experiments_of, reports_on_experiments
from tui.prose import fitted, paragraph, paragraphs, reasons
from tui.text import cut

if TYPE_CHECKING:
    from analysis.queries.reports import CanaryReport, ExperimentReport, PatchReport

SIGNS = {"pass": ".", "fail": "F", "none": "0"}
LEGEND = "a sign a run: . pass, F fail, 0 no verdict"
STRIP_CELLS = 40


@click.command()
@reports_on_experiments
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
    chosen: Selection,
    as_json: bool,
    allowed: tuple[str, ...],
    digests: tuple[str, ...],
) -> ExitCode:
    """Say whether the gate may be trusted on this soak: canaries, outages, flips, classes.

    For CI: 0 is yes, 1 is no, and the reasons are printed. With PATHs their experiments are
    checked, without an index on disk; otherwise the newest experiment of the index.
    """
    from analysis.model import UnitClass
    from analysis.queries.reports import reports

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
    answer = "NO, do not trust it" if objections else "YES, within the bounds below"
    head = paragraph(f"{report.experiment}: {answer}", "")
    subjects = [patch for patch in report.patches if patch.role == "subject"]
    sections = [
        [*head, *paragraphs((f"- {objection}" for objection in objections), "  ")],
        [_canaries(report.red, report.green)],
        [_patches(report.patches)],
        paragraphs((f"{patch.patch_id}: {patch.sight}" for patch in subjects), ""),
        reasons([unit for unit in report.units if unit.unit_class != "stable"]),
        paragraphs(_remarks(report), ""),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _canaries(red: CanaryReport, green: CanaryReport) -> str:
    rows = []
    for canary, deed, rate in (
        (red, "passed", "false accepts"),
        (green, "failed", "false rejects"),
    ):
        k, n = canary.deviating
        low, high = canary.interval
        other = f", {canary.other_failures} failed otherwise" if canary.other_failures else ""
        rows.append(
            [
                canary.role,
                canary.patch_id or "(none)",
                f"{canary.good}/{canary.judged}",
                f"{deed} {k}/{n}{other}",
                f"{rate} {low:.0%} to {high:.0%}" if n else "",
                canary.judged_on,
            ]
        )
    headers = ["CANARY", "PATCH", "BEHAVED", "DEVIATED", "FALSE VERDICTS, 95 %", "JUDGED ON"]
    return fitted(headers, rows, "", ("JUDGED ON", "PATCH"))


def _patches(patches: Sequence[PatchReport]) -> str:
    order = {"red": 0, "green": 1}
    rows = [
        [
            patch.role,
            patch.patch_id,
            patch.phase,
            _strip(patch),
            _agreement(patch),
            patch.unit_class or "",
        ]
        for patch in sorted(patches, key=lambda patch: order.get(patch.role, 2))
    ]
    headers = ["ROLE", "PATCH", "PHASE", "VERDICTS", "", "CLASS"]
    return f"{fitted(headers, rows, '', ('PATCH', 'VERDICTS'))}\n{LEGEND}"


def _agreement(patch: PatchReport) -> str:
    if patch.unique:
        return "one verdict"
    if patch.passes and patch.fails:
        return "varies"
    return "incomplete" if patch.passes or patch.fails else "no verdict"


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
            f"the tell: {tell.stable} is stably red ({tell.stable_fails}/{tell.stable_runs}) "
            f"beside {tell.varying} ({tell.varying_fails}/{tell.varying_runs}): {shared}"
        )
    if report.void:
        rules = ", ".join(f"{rule} {count}" for rule, count in report.void.items())
        lines.append(f"void verdicts by rule (one may break several): {rules}")
    if report.unproven:
        lines.append(f"unproven: {report.unproven} passes of {report.runs} runs carry no proof")
    if report.rejects:
        lines.append(f"rejected: {report.rejects} lines; `tui rejects` shows them")
    if report.overridden:
        lines.append(f"the experiment's header overrides {', '.join(report.overridden)}")
    lines += [f"not executed: {test} on {patch}" for patch, test in report.not_executed]
    lines += [f"note: {cut(note, 200)}" for note in report.notes]
    return lines
