"""The tell: a patch that is stably red beside one that varies, and what the two share."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analysis.store import query

_TELL = """
WITH soak AS (
    SELECT experiment, patch_id, role, count(*) FILTER (verdict = 'fail') AS k, count(*) AS n
    FROM runs
    WHERE phase = 'soak' AND verdict <> 'none' AND NOT in_outage AND experiment = $experiment
    GROUP BY ALL
), pairs AS (
    SELECT s.patch_id AS stable, s.k AS stable_k, s.n AS stable_n, s.role, v.patch_id AS varying,
        v.k, v.n
    FROM soak s JOIN soak v ON s.patch_id <> v.patch_id
    WHERE s.k = s.n AND s.n > 1 AND v.k > 0 AND v.k < v.n
), touches AS (
    SELECT DISTINCT run_id, patch_id, round, u.kind AS kind, u.id AS id,
        u.op = 'w' AS writes
    FROM results, unnest(resources) AS t(u)
    WHERE experiment = $experiment AND phase = 'soak' AND usable
), shared AS (
    SELECT a.patch_id AS stable, b.patch_id AS varying, a.kind, a.id, count(*) AS times
    FROM touches a
    JOIN touches b ON a.kind = b.kind AND a.id = b.id AND a.patch_id <> b.patch_id
        AND a.round IS NOT DISTINCT FROM b.round AND (a.writes OR b.writes)
    GROUP BY ALL
)
SELECT p.stable, p.stable_k, p.stable_n, p.varying, p.k, p.n, p.role,
    arg_max(s.kind, (s.times, s.kind, s.id)),
    arg_max(s.id, (s.times, s.kind, s.id))
FROM pairs p LEFT JOIN shared s ON s.stable = p.stable AND s.varying = p.varying
GROUP BY ALL
-- Red is there to be red: beside it only a shared resource tells something.
HAVING p.role <> 'red' OR count(s.id) > 0
ORDER BY p.stable, p.varying
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
    found = query.rows(connection, _TELL, {"experiment": experiment})
    return tuple(
        Tell(stable, stable_k, stable_n, varying, k, n, kind, name)
        for stable, stable_k, stable_n, varying, k, n, _, kind, name in found
    )
