"""Which execution touched which resource: SQL that other questions begin with."""

# Interpreter and test-runner caches and devices are shared by design and say nothing.
TOUCHES = """
WITH touches AS (
    SELECT source_id, byte_offset, item, run_id, patch_id, role, test_norm, variant, test_id,
        phase, started, finished, u.kind AS kind, u.id AS id, bool_or(u.op = 'w') AS writes
    FROM results_now, unnest(resources) AS t(u)
    WHERE experiment = $experiment AND usable AND NOT in_outage
        AND u.id NOT LIKE '/dev/%' AND u.id NOT LIKE '%__pycache__%'
        AND u.id NOT LIKE '%.pytest_cache%'
    GROUP BY ALL
)
"""
