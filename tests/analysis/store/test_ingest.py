"""Ingest takes every byte of a source once, whatever became of the file since."""

from __future__ import annotations

import gzip
import io
import os
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shelf import BARE, NOW, Shelf, assert_accounted_for, fresh, run_line, test_line, text

from analysis.records import read
from analysis.store import ledger, query, rows
from analysis.store.ledger import Status
from analysis.store.loader import STDIN, Ingest, SourceReport, ingest
from analysis.store.reading import standard_input

TORN = b'{"run_id": "9", "verdict": "pa'


def counts(report: SourceReport) -> tuple[int, int, int, int, int]:
    return report.lines, report.rows, report.rejects, report.blank, report.pending


def statuses(reports: list[SourceReport]) -> list[Status]:
    return [report.status for report in reports]


def runs(shelf: Shelf) -> list[str | None]:
    found = query.rows(shelf.connection, "SELECT run_id FROM run_lines ORDER BY run_id")
    return [run for (run,) in found]


def test_the_same_bytes_twice_add_no_row(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1), b"junk", b"", run_line(2)))
    (first,) = shelf.take("a.jsonl")
    assert (first.status, counts(first)) == (Status.NEW, (4, 2, 1, 1, 0))
    (second,) = shelf.take("a.jsonl")
    assert (second.status, counts(second)) == (Status.KNOWN, (4, 2, 1, 1, 0))
    assert runs(shelf) == ["1", "2"]
    shelf.agrees_with_the_files()


def test_a_file_that_is_given_twice_is_read_once(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1)))
    shelf.path("link.jsonl").symlink_to(shelf.path("a.jsonl"))
    assert len(shelf.take("a.jsonl", "a.jsonl", "link.jsonl")) == 1
    assert shelf.known() == {"a.jsonl": None}


def test_a_link_to_a_known_file_is_the_known_file(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1)))
    shelf.take("a.jsonl")
    shelf.path("link.jsonl").symlink_to(shelf.path("a.jsonl"))
    assert statuses(shelf.take("link.jsonl")) == [Status.KNOWN]
    assert shelf.known() == {"a.jsonl": None}


def test_the_same_content_under_two_names_is_counted_once_and_said_so(shelf: Shelf) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        shelf.write(name, text(run_line(1), BARE, b"junk"))
    first, second = shelf.take("a.jsonl", "b.jsonl")
    assert (first.status, first.note) == (Status.NEW, "")
    assert (second.status, counts(second)) == (Status.SAME_CONTENT, (3, 2, 1, 0, 0))
    assert second.note == f"the same content as {shelf.path('a.jsonl')}; counted once"
    assert (shelf.count("run_lines"), shelf.count("reject_lines")) == (2, 1)
    shelf.agrees_with_the_files()


def test_which_of_two_copies_has_the_rows_does_not_depend_on_the_order(shelf: Shelf) -> None:
    for name in ("one/a.jsonl", "two/b.jsonl"):
        shelf.write(name, text(BARE))
    shelf.take("two/b.jsonl", "one/a.jsonl")
    holders = "SELECT parse_filename(path) FROM sources WHERE same_as IS NULL"
    assert query.rows(shelf.connection, holders) == [("a.jsonl",)]
    with fresh(shelf.root) as other:
        other.take("one/a.jsonl", "two/b.jsonl")
        assert query.rows(other.connection, holders) == [("a.jsonl",)]
    shelf.agrees_with_the_files()


def test_a_copy_with_a_given_experiment_speaks_for_its_content(shelf: Shelf) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        shelf.write(name, text(BARE))
    shelf.take("a.jsonl")
    shelf.take("b.jsonl", experiment="X")
    assert query.rows(
        shelf.connection, "SELECT given_experiment FROM sources WHERE same_as IS NULL"
    ) == [("X",)]
    shelf.agrees_with_the_files()


def test_a_grown_file_gives_its_new_bytes_only(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1)))
    shelf.take("a.jsonl")
    query.write(shelf.connection, "UPDATE run_lines SET command = 'read before'")
    shelf.append("a.jsonl", text(run_line(2), run_line(3)))
    (report,) = shelf.take("a.jsonl")
    assert (report.status, counts(report)) == (Status.GROWN, (3, 3, 0, 0, 0))
    assert query.rows(
        shelf.connection, "SELECT run_id, line, command FROM run_lines ORDER BY line"
    ) == [("1", 1, "read before"), ("2", 2, None), ("3", 3, None)]


def test_a_whole_last_line_without_newline_is_taken_and_read_again_when_it_goes_on(
    shelf: Shelf,
) -> None:
    shelf.write("a.jsonl", text(run_line(1)) + run_line(2))
    assert counts(shelf.take("a.jsonl")[0]) == (2, 2, 0, 0, 0)
    shelf.append("a.jsonl", b"\n" + run_line(3))
    assert counts(shelf.take("a.jsonl")[0]) == (3, 3, 0, 0, 0)
    assert runs(shelf) == ["1", "2", "3"]
    shelf.append("a.jsonl", b" trailing junk")
    assert counts(shelf.take("a.jsonl")[0]) == (3, 2, 1, 0, 0)
    assert runs(shelf) == ["1", "2"]
    shelf.agrees_with_the_files()


def test_a_torn_last_line_waits_and_comes_exactly_once(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1)) + TORN)
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 0, 0, 1)
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 0, 0, 1)
    shelf.append("a.jsonl", b'ss"')
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 0, 0, 1)
    shelf.append("a.jsonl", b"}\n")
    assert counts(shelf.take("a.jsonl")[0]) == (2, 2, 0, 0, 0)
    assert runs(shelf) == ["1", "9"]
    shelf.agrees_with_the_files()


def test_a_torn_last_line_of_a_finished_file_is_a_reject_until_the_file_grows(
    shelf: Shelf,
) -> None:
    shelf.write("a.jsonl", text(run_line(1)) + TORN)
    shelf.take("a.jsonl")
    (finished,) = shelf.take("a.jsonl", final=True)
    assert (finished.status, counts(finished)) == (Status.KNOWN, (2, 1, 1, 0, 0))
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 1, 0, 0)
    shelf.append("a.jsonl", b'ss"}\n')
    assert counts(shelf.take("a.jsonl")[0]) == (2, 2, 0, 0, 0)
    assert shelf.count("reject_lines") == 0
    shelf.agrees_with_the_files()


def test_the_end_of_one_copy_is_the_end_of_the_other(shelf: Shelf) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        shelf.write(name, text(run_line(1)) + TORN)
    shelf.take("a.jsonl")
    assert counts(shelf.take("b.jsonl", final=True)[0]) == (2, 1, 1, 0, 0)
    assert_accounted_for(shelf.connection)
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 1, 0, 0)


@pytest.mark.parametrize(
    "after",
    [
        text(run_line(5)),
        text(run_line(5), run_line(6), run_line(7), run_line(8)),
        text(run_line(8), run_line(9)),
    ],
    ids=["shorter", "longer", "same size"],
)
def test_a_rewritten_file_replaces_its_rows_and_says_so(shelf: Shelf, after: bytes) -> None:
    shelf.write("a.jsonl", text(run_line(1), run_line(2)))
    shelf.take("a.jsonl")
    shelf.write("a.jsonl", after)
    (report,) = shelf.take("a.jsonl")
    assert report.status is Status.REWRITTEN
    assert report.note == "rewritten or rotated: 2 rows of before were replaced"
    assert not {"1", "2"} & set(runs(shelf))
    shelf.agrees_with_the_files()


def test_a_file_of_the_same_size_and_time_is_still_seen_to_be_another(shelf: Shelf) -> None:
    path = shelf.write("a.jsonl", text(run_line(1)))
    long_ago = 1_700_000_000
    os.utime(path, (long_ago, long_ago))
    shelf.take("a.jsonl")
    other = shelf.write("other.jsonl", text(run_line(2)))
    os.utime(other, (long_ago, long_ago))
    other.replace(path)
    assert statuses(shelf.take("a.jsonl")) == [Status.REWRITTEN]
    assert runs(shelf) == ["2"]


@pytest.fixture
def minutes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which every file has been at rest for a while."""
    later = time.time_ns() + 60_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)


@pytest.mark.usefixtures("minutes_later")
def test_a_file_at_rest_is_not_read_again(shelf: Shelf) -> None:
    path = shelf.write("a.jsonl", text(run_line(1)) + TORN)
    shelf.take("a.jsonl")
    # Reading it again would find that its content is another.
    query.write(shelf.connection, "UPDATE sources SET content_sha256 = 'unlike'")
    assert counts(shelf.take("a.jsonl")[0]) == (2, 1, 0, 0, 1)
    assert statuses(shelf.take("a.jsonl")) == [Status.KNOWN]
    os.utime(path)
    assert statuses(shelf.take("a.jsonl")) == [Status.REWRITTEN]


@pytest.mark.usefixtures("minutes_later")
def test_the_end_of_a_file_at_rest_and_a_name_for_it_are_still_heard(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(run_line(1)) + TORN)
    shelf.take("a.jsonl")
    assert counts(shelf.take("a.jsonl", final=True)[0]) == (2, 1, 1, 0, 0)
    shelf.take("a.jsonl", experiment="X")
    assert shelf.known() == {"a.jsonl": "X"}
    shelf.agrees_with_the_files()


def test_a_file_that_has_just_changed_is_read_again_whatever_its_time(shelf: Shelf) -> None:
    path = shelf.write("a.jsonl", text(run_line(1)))
    assert ledger.stamp_of(path) == ledger.NO_STAMP
    shelf.take("a.jsonl")
    query.write(shelf.connection, "UPDATE sources SET content_sha256 = 'unlike'")
    assert statuses(shelf.take("a.jsonl")) == [Status.REWRITTEN]


def test_a_rotated_log_is_counted_once_under_its_new_name(shelf: Shelf) -> None:
    path = shelf.write("a.jsonl", text(run_line(1), BARE))
    shelf.take("a.jsonl")
    path.rename(shelf.path("a.1.jsonl"))
    shelf.write("a.jsonl", text(run_line(2)))
    assert statuses(shelf.take("a.jsonl", "a.1.jsonl")) == [Status.REWRITTEN, Status.NEW]
    assert runs(shelf) == ["1", "2", None]
    shelf.agrees_with_the_files()


def test_a_rotated_log_that_is_seen_first_under_its_new_name_is_counted_once(
    shelf: Shelf,
) -> None:
    path = shelf.write("a.jsonl", text(run_line(1), BARE))
    shelf.take("a.jsonl")
    path.rename(shelf.path("a.1.jsonl"))
    shelf.write("a.jsonl", text(run_line(2)))
    shelf.take("a.1.jsonl", "a.jsonl")
    assert runs(shelf) == ["1", "2", None]
    shelf.agrees_with_the_files()


@pytest.mark.parametrize("grows", ["a.jsonl", "b.jsonl"])
def test_one_of_two_copies_grows(shelf: Shelf, grows: str) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        shelf.write(name, text(run_line(1), BARE))
    shelf.take("a.jsonl", "b.jsonl")
    shelf.append(grows, text(run_line(2)))
    assert statuses(shelf.take("a.jsonl", "b.jsonl")).count(Status.GROWN) == 1
    shelf.agrees_with_the_files()
    shelf.append({"a.jsonl": "b.jsonl", "b.jsonl": "a.jsonl"}[grows], text(run_line(2)))
    shelf.take("a.jsonl", "b.jsonl")
    assert shelf.count("run_lines") == 3
    shelf.agrees_with_the_files()


@pytest.mark.parametrize("after", [text(run_line(5)), b"{}"], ids=["another log", "no log"])
def test_a_copy_keeps_its_rows_when_the_original_is_rewritten(shelf: Shelf, after: bytes) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        shelf.write(name, text(run_line(1), b"junk"))
    shelf.take("a.jsonl", "b.jsonl", "c.jsonl")
    shelf.write("a.jsonl", after)
    shelf.take("a.jsonl")
    assert "1" in runs(shelf)
    assert statuses(shelf.take("b.jsonl", "c.jsonl")) == [Status.KNOWN] * 2
    shelf.agrees_with_the_files()


def test_rows_of_a_vanished_copy_are_kept_when_the_original_is_rewritten(shelf: Shelf) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        shelf.write(name, text(run_line(1)))
    shelf.take("a.jsonl", "b.jsonl")
    shelf.path("b.jsonl").unlink()
    shelf.write("a.jsonl", text(run_line(2)))
    assert statuses(shelf.take("a.jsonl", "b.jsonl")) == [Status.REWRITTEN, Status.VANISHED]
    assert runs(shelf) == ["1", "2"]
    assert_accounted_for(shelf.connection)


def test_a_vanished_source_keeps_its_rows_and_is_marked(shelf: Shelf) -> None:
    path = shelf.write("a.jsonl", text(run_line(1)))
    shelf.take("a.jsonl")
    path.unlink()
    (report,) = shelf.take("a.jsonl")
    assert (report.status, counts(report)) == (Status.VANISHED, (1, 1, 0, 0, 0))
    assert "kept" in report.note
    assert query.rows(shelf.connection, "SELECT vanished FROM sources") == [(True,)]
    assert runs(shelf) == ["1"]
    shelf.write("a.jsonl", text(run_line(1)))
    assert statuses(shelf.take("a.jsonl")) == [Status.KNOWN]
    assert query.rows(shelf.connection, "SELECT vanished FROM sources") == [(False,)]
    shelf.agrees_with_the_files()


def test_a_source_that_moved_away_hands_its_rows_to_the_copy_that_is_there(shelf: Shelf) -> None:
    for name in ("one/a.jsonl", "two/b.jsonl"):
        shelf.write(name, text(BARE))
    shelf.take("one/a.jsonl", "two/b.jsonl")
    shelf.path("one/a.jsonl").unlink()
    shelf.take("one/a.jsonl")
    shelf.agrees_with_the_files()
    assert shelf.count("run_lines") == 1


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "blank lines only"),
        (b"<!doctype html>\n<p>503</p>\n", "an HTML page"),
        (b"\x7fELF\0\0\n\0", "a binary file"),
        (b"plain words\n", "no line of it is a record"),
    ],
    ids=["empty", "blank", "html", "binary", "text"],
)
def test_a_known_source_that_is_no_log_any_more_is_refused_and_its_rows_go(
    shelf: Shelf, after: bytes, words: str
) -> None:
    shelf.write("a.jsonl", text(run_line(1), b"junk"))
    shelf.take("a.jsonl")
    shelf.write("a.jsonl", after)
    for _ in range(2):
        (report,) = shelf.take("a.jsonl", final=True)
        assert report.status is Status.REFUSED
        assert words in report.note
        assert not report.environment
        shelf.agrees_with_the_files()
    assert (shelf.count("run_lines"), shelf.count("reject_lines")) == (0, 0)
    shelf.write("a.jsonl", text(run_line(2)))
    assert statuses(shelf.take("a.jsonl")) == [Status.NEW]
    shelf.agrees_with_the_files()


def test_a_file_that_never_was_a_log_leaves_nothing_behind(shelf: Shelf) -> None:
    shelf.write("page.jsonl", b"<html>\n<html>\n")
    shelf.write("a.jsonl", text(run_line(1)))
    refused, taken = shelf.take("page.jsonl", "a.jsonl")
    assert (refused.status, taken.status) == (Status.REFUSED, Status.NEW)
    assert str(shelf.path("page.jsonl")) in refused.note
    assert shelf.known() == {"a.jsonl": None}
    assert shelf.count("reject_lines") == 0


def test_a_pending_line_that_turns_out_to_be_junk_makes_the_file_no_log(shelf: Shelf) -> None:
    shelf.write("a.jsonl", TORN)
    assert counts(shelf.take("a.jsonl")[0]) == (1, 0, 0, 0, 1)
    assert statuses(shelf.take("a.jsonl", final=True)) == [Status.REFUSED]
    shelf.agrees_with_the_files(final=True)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_a_compressed_twin_is_the_same_content(shelf: Shelf, pack) -> None:  # type: ignore[no-untyped-def]
    data = text(run_line(1), BARE)
    shelf.write("a.jsonl", data)
    shelf.write("b.jsonl.x", pack(data))
    assert statuses(shelf.take("a.jsonl", "b.jsonl.x")) == [Status.NEW, Status.SAME_CONTENT]
    assert shelf.count("run_lines") == 2
    shelf.agrees_with_the_files()


def test_a_cut_gz_gives_its_whole_lines_and_says_that_it_is_damaged(shelf: Shelf) -> None:
    body = text(*(run_line(number, message=os.urandom(30).hex()) for number in range(400)))
    packed = gzip.compress(body)
    shelf.write("a.jsonl.gz", packed[: len(packed) // 2])
    (report,) = shelf.take("a.jsonl.gz")
    assert 0 < report.rows < 400
    assert report.lines == report.rows + report.pending
    for _ in range(2):
        assert "damaged" in report.note
        (report,) = shelf.take("a.jsonl.gz")
    shelf.agrees_with_the_files()
    shelf.write("a.jsonl.gz", packed)
    (whole,) = shelf.take("a.jsonl.gz")
    assert (whole.status, whole.rows, whole.note) == (Status.GROWN, 400, "")
    shelf.agrees_with_the_files()


@pytest.mark.parametrize("cut", [1, 8])
def test_a_gz_that_lacks_its_checksum_is_damaged_too(shelf: Shelf, cut: int) -> None:
    packed = gzip.compress(text(run_line(1), run_line(2)))
    shelf.write("a.jsonl.gz", packed[:-cut])
    (report,) = shelf.take("a.jsonl.gz")
    assert (report.rows, "damaged" in report.note) == (2, True)


def test_a_whole_record_at_the_end_of_a_damaged_file_is_not_the_one_of_a_whole_file(
    shelf: Shelf,
) -> None:
    data = text(run_line(1)) + run_line(2)
    shelf.write("a.jsonl.gz", gzip.compress(data)[:-8])
    shelf.write("b.jsonl", data)
    assert [report.rows for report in shelf.take("a.jsonl.gz", "b.jsonl")] == [1, 2]
    assert_accounted_for(shelf.connection)


def take_stdin(shelf: Shelf, data: bytes) -> SourceReport:
    with standard_input(io.BytesIO(data)) as copy:
        (report,) = ingest(shelf.connection, [(STDIN, copy)], Ingest(NOW, True))
    return report


def test_standard_input_twice_is_counted_once(shelf: Shelf) -> None:
    data = text(run_line(1), BARE)
    first, second = take_stdin(shelf, data), take_stdin(shelf, data)
    assert (first.path, first.status) == ("-", Status.NEW)
    assert (second.path, second.status) == ("-", Status.KNOWN)
    assert shelf.count("run_lines") == 2


def test_standard_input_that_begins_alike_replaces_nothing(shelf: Shelf) -> None:
    alike = text(*(run_line(number) for number in range(1500)))
    assert len(alike) > 64 * 1024
    take_stdin(shelf, alike + text(run_line("x")))
    assert take_stdin(shelf, alike + text(run_line("y"))).status is Status.NEW
    assert {"x", "y"} <= set(runs(shelf))


def test_standard_input_that_holds_a_known_file_is_counted_once(shelf: Shelf) -> None:
    shelf.write("a.jsonl", text(BARE))
    take_stdin(shelf, text(BARE))
    assert statuses(shelf.take("a.jsonl")) == [Status.SAME_CONTENT]
    assert query.rows(
        shelf.connection, "SELECT parse_filename(path) FROM sources WHERE same_as IS NULL"
    ) == [("a.jsonl",)]
    assert shelf.count("run_lines") == 1


def test_a_pipe_is_read_whole_and_never_waited_for_again(shelf: Shelf) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(gzip.compress(text(run_line(1), run_line(2))))
    path = Path(f"/dev/fd/{reading}")
    if not path.exists():
        os.close(reading)
        pytest.skip("this system has no /dev/fd")
    try:
        (report,) = ingest(shelf.connection, [(str(path), path)], Ingest(NOW, True))
    finally:
        os.close(reading)
    assert (report.status, counts(report)) == (Status.NEW, (2, 2, 0, 0, 0))
    assert shelf.known() == {}


def test_a_name_that_is_no_text_is_refused_in_one_sentence(shelf: Shelf) -> None:
    name = os.fsdecode(b"bad\xff.jsonl")
    try:
        shelf.write(name, text(run_line(1)))
    except OSError:
        pytest.skip("this file system refuses such names")
    (report,) = shelf.take(name)
    assert report.status is Status.REFUSED
    assert "not UTF-8" in report.note


def test_a_missing_file_and_a_directory_are_refused_and_the_others_taken(shelf: Shelf) -> None:
    shelf.path("dir.jsonl").mkdir()
    shelf.write("a.jsonl", text(run_line(1)))
    reports = shelf.take("missing.jsonl", "dir.jsonl", "a.jsonl")
    assert statuses(reports) == [Status.REFUSED, Status.REFUSED, Status.NEW]
    assert "does not exist" in reports[0].note
    assert "is a directory" in reports[1].note


def test_overlapping_sets_of_files_add_each_file_once(shelf: Shelf) -> None:
    for number, name in enumerate(("a.jsonl", "b.jsonl", "c.jsonl")):
        shelf.write(name, text(run_line(number)))
    shelf.take("a.jsonl", "b.jsonl")
    assert statuses(shelf.take("b.jsonl", "c.jsonl")) == [Status.KNOWN, Status.NEW]
    assert runs(shelf) == ["0", "1", "2"]
    shelf.agrees_with_the_files()


def test_a_rehearsal_says_what_would_happen_and_leaves_the_index_as_it_is(shelf: Shelf) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"):
        shelf.write(name, text(run_line(name), b"junk"))
    shelf.write("copy.jsonl", text(run_line("a.jsonl"), b"junk"))
    known = ("a.jsonl", "b.jsonl", "c.jsonl", "copy.jsonl")
    shelf.take(*known)
    shelf.write("a.jsonl", text(run_line("other")) + TORN)
    shelf.append("b.jsonl", text(run_line("more")))
    shelf.path("c.jsonl").unlink()
    shelf.write("page.jsonl", b"<html>\n")
    before = shelf.dump()
    tried = shelf.try_out(*known, "d.jsonl", "page.jsonl", final=True)
    assert shelf.dump() == before
    assert statuses(tried) == [
        Status.REWRITTEN,
        Status.GROWN,
        Status.VANISHED,
        Status.KNOWN,
        Status.NEW,
        Status.REFUSED,
    ]
    assert shelf.take(*known, "d.jsonl", "page.jsonl", final=True) == tried


def test_lines_before_and_after_a_growth_are_numbered_as_in_the_file(shelf: Shelf) -> None:
    shelf.write("a.jsonl", b"\xef\xbb\xbf" + run_line(1) + b"\r\n\n" + TORN)
    shelf.take("a.jsonl")
    shelf.append("a.jsonl", b'ss"}\r\njunk\n' + run_line(3))
    shelf.take("a.jsonl")
    assert query.rows(
        shelf.connection,
        "SELECT line, run_id FROM run_lines UNION SELECT line, reason FROM reject_lines ORDER BY 1",
    ) == [(1, "1"), (3, "9"), (4, "not-json"), (5, "3")]


KNOWN_WORDS = st.sampled_from(
    [
        run_line(1),
        BARE,
        test_line(1, "t::a"),
        b'{"kind": "experiment", "experiment": "E"}',
        TORN,
        b"{}",
        b"\xff",
        b"\0",
        b"\r",
        b" ",
        b"[]",
        run_line(2) + run_line(3),
    ]
)
SOME_BYTES = st.lists(
    st.one_of(KNOWN_WORDS, st.binary(max_size=12), st.just(b"\n")), max_size=12
).map(b"".join)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(SOME_BYTES, min_size=1, max_size=3), final=st.booleans())
def test_any_bytes_are_accounted_for_however_they_arrive(
    shelf: Shelf, pieces: list[bytes], final: bool
) -> None:
    data = b""
    for piece in pieces:
        data += piece
        shelf.write("a.jsonl", data)
        (report,) = shelf.take("a.jsonl", final=final)
        lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
        if report.status is not Status.REFUSED:
            assert report.lines == lines
        assert report.lines == sum(counts(report)[1:])
        shelf.agrees_with_the_files(final=final)


FAR_S = 9_223_372_022_000
TIMES = st.one_of(st.none(), st.integers(-FAR_S, FAR_S), st.floats(0, 2e9))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    started=TIMES,
    finished=TIMES,
    duration=st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
)
def test_times_come_back_as_they_were_read(
    shelf: Shelf, started: float | None, finished: float | None, duration: float | None
) -> None:
    item = {"started": started, "finished": finished, "duration_s": duration}
    line = test_line(1, "t", **{name: value for name, value in item.items() if value is not None})
    (batch,) = read(io.BytesIO(line + b"\n"), final=True, now=NOW)
    rows.drop(shelf.connection, 1)
    writer = rows.Writer(shelf.connection, 1)
    writer.add(batch)
    writer.flush()
    stored = shelf.connection.sql("SELECT started, finished, duration_s FROM test_lines")
    assert stored.to_arrow_table().equals(batch.test_lines.select(stored.columns))
