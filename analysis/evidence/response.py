"""Reviewer response: a cut stream repaired into a verdict, an HTML page with status 200."""

from __future__ import annotations

from analysis.evidence.rules import Family, FileRule, ProofRule, Told
from analysis.model import Standing

_SIZE = "coalesce(strlen(body_text(b, 'body')), proof_number(b, 'bytes'))"
_BODY = "body_json(b, 'body')"
_NAMES_BODY = "coalesce(json_type(b, '$.body'), 'NULL') <> 'NULL'"
_KIND = "coalesce(proof_text(b, 'kind'), 'verdict')"
_NEEDS = {
    "verdict": ("verdict", "diff_sha256", "policy_version"),
    "summary": ("summary", "findings"),
}


def _rule(name: str, condition: str, sentence: str, fooled: str, fields: str) -> ProofRule:
    told = Told(fooled, f"proof.response.{fields}")
    return ProofRule(name, Family.RESPONSE, Standing.VOID, told, "response", condition, sentence)


def _absent(kind: str) -> str:
    """The required fields that the body of a kind of response lacks, as SQL of a list."""
    named = ", ".join(
        f"CASE WHEN coalesce(json_type({_BODY}, '$.{field}'), 'NULL') = 'NULL' THEN '{field}' END"
        for field in _NEEDS[kind]
    )
    return f"list_filter([{named}], lambda field: field IS NOT NULL)"


_ABSENT = (
    f"CASE {_KIND} "
    + " ".join(f"WHEN '{kind}' THEN {_absent(kind)}" for kind in _NEEDS)
    + " ELSE [] END"
)

RULES = (
    _rule(
        "response-bad-status",
        "proof_number(b, 'status') IS DISTINCT FROM 200",
        "format('rests on a response with status {}',"
        " coalesce(proof_text(b, 'status'), 'unknown'))",
        "an error page taken for an answer",
        "status",
    ),
    _rule(
        "response-not-json",
        """lower(trim(split_part(coalesce(proof_text(b, 'content_type'), ''), ';', 1)))
            <> 'application/json'""",
        "format('rests on a response of type {}',"
        " coalesce(proof_text(b, 'content_type'), 'unknown'))",
        "an HTML page with status 200",
        "content_type",
    ),
    _rule(
        "response-empty",
        f"""CASE WHEN {_SIZE} IS NOT NULL THEN {_SIZE} <= 0
            ELSE NOT {_NAMES_BODY} AND proof_text(b, 'path') IS NULL END""",
        "'rests on an empty response'",
        "no answer at all",
        "bytes, body or path",
    ),
    _rule(
        "response-truncated",
        f"""proof_number(b, 'declared_bytes') IS NULL
            OR {_SIZE} IS DISTINCT FROM proof_number(b, 'declared_bytes')
            OR proof_number(b, 'bytes') <> proof_number(b, 'declared_bytes')""",
        f"""format('rests on a response of {{}} bytes; declared were {{}}',
            coalesce({_SIZE}::BIGINT::VARCHAR, '?'),
            coalesce(proof_number(b, 'declared_bytes')::BIGINT::VARCHAR, 'none'))""",
        "a stream that was cut",
        "bytes, declared_bytes",
    ),
    _rule(
        "response-digest-mismatch",
        """lower(coalesce(sha256(body_text(b, 'body')), proof_text(b, 'sha256')))
            <> lower(coalesce(proof_text(b, 'declared_sha256'), proof_text(b, 'sha256')))
            OR lower(proof_text(b, 'sha256')) <> lower(proof_text(b, 'declared_sha256'))
            OR (proof_text(b, 'declared_sha256') IS NOT NULL AND proof_text(b, 'sha256') IS NULL
                AND body_text(b, 'body') IS NULL)""",
        "'rests on a response whose digest is not the declared one'",
        "an answer that was changed on its way",
        "sha256, declared_sha256",
    ),
    _rule(
        "response-sentinel-missing",
        """lower(coalesce(proof_text(b, 'sentinel'), 'false')) IN ('false', '0')
            OR (json_type(b, '$.sentinel') = 'VARCHAR' AND body_text(b, 'body') IS NOT NULL
                AND lower(proof_text(b, 'sentinel')) <> 'true'
                AND NOT contains(body_text(b, 'body'), proof_text(b, 'sentinel')))""",
        "'rests on a response without its end sentinel'",
        "a stream that was cut at the end of a sentence",
        "sentinel",
    ),
    _rule(
        "response-repaired",
        "lower(coalesce(proof_text(b, 'source'), '')) = 'repaired'",
        "'rests on a response that was repaired before it was read'",
        "half an object, closed by a repairing parser",
        "source",
    ),
    _rule(
        "response-missing-field",
        f"json_type({_BODY}) = 'OBJECT' AND len({_ABSENT}) > 0",
        f"format('rests on a response without {{}}', array_to_string({_ABSENT}, ', '))",
        "an answer that names no diff and no policy",
        "kind, body or path",
    ),
    _rule(
        "response-bad-shape",
        f"""{_NAMES_BODY} AND {_KIND} IN ('verdict', 'summary') AND (
            coalesce(json_type({_BODY}), 'none') <> 'OBJECT'
            OR ({_KIND} = 'summary' AND (
                coalesce(json_type({_BODY}, '$.findings'), 'NULL') NOT IN ('ARRAY', 'NULL')
                OR coalesce(json_type({_BODY}, '$.summary'), 'NULL')
                    NOT IN ('VARCHAR', 'NULL'))))""",
        "'rests on a response of another shape than its kind has'",
        "a list where an object belongs",
        "kind, body or path",
    ),
    _rule(
        "completion-empty",
        f"""{_KIND} = 'completion' AND CASE
            WHEN json_type({_BODY}) = 'OBJECT' THEN proof_text({_BODY}, 'diff') IS NULL
            ELSE NOT regexp_matches(coalesce(body_text(b, 'body'), ''), '(?m)^(@@ |diff --git )')
        END""",
        "'rests on a completion without a diff'",
        "a patch that changes nothing",
        "kind, body or path",
    ),
    _rule(
        "finish-not-stop",
        "(b ->> '$.finish_reason') IS DISTINCT FROM 'stop'",
        """format('rests on a completion that ended with {}',
            coalesce(proof_text(b, 'finish_reason'), 'no reason'))""",
        "an answer that ended at the length limit",
        "finish_reason",
    ),
    _rule(
        "context-truncated",
        "proof_flag(b, 'truncated_context')",
        "'rests on a response to a prompt that was cut'",
        "a reviewer who saw half of the diff",
        "truncated_context",
    ),
)

BODY_RULES = tuple(
    FileRule(rule.name, rule.family, rule.standing, rule.told)
    for rule in RULES
    if rule.name == "response-empty"
)
"""The file of a response is read as its body, and all rules are asked again; this one finds a
file that is not there."""
