"""What the audit found, whole: for `tui audit` and exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from analysis.model import Standing, Verdict
from analysis.queries.overturned import OverturnedRow, overturned_page
from analysis.queries.paging import PageRequest
from analysis.queries.redaction import redacted
from analysis.store import query

_WHOLE = 1 << 40


@dataclass(frozen=True)
class AuditFinding:
    """One rule that holds for one record. standing: what the finding weighs; logged: the verdict
    of the log, verdict: what counts today. Run, patch and both verdicts are None for a finding on
    a file or an experiment; path and line where there is none."""

    rule: str
    family: str
    experiment: str
    run_id: str | None
    patch_id: str | None
    path: str | None
    line: int | None
    sentence: str
    logged: Verdict | None
    verdict: Verdict | None
    standing: Standing


@dataclass(frozen=True)
class AuditTotals:
    """runs: all; passes: that their log calls one; overturned: of these, no verdict today; void
    and unproven: runs of this standing."""

    runs: int
    passes: int
    overturned: int
    void: int
    unproven: int


_FINDINGS = """
SELECT f.rule, f.family, f.experiment, f.run_id, r.patch_id,
    CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END, f.line, f.sentence,
    r.logged_verdict, r.verdict, f.standing
FROM findings f
LEFT JOIN runs r ON r.experiment = f.experiment AND r.run_id = f.run_id
LEFT JOIN sources s ON s.source_id = f.source_id
WHERE list_contains($experiments, f.experiment) AND ($rule = '' OR f.rule = $rule)
ORDER BY list_position(['void', 'unproven', 'note'], f.standing), f.rule,
    coalesce(r.finished, r.started) DESC NULLS LAST, f.experiment, f.run_id, s.path, f.line,
    f.sentence
"""

_TOTALS = """
SELECT count(*), count(*) FILTER (logged_verdict = 'pass'),
    count(*) FILTER (logged_verdict = 'pass' AND verdict = 'none'),
    count(*) FILTER (standing = 'void'), count(*) FILTER (standing = 'unproven')
FROM runs WHERE list_contains($experiments, experiment)
"""


def audit_findings(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], rule: str = ""
) -> list[AuditFinding]:
    """The findings of some experiments, or those of one rule: void first, then newest."""
    given = {"experiments": list(experiments), "rule": rule}
    return [_finding(*row) for row in query.rows(connection, _FINDINGS, given)]


def audit_totals(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> AuditTotals:
    """How many runs there are of some experiments, and what they are worth."""
    (counts,) = query.rows(connection, _TOTALS, {"experiments": list(experiments)})
    return AuditTotals(*counts)


def overturned(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], rule: str = ""
) -> list[OverturnedRow]:
    """Every logged pass that is no pass today, or that one rule overturned: newest first."""
    request = PageRequest("", size=_WHOLE)
    return list(overturned_page(connection, experiments, request, rule).rows)


def _finding(
    rule: str,
    family: str,
    experiment: str,
    run_id: str | None,
    patch_id: str | None,
    path: str | None,
    line: int | None,
    sentence: str,
    logged: str | None,
    verdict: str | None,
    standing: str,
) -> AuditFinding:
    return AuditFinding(
        rule,
        family,
        experiment,
        run_id,
        patch_id,
        path,
        line,
        redacted(sentence),
        None if logged is None else Verdict(logged),
        None if verdict is None else Verdict(verdict),
        Standing(standing),
    )
