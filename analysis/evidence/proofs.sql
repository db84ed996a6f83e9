-- What the rules on proofs look at: `proved`, a row a run that offers any proof, with what its
-- project allows. Reads run_facts and settings; needs macros.sql.

CREATE OR REPLACE TEMP TABLE proved AS
SELECT r.experiment, r.run_id, r.run_no, r.source_id, r.line, r.patch_id, r.patch_digest,
    r.base_sha, r.phase, r.attempt, r.worker, r.image_digest, r.workspace_generation, r.model_id,
    r.prompt_sha256, r.runner_digest, r.logged_verdict,
    coalesce(r.seed, r.proof ->> '$.seed', r.rng_seed::VARCHAR) AS seed,
    epoch(coalesce(r.finished, r.started)) AS ended, r.proof::JSON AS proof,
    s.prompt_versions, s.reviewers, s.bots, s.golden
FROM run_facts r
SEMI JOIN touched USING (experiment)
LEFT JOIN settings s USING (experiment)
WHERE r.proof IS NOT NULL;
