"""`tui attribute`: what class of problem each test is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from analysis.reports.forms import experiment_json, unit_json
from tui.machine import print_json
from tui.opening import Selection, board_for, experiments_of, reports_on_experiments
from tui.prose import fitted, paragraph, paragraphs, reasons, unit_name
from tui.text import table

if TYPE_CHECKING:
    from analysis.queries.attributions import UnitRow
    from analysis.queries.reports import ExperimentReport


@click.command()
@reports_on_experiments
@click.option("--explain", metavar="TEST", help="Show every row of the table tried on this test.")
def command(
    chosen: Selection,
    as_json: bool,
    explain: str | None,
) -> None:
    """Say of each test whether it is a harness bug, a race, a flake, or none, and why.

    With PATHs their experiments are classified, without an index on disk; otherwise the newest
    experiment of the index. Worst first.
    """
    from analysis.errors import BadInput
    from analysis.queries.reports import reports

    with board_for(chosen) as board:
        found = reports(board.connection, experiments_of(board, chosen))
    units = _worst_first(found)
    if explain is not None:
        units = _asked_for(units, explain)
        if not units:
            raise BadInput(f"No test {explain!r} is classified here.", _near(explain, found))
    if as_json:
        experiments = [experiment_json(one) for one in found]
        print_json(
            "attribute",
            {
                "units": [unit_json(unit, tried=explain is not None) for unit in units],
                "experiments": experiments,
            },
        )
    elif explain is not None:
        click.echo("\n\n".join(_explained(unit) for unit in units))
    else:
        click.echo(_overview(units, found))


def _worst_first(found: Sequence[ExperimentReport]) -> list[UnitRow]:
    from analysis.queries.attributions import worst_first

    return worst_first([unit for one in found for unit in one.units])


def _asked_for(units: Sequence[UnitRow], test: str) -> list[UnitRow]:
    """The units of a test, named by its id or by an end of it that only this test has."""
    exact = [unit for unit in units if unit.test_id == test]
    ending = [unit for unit in units if unit.test_id.endswith(test)]
    return exact or (ending if len({unit.test_id for unit in ending}) == 1 else [])


def _near(test: str, found: Sequence[ExperimentReport]) -> str:
    from difflib import get_close_matches

    known = sorted({unit.test_id for one in found for unit in one.units})
    within = [name for name in known if test in name]
    near = within[:1] or get_close_matches(test, known, n=1) or known[:1]
    return f"Did you mean {near[0]!r}?" if near else ""


def _overview(units: Sequence[UnitRow], found: Sequence[ExperimentReport]) -> str:
    several = len(found) > 1
    headers = ["CLASS", "ROW", "PATCH", "TEST", "COMPANY", "ALONE"]
    rows: list[list[object]] = [
        [unit.unit_class, unit.row, unit.patch_id, unit_name(unit), *_counts(unit)]
        for unit in units
    ]
    if several:
        headers.insert(2, "EXPERIMENT")
        for row, unit in zip(rows, units, strict=True):
            row.insert(2, unit.experiment)
    align = "l" * (len(headers) - 2) + "rr"
    flexible = ("TEST", "PATCH", "EXPERIMENT") if several else ("TEST", "PATCH")
    lines = [fitted(headers, rows, align, flexible)] if rows else []
    lines += ["", *reasons(units)]
    lines += paragraphs(
        (f"not executed: {test} on {patch}" for one in found for patch, test in one.not_executed),
        "",
    )
    return "\n".join(lines).strip("\n") or "No test was executed."


def _counts(unit: UnitRow) -> list[str]:
    """Failures / executed with the upper bound, in company and alone."""
    return [
        f"{side['k']}/{side['n']} ≤{side['upper']:.1%}" if side["n"] else "-"
        for side in (unit.bounds["company"], unit.bounds["alone"])
    ]


def _explained(unit: UnitRow) -> str:
    head = [
        *paragraph(f"{unit_name(unit)} on {unit.patch_id} in {unit.experiment}", ""),
        *paragraph(f"{unit.unit_class}, row {unit.row}: {unit.why}", ""),
        *paragraph(f"do  {unit.action}", ""),
        f"literal table: {'no row' if unit.seed_row is None else f'row {unit.seed_row}'}",
    ]
    if unit.form is not None:
        head += paragraph(f"most failures say: {unit.form}", "")
    counts = [
        [phase, *(f"{k}/{n}" for k, n in (roles.get(r, (0, 0)) for r in _ROLES))]
        for phase, roles in unit.counts.items()
    ]
    tried = paragraphs(
        (
            f"{'>' if one.matches else ' '} {one.row:<3} {one.condition}: {one.numbers}"
            for one in unit.tried
        ),
        "",
    )
    headers = [f"FAILED/{unit.counted.upper()}", *(role.upper() for role in _ROLES)]
    return "\n".join([*head, "", table(headers, counts, "lrrr"), "", *tried])


_ROLES = ("subject", "green", "red")
