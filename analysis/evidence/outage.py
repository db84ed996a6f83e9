"""Outages: a set of runs at one time in which nearly everything fails, whoever is to blame."""

from __future__ import annotations

import duckdb

from analysis.evidence.rules import Family
from analysis.evidence.signatures import most_common, normal_form
from analysis.model import Standing
from analysis.store import query

SHARE = 0.8
TESTS = 20

_MARK = """
INSERT INTO outage_runs
WITH timed AS (
    -- Runs without a round belong together while they overlap in time.
    SELECT experiment, run_id, role, phase, round, started,
        CASE WHEN round IS NULL AND started > max(finished) OVER (
            PARTITION BY experiment, phase, round ORDER BY started, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) THEN 1 ELSE 0 END AS begins
    FROM runs
), sets AS (
    SELECT experiment, run_id, role, phase,
        coalesce('round ' || round, 'set ' || sum(begins) OVER (
            PARTITION BY experiment, phase, round ORDER BY started, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )) AS set_name
    FROM timed WHERE round IS NOT NULL OR started IS NOT NULL
), tests AS (
    SELECT s.experiment, s.phase, s.set_name, s.role, r.test_norm, r.variant,
        bool_or(r.failed) AS failed
    FROM sets s JOIN results r USING (experiment, run_id)
    WHERE r.test_id <> '(run)' AND r.failed IS NOT NULL
    GROUP BY ALL
), shares AS (
    SELECT experiment, phase, set_name, role,
        count(*) >= $tests AND count(*) FILTER (failed) >= $share * count(*) AS down
    FROM tests GROUP BY ALL
), judged AS (
    SELECT experiment, phase, set_name,
        count(*) FILTER (down) >= 2 AND bool_or(down AND role = 'green') AS outage
    FROM shares GROUP BY ALL
), rare AS (
    -- Where half of the sets or more look like that it is the state of things, not an outage.
    SELECT experiment, phase FROM judged GROUP BY ALL
    HAVING 2 * count(*) FILTER (outage) < count(*)
)
SELECT s.experiment, s.run_id
FROM sets s
JOIN judged j USING (experiment, phase, set_name)
JOIN rare USING (experiment, phase)
WHERE j.outage
"""

_DESCRIBE = """
SELECT r.experiment, r.phase, r.round, min(r.started) AS started,
    count(*) FILTER (r.failed) AS k, count(r.failed) AS n,
    list(concat_ws(': ', r.exc, r.message)) FILTER (r.failed AND r.message IS NOT NULL) AS messages,
    min(r.source_id) AS source_id, min(r.line) AS line
FROM results r SEMI JOIN outage_runs o USING (experiment, run_id)
WHERE r.test_id <> '(run)'
GROUP BY r.experiment, r.phase, r.round
ORDER BY r.experiment, started
"""


def find_outages(connection: duckdb.DuckDBPyConnection) -> None:
    """Rebuild `outage_runs` and write one finding a set, with time, share and message.

    A set is a soak round, or runs of one phase that overlap in time: at least 80 % of at least
    20 executed tests fail in two or more roles, green among them, while other sets do not.
    """
    query.write(connection, "DELETE FROM outage_runs")
    query.write(connection, _MARK, {"tests": TESTS, "share": SHARE})
    for experiment, phase, round_, started, k, n, messages, source_id, line in query.rows(
        connection, _DESCRIBE
    ):
        form = most_common(normal_form(message) for message in messages or [])
        where = f"{phase} round {round_}" if round_ is not None else f"{phase}"
        at = f" at {started:%Y-%m-%dT%H:%M:%SZ}" if started else ""
        said = f", most often: {form}" if form else ""
        query.write(
            connection,
            """INSERT INTO findings VALUES
            ($experiment, NULL, 'outage', $family, $standing, $sentence, $source_id, $line)""",
            {
                "experiment": experiment,
                "family": Family.STREAM,
                "standing": Standing.NOTE,
                "sentence": f"outage in {where}{at}: {k} of {n} executions failed{said}",
                "source_id": source_id,
                "line": line,
            },
        )
