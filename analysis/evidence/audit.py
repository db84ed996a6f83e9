"""The audit: puts runs together and says which of their verdicts count as evidence."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources

import duckdb

from analysis.config import Config
from analysis.evidence import (
    cache,
    counts,
    grant,
    lease,
    oracle,
    outage,
    receipt,
    response,
    run_log,
    stored,
    stream,
    workspace,
)
from analysis.evidence.keys import canonical_json
from analysis.evidence.rules import Family, FileRule, ProofRule, RecordRule, Rule, RunRule
from analysis.model import Standing
from analysis.records.identity import normal_form
from analysis.store import query

RUN_RULES: Sequence[RunRule] = (*counts.RULES, *run_log.RULES, *stream.RULES)
PROOF_RULES: Sequence[ProofRule] = (
    *run_log.PROOF_RULES,
    *response.RULES,
    *cache.RULES,
    *stored.RULES,
    *lease.RULES,
    *receipt.RULES,
    *grant.RULES,
    *oracle.RULES,
    *workspace.RULES,
)
# What rests on other runs comes last: it asks what these are worth.
RECORD_RULES: Sequence[RecordRule] = (
    *counts.RECORD_RULES,
    *run_log.RECORD_RULES,
    *stored.RECORD_RULES,
    *lease.RECORD_RULES,
    *grant.RECORD_RULES,
    *workspace.RECORD_RULES,
    *stream.RECORD_RULES,
)
FILE_RULES: Sequence[FileRule] = (
    *run_log.FILE_RULES,
    *response.BODY_RULES,
    *stored.FILE_RULES,
    *receipt.FILE_RULES,
)
ALL_RULES: Sequence[Rule] = (*RUN_RULES, *PROOF_RULES, *RECORD_RULES, *FILE_RULES, outage.RULE)


def catalogue() -> list[tuple[str, str, str]]:
    """What fooled the gate, the fields to record against it, and the rule: a row a name, by
    family."""
    families = list(Family)
    first = {rule.name: rule for rule in reversed(ALL_RULES)}
    ordered = sorted(first.values(), key=lambda rule: families.index(rule.family))
    return [(rule.told.fooled, rule.told.fields, rule.name) for rule in ordered]


@dataclass(frozen=True)
class Header:
    """What the `experiment` lines of an experiment say. JSON text or None."""

    canaries: str | None
    inventory: tuple[str, ...] | None
    policy: str | None
    lines: int


def assign_experiments(connection: duckdb.DuckDBPyConnection) -> None:
    """Say of every run of every source which experiment it belongs to."""
    _script(connection, "experiments.sql")


def headers(connection: duckdb.DuckDBPyConnection) -> dict[str, Header]:
    """Every experiment of the index with what its header lines say.

    Where two header lines disagree the alphabetically first value of a field is taken, so that
    line order decides nothing; `lines` counts the different headers.
    """
    rows = query.rows(
        connection,
        """
        SELECT m.experiment, min(h.canaries), min(h.inventory), min(h.policy),
            count(DISTINCT (h.canaries, h.inventory, h.policy)) FILTER (h.experiment IS NOT NULL)
        FROM (SELECT DISTINCT experiment FROM source_runs) m
        LEFT JOIN experiment_lines h USING (experiment)
        GROUP BY m.experiment ORDER BY m.experiment
        """,
    )
    return {
        name: Header(canaries, None if inventory is None else tuple(inventory), policy, lines)
        for name, canaries, inventory, policy, lines in rows
    }


def audit(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> None:
    """Rebuild `run_facts` and `findings` of some experiments from the recorded tables.

    configs: the effective configuration of each of them. With `require_proof` an unproven pass
    is void.
    """
    _write_settings(connection, configs)
    _script(connection, "runs.sql")
    query.write(
        connection, "DELETE FROM findings WHERE experiment IN (SELECT experiment FROM touched)"
    )
    _apply_run_rules(connection)
    _script(connection, "macros.sql")
    _script(connection, "proofs.sql")
    offered = apply_proof_rules(connection)
    for wide_rule in RECORD_RULES:
        if wide_rule.block and wide_rule.block not in offered:
            continue
        query.write(
            connection,
            f"""
            INSERT INTO findings
            SELECT q.experiment, q.run_id, $name, $family, $standing, q.sentence, q.source_id,
                q.line
            FROM ({wide_rule.query}) q(experiment, run_id, sentence, source_id, line)
            SEMI JOIN touched USING (experiment)
            """,
            {"name": wide_rule.name, "family": wide_rule.family, "standing": wide_rule.standing},
        )
    require_proof(connection, configs)


def prepare_proofs(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> None:
    """Make the temporary table `proved` of some experiments; see proofs.sql."""
    _write_settings(connection, configs)
    _script(connection, "macros.sql")
    _script(connection, "proofs.sql")


def require_proof(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> None:
    """Void what is unproven where the policy requires proof."""
    strict = [name for name, config in configs.items() if config.policy.require_proof]
    query.write(
        connection,
        """
        UPDATE findings SET standing = $void
        WHERE standing = $unproven AND list_contains($strict, experiment)
        """,
        {"void": Standing.VOID, "unproven": Standing.UNPROVEN, "strict": strict},
    )


def _apply_run_rules(connection: duckdb.DuckDBPyConnection) -> None:
    """Every rule on every run, in one pass."""
    found, parameters = [], {}
    for number, rule in enumerate(RUN_RULES):
        found.append(
            f"""CASE WHEN {rule.condition} THEN {{
                'rule': $rule_{number}, 'family': $family_{number},
                'standing': $standing_{number}, 'sentence': {rule.sentence}
            }} END"""
        )
        parameters[f"rule_{number}"] = rule.name
        parameters[f"family_{number}"] = rule.family
        parameters[f"standing_{number}"] = rule.standing
    query.write(
        connection,
        f"""
        INSERT INTO findings
        WITH found AS (
            SELECT r.experiment, r.run_id, r.source_id, r.line,
                unnest([{", ".join(found)}]) AS finding
            FROM run_facts r SEMI JOIN touched USING (experiment)
        )
        SELECT experiment, run_id, finding.rule, finding.family, finding.standing,
            finding.sentence, source_id, line
        FROM found WHERE finding IS NOT NULL
        """,
        parameters,
    )


def apply_proof_rules(
    connection: duckdb.DuckDBPyConnection, only: Collection[str] = ()
) -> frozenset[str]:
    """Every rule on every block of the runs in `proved`, a pass a block that is there.

    only: these blocks; () for all. Returns the names of the blocks that are there.
    """
    offered_blocks = frozenset(
        block
        for (block,) in query.rows(
            connection, "SELECT DISTINCT unnest(json_keys(proof)) FROM proved"
        )
    )
    _spell_numbers(connection)
    for block in dict.fromkeys(rule.block for rule in PROOF_RULES):
        if block not in offered_blocks or (only and block not in only):
            continue
        asked = [rule for rule in PROOF_RULES if rule.block == block]
        # A receipt of null is one that is missing; of other blocks nothing is offered then.
        offered = "" if block == "receipt" else " AND json_type(b) <> 'NULL'"
        cases, parameters = [], {}
        for number, rule in enumerate(asked):
            cases.append(
                f"""WHEN {rule.condition} THEN {{
                    'rule': $rule_{number}, 'standing': $standing_{number},
                    'sentence': {rule.sentence}
                }}"""
            )
            parameters[f"rule_{number}"] = rule.name
            parameters[f"standing_{number}"] = rule.standing
        listed = [" ".join(cases)] if asked[0].first_only else cases
        query.write(
            connection,
            f"""
            INSERT INTO findings
            WITH found AS (
                SELECT r.experiment, r.run_id, r.source_id, r.line,
                    unnest([{", ".join(f"CASE {case} END" for case in listed)}]) AS finding
                FROM (SELECT *, proof -> '$.{block}' AS b FROM proved) r
                WHERE b IS NOT NULL{offered}
            )
            SELECT experiment, run_id, finding.rule, $family, finding.standing, finding.sentence,
                source_id, line
            FROM found WHERE finding IS NOT NULL
            """,
            {**parameters, "family": asked[0].family},
        )
    return offered_blocks


def _spell_numbers(connection: duckdb.DuckDBPyConnection) -> None:
    """The digests of arguments whose numbers DuckDB writes otherwise than canonical JSON."""
    texts = [
        text
        for (text,) in query.rows(
            connection,
            f"""SELECT DISTINCT {grant.ARGUMENTS} AS text FROM proved r
            WHERE json_type(proof, '$.grant') = 'OBJECT'
                AND regexp_matches(text, '[0-9](e|\\.0)')""",
        )
    ]
    digests = [sha256(canonical_json(json.loads(text)).encode()).hexdigest() for text in texts]
    query.write(
        connection,
        """CREATE OR REPLACE TEMP TABLE spelled AS
        SELECT unnest($texts::VARCHAR[]) AS text, unnest($digests::VARCHAR[]) AS sha256""",
        {"texts": texts, "digests": digests},
    )


def _write_settings(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> None:
    query.write(
        connection,
        """CREATE OR REPLACE TEMP TABLE touched AS
        SELECT unnest($names::VARCHAR[]) AS experiment, unnest(range(len($names))) AS number""",
        {"names": list(configs)},
    )
    canaries = [config.canaries for config in configs.values()]
    query.write(
        connection,
        """CREATE OR REPLACE TEMP TABLE settings AS SELECT unnest($names::VARCHAR[]) AS experiment,
            unnest($red::VARCHAR[]) AS red_patch, unnest($green::VARCHAR[]) AS green_patch,
            unnest($golden::VARCHAR[]) AS golden, $prompts::VARCHAR[] AS prompt_versions,
            $reviewers::VARCHAR[] AS reviewers, $bots::VARCHAR[] AS bots""",
        {
            "names": list(configs),
            "golden": [oracle.golden_pattern(one.oracle.globs) for one in configs.values()],
            "prompts": sorted({one for c in configs.values() for one in c.prompt_versions}),
            "reviewers": sorted({m.lower() for c in configs.values() for m in c.oracle.reviewers}),
            "bots": sorted({m.lower() for c in configs.values() for m in c.oracle.bots}),
            "red": [pair.red.patch_id if pair.red else None for pair in canaries],
            "green": [pair.green.patch_id if pair.green else None for pair in canaries],
        },
    )
    pinned = [
        (name, test)
        for name, config in configs.items()
        for test in sorted({normal_form(test) for test in config.inventory or ()})
    ]
    query.write(
        connection,
        """CREATE OR REPLACE TEMP TABLE pinned AS
        SELECT unnest($names::VARCHAR[]) AS experiment, unnest($tests::VARCHAR[]) AS test_norm""",
        {"names": [name for name, _ in pinned], "tests": [test for _, test in pinned]},
    )


def _script(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    text = resources.files("analysis.evidence").joinpath(name).read_text("utf-8")
    query.script(connection, text)
