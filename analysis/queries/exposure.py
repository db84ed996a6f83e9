"""Who was beside the executions of one unit, and what they held in common.

The definition is that of attribution: two executions of different runs meet when both touched the
same resource, at least one wrote, and their times overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analysis.model import Outcome, Phase, Role
from analysis.queries.unit_executions import in_utc
from analysis.store import query

RESOURCES = 20
"""Resources that are listed."""

BARS = 20
"""Executions that a timeline shows."""

_RECORDED = "SELECT count(*) FROM unit_executions WHERE len(resources) > 0"

# What any execution of the experiment did to a resource that one of the unit's touched. Caches of
# interpreter and test runner, and devices, are shared by design and say nothing.
_TOUCHES = """
CREATE OR REPLACE TEMP TABLE unit_touches AS
WITH used AS (
    SELECT DISTINCT u.kind AS kind, u.id AS id
    FROM unit_executions e, unnest(e.resources) AS t(u)
    WHERE u.id NOT LIKE '/dev/%' AND u.id NOT LIKE '%__pycache__%'
        AND u.id NOT LIKE '%.pytest_cache%'
), own_runs AS (
    FROM judged_runs WHERE experiment = $experiment AND usable AND NOT in_outage
), recorded AS (
    SELECT r.run_no, e.source_id, e.byte_offset, e.item, e.line, e.test_key, e.outcome,
        coalesce(e.started, r.started) AS started, coalesce(e.finished, r.finished) AS finished,
        r.run_id, r.patch_id, r.role, r.phase, e.resources
    FROM placed_executions e
    JOIN own_runs r USING (run_no)
    ANTI JOIN uncounted_lines u
        ON u.source_id = e.source_id AND u.byte_offset = e.byte_offset AND u.item = e.item
    WHERE len(e.resources) > 0
), touched AS (
    SELECT e.* EXCLUDE (resources), u.kind AS kind, u.id AS id, u.op = 'w' AS writes
    FROM recorded e, unnest(e.resources) AS t(u)
)
SELECT t.* EXCLUDE (writes), bool_or(t.writes) AS writes
FROM touched t SEMI JOIN used USING (kind, id)
GROUP BY ALL
"""

# Uses and meetings are counted where attribution counts them: in company, and red's only where
# the test is not the one that red is there to fail.
_SHARED = """
WITH own AS (
    SELECT t.*, e.failed
    FROM unit_touches t
    JOIN unit_executions e USING (run_no, source_id, byte_offset, item)
    WHERE t.phase <> 'gate' AND (t.role <> 'red' OR $red_counts)
), shared AS (
    SELECT kind, id, count(DISTINCT run_no) AS runs FROM unit_touches
    GROUP BY ALL HAVING min(run_no) <> max(run_no) AND bool_or(writes)
), used AS (
    SELECT kind, id, count(*) FILTER (phase IN ('soak', 'concurrent')) AS uses,
        count(*) FILTER (writes AND phase IN ('soak', 'concurrent')) AS writes,
        count(*) FILTER (phase NOT IN ('soak', 'concurrent')) AS alone
    FROM own GROUP BY ALL
), met AS (
    SELECT a.kind, a.id, a.run_no, a.source_id, a.byte_offset, a.item, a.role,
        b.patch_id AS peer_patch, b.test_key
    FROM own a
    JOIN unit_touches b ON a.kind = b.kind AND a.id = b.id AND a.run_no <> b.run_no
        AND (a.writes OR b.writes) AND a.started <= b.finished AND b.started <= a.finished
    WHERE a.failed AND a.phase IN ('soak', 'concurrent') AND b.phase IN ('soak', 'concurrent')
), covered AS (
    SELECT kind, id, count(DISTINCT (run_no, source_id, byte_offset, item)) AS failures
    FROM met GROUP BY ALL
), sides AS (
    SELECT m.kind, m.id, m.peer_patch, t.test_id AS peer_test,
        count(*) FILTER (m.role = 'subject') AS of_subject, count(*) AS times
    FROM met m JOIN tests t USING (test_key) GROUP BY ALL
), peers AS (
    SELECT kind, id, min_by(
        {'patch': peer_patch, 'test': peer_test}, (-of_subject, -times, peer_patch, peer_test)
    ) AS peer
    FROM (
        SELECT kind, id, peer_patch, peer_test, of_subject,
            times * (sum(of_subject) OVER (PARTITION BY kind, id) = 0)::INTEGER AS times
        FROM sides
    )
    GROUP BY ALL
)
SELECT u.kind, u.id, u.uses, u.writes, u.alone, s.runs, coalesce(c.failures, 0) AS covered,
    p.peer.patch, p.peer.test, count(*) OVER () AS listed
FROM used u
JOIN shared s USING (kind, id)
LEFT JOIN covered c USING (kind, id)
LEFT JOIN peers p USING (kind, id)
ORDER BY covered DESC, u.uses DESC, u.kind, u.id
LIMIT $most
"""

_COMPANY_FAILURES = """
SELECT count(*) FROM unit_executions
WHERE counted AND failed AND phase IN ('soak', 'concurrent') AND (role <> 'red' OR $red_counts)
"""

_BARS = """
WITH mine AS (
    SELECT run_no, source_id, line, role, phase, patch_id, run_id, outcome, started, finished,
        resources
    FROM unit_executions WHERE failure = $number
), held AS (
    SELECT u.kind AS kind, u.id AS id, bool_or(u.op = 'w') AS writes
    FROM mine, unnest(mine.resources) AS t(u)
    GROUP BY ALL
), beside AS (
    SELECT b.run_no, b.source_id, b.byte_offset, b.item, b.line, b.role, b.phase, b.patch_id,
        b.test_key, b.run_id, b.outcome::VARCHAR AS outcome, b.started, b.finished,
        list({'kind': b.kind, 'id': b.id} ORDER BY b.kind, b.id) AS resources,
        bool_or(b.writes) AS writes
    FROM mine m, unit_touches b
    JOIN held h ON h.kind = b.kind AND h.id = b.id AND (h.writes OR b.writes)
    WHERE b.run_no <> m.run_no AND b.started <= m.finished AND m.started <= b.finished
    GROUP BY ALL
)
SELECT b.role, b.phase, b.patch_id, t.test_id, b.run_id, b.outcome, b.started, b.finished,
    b.resources, b.writes,
    CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END || ':' || b.line AS place,
    count(*) OVER () AS listed
FROM beside b
JOIN tests t USING (test_key)
JOIN sources s USING (source_id)
ORDER BY b.started, b.role, b.run_id, b.source_id, b.byte_offset, b.item
LIMIT $most
"""


@dataclass(frozen=True)
class Held:
    """A resource by kind (port, file, db, ...) and id."""

    kind: str
    id: str


@dataclass(frozen=True)
class Shared:
    """A resource that this test and another run touched, and one of them wrote.

    uses, writes: executions of the test on the patch, green and red in company; alone: uses in
    the other arms. runs: all runs of the experiment that touched it. covered: of `failures` in
    company those during which a peer held it. peer: most often on the other side of the
    subject's failures, or of green's where it has none; None where nothing is covered. Counts
    are of executions, also where attribution counts runs.
    """

    held: Held
    uses: int
    writes: int
    alone: int
    runs: int
    covered: int
    failures: int
    peer_patch: str | None
    peer_test: str | None


@dataclass(frozen=True)
class SharedResources:
    """shared: most failures covered first, at most RESOURCES of `total`. recorded: whether the
    log says of any execution of the test what it touched."""

    shared: tuple[Shared, ...]
    total: int
    recorded: bool


@dataclass(frozen=True)
class Bar:
    """An execution of another run that held a resource while the failing one did.

    Times are UTC, None for one that Python cannot hold. resources: what both held. at:
    `file:line` of its record.
    """

    role: Role
    phase: Phase
    patch_id: str
    test_id: str
    run_id: str
    outcome: Outcome
    started: datetime | None
    finished: datetime | None
    resources: tuple[Held, ...]
    writes: bool
    at: str


@contextmanager
def touches_of(connection: duckdb.DuckDBPyConnection, experiment: str) -> Iterator[None]:
    """The temporary table `unit_touches`. Reads `unit_executions`."""
    query.write(connection, _TOUCHES, {"experiment": experiment})
    yield
    query.write(connection, "DROP TABLE unit_touches")


def records_resources(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any execution of the unit has resources. Reads `unit_executions`."""
    return query.rows(connection, _RECORDED) != [(0,)]


def shared_resources(connection: duckdb.DuckDBPyConnection, *, red_counts: bool) -> SharedResources:
    """What the unit shared with other runs. Reads `unit_executions` and `unit_touches`."""
    pooled = {"red_counts": red_counts}
    ((failures,),) = query.rows(connection, _COMPANY_FAILURES, pooled)
    found = query.rows(connection, _SHARED, {**pooled, "most": RESOURCES})
    return SharedResources(
        shared=tuple(
            Shared(Held(kind, name), uses, writes, alone, runs, covered, failures, patch, test)
            for kind, name, uses, writes, alone, runs, covered, patch, test, _ in found
        ),
        total=found[0][-1] if found else 0,
        recorded=True,
    )


def peers_of(connection: duckdb.DuckDBPyConnection, number: int) -> tuple[tuple[Bar, ...], int]:
    """The executions that held something with the failing execution of that number, by time: at
    most BARS, and how many there are. Reads `unit_executions` and `unit_touches`."""
    found = query.rows(connection, _BARS, {"number": number, "most": BARS - 1})
    bars = tuple(
        Bar(
            role=Role(role),
            phase=Phase(phase),
            patch_id=patch,
            test_id=test,
            run_id=run,
            outcome=Outcome(outcome),
            started=in_utc(started),
            finished=in_utc(finished),
            resources=tuple(Held(one["kind"], one["id"]) for one in resources),
            writes=writes,
            at=at,
        )
        for role, phase, patch, test, run, outcome, started, finished, resources, writes, at, _ in (
            found
        )
    )
    return bars, (found[0][-1] if found else 0)
