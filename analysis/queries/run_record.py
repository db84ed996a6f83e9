"""One run with everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analysis.queries.redaction import redacted
from analysis.store import query

MOST_FAILURES = 200

_RUN = "SELECT r FROM runs AS r WHERE experiment = $experiment AND run_id = $run_id"

_FINDINGS = """
SELECT f.rule, f.standing, f.sentence, s.path, f.line
FROM findings f LEFT JOIN sources s USING (source_id)
WHERE f.experiment = $experiment AND f.run_id = $run_id
ORDER BY list_position(['void', 'unproven', 'note'], f.standing), f.rule, f.line
"""

_FAILURES = """
WITH numbered AS (
    SELECT run_no FROM run_numbers WHERE experiment = $experiment AND run_id = $run_id
), failures AS (
    SELECT e.*
    FROM placed_executions e
    SEMI JOIN numbered n ON n.run_no = e.run_no
    ANTI JOIN uncounted_lines u
        ON u.source_id = e.source_id AND u.byte_offset = e.byte_offset AND u.item = e.item
    WHERE e.failed
)
SELECT t.test_id, f.variant, f.iteration, f.outcome::VARCHAR, f.exc, f.message, f."where",
    f.duration_s, s.path, f.line, count(*) OVER ()
FROM failures f JOIN tests t USING (test_key) JOIN sources s USING (source_id)
ORDER BY t.test_id, f.variant, f.iteration, f.source_id, f.line, f.item
LIMIT $limit
"""

# What stands beside the facts rather than among them.
_NOT_FACTS = (
    "experiment",
    "run_id",
    "log",
    "line",
    "source_id",
    "disagreeing",
    "usable",
    "executed",
)


@dataclass(frozen=True)
class RunFinding:
    """What is wrong with a run, or to be noted. path, line: the record that shows it, if one."""

    rule: str
    standing: str
    sentence: str
    path: str | None
    line: int | None


@dataclass(frozen=True)
class FailedTest:
    """A failed execution of a run; path:line is its record. duration_s: in seconds."""

    test_id: str
    variant: str | None
    iteration: int | None
    outcome: str
    exc: str | None
    message: str | None
    where: str | None
    duration_s: float | None
    path: str
    line: int


@dataclass(frozen=True)
class RunRecord:
    """A run. verdict: what counts, "none" where logged_verdict proves nothing; path:line: its
    record.

    facts: (name, value) of what is recorded or follows, in the order of the view `runs`, without
    what is not known. failures: at most MOST_FAILURES, of failures_total. disagreeing: fields in
    which its lines contradict each other. Credentials are redacted in all of it.
    """

    experiment: str
    run_id: str
    patch_id: str
    role: str
    phase: str
    verdict: str
    logged_verdict: str
    standing: str
    in_outage: bool
    started: datetime | None
    path: str
    line: int
    facts: tuple[tuple[str, str], ...]
    disagreeing: tuple[str, ...]
    findings: tuple[RunFinding, ...]
    failures: tuple[FailedTest, ...]
    failures_total: int


def run_record(
    connection: duckdb.DuckDBPyConnection, experiment: str, run_id: str
) -> RunRecord | None:
    """A run of an experiment; None where there is no such run (any more)."""
    asked = {"experiment": experiment, "run_id": run_id}
    found = query.first(connection, _RUN, asked)
    if found is None:
        return None
    run: dict[str, Any] = found[0]
    failures = query.rows(connection, _FAILURES, {**asked, "limit": MOST_FAILURES})
    return RunRecord(
        experiment=experiment,
        run_id=run_id,
        patch_id=run["patch_id"],
        role=run["role"],
        phase=run["phase"],
        verdict=run["verdict"],
        logged_verdict=run["logged_verdict"],
        standing=run["standing"],
        in_outage=run["in_outage"],
        started=run["started"],
        path=run["log"],
        line=run["line"],
        facts=tuple(
            (name, _told(value))
            for name, value in run.items()
            if value is not None and name not in _NOT_FACTS
        ),
        disagreeing=tuple(run["disagreeing"]),
        findings=tuple(
            RunFinding(rule, standing, redacted(sentence), path, line)
            for rule, standing, sentence, path, line in query.rows(connection, _FINDINGS, asked)
        ),
        failures=tuple(_failed(*row[:-1]) for row in failures),
        failures_total=failures[0][-1] if failures else 0,
    )


def _failed(
    test_id: str,
    variant: str | None,
    iteration: int | None,
    outcome: str,
    exc: str | None,
    message: str | None,
    where: str | None,
    duration_s: float | None,
    path: str,
    line: int,
) -> FailedTest:
    said = None if message is None else redacted(message)
    named = None if exc is None else redacted(exc)
    return FailedTest(
        test_id, variant, iteration, outcome, named, said, where, duration_s, path, line
    )


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z"
    return redacted(str(value))
