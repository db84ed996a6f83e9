-- Puts runs together from their lines. Reads the recorded tables and three temporary ones:
-- `touched` (the experiments to put together anew, each with a number), `settings` (a row an experiment: its canaries)
-- and `pinned` (experiment, test_norm).
-- min() and max() pick a value where lines disagree, so that line order decides nothing.

CREATE OR REPLACE TEMP TABLE touched_runs AS
SELECT r.run_no, r.experiment, r.run_id, t.number
FROM run_numbers r JOIN touched t USING (experiment);

-- Every question about tests of runs starts from here: millions of executions are read once.
CREATE OR REPLACE TEMP TABLE tests_of_runs AS
SELECT e.run_no, t.norm_key, count(*)::INTEGER AS records, 0 AS attempts,
    count(e.failed)::INTEGER AS n, (count(*) FILTER (e.failed))::INTEGER AS k
FROM placed_executions e
JOIN tests t USING (test_key)
SEMI JOIN touched_runs USING (run_no)
GROUP BY ALL;

-- Of runs that no source has any more nothing must stay: their place may be another's.
DELETE FROM uncounted_lines
WHERE run_no IN (SELECT run_no FROM touched_runs)
    OR run_no NOT IN (
        SELECT run_no FROM run_numbers SEMI JOIN source_runs USING (experiment, run_id)
    );

-- What a run has more than one record of, and only that, may be there twice.
CREATE OR REPLACE TEMP TABLE several AS
SELECT e.*, t.norm_key
FROM placed_executions e
JOIN tests t USING (test_key)
SEMI JOIN (SELECT run_no, norm_key FROM tests_of_runs WHERE records > 1) m
    ON m.run_no = e.run_no AND m.norm_key = t.norm_key;

-- Records that say the same of the same run are counted once. Repeated lines do.
INSERT INTO uncounted_lines
SELECT run_no, source_id, byte_offset, item, 'repeated-line'
FROM several
QUALIFY row_number() OVER (
    PARTITION BY run_no, test_key, item, line_hash, variant, attempt, iteration, outcome, failed,
        started, finished, duration_s, log, exc, errno, message, "where", before, resources, extra
    ORDER BY source_id, byte_offset
) > 1;

-- Attempts at one iteration of one test are one execution; one that failed is not undone by
-- another that passed.
INSERT INTO uncounted_lines
WITH keyed AS (
    SELECT s.*
    FROM several s
    ANTI JOIN uncounted_lines u
        ON u.source_id = s.source_id AND u.byte_offset = s.byte_offset AND u.item = s.item
    WHERE s.iteration IS NOT NULL OR s.attempt IS NOT NULL
), numbered AS (
    SELECT *, coalesce(iteration, row_number() OVER (
        PARTITION BY run_no, norm_key, variant, attempt
        ORDER BY started, finished, duration_s, outcome, exc, message, extra, line_hash, item,
            source_id, byte_offset
    ) - 1) AS execution
    FROM keyed
)
SELECT run_no, source_id, byte_offset, item, 'attempt'
FROM numbered
QUALIFY row_number() OVER (
    PARTITION BY run_no, norm_key, variant, execution
    ORDER BY failed DESC NULLS LAST, started, finished, duration_s, outcome, exc, message, extra,
        line_hash, item, source_id, byte_offset
) > 1;

DELETE FROM tests_of_runs WHERE records > 1;

INSERT INTO tests_of_runs
SELECT s.run_no, s.norm_key, count(*), count(*) FILTER (u.rule = 'attempt'), count(s.failed),
    count(*) FILTER (s.failed)
FROM several s
LEFT JOIN uncounted_lines u
    ON u.source_id = s.source_id AND u.byte_offset = s.byte_offset AND u.item = s.item
WHERE u.rule IS DISTINCT FROM 'repeated-line'
GROUP BY s.run_no, s.norm_key;

CREATE OR REPLACE TEMP TABLE pinned_tests AS
SELECT DISTINCT x.number, t.norm_key
FROM pinned p JOIN tests t USING (test_norm) JOIN touched x USING (experiment);

-- Counted before anything is joined: DuckDB would join millions of rows first.
CREATE OR REPLACE TEMP TABLE counted_runs AS
SELECT run_no, sum(records)::BIGINT AS test_records, sum(attempts)::BIGINT AS test_attempts,
    count(*) FILTER (n > 0) AS tests_executed, count(*) FILTER (k > 0) AS tests_failed,
    count(*) FILTER (k > 0 AND k = n) AS tests_never_passed
FROM tests_of_runs GROUP BY run_no;

CREATE OR REPLACE TEMP TABLE pinned_runs AS
SELECT t.run_no, count(*) AS pinned_recorded
FROM tests_of_runs t
JOIN touched_runs r USING (run_no)
JOIN pinned_tests p ON p.number = r.number AND p.norm_key = t.norm_key
GROUP BY t.run_no;

DELETE FROM run_facts WHERE experiment IN (SELECT experiment FROM touched);

-- Materialized: DuckDB would pair all lines of a source with all of its runs.
INSERT INTO run_facts
WITH lines AS MATERIALIZED (
    SELECT l.*, coalesce(l.run_id, left(s.identity, 12) || '@' || l.byte_offset) AS run_key
    FROM run_lines l JOIN sources s USING (source_id)
), keyed AS (
    SELECT
        l.* EXCLUDE (run_id, experiment), m.experiment AS experiment_key,
        l.experiment AS logged_experiment, v.test_norm AS about
    FROM lines l
    JOIN source_runs m ON m.source_id = l.source_id AND m.run_id = l.run_key
    SEMI JOIN touched x ON x.experiment = m.experiment
    LEFT JOIN (
        -- A verdict line about a single test says nothing twice beside one about another test.
        SELECT e.source_id, e.byte_offset, min(t.test_norm) AS test_norm
        FROM executions e
        JOIN tests t USING (test_key)
        SEMI JOIN run_lines r ON r.kind = 'verdict' AND r.source_id = e.source_id
            AND r.byte_offset = e.byte_offset
        GROUP BY ALL
        HAVING count(*) = 1
    ) v ON v.source_id = l.source_id AND v.byte_offset = l.byte_offset AND l.kind = 'verdict'
), runs_of AS (
    SELECT
        experiment_key AS experiment, run_key AS run_id,
        min({
            'rank': CASE kind WHEN 'run_end' THEN 0 WHEN 'verdict' THEN 1 ELSE 2 END,
            'source_id': source_id, 'line': line
        }) AS place,
        min(patch_id) AS patch_id,
        max_by(patch_digest, length(patch_digest)) AS patch_digest,
        list(DISTINCT patch_digest) FILTER (patch_digest IS NOT NULL) AS digests,
        min(base_sha) AS base_sha, min(role) AS role, min(variant) AS variant,
        min(phase) AS phase, min(round) AS round, min(attempt) AS attempt, min(ns) AS ns,
        min(isolation) AS isolation, min(concurrency) AS concurrency, min(cpu_load) AS cpu_load,
        min(switch_interval) AS switch_interval, min(cpus) AS cpus, min(runner) AS runner,
        min(image_digest) AS image_digest, min(worker) AS worker, min(rng_seed) AS rng_seed,
        min("order") AS "order", min(order_seed) AS order_seed, min(env) AS env,
        min(command) AS command, min(workspace_generation) AS workspace_generation,
        bool_or(merged) AS merged, min(source) AS source, min(model_id) AS model_id,
        min(prompt_sha256) AS prompt_sha256, min(runner_digest) AS runner_digest,
        min(seed) AS seed,
        -- Several lines of a run can offer a block each.
        CASE WHEN min(proof) <> max(proof) THEN json_merge_patch(min(proof), max(proof))::VARCHAR
            ELSE min(proof) END AS proof,
        bool_or(kind = 'run_start') AS has_start, bool_or(kind = 'run_end') AS has_end,
        bool_or(kind = 'verdict') AS has_verdict, bool_or(complete = false) AS cut,
        -- The end marker speaks for the run; a verdict line only where there is none.
        list(DISTINCT verdict) FILTER (kind IN ('run_end', 'verdict') AND verdict <> 'none') AS verdicts,
        bool_or(kind <> 'test' AND json_exists(extra, '$.verdict')) AS unreadable,
        max(exit_code) AS exit_code, min(collected) AS collected, min(passed) AS passed,
        max(failed) AS failed, max(errors) AS errors, max(skipped) AS skipped,
        max(inventory_missing) AS inventory_missing, max(steps) AS steps,
        max(coalesce(try_cast(extra ->> '$.xfailed' AS BIGINT), 0)
            + coalesce(try_cast(extra ->> '$.xpassed' AS BIGINT), 0)
            + coalesce(try_cast(extra ->> '$.deselected' AS BIGINT), 0)) AS uncategorised,
        bool_or(timed_out) AS timed_out, bool_or(crashed) AS crashed,
        min(started) FILTER (kind <> 'test') AS started,
        max(finished) FILTER (kind <> 'test') AS finished,
        greatest(
            count(DISTINCT line_hash) FILTER (kind = 'run_start'),
            count(DISTINCT line_hash) FILTER (kind = 'run_end'),
            count(DISTINCT line_hash) FILTER (kind = 'verdict')
                - count(DISTINCT coalesce(about, '')) FILTER (kind = 'verdict') + 1,
            count(DISTINCT patch_id) FILTER (kind = 'verdict')
        ) AS copies,
        list_filter([
            CASE WHEN min(logged_experiment) <> max(logged_experiment) THEN 'experiment' END,
            CASE WHEN min(patch_id) <> max(patch_id) THEN 'patch_id' END,
            CASE WHEN min(base_sha) <> max(base_sha) THEN 'base_sha' END,
            CASE WHEN min(role) <> max(role) THEN 'role' END,
            CASE WHEN min(phase) <> max(phase) THEN 'phase' END,
            CASE WHEN min(round) <> max(round) THEN 'round' END,
            CASE WHEN min(ns) <> max(ns) THEN 'ns' END,
            CASE WHEN min(isolation) <> max(isolation) THEN 'isolation' END,
            CASE WHEN min(concurrency) <> max(concurrency) THEN 'concurrency' END,
            CASE WHEN min(cpu_load) <> max(cpu_load) THEN 'cpu_load' END,
            CASE WHEN min(switch_interval) <> max(switch_interval) THEN 'switch_interval' END,
            CASE WHEN min(cpus) <> max(cpus) THEN 'cpus' END,
            CASE WHEN min(runner) <> max(runner) THEN 'runner' END,
            CASE WHEN min(image_digest) <> max(image_digest) THEN 'image_digest' END,
            CASE WHEN min(rng_seed) <> max(rng_seed) THEN 'rng_seed' END,
            CASE WHEN min("order") <> max("order") THEN 'order' END,
            CASE WHEN min(order_seed) <> max(order_seed) THEN 'order_seed' END,
            CASE WHEN min(env) <> max(env) THEN 'env' END,
            CASE WHEN min(command) <> max(command) THEN 'command' END,
            CASE WHEN min(workspace_generation) <> max(workspace_generation) THEN 'workspace_generation' END,
            CASE WHEN min(exit_code) <> max(exit_code) THEN 'exit_code' END,
            CASE WHEN min(model_id) <> max(model_id) THEN 'model_id' END,
            CASE WHEN min(prompt_sha256) <> max(prompt_sha256) THEN 'prompt_sha256' END,
            CASE WHEN min(runner_digest) <> max(runner_digest) THEN 'runner_digest' END,
            CASE WHEN min(seed) <> max(seed) THEN 'seed' END,
            CASE WHEN count(DISTINCT proof) > 2 OR len(list_filter(
                ['log', 'response', 'cache', 'manifest', 'lease', 'receipt', 'grant', 'route',
                    'oracle', 'workspace'],
                lambda block: json_extract(min(proof), '$.' || block)
                    <> json_extract(max(proof), '$.' || block)
            )) > 0 THEN 'proof' END
        ], lambda name: name IS NOT NULL) AS disagreeing
    FROM keyed
    GROUP BY ALL
), pins AS (
    SELECT experiment, count(*) AS pinned FROM pinned GROUP BY ALL
)
SELECT
    n.run_no, r.experiment, r.run_id, r.place.source_id, r.place.line,
    coalesce(r.patch_id, r.patch_digest, '(unknown)') AS patch_id, r.patch_digest, r.base_sha,
    coalesce(r.role, CASE r.patch_id WHEN c.red_patch THEN 'red' WHEN c.green_patch THEN 'green' END,
        'subject') AS role,
    r.variant, coalesce(r.phase, 'gate') AS phase, r.round, r.attempt, r.ns, r.isolation,
    r.concurrency, r.cpu_load, r.switch_interval, r.cpus, r.runner, r.image_digest, r.worker,
    r.rng_seed, r."order", r.order_seed, r.env, r.command, r.workspace_generation, r.merged,
    r.source, r.model_id, r.prompt_sha256, r.runner_digest, r.seed, r.proof,
    NOT coalesce(r.source = 'opinion' OR (json_type(r.proof, '$.cache') = 'OBJECT'
        AND lower(coalesce(r.proof ->> '$.cache.hit', 'true')) NOT IN ('false', '0')), false),
    r.has_start, r.has_end,
    NOT coalesce(r.cut, false) AND (r.has_end OR NOT r.has_start) AS complete,
    CASE
        WHEN list_contains(r.verdicts, 'fail') THEN 'fail'
        WHEN list_contains(r.verdicts, 'pass') AND NOT coalesce(r.unreadable, false) THEN 'pass'
        ELSE 'none'
    END AS logged_verdict,
    r.exit_code, r.collected, r.passed, r.failed, r.errors, r.skipped, r.inventory_missing,
    r.steps, r.uncategorised, coalesce(r.timed_out, false), coalesce(r.crashed, false),
    r.started, r.finished,
    r.disagreeing
        || CASE WHEN len(r.verdicts) > 1 THEN ['verdict'] ELSE [] END
        || CASE WHEN len(list_filter(r.digests, lambda d: NOT starts_with(r.patch_digest, d))) > 0
            THEN ['patch_digest'] ELSE [] END,
    r.copies, coalesce(t.test_records, 0), coalesce(t.test_attempts, 0),
    coalesce(t.tests_executed, 0),
    coalesce(t.tests_failed, 0), coalesce(t.tests_never_passed, 0),
    -- Only a whole suite can miss a pinned test: other arms repeat a single one by design.
    CASE
        WHEN (t.test_records > 0 OR r.collected = 0) AND coalesce(r.phase, 'gate') IN ('soak', 'gate')
            THEN coalesce(p.pinned, 0) - coalesce(q.pinned_recorded, 0)
        ELSE 0
    END AS pinned_missing,
    NULL AS pinned_example
FROM runs_of r
JOIN touched_runs n USING (experiment, run_id)
LEFT JOIN counted_runs t USING (run_no)
LEFT JOIN pinned_runs q USING (run_no)
LEFT JOIN settings c USING (experiment)
LEFT JOIN pins p USING (experiment);

UPDATE run_facts AS r
SET pinned_example = e.example
FROM (
    SELECT r.experiment, r.run_id, min(p.test_norm) AS example
    FROM run_facts r
    JOIN touched_runs n USING (experiment, run_id)
    JOIN pinned p USING (experiment)
    LEFT JOIN tests k USING (test_norm)
    ANTI JOIN tests_of_runs t ON t.run_no = n.run_no AND t.norm_key = k.norm_key
    WHERE r.pinned_missing > 0
    GROUP BY ALL
) e
WHERE e.experiment = r.experiment AND e.run_id = r.run_id;

DROP TABLE several;
DROP TABLE tests_of_runs;
