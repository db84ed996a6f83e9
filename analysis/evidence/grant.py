"""Tool grant: a free route inherits a paid grant."""

from __future__ import annotations

from analysis.evidence.keys import SECRET
from analysis.evidence.rules import Family, ProofRule, RecordRule, Told
from analysis.model import Standing

ARGUMENTS = "canonical_text(coalesce(r.proof -> '$.route.args', '{}'::JSON)::VARCHAR)"
"""What the route was called with, as text; no arguments are an empty object."""

# Some numbers are written otherwise by DuckDB: `spelled` has the digests of their texts.
ARGUMENTS_HASH = f"""coalesce(
    (SELECT any_value(s.sha256) FROM spelled s WHERE s.text = {ARGUMENTS}), sha256({ARGUMENTS}))"""

_WRITING = (
    r"(^|[^a-z])(shell|bash|sh|zsh|powershell|cmd|exec|execute|run|terminal|write|edit|patch|apply"
    r"|create|delete|remove|move|rename|commit|push|merge|deploy|install)([^a-z]|$)"
)
"""Tools that run or write, by the words in their names."""


def _same(field: str) -> str:
    return (
        f"coalesce(proof_text(b, '{field}') = proof_text(r.proof -> '$.route', '{field}'), false)"
    )


# In the order in which they are asked: the first one that fails is the answer.
_DENIALS = (
    (
        "grant-expired",
        "NOT coalesce(r.ended < proof_moment(b, 'expires_at'), false)",
        "'used a grant that had expired, or of which that cannot be told'",
        Told("a grant from yesterday", "expires_at; finished"),
    ),
    (
        "grant-task",
        f"NOT {_same('task_id')}",
        "'used a grant for another task'",
        Told("a grant that was given for another task", "task_id; proof.route.task_id"),
    ),
    (
        "grant-model-class",
        f"NOT {_same('model_class')}",
        "'used a grant for another class of model'",
        Told("a free route that inherits a paid grant", "model_class; proof.route.model_class"),
    ),
    (
        "grant-server-class",
        f"NOT {_same('server_class')}",
        "'used a grant for another class of server'",
        Told("a grant for a trusted server, used on another", "server_class; proof.route"),
    ),
    (
        "grant-tool",
        f"NOT {_same('tool')}",
        "format('used a grant for tool {}', coalesce(proof_text(b, 'tool'), 'unknown'))",
        Told("a grant to read, used to write", "tool; proof.route.tool"),
    ),
    (
        "args-secret",
        f"regexp_matches({ARGUMENTS}, '{SECRET}')",
        "'has arguments that hold what looks like a raw secret'",
        Told("a credential that ends in a log", "proof.route.args"),
    ),
    (
        "grant-args",
        f"lower(proof_text(b, 'arg_hash')) IS DISTINCT FROM {ARGUMENTS_HASH}",
        "'used a grant for other arguments'",
        Told("a grant for other arguments", "arg_hash; proof.route.args"),
    ),
    (
        "grant-reused",
        "proof_flag(b, 'used')",
        "'used a grant that had been used'",
        Told("one grant, two calls", "used"),
    ),
    (
        "grant-no-approval",
        f"""regexp_matches(lower(coalesce(proof_text(r.proof -> '$.route', 'tool'), 'shell')),
            '{_WRITING}') AND (proof_text(b, 'approver') IS NULL
            OR list_contains(r.bots, lower(proof_text(b, 'approver')))
            OR contains(lower(proof_text(b, 'approver')), '[bot]'))""",
        "format('used {} without the approval of a person', coalesce("
        "proof_text(r.proof -> '$.route', 'tool'), 'a tool'))",
        Told("a shell that nobody approved on this route", "approver"),
    ),
)


RULES = tuple(
    ProofRule(
        name,
        Family.GRANT,
        Standing.VOID,
        Told(told.fooled, f"proof.grant.{told.fields}" if name != "args-secret" else told.fields),
        "grant",
        condition,
        sentence,
        first_only=True,
    )
    for name, condition, sentence, told in _DENIALS
)

_REUSED = next(rule for rule in RULES if rule.name == "grant-reused")

RECORD_RULES = (
    RecordRule(
        _REUSED.name,
        _REUSED.family,
        _REUSED.standing,
        _REUSED.told,
        """
        -- Allowed once: a grant is what it grants, to whom and until when.
        SELECT experiment, run_id, format('used a grant that run {} had used', first_run),
            source_id, line
        FROM (
            SELECT *, row_number() OVER once AS use, first(run_id) OVER once AS first_run
            FROM (
                SELECT *, [proof ->> '$.grant.task_id', proof ->> '$.grant.tool',
                    proof ->> '$.grant.arg_hash', proof ->> '$.grant.model_class',
                    proof ->> '$.grant.server_class', proof ->> '$.grant.approver',
                    proof ->> '$.grant.expires_at'] AS granted
                FROM proved WHERE json_type(proof, '$.grant') = 'OBJECT'
            )
            WINDOW once AS (PARTITION BY experiment, granted
                ORDER BY ended NULLS LAST, line, run_id)
        )
        WHERE use > 1
        """,
        "grant",
    ),
)
