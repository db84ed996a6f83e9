"""The tell: a patch that is stably red beside one that varies, and what the two share."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analysis.model import Role
from analysis.store import query

_PAIRS = """
WITH soak AS (
    SELECT patch_id, role, count(*) FILTER (verdict = 'fail') AS k, count(*) AS n
    FROM runs
    WHERE phase = 'soak' AND verdict <> 'none' AND NOT in_outage AND experiment = $experiment
    GROUP BY ALL
)
SELECT s.patch_id, s.k, s.n, s.role, v.patch_id, v.k, v.n
FROM soak s JOIN soak v ON s.patch_id <> v.patch_id
WHERE s.k = s.n AND s.n > 1 AND v.k > 0 AND v.k < v.n
ORDER BY s.patch_id, v.patch_id
"""

_SHARED = """
WITH touches AS (
    SELECT DISTINCT run_id, patch_id, round, u.kind AS kind, u.id AS id, u.op = 'w' AS writes
    FROM results, unnest(resources) AS t(u)
    WHERE experiment = $experiment AND phase = 'soak' AND usable
)
SELECT stable, varying, kind, id
FROM (
    SELECT a.patch_id AS stable, b.patch_id AS varying, a.kind, a.id, count(*) AS times
    FROM touches a
    JOIN touches b ON a.kind = b.kind AND a.id = b.id AND a.patch_id <> b.patch_id
        AND a.round IS NOT DISTINCT FROM b.round AND (a.writes OR b.writes)
    GROUP BY ALL
)
QUALIFY row_number() OVER (PARTITION BY stable, varying ORDER BY times DESC, kind, id) = 1
"""


@dataclass(frozen=True)
class Tell:
    """A stably red patch (k of n soak rounds) beside a varying one, and the resource they share.

    kind and id are None where nothing is recorded: record resources for these two.
    """

    stable: str
    stable_fails: int
    stable_runs: int
    varying: str
    varying_fails: int
    varying_runs: int
    kind: str | None
    id: str | None


def find_tells(connection: duckdb.DuckDBPyConnection, experiment: str) -> tuple[Tell, ...]:
    """Every such pair in the soak of an experiment."""
    of = {"experiment": experiment}
    pairs = query.rows(connection, _PAIRS, of)
    if not pairs:
        return ()
    shared = {
        (stable, varying): (kind, name)
        for stable, varying, kind, name in query.rows(connection, _SHARED, of)
    }
    return tuple(
        Tell(
            stable, stable_k, stable_n, varying, k, n, *shared.get((stable, varying), (None, None))
        )
        for stable, stable_k, stable_n, role, varying, k, n in pairs
        # Red is there to be red: beside it only a shared resource tells something.
        if role != Role.RED or (stable, varying) in shared
    )
