"""Run log: an empty, cut or foreign stream of records read as success."""

from __future__ import annotations

from analysis.evidence.rules import Family, FileRule, ProofRule, RecordRule, RunRule, Told
from analysis.model import Standing

_TOLD = {
    "log-incomplete": Told(
        "a log that was cut: no start, no end, or fewer steps than it says",
        "run_start, run_end, complete, steps; proof.log",
    ),
    "log-truncated": Told("half a line, read over", "whole lines; proof.log"),
    "log-torn": Told("a log that ends in the middle of a record", "whole lines"),
    "log-missing": Told("a log that is empty or was never written", "proof.log.path"),
    "log-run-mismatch": Told("another run's log", "run_id on every line; proof.log"),
    "log-digest-mismatch": Told("a log that was changed afterwards", "proof.log.sha256"),
}


def _rule(standing: Standing, condition: str, sentence: str) -> RunRule:
    return RunRule(
        "log-incomplete", Family.RUN_LOG, standing, _TOLD["log-incomplete"], condition, sentence
    )


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
        _TOLD["log-truncated"],
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
        _TOLD["log-torn"],
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
        _TOLD["log-torn"],
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

PROOF_RULES = (
    ProofRule(
        "log-missing",
        Family.RUN_LOG,
        Standing.VOID,
        _TOLD["log-missing"],
        "log",
        "proof_text(b, 'path') IS NULL",
        "'offers a log and does not name its file'",
    ),
    ProofRule(
        "log-digest-mismatch",
        Family.RUN_LOG,
        Standing.UNPROVEN,
        _TOLD["log-digest-mismatch"],
        "log",
        "proof_text(b, 'sha256') IS NULL",
        "'offers a log without the digest to hold it against'",
    ),
)

FILE_RULES = tuple(
    FileRule(name, Family.RUN_LOG, Standing.VOID, _TOLD[name])
    for name in (
        "log-missing",
        "log-truncated",
        "log-incomplete",
        "log-run-mismatch",
        "log-digest-mismatch",
    )
)
