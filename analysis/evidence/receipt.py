"""Receipt: failover replays another attempt's approval."""

from __future__ import annotations

from analysis.evidence.rules import Family, FileRule, ProofRule, Told
from analysis.model import Standing

# A path alone names a receipt, and is none.
_IS_RECEIPT = (
    "json_type(b) = 'OBJECT' AND len(list_filter(json_keys(b), lambda k: k <> 'path')) > 0 AND "
)

BOUND = {
    "diff_sha256": "r.patch_digest",
    "prompt_sha256": "r.prompt_sha256",
    "model_id": "r.model_id",
    "workspace_generation": "r.workspace_generation",
}
"""The fields that bind a receipt to its run, and where the run has them."""

_OFFERED = {
    "artifact_sha256": "r.proof ->> '$.manifest.sha256'",
    "log_sha256": "r.proof ->> '$.log.sha256'",
}


def _same(field: str, own: str) -> str:
    if field.endswith("sha256"):
        return f"same_prefix(proof_text(b, '{field}'), {own}, 8)"
    return f"coalesce(proof_text(b, '{field}') = {own}, false)"


def _rule(name: str, condition: str, sentence: str, told: Told) -> ProofRule:
    return ProofRule(name, Family.RECEIPT, Standing.VOID, told, "receipt", condition, sentence)


def _mismatch(field: str, own: str, condition: str) -> ProofRule:
    return _rule(
        f"receipt-mismatch:{field}",
        _IS_RECEIPT + condition,
        f"""format('its receipt says {field} {{}}, the run {{}}',
            coalesce(left(proof_text(b, '{field}'), 64), 'nothing'),
            coalesce(left({own}, 64), 'nothing'))""",
        Told("another attempt's approval, replayed", f"proof.receipt.{field}; {own[2:]}"),
    )


_MISSING = Told("an approval that nobody can show", "proof.receipt")
_UNREADABLE = Told("a receipt that is no JSON object", "proof.receipt")

RULES = (
    _rule(
        "receipt-missing",
        "json_type(b) = 'NULL' OR json_type(b) = 'OBJECT' AND len(json_keys(b)) = 0",
        "'offers a receipt that is not there'",
        _MISSING,
    ),
    _rule(
        "receipt-unreadable",
        "json_type(b) NOT IN ('NULL', 'OBJECT')",
        "'offers a receipt that is no object'",
        _UNREADABLE,
    ),
    *(_mismatch(field, own, f"NOT {_same(field, own)}") for field, own in BOUND.items()),
    *(
        _mismatch(field, own, f"({own} IS NOT NULL AND NOT {_same(field, own)})")
        for field, own in _OFFERED.items()
    ),
    _rule(
        "receipt-no-reasons",
        _IS_RECEIPT
        + "len(list_filter(proof_list(b, 'reasons'), lambda one: trim(one ->> '$') <> '')) = 0"
        " AND (json_type(b, '$.reasons') IS DISTINCT FROM 'VARCHAR'"
        " OR proof_text(b, 'reasons') IS NULL)",
        "'its receipt gives no reason'",
        Told("an approval without a reason", "proof.receipt.reasons"),
    ),
    _rule(
        "receipt-not-pass",
        _IS_RECEIPT
        + "r.logged_verdict = 'pass' AND verdict_of(coalesce(b ->> '$.verdict', '')) <> 'pass'",
        "format('its receipt says {}', coalesce(proof_text(b, 'verdict'), 'nothing'))",
        Told("a receipt of a refusal", "proof.receipt.verdict"),
    ),
    _rule(
        "image-mismatch",
        _IS_RECEIPT + "proof_text(b, 'image_digest') IS NOT NULL"
        " AND lower(proof_text(b, 'image_digest')) IS DISTINCT FROM lower(r.image_digest)",
        """format('its receipt is of image {}, the patch was applied in {}',
            left(proof_text(b, 'image_digest'), 64), coalesce(r.image_digest, 'an unknown one'))""",
        Told("an image certified, another one run", "proof.receipt.image_digest; image_digest"),
    ),
)

FILE_RULES = (
    FileRule("receipt-missing", Family.RECEIPT, Standing.VOID, _MISSING),
    FileRule("receipt-unreadable", Family.RECEIPT, Standing.VOID, _UNREADABLE),
)
