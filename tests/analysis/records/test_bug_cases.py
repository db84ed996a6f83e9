"""Faults that such tools had: small inputs with the right reading beside them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from analysis.records import normal_form
from analysis.records.times import micros_of

BUGS = Path(__file__).parents[2] / "data" / "bugs"


def case(name):
    return (BUGS / name).read_bytes()


def day(micros):
    return datetime.fromtimestamp(micros / 1e6, UTC).date().isoformat()


def test_22_days_are_days_in_utc(read_all):
    reading = read_all(case("22-duckdb-local-shift/verdicts.jsonl"))
    assert [(day(row["finished"]), row["outcome"]) for row in reading.tests] == [
        ("2026-03-28", "failed"),
        ("2026-03-29", "passed"),
    ]


def test_25_an_empty_time_is_no_time(read_all):
    reading = read_all(case("25-all-nat-group/verdicts.jsonl"))
    assert [row["finished"] for row in reading.tests] == [None, None]
    assert [row["verdict"] for row in reading.runs] == ["fail", "pass"]
    assert reading.notes == []


def test_31_two_spellings_of_unicode_are_one_test():
    decomposed = "t.py::test_u[\u304b\u3099]"
    assert normal_form(decomposed) == normal_form("t.py::test_u[\u304c]")


def test_32_quotes_backslashes_and_brackets_stay_as_they_are(read_all):
    entry = case("32-backslash-id-mismatch/quarantine.txt").decode().strip()
    reading = read_all(
        case("32-backslash-id-mismatch/report.jsonl").replace(
            b'{"nodeid"', b'{"kind":"test","run":1,"nodeid"'
        )
    )
    assert reading.tests[0]["test_id"] == entry
    assert reading.tests[0]["test_norm"] == entry


def test_46_two_records_on_a_line_are_refused_whole_and_counted(read_all):
    reading = read_all(case("46-jsonl-two-per-line/soak.jsonl"))
    assert reading.counts == (3, 1, 1, 1, 0)
    assert reading.reasons == ["two-objects-on-a-line"]
    assert [run["run_id"] for run in reading.runs] == ["3"]


def test_47_a_torn_tail_is_pending_until_it_is_complete(read_all):
    data = case("47-jsonl-torn-tail/soak.jsonl")
    reading = read_all(data, final=False)
    assert reading.counts == (2, 1, 0, 0, 1)
    start = reading.end_offset
    grown = data + b'il"}\n'
    late = read_all(grown[start:], start=start, first_line=2, final=False)
    assert [run["run_id"] for run in reading.runs + late.runs] == ["1", "2"]


def test_47_what_a_new_process_appends_to_a_torn_tail_is_not_lost(read_all):
    appended = b'{"run":3,"test":"t::a","verdict":"pass"}'
    data = case("47-jsonl-torn-tail/soak.jsonl") + appended + b"\n" + appended + b"\n"
    reading = read_all(data)
    assert reading.counts == (3, 2, 1, 0, 0)
    assert reading.reasons == ["interleaved"]
    assert reading.rejects[0]["raw"].endswith(appended)


def test_49_a_repeated_key_is_refused_and_the_next_line_is_read(read_all):
    reading = read_all(case("49-duckdb-duplicate-key/soak.jsonl"))
    assert reading.reasons == ["duplicate-key"]
    assert [(run["run_id"], run["verdict"]) for run in reading.runs] == [("2", "pass")]


def test_59_one_record_is_one_execution(read_all):
    reading = read_all(case("59-plotext-single-bar/verdicts.jsonl"))
    (row,) = reading.tests
    assert (row["test_id"], row["failed"]) == ("t::a", True)
    assert row["finished"] == micros_of(datetime(2026, 1, 1, tzinfo=UTC))
