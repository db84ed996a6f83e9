"""Counts: a suite that collected nothing, exit code 5 mapped to pass."""

from __future__ import annotations

from analysis.evidence.rules import Family, RecordRule, RunRule, Told
from analysis.model import Standing

_PASS = "r.logged_verdict = 'pass' AND "

_TOLD = {
    "no-tests-collected": Told(
        "a suite that collected nothing, exit code 5 mapped to pass", "collected, exit_code"
    ),
    "nothing-passed": Told("a suite in which every test was skipped", "passed"),
    "counts-missing": Told("a verdict without numbers", "collected, passed"),
    "counts-contradict": Told(
        "a pass beside failures, a non-zero exit code or a killed process",
        "collected, passed, failed, errors, skipped, exit_code, timed_out, crashed",
    ),
    "suite-cut": Told("-x, a limit of failures, or a worker that died", "collected, passed, ..."),
    "inventory-missing": Told(
        "a selector with a typo: fewer tests than are pinned", "test lines, or inventory_missing"
    ),
    "inventory-grew": Told("tests that nobody pinned", "test lines"),
}


def _rule(name: str, standing: Standing, condition: str, sentence: str) -> RunRule:
    return RunRule(name, Family.COUNTS, standing, _TOLD[name], condition, sentence)


RULES = (
    _rule(
        "no-tests-collected",
        Standing.VOID,
        "r.collected = 0",
        "format('says {}, but collected 0 tests', r.logged_verdict)",
    ),
    _rule(
        "no-tests-collected",
        Standing.VOID,
        "r.exit_code = 5 AND r.collected IS DISTINCT FROM 0",
        "format('says {} with exit code 5: no test was collected', r.logged_verdict)",
    ),
    _rule(
        "nothing-passed",
        Standing.VOID,
        _PASS + "r.passed = 0",
        "'says pass, but 0 tests passed'",
    ),
    _rule(
        "nothing-passed",
        Standing.VOID,
        _PASS + "r.test_records > 0 AND r.tests_executed = 0",
        "format('says pass, but none of its {} recorded tests was executed', r.test_records)",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        _PASS + "(coalesce(r.failed, 0) > 0 OR coalesce(r.errors, 0) > 0)",
        """format('says pass, but counts {} failed and {} errors',
            coalesce(r.failed, 0), coalesce(r.errors, 0))""",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        _PASS + "r.tests_never_passed > 0",
        "format('says pass, but {} of its recorded tests failed', r.tests_never_passed)",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        _PASS + "r.exit_code NOT IN (0, 5)",
        "format('says pass, but exited with {}', r.exit_code)",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        _PASS + "(r.timed_out OR r.crashed)",
        """format('says pass, but was killed ({})',
            CASE WHEN r.timed_out THEN 'timed out' ELSE 'crashed' END)""",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        """r.collected >= 0 AND coalesce(r.passed, 0) + coalesce(r.failed, 0)
            + coalesce(r.errors, 0) + coalesce(r.skipped, 0) > r.collected
            AND r.logged_verdict = 'pass'""",
        """format('counts {} results of {} collected tests', coalesce(r.passed, 0)
            + coalesce(r.failed, 0) + coalesce(r.errors, 0) + coalesce(r.skipped, 0),
            r.collected)""",
    ),
    _rule(
        "counts-contradict",
        Standing.VOID,
        "least(r.collected, r.passed, r.failed, r.errors, r.skipped, r.inventory_missing) < 0",
        "'has a negative count'",
    ),
    _rule(
        "suite-cut",
        Standing.VOID,
        _PASS
        + """r.collected > 0 AND r.passed > 0 AND greatest(
            coalesce(r.passed, 0) + coalesce(r.failed, 0) + coalesce(r.errors, 0)
            + coalesce(r.skipped, 0) + coalesce(r.uncategorised, 0),
            r.test_records - r.test_attempts
        ) < r.collected""",
        """format('says pass, but finished {} of {} collected tests', greatest(
            coalesce(r.passed, 0) + coalesce(r.failed, 0) + coalesce(r.errors, 0)
            + coalesce(r.skipped, 0) + coalesce(r.uncategorised, 0),
            r.test_records - r.test_attempts), r.collected)""",
    ),
    _rule(
        "inventory-missing",
        Standing.VOID,
        _PASS + "r.inventory_missing > 0",
        "format('says pass, but {} pinned tests are missing', r.inventory_missing)",
    ),
    _rule(
        "inventory-missing",
        Standing.VOID,
        _PASS + "r.pinned_missing > 0 AND coalesce(r.inventory_missing, 0) <= 0",
        """format('says pass, but {} pinned tests are missing, e.g. {}', r.pinned_missing,
            r.pinned_example)""",
    ),
    _rule(
        "counts-missing",
        Standing.UNPROVEN,
        _PASS + "(r.collected IS NULL OR r.passed IS NULL)",
        """'says pass and does not say how many tests were '
            || CASE WHEN r.collected IS NULL THEN 'collected' ELSE 'passed' END""",
    ),
)

RECORD_RULES = (
    RecordRule(
        "inventory-grew",
        Family.COUNTS,
        Standing.NOTE,
        _TOLD["inventory-grew"],
        """
        WITH seen AS (
            SELECT t.experiment, t.test_norm, min(t.source_id) AS source_id, min(t.line) AS line
            FROM recorded_tests t
            SEMI JOIN pinned p USING (experiment)
            ANTI JOIN pinned q ON q.experiment = t.experiment AND q.test_norm = t.test_norm
            GROUP BY ALL
        )
        SELECT experiment, NULL AS run_id,
            format('{} tests are not in the inventory, e.g. {}', count(*), min(test_norm)),
            min(source_id), min(line)
        FROM seen GROUP BY experiment
        """,
    ),
)
