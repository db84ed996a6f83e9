"""What holds for a whole experiment: its records, its soak, its canaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import duckdb

from analysis.attribution.facts import Address, Canary, Complaint, Experiment
from analysis.attribution.statistics import ZERO, Count
from analysis.attribution.tally import pin_of
from analysis.config import Canary as CanaryConfig
from analysis.config import Config
from analysis.model import Role
from analysis.records.identity import normal_form
from analysis.store import query

_RUNS = """
SELECT experiment, count(*), max(coalesce(finished, started)),
    count(*) FILTER (copies > 1), min(run_id) FILTER (copies > 1),
    min_by(copies, run_id) FILTER (copies > 1),
    count(*) FILTER (list_contains(disagreeing, 'patch_digest')),
    min(run_id) FILTER (list_contains(disagreeing, 'patch_digest')),
    list(DISTINCT role) FILTER (phase = 'soak'),
    list(DISTINCT subject) FILTER (phase = 'soak' AND role = 'subject'),
    min(patch_id) FILTER (role = 'red' AND NOT in_outage),
    count(DISTINCT coalesce('round ' || round, run_id))
        FILTER (role = 'red' AND NOT in_outage AND phase = 'soak'),
    min(patch_id) FILTER (role = 'green' AND NOT in_outage),
    count(DISTINCT coalesce('round ' || round, run_id))
        FILTER (role = 'green' AND NOT in_outage AND phase = 'soak')
FROM asked_runs GROUP BY experiment
"""

_TORN = """
SELECT f.experiment, count(*), min(f.sentence)
FROM findings f SEMI JOIN asked a ON a.experiment = f.experiment
WHERE f.rule = 'log-torn' GROUP BY f.experiment
"""

_IMPOSSIBLE = """
SELECT r.experiment, count(DISTINCT r.run_id),
    min_by('run ' || r.run_id || ' ' || f.sentence, (f.rule, r.run_id, f.sentence))
FROM findings f JOIN asked_runs r USING (experiment, run_id)
WHERE f.standing = 'void' AND f.rule <> 'inventory-missing' AND f.rule <> 'counts-missing'
    AND r.logged_verdict = 'pass' AND (r.phase = 'soak' OR r.role IN ('red', 'green'))
GROUP BY r.experiment
"""

_GENERATIONS = """
SELECT experiment, count(*), format('workspace generation {} was used by {} attempts',
    min(generation), min_by(attempts, generation))
FROM (
    SELECT experiment, workspace_generation AS generation, count(DISTINCT attempt) AS attempts
    FROM asked_runs
    WHERE workspace_generation IS NOT NULL AND attempt IS NOT NULL
    GROUP BY ALL HAVING count(DISTINCT attempt) > 1
)
GROUP BY experiment
"""

_DIGESTS = """
SELECT experiment, patch_id, role, list(DISTINCT patch_digest ORDER BY patch_digest)
FROM asked_runs WHERE patch_digest IS NOT NULL
GROUP BY ALL ORDER BY experiment, patch_id, role
"""

_ROUNDS = """
SELECT experiment, count(*), count(*) FILTER (NOT good)
FROM (
    -- That a pinned test is missing is told by a row of its own.
    SELECT experiment, bool_and(
        (usable OR void_for = ['inventory-missing'])
        AND (logged_verdict <> 'none' OR test_records > 0)
    ) AS good
    FROM asked_runs r
    LEFT JOIN (
        SELECT experiment, run_id, list(DISTINCT rule) AS void_for
        FROM findings WHERE standing = 'void' GROUP BY ALL
    ) f USING (experiment, run_id)
    WHERE r.phase = 'soak'
    GROUP BY experiment, coalesce('round ' || round, run_id)
)
GROUP BY experiment
"""

# Judged in the soak, a run at a time. A red that passed deviates wherever it ran, in whichever
# iteration or attempt, and no outage excuses it.
_JUDGED = """
WITH pinned AS (
    SELECT e.experiment, e.role, e.run_id, min(e.started) AS started,
        bool_or(e.failed) AS some_failed, bool_and(e.failed) AS all_failed,
        bool_or(a.red_expect IS NULL OR contains(coalesce(e.message, ''), a.red_expect)
            OR contains(coalesce(e.exc, ''), a.red_expect)) AS as_told
    FROM pinned_executions e JOIN asked a USING (experiment)
    GROUP BY ALL
), judged AS (
    SELECT r.experiment, r.role, r.run_id, r.round, e.started, e.some_failed AS failed,
        e.some_failed AS as_expected
    FROM pinned e JOIN asked_runs r ON r.experiment = e.experiment AND r.run_id = e.run_id
    WHERE e.role = 'green' AND r.role = 'green'
        AND r.usable AND r.phase = 'soak' AND NOT r.in_outage
    UNION ALL
    -- Without a record of its pinned test only a passing verdict says something of red.
    SELECT r.experiment, r.role, r.run_id, r.round, e.started,
        coalesce(e.all_failed, r.verdict = 'fail') AS failed,
        coalesce(e.all_failed AND e.as_told, false) AS as_expected
    FROM asked_runs r
    JOIN asked a ON a.experiment = r.experiment AND a.red_pin IS NOT NULL
    LEFT JOIN pinned e ON e.experiment = r.experiment AND e.run_id = r.run_id AND e.role = 'red'
    WHERE r.role = 'red' AND r.usable AND (e.run_id IS NOT NULL OR r.verdict = 'pass')
        AND ((r.phase = 'soak' AND NOT r.in_outage)
            OR NOT coalesce(e.all_failed, r.verdict = 'fail'))
    UNION ALL
    SELECT r.experiment, r.role, r.run_id, r.round, r.started, r.verdict = 'fail' AS failed,
        r.verdict = 'fail' AS as_expected
    FROM asked_runs r
    JOIN asked a ON a.experiment = r.experiment AND CASE r.role
        WHEN 'red' THEN a.red_pin IS NULL WHEN 'green' THEN a.green_pin IS NULL END
    WHERE r.verdict <> 'none' AND ((r.role = 'red' AND r.verdict = 'pass')
        OR (r.phase = 'soak' AND NOT r.in_outage))
)
SELECT experiment, role, run_id, coalesce('round ' || round, run_id), failed, as_expected
FROM judged
ORDER BY experiment, role, started, run_id
"""

# What a deviating canary shared with its peers while it deviated.
_SHARED = """
SELECT a.kind, a.id, b.patch_id, b.test_id, count(*) AS meetings
FROM touches a
JOIN touches b ON a.experiment = b.experiment AND a.kind = b.kind AND a.id = b.id
    AND a.run_id <> b.run_id AND (a.writes OR b.writes)
    AND a.started <= b.finished AND b.started <= a.finished
WHERE a.experiment = $experiment AND list_contains($runs, a.run_id) AND a.test_norm = $pin
GROUP BY ALL ORDER BY meetings DESC, a.kind, a.id, b.patch_id, b.test_id
LIMIT 1
"""

_MISSING_PINNED = "SELECT experiment, patch_id, tests FROM missing_pinned"


class _Judged(NamedTuple):
    """A canary's run: whether it failed, and as it must. round: its round, or itself."""

    run_id: str
    round: str
    failed: bool
    as_expected: bool


def experiment_facts(
    connection: duckdb.DuckDBPyConnection,
    configs: Mapping[str, Config],
    digests: Mapping[str, str],
) -> dict[str, tuple[Experiment, datetime | None]]:
    """The facts of rows V1 to V6, 2a and 2b of each experiment, and when its last run ended.

    Reads the tables of `tally`. digests: the digest that a patch must have (`--digest`), "" for
    every subject.
    """
    torn = _complaints(connection, _TORN)
    impossible = _complaints(connection, _IMPOSSIBLE)
    generations = _complaints(connection, _GENERATIONS)
    bound = _digests(connection, digests)
    rounds = {name: counts for name, *counts in query.rows(connection, _ROUNDS)}
    missing: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for name, patch, tests in query.rows(connection, _MISSING_PINNED):
        missing[name][patch] = tuple(tests)
    judged: dict[tuple[str, str], list[_Judged]] = defaultdict(list)
    for name, role, *row in query.rows(connection, _JUDGED):
        judged[name, role].append(_Judged(*row))
    found = {}
    for (
        name, runs, newest, copied, copied_run, copies, unbound, unbound_run, roles, patches,
        red, red_rounds, green, green_rounds,
    ) in query.rows(connection, _RUNS):  # fmt: skip
        config = configs[name]
        soak_rounds, unusable = rounds.get(name, (0, 0))
        canaries = [
            _canary(connection, name, role, patch, seen, setting, judged[name, role])
            for role, patch, seen, setting in (
                (Role.RED, red, red_rounds, config.canaries.red),
                (Role.GREEN, green, green_rounds, config.canaries.green),
            )
        ]
        experiment = Experiment(
            name=name,
            runs=runs,
            soak_rounds=soak_rounds,
            impossible_passes=impossible.get(name),
            torn=torn.get(name),
            duplicates=Complaint(
                copied, f"run id {copied_run} stands for {copies} different records"
            )
            if copied
            else None,
            unusable_rounds=unusable,
            digests=Complaint(unbound, f"run {unbound_run} names more than one digest")
            if unbound
            else bound.get(name),
            generations=generations.get(name),
            soak_roles=frozenset(Role(role) for role in roles or ()),
            soak_patches=frozenset(patches or ()),
            red=canaries[0],
            green=canaries[1],
            missing_pinned=missing[name],
            pinned=len({normal_form(test) for test in config.inventory or ()}),
        )
        found[name] = (experiment, newest)
    return found


def _complaints(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Complaint]:
    return {name: Complaint(count, example) for name, count, example in query.rows(connection, sql)}


def _digests(
    connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, str]
) -> dict[str, Complaint]:
    """Digests that differ within one patch, or from the one that was asked for.

    A digest may be a prefix: the shorter must begin the longer.
    """
    complaints: dict[str, Complaint] = {}
    for name, patch, role, found in query.rows(connection, _DIGESTS):
        longest = max(found, key=len)
        asked = wanted.get(patch, wanted.get("", "") if role == Role.SUBJECT else "")
        if not all(longest.startswith(digest) for digest in found):
            complaint = Complaint(
                len(found), f"patch {patch} has {len(found)} digests: {', '.join(found[:3])}"
            )
        elif asked and not (longest.startswith(asked) or asked.startswith(longest)):
            complaint = Complaint(1, f"patch {patch} has digest {longest}, not {asked}")
        else:
            continue
        complaints.setdefault(name, complaint)
    return complaints


def _canary(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    role: Role,
    patch: str | None,
    rounds: int,
    config: CanaryConfig | None,
    judged: Sequence[_Judged],
) -> Canary:
    as_expected = [run for run in judged if run.as_expected]
    failed = [run for run in judged if run.failed]
    if role is Role.RED:
        deviations = tuple(run.run_id for run in judged if not run.failed)
        count = Count(len(as_expected), len(judged))
    else:
        deviations = tuple(run.run_id for run in failed)
        count = Count(len(failed), len(judged))
    pin = pin_of(config)
    return Canary(
        patch_id=patch,
        pinned=config.test_id if config else None,
        present=patch is not None,
        rounds=rounds,
        failed=count if judged else ZERO,
        failed_rounds=len({run.round for run in as_expected}),
        other_failures=len(failed) - len(as_expected) if role is Role.RED else 0,
        deviations=deviations,
        judged_rounds=len({run.round for run in judged}),
        address=_shared(connection, name, pin, deviations) if pin and deviations else None,
    )


def _shared(
    connection: duckdb.DuckDBPyConnection, name: str, pin: str, runs: Sequence[str]
) -> Address | None:
    found = query.first(connection, _SHARED, {"experiment": name, "pin": pin, "runs": list(runs)})
    return None if found is None else Address(found[0], found[1], found[2], found[3])
