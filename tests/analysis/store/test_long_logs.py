"""Logs of more than a block: what has grown is read from where it was left."""

from __future__ import annotations

import gzip
import io
import json

import pyarrow as pa
import pytest
from shelf import NOW, Shelf, run_line, test_line, text

from analysis.records import read
from analysis.store import query, rows
from analysis.store.content import BLOCK_BYTES, Digest
from analysis.store.index import transaction
from analysis.store.ledger import Status

LINES = 12_000


def soak(run: int, lines: int = LINES) -> bytes:
    """Some 2 MiB of test lines of one run."""
    long = "x" * 60
    return text(*(test_line(f"r{run}", f"tests/{long}.py::t{i}", round=run) for i in range(lines)))


def test_a_log_that_grew_is_read_on_from_where_it_was_left(shelf: Shelf) -> None:
    shelf.write("a.jsonl", soak(1) + b'{"kind": "te')
    shelf.take("a.jsonl")
    query.write(shelf.connection, "UPDATE run_lines SET command = 'read before'")
    shelf.append("a.jsonl", b'st", "run_id": "r1", "test_id": "torn", "outcome": "passed"}\n')
    shelf.append("a.jsonl", soak(2) + text(run_line(3)))
    (report,) = shelf.take("a.jsonl")
    assert (report.status, report.rows) == (Status.GROWN, 2 * LINES + 2)
    known = "SELECT DISTINCT run_id FROM run_lines WHERE command = 'read before'"
    assert query.rows(shelf.connection, known) == [("r1",)]
    query.write(shelf.connection, "UPDATE run_lines SET command = NULL")
    shelf.agrees_with_the_files()


@pytest.mark.parametrize("line", [1, LINES - 1])
def test_a_log_that_grew_and_changed_before_is_read_anew(shelf: Shelf, line: int) -> None:
    lines = soak(1).splitlines(keepends=True)
    shelf.write("a.jsonl", b"".join(lines))
    shelf.take("a.jsonl")
    lines[line] = lines[line].replace(b"passed", b"failed")
    shelf.write("a.jsonl", b"".join(lines) + text(run_line(3)))
    (report,) = shelf.take("a.jsonl")
    assert report.status is Status.REWRITTEN
    shelf.agrees_with_the_files()


def test_a_log_that_changed_in_the_middle_alone_is_read_anew(shelf: Shelf) -> None:
    lines = soak(1, 3 * LINES).splitlines(keepends=True)
    shelf.write("a.jsonl", b"".join(lines))
    shelf.take("a.jsonl")
    lines[LINES] = lines[LINES].replace(b"passed", b"failed")
    shelf.write("a.jsonl", b"".join(lines))
    (report,) = shelf.take("a.jsonl")
    assert report.status is Status.REWRITTEN
    shelf.agrees_with_the_files()


def test_a_log_that_became_shorter_is_read_anew(shelf: Shelf) -> None:
    shelf.write("a.jsonl", soak(1, 2 * LINES))
    shelf.take("a.jsonl")
    shelf.write("a.jsonl", soak(1))
    (report,) = shelf.take("a.jsonl")
    assert report.status is Status.REWRITTEN
    shelf.agrees_with_the_files()


def test_the_same_content_grown_whole_or_compressed_is_counted_once(shelf: Shelf) -> None:
    data = soak(1) + soak(2)
    shelf.write("grown.jsonl", data[: len(data) // 2])
    shelf.take("grown.jsonl")
    shelf.write("grown.jsonl", data)
    shelf.write("whole.jsonl", data)
    shelf.write("small.jsonl.gz", gzip.compress(data))
    grown, whole, small = shelf.take("grown.jsonl", "whole.jsonl", "small.jsonl.gz")
    assert (grown.status, grown.rows) == (Status.GROWN, 2 * LINES)
    assert whole.status is small.status is Status.SAME_CONTENT
    shelf.agrees_with_the_files()


def test_a_compressed_log_that_grew_keeps_its_rows(shelf: Shelf) -> None:
    shelf.write("a.jsonl.gz", gzip.compress(soak(1)))
    shelf.take("a.jsonl.gz")
    shelf.append("a.jsonl.gz", gzip.compress(soak(2)))
    (report,) = shelf.take("a.jsonl.gz")
    assert (report.status, report.rows) == (Status.GROWN, 2 * LINES)
    shelf.agrees_with_the_files()


def test_a_copy_that_grows_on_its_own_has_its_own_rows(shelf: Shelf) -> None:
    shelf.write("a.jsonl", soak(1))
    shelf.write("b.jsonl", soak(1))
    shelf.take("a.jsonl", "b.jsonl")
    shelf.append("a.jsonl", text(test_line("r1", "in a")))
    shelf.append("b.jsonl", text(test_line("r1", "in b")))
    reports = shelf.take("a.jsonl", "b.jsonl")
    assert [report.status for report in reports] == [Status.GROWN, Status.GROWN]
    shelf.agrees_with_the_files()


def test_a_line_longer_than_a_block_may_grow(shelf: Shelf) -> None:
    line = test_line("r1", "t", message="m" * (3 * BLOCK_BYTES))
    shelf.write("a.jsonl", text(run_line(1)) + line[: 2 * BLOCK_BYTES])
    shelf.take("a.jsonl")
    shelf.write("a.jsonl", text(run_line(1), line, run_line(2)))
    (report,) = shelf.take("a.jsonl")
    assert (report.status, report.rows) == (Status.GROWN, 3)
    shelf.agrees_with_the_files()


def test_what_was_written_is_let_go_before_the_transaction_ends(shelf: Shelf) -> None:
    log = soak(1)
    held = []
    with transaction(shelf.connection):
        for source in range(12):
            (batch,) = read(io.BytesIO(log), final=True, now=NOW)
            writer = rows.Writer(shelf.connection, source)
            writer.add(batch)
            writer.flush()
            held.append(pa.total_allocated_bytes())
        assert shelf.count("test_lines") == 12 * LINES
    assert held[-1] - held[3] < batch.test_lines.nbytes


@pytest.mark.parametrize("size", [0, 1, 65_536, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7])
@pytest.mark.parametrize("step", [1000, 65_536, BLOCK_BYTES - 1, 4 * BLOCK_BYTES])
def test_the_hash_of_a_content_does_not_depend_on_how_it_came(size: int, step: int) -> None:
    data = json.dumps(list(range(600_000))).encode()[:size]
    whole, parts = Digest(), Digest()
    whole.update(data)
    for at in range(0, size, step):
        parts.update(data[at : at + step])
    assert parts.content() == whole.content()
    again = Digest(whole.content())
    again.update(data[again.size :])
    assert again.content() == whole.content()
    assert whole.content().identity == Digest.of(data)
