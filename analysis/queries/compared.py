"""Tests of two experiments beside each other: which belong together, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from analysis.attribution.judgement import p_text
from analysis.attribution.statistics import Count, total
from analysis.model import Phase, Role, UnitClass
from analysis.queries.attributions import UnitKey
from analysis.queries.difference import (
    Cells,
    Change,
    Difference,
    clean_enough,
    difference,
    runs_missing,
    shown,
)
from analysis.queries.unit_executions import executions_of
from analysis.store import query

_MATCHED = """
WITH named AS (
    SELECT u.*, t.norm_key, CASE WHEN t.norm_key IS NULL THEN u.test_id END AS unseen
    FROM units u LEFT JOIN tests t USING (test_id)
    WHERE u.experiment IN ($before, $after)
), lone AS (
    SELECT count(DISTINCT patch_id) FILTER (experiment = $before) = 1
        AND count(DISTINCT patch_id) FILTER (experiment = $after) = 1 AS lone
    FROM named
), keyed AS (
    SELECT *, CASE WHEN lone THEN '' ELSE patch_id END AS subject FROM named, lone
), b AS (
    FROM keyed WHERE experiment = $before
), a AS (
    FROM keyed WHERE experiment = $after
)
SELECT coalesce(a.patch_id, b.patch_id) AS patch_id, coalesce(a.test_id, b.test_id) AS test_id,
    coalesce(a.variant, b.variant) AS variant, b.patch_id AS before_patch, b.test_id AS before_test,
    b.judgement AS before_judgement, a.patch_id AS after_patch, a.test_id AS after_test,
    a.judgement AS after_judgement
FROM b FULL JOIN a ON a.norm_key IS NOT DISTINCT FROM b.norm_key
    AND a.unseen IS NOT DISTINCT FROM b.unseen AND a.subject = b.subject
    AND a.variant IS NOT DISTINCT FROM b.variant
"""

LISTED = f"""
WITH matched AS ({_MATCHED})
SELECT m.patch_id, m.test_id, m.variant,
    coalesce(a.class_rank, b.class_rank) AS class_rank,
    greatest(coalesce(a.failures, 0), coalesce(b.failures, 0)) AS failures,
    m.before_patch, b.class AS before_class, b."row" AS before_row, b.failures AS before_failures,
    b.company_k AS before_company_k, b.company_n AS before_company_n,
    b.alone_k AS before_alone_k, b.alone_n AS before_alone_n,
    m.after_patch, a.class AS after_class, a."row" AS after_row, a.failures AS after_failures,
    a.company_k AS after_company_k, a.company_n AS after_company_n,
    a.alone_k AS after_alone_k, a.alone_n AS after_alone_n
FROM matched m
LEFT JOIN judgements b ON b.experiment = $before AND b.judgement = m.before_judgement
LEFT JOIN judgements a ON a.experiment = $after AND a.judgement = m.after_judgement
WHERE a.failures > 0 OR b.failures > 0 OR a.class IS DISTINCT FROM b.class
"""
"""A row a test in which there is something to see: a failure, or another class. There can be as
many as units; they are to be paged. Parameters: $before and $after, names of experiments."""

_FAILED = """
SELECT m.test_id, m.variant,
    m.before_patch, m.before_test, b.class, b."row", b.failures, b.company_k, b.company_n,
    b.alone_k, b.alone_n, b.detail ->> '$.counted', b.detail ->> '$.counts',
    m.after_patch, m.after_test, a.class, a."row", a.failures, a.company_k, a.company_n,
    a.alone_k, a.alone_n, a.detail ->> '$.counted', a.detail ->> '$.counts'
FROM matched m
LEFT JOIN judgements b ON b.experiment = $before AND b.judgement = m.before_judgement
LEFT JOIN judgements a ON a.experiment = $after AND a.judgement = m.after_judgement
WHERE a.failures > 0 OR b.failures > 0
ORDER BY coalesce(a.class_rank, b.class_rank),
    greatest(coalesce(a.failures, 0), coalesce(b.failures, 0)) DESC,
    m.patch_id, m.test_id, m.variant
"""

_BY_RUN = """
SELECT role, phase, count(DISTINCT run_no) FILTER (failed), count(DISTINCT run_no)
FROM unit_executions WHERE counted GROUP BY ALL
"""


@dataclass(frozen=True)
class Standing:
    """A test in one of the experiments. company, alone: (failures, executed) of the patch and
    green, as `counted`: "executions", or "runs" where the process decides."""

    patch_id: str
    test_id: str
    unit_class: UnitClass
    row: str
    failures: int
    company: tuple[int, int]
    alone: tuple[int, int]
    counted: str


@dataclass(frozen=True)
class ComparedTest:
    """A test with a failure on either side.

    p: two-sided, uncorrected; None where nothing can be compared. why: the verdict in numbers.
    missing: clean runs after the change, in company and alone, that would make its silence speak.
    """

    test_id: str
    variant: str | None
    before: Standing | None
    after: Standing | None
    change: Change
    p: float | None
    why: str
    missing: Mapping[str, int]


@dataclass(frozen=True)
class _Pair:
    """A test on both sides, with the counts that are compared."""

    test_id: str
    variant: str | None
    before: Standing | None
    after: Standing | None
    cells: tuple[Cells, Cells]


@contextmanager
def matched(connection: duckdb.DuckDBPyConnection, before: str, after: str) -> Iterator[None]:
    """The temporary table `matched`: a row a test, both sides of it or one.

    Tests match by normal form and variant, on the same patch, or on the one subject patch that
    each experiment has.
    """
    query.write(
        connection,
        f"CREATE OR REPLACE TEMP TABLE matched AS {_MATCHED}",
        {"before": before, "after": after},
    )
    yield
    query.write(connection, "DROP TABLE matched")


def compared_tests(
    connection: duckdb.DuckDBPyConnection, before: str, after: str, alpha: float
) -> tuple[ComparedTest, ...]:
    """The tests with a failure on either side, by what became of them, worse ones first. Reads
    the table of `matched`."""
    found = query.rows(connection, _FAILED, {"before": before, "after": after})
    pairs = [_alike(connection, (before, after), _pair(row)) for row in found]
    differences = [difference(*pair.cells) for pair in pairs]
    verdicts = shown(differences, alpha)
    tests = [
        _compared(pair, compared, more_than_noise, alpha)
        for pair, compared, more_than_noise in zip(pairs, differences, verdicts, strict=True)
    ]
    order = list(Change)
    return tuple(sorted(tests, key=lambda test: order.index(test.change)))


def _pair(row: Sequence[Any]) -> _Pair:
    test_id, variant, *rest = row
    before, cells_before = _standing(rest[:11])
    after, cells_after = _standing(rest[11:])
    return _Pair(test_id, variant, before, after, (cells_before, cells_after))


def _standing(row: Sequence[Any]) -> tuple[Standing | None, Cells]:
    patch, test, unit_class, name, failures, *counts, counted, text = row
    if unit_class is None:
        return None, {}
    company_k, company_n, alone_k, alone_n = counts
    standing = Standing(
        patch_id=patch,
        test_id=test,
        unit_class=UnitClass(unit_class),
        row=name,
        failures=failures,
        company=(company_k, company_n),
        alone=(alone_k, alone_n),
        counted=counted,
    )
    cells = {
        (Phase(phase), Role(role)): Count(k, n)
        for phase, roles in json.loads(text).items()
        for role, (k, n) in roles.items()
        if role != Role.RED
    }
    return standing, cells


def _alike(
    connection: duckdb.DuckDBPyConnection, experiments: tuple[str, str], pair: _Pair
) -> _Pair:
    """Runs beside runs: where the process decides on one side, runs are compared on both."""
    sides = (pair.before, pair.after)
    if len({side.counted for side in sides if side is not None}) < 2:
        return pair
    before, after = (
        _by_run(connection, UnitKey(experiment, side.patch_id, side.test_id, pair.variant), cells)
        if side is not None and side.counted == "executions"
        else cells
        for experiment, side, cells in zip(experiments, sides, pair.cells, strict=True)
    )
    return replace(pair, cells=(before, after))


def _by_run(connection: duckdb.DuckDBPyConnection, key: UnitKey, cells: Cells) -> Cells:
    with executions_of(connection, key):
        found = query.rows(connection, _BY_RUN)
    counts = {(Phase(phase), Role(role)): Count(k, n) for role, phase, k, n in found}
    return {cell: counts[cell] for cell in cells if cell in counts}


def _compared(
    pair: _Pair, compared: Difference, more_than_noise: bool, alpha: float
) -> ComparedTest:
    before, after = pair.before, pair.after
    both = before is not None and after is not None
    # A failure in a gate run or in one that was cut is in no arm.
    missing = runs_missing(compared) if both and after and not after.failures else {}
    change, why = _change(pair, compared, more_than_noise, alpha)
    if missing and change is not Change.FIXED:
        why += f" {_wanted(missing)}"
    return ComparedTest(
        test_id=pair.test_id,
        variant=pair.variant,
        before=before,
        after=after,
        change=change,
        p=compared.p if both and compared.common else None,
        why=why,
        missing=missing,
    )


def _change(
    pair: _Pair, compared: Difference, more_than_noise: bool, alpha: float
) -> tuple[Change, str]:
    """The verdict and why. A failure is evidence wherever it happened; a pass only where the
    gate can be believed."""
    before, after = pair.before, pair.after
    if before is None:
        return Change.NEW, "Not in the experiment before."
    if after is None:
        return Change.VANISHED, "Not in the experiment after: that it does not fail proves nothing."
    if not compared.common:
        ran = (_arms(cells) for cells in (compared.before, compared.after))
        return Change.UNCOMPARABLE, "No arm ran on both sides: {} before, {} after.".format(*ran)
    numbers = _numbers(compared)
    if compared.least >= alpha:
        return Change.UNCOMPARABLE, f"{numbers}: too few runs or failures to tell."
    if not more_than_noise:
        return Change.SAME, f"{numbers}: no more than noise."
    silent = after if compared.falls else before
    if _disbelieved(silent):
        return (
            Change.UNCOMPARABLE,
            f"{numbers}, but {'after' if silent is after else 'before'} the change a pass proves"
            f" nothing: {silent.unit_class}, row {silent.row}.",
        )
    if not compared.falls:
        return Change.WORSE, f"{numbers}."
    if after.failures or not clean_enough(compared):
        return Change.BETTER, f"{numbers}{_not_again(compared)}."
    return Change.FIXED, f"{numbers}."


def _disbelieved(side: Standing) -> bool:
    """Whether the gate is known to let through what fails."""
    return side.unit_class is UnitClass.INVALID or side.row == "2a"


def _arms(cells: Cells) -> str:
    return ", ".join(dict.fromkeys(phase for phase, _ in cells)) or "none"


def _numbers(compared: Difference) -> str:
    before, after = (
        total(side[cell] for cell in compared.common) for side in (compared.before, compared.after)
    )
    return f"Failed {before} before and {after} after in the same arms (p {p_text(compared.p)})"


def _not_again(compared: Difference) -> str:
    unrun = {
        cell: count
        for cell, count in compared.before.items()
        if count.k and cell not in compared.after
    }
    return f"; {_arms(unrun)} failed before and did not run again" if unrun else ""


def _wanted(missing: Mapping[str, int]) -> str:
    """How many runs would make silence speak."""
    where = {"company": "in company", "alone": "alone"}
    more = " and ".join(f"{runs:,} more {where[group]}" for group, runs in missing.items())
    return f"{more[:1].upper()}{more[1:]} without a failure would show a fix."
