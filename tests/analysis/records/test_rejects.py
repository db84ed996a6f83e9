"""Every reason word: its smallest line, and the nearest line that is accepted."""

from __future__ import annotations

import json

import pytest

from analysis.records.lines import KEPT_OF_TOO_LONG, MAX_LINE_BYTES

GOOD = b'{"verdict":"pass"}'


@pytest.mark.parametrize(
    ("reason", "refused", "accepted"),
    [
        ("nul-byte", b'{"verdict":"\0"}', b'{"verdict":"\\u0000"}'),
        ("not-utf8", b'{"verdict":"\xff"}', '{"verdict":"ÿ"}'.encode()),
        ("not-json", b"pass", GOOD),
        ("not-json", b'{"verdict":"pass"} x', b'{"verdict":"pass"} '),
        ("not-json", b'{"verdict":"pass",}', GOOD),
        ("not-json", b"{'verdict':'pass'}", GOOD),
        ("not-json", b'{"verdict":"a\tb"}', b'{"verdict":"a\\tb"}'),
        ("not-json", b'{"verdict":"\\ud800"}', b'{"verdict":"\\ud83d\\ude00"}'),
        ("not-json", b'{"verdict":"","\\udc00":1}', b'{"verdict":"","\\\\udc00":1}'),
        (
            "not-json",
            b'{"verdict":"pass","x":' + b"9" * 5000 + b"}",
            b'{"verdict":"pass","x":' + b"9" * 4000 + b"}",
        ),
        (
            "not-json",
            b'{"verdict":"pass","x":' + b"[" * 200 + b"]" * 200 + b"}",
            b'{"verdict":"pass","x":' + b"[" * 199 + b"]" * 199 + b"}",
        ),
        (
            "not-json",
            b'{"verdict":"pass","x":' + b"[" * 100_000,
            b'{"verdict":"pass","x":"' + b"[" * 100_000 + b'"}',
        ),
        ("not-json", "\u00a0".encode(), b" \t "),
        ("not-an-object", b"[]", GOOD),
        ("not-an-object", b"1", GOOD),
        ("not-an-object", b'"{}"', GOOD),
        ("two-objects-on-a-line", GOOD + b"{", GOOD),
        ("two-objects-on-a-line", GOOD + b" " + GOOD, GOOD + b" "),
        ("two-objects-on-a-line", GOOD + b"\r" + GOOD, GOOD + b"\r\n" + GOOD),
        ("truncated", b'{"verdict":"pass"', GOOD),
        ("truncated", b"{", GOOD),
        ("truncated", b'{"verdict":"\xc3', '{"verdict":"Ã"}'.encode()),
        ("interleaved", b'{"run":2,"verdict":"fa{"run":3,"verdict":"pass"}', GOOD),
        ("interleaved", b'{"run":2,{"run":3,"verdict":"pass"} ', GOOD),
        ("duplicate-key", b'{"verdict":"pass","verdict":"fail"}', GOOD),
        ("duplicate-key", b'{"verdict":"pass","verdict":"pass"}', b'{"verdict":"","Verdict":""}'),
        (
            "duplicate-key",
            b'{"verdict":"pass","x":[{"a":1,"\\u0061":1}]}',
            b'{"verdict":"pass","x":[{"a":1},{"a":1}]}',
        ),
        ("missing-field:verdict", b"{}", b'{"verdict":null}'),
        ("missing-field:verdict", b'{"patch":"A"}', b'{"patch":"A","rc":1}'),
        ("missing-field:verdict", b'{"rc":null}', b'{"collected":0}'),
        ("missing-field:run_id", b'{"kind":"run_start","run":""}', b'{"event":"start","run":1}'),
        ("missing-field:run_id", b'{"kind":"run_end"}', b'{"event":"done","run":1}'),
        (
            "missing-field:run_id",
            b'{"kind":"test","test_id":"a","outcome":"passed"}',
            b'{"kind":"test","run_id":"r","test_id":"a","outcome":"passed"}',
        ),
        (
            "missing-field:test_id",
            b'{"kind":"test","run_id":"r","outcome":"passed"}',
            b'{"event":"step","run":"r","name":"a","result":"passed"}',
        ),
        (
            "missing-field:outcome",
            b'{"kind":"test","run_id":"r","test_id":"a","status":null}',
            b'{"kind":"test","run_id":"r","test_id":"a","status":"passed"}',
        ),
        (
            "missing-field:experiment",
            b'{"kind":"experiment"}',
            b'{"kind":"experiment","experiment":"e"}',
        ),
        ("bad-value:kind", b'{"kind":"soak","verdict":"pass"}', b'{"kind":"","verdict":"pass"}'),
        ("bad-value:kind", b'{"event":"x","run":1}', b'{"event":"run_start","run":1}'),
        ("bad-value:kind", b'{"kind":"start","run":1}', b'{"event":"start","run":1}'),
        ("bad-value:kind", b'{"kind":NaN,"rc":1}', b'{"rc":1}'),
        ("bad-type:kind", b'{"kind":1,"verdict":"pass"}', b'{"kind":null,"verdict":"pass"}'),
        ("bad-type:patch_id", b'{"verdict":"","pr":1.0}', b'{"verdict":"","pr":1}'),
        ("bad-type:patch_id", b'{"verdict":"","patch":true}', b'{"verdict":"","patch":"true"}'),
        ("bad-type:patch_id", b'{"verdict":"","patch":{}}', b'{"verdict":"","patch":null}'),
        ("bad-type:exit_code", b'{"rc":true}', b'{"rc":1}'),
        ("bad-type:exit_code", b'{"rc":"one"}', b'{"rc":"1"}'),
        ("bad-type:exit_code", b'{"rc":[1]}', b'{"rc":1.0}'),
        ("bad-value:exit_code", b'{"rc":2.5}', b'{"rc":2.0}'),
        ("bad-value:exit_code", b'{"rc":"2.5"}', b'{"rc":"2.0"}'),
        ("bad-value:exit_code", b'{"rc":1e999}', b'{"rc":1e3}'),
        (
            "bad-value:exit_code",
            b'{"rc":9223372036854775808}',
            b'{"rc":9223372036854775807}',
        ),
        ("bad-value:exit_code", b'{"rc":1e19}', b'{"rc":-9223372036854775808}'),
        ("bad-value:exit_code", b'{"rc":NaN}', b'{"rc":0}'),
        ("bad-value:x", b'{"rc":0,"x":[{"y":-Infinity}]}', b'{"rc":0,"x":["-Infinity"]}'),
        ("bad-value:x", b'{"rc":0,"x":[1e999]}', b'{"rc":0,"x":[1e99]}'),
        ("bad-value:tests", b'{"verdict":"","tests":[NaN]}', b'{"verdict":"","tests":[]}'),
        ("bad-value:round", b'{"rc":0,"round":-1}', b'{"rc":-1,"round":0}'),
        ("bad-value:attempt", b'{"rc":0,"attempt":-1}', b'{"rc":0,"rng_seed":-1}'),
        ("bad-value:concurrency", b'{"rc":0,"concurrency":"-1"}', b'{"rc":0,"concurrency":"1"}'),
        ("bad-value:cpu_load", b'{"rc":0,"cpu_load":-1}', b'{"rc":0,"order_seed":-1}'),
        ("bad-value:cpus", b'{"rc":0,"cpus":-1}', b'{"passed":-1}'),
        ("bad-type:switch_interval", b'{"rc":0,"switch_interval":false}', b'{"rc":0}'),
        (
            "bad-value:switch_interval",
            b'{"rc":0,"switch_interval":"1e999"}',
            b'{"rc":0,"switch_interval":"1e-3"}',
        ),
        ("bad-type:merged", b'{"rc":0,"merged":2}', b'{"rc":0,"merged":1}'),
        ("bad-type:timed_out", b'{"rc":0,"timeout":"yes"}', b'{"rc":0,"timeout":"true"}'),
        ("bad-type:complete", b'{"rc":0,"complete":0.0}', b'{"rc":0,"complete":0}'),
        ("bad-value:role", b'{"rc":0,"role":"blue"}', b'{"rc":0,"role":"red_canary"}'),
        ("bad-type:role", b'{"rc":0,"role":1}', b'{"rc":0,"role":"subject"}'),
        ("bad-value:phase", b'{"rc":0,"phase":"Soak"}', b'{"rc":0,"phase":"peers"}'),
        ("bad-value:isolation", b'{"rc":0,"isolation":"yes"}', b'{"rc":0,"isolation":true}'),
        ("bad-type:isolation", b'{"rc":0,"isolation":[]}', b'{"rc":0,"isolation":"off"}'),
        ("bad-type:env", b'{"rc":0,"env":["TZ"]}', b'{"rc":0,"env":{"TZ":"UTC"}}'),
        ("bad-type:host", b'{"rc":0,"host":"h"}', b'{"rc":0,"host":{}}'),
        ("bad-type:proof", b'{"rc":0,"proof":[]}', b'{"rc":0,"proof":{}}'),
        ("bad-type:tests", b'{"verdict":"","tests":12}', b'{"verdict":"","tests":null}'),
        ("bad-type:tests", b'{"verdict":"","tests":["a"]}', b'{"verdict":""}'),
        (
            "missing-field:outcome",
            b'{"verdict":"","tests":[{"name":"a"}]}',
            b'{"verdict":"","tests":[{"name":"a","status":"passed"}]}',
        ),
        (
            "bad-value:outcome",
            b'{"verdict":"","tests":[{"name":"a","status":"flaky"}]}',
            b'{"verdict":"flaky"}',
        ),
        ("bad-type:started", b'{"rc":0,"started":true}', b'{"rc":0,"started":1}'),
        ("bad-type:finished", b'{"rc":0,"at":{}}', b'{"rc":0,"at":""}'),
        ("bad-value:finished", b'{"rc":0,"at":"soon"}', b'{"rc":0,"at":"2026-01-01"}'),
        ("bad-value:finished", b'{"rc":0,"at":"2026-02-30"}', b'{"rc":0,"at":"2026-02-28"}'),
        ("bad-value:finished", b'{"rc":0,"at":1e13}', b'{"rc":0,"at":1e12}'),
        ("bad-value:finished", b'{"rc":0,"at":Infinity}', b'{"rc":0,"at":0}'),
    ],
)
def test_the_smallest_bad_line_is_refused_and_the_nearest_good_one_is_not(
    read_all, reason, refused, accepted
):
    bad = read_all(refused + b"\n")
    assert bad.reasons == [reason]
    assert bad.counts == (1, 0, 1, 0, 0)
    assert bad.rejects[0]["raw"] == refused
    assert bad.rejects[0]["length"] == len(refused)
    assert read_all(accepted + b"\n").reasons == []


TEST = {"kind": "test", "run_id": "r", "test_id": "a", "outcome": "passed"}


@pytest.mark.parametrize(
    ("reason", "refused", "accepted"),
    [
        ("bad-value:outcome", {"outcome": "flaky"}, {"outcome": "xpassed"}),
        ("bad-type:outcome", {"outcome": True}, {"outcome": "ok"}),
        ("bad-value:iteration", {"iteration": -1}, {"iteration": 0}),
        ("bad-type:duration_s", {"duration_s": "1,5"}, {"duration_s": "1.5"}),
        ("bad-type:message", {"message": 1.5}, {"message": 1}),
        ("bad-type:message", {"message": ["x"]}, {"message": "x"}),
        ("bad-type:before", {"before": "a"}, {"before": ["a"]}),
        ("bad-type:before", {"before": [None]}, {"before": []}),
        ("bad-type:log", {"log": 1}, {"log": "out.txt"}),
        ("bad-type:log", {"log": []}, {"log": {"path": "out.txt"}}),
        ("bad-type:resources", {"resources": {}}, {"resources": []}),
        ("bad-type:resources", {"resources": ["port"]}, {"resources": None}),
        (
            "missing-field:resources",
            {"resources": [{"kind": "port", "id": 1}]},
            {"resources": [{"kind": "port", "id": 1, "op": "w"}]},
        ),
        (
            "missing-field:resources",
            {"resources": [{"kind": "", "id": 1, "op": "w"}]},
            {"resources": [{"kind": "queue", "id": 1, "op": "w"}]},
        ),
        (
            "bad-value:resources",
            {"resources": [{"kind": "db", "id": "x", "op": "rw"}]},
            {"resources": [{"kind": "db", "id": "x", "op": "r"}]},
        ),
        (
            "bad-type:resources",
            {"resources": [{"kind": "db", "id": 1.0, "op": "r"}]},
            {"resources": [{"kind": "db", "id": 1, "op": "r"}]},
        ),
    ],
)
def test_a_bad_field_of_a_test_line_is_refused_by_its_name(read_items, reason, refused, accepted):
    assert read_items(TEST | refused).reasons == [reason]
    good = read_items(TEST | accepted)
    assert good.reasons == []
    assert len(good.tests) == 1


@pytest.mark.parametrize(
    ("reason", "refused", "accepted"),
    [
        ("bad-type:canaries", {"canaries": []}, {"canaries": {}}),
        ("bad-type:policy", {"policy": "strict"}, {"policy": {"alpha": 0.01}}),
        ("bad-type:inventory", {"inventory": "a"}, {"inventory": ["a", 1]}),
        ("bad-type:inventory", {"inventory": [{}]}, {"inventory": None}),
    ],
)
def test_a_bad_field_of_a_header_is_refused_by_its_name(read_items, reason, refused, accepted):
    header = {"kind": "experiment", "experiment": "e"}
    assert read_items(header | refused).reasons == [reason]
    assert len(read_items(header | accepted).experiments) == 1


def test_a_line_of_64_mib_is_read_and_a_byte_more_is_too_long(read_all):
    frame = len(b'{"verdict":"","x":""}')
    longest = b'{"verdict":"","x":"' + b"a" * (MAX_LINE_BYTES - frame) + b'"}'
    good = read_all(longest + b"\r\n" + GOOD + b"\n")
    assert good.counts == (2, 2, 0, 0, 0)
    too_long = longest[:-2] + b'a"}'
    bad = read_all(too_long + b"\r\n" + GOOD + b"\n")
    assert bad.counts == (2, 1, 1, 0, 0)
    reject = bad.rejects[0]
    assert reject["reason"] == "too-long"
    assert reject["length"] == MAX_LINE_BYTES + 1
    assert reject["raw"] == too_long[:KEPT_OF_TOO_LONG]
    assert bad.runs[0]["byte_offset"] == len(too_long) + 2
    assert bad.runs[0]["line"] == 2


def test_a_too_long_line_is_a_reject_even_while_the_file_may_grow(read_all):
    reading = read_all(GOOD + b"\n" + b" " * (MAX_LINE_BYTES + 7), final=False)
    assert reading.counts == (2, 1, 1, 0, 0)
    assert reading.tail == "reject"
    assert reading.rejects[0]["length"] == MAX_LINE_BYTES + 7
    assert reading.end_offset == len(GOOD) + 1


def test_bad_lines_among_good_ones_cost_no_good_one(read_all):
    data = b"\n".join([GOOD, b"\xff", GOOD, b"", GOOD, b"[]", b"{", GOOD]) + b"\n"
    reading = read_all(data)
    assert reading.counts == (8, 4, 3, 1, 0)
    assert [row["line"] for row in reading.runs] == [1, 3, 5, 8]
    assert [(r["line"], r["reason"]) for r in reading.rejects] == [
        (2, "not-utf8"),
        (6, "not-an-object"),
        (7, "truncated"),
    ]
    for row in reading.runs:
        at = row["byte_offset"]
        assert data[at : at + len(GOOD)] == GOOD
    for reject in reading.rejects:
        at = reject["byte_offset"]
        assert data[at : at + reject["length"]] == reject["raw"]


def test_a_line_is_refused_whole_when_one_of_its_tests_is_wrong(read_items):
    good = {"name": "a", "status": "passed"}
    reading = read_items({"verdict": "pass", "tests": [good, {"name": "b", "status": "???"}]})
    assert reading.counts == (1, 0, 1, 0, 0)
    assert reading.tests == []
    assert reading.runs == []
    assert reading.notes == []


def test_a_line_of_many_brackets_in_texts_is_not_deep(read_items):
    assert read_items({"verdict": "pass", "x": '"[{' * 1000}).reasons == []


def test_the_nearest_later_object_tells_two_writers_apart_even_with_objects_inside(read_all):
    record = json.dumps({"run": 3, "verdict": "pass", "host": {"load1": 1}, "tests": []})
    torn = json.dumps({"run": 2, "verdict": "pass", "env": {"TZ": "UTC"}})
    reading = read_all((torn[:-9] + record + "\n").encode())
    assert reading.reasons == ["interleaved"]
