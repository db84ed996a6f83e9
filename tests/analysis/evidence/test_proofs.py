"""Proofs: for each rule the smallest record that trips it, and the nearest that does not."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest

from analysis.evidence.audit import ALL_RULES, PROOF_RULES
from analysis.evidence.keys import arguments_hash, completion_key, lease_key, review_key

DIFF, BASE, PROMPT = "d1" * 32, "ba" * 20, "9e" * 32
AT = 1_767_225_600
INPUTS = {
    "model": "m-1",
    "system": "  Review.\n",
    "diff_sha256": DIFF,
    "files": ["b.py", "a.py"],
    "prompt": "Is it right?",
    "prompt_version": "3",
}
COMPLETION = {
    "prompt_sha256": PROMPT,
    "model_revision": "r1",
    "image_digest": "i1",
    "fixture_generation": "g1",
}
REPLY = {"verdict": "pass", "diff_sha256": DIFF, "policy_version": "1"}
BODY = json.dumps(REPLY)
CONTEXT = {
    "run_id": "1",
    "patch_id": "A",
    "patch_digest": DIFF,
    "base_sha": BASE,
    "verdict": "pass",
    "collected": 3,
    "passed": 3,
    "finished": AT,
    "model_id": "m-1",
    "prompt_sha256": PROMPT,
    "workspace_generation": "g1",
    "image_digest": "sha256:aa",
    "attempt": 0,
    "seed": "1",
    "runner_digest": "r1",
}
SOUND: dict[str, dict[str, Any]] = {
    "response": {
        "kind": "verdict",
        "status": 200,
        "content_type": "Application/JSON; charset=utf-8",
        "bytes": len(BODY),
        "declared_bytes": len(BODY),
        "declared_sha256": hashlib.sha256(BODY.encode()).hexdigest(),
        "sentinel": True,
        "source": "stream",
        "finish_reason": "stop",
        "truncated_context": False,
        "body": BODY,
    },
    "cache": {
        "hit": True,
        "key": review_key(INPUTS),
        "base_sha": BASE,
        "diff_sha256": DIFF,
        "route": "m-1",
        "created_at": AT - 60,
        "ttl_s": 60,
        "truncated": False,
        "parse_error": None,
        "inputs": INPUTS,
        "reply": BODY,
    },
    "log": {"path": "run.jsonl", "sha256": "00" * 32},
    "manifest": {
        "path": "A.manifest.json",
        "patch_id": "A",
        "bytes": 10,
        "sha256": "00" * 32,
        "body": "A.txt",
    },
    "lease": {
        "key": lease_key("repo", "c1", "h1"),
        "token": 1,
        "worker": "w1",
        "repo": "repo",
        "commit": "c1",
        "config_hash": "h1",
        "acquired_at": AT - 100,
        "expires_at": AT,
    },
    "receipt": {
        "diff_sha256": DIFF,
        "prompt_sha256": PROMPT,
        "model_id": "m-1",
        "workspace_generation": "g1",
        "image_digest": "sha256:aa",
        "verdict": "approve",
        "reasons": ["looked at"],
    },
    "grant": {
        "task_id": "t1",
        "model_class": "free",
        "server_class": "local",
        "tool": "read_file",
        "arg_hash": arguments_hash({"path": "a.py", "depth": 1.5e-07}),
        "expires_at": AT + 1,
        "used": False,
    },
    "oracle": {"changed": ["src/a.py", "docs/golden.md"], "label_commits": []},
    "workspace": {
        "generation": "g1",
        "attempt": 0,
        "dirty": False,
        "locks": {"uv.lock": "l1"},
        "installed_lock": "l1",
    },
}
ROUTE = {
    "task_id": "t1",
    "model_class": "free",
    "server_class": "local",
    "tool": "read_file",
    "args": {"depth": 1.5e-07, "path": "a.py"},
}
HTML = "<html>"
LISTED = json.dumps([REPLY])
SUMMARY = json.dumps({"summary": "fine", "findings": []})
GONE = object()


def sized(body: str) -> dict[str, Any]:
    digest = hashlib.sha256(body.encode()).hexdigest()
    return {
        "body": body,
        "bytes": len(body),
        "declared_bytes": len(body),
        "declared_sha256": digest,
    }


def line(block: str, changes: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """A sound record with one block, and what is changed in both."""
    offered = copy.deepcopy(SOUND[block])
    for name, value in changes.items():
        if value is GONE:
            offered.pop(name, None)
        else:
            offered[name] = value
    proof: dict[str, Any] = {block: offered}
    if block == "grant":
        proof["route"] = {**ROUTE, **context.pop("route", {})}
    return {k: v for k, v in {**CONTEXT, **context, "proof": proof}.items() if v is not GONE}


# (rule, block, what trips it, the nearest that does not)
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("log-missing", "log", {"path": ""}, {"path": "x"}),
    ("log-digest-mismatch", "log", {"sha256": None}, {}),
    ("response-bad-status", "response", {"status": 201}, {"status": 200}),
    ("response-bad-status", "response", {"status": GONE}, {"status": "200"}),
    ("response-not-json", "response", {"content_type": "text/html"}, {}),
    ("response-not-json", "response", {"content_type": GONE}, {"content_type": "application/json"}),
    ("response-empty", "response", {"bytes": 0, "body": GONE}, {}),
    ("response-empty", "response", {"bytes": GONE, "body": GONE}, {"bytes": GONE}),
    ("response-truncated", "response", {"declared_bytes": len(BODY) + 1}, {}),
    ("response-truncated", "response", {"declared_bytes": GONE}, {}),
    ("response-truncated", "response", {"body": BODY[:-1]}, {}),
    ("response-digest-mismatch", "response", {"declared_sha256": "0" * 64}, {}),
    ("response-digest-mismatch", "response", {"sha256": "0" * 64}, {"declared_sha256": GONE}),
    ("response-sentinel-missing", "response", {"sentinel": False}, {}),
    ("response-sentinel-missing", "response", {"sentinel": GONE}, {}),
    ("response-sentinel-missing", "response", {"sentinel": "END"}, {"sentinel": "policy_version"}),
    ("response-repaired", "response", {"source": "repaired"}, {"source": "stream"}),
    ("response-missing-field", "response", sized('{"verdict": "pass"}'), {}),
    (
        "response-missing-field",
        "response",
        {"kind": "summary", **sized('{"summary": ""}')},
        {"kind": "summary", **sized(SUMMARY)},
    ),
    ("response-bad-shape", "response", sized(LISTED), {}),
    ("response-bad-shape", "response", sized(HTML), {}),
    (
        "response-bad-shape",
        "response",
        {"kind": "summary", **sized('{"summary": "", "findings": {}}')},
        {"kind": "summary", **sized(SUMMARY)},
    ),
    (
        "response-bad-shape",
        "response",
        {"kind": "summary", **sized('{"summary": 1, "findings": []}')},
        {"kind": "summary", **sized(SUMMARY)},
    ),
    (
        "completion-empty",
        "response",
        {"kind": "completion", **sized('{"diff": " "}')},
        {"kind": "completion", **sized('{"diff": "@@ -1 +1 @@"}')},
    ),
    (
        "completion-empty",
        "response",
        {"kind": "completion", **sized("Sure!")},
        {"kind": "completion", **sized("Sure!\n@@ -1 +1 @@\n-a\n+b\n")},
    ),
    ("finish-not-stop", "response", {"finish_reason": "length"}, {"finish_reason": "stop"}),
    ("finish-not-stop", "response", {"finish_reason": "Stop"}, {}),
    ("finish-not-stop", "response", {"finish_reason": GONE}, {}),
    ("context-truncated", "response", {"truncated_context": True}, {"truncated_context": GONE}),
    ("cache-foreign-diff", "cache", {"diff_sha256": "d2" * 32}, {"diff_sha256": DIFF[:8]}),
    ("cache-foreign-diff", "cache", {"diff_sha256": GONE}, {}),
    ("cache-foreign-base", "cache", {"base_sha": "bb" * 20}, {"base_sha": BASE[:7]}),
    ("cache-foreign-route", "cache", {"route": "m-2"}, {}),
    ("cache-foreign-route", "cache", {"route": GONE}, {"hit": False, "route": GONE}),
    ("cache-expired", "cache", {"created_at": AT - 61}, {"created_at": AT - 60}),
    ("cache-expired", "cache", {"ttl_s": GONE}, {"created_at": "2026-01-01T01:59:00+02:00"}),
    ("cache-truncated", "cache", {"truncated": True}, {"truncated": False}),
    ("cache-unparsable", "cache", {"parse_error": "x"}, {"parse_error": False}),
    ("cache-unparsable", "cache", {"reply": "{"}, {"reply": GONE}),
    ("cache-key-mismatch", "cache", {"key": "0" * 64}, {}),
    (
        "cache-key-mismatch",
        "cache",
        {"inputs": {**INPUTS, "prompt": "x"}},
        {"inputs": {**INPUTS, "files": ["a.py", "b.py"], "system": "Review."}},
    ),
    (
        "cache-key-mismatch",
        "cache",
        {"inputs": {**COMPLETION, "model_revision": "r2"}, "key": completion_key(COMPLETION)},
        {"inputs": COMPLETION, "key": completion_key(COMPLETION)},
    ),
    ("cache-key-too-small", "cache", {"inputs": {**INPUTS, "prompt": None}}, {}),
    ("cache-key-too-small", "cache", {"inputs": GONE}, {}),
    ("cache-verdict-differs", "cache", {"reply": '{"verdict": "fail"}'}, {}),
    ("cache-verdict-differs", "cache", {"verdict": "perhaps"}, {"verdict": "ok"}),
    ("manifest-missing", "manifest", {"path": GONE}, {}),
    ("manifest-missing", "manifest", {"patch_id": "B"}, {"patch_id": "A"}),
    ("evidence-missing", "manifest", {"body": GONE}, {}),
    ("evidence-empty", "manifest", {"bytes": 0}, {"bytes": 1}),
    ("evidence-short", "manifest", {"bytes": GONE}, {}),
    ("evidence-checksum-mismatch", "manifest", {"sha256": GONE}, {}),
    ("lease-key-not-work", "lease", {"key": "1767225600000000"}, {}),
    ("lease-key-not-work", "lease", {"commit": "c2"}, {}),
    ("lease-key-not-work", "lease", {"repo": GONE}, {}),
    ("stale-fence", "lease", {"expires_at": AT - 1}, {"expires_at": AT}),
    ("stale-fence", "lease", {"token": GONE}, {"token": 0}),
    ("receipt-mismatch:diff_sha256", "receipt", {"diff_sha256": "d2" * 32}, {}),
    ("receipt-mismatch:diff_sha256", "receipt", {"diff_sha256": GONE}, {"diff_sha256": DIFF[:8]}),
    ("receipt-mismatch:prompt_sha256", "receipt", {"prompt_sha256": GONE}, {}),
    ("receipt-mismatch:model_id", "receipt", {"model_id": "m-2"}, {}),
    ("receipt-mismatch:workspace_generation", "receipt", {"workspace_generation": "g2"}, {}),
    ("receipt-no-reasons", "receipt", {"reasons": []}, {"reasons": ["x"]}),
    ("receipt-no-reasons", "receipt", {"reasons": [" "]}, {"reasons": "a sentence"}),
    ("receipt-no-reasons", "receipt", {"reasons": GONE}, {}),
    ("receipt-not-pass", "receipt", {"verdict": "fail"}, {"verdict": "pass"}),
    ("receipt-not-pass", "receipt", {"verdict": GONE}, {}),
    ("image-mismatch", "receipt", {"image_digest": "sha256:bb"}, {"image_digest": GONE}),
    ("grant-expired", "grant", {"expires_at": AT}, {"expires_at": AT + 1}),
    ("grant-expired", "grant", {"expires_at": GONE}, {"expires_at": "2026-01-01T00:00:01Z"}),
    ("grant-task", "grant", {"task_id": "t2"}, {}),
    ("grant-model-class", "grant", {"model_class": "paid"}, {}),
    ("grant-server-class", "grant", {"server_class": GONE}, {}),
    ("grant-tool", "grant", {"tool": "shell"}, {}),
    ("grant-args", "grant", {"arg_hash": arguments_hash({"path": "b.py"})}, {}),
    ("grant-args", "grant", {"arg_hash": GONE}, {}),
    ("grant-reused", "grant", {"used": True}, {"used": False}),
    ("golden-unlabelled", "oracle", {"changed": ["a/b.golden"]}, {"changed": ["a/golden.py"]}),
    (
        "golden-unlabelled",
        "oracle",
        {"changed": ["t/__snapshots__/x"]},
        {"changed": ["t/my__snapshots__/x"]},
    ),
    (
        "golden-unlabelled",
        "oracle",
        {"changed": [{"from": "b.golden", "to": "b.txt"}]},
        {"changed": [{"from": "b.golden.txt", "to": "b.txt"}]},
    ),
    ("workspace-dirty", "workspace", {"dirty": True}, {"dirty": False}),
    ("lock-missing", "workspace", {"locks": {}}, {}),
    ("lock-missing", "workspace", {"locks": GONE}, {}),
    ("install-drift", "workspace", {"installed_lock": "l2"}, {"installed_lock": GONE}),
]


@pytest.mark.parametrize(("rule", "block", "trips", "nearest"), CASES)
def test_the_smallest_record_trips_the_rule_and_the_nearest_does_not(
    audited: Any, rule: str, block: str, trips: dict[str, Any], nearest: dict[str, Any]
) -> None:
    bad = audited(line(block, trips, {}))
    assert rule in bad.rules()
    good = audited(line(block, nearest, {}))
    assert rule not in good.rules()


@pytest.mark.parametrize("block", SOUND)
def test_a_sound_proof_of_each_family_is_proven(audited: Any, block: str) -> None:
    found = audited(line(block, {}, {}))
    assert found.rules() == set()
    assert found.standing()[:2] == ("proven", "pass")


# (rule, block, changes of the block, of the context that trips, of the context that does not)
BESIDE: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("cache-foreign-diff", "cache", {}, {"patch_digest": GONE}, {}),
    ("cache-expired", "cache", {}, {"finished": GONE}, {}),
    ("cache-foreign-route", "cache", {}, {"model_id": "m-2"}, {}),
    ("receipt-mismatch:model_id", "receipt", {}, {"model_id": GONE}, {}),
    ("receipt-not-pass", "receipt", {"verdict": "fail"}, {}, {"verdict": "fail"}),
    ("image-mismatch", "receipt", {}, {"image_digest": GONE}, {}),
    (
        "args-secret",
        "grant",
        {},
        {"route": {"args": {"token": "ghp_" + "a1" * 12}}},
        {"route": {"args": {"token": "ghp_short"}}},
    ),
    (
        "grant-no-approval",
        "grant",
        {"tool": "shell"},
        {"route": {"tool": "shell"}},
        {"route": {"tool": "shellfish"}},
    ),
    (
        "generation-missing",
        "workspace",
        {"generation": GONE},
        {"workspace_generation": GONE},
        {},
    ),
    ("attempt-missing", "workspace", {"attempt": GONE}, {"attempt": GONE}, {}),
]


@pytest.mark.parametrize(("rule", "block", "changes", "trips", "nearest"), BESIDE)
def test_what_stands_beside_the_block_trips_the_rule(
    audited: Any,
    rule: str,
    block: str,
    changes: dict[str, Any],
    trips: dict[str, Any],
    nearest: dict[str, Any],
) -> None:
    assert rule in audited(line(block, changes, dict(trips))).rules()
    assert rule not in audited(line(block, changes, dict(nearest))).rules()


@pytest.mark.parametrize("rule", sorted({rule.name for rule in PROOF_RULES}))
def test_every_rule_on_a_block_has_a_record_that_trips_it(rule: str) -> None:
    covered = {case[0] for case in CASES} | {case[0] for case in BESIDE}
    elsewhere = {
        "receipt-missing",
        "receipt-unreadable",
        "receipt-mismatch:artifact_sha256",
        "receipt-mismatch:log_sha256",
        "cache-unknown-prompt",
        "golden-self-labelled",
    }
    assert rule in covered | elsewhere


@pytest.mark.parametrize(
    ("receipt", "rule"),
    [(None, "receipt-missing"), ({}, "receipt-missing"), ("yes", "receipt-unreadable")],
)
def test_a_receipt_that_is_none(audited: Any, receipt: Any, rule: str) -> None:
    found = audited({**CONTEXT, "proof": {"receipt": receipt}})
    assert found.rules() == {rule}
    assert found.standing() == ("void", "none", False)


def test_a_receipt_is_bound_to_what_else_is_offered(audited: Any) -> None:
    good = line("receipt", {"log_sha256": "0" * 64, "artifact_sha256": "0" * 64}, {})
    good["proof"] |= {"log": SOUND["log"], "manifest": SOUND["manifest"]}
    assert audited(good).rules() == set()
    bad = line("receipt", {"log_sha256": "1" * 64}, {})
    bad["proof"] |= {"log": SOUND["log"], "manifest": SOUND["manifest"]}
    assert audited(bad).rules() == {
        "receipt-mismatch:log_sha256",
        "receipt-mismatch:artifact_sha256",
    }


def test_a_prompt_version_that_is_not_configured_is_unknown(audited: Any) -> None:
    sound = line("cache", {}, {})
    assert audited(sound, prompt_versions=("2",)).rules() == {"cache-unknown-prompt"}
    assert audited(sound, prompt_versions=("2", "3")).rules() == set()


LABEL = "oracle-update-approved"


@pytest.mark.parametrize(
    ("commits", "rules"),
    [
        ([], {"golden-unlabelled"}),
        ([{"author": "Lead <Lead@example.org>", "message": f"x\n\n{LABEL}"}], set()),
        ([{"author": "lead@example.org", "message": "approved"}], {"golden-unlabelled"}),
        ([{"author": "else@example.org", "message": LABEL}], {"golden-unlabelled"}),
        ([{"author": "me@example.org", "message": LABEL}], {"golden-self-labelled"}),
        ([{"author": "ci[bot]@example.org", "message": LABEL}], {"golden-self-labelled"}),
        ([{"author": "bot@example.org", "message": LABEL}], {"golden-self-labelled"}),
        (
            [
                {"author": "me@example.org", "message": LABEL},
                {"author": "lead@example.org", "message": LABEL},
            ],
            set(),
        ),
    ],
)
def test_a_golden_file_needs_the_label_of_a_configured_person(
    audited: Any, commits: list[dict[str, str]], rules: set[str]
) -> None:
    offered = {"changed": ["x.golden"], "label_commits": commits, "author": "me@example.org"}
    found = audited(
        {**CONTEXT, "proof": {"oracle": offered}},
        reviewers=("lead@example.org",),
        bots=("bot@example.org",),
    )
    assert found.rules() == rules


def test_a_reviewer_does_not_approve_of_their_own_patch(audited: Any) -> None:
    offered = {
        "changed": ["x.golden"],
        "label_commits": [{"author": "lead@example.org", "message": LABEL}],
        "author": "Lead <lead@example.org>",
    }
    found = audited({**CONTEXT, "proof": {"oracle": offered}}, reviewers=("lead@example.org",))
    assert found.rules() == {"golden-self-labelled"}


def test_a_grant_is_allowed_once(audited: Any) -> None:
    one = line("grant", {}, {})
    again = {**one, "run_id": "2", "finished": AT + 0.5}
    found = audited(one, again)
    assert found.rules("1") == set()
    assert found.rules("2") == {"grant-reused"}
    assert found.standing("2") == ("void", "none", False)
    other = line("grant", {"task_id": "t2"}, {"run_id": "2", "route": {"task_id": "t2"}})
    assert audited(one, other).rules() == set()


def test_the_first_denial_is_the_answer(audited: Any) -> None:
    everything = {"expires_at": 0, "task_id": "x", "tool": "x", "used": True}
    assert audited(line("grant", everything, {})).rules() == {"grant-expired"}
    del everything["expires_at"]
    assert audited(line("grant", everything, {})).rules() == {"grant-task"}


def test_a_writing_tool_needs_the_approval_of_a_person(audited: Any) -> None:
    for approver, rules in (
        ("ann", set()),
        ("ci[bot]", {"grant-no-approval"}),
        (GONE, {"grant-no-approval"}),
    ):
        changes = {"tool": "write_file", "approver": approver}
        found = audited(line("grant", changes, {"route": {"tool": "write_file"}}))
        assert found.rules() == rules


def test_a_cached_verdict_is_no_execution(audited: Any) -> None:
    hit, miss = line("cache", {}, {}), line("cache", {"hit": False}, {})
    found = audited(hit)
    assert found.standing() == ("proven", "pass", False)
    assert found.column("FROM results") == []
    assert audited(miss).standing() == ("proven", "pass", True)
    assert len(audited(miss).column("FROM results")) == 1


def test_an_opinion_may_subtract_and_never_adds(audited: Any) -> None:
    run = {**CONTEXT, "run_id": "2"}
    opinion = {**CONTEXT, "source": "opinion"}
    alone = audited(opinion)
    assert alone.rules() == {"opinion-alone"}
    assert alone.standing() == ("void", "none", False)
    beside = audited(opinion, run)
    assert beside.rules() == set()
    assert len(beside.column("FROM results")) == 1
    for unfit in ({"collected": 0}, {"patch_digest": "d2" * 32}, {"verdict": "fail"}):
        assert "opinion-alone" in audited(opinion, {**run, **unfit}).rules()
    assert audited({**opinion, "verdict": "fail"}).rules() == set()


def lease(run: str, **changes: Any) -> dict[str, Any]:
    context = {"run_id": run, "seed": run, "runner_digest": f"r{run}"}
    context |= {name: changes.pop(name) for name in tuple(changes) if name in CONTEXT}
    return line("lease", changes, context)


def test_clock_keys_fork_the_work_and_work_keys_do_not(audited: Any) -> None:
    forked = audited(
        lease("1", key=f"{AT - 100:016x}", acquired_at=AT - 100),
        lease("2", key=f"{AT - 98:016x}", acquired_at=AT - 98, worker="w2"),
    )
    for run in ("1", "2"):
        assert forked.rules(run) == {"lease-key-not-work", "double-lease"}
        assert forked.standing(run) == ("void", "none", False)
    one = audited(lease("1"), lease("2", acquired_at=AT - 98, worker="w2"))
    assert one.rules() == set()


def test_leases_of_one_work_that_follow_each_other_are_not_double(audited: Any) -> None:
    first = lease("1", acquired_at=AT - 100, expires_at=AT - 50, finished=AT - 60)
    after = lease("2", token=2, acquired_at=AT - 50, expires_at=AT)
    assert audited(first, after).rules() == {"stale-fence"}
    during = lease("2", token=2, acquired_at=AT - 51, expires_at=AT)
    found = audited(first, during)
    assert found.rules("2") == {"double-lease"}
    assert found.rules("1") == {"double-lease", "stale-fence"}


@pytest.mark.parametrize("shared", [{"seed": "1"}, {"runner_digest": "r1"}, {"seed": GONE}])
def test_two_passes_with_one_source_are_one(audited: Any, shared: dict[str, Any]) -> None:
    found = audited(lease("1"), lease("2", **shared))
    assert found.rules() == {"quorum-not-independent"}
    assert found.standing("1") == ("unproven", "pass", True)
    assert found.standing("2") == ("void", "none", False)
    assert audited(lease("1"), lease("2", verdict="fail", **shared)).rules() == set()


def test_a_third_pass_can_make_a_quorum(audited: Any) -> None:
    shared = [lease("1"), lease("2", seed="1"), lease("3", runner_digest="r1")]
    assert audited(*shared).rules() == set()


def workspace(run: str, **changes: Any) -> dict[str, Any]:
    return line("workspace", changes, {"run_id": run, "finished": AT + int(run)})


def test_a_generation_belongs_to_one_attempt(audited: Any) -> None:
    found = audited(workspace("1"), workspace("2", attempt=1))
    assert found.rules("1") == set()
    assert found.rules("2") == {"generation-reused"}
    assert audited(workspace("1"), workspace("2", attempt=1, generation="g2")).rules() == set()


def test_a_lock_does_not_move_within_a_generation(audited: Any) -> None:
    moved = {"locks": {"uv.lock": "l2"}, "installed_lock": "l2"}
    found = audited(workspace("1"), workspace("2", **moved))
    assert found.rules("2") == {"lock-drift"}
    assert audited(workspace("1"), workspace("2", generation="g2", **moved)).rules() == set()


def manifest(run: str, **changes: Any) -> dict[str, Any]:
    return line("manifest", changes, {"run_id": run, "finished": AT + int(run)})


def test_a_batch_has_a_transcript_for_each_approval(audited: Any) -> None:
    whole = [manifest("1"), manifest("2", sha256="11" * 32)]
    assert audited(*whole).rules() == set()
    shared = audited(manifest("1"), manifest("2"))
    assert shared.standing("1") == ("proven", "pass", True)
    assert shared.standing("2") == ("void", "none", False)
    lacking = audited(*whole, {**CONTEXT, "run_id": "3"})
    assert lacking.rules("3") == {"fewer-transcripts-than-approvals"}
    assert lacking.standing("3")[0] == "unproven"
    refused = {**CONTEXT, "run_id": "3", "verdict": "fail"}
    assert audited(*whole, refused).rules() == set()


def test_lines_of_a_run_can_offer_a_block_each_and_must_not_contradict(audited: Any) -> None:
    end = {**CONTEXT, "kind": "run_end", "proof": {"lease": SOUND["lease"]}}
    start = {"kind": "run_start", "run_id": "1"}
    said = {**CONTEXT, "kind": "verdict", "proof": {"receipt": SOUND["receipt"]}}
    assert audited(start, end, said).rules() == set()
    bad = {**said, "proof": {"receipt": {**SOUND["receipt"], "model_id": "n"}}}
    assert audited(start, end, bad).rules() == {"receipt-mismatch:model_id"}
    for token in (0, 2):
        other = {**said, "proof": {"lease": {**SOUND["lease"], "token": token}}}
        found = audited(start, end, other)
        assert found.rules() == {"records-disagree"}
        assert found.standing() == ("void", "none", False)


FAMILIES = sorted({case[1] for case in CASES} - {"log"})


@pytest.mark.parametrize("block", FAMILIES)
def test_in_a_mixed_log_of_200_records_exactly_the_planted_ones_are_found(
    audited: Any, block: str
) -> None:
    planted = [case for case in CASES if case[1] == block]
    lines, expected = [], {}
    for number in range(200):
        fields = {"run_id": f"r{number}", "patch_id": f"P{number}"}
        unique: dict[str, dict[str, Any]] = {
            "manifest": {"patch_id": f"P{number}", "sha256": f"{number:064x}"},
            "workspace": {"generation": f"g{number}"},
            "lease": {
                "commit": f"c{number}",
                "key": lease_key("repo", f"c{number}", "h1"),
            },
            "grant": {"task_id": f"t{number}"},
        }
        own = unique.get(block, {})
        route = {"route": {"task_id": f"t{number}"}} if block == "grant" else {}
        if number % 7 == 3 and number // 7 < len(planted):
            rule, _, trips, _ = planted[number // 7]
            lines.append(line(block, {**own, **trips}, {**fields, **route}))
            expected[f"r{number}"] = rule
        elif number % 3:
            lines.append({**CONTEXT, **fields, "verdict": "fail"})
        else:
            lines.append(line(block, own, {**fields, **route}))
    found = audited(*lines)
    tripped = {run for run in found.column("SELECT DISTINCT run_id FROM findings") if run}
    assert tripped == set(expected)
    for run, rule in expected.items():
        assert rule in found.rules(run)


def test_no_shape_of_a_block_stops_the_audit(audited: Any) -> None:
    odd: list[Any] = [None, {}, [], "x", 1, True, {"path": {}, "bytes": [], "key": {"a": 1}}]
    lines = []
    for number, value in enumerate(odd):
        proof = dict.fromkeys((*SOUND, "route"), value)
        lines.append({**CONTEXT, "run_id": str(number), "proof": proof})
    everywhere = ["é", -1, 1e308, {"a": []}, ["x"], "nan", "inf", "infinity", ""]
    for number, value in enumerate(everywhere):
        proof = {block: dict.fromkeys(sound, value) for block, sound in SOUND.items()}
        proof["route"] = dict.fromkeys(ROUTE, value)
        lines.append({**CONTEXT, "run_id": f"e{number}", "proof": proof})
    found = audited(*lines)
    assert found.standing("0")[0] == "void"
    assert all(found.standing(f"e{number}")[1] == "none" for number in range(len(everywhere)))


def test_rules_of_one_name_say_one_thing_of_what_they_are_for() -> None:
    told: dict[str, object] = {}
    for rule in ALL_RULES:
        assert told.setdefault(rule.name, rule.told) == rule.told
        assert rule.told.fooled
        assert rule.told.fields
