"""The tell: a patch that is stably red beside one that varies, and what the two share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from analysis.model import Role
from analysis.store import query

_PAIRS = """
WITH soak AS (
    SELECT experiment, patch_id, role, count(*) FILTER (verdict = 'fail') AS k, count(*) AS n
    FROM runs
    WHERE phase = 'soak' AND verdict <> 'none' AND NOT in_outage
        AND list_contains($experiments, experiment)
    GROUP BY ALL
)
SELECT s.experiment, s.patch_id, s.k, s.n, s.role, v.patch_id, v.k, v.n
FROM soak s JOIN soak v ON s.experiment = v.experiment AND s.patch_id <> v.patch_id
WHERE s.k = s.n AND s.n > 1 AND v.k > 0 AND v.k < v.n
ORDER BY s.experiment, s.patch_id, v.patch_id
"""

_SHARED = """
WITH pairs AS (
    SELECT unnest($experiment::VARCHAR[]) AS experiment, unnest($stable::VARCHAR[]) AS stable,
        unnest($varying::VARCHAR[]) AS varying
), touches AS (
    SELECT DISTINCT r.experiment, r.run_id, r.patch_id, r.round, u.kind AS kind, u.id AS id,
        u.op = 'w' AS writes
    FROM (
        FROM results
        SEMI JOIN (
            SELECT experiment, stable AS patch_id FROM pairs
            UNION SELECT experiment, varying FROM pairs
        ) p USING (experiment, patch_id)
        WHERE len(resources) > 0 AND phase = 'soak' AND usable
    ) r, unnest(r.resources) AS t(u)
)
SELECT experiment, stable, varying, kind, id
FROM (
    SELECT p.experiment, p.stable, p.varying, a.kind, a.id, count(*) AS times
    FROM pairs p
    JOIN touches a ON a.experiment = p.experiment AND a.patch_id = p.stable
    JOIN touches b ON b.experiment = p.experiment AND b.patch_id = p.varying
        AND a.kind = b.kind AND a.id = b.id
        AND a.round IS NOT DISTINCT FROM b.round AND (a.writes OR b.writes)
    GROUP BY ALL
)
QUALIFY row_number() OVER (
    PARTITION BY experiment, stable, varying ORDER BY times DESC, kind, id
) = 1
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
    return tells_of(connection, [experiment]).get(experiment, ())


def tells_of(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> dict[str, tuple[Tell, ...]]:
    """Every such pair in the soaks of some experiments, by experiment."""
    pairs = query.rows(connection, _PAIRS, {"experiments": list(experiments)})
    if not pairs:
        return {}
    asked = {
        "experiment": [row[0] for row in pairs],
        "stable": [row[1] for row in pairs],
        "varying": [row[5] for row in pairs],
    }
    shared = {
        (experiment, stable, varying): (kind, name)
        for experiment, stable, varying, kind, name in query.rows(connection, _SHARED, asked)
    }
    tells: dict[str, list[Tell]] = defaultdict(list)
    for experiment, stable, stable_k, stable_n, role, varying, k, n in pairs:
        resource = shared.get((experiment, stable, varying))
        # Red is there to be red: beside it only a shared resource tells something.
        if role != Role.RED or resource is not None:
            kind, name = resource or (None, None)
            tells[experiment].append(Tell(stable, stable_k, stable_n, varying, k, n, kind, name))
    return {experiment: tuple(found) for experiment, found in tells.items()}
