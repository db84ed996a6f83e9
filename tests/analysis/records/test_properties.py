"""What holds for any bytes and any good records."""

from __future__ import annotations

import io
import json
import string
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from analysis.records.lines import split_lines
from analysis.records.prefix import is_cut_short
from analysis.records.schema import CONTEXT, COUNTS

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    (
        *CONTEXT,
        *COUNTS,
        *("kind", "event", "verdict", "run_id", "run", "test", "name", "outcome", "status"),
        *("result", "at", "started", "tests", "resources", "before", "log", "x"),
    )
) | st.text(max_size=3)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)
PIECES = (
    OBJECTS.map(lambda item: json.dumps(item).encode())
    | st.binary(max_size=30)
    | st.sampled_from(
        (
            *(b"", b" ", b"\r", b"\n", b"{", b"\xef\xbb\xbf", b"\0", b"[" * 300),
            *(b'{"verdict":"pass"}', b'{"a":1,"a":2}', b'{"verdict":"fa'),
            b'{"verdict":"pass"}{"verdict":"pass"}',
            b'{"kind":"test","run":1,"test":"a","result":"passed","phase":"soak"}',
        )
    )
)
LOGS = st.lists(PIECES, max_size=12).map(b"\n".join) | st.binary(max_size=200)


@given(LOGS, st.booleans())
def test_every_line_is_a_row_a_reject_blank_or_pending(read_all, data, final):
    reading = read_all(data, final=final)
    lines, rows, rejects, blank, pending = reading.counts
    assert lines == rows + rejects + blank + pending
    assert lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert rejects == len(reading.rejects)
    assert pending <= (0 if final else 1)
    assert reading.end_offset == data.rfind(b"\n") + 1
    for reject in reading.rejects:
        at = reject["byte_offset"]
        assert data[at : at + reject["length"]] == reject["raw"]
    said = {row["line"] for row in reading.runs + reading.tests + reading.experiments}
    assert len(said) <= rows
    assert said.isdisjoint(reject["line"] for reject in reading.rejects)


def contexts(reading):
    """The context rows of tests: each batch says them anew, so they are a set."""
    return {json.dumps([row["run_id"], *(row[name] for name in CONTEXT)]) for row in reading.runs}


@given(LOGS, st.booleans(), st.integers(1, 5), st.integers(1, 40))
def test_batches_and_chunks_change_nothing(read_all, data, final, batch_lines, chunk_bytes):
    whole = read_all(data, final=final)
    parts = read_all(data, final=final, batch_lines=batch_lines, chunk_bytes=chunk_bytes)
    assert parts.counts == whole.counts
    assert parts.tail == whole.tail
    assert parts.end_offset == whole.end_offset
    assert parts.tests == whole.tests
    assert parts.experiments == whole.experiments
    assert parts.rejects == whole.rejects
    assert parts.notes == whole.notes
    assert [run for run in parts.runs if run["kind"] != "test"] == [
        run for run in whole.runs if run["kind"] != "test"
    ]
    assert contexts(parts) == contexts(whole)
    assert all(batch.lines <= batch_lines for batch in parts.batches)
    assert all(batch.tail == "none" for batch in parts.batches[:-1])
    for batch in parts.batches:
        assert batch.lines == batch.rows + batch.reject_count + batch.blank + batch.pending


@given(LOGS, st.integers(0, 200))
def test_a_file_that_grows_gives_what_it_gives_at_once(read_all, data, cut):
    early = read_all(data[:cut], final=False)
    start = early.end_offset
    lines = data[:start].count(b"\n")
    late = read_all(data[start:], start=start, first_line=lines + 1)
    whole = read_all(data)

    def both(name):
        kept = [row for row in getattr(early, name) if row["byte_offset"] < start]
        return kept + getattr(late, name)

    # A byte-order mark is one at the beginning of any line, so the seam is not visible.
    for name in ("tests", "experiments", "rejects", "notes"):
        assert both(name) == getattr(whole, name)


@given(LOGS, st.integers(1, 9))
def test_lines_join_to_the_bytes_they_were_split_from(data, chunk_bytes):
    lines = list(split_lines(io.BytesIO(data), 5, chunk_bytes))
    assert b"".join(data[line.offset - 5 : line.end - 5] for line in lines) == data
    assert all(line.terminated for line in lines[:-1])
    assert [line.length for line in lines] == [len(line.raw) for line in lines]


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_a_cut_object_is_known_as_one_at_every_character(item, indent, plain):
    text = json.dumps(item, indent=indent, ensure_ascii=plain)
    assert not is_cut_short(text)
    for end in range(1, len(text)):
        assert is_cut_short(text[:end]), text[:end]


NAMES = st.text(string.ascii_letters + "äß😀[]:/ ", min_size=1, max_size=8)
MOMENTS = st.integers(946_684_800, 1_780_000_000)
RECORDS = st.fixed_dictionaries(
    {"kind": st.just("test"), "run_id": NAMES, "test_id": NAMES, "outcome": st.just("failed")},
    optional={
        "patch_id": NAMES,
        "phase": st.sampled_from(["soak", "serial", "gate"]),
        "round": st.integers(0, 2**63 - 1),
        "rng_seed": st.integers(-(2**63), 2**63 - 1),
        "switch_interval": st.floats(0, 1),
        "iteration": st.integers(0, 9),
        "message": NAMES,
        "before": st.lists(NAMES),
        "started": MOMENTS,
        "note": VALUES.filter(lambda value: "Infinity" not in json.dumps(value)),
    },
)


@given(st.lists(RECORDS, max_size=8), st.booleans())
def test_good_records_come_back_as_they_were(read_all, items, plain):
    for item in items:
        if "NaN" in json.dumps(item.get("note")):
            item.pop("note")
    data = "".join(json.dumps(item, ensure_ascii=plain) + "\n" for item in items).encode()
    reading = read_all(data)
    assert reading.counts == (len(items), len(items), 0, 0, 0)
    contexts = {run["line"]: run for run in reading.runs}
    for number, (item, row) in enumerate(zip(items, reading.tests, strict=True), start=1):
        assert row["line"] == number
        for name in ("run_id", "test_id", "outcome", "iteration", "message", "before"):
            assert row[name] == item.get(name)
        started = item.get("started")
        assert row["started"] == (None if started is None else started * 1_000_000)
        assert json.loads(row["extra"] or "{}") == (
            {"note": item["note"]} if "note" in item else {}
        )
        if number in contexts:
            for name in ("patch_id", "phase", "round", "rng_seed", "switch_interval"):
                assert contexts[number][name] == item.get(name)
