"""Outages: a set of runs at one time in which nearly everything fails, whoever is to blame."""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from analysis.evidence.rules import Family, Rule, Told
from analysis.evidence.signatures import most_common, normal_form
from analysis.model import Standing
from analysis.store import query

RULE = Rule(
    "outage",
    Family.STREAM,
    Standing.NOTE,
    Told("a machine that was down, read as a hundred flaky tests", "started, finished, round"),
)

SHARE = 0.8
TESTS = 20

_MARK = """
INSERT INTO outage_runs
WITH timed AS (
    -- Runs without a round belong together while they overlap in time.
    -- Records beyond one a test are of variants or iterations: any of them can have failed.
    SELECT experiment, run_id, role, phase, round, started, tests_executed,
        tests_failed + test_records - tests_executed AS most_failed,
        CASE WHEN round IS NULL AND started > max(finished) OVER (
            PARTITION BY experiment, phase, round ORDER BY started, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) THEN 1 ELSE 0 END AS begins
    FROM run_facts WHERE $everything OR list_contains($experiments, experiment)
), sets AS (
    SELECT experiment, run_id, role, phase, tests_executed, most_failed,
        coalesce('round ' || round, 'set ' || sum(begins) OVER (
            PARTITION BY experiment, phase, round ORDER BY started, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )) AS set_name
    FROM timed WHERE round IS NOT NULL OR started IS NOT NULL
), suspects AS (
    -- Single results are asked only where that many tests of two roles can have failed: no fewer
    -- ran than in the longest run, and no more failed than in all runs together.
    SELECT experiment, phase, set_name
    FROM (
        SELECT experiment, phase, set_name, role
        FROM sets GROUP BY ALL
        HAVING sum(most_failed) >= $share * greatest($tests, max(tests_executed))
    )
    GROUP BY ALL
    HAVING bool_or(role = 'green') AND count(*) > 1
), tests AS (
    SELECT s.experiment, s.phase, s.set_name, s.role, r.test_norm, r.variant,
        bool_or(r.failed) AS failed
    FROM sets s
    SEMI JOIN suspects u USING (experiment, phase, set_name)
    JOIN results r ON r.experiment = s.experiment AND r.run_id = s.run_id
    WHERE r.test_id <> '(run)' AND r.failed IS NOT NULL
    GROUP BY ALL
), shares AS (
    SELECT experiment, phase, set_name, role,
        count(*) >= $tests AND count(*) FILTER (failed) >= $share * count(*) AS down
    FROM tests GROUP BY ALL
), outages AS (
    SELECT experiment, phase, set_name
    FROM shares GROUP BY ALL
    HAVING count(*) FILTER (down) >= 2 AND bool_or(down AND role = 'green')
), rare AS (
    -- Where half of the sets or more look like that it is the state of things, not an outage.
    SELECT s.experiment, s.phase
    FROM (SELECT DISTINCT experiment, phase, set_name FROM sets WHERE tests_executed > 0) s
    LEFT JOIN outages o USING (experiment, phase, set_name)
    GROUP BY s.experiment, s.phase
    HAVING 2 * count(o.set_name) < count(*)
)
SELECT s.experiment, s.run_id
FROM sets s
SEMI JOIN outages o USING (experiment, phase, set_name)
SEMI JOIN rare r USING (experiment, phase)
"""

_DESCRIBE = """
SELECT r.experiment, r.phase, r.round, min(r.started) AS started,
    count(*) FILTER (r.failed) AS k, count(r.failed) AS n,
    list(concat_ws(': ', r.exc, r.message)) FILTER (r.failed AND r.message IS NOT NULL) AS messages,
    min(r.source_id) AS source_id, min(r.line) AS line
FROM results r SEMI JOIN outage_runs o USING (experiment, run_id)
WHERE r.test_id <> '(run)' AND ($everything OR list_contains($experiments, r.experiment))
GROUP BY r.experiment, r.phase, r.round
ORDER BY r.experiment, started, r.phase, r.round
"""

_FORGET = (
    """DELETE FROM outage_runs
    WHERE $everything OR list_contains($experiments, experiment)""",
    """DELETE FROM findings
    WHERE rule = 'outage' AND ($everything OR list_contains($experiments, experiment))""",
)

_ANY = """
SELECT 1 FROM outage_runs WHERE $everything OR list_contains($experiments, experiment) LIMIT 1
"""


def find_outages(
    connection: duckdb.DuckDBPyConnection, experiments: Collection[str] | None = None
) -> None:
    """Rebuild `outage_runs` and write one finding a set, with time, share and message.

    A set is a soak round, or runs of one phase that overlap in time: at least 80 % of at least
    20 executed tests fail in two or more roles, green among them, while other sets do not.
    experiments: those to look at; what is on record of others stays. None: all.
    """
    of = {"everything": experiments is None, "experiments": list(experiments or ())}
    for statement in _FORGET:
        query.write(connection, statement, of)
    query.write(connection, _MARK, {**of, "tests": TESTS, "share": SHARE})
    if query.first(connection, _ANY, of) is None:
        return
    for experiment, phase, round_, started, k, n, messages, source_id, line in query.rows(
        connection, _DESCRIBE, of
    ):
        forms = {message: normal_form(message) for message in set(messages or ())}
        form = most_common(forms[message] for message in messages or ())
        where = f"{phase} round {round_}" if round_ is not None else f"{phase}"
        at = f" at {started:%Y-%m-%dT%H:%M:%SZ}" if started else ""
        said = f", most often: {form}" if form else ""
        query.write(
            connection,
            """INSERT INTO findings VALUES
            ($experiment, NULL, $rule, $family, $standing, $sentence, $source_id, $line)""",
            {
                "experiment": experiment,
                "rule": RULE.name,
                "family": RULE.family,
                "standing": RULE.standing,
                "sentence": f"outage in {where}{at}: {k} of {n} executions failed{said}",
                "source_id": source_id,
                "line": line,
            },
        )
