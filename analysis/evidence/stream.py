"""Stream: records that disagree, say the same run twice, or have an impossible clock."""

from __future__ import annotations

from analysis.evidence.rules import Family, RecordRule, RunRule, Told
from analysis.model import Standing

_TOLD = {
    "records-disagree": Told("lines of one run that contradict each other", "the same on each"),
    "duplicate-run-id": Told("two runs under one name", "a run_id of its own for each run"),
    "clock-suspect": Told("a clock that was never set", "started, finished"),
    "alias-conflict": Told("two names of one field, two values", "canonical names only"),
    "header-disagrees": Told(
        "a report whose header counts other tests than it holds", "result file"
    ),
    "suite-error": Told("an error beside the tests, of the suite itself", "result file"),
    "results-incomplete": Told("a report that is cut, or of a session that died", "result file"),
    "file-repaired": Told("a report with signs or bytes that it must not have", "result file"),
    "attempt-unfinished": Told("an empty record of a rerun, taken for a pass", "result file"),
    "outcome-inferred": Told("a test without an end in a package that passed", "result file"),
    "suspect-pass": Told("a test that says pass, and panicked", "result file"),
    "unlabelled-zone": Told("local time read as UTC", "times with a zone"),
    "log-run-mismatch": Told("another run's log", "run_id on every line; proof.log"),
    "repeated-line": Told("one line written twice", "every line once"),
    "retry-or-collision": Told("two tests of one name, or a retry", "attempt, iteration"),
    "unstable-id": Told("an id that is another one in every run", "test_id"),
    "opinion-alone": Told("a reviewer's yes without any executed run", "source"),
}

RULES = (
    RunRule(
        "records-disagree",
        Family.STREAM,
        Standing.NOTE,
        _TOLD["records-disagree"],
        "len(r.disagreeing) > 0",
        "'its lines disagree about ' || array_to_string(r.disagreeing, ', ')",
    ),
    RunRule(
        "records-disagree",
        Family.STREAM,
        Standing.VOID,
        _TOLD["records-disagree"],
        "list_contains(r.disagreeing, 'proof')",
        "'its lines offer proofs that contradict each other'",
    ),
    RunRule(
        "duplicate-run-id",
        Family.STREAM,
        Standing.NOTE,
        _TOLD["duplicate-run-id"],
        "r.copies > 1",
        "format('its run id stands for {} different records', r.copies)",
    ),
    RunRule(
        "clock-suspect",
        Family.STREAM,
        Standing.NOTE,
        _TOLD["clock-suspect"],
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
    return RecordRule(
        name, Family.STREAM, Standing.NOTE, _TOLD[name], _FROM_READER.replace("{rule}", name)
    )


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
        _TOLD["repeated-line"],
        _UNCOUNTED.replace("{rule}", "repeated-line").replace(
            "{sentence}", "{} byte-identical lines are counted once, e.g. {}"
        ),
    ),
    RecordRule(
        "retry-or-collision",
        Family.STREAM,
        Standing.NOTE,
        _TOLD["retry-or-collision"],
        _UNCOUNTED.replace("{rule}", "attempt").replace(
            "{sentence}", "{} more records of the same test and iteration, e.g. {}"
        ),
    ),
    RecordRule(
        "unstable-id",
        Family.STREAM,
        Standing.NOTE,
        _TOLD["unstable-id"],
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
    RecordRule(
        "opinion-alone",
        Family.STREAM,
        Standing.VOID,
        _TOLD["opinion-alone"],
        """
        -- A second opinion may subtract, never add.
        SELECT r.experiment, r.run_id, 'says pass by opinion, and no executed run of the patch did',
            r.source_id, r.line
        FROM run_facts r
        SEMI JOIN touched USING (experiment)
        ANTI JOIN (
            SELECT experiment, patch_id, coalesce(patch_digest, '') AS digest
            FROM run_facts
            ANTI JOIN (SELECT experiment, run_id FROM findings WHERE standing = 'void')
                USING (experiment, run_id)
            WHERE executed AND logged_verdict = 'pass' AND complete
        ) e ON e.experiment = r.experiment AND e.patch_id = r.patch_id
            AND e.digest = coalesce(r.patch_digest, '')
        WHERE r.source = 'opinion' AND r.logged_verdict = 'pass'
        """,
    ),
)
