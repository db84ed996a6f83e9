-- Counts the executions of the experiments asked for. Everything that attribution reads of
-- `results` and `recorded_tests` is read here. Reads two temporary tables: `asked` (experiment,
-- inventory, and the pinned test of each canary) and `inventories` (inventory, test_norm, test_id).

-- One row a run. arm: a number for what its executions are counted under; canaries are pooled
-- over their patches. crowded: an alone run that says of itself that it was not isolated, or
-- not alone.
CREATE OR REPLACE TEMP TABLE asked_runs AS
SELECT r.experiment, r.run_id, r.patch_id, r.role, r.phase, r.round, r.cpus, r.verdict,
    r.logged_verdict, r.usable, r.complete, r.in_outage, r.started, r.finished, r.test_records,
    r.tests_failed, r.pinned_missing, r.copies, r.disagreeing, r.patch_digest, r.attempt,
    r.workspace_generation,
    CASE WHEN r.role = 'subject' THEN r.patch_id END AS subject,
    coalesce(r.usable AND r.role <> 'red' AND (r.isolation = 'off' OR r.concurrency > 1)
        AND r.phase IN ('serial', 'repeat', 'tightened', 'loaded'), false) AS crowded,
    dense_rank() OVER (ORDER BY r.experiment, r.role, subject, r.phase, r.cpus)::INTEGER AS arm
FROM runs r
SEMI JOIN asked a ON a.experiment = r.experiment;

-- Executions of the pinned tests by the canaries. A red that passed deviates in whichever
-- attempt it did.
CREATE OR REPLACE TEMP TABLE pinned_executions AS
SELECT r.experiment, r.run_id, r.role, r.failed, r.message, r.exc, r.started
FROM results r
JOIN asked a ON a.experiment = r.experiment
    AND r.test_norm = CASE r.role WHEN 'red' THEN a.red_pin WHEN 'green' THEN a.green_pin END
WHERE r.failed IS NOT NULL
UNION ALL
SELECT t.experiment, t.run_id, 'red', t.failed, t.message, t.exc, t.started
FROM uncounted_lines u
JOIN recorded_tests t USING (source_id, byte_offset, item)
JOIN asked a ON a.experiment = t.experiment AND t.test_norm = a.red_pin
WHERE u.rule = 'attempt' AND t.failed IS NOT NULL;

-- Pinned tests without any record in a patch's soak. A soak of bare verdicts has no records at
-- all and is not judged; a run that misses none speaks for its patch.
CREATE OR REPLACE TEMP TABLE missing_pinned AS
WITH soaks AS (
    SELECT experiment, patch_id
    FROM asked_runs
    WHERE phase = 'soak' AND role = 'subject' AND test_records > 0
    GROUP BY ALL HAVING min(pinned_missing) > 0
), recorded AS (
    SELECT DISTINCT r.experiment, r.patch_id, t.test_norm
    FROM asked_runs r
    SEMI JOIN soaks s ON s.experiment = r.experiment AND s.patch_id = r.patch_id
    JOIN recorded_tests t ON t.experiment = r.experiment AND t.run_id = r.run_id
    WHERE r.phase = 'soak' AND r.role = 'subject'
)
SELECT s.experiment, s.patch_id, list(i.test_id ORDER BY i.test_norm) AS tests
FROM soaks s
JOIN asked a USING (experiment)
JOIN inventories i USING (inventory)
ANTI JOIN recorded r ON r.experiment = s.experiment AND r.patch_id = s.patch_id
    AND r.test_norm = i.test_norm
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE tally AS
SELECT a.arm, r.test_norm, r.variant,
    count(*) FILTER (r.failed AND a.usable) AS k, count(r.failed) FILTER (a.usable) AS n,
    -- A run that was cut gives no verdict, but a failure in it is on record.
    count(*) FILTER (r.failed AND NOT a.complete) AS cut,
    count(r.failed) AS executed, bool_or(a.crowded) AS crowded, min(r.test_id) AS test_id
FROM results r
JOIN asked_runs a ON a.experiment = r.experiment AND a.run_id = r.run_id
WHERE NOT a.in_outage
GROUP BY ALL;

-- Which execution touched which resource that several runs touched and one wrote. Interpreter
-- and test-runner caches and devices are shared by design and say nothing.
CREATE OR REPLACE TEMP TABLE touches AS
WITH touched AS NOT MATERIALIZED (
    SELECT r.experiment, r.source_id, r.byte_offset, r.item, r.run_id, r.patch_id, r.role,
        r.test_norm, r.variant, r.test_id, r.phase, r.started, r.finished, u.kind AS kind,
        u.id AS id, u.op = 'w' AS writes
    FROM (
        FROM results SEMI JOIN asked USING (experiment)
        WHERE len(resources) > 0 AND usable AND NOT in_outage
    ) r, unnest(r.resources) AS t(u)
    WHERE u.id NOT LIKE '/dev/%' AND u.id NOT LIKE '%__pycache__%'
        AND u.id NOT LIKE '%.pytest_cache%'
), shared AS (
    SELECT experiment, kind, id FROM touched
    GROUP BY ALL HAVING min(run_id) <> max(run_id) AND bool_or(writes)
)
SELECT t.* EXCLUDE (writes), bool_or(t.writes) AS writes
FROM touched t
SEMI JOIN shared s ON s.experiment = t.experiment AND s.kind = t.kind AND s.id = t.id
GROUP BY ALL;

-- A written resource that two alone runs shared makes every test that touched it there unfresh,
-- whichever test wrote. A port is free again when a run has ended: it counts where runs overlap.
CREATE OR REPLACE TEMP TABLE unfresh AS
WITH alone AS (
    SELECT * FROM touches
    WHERE phase IN ('serial', 'repeat', 'tightened', 'loaded') AND role <> 'red'
), shared AS (
    SELECT experiment, kind, id, count(DISTINCT run_id) AS runs
    FROM alone WHERE kind <> 'port' GROUP BY ALL
    HAVING count(DISTINCT run_id) > 1 AND bool_or(writes)
    UNION ALL
    SELECT a.experiment, a.kind, a.id, count(DISTINCT a.run_id) AS runs
    FROM alone a
    JOIN alone b ON a.experiment = b.experiment AND a.kind = b.kind AND a.id = b.id
        AND a.run_id <> b.run_id AND (a.writes OR b.writes)
        AND a.started < b.finished AND b.started < a.finished
    WHERE a.kind = 'port' GROUP BY ALL
)
SELECT a.experiment, a.test_norm, a.variant, min_by(s, (-s.runs, s.kind, s.id)) AS resource
FROM alone a
JOIN shared s ON s.experiment = a.experiment AND s.kind = a.kind AND s.id = a.id
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE arms AS
SELECT DISTINCT arm, experiment, role, subject, phase, cpus FROM asked_runs;

-- What is on record of a test of a subject patch, executed or not.
CREATE OR REPLACE TEMP TABLE known_tests AS
SELECT a.experiment, a.subject AS patch_id, c.test_norm, c.variant, min(c.test_id) AS test_id,
    sum(c.executed) > 0 AS executed, sum(c.k + c.cut) AS failures,
    bit_xor(hash(c.arm, c.k, c.n)) FILTER (a.phase <> 'gate' AND c.n > 0) AS counts
FROM tally c JOIN arms a USING (arm)
WHERE a.role = 'subject'
GROUP BY ALL;

-- The units: executed tests, pinned tests without a record, and the run as a whole where a run
-- has no tests or fails although none of its tests does. Units of a patch without a failure
-- that have the same counts get the same judgement: `profile` tells them apart.
CREATE OR REPLACE TEMP TABLE judged_units AS
WITH patches AS (
    SELECT experiment, patch_id, coalesce(bool_or(
        usable AND verdict <> 'none'
        AND (test_records = 0 OR (verdict = 'fail' AND tests_failed = 0))
    ), false) AS bare
    FROM asked_runs WHERE role = 'subject' GROUP BY ALL
), found AS (
    SELECT k.experiment, k.patch_id, k.test_norm, k.variant, k.test_id, k.failures, k.counts
    FROM known_tests k JOIN patches p USING (experiment, patch_id)
    WHERE k.executed AND (k.test_norm <> '(run)' OR p.bare)
    UNION ALL
    SELECT p.experiment, p.patch_id, i.test_norm, NULL, i.test_id, 0, NULL
    FROM patches p
    JOIN asked a USING (experiment)
    JOIN inventories i USING (inventory)
    ANTI JOIN known_tests k ON k.experiment = p.experiment AND k.patch_id = p.patch_id
        AND k.test_norm = i.test_norm
    WHERE NOT p.bare
), whole AS (
    FROM found
    UNION ALL
    SELECT p.experiment, p.patch_id, '(run)', NULL, '(run)', 0, NULL
    FROM patches p
    ANTI JOIN found f ON f.experiment = p.experiment AND f.patch_id = p.patch_id
), beside AS (
    SELECT a.experiment, c.test_norm, c.variant, bool_or(c.crowded) AS crowded,
        coalesce(sum(c.k + c.cut) FILTER (a.role = 'green'), 0) AS failures,
        bit_xor(hash(c.arm, c.k, c.n)) FILTER (
            a.role <> 'subject' AND a.phase <> 'gate' AND c.n > 0
        ) AS counts
    FROM tally c JOIN arms a USING (arm)
    GROUP BY ALL
), described AS (
    SELECT w.experiment, w.patch_id, w.test_norm, w.variant, w.test_id,
        w.failures + coalesce(b.failures, 0) > 0 AS fails,
        coalesce(b.crowded, false) AS crowded,
        w.counts AS own, b.counts AS beside, u.resource.kind AS kind, u.resource.id AS id,
        u.resource.runs AS runs
    FROM whole w
    LEFT JOIN beside b ON b.experiment = w.experiment AND b.test_norm = w.test_norm
        AND b.variant IS NOT DISTINCT FROM w.variant
    LEFT JOIN unfresh u ON u.experiment = w.experiment AND u.test_norm = w.test_norm
        AND u.variant IS NOT DISTINCT FROM w.variant
)
SELECT experiment, patch_id, test_norm, variant, test_id, fails, crowded, kind, id, runs,
    CASE
        WHEN fails THEN hash('fails', test_norm, variant)
        ELSE hash('quiet', own, beside, crowded, kind, id)
    END AS profile
FROM described;

-- One judgement a profile, numbered within the experiment, and the unit that stands for it.
CREATE OR REPLACE TEMP TABLE profiles AS
SELECT experiment, patch_id, profile, unit.test_norm AS test_norm, unit.variant AS variant,
    row_number() OVER (PARTITION BY experiment ORDER BY patch_id, unit)::INTEGER AS judgement
FROM (
    SELECT experiment, patch_id, profile,
        min({'test_norm': test_norm, 'variant': variant}) AS unit
    FROM judged_units GROUP BY ALL
);

-- What each judgement rests on: a row a unit and arm, or one without counts.
CREATE OR REPLACE TEMP TABLE judged_cells AS
WITH units AS (
    SELECT p.judgement, u.*
    FROM profiles p
    JOIN judged_units u ON u.experiment = p.experiment AND u.patch_id = p.patch_id
        AND u.test_norm = p.test_norm AND u.variant IS NOT DISTINCT FROM p.variant
), counted AS (
    SELECT a.experiment, a.role, a.subject, a.phase, a.cpus, c.test_norm, c.variant, c.k, c.n,
        c.cut
    FROM tally c JOIN arms a USING (arm)
)
SELECT u.experiment, u.judgement, u.patch_id, u.test_norm, u.variant, u.test_id, u.crowded,
    u.kind, u.id, u.runs, c.role, c.phase, c.cpus, c.k, c.n, c.cut
FROM units u
LEFT JOIN counted c ON c.experiment = u.experiment AND c.test_norm = u.test_norm
    AND c.variant IS NOT DISTINCT FROM u.variant
    AND coalesce(c.subject, u.patch_id) = u.patch_id;

CREATE OR REPLACE TEMP TABLE failing_tests AS
SELECT DISTINCT experiment, test_norm, variant
FROM judged_cells WHERE k > 0 AND phase <> 'gate' AND role <> 'red';

CREATE OR REPLACE TEMP TABLE failing_executions AS
SELECT r.experiment, r.variant, r.source_id, r.byte_offset, r.item, r.patch_id, r.role,
    r.test_norm, r.phase, r.cpus, r.run_id, r.failed, r.started, r.exc, r.errno, r.message,
    r.env, r.image_digest, r.runner, r.worker, r.before, r.resources
FROM results r
SEMI JOIN failing_tests f ON f.experiment = r.experiment AND f.test_norm = r.test_norm
    AND f.variant IS NOT DISTINCT FROM r.variant
WHERE r.usable AND NOT r.in_outage AND r.failed IS NOT NULL AND r.phase <> 'gate';

-- Two tests of different runs are exposed to each other when both touched the same resource, at
-- least one wrote, and their times overlap.
CREATE OR REPLACE TEMP TABLE meetings AS
SELECT a.experiment, a.source_id, a.byte_offset, a.item, a.kind, a.id,
    b.patch_id AS peer_patch, b.test_id AS peer_test, count(*) AS times
FROM touches a
SEMI JOIN failing_tests f ON f.experiment = a.experiment AND f.test_norm = a.test_norm
JOIN touches b ON a.experiment = b.experiment AND a.kind = b.kind AND a.id = b.id
    AND a.run_id <> b.run_id AND (a.writes OR b.writes)
    AND a.started <= b.finished AND b.started <= a.finished
WHERE a.phase IN ('soak', 'concurrent') AND b.phase IN ('soak', 'concurrent')
GROUP BY ALL;
