"""Stream: records that disagree, say the same run twice, or have an impossible clock."""

from __future__ import annotations

from analysis.evidence.rules import Family, RecordRule, RunRule
from analysis.model import Standing

RULES = (
    RunRule(
        "records-disagree",
        Family.STREAM,
        Standing.NOTE,
        "len(r.disagreeing) > 0",
        "'its lines disagree about ' || array_to_string(r.disagreeing, ', ')",
    ),
    RunRule(
        "duplicate-run-id",
        Family.STREAM,
        Standing.NOTE,
        "r.copies > 1",
        "format('its run id stands for {} different records', r.copies)",
    ),
    RunRule(
        "clock-suspect",
        Family.STREAM,
        Standing.NOTE,
        "r.finished < r.started",
        "'finished before it started'",
    ),
)

# Materialized: DuckDB would pair all notes of a source with all of its runs.
_FROM_READER = """
    WITH notes AS MATERIALIZED (
        SELECT n.source_id, n.line, n.detail,
            coalesce(n.run_id, left(s.identity, 12) || '@' || n.byte_offset) AS run_id
        FROM note_lines n JOIN sources s USING (source_id)
        WHERE n.rule = '{rule}'
    )
    SELECT m.experiment, m.run_id, min(n.detail), min(n.source_id), min(n.line)
    FROM notes n JOIN source_runs m ON m.source_id = n.source_id AND m.run_id = n.run_id
    GROUP BY m.experiment, m.run_id
"""

_UNCOUNTED = """
    SELECT t.experiment, t.run_id,
        format('{sentence}', count(*), min(t.test_id)), t.source_id, min(t.line)
    FROM uncounted_lines u
    JOIN recorded_tests t USING (source_id, byte_offset, item)
    WHERE u.rule = '{rule}'
    GROUP BY t.experiment, t.run_id, t.source_id
"""


def _noted(name: str) -> RecordRule:
    return RecordRule(name, Family.STREAM, Standing.NOTE, _FROM_READER.replace("{rule}", name))


RECORD_RULES = (
    _noted("alias-conflict"),
    _noted("header-disagrees"),
    _noted("suite-error"),
    _noted("results-incomplete"),
    _noted("file-repaired"),
    _noted("attempt-unfinished"),
    _noted("outcome-inferred"),
    _noted("suspect-pass"),
    _noted("unlabelled-zone"),
    _noted("clock-suspect"),
    _noted("log-run-mismatch"),
    RecordRule(
        "repeated-line",
        Family.STREAM,
        Standing.NOTE,
        _UNCOUNTED.replace("{rule}", "repeated-line").replace(
            "{sentence}", "{} byte-identical lines are counted once, e.g. {}"
        ),
    ),
    RecordRule(
        "retry-or-collision",
        Family.STREAM,
        Standing.NOTE,
        _UNCOUNTED.replace("{rule}", "attempt").replace(
            "{sentence}", "{} more records of the same test and iteration, e.g. {}"
        ),
    ),
    RecordRule(
        "unstable-id",
        Family.STREAM,
        Standing.NOTE,
        """
        SELECT t.experiment, NULL AS run_id,
            format('{} test ids hold an address, a UUID or a cut repr, e.g. {}',
                count(DISTINCT t.test_id), min(t.test_id)),
            min(t.source_id), min(t.line)
        FROM recorded_tests t
        WHERE t.unstable_id
        GROUP BY t.experiment
        """,
    ),
)
