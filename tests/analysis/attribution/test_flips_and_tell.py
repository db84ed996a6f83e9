"""Flips: one digest, both verdicts. The tell: a stably red patch beside one that varies."""

from __future__ import annotations

from logs import PATCH, PIN, RED, Log, fails, passes, touches, violates

A, B = "a" * 64, "b" * 64
BASE = "c" * 40


def gate(log: Log, *verdicts: str, **context: object) -> Log:
    for verdict in verdicts:
        tests = [passes() if verdict == "pass" else fails()]
        log = log.run("subject", "gate", tests, **context)
    return log


def test_a_pass_and_a_fail_of_one_digest_on_one_base_are_a_flip(answer_to):
    log = gate(Log(), "pass", "pass", "fail", patch_digest=A, base_sha=BASE)
    (flip,) = answer_to(log).flips
    assert (flip.patch_id, flip.digest, flip.base_sha) == (PATCH, A, BASE)
    assert (flip.passes, flip.fails) == (2, 1)
    assert (flip.pass_run, flip.fail_run) == ("soak-00000", "soak-00002")
    assert flip.pass_at.endswith("soak.jsonl:3")
    assert flip.fail_at.endswith("soak.jsonl:9")


def test_passes_only_are_no_flip(answer_to):
    assert answer_to(gate(Log(), "pass", "pass", patch_digest=A, base_sha=BASE)).flips == ()


def test_another_digest_is_another_patch(answer_to):
    log = gate(Log(), "pass", patch_digest=A, base_sha=BASE)
    assert answer_to(gate(log, "fail", patch_digest=B, base_sha=BASE)).flips == ()


def test_another_base_is_another_work(answer_to):
    log = gate(Log(), "pass", patch_digest=A, base_sha=BASE)
    assert answer_to(gate(log, "fail", patch_digest=A, base_sha="d" * 40)).flips == ()


def test_a_prefix_of_the_digest_is_the_same_digest(answer_to):
    log = gate(Log(), "pass", patch_digest=A, base_sha=BASE)
    (flip,) = answer_to(gate(log, "fail", patch_digest=A[:12], base_sha=BASE)).flips
    assert flip.digest == A


def test_a_flip_is_seen_across_phases_and_at_any_distance_in_time(answer_to):
    log = gate(Log(), "pass", patch_digest=A).later(1_000_000)
    log = log.run("subject", "soak", [fails()], patch_digest=A)
    assert len(answer_to(log).flips) == 1


def test_a_flip_is_seen_across_experiments(answer_to):
    monday = gate(Log("monday"), "pass", patch_digest=A, base_sha=BASE)
    friday = gate(Log("friday"), "fail", patch_digest=A, base_sha=BASE)
    (flip,) = answer_to(monday, friday).flips
    assert flip.experiments == ("friday", "monday")


def test_without_a_digest_the_same_name_in_one_experiment_is_a_flip_of_unknown_digest(answer_to):
    (flip,) = answer_to(gate(Log(), "pass", "fail")).flips
    assert flip.digest is None


def test_without_a_digest_the_same_name_in_two_experiments_is_no_flip(answer_to):
    assert answer_to(gate(Log("monday"), "pass"), gate(Log("friday"), "fail")).flips == ()


def test_a_void_pass_makes_no_flip(answer_to):
    log = gate(Log(), "fail", patch_digest=A)
    log = log.run("subject", "gate", [passes()], patch_digest=A, end={"collected": 0})
    assert answer_to(log).flips == ()


def test_a_run_without_end_marker_makes_no_flip(answer_to):
    log = gate(Log(), "fail", patch_digest=A)
    assert answer_to(log.cut("subject", "gate", [passes()], patch_digest=A)).flips == ()


def test_bare_verdicts_of_one_digest_are_a_flip_too(answer_to):
    log = Log()
    for verdict in ("pass", "fail"):
        log = log.verdict(patch_digest=A, verdict=verdict)
    (flip,) = answer_to(log).flips
    assert (flip.passes, flip.fails) == (1, 1)


def test_verdicts_of_unknown_patches_are_no_flip(answer_to):
    assert answer_to(Log().verdict(verdict="pass").verdict(verdict="fail")).flips == ()


def test_two_digests_that_share_their_first_digits_are_two_patches(answer_to):
    log = gate(Log(), "pass", patch_digest="abcdef00" + "1" * 56)
    assert answer_to(gate(log, "fail", patch_digest="abcdef00" + "2" * 56)).flips == ()


# The tell


def beside_a_stable_one(**fields: object) -> Log:
    """patch-9 fails in every round, the patch in every other one."""
    log = Log().header()
    for number in range(6):
        log = log.beside(
            "subject", "soak", [passes(PIN), fails(**fields)], round=number, patch_id="patch-9"
        )
        test = (fails if number % 2 else passes)(**fields)
        log = log.round(number, [test])
    return log


def not_red(tells):
    return [tell for tell in tells if tell.stable != RED]


def test_a_stably_red_patch_beside_a_varying_one_is_told_with_what_they_share(tells_of):
    (tell,) = not_red(tells_of(beside_a_stable_one(**touches("/shared/db.sqlite", kind="db"))))
    assert (tell.stable, tell.stable_fails, tell.stable_runs) == ("patch-9", 6, 6)
    assert (tell.varying, tell.varying_fails, tell.varying_runs) == (PATCH, 3, 6)
    assert (tell.kind, tell.id) == ("db", "/shared/db.sqlite")


def test_where_no_resource_is_recorded_the_pair_is_told_without_one(tells_of):
    (tell,) = not_red(tells_of(beside_a_stable_one()))
    assert (tell.stable, tell.varying, tell.kind, tell.id) == ("patch-9", PATCH, None, None)


def test_what_both_only_read_is_not_what_they_share(tells_of):
    (tell,) = not_red(tells_of(beside_a_stable_one(**touches("/etc/hosts", "r"))))
    assert tell.id is None


def test_two_patches_that_both_vary_are_no_pair(tells_of):
    log = Log().header()
    for number in range(6):
        test = (fails if number % 2 else passes)()
        log = log.beside("subject", "soak", [test], round=number, patch_id="patch-9")
        log = log.round(number, [test])
    assert not_red(tells_of(log)) == []


def test_a_red_canary_beside_a_varying_patch_is_a_pair_where_they_share_something(tells_of):
    log = Log().header()
    used = touches("/shared/artifact.json")
    for number in range(6):
        test = (fails if number % 2 else passes)(**used)
        log = log.round(number, [test], red=[violates(**used)])
    assert [(tell.stable, tell.id) for tell in tells_of(log)] == [(RED, "/shared/artifact.json")]
