-- Which experiment each run of each source belongs to: what its lines say, in this source or in
-- another of the directory, else the one experiment that the source names, else --experiment,
-- else the directory the source lies in.

DELETE FROM source_runs;

INSERT INTO source_runs
WITH lines AS MATERIALIZED (
    SELECT l.source_id, s.directory, l.experiment, l.run_id AS logged_run_id,
        coalesce(l.run_id, left(s.identity, 12) || '@' || l.byte_offset) AS run_id
    FROM run_lines l JOIN sources s USING (source_id)
), named AS (
    SELECT source_id, experiment FROM run_lines WHERE experiment IS NOT NULL
    UNION
    SELECT source_id, experiment FROM experiment_lines
), only_one AS (
    SELECT source_id, min(experiment) AS experiment FROM named GROUP BY ALL
    HAVING count(DISTINCT experiment) = 1
), beside AS (
    SELECT directory, logged_run_id, min(experiment) AS experiment
    FROM lines WHERE logged_run_id IS NOT NULL AND experiment IS NOT NULL GROUP BY ALL
), directories AS (
    SELECT DISTINCT directory, list_last(string_split(rtrim(directory, '/'), '/')) AS base
    FROM sources
    WHERE source_id IN (SELECT source_id FROM lines WHERE experiment IS NULL)
        AND source_id NOT IN (SELECT source_id FROM only_one)
), named_directories AS (
    SELECT directory,
        CASE WHEN base = '' OR count(*) OVER (PARTITION BY base) > 1 THEN directory ELSE base END AS experiment
    FROM directories
)
SELECT l.source_id, l.run_id,
    coalesce(min(l.experiment), min(b.experiment), any_value(o.experiment),
        any_value(s.given_experiment), any_value(d.experiment)) AS experiment
FROM lines l
JOIN sources s USING (source_id)
LEFT JOIN only_one o USING (source_id)
LEFT JOIN beside b ON b.directory = l.directory AND b.logged_run_id = l.logged_run_id
LEFT JOIN named_directories d ON d.directory = s.directory
GROUP BY l.source_id, l.run_id;

-- Numbers stay with their runs, so that what was derived of other experiments holds.
INSERT INTO run_numbers
SELECT (SELECT coalesce(max(run_no), 0) FROM run_numbers)
        + row_number() OVER (ORDER BY experiment, run_id), experiment, run_id
FROM (SELECT DISTINCT experiment, run_id FROM source_runs)
ANTI JOIN run_numbers USING (experiment, run_id);

DELETE FROM run_places;

INSERT INTO run_places
SELECT m.source_id, n.run_key, r.run_no
FROM source_runs m
JOIN run_names n USING (run_id)
JOIN run_numbers r USING (experiment, run_id);

DELETE FROM nameless_places;

-- Materialized: DuckDB would pair all lines of a source with all of its runs.
INSERT INTO nameless_places
WITH lines AS MATERIALIZED (
    SELECT l.source_id, l.byte_offset, left(s.identity, 12) || '@' || l.byte_offset AS run_id
    FROM run_lines l JOIN sources s USING (source_id)
    WHERE l.run_id IS NULL
)
SELECT l.source_id, l.byte_offset, r.run_no
FROM lines l
JOIN source_runs m ON m.source_id = l.source_id AND m.run_id = l.run_id
JOIN run_numbers r ON r.experiment = m.experiment AND r.run_id = m.run_id;
