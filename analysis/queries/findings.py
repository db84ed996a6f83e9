"""What the records say against being believed: by rule, and record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import duckdb

from analysis.queries.moments import moment
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.queries.reasons import reject_words
from analysis.queries.redaction import redacted
from analysis.store import query


class FindingKind(StrEnum):
    """What a finding weighs, heaviest first."""

    VOID = "void"
    UNPROVEN = "unproven"
    REJECT = "reject"
    PENDING = "pending"
    NOTE = "note"


@dataclass(frozen=True)
class FindingRow:
    """The records that one rule holds for. sentence: of one of them; newest: of their runs, or
    when the file was last written, in UTC."""

    kind: FindingKind
    rule: str
    count: int
    sentence: str
    newest: datetime | None


@dataclass(frozen=True)
class RecordRow:
    """One record that a rule holds for. line counts from 1; source_id and line name it for
    `recorded.recorded_line`. Experiment, run and patch are None for a line that was not read."""

    kind: FindingKind
    rule: str
    experiment: str | None
    run_id: str | None
    patch_id: str | None
    sentence: str
    at: datetime | None
    path: str | None
    line: int | None
    source_id: int | None


@dataclass(frozen=True)
class EvidenceTotals:
    """passes: runs that their log calls a pass; holding: those that count as one. lines, rejected
    and files: of the sources that have a run of these experiments, or no run at all."""

    runs: int
    passes: int
    holding: int
    lines: int
    rejected: int
    files: int


# A rejected line has no run, and a log in which none could be read no experiment: it would be
# seen nowhere if it were not shown with all of them.
SOURCES = """
SELECT source_id, CASE WHEN starts_with(path, '-') THEN '-' ELSE path END AS path, lines, rejected,
    pending, done, CASE WHEN mtime_ns > 0 THEN make_timestamp(mtime_ns // 1000) END AS written
FROM sources
WHERE same_as IS NULL AND (
    source_id IN (
        SELECT source_id FROM source_runs WHERE list_contains($experiments, experiment)
    )
    OR source_id NOT IN (SELECT source_id FROM source_runs)
)
"""

_RECORDS = f"""
WITH files AS ({SOURCES}), found AS (
    -- Several signs of one rule on one run are one record.
    SELECT standing, rule, experiment, run_id, string_agg(DISTINCT sentence, '; ' ORDER BY sentence)
        AS sentence, min({{source_id: source_id, line: line}}) AS place
    FROM findings WHERE list_contains($experiments, experiment)
    GROUP BY standing, rule, experiment, run_id,
        CASE WHEN run_id IS NULL THEN {{source_id: source_id, line: line, sentence: sentence}} END
)
SELECT f.standing AS kind, f.rule, f.experiment, f.run_id, r.patch_id, f.sentence,
    coalesce(r.finished, r.started) AS ended,
    CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END AS path, f.place.line AS line,
    f.place.source_id AS source_id
FROM found f
LEFT JOIN run_facts r USING (experiment, run_id)
LEFT JOIN sources s ON s.source_id = f.place.source_id
UNION ALL
SELECT 'reject', j.reason, NULL, NULL, NULL, NULL, f.written, f.path, j.line, j.source_id
FROM reject_lines j JOIN files f USING (source_id)
UNION ALL
SELECT 'pending', 'torn-tail', NULL, NULL, NULL,
    'the last line has no newline yet; it is read when it is whole', written, path, lines, source_id
FROM files WHERE pending > 0
"""

_FIELDS = {"rule": "rule", "patch": "patch_id", "soak": "experiment", "file": "path"}
_TEXT = ("kind", "rule", "sentence", "patch_id", "experiment", "run_id", "path")
_RANK = "list_position(['void', 'unproven', 'reject', 'pending', 'note'], kind)"

_FINDINGS = Listing(
    sql=_RECORDS,
    columns={
        "kind": Column(_RANK),
        "rule": Column("rule"),
        "count": Column('"count"', descending=True),
        "newest": Column("newest", descending=True),
    },
    key=("kind", "rule"),
    order=("kind", "count", "rule"),
    fields=_FIELDS,
    text=_TEXT,
    shown="""
    SELECT kind, rule, count(*) AS "count", min(sentence) AS sentence, max(ended) AS newest
    FROM matching GROUP BY kind, rule
    """,
)

_RECORDS_OF = Listing(
    sql=f"FROM ({_RECORDS}) WHERE kind = $kind AND rule = $rule",
    columns={
        "newest": Column("ended", descending=True),
        "soak": Column("experiment"),
        "run": Column("run_id"),
        "patch": Column("patch_id"),
        "file": Column("path"),
        "line": Column("line"),
    },
    key=("experiment", "run_id", "source_id", "line", "sentence"),
    order=("newest", "file", "line"),
    fields=_FIELDS,
    text=_TEXT,
)

FINDING_COLUMNS = tuple(_FINDINGS.columns)
RECORD_COLUMNS = tuple(_RECORDS_OF.columns)

_TOTALS = f"""
SELECT * FROM (
    SELECT count(*), count(*) FILTER (logged_verdict = 'pass'),
        count(*) FILTER (logged_verdict = 'pass' AND verdict = 'pass')
    FROM runs WHERE list_contains($experiments, experiment)
), (
    SELECT coalesce(sum(lines), 0)::BIGINT, coalesce(sum(rejected), 0)::BIGINT, count(*)
    FROM ({SOURCES})
)
"""


def evidence_totals(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> EvidenceTotals:
    """How much was recorded of some experiments, and how much of it holds."""
    (counts,) = query.rows(connection, _TOTALS, {"experiments": list(experiments)})
    return EvidenceTotals(*counts)


def finding_page(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], request: PageRequest
) -> Page[FindingRow]:
    """A window of the findings by rule: heaviest first, then most records."""
    return page(connection, _FINDINGS, {"experiments": list(experiments)}, request, _finding)


def records_of(
    connection: duckdb.DuckDBPyConnection,
    experiments: Sequence[str],
    kind: FindingKind,
    rule: str,
    request: PageRequest,
) -> Page[RecordRow]:
    """A window of the records that a rule holds for: newest first."""
    given = {"experiments": list(experiments), "kind": kind.value, "rule": rule}
    return page(connection, _RECORDS_OF, given, request, _record)


def _finding(
    kind: str, rule: str, count: int, sentence: str | None, newest: datetime | str | None
) -> FindingRow:
    return FindingRow(FindingKind(kind), rule, count, _sentence(rule, sentence), moment(newest))


def _record(
    kind: str,
    rule: str,
    experiment: str | None,
    run_id: str | None,
    patch_id: str | None,
    sentence: str | None,
    at: datetime | str | None,
    path: str | None,
    line: int | None,
    source_id: int | None,
) -> RecordRow:
    return RecordRow(
        FindingKind(kind),
        rule,
        experiment,
        run_id,
        patch_id,
        _sentence(rule, sentence),
        moment(at),
        path,
        line,
        source_id,
    )


def _sentence(rule: str, sentence: str | None) -> str:
    """What a rule says, or what the reason of a rejected line means."""
    return reject_words(rule) if sentence is None else redacted(sentence)
