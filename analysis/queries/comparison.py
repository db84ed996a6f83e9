"""Did it help? Two experiments beside each other, test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

import duckdb

from analysis.errors import BadInput
from analysis.model import UnitClass
from analysis.queries.compared import ComparedTest, compared_tests, matched
from analysis.queries.difference import Change
from analysis.queries.unit_executions import in_utc
from analysis.store import query

NAMED = 20
"""New and vanished tests that are named."""

_PAIRS = """
SELECT b.class, a.class, count(*)
FROM matched m
LEFT JOIN judgements b ON b.experiment = $before AND b.judgement = m.before_judgement
LEFT JOIN judgements a ON a.experiment = $after AND a.judgement = m.after_judgement
GROUP BY ALL
"""

_ONE_SIDED = """
SELECT m.patch_id, m.test_id, m.variant
FROM matched m
LEFT JOIN judgements b ON b.experiment = $before AND b.judgement = m.before_judgement
LEFT JOIN judgements a ON a.experiment = $after AND a.judgement = m.after_judgement
WHERE CASE WHEN $new THEN m.before_judgement IS NULL ELSE m.after_judgement IS NULL END
ORDER BY coalesce(a.class_rank, b.class_rank), coalesce(a.failures, b.failures) DESC,
    m.patch_id, m.test_id, m.variant
LIMIT $most
"""

_PATCHES = """
SELECT min(patch_id) FILTER (experiment = $before), min(patch_id) FILTER (experiment = $after)
FROM (SELECT DISTINCT experiment, patch_id FROM units WHERE experiment IN ($before, $after))
HAVING count(*) FILTER (experiment = $before) = 1 AND count(*) FILTER (experiment = $after) = 1
"""

_EXPERIMENTS = """
SELECT experiment, class, newest FROM experiment_facts ORDER BY newest NULLS FIRST, experiment
"""


@dataclass(frozen=True)
class Side:
    """An experiment as a whole. newest: when its last run ended, UTC."""

    experiment: str
    unit_class: UnitClass
    newest: datetime | None


@dataclass(frozen=True)
class ClassPair:
    """So many tests went from one class to another; None: the experiment does not have them."""

    before: UnitClass | None
    after: UnitClass | None
    tests: int


@dataclass(frozen=True)
class OneSided:
    """Tests that only one of the experiments has: the first NAMED of `total`, as (patch, test,
    variant)."""

    named: tuple[tuple[str, str, str | None], ...]
    total: int


@dataclass(frozen=True)
class Comparison:
    """Two experiments beside each other.

    answer: one sentence or two. patches: the two that were matched although their names may
    differ, because each experiment has just one. tests: those with a failure on either side,
    worse ones first. classes: all tests.
    """

    before: Side
    after: Side
    alpha: float
    answer: str
    patches: tuple[str, str] | None
    tests: tuple[ComparedTest, ...]
    classes: tuple[ClassPair, ...]
    new: OneSided
    vanished: OneSided

    def changes(self) -> dict[Change, int]:
        """How many of `tests` changed in which way, without zeros."""
        found = Counter(test.change for test in self.tests)
        return {change: found[change] for change in Change if found[change]}


def compare(
    connection: duckdb.DuckDBPyConnection, before: str, after: str, alpha: float
) -> Comparison:
    """Compare the experiments of those names; alpha as in the policy.

    Raises BadInput for a name that there is no experiment of.
    """
    sides = _sides(connection, before, after)
    of = {"before": before, "after": after}
    with matched(connection, before, after):
        tests = compared_tests(connection, before, after, alpha)
        classes = _classes(connection, of)
        appeared = _one_sided(connection, {**of, "new": True})
        gone = _one_sided(connection, {**of, "new": False})
    new = sum(pair.tests for pair in classes if pair.before is None)
    vanished = sum(pair.tests for pair in classes if pair.after is None)
    return Comparison(
        *sides,
        alpha=alpha,
        answer=_answer(tests, new, vanished),
        patches=query.first(connection, _PATCHES, of),
        tests=tests,
        classes=classes,
        new=OneSided(appeared, new),
        vanished=OneSided(gone, vanished),
    )


def _sides(connection: duckdb.DuckDBPyConnection, before: str, after: str) -> tuple[Side, Side]:
    known = {
        name: Side(name, UnitClass(unit_class), in_utc(newest))
        for name, unit_class, newest in query.rows(connection, _EXPERIMENTS)
    }
    for name in (before, after):
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.4) or list(known)[-3:]
            raise BadInput(
                f"There is no experiment {name!r}.",
                f"Near it: {', '.join(map(repr, near))}." if near else "There is none yet.",
            )
    return known[before], known[after]


def _classes(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object]
) -> tuple[ClassPair, ...]:
    ranks: dict[UnitClass | None, int] = {one: rank for rank, one in enumerate(UnitClass)}
    ranks[None] = len(ranks)
    pairs = [
        ClassPair(before and UnitClass(before), after and UnitClass(after), tests)
        for before, after, tests in query.rows(connection, _PAIRS, of)
    ]
    return tuple(sorted(pairs, key=lambda pair: (ranks[pair.before], ranks[pair.after])))


def _one_sided(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object]
) -> tuple[tuple[str, str, str | None], ...]:
    return tuple(
        (patch, test, variant)
        for patch, test, variant in query.rows(connection, _ONE_SIDED, {**of, "most": NAMED})
    )


def _answer(tests: Sequence[ComparedTest], new: int, vanished: int) -> str:
    """What the comparison shows, in words. Tests that failed on neither side show nothing."""
    found = Counter(test.change for test in tests)
    sides = [f"{count:,} {word}" for count, word in ((new, "new"), (vanished, "vanished")) if count]
    others = f" Of all tests {' and '.join(sides)}." if sides else ""
    if not tests:
        return f"No difference is shown: no test failed in either experiment.{others}"
    better = found[Change.FIXED] + found[Change.BETTER]
    if found[Change.WORSE]:
        head = "Some tests are better and some worse" if better else "Worse"
    elif found[Change.FIXED] == len(tests):
        head = "Fixed"
    else:
        head = "Better" if better else "No difference is shown"
    counts = ", ".join(f"{found[change]:,} {change}" for change in Change if found[change])
    noun = "test" if len(tests) == 1 else "tests"
    return f"{head}: {len(tests):,} {noun} failed in either experiment, {counts}.{others}"
