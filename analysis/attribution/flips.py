"""Flips: the same patch digest on the same base with a pass in one run and a fail in another."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analysis.store import query

# A digest may be given as a prefix of 8 or more characters: the longest that it begins is meant.
_FLIPS = """
WITH digests AS (
    SELECT DISTINCT patch_digest AS digest FROM run_facts WHERE patch_digest IS NOT NULL
), bases AS (
    SELECT DISTINCT base_sha AS base FROM run_facts WHERE base_sha IS NOT NULL
), whole_digests AS (
    SELECT d.digest, max_by(w.digest, (length(w.digest), w.digest)) AS whole
    FROM digests d JOIN digests w
        ON w.digest = d.digest OR (length(d.digest) >= 8 AND starts_with(w.digest, d.digest))
    GROUP BY ALL
), whole_bases AS (
    SELECT b.base, max_by(w.base, (length(w.base), w.base)) AS whole
    FROM bases b JOIN bases w
        ON w.base = b.base OR (length(b.base) >= 7 AND starts_with(w.base, b.base))
    GROUP BY ALL
), judged AS (
    SELECT r.*, coalesce(d.whole, r.patch_id) AS work, coalesce(b.whole, '') AS base,
        CASE WHEN r.patch_digest IS NULL THEN r.experiment END AS within
    FROM runs r
    LEFT JOIN whole_digests d ON d.digest = r.patch_digest
    LEFT JOIN whole_bases b ON b.base = r.base_sha
    WHERE r.verdict <> 'none' AND r.executed AND NOT r.in_outage AND r.patch_id <> '(unknown)'
), flipped AS (
    SELECT work, within, base, patch_digest IS NULL AS unbound,
        list(DISTINCT experiment ORDER BY experiment) AS experiments,
        min(patch_id) AS patch_id, max_by(patch_digest, length(patch_digest)) AS digest,
        max(base_sha) AS base_sha,
        count(*) FILTER (verdict = 'pass') AS passes, count(*) FILTER (verdict = 'fail') AS fails,
        min_by(run_id, (started, log, line)) FILTER (verdict = 'pass') AS pass_run,
        min_by(run_id, (started, log, line)) FILTER (verdict = 'fail') AS fail_run,
        min_by(log || ':' || line, (started, log, line)) FILTER (verdict = 'pass') AS pass_at,
        min_by(log || ':' || line, (started, log, line)) FILTER (verdict = 'fail') AS fail_at
    FROM judged
    GROUP BY ALL
    HAVING count(*) FILTER (verdict = 'pass') > 0 AND count(*) FILTER (verdict = 'fail') > 0
)
SELECT experiments, patch_id, digest, base_sha, unbound, passes, fails, pass_run, fail_run,
    pass_at, fail_at
FROM flipped ORDER BY patch_id, digest, base_sha, experiments
"""


@dataclass(frozen=True)
class Flip:
    """One patch that both passed and failed. Runs are the first of each kind, with file:line.

    digest is None where the log gives none: then it is the same patch name in one experiment.
    """

    experiments: tuple[str, ...]
    patch_id: str
    digest: str | None
    base_sha: str | None
    passes: int
    fails: int
    pass_run: str
    fail_run: str
    pass_at: str
    fail_at: str


def find_flips(connection: duckdb.DuckDBPyConnection) -> tuple[Flip, ...]:
    """Every flip of the index, in any phase and at any distance in time.

    Runs that are void, have no verdict or lie in an outage are set aside.
    """
    return tuple(
        Flip(tuple(experiments), patch, digest, base, passes, fails, *places)
        for experiments, patch, digest, base, _, passes, fails, *places in query.rows(
            connection, _FLIPS
        )
    )
