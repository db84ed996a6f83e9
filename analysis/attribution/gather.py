"""From the index to facts: what the table needs to know of one experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from analysis.attribution.experiment_facts import experiment_facts
from analysis.attribution.facts import Address, Cell, Detail, Experiment, TestKey, Unit
from analysis.attribution.statistics import ZERO, Count
from analysis.attribution.touches import TOUCHES
from analysis.config import Config
from analysis.model import ALONE, ARMS, RUN_TEST_ID, Phase, Role
from analysis.records.identity import normal_form
from analysis.store import query

if TYPE_CHECKING:
    from analysis.attribution.failing import Failing

_CELLS = """
SELECT patch_id, role, test_norm, variant, phase, cpus,
    count(*) FILTER (failed) AS k, count(failed) AS n
FROM results_now
WHERE experiment = $experiment AND usable AND NOT in_outage AND failed IS NOT NULL
GROUP BY ALL
"""

_KNOWN_TESTS = """
SELECT patch_id, test_norm, variant, min(test_id) AS test_id, count(failed) AS executed
FROM results_now WHERE experiment = $experiment AND NOT in_outage AND role = 'subject'
GROUP BY ALL
"""

# A run that was cut gives no verdict, but a failure in it is on record.
_CUT = """
SELECT r.patch_id, r.role, r.test_norm, r.variant, count(*) AS k
FROM results_now r JOIN run_facts f USING (experiment, run_id)
WHERE r.experiment = $experiment AND r.failed AND NOT f.complete AND NOT r.in_outage
GROUP BY ALL
"""

# Runs that say of themselves that they were not isolated, or not alone.
_NOT_ISOLATED = """
SELECT DISTINCT r.test_norm, r.variant
FROM results_now r JOIN run_facts f USING (experiment, run_id)
WHERE r.experiment = $experiment AND r.usable AND NOT r.in_outage AND r.role <> 'red'
    AND (f.isolation = 'off' OR f.concurrency > 1)
    AND r.phase IN ('serial', 'repeat', 'tightened', 'loaded')
"""

_BARE_PATCHES = """
SELECT DISTINCT patch_id FROM runs_now
WHERE experiment = $experiment AND role = 'subject' AND usable AND verdict <> 'none'
    AND (test_records = 0 OR (verdict = 'fail' AND tests_failed = 0))
"""

_SUBJECTS = """
SELECT DISTINCT patch_id FROM run_facts WHERE experiment = $experiment AND role = 'subject'
ORDER BY patch_id
"""

# A written resource that two alone runs shared makes every test that touched it there unfresh,
# whichever test wrote. A port is free again when a run has ended: it counts where runs overlap.
_UNFRESH = (
    TOUCHES
    + """, alone AS (
    SELECT * FROM touches
    WHERE phase IN ('serial', 'repeat', 'tightened', 'loaded') AND role <> 'red'
), shared AS (
    SELECT kind, id, count(DISTINCT run_id) AS runs
    FROM alone WHERE kind <> 'port' GROUP BY ALL
    HAVING count(DISTINCT run_id) > 1 AND bool_or(writes)
    UNION ALL
    SELECT a.kind, a.id, count(DISTINCT a.run_id) AS runs
    FROM alone a
    JOIN alone b ON a.kind = b.kind AND a.id = b.id AND a.run_id <> b.run_id
        AND (a.writes OR b.writes) AND a.started < b.finished AND b.started < a.finished
    WHERE a.kind = 'port' GROUP BY ALL
)
SELECT DISTINCT a.test_norm, a.variant, s.kind, s.id, s.runs
FROM alone a JOIN shared s ON s.kind = a.kind AND s.id = a.id
ORDER BY s.runs DESC, s.kind, s.id
"""
)


@dataclass(frozen=True)
class Gathered:
    """An experiment's facts, its units, and the tests that were never executed."""

    experiment: Experiment
    units: tuple[Unit, ...]
    not_executed: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Counted:
    """Everything counted once for an experiment, before it is laid out a unit.

    cells and elsewhere: a test's counts by (patch, role). names: test id and whether it was
    executed, by (subject patch, test).
    """

    cells: Mapping[TestKey, Mapping[tuple[str, str], Mapping[Cell, Count]]]
    names: Mapping[tuple[str, TestKey], tuple[str, bool]]
    elsewhere: Mapping[TestKey, Mapping[tuple[str, str], int]]
    failing: Failing | None
    unfresh: Mapping[TestKey, tuple[Address, int]]
    not_isolated: frozenset[TestKey]


def gather(
    connection: duckdb.DuckDBPyConnection, name: str, config: Config, digests: Mapping[str, str]
) -> Gathered:
    """The facts of experiment `name`.

    digests: the digest that a patch must have (`--digest`), "" for every subject.
    """
    of = {"experiment": name}
    experiment = experiment_facts(connection, name, config, digests)
    counted = _count(connection, of)
    bare = {patch for (patch,) in query.rows(connection, _BARE_PATCHES, of)}
    units: list[Unit] = []
    not_executed: list[tuple[str, str]] = []
    for (patch,) in query.rows(connection, _SUBJECTS, of):
        tests = _tests_of(counted, patch, config, bare)
        units.extend(
            _unit(experiment, counted, config, patch, key, test)
            for key, test in sorted(tests.items(), key=lambda item: (item[1], item[0][1] or ""))
        )
        not_executed.extend(
            (patch, test)
            for (owner, key), (test, executed) in counted.names.items()
            if owner == patch and not executed and key not in tests
        )
    return Gathered(experiment, tuple(units), tuple(sorted(not_executed)))


def _count(connection: duckdb.DuckDBPyConnection, of: Mapping[str, object]) -> _Counted:
    cells: dict[TestKey, dict[tuple[str, str], dict[Cell, Count]]] = {}
    elsewhere: dict[TestKey, dict[tuple[str, str], int]] = {}
    failing: set[str] = set()
    for patch, role, test, variant, phase, cpus, k, n in query.rows(connection, _CELLS, of):
        if phase == Phase.GATE:
            owners = elsewhere.setdefault((test, variant), defaultdict(int))
            owners[patch, role] += k
            continue
        of_test = cells.setdefault((test, variant), defaultdict(dict))
        of_test[patch, role][Cell(Role(role), Phase(phase), cpus)] = Count(k, n)
        if k:
            failing.add(test)
    for patch, role, test, variant, k in query.rows(connection, _CUT, of):
        elsewhere.setdefault((test, variant), defaultdict(int))[patch, role] += k
    names = {
        (patch, (test, variant)): (test_id, executed > 0)
        for patch, test, variant, test_id, executed in query.rows(connection, _KNOWN_TESTS, of)
    }
    unfresh: dict[TestKey, tuple[Address, int]] = {}
    for test, variant, kind, name, runs in query.rows(connection, _UNFRESH, of):
        unfresh.setdefault((test, variant), (Address(kind, name), runs))
    return _Counted(
        cells,
        names,
        elsewhere,
        _failing(connection, of, failing),
        unfresh,
        frozenset((test, variant) for test, variant in query.rows(connection, _NOT_ISOLATED, of)),
    )


def _failing(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object], tests: set[str]
) -> Failing | None:
    if not tests:
        return None
    # Frames are for tests that failed; most logs have none, and pandas is slow to import.
    from analysis.attribution.failing import failing_tests

    return failing_tests(connection, of, tests)


def _tests_of(counted: _Counted, patch: str, config: Config, bare: set[str]) -> dict[TestKey, str]:
    """The units of a patch as key -> test id: executed tests, pinned tests without a record,
    and the run as a whole where a run has no tests or fails although none of its tests does."""
    mine = {key: name for (owner, key), name in counted.names.items() if owner == patch}
    tests = {
        key: test_id
        for key, (test_id, executed) in mine.items()
        if executed and (key[0] != RUN_TEST_ID or patch in bare)
    }
    recorded = {key[0] for key in mine}
    for test_id in config.inventory or ():
        norm = normal_form(test_id)
        if norm not in recorded and patch not in bare:
            tests[norm, None] = test_id
    return tests or {(RUN_TEST_ID, None): RUN_TEST_ID}


def _unit(
    experiment: Experiment,
    counted: _Counted,
    config: Config,
    patch: str,
    key: TestKey,
    test_id: str,
) -> Unit:
    cells, elsewhere = _pool(counted, patch, key)
    executions = dict(cells)
    found = None
    if counted.failing is not None:
        found = counted.failing.unit(key, patch, red_counts=_red_counts(config, key))
    if found is not None and found.by_run is not None:
        cells = found.by_run
    address, shared_by = counted.unfresh.get(key, (None, 0))
    alone = {cell: count for cell, count in cells.items() if cell.phase in ALONE}
    if address is not None:
        cells = {cell: count for cell, count in cells.items() if cell not in alone}
        executions = {cell: count for cell, count in executions.items() if cell not in alone}
    return Unit(
        experiment=experiment,
        patch_id=patch,
        test_id=test_id,
        variant=key[1],
        cells=cells,
        elsewhere=elsewhere,
        by_run=found is not None and found.by_run is not None,
        executions=executions,
        isolated=key not in counted.not_isolated,
        unfresh=address,
        unfresh_runs=shared_by,
        unfresh_failures=0
        if address is None
        else sum(count.k for cell, count in alone.items() if cell.role is not Role.RED),
        detail=Detail() if found is None else found.detail,
    )


def _pool(counted: _Counted, patch: str, key: TestKey) -> tuple[dict[Cell, Count], int]:
    """The cells of a test: this patch as subject, and the canaries. And failures elsewhere."""
    cells: dict[Cell, Count] = {}
    elsewhere = 0
    for (owner, role), counts in counted.cells.get(key, {}).items():
        if role != Role.SUBJECT or owner == patch:
            for cell, count in counts.items():
                cells[cell] = cells.get(cell, ZERO) + count
    for (owner, role), k in counted.elsewhere.get(key, {}).items():
        if role == Role.GREEN or (role == Role.SUBJECT and owner == patch):
            elsewhere += k
    return cells, elsewhere


def _red_counts(config: Config, key: TestKey) -> bool:
    """Red's executions count as the test's own, except on the test that red is there to fail."""
    red = config.canaries.red
    if red is None or red.test_id is None:
        return key[0] != RUN_TEST_ID
    return normal_form(red.test_id) != key[0]


def arms_of(unit: Unit, roles: Sequence[Role]) -> dict[Phase, dict[Role, Count]]:
    """Failures / executed a phase and role, in the order in which phases are shown."""
    return {
        phase: {role: count for role in roles if (count := unit.count((role,), (phase,))).n}
        for phase in ARMS
        if any(unit.count((role,), (phase,)).n for role in roles)
    }
