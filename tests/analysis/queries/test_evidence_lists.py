"""The lists of evidence: every finding, overturned pass and rejected line, each once."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from logs import PATCH, Log, fails, passes

from analysis.board import Board, Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.queries.experiments import Choice, chosen, summaries
from analysis.queries.findings import (
    FINDING_COLUMNS,
    RECORD_COLUMNS,
    FindingKind,
    evidence_totals,
    finding_page,
    records_of,
)
from analysis.queries.overturned import OVERTURNED_COLUMNS, overturned_page
from analysis.queries.paging import PageRequest
from analysis.queries.reasons import reject_words
from analysis.queries.recorded import MOST_RECORDS, Recorded, recorded_line
from analysis.queries.rejected import REJECT_COLUMNS, TEXT_SHOWN, reject_page, rejects
from analysis.queries.reports import reports
from analysis.store import query

TOP = Path(__file__).parents[3]
ALL = PageRequest(size=100_000)
HEAD = '{"kind": "experiment", "experiment": "night"}\n'
"""A line that can be read and has no run: a log without one is refused."""

Chosen = tuple[duckdb.DuckDBPyConnection, list[str]]


@pytest.fixture(scope="module")
def sample() -> Iterator[Chosen]:
    """The sample data and three logs of the corpus that nobody could read whole."""
    bugs = TOP / "tests/data/bugs"
    paths = [TOP / "sample_data" / name for name in ("soak", "gate", "broken")]
    paths += [bugs / "46-jsonl-two-per-line", bugs / "49-duckdb-duplicate-key"]
    with open_board(None, Config()) as board:
        board.take(Inputs(tuple(paths)), Ingest(now(), final=True))
        board.derive()
        yield board.connection, chosen(board.connection, Choice(everything=True))


@pytest.fixture
def board() -> Iterator[Board]:
    with open_board(None, Config()) as opened:
        yield opened


def taken(board: Board, *logs: Path, final: bool = True) -> Chosen:
    board.take(Inputs(logs), Ingest(now(), final=final))
    board.derive()
    names = query.rows(board.connection, "SELECT experiment FROM experiment_facts ORDER BY ALL")
    return board.connection, [name for (name,) in names]


def test_void_rules_count_what_check_counts(sample: Chosen) -> None:
    counted: Counter[str] = Counter()
    for one in reports(*sample):
        counted.update(one.void)
    rows = finding_page(*sample, ALL).rows
    assert {row.rule: row.count for row in rows if row.kind is FindingKind.VOID} == dict(counted)
    assert counted


def test_rejected_lines_are_listed_by_reason_and_one_by_one(sample: Chosen) -> None:
    whole = rejects(sample[0])
    reasons = Counter(row.reason for row in whole)
    rows = [row for row in finding_page(*sample, ALL).rows if row.kind is FindingKind.REJECT]
    assert {row.rule: row.count for row in rows} == dict(reasons)
    assert [row.sentence for row in rows] == [reject_words(row.rule) for row in rows]
    listed = reject_page(*sample, ALL).rows
    assert listed == tuple(replace(row, text=row.text[:TEXT_SHOWN]) for row in whole)
    for reason, count in reasons.items():
        assert reject_page(*sample, ALL, reason).total == count


def test_findings_stand_heaviest_first_and_each_opens_as_many_records(sample: Chosen) -> None:
    rows = finding_page(*sample, ALL).rows
    order = [(list(FindingKind).index(row.kind), -row.count, row.rule) for row in rows]
    assert order == sorted(order)
    assert len({(row.kind, row.rule) for row in rows}) == len(rows)
    for row in rows:
        records = records_of(*sample, row.kind, row.rule, ALL)
        assert records.total == row.count
        assert {(one.kind, one.rule) for one in records.rows} == {(row.kind, row.rule)}
        assert row.sentence in [one.sentence for one in records.rows]
        assert row.newest == max((one.at for one in records.rows if one.at), default=None)


def test_overturned_passes_are_the_passes_without_a_verdict(sample: Chosen) -> None:
    listed = overturned_page(*sample, ALL)
    runs = query.rows(
        sample[0],
        "SELECT experiment, run_id FROM runs WHERE logged_verdict = 'pass' AND verdict = 'none'",
    )
    assert sorted((row.experiment, row.run_id) for row in listed.rows) == sorted(runs)
    times = [row.at for row in listed.rows if row.at is not None]
    assert times == sorted(times, reverse=True)
    for row in listed.rows:
        text = Path(row.path).read_bytes().splitlines()[row.line - 1]
        assert json.loads(text)["run_id"] == row.run_id
    rules = Counter(rule for row in listed.rows for rule in row.rules)
    for rule, count in rules.items():
        assert overturned_page(*sample, ALL, rule).total == count
    assert overturned_page(*sample, ALL, "tests-collected").total == 0


def test_the_totals_are_those_of_the_lists(sample: Chosen) -> None:
    found = evidence_totals(*sample)
    assert found.passes - found.holding == overturned_page(*sample, ALL).total
    assert found.rejected == reject_page(*sample, ALL).total
    ((lines, files),) = query.rows(sample[0], "SELECT sum(lines), count(*) FROM sources")
    assert (found.lines, found.files) == (lines, files)
    assert found.runs == query.rows(sample[0], "SELECT count(*) FROM runs")[0][0]


def test_only_what_belongs_to_the_chosen_experiments_is_listed(sample: Chosen) -> None:
    connection, _ = sample
    assert overturned_page(connection, ["gateway"], ALL).total == 0
    assert overturned_page(connection, ["billing"], ALL).total == 12
    assert {row.path for row in reject_page(connection, ["gateway"], ALL).rows} == set()
    assert (
        reject_page(connection, ["broken"], ALL).total
        == evidence_totals(connection, ["broken"]).rejected
    )


def test_a_log_of_which_no_line_could_be_read_is_seen_with_every_experiment(
    board: Board, tmp_path: Path
) -> None:
    good = Log("night").header().soak(2).write(tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(HEAD.encode() + b"nonsense\n\xff\n")
    connection, names = taken(board, good, bad)
    assert names == ["night"]
    assert [(row.line, row.reason) for row in reject_page(connection, names, ALL).rows] == [
        (2, "not-json"),
        (3, "not-utf8"),
    ]
    assert evidence_totals(connection, names).files == 2


def test_a_line_that_is_being_written_is_pending(board: Board, tmp_path: Path) -> None:
    log = Log("night").header().soak(2).ending('{"kind": "test", "run').write(tmp_path)
    connection, names = taken(board, log, final=False)
    (row,) = (
        row for row in finding_page(connection, names, ALL).rows if row.kind is FindingKind.PENDING
    )
    (record,) = records_of(connection, names, row.kind, row.rule, ALL).rows
    assert (row.count, record.path) == (1, str(log.resolve()))
    assert record.line == len(log.read_text().splitlines())


def test_whether_an_overturned_patch_was_merged_is_what_the_log_says(
    board: Board, tmp_path: Path
) -> None:
    log = Log("night").header().soak(2)
    for merged in (True, False, None):
        log = log.run("subject", "gate", [], end={"verdict": "pass", "merged": merged})
    connection, names = taken(board, log.write(tmp_path))
    listed = overturned_page(connection, names, ALL).rows
    assert [row.merged for row in listed] == [None, False, True]
    assert {row.patch_id for row in listed} == {PATCH}


def test_credentials_and_long_lines_are_not_shown_whole(board: Board, tmp_path: Path) -> None:
    secret = "hunter2secret"
    bad = tmp_path / "bad.jsonl"
    padding = "x" * (TEXT_SHOWN - 30)
    bad.write_text(
        f'{HEAD}not json "password": "{secret}" \x1b[31m\u202e\n'
        f'{padding} "token": "{secret}{secret}" {padding}\n'
    )
    connection, names = taken(board, bad, Log("night").header().soak(1).write(tmp_path))
    rows = reject_page(connection, names, ALL).rows
    assert len(rows) == 2
    assert all(secret[:4] not in row.text and len(row.text) <= TEXT_SHOWN for row in rows)
    assert rows[1].length > TEXT_SHOWN
    assert reject_page(connection, names, replace(ALL, filter="\u202e")).total == 1


def test_rejected_bytes_that_are_no_text_can_be_searched(board: Board, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(HEAD.encode() + b'{"a": "caf\xe9"}\n{"b" "nul\x00"}\n')
    connection, names = taken(board, bad)
    for text, line in (("caf", 2), ("nul\x00", 3), ('"nul', 3)):
        (row,) = reject_page(connection, names, replace(ALL, filter=text)).rows
        assert row.line == line
    assert reject_page(connection, names, replace(ALL, filter="row:1")).hint


def test_rejects_of_two_standard_inputs_are_told_apart(board: Board) -> None:
    for text in ("nonsense\n", "nonsense of another kind\n"):
        stdin = io.BytesIO(f"{HEAD}{text}".encode())
        board.take(Inputs((Path("-"),), stdin), Ingest(now(), final=True))
    whole = reject_page(board.connection, [], ALL)
    assert [row.path for row in whole.rows] == ["-", "-"]
    for number, mark in enumerate(whole.marks):
        request = PageRequest(anchor=mark, size=1)
        assert reject_page(board.connection, [], request).at == number


def fields_of(record: Recorded) -> dict[str, str]:
    return dict(record.fields)


def test_a_line_is_shown_by_its_fields_with_those_the_format_does_not_know(
    board: Board, tmp_path: Path
) -> None:
    said = {"my_password": "hunter2", "note": ["x", 1], "api_token": "abcdef"}
    log = Log("night").run("subject", "soak", [fails(**said), passes()])
    connection, _ = taken(board, log.write(tmp_path))
    ((source,),) = query.rows(connection, "SELECT source_id FROM sources")
    (start,) = recorded_line(connection, source, 1)
    assert (fields_of(start)["kind"], start.line, start.offset) == ("run_start", 1, 0)
    (test,) = recorded_line(connection, source, 2)
    shown = fields_of(test)
    assert (shown["outcome"], shown["message"]) == ("failed", "assert 3 == 4")
    assert json.loads(shown["note"]) == ["x", 1]
    assert "hunter2" not in repr(test)
    assert "abcdef" not in repr(test)
    assert not {"source_id", "line_hash", "extra"} & set(shown)
    assert recorded_line(connection, source, 99) == ()


def test_a_header_and_a_line_of_many_executions_are_shown_too(board: Board, tmp_path: Path) -> None:
    line = {
        "kind": "verdict",
        "experiment": "night",
        "run_id": "r1",
        "patch_id": "p",
        "verdict": "pass",
        "tests": [passes(f"t.py::test_{number}") for number in range(MOST_RECORDS + 5)],
    }
    log = Log("night").header().line(**line)
    connection, _ = taken(board, log.write(tmp_path))
    ((source,),) = query.rows(connection, "SELECT source_id FROM sources")
    (header,) = recorded_line(connection, source, 1)
    assert fields_of(header)["experiment"] == "night"
    run, *tests = recorded_line(connection, source, 2)
    assert fields_of(run)["run_id"] == "r1"
    assert len(tests) == MOST_RECORDS
    assert fields_of(tests[1])["test_id"] == "t.py::test_1"


def test_every_list_can_be_sorted_by_each_of_its_columns(sample: Chosen) -> None:
    void = FindingKind.VOID
    for columns, read in (
        (FINDING_COLUMNS, lambda request: finding_page(*sample, request)),
        (RECORD_COLUMNS, lambda request: records_of(*sample, void, "nothing-passed", request)),
        (OVERTURNED_COLUMNS, lambda request: overturned_page(*sample, request)),
        (REJECT_COLUMNS, lambda request: reject_page(*sample, request)),
    ):
        whole = read(ALL)
        for column in columns:
            for reverse in (False, True):
                sorted_ = read(replace(ALL, sort=column, reverse=reverse))
                assert {mark.key for mark in sorted_.marks} == {mark.key for mark in whole.marks}
                assert len(sorted_.rows) == len(whole.rows)


def test_experiments_are_listed_newest_first_with_what_they_hold(sample: Chosen) -> None:
    connection, names = sample
    listed = summaries(connection, ALL)
    dated = [row for row in listed.rows if row.newest is not None]
    assert [row.experiment for row in dated] == [
        name for name in reversed(names) if name in {row.experiment for row in dated}
    ]
    assert listed.rows[: len(dated)] == tuple(dated)
    by_name = {one.experiment: one for one in reports(connection, names)}
    for row in listed.rows:
        report = by_name[row.experiment]
        assert (row.unit_class, row.runs) == (report.unit_class, report.runs)
    assert [
        row.experiment for row in summaries(connection, replace(ALL, filter="class:race")).rows
    ] == [name for name in reversed(names) if by_name[name].unit_class == "patch race"]


def test_a_clock_that_is_off_by_millennia_is_no_time(board: Board, tmp_path: Path) -> None:
    log = Log("night").run("subject", "soak", [], end={"verdict": "pass"}, started=4e11)
    connection, names = taken(board, log.write(tmp_path))
    found = overturned_page(connection, names, ALL)
    assert [row.at for row in found.rows] == [None]
    # The time that Python cannot hold still says where the row stands.
    assert (
        overturned_page(connection, names, replace(ALL, anchor=found.marks[0])).rows == found.rows
    )
    assert [one.newest for one in summaries(connection, ALL).rows] == [None]
    assert {one.newest for one in finding_page(connection, names, ALL).rows} == {None}
