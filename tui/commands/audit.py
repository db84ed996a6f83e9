"""`tui audit`: which logged passes prove nothing?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.reports.forms import audit_totals_json, finding_json, overturned_json
from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import Selection, board_for, experiments_of, reports_on_experiments
from tui.prose import fitted, paragraph, paragraphs

if TYPE_CHECKING:
    from analysis.queries.audited import AuditFinding, AuditTotals
    from analysis.queries.overturned import OverturnedRow

MOST_LINES = 100
"""Findings that are printed; --json has all of them."""


@click.command()
@reports_on_experiments
@click.option("--rule", default="", metavar="NAME", help="Only findings of this rule.")
@click.option(
    "--recall",
    is_flag=True,
    help="Only the passes that today's rules overturn, of every experiment unless one is named.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Where evidence files lie; otherwise beside each log. Nothing outside is opened.",
)
@click.option(
    "--inventory",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The test ids that must have run, one a line; otherwise the configured file.",
)
def command(
    chosen: Selection,
    as_json: bool,
    rule: str,
    recall: bool,
    root: Path | None,
    inventory: Path | None,
) -> ExitCode:
    """List what proves nothing: rule, sentence, file and line, verdict before and after.

    Looks at the records and at the files that they offer as proof. 1 means that a logged pass is
    no pass.
    """
    from analysis.board import audited
    from analysis.queries.audited import audit_findings, audit_totals, overturned

    _refuse_unknown(rule)
    if recall and not (chosen.paths or chosen.experiment or chosen.since):
        chosen = replace(chosen, everything=True)
    with board_for(chosen) as board:
        if inventory is not None:
            board.pin(inventory)
        names = experiments_of(board, chosen)
        with audited(board, names, root):
            findings = audit_findings(board.connection, names, rule)
            passes = overturned(board.connection, names, rule)
            totals = audit_totals(board.connection, names)
    if as_json:
        print_json(
            "audit",
            {
                **({} if recall else {"findings": list(map(finding_json, findings))}),
                "overturned": list(map(overturned_json, passes)),
                "totals": {
                    **audit_totals_json(totals),
                    "rules": dict(Counter(one.rule for one in findings)),
                },
            },
        )
    else:
        click.echo(_told([] if recall else findings, passes, totals, rule))
    return ExitCode.NO if passes else ExitCode.YES


def _refuse_unknown(rule: str) -> None:
    from analysis.evidence.audit import ALL_RULES

    known = sorted({one.name for one in ALL_RULES})
    if rule and rule not in known:
        raise click.BadParameter(f"no rule {rule!r}; there are {', '.join(known)}")


def _told(
    findings: Sequence[AuditFinding],
    passes: Sequence[OverturnedRow],
    totals: AuditTotals,
    rule: str,
) -> str:
    by = f" by {rule}" if rule else ""
    head = (
        f"{len(passes)} of {totals.passes} logged passes prove nothing{by}"
        f" ({totals.runs} runs, {totals.unproven} unproven)"
    )
    sections = [paragraph(head, ""), _overturned(passes), _findings(findings)]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _overturned(passes: Sequence[OverturnedRow]) -> list[str]:
    if not passes:
        return []
    rows = [
        [
            one.run_id,
            one.patch_id,
            {None: "", True: "merged", False: "not merged"}[one.merged],
            ", ".join(one.rules) or "log-incomplete",
            f"{one.path}:{one.line}",
        ]
        for one in passes[:MOST_LINES]
    ]
    headers = ["OVERTURNED", "PATCH", "MERGED", "RULE", "RECORD"]
    return [fitted(headers, rows, "", ("RECORD", "RULE", "PATCH")), *_more(len(passes))]


def _findings(findings: Sequence[AuditFinding]) -> list[str]:
    lines: list[str] = []
    for one in findings[:MOST_LINES]:
        place = f"{one.path}:{one.line}" if one.path else one.experiment
        run = f"run {one.run_id} of {one.patch_id}: " if one.run_id else ""
        after = f" [{one.logged} -> {one.verdict}]" if one.logged else ""
        text = f"{one.standing} {one.rule}: {run}{one.sentence}{after} ({place})"
        lines += paragraphs([text], "  ")
    return [*lines, *_more(len(findings))]


def _more(total: int) -> list[str]:
    rest = total - MOST_LINES
    return [f"... and {rest} more; --json has all of them"] if rest > 0 else []
