"""How often a patch fails: phase by phase beside green, and over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import duckdb

from analysis.attribution.statistics import Count, interval
from analysis.queries.cells import CELLS, in_order
from analysis.store import query

WINDOW = 8
"""Runs that the rate over time looks back on."""

_RATES = """
SELECT phase,
    count(*) FILTER (role = 'subject' AND verdict = 'fail'), count(*) FILTER (role = 'subject'),
    count(*) FILTER (role = 'green' AND verdict = 'fail'), count(*) FILTER (role = 'green')
FROM runs
WHERE experiment = $experiment AND verdict <> 'none'
    AND (role = 'green' OR (role = 'subject' AND patch_id = $patch_id))
GROUP BY phase HAVING count(*) FILTER (role = 'subject') > 0
"""

_OVER_TIME = f"""
SELECT max(number), max_by(started, number), count(*), avg(rolling)
FROM (
    SELECT started, row_number() OVER timely AS number, count(*) OVER () AS total,
        avg((verdict = 'fail')::INTEGER) OVER (
            ORDER BY place ROWS BETWEEN {WINDOW - 1} PRECEDING AND CURRENT ROW
        ) AS rolling
    FROM ({CELLS})
    WHERE role = 'subject' AND patch_id = $patch_id AND verdict IS NOT NULL
    WINDOW timely AS (ORDER BY place)
)
GROUP BY (number - 1) * least($points, total) // total
ORDER BY 1
"""


class Rate(NamedTuple):
    """k of n verdicts failed, with the two-sided 95 % interval of the rate."""

    k: int
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class PhaseRate:
    """The failure rate of a patch in a phase, and of the green canary in the same phase."""

    phase: str
    patch: Rate
    green: Rate


@dataclass(frozen=True)
class TimePoint:
    """A stretch of `runs` verdicts that ends with number `at`, counted from 1, in start order.

    share: failures among the last WINDOW verdicts, averaged over the stretch.
    """

    at: int
    started: datetime | None
    runs: int
    share: float


def rates_by_phase(
    connection: duckdb.DuckDBPyConnection, experiment: str, patch_id: str
) -> tuple[PhaseRate, ...]:
    """The failure rates of a patch in the phases in which it has a verdict, in their order."""
    asked = {"experiment": experiment, "patch_id": patch_id}
    found = {
        phase: PhaseRate(phase, _rate(k, n), _rate(green_k, green_n))
        for phase, k, n, green_k, green_n in query.rows(connection, _RATES, asked)
    }
    return tuple(in_order(found).values())


def rate_over_time(
    connection: duckdb.DuckDBPyConnection, experiment: str, patch_id: str, points: int = 200
) -> tuple[TimePoint, ...]:
    """The failure rate of a patch over its verdicts in start order, in at most `points` stretches.

    Raises ValueError for less than one.
    """
    if points < 1:
        raise ValueError(f"{points} points draw nothing")
    asked = {"experiments": [experiment], "patch_id": patch_id, "points": points}
    return tuple(TimePoint(*row) for row in query.rows(connection, _OVER_TIME, asked))


def _rate(k: int, n: int) -> Rate:
    return Rate(k, n, *interval(Count(k, n)))
