"""Workspace: a retry on the previous attempt's disk."""

from __future__ import annotations

from analysis.evidence.rules import Family, ProofRule, RecordRule, Told
from analysis.model import Standing

_GENERATION = "coalesce(proof_text(b, 'generation'), r.workspace_generation)"
_ATTEMPT = "coalesce(proof_text(b, 'attempt'), r.attempt::VARCHAR)"
_LOCKS = "coalesce(json_keys(b, '$.locks'), [])"

_TOLD = {
    name: Told(fooled, f"proof.workspace.{fields}")
    for name, fooled, fields in (
        ("generation-missing", "a disk that nobody named", "generation"),
        ("attempt-missing", "a retry that does not say it is one", "attempt"),
        ("workspace-dirty", "the previous attempt's files", "dirty"),
        ("lock-missing", "dependencies of any version", "locks"),
        ("generation-reused", "a retry on the previous attempt's disk", "generation, attempt"),
        ("lock-drift", "a lock that moved on one disk", "generation, locks"),
        ("install-drift", "what was installed is not what is locked", "installed_lock, locks"),
    )
}


def _rule(name: str, condition: str, sentence: str) -> ProofRule:
    return ProofRule(
        name, Family.WORKSPACE, Standing.VOID, _TOLD[name], "workspace", condition, sentence
    )


RULES = (
    _rule(
        "generation-missing",
        f"{_GENERATION} IS NULL",
        "'offers a workspace without its generation'",
    ),
    _rule(
        "attempt-missing",
        f"{_ATTEMPT} IS NULL",
        "'offers a workspace without the attempt it was made for'",
    ),
    _rule("workspace-dirty", "proof_flag(b, 'dirty')", "'ran in a workspace marked as dirty'"),
    _rule("lock-missing", f"len({_LOCKS}) = 0", "'ran in a workspace without a lock file'"),
    _rule(
        "install-drift",
        f"""proof_text(b, 'installed_lock') IS NOT NULL AND len({_LOCKS}) > 0
            AND NOT list_contains(b ->> '$.locks.*', proof_text(b, 'installed_lock'))""",
        "'ran on what was installed from another lock'",
    ),
)

_DISKS = f"""
    WITH disks AS (
        SELECT experiment, run_id, source_id, line, r.ended,
            {_GENERATION} AS generation, [patch_id, {_ATTEMPT}] AS attempt,
            (b -> '$.locks')::VARCHAR AS locks
        FROM (SELECT *, proof -> '$.workspace' AS b FROM proved) r
        WHERE json_type(b) = 'OBJECT' AND {_GENERATION} IS NOT NULL
    ), first_of AS (
        SELECT *, first(attempt) OVER disk AS first_attempt, first(locks) OVER disk AS first_locks,
            first(run_id) OVER disk AS first_run
        FROM disks
        WINDOW disk AS (PARTITION BY experiment, generation ORDER BY ended NULLS LAST, line, run_id)
    )
"""


def _later(name: str, condition: str, sentence: str) -> RecordRule:
    return RecordRule(
        name,
        Family.WORKSPACE,
        Standing.VOID,
        _TOLD[name],
        _DISKS
        + f"SELECT experiment, run_id, {sentence}, source_id, line FROM first_of WHERE {condition}",
        "workspace",
    )


RECORD_RULES = (
    _later(
        "generation-reused",
        "attempt IS DISTINCT FROM first_attempt",
        "format('ran on generation {}, which run {} had used', generation, first_run)",
    ),
    _later(
        "lock-drift",
        "locks IS NOT NULL AND first_locks IS NOT NULL AND locks <> first_locks",
        "format('ran on generation {} with another lock than run {}', generation, first_run)",
    ),
)
