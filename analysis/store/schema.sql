-- The index. Logs are the truth; everything here can be rebuilt from them.
-- Recorded tables hold what the logs say, a row a line or execution.
-- Derived tables hold what follows from it and are replaced when it changes.

CREATE TABLE index_version (version INTEGER NOT NULL);

CREATE SEQUENCE source_ids;

CREATE TABLE sources (
    source_id INTEGER NOT NULL,
    path VARCHAR NOT NULL,           -- absolute; '-' and a digest for standard input
    directory VARCHAR NOT NULL,      -- the experiment's name where no line gives one; 'stdin'
                                     -- for what can be read once only
    given_experiment VARCHAR,        -- --experiment at ingest
    identity VARCHAR NOT NULL,       -- SHA-256 of the first 64 KiB: names runs without run_id
    content_sha256 VARCHAR NOT NULL, -- of all bytes read, decompressed, block by block (see
                                     -- content.Digest); empty: holds no log now
    chain VARCHAR NOT NULL,          -- what it goes on from when the content grows
    content_size BIGINT NOT NULL,    -- in bytes, decompressed
    disk_size BIGINT NOT NULL,       -- in bytes, as stored
    mtime_ns BIGINT NOT NULL,        -- this, ctime_ns and disk_size are -1 where a file changed
    ctime_ns BIGINT NOT NULL,        -- so shortly before that it may change again unseen
    done BIGINT NOT NULL,            -- offset after the last newline; later rows are provisional
    lines BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    blank BIGINT NOT NULL,
    pending BIGINT NOT NULL,
    tail VARCHAR NOT NULL,           -- what became of the bytes after the last newline
    finished BOOLEAN NOT NULL,       -- read as final
    damage VARCHAR NOT NULL,         -- why decompression stopped early; empty if it did not
    vanished BOOLEAN NOT NULL,       -- not there any more; its rows are kept
    same_as INTEGER,                 -- the source whose rows stand for this one's content
    given_context VARCHAR NOT NULL   -- said at ingest of the run of a result file: JSON
);

CREATE TABLE result_suites ( -- prints of the suites in result files: a copy is told by them
    source_id INTEGER NOT NULL, directory VARCHAR NOT NULL, print VARCHAR NOT NULL,
    counted BOOLEAN NOT NULL -- false: the file holds nothing that others do not
);

CREATE TABLE experiment_lines (
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, byte_offset BIGINT NOT NULL,
    line_hash BIGINT NOT NULL,
    experiment VARCHAR NOT NULL, canaries VARCHAR, inventory VARCHAR[], policy VARCHAR,
    extra VARCHAR
);

CREATE TABLE run_lines (
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, byte_offset BIGINT NOT NULL,
    line_hash BIGINT NOT NULL, kind VARCHAR NOT NULL, run_id VARCHAR,
    experiment VARCHAR, patch_id VARCHAR, patch_digest VARCHAR, base_sha VARCHAR,
    role VARCHAR, variant VARCHAR, phase VARCHAR, ns VARCHAR, ns_root VARCHAR,
    isolation VARCHAR, runner VARCHAR, image_digest VARCHAR, worker VARCHAR,
    "order" VARCHAR, command VARCHAR, model_id VARCHAR, prompt_sha256 VARCHAR,
    workspace_generation VARCHAR, runner_digest VARCHAR, seed VARCHAR, source VARCHAR,
    round BIGINT, attempt BIGINT, concurrency BIGINT, cpu_load BIGINT, cpus BIGINT,
    rng_seed BIGINT, order_seed BIGINT, switch_interval DOUBLE, merged BOOLEAN, env VARCHAR,
    exit_code BIGINT, collected BIGINT, passed BIGINT, failed BIGINT, errors BIGINT,
    skipped BIGINT, inventory_missing BIGINT, steps BIGINT,
    verdict VARCHAR, complete BOOLEAN, started TIMESTAMP, finished TIMESTAMP,
    timed_out BOOLEAN, crashed BOOLEAN, host VARCHAR, proof VARCHAR, extra VARCHAR
);

CREATE TABLE run_names (run_key INTEGER NOT NULL, run_id VARCHAR NOT NULL);

CREATE TABLE tests ( -- norm_key: the test_key of the first test of this normal form
    test_key INTEGER NOT NULL, norm_key INTEGER NOT NULL,
    test_id VARCHAR NOT NULL, test_norm VARCHAR NOT NULL, unstable_id BOOLEAN NOT NULL
);

CREATE TYPE outcome AS ENUM (
    'passed', 'failed', 'error', 'timeout', 'crash', 'skipped', 'xfailed', 'xpassed'
);

-- When an execution should have finished, in microseconds: `finished` is mostly that or one more.
-- Clocks can be far off: differences wrap around and lose nothing.
CREATE MACRO expected_us(began, lasted_s) AS coalesce(epoch_us(began), 0)::HUGEINT
    + coalesce(CASE WHEN abs(lasted_s) < 1e9 THEN round(lasted_s * 1e6)::BIGINT END, 0);

CREATE MACRO wrapped(us) AS (CASE
    WHEN us > 9223372036854775807 THEN us - 18446744073709551616
    WHEN us < -9223372036854775808 THEN us + 18446744073709551616
    ELSE us
END)::BIGINT;

-- Names are kept once: millions of executions take a few bytes each.
CREATE TABLE executions ( -- finished_late: microseconds after it should have finished
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, byte_offset BIGINT NOT NULL,
    line_hash BIGINT NOT NULL, item INTEGER NOT NULL, run_key INTEGER, test_key INTEGER NOT NULL,
    variant VARCHAR, attempt BIGINT, iteration BIGINT,
    outcome outcome NOT NULL, failed BOOLEAN,
    started TIMESTAMP, finished_late BIGINT, duration_s DOUBLE, log VARCHAR,
    exc VARCHAR, errno VARCHAR, message VARCHAR, "where" VARCHAR,
    before VARCHAR[], resources STRUCT(kind VARCHAR, id VARCHAR, op VARCHAR)[], extra VARCHAR
);

CREATE VIEW executions_in_time AS
SELECT * EXCLUDE (finished_late),
    make_timestamp(wrapped(expected_us(started, duration_s) + finished_late)) AS finished
FROM executions;

CREATE VIEW test_lines AS
SELECT
    e.source_id, e.line, e.byte_offset, e.line_hash, e.item, n.run_id,
    t.test_id, t.test_norm, t.unstable_id, e.variant, e.attempt, e.iteration,
    e.outcome::VARCHAR AS outcome, e.failed, e.started, e.finished, e.duration_s, e.log,
    e.exc, e.errno, e.message, e."where", e.before, e.resources, e.extra
FROM executions_in_time e
JOIN tests t USING (test_key)
LEFT JOIN run_names n USING (run_key);

CREATE TABLE reject_lines (
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, byte_offset BIGINT NOT NULL,
    reason VARCHAR NOT NULL, length BIGINT NOT NULL, raw BLOB NOT NULL
);

CREATE TABLE note_lines (
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, byte_offset BIGINT NOT NULL,
    run_id VARCHAR, rule VARCHAR NOT NULL, detail VARCHAR NOT NULL
);

CREATE TABLE derived_key (key VARCHAR NOT NULL); -- the sources that source_runs was derived from

CREATE TABLE derived_experiments ( -- what the tables below were derived from
    experiment VARCHAR NOT NULL, key VARCHAR NOT NULL
);

CREATE TABLE source_runs (source_id INTEGER NOT NULL, run_id VARCHAR NOT NULL, experiment VARCHAR NOT NULL);

CREATE TABLE run_numbers ( -- a number for every run that there ever was
    run_no INTEGER NOT NULL, experiment VARCHAR NOT NULL, run_id VARCHAR NOT NULL
);

CREATE TABLE run_places ( -- source_runs in numbers, of runs that have a name
    source_id INTEGER NOT NULL, run_key INTEGER NOT NULL, run_no INTEGER NOT NULL
);

CREATE TABLE nameless_places ( -- and of runs that are named after their line
    source_id INTEGER NOT NULL, byte_offset BIGINT NOT NULL, run_no INTEGER NOT NULL
);

CREATE TABLE uncounted_lines ( -- executions on record that must not be counted again
    run_no INTEGER NOT NULL, source_id INTEGER NOT NULL, byte_offset BIGINT NOT NULL, item INTEGER NOT NULL,
    rule VARCHAR NOT NULL
);

CREATE TABLE run_facts ( -- one row a run, put together from its lines
    run_no INTEGER NOT NULL, experiment VARCHAR NOT NULL, run_id VARCHAR NOT NULL,
    source_id INTEGER NOT NULL, line BIGINT NOT NULL, -- its end marker, or its first line
    patch_id VARCHAR NOT NULL, patch_digest VARCHAR, base_sha VARCHAR, role VARCHAR NOT NULL,
    variant VARCHAR, phase VARCHAR NOT NULL, round BIGINT, attempt BIGINT,
    ns VARCHAR, isolation VARCHAR, concurrency BIGINT, cpu_load BIGINT, switch_interval DOUBLE,
    cpus BIGINT, runner VARCHAR, image_digest VARCHAR, worker VARCHAR, rng_seed BIGINT,
    "order" VARCHAR, order_seed BIGINT, env VARCHAR, command VARCHAR,
    workspace_generation VARCHAR, merged BOOLEAN, source VARCHAR, model_id VARCHAR,
    prompt_sha256 VARCHAR, runner_digest VARCHAR, seed VARCHAR,
    proof VARCHAR, -- JSON, as recorded
    executed BOOLEAN NOT NULL, -- neither read from a cache nor a reviewer's opinion
    has_start BOOLEAN NOT NULL, has_end BOOLEAN NOT NULL, complete BOOLEAN NOT NULL,
    logged_verdict VARCHAR NOT NULL, -- what the log says
    exit_code BIGINT, collected BIGINT, passed BIGINT, failed BIGINT, errors BIGINT,
    skipped BIGINT, inventory_missing BIGINT, steps BIGINT, uncategorised BIGINT,
    timed_out BOOLEAN, crashed BOOLEAN, started TIMESTAMP, finished TIMESTAMP,
    disagreeing VARCHAR[] NOT NULL, copies BIGINT NOT NULL,
    test_records BIGINT NOT NULL,
    test_attempts BIGINT NOT NULL, -- records that are further attempts at an execution
    tests_executed BIGINT NOT NULL, tests_failed BIGINT NOT NULL,
    tests_never_passed BIGINT NOT NULL, -- failed, and no iteration or attempt of them passed
    pinned_missing BIGINT NOT NULL, pinned_example VARCHAR
);

CREATE TABLE findings (
    experiment VARCHAR NOT NULL, run_id VARCHAR, rule VARCHAR NOT NULL, family VARCHAR NOT NULL,
    standing VARCHAR NOT NULL, sentence VARCHAR NOT NULL, source_id INTEGER, line BIGINT
);

CREATE TABLE outage_runs (experiment VARCHAR NOT NULL, run_id VARCHAR NOT NULL);

CREATE TABLE judgements ( -- what was decided, once for all units that it holds for
    experiment VARCHAR NOT NULL, judgement INTEGER NOT NULL, -- numbered within the experiment
    class VARCHAR NOT NULL, "row" VARCHAR NOT NULL, blocks BOOLEAN NOT NULL,
    locus VARCHAR, why VARCHAR NOT NULL, action VARCHAR NOT NULL, seed_row INTEGER,
    p DOUBLE,
    class_rank INTEGER NOT NULL,     -- the place of the class in the roll-up
    cause VARCHAR NOT NULL,          -- units of one class and cause are one problem
    failures BIGINT NOT NULL,        -- on record, wherever they happened
    company_k BIGINT NOT NULL, company_n BIGINT NOT NULL, -- failures / executed, as in detail
    alone_k BIGINT NOT NULL, alone_n BIGINT NOT NULL,
    detail VARCHAR NOT NULL -- JSON: counts, bounds, address, need, every row tried
);

CREATE TABLE units (
    experiment VARCHAR NOT NULL, patch_id VARCHAR NOT NULL, test_id VARCHAR NOT NULL,
    variant VARCHAR, judgement INTEGER NOT NULL
);

CREATE VIEW attributions AS
SELECT u.experiment, u.patch_id, u.test_id, u.variant, j.* EXCLUDE (experiment, judgement)
FROM units u JOIN judgements j USING (experiment, judgement);

CREATE TABLE experiment_facts (
    experiment VARCHAR NOT NULL, class VARCHAR NOT NULL, newest TIMESTAMP, detail VARCHAR NOT NULL
);

-- Executions with the number of their run. A run without run_id is named after its source's
-- content and the position of its line.
CREATE VIEW placed_executions AS
SELECT e.* EXCLUDE (run_key), p.run_no
FROM executions_in_time e JOIN run_places p ON p.source_id = e.source_id AND p.run_key = e.run_key
UNION ALL BY NAME
SELECT e.* EXCLUDE (run_key), p.run_no
FROM executions_in_time e
JOIN nameless_places p ON p.source_id = e.source_id AND p.byte_offset = e.byte_offset
WHERE e.run_key IS NULL;

-- Executions with their names and the experiment and the run they belong to.
CREATE VIEW recorded_tests AS
SELECT e.* EXCLUDE (run_no, test_key, outcome), e.outcome::VARCHAR AS outcome,
    t.test_id, t.test_norm, t.unstable_id, r.experiment, r.run_id
FROM placed_executions e
JOIN tests t USING (test_key)
JOIN run_numbers r USING (run_no);

-- A run's standing: void before unproven before proven.
CREATE VIEW judged_runs AS
SELECT
    r.* EXCLUDE (uncategorised, source_id),
    coalesce(f.standing, 'proven') AS standing,
    CASE WHEN f.standing = 'void' OR NOT r.complete THEN 'none' ELSE r.logged_verdict END AS verdict,
    coalesce(f.standing, 'proven') <> 'void' AND r.complete AND r.executed AS usable,
    o.run_id IS NOT NULL AS in_outage,
    s.path AS log, r.source_id
FROM run_facts r
JOIN sources s USING (source_id)
LEFT JOIN (
    SELECT experiment, run_id,
        CASE WHEN bool_or(standing = 'void') THEN 'void' ELSE 'unproven' END AS standing
    FROM findings WHERE standing IN ('void', 'unproven') AND run_id IS NOT NULL
    GROUP BY ALL
) f USING (experiment, run_id)
LEFT JOIN outage_runs o USING (experiment, run_id);

CREATE VIEW runs AS FROM judged_runs SELECT * EXCLUDE (run_no);

-- One row an execution. The pseudo-test (run) stands for runs that carry no test lines and
-- for failures of a run that none of its tests explains; it is listed for an experiment that
-- has such a run.
CREATE VIEW results AS
WITH tested AS (
    SELECT e.*, t.test_id, t.test_norm, t.unstable_id
    FROM placed_executions e
    JOIN tests t USING (test_key)
    ANTI JOIN uncounted_lines u
        ON u.source_id = e.source_id AND u.byte_offset = e.byte_offset AND u.item = e.item
), bare AS (
    SELECT DISTINCT experiment FROM runs
    WHERE usable AND verdict <> 'none' AND (test_records = 0 OR (verdict = 'fail' AND tests_failed = 0))
)
SELECT
    r.experiment, r.run_id, r.patch_id, r.role, r.phase, r.round, r.cpus,
    t.test_id, t.test_norm, t.unstable_id, coalesce(t.variant, r.variant) AS variant, t.iteration,
    t.outcome::VARCHAR AS outcome, t.failed, coalesce(t.started, r.started) AS started,
    coalesce(t.finished, r.finished) AS finished, t.duration_s,
    t.exc, t.errno, t.message, t."where", t.before, t.resources,
    r.env, r.image_digest, r.runner, r.worker, r.usable, r.in_outage,
    t.source_id, t.line, t.byte_offset, t.item, t.extra
FROM tested t
JOIN judged_runs r USING (run_no)
UNION ALL BY NAME
SELECT
    r.experiment, r.run_id, r.patch_id, r.role, r.phase, r.round, r.cpus,
    '(run)' AS test_id, '(run)' AS test_norm, false AS unstable_id, r.variant,
    CASE WHEN r.verdict = 'fail' AND r.tests_failed = 0 THEN 'failed' ELSE 'passed' END AS outcome,
    r.verdict = 'fail' AND r.tests_failed = 0 AS failed, r.started, r.finished,
    r.env, r.image_digest, r.runner, r.worker, r.usable, r.in_outage, r.source_id, r.line,
    -1::BIGINT AS byte_offset, 0 AS item
FROM runs r
SEMI JOIN bare USING (experiment)
WHERE r.usable AND r.verdict <> 'none';

CREATE VIEW rejects AS
SELECT s.path, j.line, j.byte_offset, j.reason, j.length, j.raw
FROM reject_lines j JOIN sources s USING (source_id);
