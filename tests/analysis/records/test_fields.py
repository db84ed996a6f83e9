"""Kinds, fields, aliases and values of good lines."""

from __future__ import annotations

import json

import pytest

from analysis.records.plan import ALIASES


def one(reading):
    assert reading.reasons == []
    (run,) = reading.runs
    return run


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"kind": "run_start"}, "run_start"),
        ({"kind": "run_end"}, "run_end"),
        ({"kind": "verdict", "verdict": "pass"}, "verdict"),
        ({"verdict": "pass"}, "verdict"),
        ({"event": "start"}, "run_start"),
        ({"event": "done"}, "run_end"),
        ({"event": "run_end"}, "run_end"),
        ({"kind": "", "event": "done"}, "run_end"),
        ({"event": "step", "test": "a", "result": "passed"}, "test"),
    ],
)
def test_the_kind_of_a_line(read_items, item, kind):
    run = one(read_items({"run": "r"} | item))
    assert run["kind"] == kind
    assert run["extra"] is None


def test_kind_wins_over_event(read_items):
    reading = read_items({"kind": "run_end", "event": "start", "run": "r"})
    assert one(reading)["kind"] == "run_end"
    assert reading.rules == ["alias-conflict"]
    assert "run_end" in reading.notes[0]["detail"]
    assert "start" in reading.notes[0]["detail"]


def test_an_event_that_is_no_kind_is_kept_beside_a_kind(read_items):
    reading = read_items({"kind": "run_end", "event": "pull_request", "run": "r"})
    assert json.loads(one(reading)["extra"]) == {"event": "pull_request"}
    assert reading.notes == []


def test_every_context_field_is_read_under_its_name(read_items):
    context = {
        "experiment": "e",
        "patch_id": "p",
        "patch_digest": "d" * 8,
        "base_sha": "b",
        "role": "green",
        "variant": "v",
        "phase": "serial",
        "round": 1,
        "attempt": 2,
        "ns": "n",
        "ns_root": "/n",
        "isolation": "off",
        "concurrency": 3,
        "cpu_load": 4,
        "switch_interval": 0.005,
        "cpus": 5,
        "runner": "x",
        "image_digest": "i",
        "worker": "w",
        "rng_seed": 6,
        "order": "fixed",
        "order_seed": 7,
        "command": "make",
        "model_id": "m",
        "prompt_sha256": "s",
        "workspace_generation": "g",
        "seed": "8",
        "runner_digest": "rd",
        "merged": True,
        "source": "run",
    }
    env = {"TZ": "UTC", "umask": "022"}
    for kind in ("run_start", "run_end", "verdict"):
        item = {"kind": kind, "run_id": "r", "verdict": "pass", "env": env} | context
        run = one(read_items(item))
        assert {name: run[name] for name in context} == context
        assert run["env"] == '{"TZ":"UTC","umask":"022"}'


def test_every_field_of_a_runs_end_is_read_under_its_name(read_items):
    end = {
        "exit_code": 1,
        "collected": 9,
        "passed": 1,
        "failed": 2,
        "errors": 3,
        "skipped": 3,
        "inventory_missing": 4,
        "steps": 9,
        "verdict": "fail",
        "complete": True,
        "timed_out": False,
        "crashed": True,
    }
    objects = {"host": {"psi_cpu10": 1.5, "load1": 2}, "proof": {"log": {"path": "x"}}}
    times = {"started": 1.7e9, "finished": 1.7e9 + 1}
    for kind in ("run_end", "verdict"):
        run = one(read_items({"kind": kind, "run_id": "r"} | end | objects | times))
        assert {name: run[name] for name in end} == end
        assert run["host"] == '{"load1":2,"psi_cpu10":1.5}'
        assert run["proof"] == '{"log":{"path":"x"}}'
        assert run["started"] == 1_700_000_000_000_000
        assert run["finished"] == 1_700_000_001_000_000
        assert run["extra"] is None


def test_every_field_of_a_test_is_read_under_its_name(read_items):
    plain = {
        "run_id": "r",
        "test_id": "t.py::a",
        "variant": "v",
        "attempt": 1,
        "iteration": 3,
        "outcome": "failed",
        "duration_s": 0.5,
        "exc": "OSError",
        "errno": "EADDRINUSE",
        "message": "boom\nmore",
        "where": "t.py:3",
        "before": ["t.py::b"],
        "resources": [{"kind": "port", "id": "80", "op": "w"}],
    }
    log = {"path": "x", "sha256": "y"}
    reading = read_items({"kind": "test", "log": log, "started": 1.7e9} | plain)
    (test,) = reading.tests
    assert {name: test[name] for name in plain} == plain
    assert test["failed"] is True
    assert test["item"] == 0
    assert test["test_norm"] == "t.py::a"
    assert test["unstable_id"] is False
    assert test["started"] == 1_700_000_000_000_000
    assert test["log"] == '{"path":"x","sha256":"y"}'
    assert test["extra"] is None


def test_a_header_is_read_whole(read_items):
    header = {"canaries": {"red": {"patch_id": "red"}}, "policy": {"alpha": 0.02}}
    item = {"kind": "experiment", "experiment": "e", "inventory": ["a", 2], "note": "n"}
    reading = read_items(item | header)
    (row,) = reading.experiments
    assert row["experiment"] == "e"
    assert json.loads(row["canaries"]) == header["canaries"]
    assert json.loads(row["policy"]) == header["policy"]
    assert row["inventory"] == ["a", "2"]
    assert json.loads(row["extra"]) == {"note": "n"}
    assert reading.runs == []


@pytest.mark.parametrize(
    ("name", "alias"),
    [(name, alias) for name, aliases in ALIASES.items() for alias in aliases],
)
def test_an_alias_is_read_as_its_canonical_name_which_wins_over_it(read_items, name, alias):
    on_test = name in ("outcome", "test_id")
    base = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "passed"} if on_test else {}
    base = base or {"verdict": "pass", "run_id": "r"}
    first, second = {
        "exit_code": (1, 0),
        "outcome": ("failed", "passed"),
        "verdict": ("fail", "pass"),
        "started": (1.7e9, 1.6e9),
        "finished": (1.7e9, 1.6e9),
        "timed_out": (True, False),
        "crashed": (True, False),
    }.get(name, ("x", "y"))

    def value(item):
        reading = read_items(item)
        row = (reading.tests if on_test else reading.runs)[0]
        return row[name], reading.rules, row["extra"]

    without = {key: kept for key, kept in base.items() if key != name}
    stored = value(without | {name: first})[0]
    assert value(without | {alias: first}) == (stored, [], None)
    assert value(without | {alias: first, name: first}) == (stored, [], None)
    assert value(without | {alias: first, name: None})[0] == (
        "none" if name == "verdict" else stored
    )
    for item in ({name: first, alias: second}, {alias: second, name: first}):
        kept, rules, extra = value(without | item)
        assert kept == stored
        assert rules == ["alias-conflict"]
        assert json.loads(extra) == {alias: second}


def test_among_aliases_the_first_listed_wins(read_items):
    reading = read_items({"verdict": "pass", "pr": "b", "pr_id": "c", "patch": "a"})
    assert one(reading)["patch_id"] == "a"
    assert reading.rules == ["alias-conflict", "alias-conflict"]
    assert '"a"' in reading.notes[0]["detail"]
    assert '"b"' in reading.notes[0]["detail"]


def test_values_that_read_the_same_are_no_conflict(read_items):
    assert read_items({"exit_code": 1, "rc": "1.0", "exit": None}).notes == []


def test_an_alias_of_another_shape_is_kept_beside_the_canonical_name(read_items):
    reading = read_items({"run_id": "r", "run": {"number": 4}, "verdict": "pass"})
    run = one(reading)
    assert run["run_id"] == "r"
    assert json.loads(run["extra"]) == {"run": {"number": 4}}
    assert reading.rules == ["alias-conflict"]


@pytest.mark.parametrize("word", ["pass", "passed", "ok", "green", "approve", " PASS ", "Green"])
def test_words_for_pass(read_items, word):
    assert one(read_items({"verdict": word}))["verdict"] == "pass"


@pytest.mark.parametrize("word", ["fail", "failed", "red", "block", "reject", "FAIL\n"])
def test_words_for_fail(read_items, word):
    assert one(read_items({"result": word}))["verdict"] == "fail"


@pytest.mark.parametrize(
    "word", ["", None, "none", "unknown", "passs", "pass fail", True, 1, 0, ["pass"], {"a": 1}, 1.5]
)
def test_everything_else_is_no_verdict(read_items, word):
    reading = read_items({"verdict": word, "rc": 0, "passed": 3})
    assert one(reading)["verdict"] == "none"
    kept = json.loads(one(reading)["extra"] or "{}")
    assert kept == ({} if word in ("", None, "none") else {"verdict": word})


@pytest.mark.parametrize("item", [{"rc": 0}, {"kind": "run_end", "run": 1, "rc": 0, "passed": 1}])
def test_a_verdict_is_never_made_from_an_exit_code(read_items, item):
    assert one(read_items(item))["verdict"] == "none"


def test_an_empty_verdict_is_none_whatever_an_alias_says(read_items):
    for item in ({"verdict": None, "status": "pass"}, {"status": "pass", "verdict": ""}):
        assert one(read_items(item))["verdict"] == "none"


def test_an_empty_alias_does_not_hide_a_verdict(read_items):
    for item in ({"status": None, "result": "pass"}, {"result": "pass", "status": ""}):
        reading = read_items(item)
        assert one(reading)["verdict"] == "pass"
        assert reading.notes == []


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("soak", "soak"),
        ("gate", "gate"),
        ("peers", "concurrent"),
        ("high_concurrency", "concurrent"),
        ("stress", "repeat"),
        ("switch", "tightened"),
        ("load", "loaded"),
    ],
)
def test_phases_and_their_aliases(read_items, word, phase):
    assert one(read_items({"rc": 0, "phase": word}))["phase"] == phase


@pytest.mark.parametrize(
    ("ns", "phase", "number", "role"),
    [
        ("soak-3-red", "soak", 3, "red"),
        ("soak-0-green", "soak", 0, "green"),
        ("soak-12-subj", "soak", 12, "subject"),
        ("soak-3-subject", None, None, None),
        ("soak--red", None, None, None),
        ("xsoak-3-red", None, None, None),
        ("soak-3-red-2", None, None, None),
        ("soak-99999999999999999999-red", None, None, None),
    ],
)
def test_a_soak_namespace_says_phase_round_and_role(read_items, ns, phase, number, role):
    run = one(read_items({"verdict": "pass", "ns": ns}))
    assert (run["phase"], run["round"], run["role"], run["ns"]) == (phase, number, role, ns)


def test_a_soak_namespace_only_fills_what_is_missing(read_items):
    item = {"verdict": "pass", "ns": "soak-3-red", "phase": "gate", "round": 7}
    run = one(read_items(item))
    assert (run["phase"], run["round"], run["role"]) == ("gate", 7, "red")


def test_an_unlisted_field_is_kept_as_it_is(read_items):
    kept = {"xfailed": 0, "z": {"b": [None, 1.5, "ü"], "a": ""}, "frame_kind": "x", "": None}
    run = one(read_items({"verdict": "pass"} | kept))
    assert json.loads(run["extra"]) == kept
    assert run["extra"].startswith('{"":null,"frame_kind":"x","xfailed":0,"z":{"a":"","b":[')


def test_a_listed_field_of_another_kind_is_kept_aside(read_items):
    test = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "passed"}
    aside = {"exit_code": [1], "verdict": "pass", "timeout": 30, "collected": -1}
    (row,) = read_items(test | aside).tests
    assert json.loads(row["extra"]) == aside
    start = {"kind": "run_start", "run_id": "r", "collected": 2, "started": 1.7e9}
    run = one(read_items(start | {"finished": "x", "message": 1.5, "verdict": "pass"}))
    assert (run["collected"], run["started"]) == (2, 1_700_000_000_000_000)
    assert json.loads(run["extra"]) == {"finished": "x", "message": 1.5, "verdict": "pass"}
    assert run["verdict"] is None


def test_null_and_empty_text_count_as_missing(read_items):
    names = ("patch_id", "round", "exit_code", "started", "env", "proof", "merged", "role")
    for empty in (None, ""):
        reading = read_items({"verdict": "pass"} | dict.fromkeys(names, empty))
        run = one(reading)
        assert [run[name] for name in names] == [None] * len(names)
        assert run["extra"] is None
        assert reading.notes == []


def test_an_environment_keeps_its_named_variables_and_the_rest_aside(read_items):
    run = one(read_items({"rc": 0, "env": {"TZ": "UTC", "SECRET": "x", "LANG": None}}))
    assert run["env"] == '{"LANG":null,"TZ":"UTC"}'
    assert json.loads(run["extra"]) == {"env": {"SECRET": "x"}}


def test_an_environment_that_is_a_label_is_the_variant(read_items):
    assert one(read_items({"rc": 0, "env": "py3.9"}))["variant"] == "py3.9"
    run = one(read_items({"rc": 0, "env": "py3.9", "variant": "linux"}))
    assert (run["variant"], json.loads(run["extra"])) == ("linux", {"env": "py3.9"})


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        ("passed", False),
        ("failed", True),
        ("error", True),
        ("timeout", True),
        ("crash", True),
        ("skipped", None),
        ("xfailed", None),
        ("xpassed", False),
    ],
)
def test_what_counts_as_failed(read_items, outcome, failed):
    item = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": outcome}
    (row,) = read_items(item).tests
    assert (row["outcome"], row["failed"]) == (outcome, failed)


def test_a_strict_unexpected_pass_is_a_failure(read_items):
    item = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "xpassed", "strict": True}
    (row,) = read_items(item).tests
    assert row["failed"] is True
    assert json.loads(row["extra"]) == {"strict": True}
    assert read_items(item | {"strict": False}).tests[0]["failed"] is False


def test_more_than_kind_id_and_op_of_a_resource_is_kept_aside(read_items):
    used = [{"kind": "port", "id": 80, "op": "w", "at": 3}]
    item = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "passed", "resources": used}
    (row,) = read_items(item).tests
    assert row["resources"] == [{"kind": "port", "id": "80", "op": "w"}]
    assert json.loads(row["extra"]) == {"resources": used}


def test_texts_keep_every_character(read_items):
    patch = 'a\u0000b\n"\\ü😀\u202e'
    assert one(read_items({"verdict": "pass", "patch": patch}))["patch_id"] == patch
