"""Lines that are read many at once say what they say one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.records import bulk, open_source

DATA = Path(__file__).parents[2] / "data"
LOGS = sorted(path for path in DATA.rglob("*.jsonl*") if path.is_file())
ONE_BY_ONE = 10**9
MANY_AT_ONCE = 1

CONTEXT = {
    "kind": "test",
    "experiment": "e",
    "run_id": "r",
    "patch_id": "p",
    "role": "subject",
    "phase": "soak",
    "round": 1,
    "env": {"TZ": "UTC"},
    "count": 3,
}


def line_of(run: int, test: int, **more: Any) -> dict[str, Any]:
    started = 1_764_000_000.0 + run * 10 + test / 7
    return {
        **CONTEXT,
        "run_id": f"r{run}",
        "test_id": f"tests/test_{test}.py::test",
        "outcome": "passed",
        "started": round(started, 6),
        "finished": round(started + 0.00003, 6),
        "duration_s": 0.00003,
        **more,
    }


def dumped(items: list[dict[str, Any]], **style: Any) -> list[bytes]:
    return [json.dumps(item, **style).encode() for item in items]


def same(read_all: Any, data: bytes, **options: Any) -> Any:
    """Reads in both ways, asserts that they agree, and gives what was read."""
    many = read_all(data, bulk_lines=MANY_AT_ONCE, **options)
    single = read_all(data, bulk_lines=ONE_BY_ONE, **options)
    assert many.tests == single.tests
    assert many.runs == single.runs
    assert many.rejects == single.rejects
    assert many.notes == single.notes
    assert many.experiments == single.experiments
    for left, right in zip(many.batches, single.batches, strict=True):
        assert (left.lines, left.rows, left.blank, left.end_offset, left.tail) == (
            right.lines,
            right.rows,
            right.blank,
            right.end_offset,
            right.tail,
        )
    return many


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines were read many at once, a number a group."""
    counts: list[int] = []
    take = bulk.Bulk.take

    def counting(self: Any, block: Any) -> Any:
        for group in take(self, block):
            counts.append(len(group.lines))
            yield group

    monkeypatch.setattr(bulk.Bulk, "take", counting)
    return counts


STYLES = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"iteration": 4},
        {"exc": "E", "message": 'a "b"\n\tc\\', "where": "x.py:3"},
        {"exc": "E", "errno": None, "frame_kind": "test"},
        {"before": ["a::b", "c"], "resources": []},
        {"before": [], "resources": [{"kind": "port", "id": "80", "op": "w"}]},
        {"resources": [{"op": "r", "kind": "file", "id": 'a"b'}]},
        {"started": 1_764_000_000, "finished": 1_764_000_001},
        {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:00.25+00:00"},
        {"duration_s": 3, "attempt": 2, "variant": "linux"},
    ],
)
def test_good_lines_are_read_many_at_once(read_all, taken, style, more):
    items = [line_of(run, test, **more) for run in range(3) for test in range(20)]
    same(read_all, b"\n".join(dumped(items, **style)) + b"\n")
    assert sum(taken) == 60


def test_the_keys_may_have_other_names_and_another_order(read_all, taken):
    items = [
        {"event": "step", "run": "r1", "name": f"t{i % 9}", "status": "ok", "duration_s": i / 8}
        for i in range(50)
    ]
    same(read_all, b"\n".join(dumped(items)) + b"\n")
    assert sum(taken) == 50


def test_numbers_may_be_filled_up_with_zeros(read_all, taken):
    lines = [
        put(line, b": 3e-05", f": {i / 10:.3f}".encode())
        for i, line in enumerate(dumped([line_of(1, test) for test in range(60)]))
    ]
    same(read_all, b"\n".join(lines) + b"\n")
    assert sum(taken) == 60


def test_lines_in_two_shapes_are_read_a_group_a_shape(read_all, taken):
    items = [
        line_of(1, i, **({"exc": "E", "message": "m"} if i % 3 == 0 else {})) for i in range(60)
    ]
    same(read_all, b"\n".join(dumped(items)) + b"\n")
    assert sorted(taken) == [20, 40]


def put(raw: bytes, old: bytes, new: bytes) -> bytes:
    assert old in raw
    return raw.replace(old, new, 1)


GOOD = json.dumps(line_of(1, 1)).encode()
ODD = {
    "cut": GOOD[:-20],
    "cut in the head": GOOD[:40],
    "trailing garbage": GOOD + b" x",
    "two objects": GOOD + GOOD,
    "trailing comma": put(GOOD, b"e-05}", b"e-05,}"),
    "comma in the head": put(GOOD, b'"count": 3,', b'"count": 3,,'),
    "duplicate key in the tail": put(GOOD, b"e-05}", b'e-05, "outcome": "failed"}'),
    "duplicate key across": put(GOOD, b"e-05}", b'e-05, "round": 1}'),
    "test id twice": put(GOOD, b"e-05}", b'e-05, "nodeid": "other"}'),
    "wrong case": put(GOOD, b'"outcome"', b'"Outcome"'),
    "both cases": put(GOOD, b"e-05}", b'e-05, "Outcome": "failed"}'),
    "NaN": put(GOOD, b"3e-05", b"NaN"),
    "Infinity": put(GOOD, b"3e-05", b"Infinity"),
    "too large": put(GOOD, b"3e-05", b"1e999"),
    "other number": put(GOOD, b"3e-05", b"0.00003"),
    "number as text": put(GOOD, b"3e-05", b'"3e-05"'),
    "boolean for a number": put(GOOD, b"3e-05", b"true"),
    "number for a text": put(GOOD, b'"tests/test_1.py::test"', b"7"),
    "float for a text": put(GOOD, b'"tests/test_1.py::test"', b"7.5"),
    "object for a text": put(GOOD, b'"tests/test_1.py::test"', b'{"a": 1}'),
    "null id": put(GOOD, b'"tests/test_1.py::test"', b"null"),
    "empty id": put(GOOD, b'"tests/test_1.py::test"', b'""'),
    "no outcome": put(GOOD, b'"outcome": "passed", ', b""),
    "unknown outcome": put(GOOD, b'"passed"', b'"fine"'),
    "alias of an outcome": put(GOOD, b'"passed"', b'"ok"'),
    "upper-case outcome": put(GOOD, b'"passed"', b'"PASSED"'),
    "xpassed": put(GOOD, b'"passed"', b'"xpassed"'),
    "strictly xpassed": put(
        put(GOOD, b'"passed"', b'"xpassed"'), b"e-05}", b'e-05, "strict": true}'
    ),
    "skipped": put(GOOD, b'"passed"', b'"skipped"'),
    "escape": put(GOOD, b"test_1.py", b"test_\\u0031.py"),
    "escaped slash": put(GOOD, b"tests/", b"tests\\/"),
    "lone surrogate": put(GOOD, b"test_1.py", b"\\ud800"),
    "not UTF-8": put(GOOD, b"test_1.py", b"\xff"),
    "not UTF-8 in the head": put(GOOD, b'"p"', b'"\xff"'),
    "UTF-8": put(GOOD, b"test_1.py", "tést.py".encode()),
    "NUL": put(GOOD, b"test_1.py", b"\x00"),
    "raw tab": put(GOOD, b"test_1.py", b"\t"),
    "delete sign": put(GOOD, b"test_1.py", b"\x7f"),
    "unstable id": put(GOOD, b"test_1.py", b"<a at 0x7f00aabbcc>"),
    "byte-order mark": b"\xef\xbb\xbf" + GOOD,
    "CRLF": GOOD + b"\r",
    "spaces around": b"  " + GOOD + b"  ",
    "other spacing": put(GOOD, b'"outcome": ', b'"outcome" :  '),
    "blank": b"   ",
    "empty": b"",
    "no JSON": b"Traceback (most recent call last):",
    "the key in a text": put(GOOD, b'"count": 3', b'"count": "\\"test_id\\": 1, "'),
    "the key in the head": put(GOOD, b'"p"', b'"p \\"test_id\\": \\"x\\""'),
    "another kind": put(GOOD, b'"kind": "test"', b'"kind": "run_end"'),
    "no kind": put(GOOD, b'"kind": "test", ', b""),
    "bad context": put(GOOD, b'"round": 1', b'"round": 2.5'),
    "number as text in the context": put(GOOD, b'"round": 1', b'"round": "1"'),
    "before 2000": put(GOOD, b'"started": 1764000010', b'"started": 1'),
    "far ahead": put(GOOD, b'"started": 1764000010', b'"started": 99999999999'),
    "finished first": put(GOOD, b'"finished": 1764000010', b'"finished": 1763000010'),
    "no zone": put(GOOD, b'"finished": 1764000010.142887', b'"finished": "2026-01-01T00:00:00"'),
    "leap second": put(
        GOOD, b'"finished": 1764000010.142887', b'"finished": "2026-06-30T23:59:60Z"'
    ),
    "30 February": put(
        GOOD, b'"finished": 1764000010.142887', b'"finished": "2026-02-30T00:00:00Z"'
    ),
    "half a microsecond": put(GOOD, b"1764000010.142887", b"1764000010.1428875"),
    "negative zero": put(GOOD, b"3e-05", b"-0.0"),
    "huge integer": put(GOOD, b"3e-05", b"123456789012345678901234567890"),
    "2.5 iterations": put(GOOD, b"e-05}", b'e-05, "iteration": 2.5}'),
    "3.0 iterations": put(GOOD, b"e-05}", b'e-05, "iteration": 3.0}'),
    "minus one iteration": put(GOOD, b"e-05}", b'e-05, "iteration": -1}'),
    "before is no list": put(GOOD, b"e-05}", b'e-05, "before": "x"}'),
    "before holds a number": put(GOOD, b"e-05}", b'e-05, "before": ["x", 5]}'),
    "before holds null": put(GOOD, b"e-05}", b'e-05, "before": ["x", null]}'),
    "resource without op": put(
        GOOD, b"e-05}", b'e-05, "resources": [{"kind": "port", "id": "1"}]}'
    ),
    "resource with more": put(
        GOOD, b"e-05}", b'e-05, "resources": [{"kind": "port", "id": "1", "op": "w", "x": 1}]}'
    ),
    "resource with another op": put(
        GOOD, b"e-05}", b'e-05, "resources": [{"kind": "port", "id": "1", "op": "x"}]}'
    ),
    "resource with an empty id": put(
        GOOD, b"e-05}", b'e-05, "resources": [{"kind": "port", "id": "", "op": "w"}]}'
    ),
    "empty message": put(GOOD, b"e-05}", b'e-05, "message": ""}'),
    "log": put(GOOD, b"e-05}", b'e-05, "log": {"path": "x"}}'),
    "bad key": put(GOOD, b'"outcome"', b'"out\\u0063ome"'),
    "empty key": put(GOOD, b"e-05}", b'e-05, "": 1}'),
    "key with a quote": put(GOOD, b"e-05}", b'e-05, "a\\"b": 1}'),
    "key with NUL": put(GOOD, b"e-05}", b'e-05, "a\\u0000b": 1}'),
    "key with a lone surrogate": put(GOOD, b"e-05}", b'e-05, "a\\udc00": 1}'),
    "key with a dollar": put(GOOD, b"e-05}", b'e-05, "$t1": "$t2", "%s {}": 1}'),
    "long key": put(GOOD, b"e-05}", b'e-05, "' + b"k" * 70_000 + b'": 1}'),
    "many keys": put(
        GOOD, b"e-05}", b"e-05, " + b", ".join(b'"k%d": %d' % (i, i) for i in range(500)) + b"}"
    ),
    "a key called i": put(GOOD, b"e-05}", b'e-05, "i": 1, "tail": 2, "j": 3, "c0": 4}'),
    "deep": put(GOOD, b"e-05}", b'e-05, "x": ' + b"[" * 300 + b"]" * 300 + b"}"),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("often", [1, 30])
def test_an_odd_line_among_good_ones_is_read_as_it_is_alone(read_all, odd, often):
    good = dumped([line_of(run, test) for run in range(2) for test in range(20)])
    lines = [*good[:15], *([odd] * often), *good[15:]]
    assert len(same(read_all, b"\n".join(lines) + b"\n").tests) >= 40


@settings(max_examples=60)
@given(data=st.data())
def test_any_mixture_is_read_the_same(read_all, data):
    shapes = data.draw(
        st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "iteration": st.integers(0, 5),
                    "message": st.text(max_size=8),
                    "exc": st.sampled_from(["E", "F", None]),
                    "before": st.lists(st.text(max_size=3), max_size=2),
                    "attempt": st.integers(0, 2),
                    "strict": st.booleans(),
                    "junk": st.one_of(st.integers(), st.text(max_size=3), st.floats()),
                    "outcome": st.sampled_from(["passed", "failed", "error", "xpassed", "ok"]),
                    "started": st.floats(0, 2e9),
                    "duration_s": st.floats(allow_nan=False, allow_infinity=False),
                    "resources": st.lists(
                        st.fixed_dictionaries(
                            {
                                "kind": st.sampled_from(["port", "file"]),
                                "id": st.text(max_size=3),
                                "op": st.sampled_from(["r", "w"]),
                            }
                        ),
                        max_size=2,
                    ),
                },
            ),
            min_size=1,
            max_size=4,
        )
    )
    style = data.draw(st.sampled_from(STYLES))
    good = [line_of(run, test, **more) for run in range(2) for more in shapes for test in range(6)]
    lines = [
        text.encode("utf-8", "surrogatepass")
        for item in good
        for text in [json.dumps(item, **style)]
    ]
    places = st.integers(0, len(lines))
    for odd in data.draw(st.lists(st.sampled_from(list(ODD.values())), max_size=6)):
        lines.insert(data.draw(places), odd)
    text = bytearray(b"\n".join(lines) + b"\n")
    for place in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=4)):
        text[place] = data.draw(st.sampled_from(b'"{}[],:\\ 0a\n\x00\xff'))
    batch_lines = data.draw(st.sampled_from([7, 40, 1000]))
    same(read_all, bytes(text), batch_lines=batch_lines)


@pytest.mark.parametrize("log", LOGS, ids=lambda path: str(path.relative_to(DATA)))
def test_every_log_of_the_tests_is_read_the_same(read_all, log):
    with open_source(log) as stream:
        data = stream.read()
    same(read_all, data)
