"""Cache: a verdict for a diff that the reviewer never saw."""

from __future__ import annotations

from analysis.evidence.keys import COMPLETION_FIELDS, REVIEW_FIELDS
from analysis.evidence.rules import Family, ProofRule, Told
from analysis.model import Standing

_HIT = "coalesce(lower(proof_text(b, 'hit')), 'true') NOT IN ('false', '0') AND "
_COMPLETION = " OR ".join(
    f"json_type(b, '$.inputs.{field}') IS NOT NULL"
    for field in COMPLETION_FIELDS
    if field not in REVIEW_FIELDS
)
_AGE = "r.ended - proof_moment(b, 'created_at')"
_REPLY = "coalesce(body_json(b, 'reply'), body_json(r.proof -> '$.response', 'body'))"
_SAYS = f"coalesce(proof_text(b, 'verdict'), proof_text({_REPLY}, 'verdict'))"
_VERSION = "coalesce(b ->> '$.inputs.prompt_version', b ->> '$.prompt_version')"


def _lacking(names: tuple[str, ...]) -> str:
    listed = ", ".join(
        f"CASE WHEN coalesce(json_type(b, '$.inputs.{name}'), 'NULL') = 'NULL' THEN '{name}' END"
        for name in names
    )
    return f"list_filter([{listed}], lambda name: name IS NOT NULL)"


def _field(name: str) -> str:
    # As `keys.review_key` writes them.
    if name == "system":
        return (
            "canonical_text(to_json(trim(b ->> '$.inputs.system', "
            "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)))::VARCHAR)"
        )
    if name == "files":
        return (
            "'[' || array_to_string(list_transform(list_sort(b ->> '$.inputs.files[*]'),"
            " lambda file: canonical_text(to_json(file)::VARCHAR)), ',') || ']'"
        )
    return f"canonical_text(to_json(b ->> '$.inputs.{name}')::VARCHAR)"


def _key(names: tuple[str, ...]) -> str:
    body = " || ',' || ".join(f"'\"{name}\":' || {_field(name)}" for name in sorted(names))
    return f"sha256('{{' || {body} || '}}')"


_LACKING = (
    f"CASE WHEN {_COMPLETION} THEN {_lacking(COMPLETION_FIELDS)} ELSE {_lacking(REVIEW_FIELDS)} END"
)
_KEY = f"CASE WHEN {_COMPLETION} THEN {_key(COMPLETION_FIELDS)} ELSE {_key(REVIEW_FIELDS)} END"


def _rule(name: str, condition: str, sentence: str, fooled: str, fields: str) -> ProofRule:
    told = Told(fooled, f"proof.cache.{fields}")
    return ProofRule(
        name, Family.CACHE, Standing.VOID, told, "cache", f"{_HIT}({condition})", sentence
    )


RULES = (
    _rule(
        "cache-foreign-diff",
        """NOT same_prefix(proof_text(b, 'diff_sha256'), r.patch_digest, 8)
            OR (b ->> '$.inputs.diff_sha256' IS NOT NULL
                AND NOT same_prefix(b ->> '$.inputs.diff_sha256', r.patch_digest, 8))""",
        """format('was cached for diff {}, and is reused for {}',
            coalesce(left(proof_text(b, 'diff_sha256'), 12), 'unknown'),
            coalesce(left(r.patch_digest, 12), 'an unknown one'))""",
        "a verdict for a diff that the reviewer never saw",
        "diff_sha256; patch_digest",
    ),
    _rule(
        "cache-foreign-base",
        "NOT same_prefix(proof_text(b, 'base_sha'), r.base_sha, 7)",
        """format('was cached on base {}, and is reused on {}',
            coalesce(left(proof_text(b, 'base_sha'), 12), 'unknown'),
            coalesce(left(r.base_sha, 12), 'an unknown one'))""",
        "a verdict from before the base moved",
        "base_sha; base_sha",
    ),
    _rule(
        "cache-foreign-route",
        """NOT coalesce(list_contains([r.model_id, r.proof ->> '$.route.model_class',
            r.proof ->> '$.route.server_class', r.proof ->> '$.route'],
            proof_text(b, 'route')), false)
            OR (b ->> '$.inputs.model') <> r.model_id""",
        """format('was cached on route {}, which is not its own',
            coalesce(proof_text(b, 'route'), 'unknown'))""",
        "another model's answer",
        "route; model_id or proof.route",
    ),
    _rule(
        "cache-expired",
        f"NOT coalesce({_AGE} <= proof_number(b, 'ttl_s'), false)",
        f"""CASE WHEN {_AGE} IS NULL OR proof_number(b, 'ttl_s') IS NULL
            THEN 'was cached, and how old it may be or is cannot be told'
            ELSE format('was cached {{}} s before, and holds for {{}} s', round({_AGE})::BIGINT,
                round(proof_number(b, 'ttl_s'))::BIGINT) END""",
        "a verdict from last month",
        "created_at, ttl_s; finished",
    ),
    _rule(
        "cache-truncated",
        "proof_flag(b, 'truncated')",
        "'was cached from a reply that was cut'",
        "half a reply, kept",
        "truncated",
    ),
    _rule(
        "cache-unparsable",
        """proof_flag(b, 'parse_error')
            OR (body_text(b, 'reply') IS NOT NULL AND body_json(b, 'reply') IS NULL)""",
        "'was cached from a reply that cannot be parsed'",
        "an error message, kept as a reply",
        "parse_error, reply",
    ),
    _rule(
        "cache-key-mismatch",
        f"len({_LACKING}) = 0 AND lower(proof_text(b, 'key')) IS DISTINCT FROM {_KEY}",
        "'was cached under a key that its inputs do not give'",
        "a collision, or a key made of something else",
        "key, inputs",
    ),
    _rule(
        "cache-key-too-small",
        f"len({_LACKING}) > 0",
        f"format('was cached under a key that leaves out {{}}', array_to_string({_LACKING}, ', '))",
        "a key without the diff, the model or the prompt",
        "inputs",
    ),
    _rule(
        "cache-verdict-differs",
        f"{_SAYS} IS NOT NULL AND verdict_of({_SAYS}) <> r.logged_verdict",
        f"format('says {{}}, and the stored reply says {{}}', r.logged_verdict, {_SAYS})",
        "a reply that says another thing",
        "verdict or reply",
    ),
    _rule(
        "cache-unknown-prompt",
        f"""len(r.prompt_versions) > 0
            AND NOT coalesce(list_contains(r.prompt_versions, {_VERSION}), false)""",
        f"""format('was cached for prompt version {{}}, which is none of the configured ones',
            coalesce({_VERSION}, 'unknown'))""",
        "an answer to a prompt that is not in use",
        "inputs.prompt_version; [evidence] prompt_versions",
    ),
)
