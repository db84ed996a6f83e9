"""Can the gate be trusted right now, and what is to be done next?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import duckdb

from analysis.attribution.flips import find_flips
from analysis.attribution.statistics import Count, interval, total
from analysis.model import Role, UnitClass
from analysis.queries.causes import CauseRow, cause_row
from analysis.queries.moments import moment
from analysis.queries.redaction import redacted
from analysis.queries.unit_lists import CAUSES, asked
from analysis.store import query

MOST_TASKS = 3
MOST_SOAKS = 60


class Trust(StrEnum):
    """The answer. Unknown is not trusted."""

    NO = "DO NOT TRUST"
    UNKNOWN = "CANNOT SAY YET"
    YES = "TRUSTED"


class Rank(StrEnum):
    """What comes first among the things to do."""

    BLOCK = "BLOCK"
    INFRA = "INFRA"
    PATCH = "PATCH"
    LAPSED = "LAPSED"
    RUN_MORE = "RUN MORE"


RANK_OF = {
    UnitClass.INVALID: Rank.BLOCK,
    UnitClass.BROKEN: Rank.BLOCK,
    UnitClass.HARNESS: Rank.INFRA,
    UnitClass.CONSISTENT: Rank.PATCH,
    UnitClass.RACE: Rank.PATCH,
    UnitClass.INSUFFICIENT: Rank.RUN_MORE,
}
"""Test flakes wait in the list of tests until somebody quarantines them; stable ones hold."""


@dataclass(frozen=True)
class Tasks:
    """The first things to do of a rank, most failures first, of `total` there are."""

    rank: Rank
    first: tuple[CauseRow, ...]
    total: int


@dataclass(frozen=True)
class ClassCount:
    """Units of a class, and how many of them have a failure on record."""

    unit_class: UnitClass
    units: int
    failed: int


@dataclass(frozen=True)
class CanarySum:
    """A canary over all chosen soaks: `good` of `judged` runs did what they must.

    deviating: (k, n) of those that did what they must not, with the two-sided 95 % interval of
    that rate: for red the share of bad patches accepted, for green that of good ones refused.
    """

    role: Role
    good: int
    judged: int
    deviating: tuple[int, int]
    interval: tuple[float, float]


@dataclass(frozen=True)
class SoakHistory:
    """One experiment. fails of verdicts: of its subjects, in the soak or else at the gate."""

    experiment: str
    newest: datetime | None
    fails: int
    verdicts: int
    void_passes: int
    red_passed: int
    green_failed: int


@dataclass(frozen=True)
class Overview:
    """Everything that the first screen says.

    void: rule -> logged passes that prove nothing, of `passes` logged (one may break several
    rules; void_passes counts each once). flipped of patches: patches with both verdicts on one
    digest and base. history: at most MOST_SOAKS experiments, oldest first, of `experiments`.
    trust, reasons: the answer and what speaks against trust, worst first, in words.
    """

    experiments: int
    runs: int
    newest: datetime | None
    classes: tuple[ClassCount, ...]
    red: CanarySum
    green: CanarySum
    passes: int
    void_passes: int
    void: Mapping[str, int]
    unproven: int
    flipped: int
    patches: int
    outages: tuple[str, ...]
    rejects: int
    next: tuple[Tasks, ...]
    history: tuple[SoakHistory, ...]
    trust: Trust
    reasons: tuple[str, ...]

    @property
    def units(self) -> int:
        """(patch, test) pairs."""
        return sum(one.units for one in self.classes)


_RUNS = """
SELECT count(*), count(*) FILTER (logged_verdict = 'pass'),
    count(*) FILTER (logged_verdict = 'pass' AND verdict = 'none'),
    count(*) FILTER (standing = 'unproven' AND verdict = 'pass'),
    count(DISTINCT patch_id) FILTER (verdict <> 'none' AND patch_id <> '(unknown)')
FROM runs WHERE list_contains($experiments, experiment)
"""

_VOID = """
SELECT f.rule, count(DISTINCT (r.experiment, r.run_id))
FROM findings f JOIN runs r USING (experiment, run_id)
WHERE f.standing = 'void' AND r.logged_verdict = 'pass'
    AND list_contains($experiments, f.experiment)
GROUP BY f.rule ORDER BY 2 DESC, f.rule
"""

_CLASSES = """
SELECT j.class, count(*), count(*) FILTER (j.failures > 0)
FROM units u JOIN judgements j USING (experiment, judgement)
WHERE list_contains($experiments, u.experiment) GROUP BY j.class
"""

_OUTAGES = """
SELECT sentence FROM findings
WHERE rule = 'outage' AND list_contains($experiments, experiment)
ORDER BY experiment, line, sentence
"""

_REJECTS = """
SELECT coalesce(sum(rejected), 0)::BIGINT FROM sources
WHERE same_as IS NULL AND source_id IN (
    SELECT source_id FROM source_runs WHERE list_contains($experiments, experiment)
)
"""

_TASKS = f"""
SELECT * EXCLUDE (rank), count(*) OVER (PARTITION BY rank), rank
FROM (SELECT *, list_extract($ranks, class_rank + 1) AS rank FROM ({CAUSES}))
WHERE rank <> ''
QUALIFY row_number() OVER (
    PARTITION BY rank ORDER BY class_rank, failures DESC, label
) <= $most
ORDER BY class_rank, failures DESC, label
"""

_FACTS = """
SELECT experiment, newest, detail, experiment NOT IN (SELECT experiment FROM units)
FROM experiment_facts WHERE list_contains($experiments, experiment)
ORDER BY newest NULLS FIRST, experiment
"""

_SUBJECTS = """
WITH asked AS (
    SELECT *, bool_or(phase = 'soak') OVER (PARTITION BY experiment, patch_id, role) AS soaked
    FROM runs WHERE list_contains($experiments, experiment)
)
SELECT experiment,
    count(*) FILTER (role = 'subject' AND in_phase AND verdict = 'fail'),
    count(*) FILTER (role = 'subject' AND in_phase AND verdict <> 'none'),
    count(*) FILTER (logged_verdict = 'pass' AND verdict = 'none'),
    count(DISTINCT patch_id) FILTER (role = 'subject')
        - count(DISTINCT patch_id) FILTER (role = 'subject' AND in_phase AND verdict <> 'none')
FROM (SELECT *, phase = CASE WHEN soaked THEN 'soak' ELSE 'gate' END AS in_phase FROM asked)
GROUP BY experiment
"""


def overview(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Overview:
    """The overview of some experiments."""
    of = {"experiments": list(experiments)}
    ((runs, passes, void_passes, unproven, patches),) = query.rows(connection, _RUNS, of)
    facts = [
        (name, moment(newest), *rest) for name, newest, *rest in query.rows(connection, _FACTS, of)
    ]
    subjects = {name: counts for name, *counts in query.rows(connection, _SUBJECTS, of)}
    canaries = {name: json.loads(detail)["canaries"] for name, _, detail, _ in facts}
    chosen = set(experiments)
    flips = [one for one in find_flips(connection) if chosen & set(one.experiments)]
    classes = _classes(connection, of)
    red, green = (_canary(role, list(canaries.values())) for role in (Role.RED, Role.GREEN))
    outages = tuple(redacted(sentence) for (sentence,) in query.rows(connection, _OUTAGES, of))
    flipped = len({one.patch_id for one in flips})
    without_verdict = sum(counts[3] for counts in subjects.values())
    blind = sum(1 for *_, nothing in facts if nothing)
    against = _against(red, green, void_passes, outages, flipped, classes)
    unsure = _unsure(classes, without_verdict, blind) if facts else ("nothing was run",)
    return Overview(
        experiments=len(facts),
        runs=runs,
        newest=max((newest for _, newest, *_ in facts if newest is not None), default=None),
        classes=classes,
        red=red,
        green=green,
        passes=passes,
        void_passes=void_passes,
        void=dict(query.rows(connection, _VOID, of)),
        unproven=unproven,
        flipped=flipped,
        patches=patches,
        outages=outages,
        rejects=query.rows(connection, _REJECTS, of)[0][0],
        next=_tasks(connection, experiments),
        history=tuple(
            _history(name, newest, canaries[name], subjects.get(name))
            for name, newest, *_ in facts[-MOST_SOAKS:]
        ),
        trust=Trust.NO if against else Trust.UNKNOWN if unsure else Trust.YES,
        reasons=(*against, *unsure),
    )


def _classes(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object]
) -> tuple[ClassCount, ...]:
    found = {name: counts for name, *counts in query.rows(connection, _CLASSES, of)}
    return tuple(ClassCount(one, *found.get(one.value, (0, 0))) for one in UnitClass)


def _canary(role: Role, details: Sequence[Mapping[str, Any]]) -> CanarySum:
    """The sum of what the experiments say of one canary."""
    good, deviating = [], []
    for detail in details:
        k, n = detail[role]["as_expected"]
        good.append(Count(k, n))
        deviating.append(Count(n - k - detail[role]["other_failures"], n))
    behaved, strayed = total(good), total(deviating)
    return CanarySum(role, behaved.k, behaved.n, (strayed.k, strayed.n), interval(strayed))


def _tasks(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> tuple[Tasks, ...]:
    ranks = [RANK_OF[one].value if one in RANK_OF else "" for one in UnitClass]
    given = {**asked(experiments), "ranks": ranks, "most": MOST_TASKS}
    found: dict[str, list[CauseRow]] = {}
    totals: dict[str, int] = {}
    for *columns, of_rank, rank in query.rows(connection, _TASKS, given):
        found.setdefault(rank, []).append(cause_row(*columns))
        totals[rank] = of_rank
    return tuple(Tasks(one, tuple(found.get(one, ())), totals.get(one, 0)) for one in Rank)


def _history(
    name: str,
    newest: datetime | None,
    canaries: Mapping[str, Any],
    counts: Sequence[int] | None,
) -> SoakHistory:
    fails, verdicts, void, _ = counts or (0, 0, 0, 0)
    red, green = (_canary(role, [canaries]).deviating[0] for role in (Role.RED, Role.GREEN))
    return SoakHistory(name, newest, fails, verdicts, void, red, green)


def _against(
    red: CanarySum,
    green: CanarySum,
    void_passes: int,
    outages: Sequence[str],
    flipped: int,
    classes: Sequence[ClassCount],
) -> tuple[str, ...]:
    """What speaks against trust: what `ExperimentReport.objections` objects to, but evidence that
    is missing."""
    found = []
    if red.deviating[0]:
        found.append(f"red passed {_times(red.deviating[0])}")
    if void_passes:
        found.append(
            f"{void_passes:,} {'pass proves' if void_passes == 1 else 'passes prove'} nothing"
        )
    if green.deviating[0]:
        found.append(f"green failed {_times(green.deviating[0])}")
    if outages:
        found.append(f"{len(outages):,} {'outage' if len(outages) == 1 else 'outages'}")
    if flipped:
        found.append(f"{flipped:,} {'patch' if flipped == 1 else 'patches'} flipped")
    for one in classes:
        if one.units and one.unit_class not in (
            UnitClass.INSUFFICIENT,
            UnitClass.STABLE,
        ):
            found.append(f"{one.unit_class}: {_tests(one.units)}")
    return tuple(found)


def _unsure(classes: Sequence[ClassCount], without_verdict: int, blind: int) -> tuple[str, ...]:
    found = []
    for one in classes:
        if one.units and one.unit_class is UnitClass.INSUFFICIENT:
            found.append(f"{one.unit_class}: {_tests(one.units)}")
    if without_verdict:
        words = "patch has" if without_verdict == 1 else "patches have"
        found.append(f"{without_verdict:,} {words} no verdict")
    if blind:
        words = "experiment has" if blind == 1 else "experiments have"
        found.append(f"{blind:,} {words} nothing under test")
    return tuple(found)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count:,} tests"
