"""The bytes after the last newline, and lines in general."""

from __future__ import annotations

import json

import pytest

GOOD = b'{"run":1,"verdict":"pass"}'
RECORD = json.dumps(
    {"run": 2, "verdict": "fail", "at": -1.5e3, "x": [True, None, {"y": "ä\\ué\n"}], "é": False},
    ensure_ascii=False,
).encode()


def test_a_whole_last_line_without_newline_is_a_row(read_all):
    reading = read_all(GOOD + b"\n" + GOOD, final=False)
    assert reading.counts == (2, 2, 0, 0, 0)
    assert reading.tail == "row"
    assert reading.end_offset == len(GOOD) + 1
    assert reading.runs[1]["byte_offset"] == reading.end_offset


def test_a_torn_last_line_waits_for_its_end(read_all):
    for cut in range(1, len(RECORD)):
        reading = read_all(GOOD + b"\n" + RECORD[:cut], final=False)
        assert reading.counts == (2, 1, 0, 0, 1), RECORD[:cut]
        assert reading.tail == "pending"
        assert reading.end_offset == len(GOOD) + 1


def test_a_torn_last_line_of_a_finished_file_is_truncated(read_all):
    for cut in range(1, len(RECORD)):
        reading = read_all(GOOD + b"\n" + RECORD[:cut], final=True)
        assert reading.reasons == ["truncated"], RECORD[:cut]
        assert reading.rejects[0]["raw"] == RECORD[:cut]
        assert reading.tail == "reject"


def test_a_torn_line_with_a_newline_is_truncated(read_all):
    for cut in range(1, len(RECORD)):
        assert read_all(RECORD[:cut] + b"\n" + GOOD + b"\n").reasons == ["truncated"]


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b"nonsense", "not-json"),
        (b'{"verdict" "pass"', "not-json"),
        (b'{"verdict":"pass"}}', "not-json"),
        (b'{"verdict":tru3', "not-json"),
        (b'{"verdict":01', "not-json"),
        (b'{"verdict":1.e', "not-json"),
        (b'{"verdict":"\\x', "not-json"),
        (b'{"a":[1}', "not-json"),
        (b'{"a":1,]', "not-json"),
        (b"{1", "not-json"),
        (b"[1,", "not-json"),
        (b"{}", "missing-field:verdict"),
        (b'{"verdict":"\xff', "not-utf8"),
    ],
)
def test_a_last_line_that_is_wrong_otherwise_is_a_reject_at_once(read_all, tail, reason, final):
    reading = read_all(GOOD + b"\n" + tail, final=final)
    assert reading.reasons == [reason]
    assert reading.tail == "reject"


def test_whitespace_at_the_end_is_blank(read_all):
    reading = read_all(GOOD + b"\n \t", final=False)
    assert reading.counts == (2, 1, 0, 1, 0)
    assert reading.tail == "blank"


def test_a_source_that_ends_with_its_newline_has_no_tail(read_all):
    reading = read_all(GOOD + b"\n", final=False)
    assert reading.tail == "none"
    assert reading.end_offset == len(GOOD) + 1


def test_an_empty_source_gives_one_empty_batch(read_all):
    reading = read_all(b"")
    assert len(reading.batches) == 1
    assert reading.counts == (0, 0, 0, 0, 0)
    assert reading.tail == "none"
    assert reading.end_offset == 0


def test_reading_goes_on_where_it_ended(read_all):
    data = GOOD + b"\n" + RECORD[:10]
    first = read_all(data, final=False)
    start = first.end_offset
    grown = data + RECORD[10:] + b"\n" + GOOD + b"\n"
    second = read_all(grown[start:], start=start, first_line=2, final=False)
    assert [run["run_id"] for run in first.runs + second.runs] == ["1", "2", "1"]
    assert [run["line"] for run in second.runs] == [2, 3]
    assert [run["byte_offset"] for run in second.runs] == [start, start + len(RECORD) + 1]
    assert second.end_offset == len(grown)


def test_a_byte_order_mark_carriage_returns_and_blank_lines_are_fine(read_all):
    reading = read_all(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n  \n" + GOOD + b"\r\n")
    assert reading.counts == (4, 2, 0, 2, 0)
    assert [run["byte_offset"] for run in reading.runs] == [0, len(GOOD) + 10]


def test_only_one_carriage_return_belongs_to_the_ending(read_all):
    reading = read_all(b"x\r\r\n")
    assert reading.rejects[0]["raw"] == b"x\r"


def test_the_hash_is_that_of_the_line_without_its_ending(read_all):
    hashes = {
        read_all(GOOD + ending).runs[0]["line_hash"] for ending in (b"", b"\n", b"\r\n", b"\r")
    }
    assert len(hashes) == 1
    assert read_all(GOOD + b" \n").runs[0]["line_hash"] not in hashes
