-- Which experiment each run of each source belongs to: what its lines say, else --experiment,
-- else the one experiment that the source names, else the directory the source lies in.

DELETE FROM source_runs;

INSERT INTO source_runs
WITH lines AS (
    SELECT l.source_id, l.experiment,
        coalesce(l.run_id, left(s.identity, 12) || '@' || l.byte_offset) AS run_id
    FROM run_lines l JOIN sources s USING (source_id)
), named AS (
    SELECT source_id, experiment FROM run_lines WHERE experiment IS NOT NULL
    UNION
    SELECT source_id, experiment FROM experiment_lines
), only_one AS (
    SELECT source_id, min(experiment) AS experiment FROM named GROUP BY ALL
    HAVING count(DISTINCT experiment) = 1
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
    coalesce(min(l.experiment), any_value(s.given_experiment), any_value(o.experiment),
        any_value(d.experiment)) AS experiment
FROM lines l
JOIN sources s USING (source_id)
LEFT JOIN only_one o USING (source_id)
LEFT JOIN named_directories d USING (directory)
GROUP BY l.source_id, l.run_id;
