"""Run log: an empty, cut or foreign stream of records read as success."""

from __future__ import annotations

from analysis.evidence.rules import Family, RecordRule, RunRule
from analysis.model import Standing


def _rule(standing: Standing, condition: str, sentence: str) -> RunRule:
    return RunRule("log-incomplete", Family.RUN_LOG, standing, condition, sentence)


RULES = (
    _rule(
        Standing.VOID,
        "NOT r.complete AND r.has_start AND NOT r.has_end",
        "format('started and has no end marker; it says {}', r.logged_verdict)",
    ),
    _rule(
        Standing.VOID,
        "NOT r.complete AND (r.has_end OR NOT r.has_start)",
        "format('says of itself that it is not complete, and {}', r.logged_verdict)",
    ),
    _rule(
        Standing.VOID,
        "r.steps IS NOT NULL AND r.steps <> r.test_records",
        "format('its end marker counts {} steps, its log has {}', r.steps, r.test_records)",
    ),
    _rule(
        Standing.UNPROVEN,
        "r.has_end AND NOT r.has_start",
        "'has an end marker and no start'",
    ),
    _rule(
        Standing.UNPROVEN,
        "r.complete AND NOT r.has_start AND NOT r.has_end AND r.logged_verdict = 'none' "
        "AND r.test_records > 0",
        "'has results, but neither start nor end nor verdict'",
    ),
)

RECORD_RULES = (
    RecordRule(
        "log-truncated",
        Family.RUN_LOG,
        Standing.NOTE,
        """
        SELECT m.experiment, NULL AS run_id,
            format('{} of {} lines are no whole JSON object, first: line {}, {}',
                count(DISTINCT j.line),
                any_value(s.lines), min(j.line), min_by(j.reason, j.line)),
            j.source_id, min(j.line)
        FROM reject_lines j
        JOIN sources s USING (source_id)
        JOIN (SELECT DISTINCT source_id, experiment FROM source_runs) m USING (source_id)
        WHERE j.reason IN ('not-json', 'truncated', 'interleaved', 'two-objects-on-a-line',
            'not-utf8', 'nul-byte', 'too-long', 'not-an-object')
        GROUP BY m.experiment, j.source_id
        """,
    ),
    RecordRule(
        "log-torn",
        Family.RUN_LOG,
        Standing.NOTE,
        """
        SELECT m.experiment, NULL AS run_id,
            format('{} is finished and ends in a torn line', parse_filename(s.path)),
            j.source_id, j.line
        FROM reject_lines j
        JOIN sources s USING (source_id)
        JOIN (SELECT DISTINCT source_id, experiment FROM source_runs) m USING (source_id)
        WHERE j.reason = 'truncated' AND s.tail = 'reject' AND j.byte_offset >= s.done
        """,
    ),
    RecordRule(
        "log-torn",
        Family.RUN_LOG,
        Standing.NOTE,
        """
        SELECT m.experiment, NULL AS run_id,
            format('{} is cut short: {}', parse_filename(s.path), s.damage), s.source_id,
            s.lines
        FROM sources s
        JOIN (SELECT DISTINCT source_id, experiment FROM source_runs) m USING (source_id)
        WHERE s.damage <> '' AND s.finished AND s.tail <> 'reject'
        """,
    ),
)
