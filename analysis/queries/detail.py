"""Everything about one unit: its class and why, and the executions that it rests on."""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from analysis.attribution.statistics import Count, interval
from analysis.model import RUN_TEST_ID, Phase, Role
from analysis.queries.attributions import Tried, UnitKey, UnitRow, unit
from analysis.queries.exposure import (
    Bar,
    SharedResources,
    peers_of,
    records_resources,
    shared_resources,
    touches_of,
)
from analysis.queries.failures import (
    EXAMPLES,
    FailedExecution,
    Forms,
    failed_executions,
    failure_forms,
    failures_total,
)
from analysis.queries.unit_executions import executions_of
from analysis.records.identity import normal_form
from analysis.store import query

CELLS = 120
"""Signs in a strip of runs."""

_STRIPS = """
WITH counted AS (
    SELECT role, phase, failed, count(*) OVER arm AS n, row_number() OVER (
            PARTITION BY role, phase ORDER BY started, run_id, source_id, byte_offset, item
        ) - 1 AS place
    FROM unit_executions WHERE counted
    WINDOW arm AS (PARTITION BY role, phase)
), cells AS (
    SELECT role, phase, n, ceil(n / $cells)::BIGINT AS size, place // size AS cell,
        count(*) FILTER (failed) AS k
    FROM counted GROUP BY ALL
)
SELECT role, phase, any_value(size), sum(k)::BIGINT, any_value(n),
    string_agg(CASE WHEN k > 0 THEN 'f' ELSE 'p' END, '' ORDER BY cell)
FROM cells GROUP BY role, phase
"""

_RED = "SELECT detail FROM experiment_facts WHERE experiment = $experiment"


@dataclass(frozen=True)
class Arm:
    """A phase of the experiment: (failures, executed) of the patch with the two-sided 95 %
    interval of its rate, and of green; (0, 0) where one did not run there."""

    phase: Phase
    subject: tuple[int, int]
    interval: tuple[float, float]
    green: tuple[int, int]


@dataclass(frozen=True)
class Strip:
    """The counted executions of one role in one phase, in the order in which they started.

    signs: `p` and `f`, one for `size` executions each: `f` where any of them failed. k of n
    failed.
    """

    role: Role
    phase: Phase
    signs: str
    size: int
    k: int
    n: int


@dataclass(frozen=True)
class Timeline:
    """One failing execution and the executions of other runs that held a resource with it.

    failure: `failure.number` of `failures` (the patch's own by time, then green's). peers: by
    time, the first of `peers_total`.
    """

    failure: FailedExecution
    failures: int
    peers: tuple[Bar, ...]
    peers_total: int


@dataclass(frozen=True)
class TestDetail:
    """A unit and what it rests on, as of one moment.

    tried: the rows of the table, the one that matched first. timeline: None without a failure
    on record. failing: the first of `failures_total` failing executions of the patch and green,
    with the log that was kept of each. command: shows the reasoning in a terminal; None where an
    id holds a control character, which a terminal would obey as it is pasted.
    """

    __test__ = False  # its name is not that of a test case

    unit: UnitRow
    tried: tuple[Tried, ...]
    arms: tuple[Arm, ...]
    forms: Forms
    timeline: Timeline | None
    failing: tuple[FailedExecution, ...]
    failures_total: int
    resources: SharedResources
    strips: tuple[Strip, ...]
    command: str | None


def detail_of(
    connection: duckdb.DuckDBPyConnection, key: UnitKey, failure: int = 0
) -> TestDetail | None:
    """What there is to say of a unit; None where there is no such unit (any more).

    failure: the number of the failing execution whose timeline is shown; a number that there is
    none of gives the nearest.
    """
    row = unit(connection, key)
    if row is None:
        return None
    with executions_of(connection, key):
        total = failures_total(connection)
        number = max(0, min(failure, total - 1))
        chosen = failed_executions(connection, [*range(EXAMPLES), number])
        own = chosen.get(number) if total else None
        resources, peers, peers_total = _beside(connection, key, number)
        return TestDetail(
            unit=row,
            tried=table_order(row.tried),
            arms=arms(row),
            forms=failure_forms(connection),
            timeline=None if own is None else Timeline(own, total, peers, peers_total),
            failing=tuple(chosen[at] for at in range(min(total, EXAMPLES))),
            failures_total=total,
            resources=resources,
            strips=_strips(connection),
            command=explaining(key),
        )


def _beside(
    connection: duckdb.DuckDBPyConnection, key: UnitKey, number: int
) -> tuple[SharedResources, tuple[Bar, ...], int]:
    if not records_resources(connection):
        return SharedResources((), 0, False), (), 0
    with touches_of(connection, key.experiment):
        shared = shared_resources(connection, red_counts=_red_counts(connection, key))
        return shared, *peers_of(connection, number)


def _red_counts(connection: duckdb.DuckDBPyConnection, key: UnitKey) -> bool:
    """Red's executions count as the test's own, except on the test that red is there to fail."""
    ((text,),) = query.rows(connection, _RED, {"experiment": key.experiment})
    judged_on = json.loads(text)["canaries"]["red"]["judged_on"]
    pinned = RUN_TEST_ID if judged_on == "run verdict" else judged_on
    return bool(normal_form(key.test_id) != pinned)


def table_order(tried: Sequence[Tried]) -> tuple[Tried, ...]:
    """The rows of the decision table as they are read: the one that matched, then those above
    it in the table's order."""
    return (
        *(one for one in tried if one.matches),
        *(one for one in tried if not one.matches),
    )


def arms(row: UnitRow) -> tuple[Arm, ...]:
    """The arms in which patch or green ran, in the order of the phases."""
    found = []
    for phase, roles in row.counts.items():
        subject, green = (Count(*roles.get(role, (0, 0))) for role in (Role.SUBJECT, Role.GREEN))
        if subject.n or green.n:
            found.append(Arm(Phase(phase), (*subject,), interval(subject), (*green,)))
    return tuple(found)


def _strips(connection: duckdb.DuckDBPyConnection) -> tuple[Strip, ...]:
    found = {
        (Role(role), Phase(phase)): Strip(Role(role), Phase(phase), signs, size, k, n)
        for role, phase, size, k, n, signs in query.rows(connection, _STRIPS, {"cells": CELLS})
    }
    return tuple(found[role, phase] for phase in Phase for role in Role if (role, phase) in found)


def explaining(key: UnitKey) -> str | None:
    """The command that prints the whole reasoning on a test, to be pasted into a shell."""
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in key.experiment + key.test_id):
        return None
    parts = ("tui", "attribute", "--experiment", key.experiment, "--explain", key.test_id)
    return " ".join(map(shlex.quote, parts))
