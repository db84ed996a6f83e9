"""What there is to say of an experiment as a whole: canaries, patches, outages, flips."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.attribution.flips import Flip, find_flips
from analysis.attribution.rollup import roll_up
from analysis.attribution.statistics import Count, interval, one_in
from analysis.attribution.tell import Tell, find_tells
from analysis.model import Role, UnitClass, Verdict
from analysis.queries.attributions import UnitRow, units
from analysis.queries.redaction import redacted
from analysis.store import query


@dataclass(frozen=True)
class CanaryReport:
    """A canary in the soak: `good` of `judged` runs did what they must.

    deviating: the share of the others as (k, n) with its two-sided 95 % interval: for red the
    gate's false-accept rate, for green its false-reject rate. runs: the deviating run ids.
    judged_on: the pinned test, or "run verdict". other_failures: failures of red with another
    message than its own.
    """

    role: Role
    patch_id: str | None
    judged_on: str
    good: int
    judged: int
    deviating: tuple[int, int]
    interval: tuple[float, float]
    runs: tuple[str, ...]
    other_failures: int


@dataclass(frozen=True)
class PatchReport:
    """A patch in an experiment. verdicts: its soak verdicts in order, void and missing as none;
    its gate verdicts where it has no soak. unique: all of them are the same pass or fail.
    sight: what that many runs could have shown, in words. unit_class: None for a canary.
    """

    patch_id: str
    role: Role
    phase: str
    verdicts: tuple[Verdict, ...]
    unique: bool
    passes: int
    fails: int
    sight: str
    unit_class: UnitClass | None


@dataclass(frozen=True)
class ExperimentReport:
    """Everything that `check` judges.

    void: rule -> number of verdicts that prove nothing. overridden: keys of the configuration
    that the experiment's header line overrules.
    """

    experiment: str
    unit_class: UnitClass
    red: CanaryReport
    green: CanaryReport
    patches: tuple[PatchReport, ...]
    units: tuple[UnitRow, ...]
    outages: tuple[str, ...]
    flips: tuple[Flip, ...]
    tells: tuple[Tell, ...]
    void: Mapping[str, int]
    unproven: int
    runs: int
    not_executed: tuple[tuple[str, str], ...]
    rejects: int
    overridden: tuple[str, ...]
    notes: tuple[str, ...]

    def classes(self) -> dict[UnitClass, int]:
        """How many units have which class, in the order of the roll-up, without zeros."""
        found = [unit.unit_class for unit in self.units]
        return {one: found.count(one) for one in UnitClass if one in found}

    def objections(self, allowed: Collection[UnitClass]) -> tuple[str, ...]:
        """Why the gate may not be trusted on this soak, one sentence each; empty if it may."""
        found = [f"outage: {outage}" for outage in self.outages]
        for canary, deed in ((self.red, "passed"), (self.green, "failed")):
            if canary.deviating[0]:
                k, n = canary.deviating
                found.append(f"the {canary.role} canary {deed} {k} of {n} times")
        found.extend(
            f"patch {flip.patch_id} flipped: passed {flip.passes} times, failed {flip.fails}"
            for flip in self.flips
        )
        found.extend(
            f"{one}: {count} {'test' if count == 1 else 'tests'}"
            for one, count in self.classes().items()
            if one not in allowed and any(u.blocks for u in self.units if u.unit_class is one)
        )
        found.extend(
            f"patch {patch.patch_id} has no verdict in any of its {patch.phase} runs"
            for patch in self.patches
            if patch.role is Role.SUBJECT and not patch.passes and not patch.fails
        )
        if not self.units:
            found.append("nothing is under test: no run of a subject patch")
        return tuple(found)


_EXPERIMENTS = """
SELECT experiment, class, detail FROM experiment_facts
WHERE list_contains($experiments, experiment) ORDER BY newest NULLS FIRST, experiment
"""

_VERDICTS = """
WITH counted AS (
    SELECT *, bool_or(phase = 'soak') OVER (PARTITION BY patch_id, role) AS soaked
    FROM runs WHERE experiment = $experiment
)
SELECT patch_id, role, phase, list(verdict ORDER BY round, started, log, line)
FROM counted
WHERE phase = CASE WHEN soaked THEN 'soak' ELSE 'gate' END
GROUP BY ALL ORDER BY role, patch_id
"""

_OUTAGES = """
SELECT sentence FROM findings WHERE experiment = $experiment AND rule = 'outage' ORDER BY line
"""

_VOID = """
SELECT rule, count(DISTINCT run_id) FROM findings
WHERE experiment = $experiment AND standing = 'void' GROUP BY rule ORDER BY 2 DESC, rule
"""

_NOTES = """
SELECT rule, count(*), min(sentence) FROM findings
WHERE experiment = $experiment AND standing = 'note' AND rule <> 'outage'
GROUP BY rule ORDER BY rule
"""

_UNPROVEN = """
SELECT count(*) FILTER (standing = 'unproven'), count(*) FROM runs WHERE experiment = $experiment
"""

_REJECTS = """
SELECT coalesce(sum(rejected), 0)::BIGINT FROM sources
WHERE same_as IS NULL AND source_id IN (
    SELECT source_id FROM source_runs WHERE experiment = $experiment
)
"""


def reports(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> list[ExperimentReport]:
    """A report for each of the experiments, worst class first, then oldest first."""
    flips = find_flips(connection)
    by_experiment: dict[str, list[UnitRow]] = {name: [] for name in experiments}
    for unit in units(connection, experiments):
        by_experiment[unit.experiment].append(unit)
    found = [
        _report(connection, name, UnitClass(unit_class), json.loads(detail), by_experiment, flips)
        for name, unit_class, detail in query.rows(
            connection, _EXPERIMENTS, {"experiments": list(experiments)}
        )
    ]
    return sorted(found, key=lambda one: list(UnitClass).index(one.unit_class))


def _report(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    unit_class: UnitClass,
    detail: Mapping[str, Any],
    by_experiment: Mapping[str, list[UnitRow]],
    flips: Sequence[Flip],
) -> ExperimentReport:
    of = {"experiment": name}
    own_units = tuple(by_experiment[name])
    unproven, runs = query.rows(connection, _UNPROVEN, of)[0]
    return ExperimentReport(
        experiment=name,
        unit_class=unit_class,
        red=_canary(Role.RED, detail["canaries"]["red"]),
        green=_canary(Role.GREEN, detail["canaries"]["green"]),
        patches=tuple(_patch(row, own_units) for row in query.rows(connection, _VERDICTS, of)),
        units=own_units,
        outages=tuple(redacted(sentence) for (sentence,) in query.rows(connection, _OUTAGES, of)),
        flips=tuple(flip for flip in flips if name in flip.experiments),
        tells=find_tells(connection, name),
        void=dict(query.rows(connection, _VOID, of)),
        unproven=unproven,
        runs=runs,
        not_executed=tuple((patch, test) for patch, test in detail["not_executed"]),
        rejects=query.rows(connection, _REJECTS, of)[0][0],
        overridden=tuple(detail["overridden"]),
        notes=tuple(
            f"{rule}: {redacted(sentence)}" + (f" (and {count - 1} more)" if count > 1 else "")
            for rule, count, sentence in query.rows(connection, _NOTES, of)
        ),
    )


def _canary(role: Role, detail: Mapping[str, Any]) -> CanaryReport:
    good, judged = detail["as_expected"]
    other = detail["other_failures"]
    deviating = Count(judged - good - other, judged)
    return CanaryReport(
        role=role,
        patch_id=detail["patch_id"],
        judged_on=detail["judged_on"],
        good=good,
        judged=judged,
        deviating=(deviating.k, deviating.n),
        interval=interval(deviating),
        runs=tuple(detail["deviations"]),
        other_failures=other,
    )


def _patch(row: tuple[Any, ...], own_units: Sequence[UnitRow]) -> PatchReport:
    patch, role, phase, logged = row
    verdicts = tuple(Verdict(verdict) for verdict in logged)
    passes, fails = verdicts.count(Verdict.PASS), verdicts.count(Verdict.FAIL)
    classes = [unit.unit_class for unit in own_units if unit.patch_id == patch]
    return PatchReport(
        patch_id=patch,
        role=Role(role),
        phase=phase,
        verdicts=verdicts,
        unique=len(set(verdicts)) == 1 and Verdict.NONE not in verdicts,
        passes=passes,
        fails=fails,
        sight=_sight(Count(fails, passes + fails)),
        unit_class=roll_up(classes) if role == Role.SUBJECT and classes else None,
    )


def _sight(count: Count) -> str:
    """What so many runs could have shown: "0 of 40; a 1-in-14 flake would have been seen ..."."""
    if count.n == 0:
        return "no verdict; nothing could have been seen"
    if count.k:
        low, high = interval(count)
        return f"{count.k} of {count.n} failed; its rate is {low:.1%} to {high:.1%} with 95 %"
    rarest = one_in(count.n)
    if rarest is None:
        return f"0 of {count.n}; too few: a flake that fails every second time takes 5 runs to see"
    return f"0 of {count.n}; a 1-in-{rarest} flake would have been seen with 95 %"
