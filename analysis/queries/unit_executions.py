"""The executions behind one unit, in temporary tables that live for one answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import duckdb

from analysis.queries.attributions import UnitKey
from analysis.records.identity import normal_form
from analysis.store import query

# The executions of one test are a few among millions, one in each stretch of the table: they are
# picked by what takes least to read, and only then read whole.
_PLACES = """
CREATE OR REPLACE TEMP TABLE unit_places AS
WITH own_tests AS (
    SELECT test_key FROM tests WHERE test_norm = $test_norm
), own_runs AS (
    SELECT run_no FROM run_facts
    WHERE experiment = $experiment AND (role <> 'subject' OR patch_id = $patch_id)
), placed AS (
    SELECT e.rowid AS place, p.run_no
    FROM executions e
    SEMI JOIN own_tests USING (test_key)
    JOIN run_places p ON p.source_id = e.source_id AND p.run_key = e.run_key
    UNION ALL
    SELECT e.rowid AS place, p.run_no
    FROM executions e
    SEMI JOIN own_tests USING (test_key)
    JOIN nameless_places p ON p.source_id = e.source_id AND p.byte_offset = e.byte_offset
    WHERE e.run_key IS NULL
)
FROM placed SEMI JOIN own_runs USING (run_no)
"""

# The columns are those of the view `results`; a run as a whole stands for the pseudo-test.
_EXECUTIONS = """
CREATE OR REPLACE TEMP TABLE unit_executions AS
WITH own_runs AS (
    FROM judged_runs
    WHERE experiment = $experiment AND (role <> 'subject' OR patch_id = $patch_id)
), tested AS (
    SELECT e.*, p.run_no,
        make_timestamp(
            wrapped(expected_us(e.started, e.duration_s) + e.finished_late)
        ) AS finished
    FROM executions e
    JOIN unit_places p ON p.place = e.rowid
    ANTI JOIN uncounted_lines u
        ON u.source_id = e.source_id AND u.byte_offset = e.byte_offset AND u.item = e.item
    WHERE e.failed IS NOT NULL
), bare AS (
    SELECT DISTINCT experiment FROM judged_runs
    WHERE $test_norm = '(run)' AND experiment = $experiment AND usable AND verdict <> 'none'
        AND (test_records = 0 OR (verdict = 'fail' AND tests_failed = 0))
), executed AS (
    SELECT r.run_no, t.source_id, t.byte_offset, t.item, t.line, t.variant AS own_variant,
        t.outcome::VARCHAR AS outcome, t.failed, t.started, t.finished, t.exc, t.errno,
        t.message, t."where", t.log AS kept, t.resources
    FROM tested t JOIN own_runs r USING (run_no)
    UNION ALL BY NAME
    SELECT run_no, source_id, -1::BIGINT AS byte_offset, 0 AS item, line,
        CASE WHEN verdict = 'fail' AND tests_failed = 0 THEN 'failed' ELSE 'passed' END AS outcome,
        verdict = 'fail' AND tests_failed = 0 AS failed
    FROM own_runs SEMI JOIN bare USING (experiment)
    WHERE usable AND verdict <> 'none'
), standing AS (
    SELECT e.* EXCLUDE (own_variant, started, finished), r.run_id, r.patch_id, r.role, r.phase,
        r.round, coalesce(e.started, r.started) AS started,
        coalesce(e.finished, r.finished) AS finished,
        r.usable AND NOT r.in_outage AS counted,
        -- A run that was cut gives no verdict, but a failure in it is on record.
        e.failed AND NOT r.in_outage AND (r.usable OR NOT r.complete) AS on_record
    FROM executed e
    JOIN own_runs r USING (run_no)
    WHERE coalesce(e.own_variant, r.variant) IS NOT DISTINCT FROM $variant
)
SELECT *, CASE WHEN on_record THEN row_number() OVER (
    PARTITION BY on_record
    ORDER BY role = 'red', role = 'green', started, run_id, source_id, byte_offset, item
) - 1 END AS failure
FROM standing
"""


@contextmanager
def executions_of(connection: duckdb.DuckDBPyConnection, key: UnitKey) -> Iterator[None]:
    """The temporary table `unit_executions`: a row an execution of the test on the patch, on green
    and on red.

    counted: it enters the counts. on_record: it is a failure that counts for something; `failure`
    numbers those from 0: the patch's own by time, then green's, then red's.
    """
    unit = {"experiment": key.experiment, "patch_id": key.patch_id}
    test_norm = normal_form(key.test_id)
    query.write(connection, _PLACES, {**unit, "test_norm": test_norm})
    query.write(connection, _EXECUTIONS, {**unit, "test_norm": test_norm, "variant": key.variant})
    yield
    query.write(connection, "DROP TABLE unit_executions")
    query.write(connection, "DROP TABLE unit_places")


def in_utc(value: datetime | str | None) -> datetime | None:
    """A time of the index, which keeps UTC without saying so, as one that says so.

    None for one that Python cannot hold: a clock can be off by millennia.
    """
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else None
