"""Quorum and leases: two greens from one source."""

from __future__ import annotations

from analysis.evidence.keys import LEASE_KEY_LENGTH
from analysis.evidence.rules import Family, ProofRule, RecordRule, Told
from analysis.model import Standing

_TOLD = {
    "lease-key-not-work": Told(
        "keys made of clocks: two workers, one work, two leases",
        "proof.lease.key, repo, commit, config_hash",
    ),
    "stale-fence": Told(
        "a worker that lost its lease and wrote its verdict anyway",
        "proof.lease.token, expires_at; finished",
    ),
    "double-lease": Told(
        "one work, counted by two workers", "proof.lease.key, token, acquired_at, expires_at"
    ),
    "quorum-not-independent": Told(
        "two greens from one runner or one seed", "seed, runner_digest; proof.lease.key, token"
    ),
}

RULES = (
    ProofRule(
        "lease-key-not-work",
        Family.LEASE,
        Standing.VOID,
        _TOLD["lease-key-not-work"],
        "lease",
        f"""lower(proof_text(b, 'key')) IS DISTINCT FROM left(sha256((b ->> '$.repo') || ':'
            || (b ->> '$.commit') || ':' || (b ->> '$.config_hash')), {LEASE_KEY_LENGTH})""",
        "format('holds a lease with key {}, which is not made of its work',"
        " coalesce(proof_text(b, 'key'), 'none'))",
    ),
    ProofRule(
        "stale-fence",
        Family.LEASE,
        Standing.VOID,
        _TOLD["stale-fence"],
        "lease",
        "proof_number(b, 'token') IS NULL OR r.ended > proof_moment(b, 'expires_at')",
        """CASE WHEN proof_number(b, 'token') IS NULL THEN 'holds a lease without a token'
            ELSE 'was said after its lease had ended' END""",
    ),
)

_LEASES = """
    WITH leases AS (
        SELECT *, proof -> '$.lease' AS b, proof_text(b, 'key') AS key,
            proof_number(b, 'token') AS token,
            concat_ws(':', b ->> '$.repo', b ->> '$.commit', b ->> '$.config_hash') AS work
        FROM proved WHERE json_type(proof, '$.lease') = 'OBJECT'
    )
"""

RECORD_RULES = (
    RecordRule(
        "stale-fence",
        Family.LEASE,
        Standing.VOID,
        _TOLD["stale-fence"],
        _LEASES
        + """
        SELECT experiment, run_id,
            format('holds token {} of a key for which token {} was seen', token::BIGINT,
                highest::BIGINT),
            source_id, line
        FROM (SELECT *, max(token) OVER (PARTITION BY experiment, key) AS highest FROM leases
            WHERE key IS NOT NULL)
        WHERE token < highest
        """,
        "lease",
    ),
    RecordRule(
        "double-lease",
        Family.LEASE,
        Standing.VOID,
        _TOLD["double-lease"],
        # Each lease once; sorted by its start it overlaps another one if it begins before an
        # earlier one has ended, or ends after the next one begins.
        _LEASES
        + """, spans AS (
            SELECT experiment, work, key, token,
                min(coalesce(proof_moment(b, 'acquired_at'), '-infinity'::DOUBLE)) AS begins,
                max(coalesce(proof_moment(b, 'expires_at'), 'infinity'::DOUBLE)) AS ends
            FROM leases WHERE work <> '' GROUP BY ALL
        ), ordered AS (
            SELECT *, begins < max(ends) OVER before OR ends > min(begins) OVER after AS doubled
            FROM spans
            WINDOW before AS (PARTITION BY experiment, work ORDER BY begins, ends, key, token
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                after AS (PARTITION BY experiment, work ORDER BY begins, ends, key, token
                    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
        )
        SELECT l.experiment, l.run_id,
            format('holds a lease on {} while another one was live', l.work), l.source_id, l.line
        FROM leases l
        SEMI JOIN (FROM ordered WHERE doubled) o ON o.experiment = l.experiment
            AND o.work = l.work AND o.key IS NOT DISTINCT FROM l.key
            AND o.token IS NOT DISTINCT FROM l.token
        """,
        "lease",
    ),
    *(
        RecordRule(
            "quorum-not-independent",
            Family.LEASE,
            standing,
            _TOLD["quorum-not-independent"],
            # If no two of some passes differ in both, all have one seed or all have one runner.
            _LEASES
            + f""", passes AS (
                SELECT *, row_number() OVER (PARTITION BY experiment, key ORDER BY ended, run_id)
                    AS place
                FROM leases WHERE logged_verdict = 'pass' AND key IS NOT NULL
                QUALIFY token IS NOT DISTINCT FROM max(token) OVER (PARTITION BY experiment, key)
            ), quorums AS (
                SELECT experiment, key, count(*) AS passes FROM passes GROUP BY ALL
                HAVING count(*) > 1 AND (
                    count(DISTINCT seed) FILTER (runner_digest IS NOT NULL) < 2
                    OR count(DISTINCT runner_digest) FILTER (seed IS NOT NULL) < 2
                )
            )
            SELECT experiment, run_id,
                format('is one of {{}} passes of one key with one seed or one runner: they are one',
                    q.passes),
                source_id, line
            FROM passes JOIN quorums q USING (experiment, key) WHERE place {which}
            """,
            "lease",
        )
        for standing, which in ((Standing.UNPROVEN, "= 1"), (Standing.VOID, "> 1"))
    ),
)
