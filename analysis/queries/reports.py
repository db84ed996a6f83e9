"""What there is to say of an experiment as a whole: canaries, patches, outages, flips."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.attribution.flips import Flip, find_flips
from analysis.attribution.rollup import roll_up
from analysis.attribution.statistics import Count, interval, one_in
from analysis.attribution.tell import Tell, tells_of
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
        found = Counter(unit.unit_class for unit in self.units)
        return {one: found[one] for one in UnitClass if one in found}

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
    SELECT *, bool_or(phase = 'soak') OVER (PARTITION BY experiment, patch_id, role) AS soaked
    FROM runs WHERE list_contains($experiments, experiment)
)
SELECT experiment, patch_id, role, phase, list(verdict ORDER BY round, started, log, line)
FROM counted
WHERE phase = CASE WHEN soaked THEN 'soak' ELSE 'gate' END
GROUP BY ALL ORDER BY experiment, role, patch_id
"""

_OUTAGES = """
SELECT experiment, sentence FROM findings
WHERE list_contains($experiments, experiment) AND rule = 'outage'
ORDER BY experiment, line, sentence
"""

_VOID = """
SELECT experiment, rule, count(DISTINCT run_id) FROM findings
WHERE list_contains($experiments, experiment) AND standing = 'void'
GROUP BY experiment, rule ORDER BY experiment, 3 DESC, rule
"""

_NOTES = """
SELECT experiment, rule, count(*), min(sentence) FROM findings
WHERE list_contains($experiments, experiment) AND standing = 'note' AND rule <> 'outage'
GROUP BY experiment, rule ORDER BY experiment, rule
"""

_UNPROVEN = """
SELECT experiment, count(*) FILTER (standing = 'unproven'), count(*)
FROM runs WHERE list_contains($experiments, experiment) GROUP BY experiment
"""

_REJECTS = """
SELECT m.experiment, sum(s.rejected)::BIGINT
FROM (
    SELECT DISTINCT experiment, source_id FROM source_runs
    WHERE list_contains($experiments, experiment)
) m
JOIN sources s USING (source_id)
WHERE s.same_as IS NULL GROUP BY m.experiment
"""


def reports(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> list[ExperimentReport]:
    """A report for each of the experiments, worst class first, then oldest first."""
    of = {"experiments": list(experiments)}

    def grouped(sql: str) -> Mapping[str, list[Any]]:
        """The rows of a question by experiment, which is their first column."""
        found: dict[str, list[Any]] = defaultdict(list)
        for name, *row in query.rows(connection, sql, of):
            found[name].append(row)
        return found

    own_units: dict[str, list[UnitRow]] = defaultdict(list)
    for unit in units(connection, experiments):
        own_units[unit.experiment].append(unit)
    flips = find_flips(connection)
    tells = tells_of(connection, experiments)
    verdicts, outages, void, notes = map(grouped, (_VERDICTS, _OUTAGES, _VOID, _NOTES))
    unproven, rejects = grouped(_UNPROVEN), grouped(_REJECTS)
    found = []
    for name, unit_class, text in query.rows(connection, _EXPERIMENTS, of):
        detail = json.loads(text)
        classes = _classes_of_patches(own_units[name])
        ((unproven_runs, runs),) = unproven[name] or [(0, 0)]
        found.append(
            ExperimentReport(
                experiment=name,
                unit_class=UnitClass(unit_class),
                red=_canary(Role.RED, detail["canaries"]["red"]),
                green=_canary(Role.GREEN, detail["canaries"]["green"]),
                patches=tuple(_patch(row, classes) for row in verdicts[name]),
                units=tuple(own_units[name]),
                outages=tuple(redacted(sentence) for (sentence,) in outages[name]),
                flips=tuple(flip for flip in flips if name in flip.experiments),
                tells=tells.get(name, ()),
                void=dict(void[name]),
                unproven=unproven_runs,
                runs=runs,
                not_executed=tuple((patch, test) for patch, test in detail["not_executed"]),
                rejects=sum(rejected for (rejected,) in rejects[name]),
                overridden=tuple(detail["overridden"]),
                notes=tuple(
                    f"{rule}: {redacted(sentence)}"
                    + (f" (and {count - 1} more)" if count > 1 else "")
                    for rule, count, sentence in notes[name]
                ),
            )
        )
    return sorted(found, key=lambda one: list(UnitClass).index(one.unit_class))


def _classes_of_patches(own_units: Sequence[UnitRow]) -> Mapping[str, UnitClass]:
    classes: dict[str, set[UnitClass]] = defaultdict(set)
    for unit in own_units:
        classes[unit.patch_id].add(unit.unit_class)
    return {patch: roll_up(list(found)) for patch, found in classes.items()}


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


def _patch(row: Sequence[Any], classes: Mapping[str, UnitClass]) -> PatchReport:
    patch, role, phase, logged = row
    verdicts = tuple(Verdict(verdict) for verdict in logged)
    passes, fails = verdicts.count(Verdict.PASS), verdicts.count(Verdict.FAIL)
    return PatchReport(
        patch_id=patch,
        role=Role(role),
        phase=phase,
        verdicts=verdicts,
        unique=len(set(verdicts)) == 1 and Verdict.NONE not in verdicts,
        passes=passes,
        fails=fails,
        sight=_sight(Count(fails, passes + fails)),
        unit_class=classes.get(patch) if role == Role.SUBJECT else None,
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
