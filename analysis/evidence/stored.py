"""Stored evidence: a full disk, exit code 0."""

from __future__ import annotations

from analysis.evidence.rules import Family, FileRule, ProofRule, RecordRule, Told
from analysis.model import Standing

_TOLD = {
    "manifest-missing": Told("a write that failed before the manifest", "proof.manifest.path"),
    "evidence-empty": Told("a full disk, exit code 0: a body of 0 bytes", "proof.manifest.bytes"),
    "evidence-missing": Told("a manifest without its body", "proof.manifest.body"),
    "evidence-checksum-mismatch": Told(
        "a body that was changed afterwards", "proof.manifest.sha256"
    ),
    "evidence-short": Told("a body of which half was written", "proof.manifest.bytes"),
    "fewer-transcripts-than-approvals": Told(
        "a batch of ten approvals with nine transcripts", "proof.manifest.body, sha256"
    ),
}


def _rule(name: str, condition: str, sentence: str) -> ProofRule:
    return ProofRule(
        name, Family.EVIDENCE, Standing.VOID, _TOLD[name], "manifest", condition, sentence
    )


RULES = (
    _rule(
        "manifest-missing",
        "proof_text(b, 'path') IS NULL",
        "'offers evidence and does not name its manifest'",
    ),
    _rule(
        "manifest-missing",
        "proof_text(b, 'patch_id') <> r.patch_id",
        "format('offers the manifest of patch {}', proof_text(b, 'patch_id'))",
    ),
    _rule(
        "evidence-missing",
        "proof_text(b, 'body') IS NULL",
        "'offers a manifest that names no body'",
    ),
    _rule(
        "evidence-empty",
        "proof_number(b, 'bytes') <= 0",
        "'rests on evidence of 0 bytes'",
    ),
    _rule(
        "evidence-short",
        "proof_number(b, 'bytes') IS NULL",
        "'rests on evidence and does not say how long it is'",
    ),
    _rule(
        "evidence-checksum-mismatch",
        "proof_text(b, 'sha256') IS NULL",
        "'rests on evidence and does not give its digest'",
    ),
)

# A batch is what one arm of an experiment says in one log.
_BATCH = """
    WITH batches AS (
        SELECT DISTINCT experiment, source_id, phase FROM proved
        WHERE json_type(proof, '$.manifest') = 'OBJECT'
    ), passes AS (
        SELECT f.experiment, f.run_id, f.source_id, f.line, f.phase,
            coalesce(p.proof ->> '$.manifest.sha256', p.proof ->> '$.manifest.body') AS transcript,
            row_number() OVER (
                PARTITION BY f.experiment, f.source_id, f.phase, transcript
                ORDER BY f.finished NULLS LAST, f.line, f.run_id
            ) AS claim,
            first(f.run_id) OVER (
                PARTITION BY f.experiment, f.source_id, f.phase, transcript
                ORDER BY f.finished NULLS LAST, f.line, f.run_id
            ) AS owner
        FROM run_facts f
        SEMI JOIN batches b USING (experiment, source_id, phase)
        LEFT JOIN proved p USING (run_no)
        WHERE f.logged_verdict = 'pass'
    )
"""

RECORD_RULES = (
    RecordRule(
        "fewer-transcripts-than-approvals",
        Family.EVIDENCE,
        Standing.VOID,
        _TOLD["fewer-transcripts-than-approvals"],
        _BATCH
        + """
        SELECT experiment, run_id, format('rests on the transcript of run {}', owner), source_id,
            line
        FROM passes WHERE transcript IS NOT NULL AND claim > 1
        """,
        "manifest",
    ),
    RecordRule(
        "fewer-transcripts-than-approvals",
        Family.EVIDENCE,
        Standing.UNPROVEN,
        _TOLD["fewer-transcripts-than-approvals"],
        _BATCH
        + """
        SELECT experiment, run_id, 'has no transcript, and others of its batch have one', source_id,
            line
        FROM passes WHERE transcript IS NULL
        """,
        "manifest",
    ),
)

FILE_RULES = tuple(
    FileRule(name, Family.EVIDENCE, Standing.VOID, _TOLD[name])
    for name in (
        "manifest-missing",
        "evidence-missing",
        "evidence-empty",
        "evidence-short",
        "evidence-checksum-mismatch",
    )
)
