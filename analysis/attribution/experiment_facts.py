"""What holds for a whole experiment: its records, its soak, its canaries."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from analysis.attribution.facts import Address, Canary, Complaint, Experiment
from analysis.attribution.statistics import ZERO, Count
from analysis.attribution.touches import TOUCHES
from analysis.config import Canary as CanaryConfig
from analysis.config import Config
from analysis.model import Role
from analysis.records.identity import normal_form
from analysis.store import query

_IMPOSSIBLE = """
SELECT count(DISTINCT f.run_id), min_by(f.sentence, (f.rule, f.run_id)),
    min_by(f.run_id, (f.rule, f.run_id))
FROM findings f JOIN run_facts r USING (experiment, run_id)
WHERE f.experiment = $experiment AND f.standing = 'void' AND f.rule <> 'inventory-missing'
    AND f.rule <> 'counts-missing'
    AND r.logged_verdict = 'pass' AND (r.phase = 'soak' OR r.role IN ('red', 'green'))
"""

_TORN = """
SELECT count(*), min(sentence) FROM findings WHERE experiment = $experiment AND rule = 'log-torn'
"""

_DUPLICATES = """
SELECT count(*), format('run id {} stands for {} different records', min(run_id),
    min_by(copies, run_id))
FROM run_facts WHERE experiment = $experiment AND copies > 1
"""

_DIGESTS = """
SELECT patch_id, role, list(DISTINCT patch_digest ORDER BY patch_digest)
FROM run_facts WHERE experiment = $experiment AND patch_digest IS NOT NULL
GROUP BY ALL ORDER BY patch_id, role
"""

_DIGESTS_OF_ONE_RUN = """
SELECT count(*), format('run {} names more than one digest', min(run_id))
FROM run_facts
WHERE experiment = $experiment AND list_contains(disagreeing, 'patch_digest')
"""

_GENERATIONS = """
SELECT count(*), format('workspace generation {} was used by {} attempts', min(generation),
    min_by(attempts, generation))
FROM (
    SELECT workspace_generation AS generation, count(DISTINCT attempt) AS attempts
    FROM run_facts
    WHERE experiment = $experiment AND workspace_generation IS NOT NULL AND attempt IS NOT NULL
    GROUP BY workspace_generation HAVING count(DISTINCT attempt) > 1
)
"""

_ROUNDS = """
SELECT count(*), count(*) FILTER (NOT good)
FROM (
    -- That a pinned test is missing is told by a row of its own.
    SELECT bool_and(
        (usable OR void_for = ['inventory-missing'])
        AND (logged_verdict <> 'none' OR test_records > 0)
    ) AS good
    FROM runs_now r
    LEFT JOIN (
        SELECT experiment, run_id, list(DISTINCT rule) AS void_for
        FROM findings WHERE standing = 'void' GROUP BY ALL
    ) f USING (experiment, run_id)
    WHERE r.experiment = $experiment AND r.phase = 'soak'
    GROUP BY coalesce('round ' || round, run_id)
)
"""

_SOAK_PATCHES = """
SELECT DISTINCT patch_id FROM run_facts
WHERE experiment = $experiment AND phase = 'soak' AND role = 'subject'
"""

_SOAK_ROLES = """
SELECT DISTINCT role FROM run_facts WHERE experiment = $experiment AND phase = 'soak'
"""

# Judged in the soak, a run at a time. A red that passed deviates wherever it ran, in whichever
# iteration or attempt, and no outage excuses it.
_GREEN_BY_PIN = """
SELECT run_id, coalesce('round ' || round, run_id) AS round, bool_or(failed) AS failed,
    bool_or(failed) AS as_expected
FROM results_now
WHERE experiment = $experiment AND role = 'green' AND test_norm = $pin
    AND failed IS NOT NULL AND usable AND phase = 'soak' AND NOT in_outage
GROUP BY ALL ORDER BY min(started), run_id
"""

_RED_BY_PIN = """
WITH executions AS (
    SELECT run_id, failed, message, exc, started FROM results_now
    WHERE experiment = $experiment AND role = 'red' AND test_norm = $pin AND failed IS NOT NULL
    UNION ALL
    SELECT t.run_id, t.failed, t.message, t.exc, t.started
    FROM uncounted_lines u
    JOIN recorded_tests t USING (source_id, byte_offset, item)
    WHERE t.experiment = $experiment AND u.rule = 'attempt' AND t.test_norm = $pin
        AND t.failed IS NOT NULL
), judged AS (
    SELECT r.run_id, r.round, r.phase, r.in_outage, min(e.started) AS started,
        coalesce(bool_and(e.failed), r.verdict = 'fail') AS failed,
        bool_and(e.failed) AND bool_or($expect IS NULL
            OR contains(coalesce(e.message, ''), $expect)
            OR contains(coalesce(e.exc, ''), $expect)) AS as_expected
    FROM runs_now r LEFT JOIN executions e USING (run_id)
    WHERE r.experiment = $experiment AND r.role = 'red' AND r.usable
    GROUP BY r.run_id, r.round, r.phase, r.in_outage, r.verdict
    -- Without a record of its pinned test only a passing verdict says something of red.
    HAVING count(e.failed) > 0 OR r.verdict = 'pass'
)
SELECT run_id, coalesce('round ' || round, run_id), failed, coalesce(as_expected, false)
FROM judged
WHERE (phase = 'soak' AND NOT in_outage) OR NOT failed
ORDER BY started, run_id
"""

_BY_VERDICT = """
SELECT run_id, coalesce('round ' || round, run_id) AS round, verdict = 'fail' AS failed,
    verdict = 'fail' AS as_expected
FROM runs_now
WHERE experiment = $experiment AND role = $role AND verdict <> 'none'
    AND (phase = 'soak' OR ($role = 'red' AND verdict = 'pass'))
    AND (NOT in_outage OR ($role = 'red' AND verdict = 'pass'))
ORDER BY started, run_id
"""

_PATCH_OF_ROLE = """
SELECT min(patch_id), count(DISTINCT coalesce('round ' || round, run_id)) FILTER (phase = 'soak')
FROM runs_now WHERE experiment = $experiment AND role = $role AND NOT in_outage
"""

# What a deviating canary shared with its peers while it deviated.
_SHARED = (
    TOUCHES
    + """
SELECT a.kind, a.id, b.patch_id, b.test_id, count(*) AS meetings
FROM touches a
JOIN touches b ON a.kind = b.kind AND a.id = b.id AND a.run_id <> b.run_id
    AND (a.writes OR b.writes) AND a.started <= b.finished AND b.started <= a.finished
WHERE list_contains($runs, a.run_id) AND a.test_norm = $pin
GROUP BY ALL ORDER BY meetings DESC, a.kind, a.id, b.patch_id, b.test_id
LIMIT 1
"""
)

_PINNED_RECORDS = """
SELECT r.patch_id, list(DISTINCT t.test_norm)
FROM run_facts r JOIN recorded_tests t USING (experiment, run_id)
WHERE r.experiment = $experiment AND r.phase = 'soak' AND r.role = 'subject'
GROUP BY r.patch_id
"""


def experiment_facts(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    config: Config,
    digests: Mapping[str, str],
) -> Experiment:
    """The facts of rows V1 to V6, 2a and 2b. digests: see `gather`."""
    of = {"experiment": name}
    runs = query.rows(
        connection, "SELECT count(*) FROM run_facts WHERE experiment = $experiment", of
    )
    rounds, unusable = query.rows(connection, _ROUNDS, of)[0]
    roles = frozenset(Role(role) for (role,) in query.rows(connection, _SOAK_ROLES, of))
    return Experiment(
        name=name,
        runs=runs[0][0],
        soak_rounds=rounds,
        impossible_passes=_impossible(connection, of),
        torn=_complaint(connection, _TORN, of),
        duplicates=_complaint(connection, _DUPLICATES, of),
        unusable_rounds=unusable,
        digests=_complaint(connection, _DIGESTS_OF_ONE_RUN, of)
        or _digests(connection, of, digests),
        generations=_complaint(connection, _GENERATIONS, of),
        soak_roles=roles,
        soak_patches=frozenset(patch for (patch,) in query.rows(connection, _SOAK_PATCHES, of)),
        red=_canary(connection, of, Role.RED, config.canaries.red),
        green=_canary(connection, of, Role.GREEN, config.canaries.green),
        missing_pinned=_missing_pinned(connection, of, config),
        pinned=len({normal_form(test) for test in config.inventory or ()}),
    )


def _complaint(
    connection: duckdb.DuckDBPyConnection, sql: str, of: Mapping[str, object]
) -> Complaint | None:
    count, example = query.rows(connection, sql, of)[0]
    return Complaint(count, example) if count else None


def _impossible(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object]
) -> Complaint | None:
    count, sentence, run = query.rows(connection, _IMPOSSIBLE, of)[0]
    return Complaint(count, f"run {run} {sentence}") if count else None


def _digests(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object], wanted: Mapping[str, str]
) -> Complaint | None:
    """Digests that differ within one patch, or from the one that was asked for.

    A digest may be a prefix: the shorter must begin the longer.
    """
    for patch, role, found in query.rows(connection, _DIGESTS, of):
        longest = max(found, key=len)
        if not all(longest.startswith(digest) for digest in found):
            return Complaint(
                len(found), f"patch {patch} has {len(found)} digests: {', '.join(found[:3])}"
            )
        asked = wanted.get(patch, wanted.get("", "") if role == Role.SUBJECT else "")
        if asked and not (longest.startswith(asked) or asked.startswith(longest)):
            return Complaint(1, f"patch {patch} has digest {longest}, not {asked}")
    return None


def _canary(
    connection: duckdb.DuckDBPyConnection,
    of: Mapping[str, object],
    role: Role,
    config: CanaryConfig | None,
) -> Canary:
    patch, rounds = query.rows(connection, _PATCH_OF_ROLE, {**of, "role": role})[0]
    pin = normal_form(config.test_id) if config and config.test_id else None
    expect = config.expect if config else None
    parameters = {**of, "role": role}
    if pin and role is Role.RED:
        judged = query.rows(connection, _RED_BY_PIN, {**of, "pin": pin, "expect": expect})
    elif pin:
        judged = query.rows(connection, _GREEN_BY_PIN, {**of, "pin": pin})
    else:
        judged = query.rows(connection, _BY_VERDICT, parameters)
    as_expected = [row for row in judged if row[3]]
    failed = [row for row in judged if row[2]]
    if role is Role.RED:
        deviations = tuple(run for run, _, fails, _ in judged if not fails)
        count = Count(len(as_expected), len(judged))
    else:
        deviations = tuple(run for run, _, fails, _ in judged if fails)
        count = Count(len(failed), len(judged))
    return Canary(
        patch_id=patch,
        pinned=config.test_id if config else None,
        present=patch is not None,
        rounds=rounds or 0,
        failed=count if judged else ZERO,
        failed_rounds=len({round_ for _, round_, _, _ in as_expected}),
        other_failures=len(failed) - len(as_expected) if role is Role.RED else 0,
        deviations=deviations,
        judged_rounds=len({round_ for _, round_, _, _ in judged}),
        address=_shared(connection, of, pin, deviations) if pin and deviations else None,
    )


def _shared(
    connection: duckdb.DuckDBPyConnection,
    of: Mapping[str, object],
    pin: str,
    runs: tuple[str, ...],
) -> Address | None:
    found = query.first(connection, _SHARED, {**of, "pin": pin, "runs": list(runs)})
    return None if found is None else Address(found[0], found[1], found[2], found[3])


def _missing_pinned(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, object], config: Config
) -> dict[str, tuple[str, ...]]:
    """Pinned tests without any record in a patch's soak; a soak of bare verdicts has no records
    at all and is not judged."""
    pinned = {normal_form(test): test for test in config.inventory or ()}
    if not pinned:
        return {}
    return {
        patch: missing
        for patch, recorded in query.rows(connection, _PINNED_RECORDS, of)
        if (missing := tuple(pinned[norm] for norm in sorted(set(pinned) - set(recorded))))
    }
