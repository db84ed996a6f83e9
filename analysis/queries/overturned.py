"""Runs that their log calls a pass and that have no verdict today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analysis.model import Phase, Role
from analysis.queries.moments import moment
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.queries.redaction import redacted


@dataclass(frozen=True)
class OverturnedRow:
    """A run that its log calls a pass and that has no verdict. merged: None where the log does
    not say. sentence: what its rules found."""

    experiment: str
    run_id: str
    patch_id: str
    role: Role
    phase: Phase
    rules: tuple[str, ...]
    sentence: str
    at: datetime | None
    merged: bool | None
    path: str
    line: int
    source_id: int


_OVERTURNED = Listing(
    sql="""
    SELECT r.experiment, r.run_id, r.patch_id, r.role, r.phase, coalesce(f.rules, []) AS rules,
        coalesce(f.sentence, 'the run was cut off') AS sentence,
        coalesce(r.finished, r.started) AS ended, r.merged,
        CASE WHEN starts_with(r.log, '-') THEN '-' ELSE r.log END AS path, r.line, r.source_id
    FROM runs r
    LEFT JOIN (
        SELECT experiment, run_id, list(DISTINCT rule ORDER BY rule) AS rules,
            string_agg(DISTINCT sentence, '; ' ORDER BY sentence) AS sentence
        FROM findings WHERE standing = 'void' AND list_contains($experiments, experiment)
        GROUP BY experiment, run_id
    ) f USING (experiment, run_id)
    WHERE r.logged_verdict = 'pass' AND r.verdict = 'none'
        AND list_contains($experiments, r.experiment)
        AND ($rule = '' OR list_contains(f.rules, $rule))
    """,
    columns={
        "newest": Column("ended", descending=True),
        "run": Column("run_id"),
        "soak": Column("experiment"),
        "patch": Column("patch_id"),
        "phase": Column("phase"),
    },
    key=("experiment", "run_id"),
    order=("newest", "soak", "run"),
    fields={
        "rule": "array_to_string(rules, ' ')",
        "patch": "patch_id",
        "soak": "experiment",
        "file": "path",
    },
    text=("run_id", "experiment", "patch_id", "phase", "sentence", "array_to_string(rules, ' ')"),
)

OVERTURNED_COLUMNS = tuple(_OVERTURNED.columns)


def overturned_page(
    connection: duckdb.DuckDBPyConnection,
    experiments: Sequence[str],
    request: PageRequest,
    rule: str = "",
) -> Page[OverturnedRow]:
    """A window of the passes that prove nothing, or of those that one rule overturned: newest
    first."""
    given = {"experiments": list(experiments), "rule": rule}
    return page(connection, _OVERTURNED, given, request, _overturned)


def _overturned(
    experiment: str,
    run_id: str,
    patch_id: str,
    role: str,
    phase: str,
    rules: Sequence[str],
    sentence: str,
    at: datetime | str | None,
    merged: bool | None,
    path: str,
    line: int,
    source_id: int,
) -> OverturnedRow:
    return OverturnedRow(
        experiment,
        run_id,
        patch_id,
        Role(role),
        Phase(phase),
        tuple(rules),
        redacted(sentence),
        moment(at),
        merged,
        path,
        line,
        source_id,
    )
