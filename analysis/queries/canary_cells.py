"""The canaries beside the patches: their runs as cells, judged on the test they are pinned to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.attribution.statistics import Count, lower, upper
from analysis.model import Role
from analysis.queries.cells import CELLS, FAILED, PASSED, flips_in, in_order
from analysis.records.identity import normal_form
from analysis.store import query

_CANARIES = """
SELECT experiment, detail FROM experiment_facts WHERE list_contains($experiments, experiment)
"""

# Red fails as it must where every execution of its pinned test did; green, where one did not.
# Which runs deviate is known: attribution has judged them, every attempt included.
_CANARY_CELLS = f"""
WITH asked AS (
    SELECT unnest($of::VARCHAR[]) AS experiment, unnest($roles::VARCHAR[]) AS role,
        unnest($pins::VARCHAR[]) AS pin, unnest($deviations::VARCHAR[][]) AS deviations
), pinned AS (
    SELECT r.experiment, r.run_id, r.role, bool_and(r.failed) AS always, bool_or(r.failed) AS once
    FROM results r JOIN asked a ON a.experiment = r.experiment AND a.role = r.role
        AND a.pin = r.test_norm
    WHERE r.failed IS NOT NULL AND list_contains($all_pins, r.test_norm) AND r.role <> 'subject'
    GROUP BY ALL
), judged AS (
    SELECT c.*, CASE
            WHEN c.cell NOT IN ('p', 'f') OR a.pin IS NULL THEN c.cell
            WHEN list_contains(a.deviations, c.run_id) THEN if(c.role = 'red', 'p', 'f')
            WHEN p.run_id IS NULL THEN 'n'
            WHEN c.role = 'red' THEN if(p.always, 'f', 'p')
            ELSE if(p.once, 'f', 'p')
        END AS sign
    FROM ({CELLS}) c
    JOIN asked a ON a.experiment = c.experiment AND a.role = c.role
    LEFT JOIN pinned p ON p.experiment = c.experiment AND p.role = c.role AND p.run_id = c.run_id
)
SELECT experiment, role, phase, string_agg(sign, '' ORDER BY place),
    list(run_id ORDER BY place)
FROM judged GROUP BY ALL
"""


@dataclass(frozen=True)
class CanaryRow:
    """A canary of an experiment, judged on its pinned test, or on its run verdicts without one.

    Cells and k/n say whether that test failed: for red that is what it must do, so PASSED is a
    deviation. runs: {phase: ids of the runs of its cells}. deviations: the runs that count as
    such, in the soak and, for red, anywhere. other_failures: with another message than its own.
    """

    experiment: str
    role: Role
    patch_id: str
    judged_on: str
    flips: int
    k: int
    n: int
    strips: Mapping[str, str]
    runs: Mapping[str, tuple[str, ...]]
    deviations: tuple[str, ...]
    other_failures: int

    @property
    def upper(self) -> float:
        """One-sided 95 % upper bound of k/n; 1.0 for n = 0."""
        return upper(Count(self.k, self.n))

    @property
    def lower(self) -> float:
        """One-sided 95 % lower bound of k/n; 0.0 for k = 0."""
        return lower(Count(self.k, self.n))


def canary_rows(connection: duckdb.DuckDBPyConnection, experiment: str) -> tuple[CanaryRow, ...]:
    """The canaries of an experiment, red before green; one that did not run is left out."""
    return canaries_of(connection, [experiment]).get(experiment, ())


def canaries_of(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> dict[str, tuple[CanaryRow, ...]]:
    """The canaries of several experiments, by experiment."""
    canaries = [
        (experiment, role, facts)
        for experiment, detail in query.rows(
            connection, _CANARIES, {"experiments": list(experiments)}
        )
        for role, facts in json.loads(detail)["canaries"].items()
        if facts["patch_id"] is not None
    ]
    pins = [_pin(facts) for _, _, facts in canaries]
    asked = {
        "experiments": list(experiments),
        "of": [experiment for experiment, _, _ in canaries],
        "roles": [role for _, role, _ in canaries],
        "pins": pins,
        "all_pins": sorted({pin for pin in pins if pin is not None}),
        "deviations": [facts["deviations"] for _, _, facts in canaries],
    }
    cells: dict[tuple[str, str], dict[str, tuple[str, Sequence[str]]]] = defaultdict(dict)
    for experiment, role, phase, strip, runs in query.rows(connection, _CANARY_CELLS, asked):
        cells[experiment, role][phase] = strip, runs
    found: dict[str, list[CanaryRow]] = defaultdict(list)
    for experiment, role, facts in canaries:
        found[experiment].append(_canary(experiment, Role(role), facts, cells[experiment, role]))
    return {experiment: tuple(rows) for experiment, rows in found.items()}


def _canary(
    experiment: str,
    role: Role,
    facts: Mapping[str, Any],
    cells: Mapping[str, tuple[str, Sequence[str]]],
) -> CanaryRow:
    strips = in_order({phase: strip for phase, (strip, _) in cells.items()})
    whole = "".join(strips.values())
    return CanaryRow(
        experiment=experiment,
        role=role,
        patch_id=facts["patch_id"],
        judged_on=facts["judged_on"],
        flips=sum(map(flips_in, strips.values())),
        k=whole.count(FAILED),
        n=whole.count(FAILED) + whole.count(PASSED),
        strips=strips,
        runs={phase: tuple(cells[phase][1]) for phase in strips},
        deviations=tuple(facts["deviations"]),
        other_failures=facts["other_failures"],
    )


def _pin(facts: Mapping[str, Any]) -> str | None:
    judged_on: str = facts["judged_on"]
    return None if judged_on == "run verdict" else normal_form(judged_on)
