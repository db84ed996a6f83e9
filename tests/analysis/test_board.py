"""The board: logs taken, answers fresh, nothing done twice."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from logs import Log

from analysis.board import Board, Ingest, Inputs, Status, open_board, usable
from analysis.config import Config
from analysis.errors import BadInput, EnvironmentFault
from analysis.queries.attributions import UnitRow, units
from analysis.queries.experiments import Choice, chosen
from analysis.store import query
from analysis.store.index import SCHEMA_VERSION
from analysis.store.loader import SourceReport

HOW = Ingest(datetime(2026, 6, 1, 12, tzinfo=UTC), final=True)
SOAK = Log("night").header().soak(5, failing=(1, 3))


@pytest.fixture
def board() -> Iterator[Board]:
    with open_board(None, Config()) as opened:
        yield opened


def write(path: Path, *lines: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def answers(board: Board) -> list[UnitRow]:
    board.derive()
    return units(board.connection, chosen(board.connection, Choice(everything=True)))


def answers_of(paths: Iterable[Path], how: Ingest = HOW) -> list[UnitRow]:
    """What a fresh board says of some logs."""
    with open_board(None, Config()) as fresh:
        usable(fresh.take(Inputs(tuple(paths)), how))
        return answers(fresh)


def test_a_directory_gives_its_logs_and_standard_input_its_own(
    board: Board, tmp_path: Path
) -> None:
    for name in ("soak.jsonl", "gate.jsonl", "notes.txt"):
        write(tmp_path / name, {"run_id": name, "verdict": "pass"})
    stdin = io.BytesIO(b'{"run_id": "in", "verdict": "pass"}\n')
    reports = board.take(Inputs((tmp_path, Path("-")), stdin), HOW)
    assert [Path(report.path).name for report in reports] == ["gate.jsonl", "soak.jsonl", "-"]
    board.derive()
    assert query.rows(board.connection, "SELECT run_id, experiment FROM runs ORDER BY run_id") == [
        ("gate.jsonl", tmp_path.name),
        ("in", "stdin"),
        ("soak.jsonl", tmp_path.name),
    ]


def test_standard_input_twice_and_a_file_given_twice_are_counted_once(
    board: Board, tmp_path: Path
) -> None:
    log = SOAK.write(tmp_path)
    for _ in range(2):
        board.take(Inputs((Path("-"), Path("-")), io.BytesIO(SOAK.text.encode())), HOW)
        board.take(Inputs((log, log, tmp_path)), HOW)
    assert answers(board) == answers_of([log])


def test_nothing_is_derived_while_nothing_has_changed(tmp_path: Path) -> None:
    log = SOAK.write(tmp_path)
    db = tmp_path / "x.duckdb"

    def marked(board: Board) -> bool:
        return query.rows(board.connection, "SELECT 1 FROM findings WHERE rule = 'mark'") == [(1,)]

    with open_board(db, Config()) as board:
        board.take(Inputs((log,)), HOW)
        board.derive()
        query.write(
            board.connection,
            """INSERT INTO findings (experiment, rule, family, standing, sentence)
            VALUES ('night', 'mark', 'stream', 'note', '')""",
        )
        board.derive()
        assert marked(board)
    with open_board(db, Config()) as board:
        board.catch_up(HOW)
        board.take(Inputs((log,)), HOW)
        board.derive()
        assert marked(board)
        strict = replace(Config().policy, min_failures=4)
        board.config = replace(board.config, policy=strict)
        board.derive()
        assert not marked(board)


def test_new_bytes_are_new_answers(board: Board, tmp_path: Path) -> None:
    log = Log("night").header().soak(3).write(tmp_path)
    board.take(Inputs((log,)), HOW)
    before = answers(board)
    log.write_text(SOAK.text)
    reports = board.catch_up(HOW)
    assert [report.status for report in reports] == [Status.REWRITTEN]
    assert board.notices == [f"{log}: {reports[0].note}"]
    after = answers(board)
    assert after != before
    assert after == answers_of([log])


def test_a_rehearsal_changes_no_answer(board: Board, tmp_path: Path) -> None:
    log = Log("night").header().soak(3).write(tmp_path)
    board.take(Inputs((log,)), HOW)
    before = answers(board)
    log.write_text(SOAK.text)
    (tried,) = board.rehearse(Inputs((log,)), HOW)
    assert (tried.status, tried.lines) == (Status.REWRITTEN, len(SOAK.lines))
    assert answers(board) == before


def test_shuffled_lines_give_the_same_answers(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in SOAK.lines]
    random.Random(3).shuffle(lines)
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_text("\n".join(lines))
    assert answers_of([shuffled]) == answers_of([SOAK.write(tmp_path)])


def test_split_files_give_the_same_answers(tmp_path: Path) -> None:
    whole = answers_of([SOAK.write(tmp_path)])
    parts = [write(tmp_path / f"part{at}.jsonl", *SOAK.lines[at::3]) for at in range(3)]
    assert answers_of(parts) == whole


def test_overlapping_files_give_the_same_answers(tmp_path: Path) -> None:
    whole = answers_of([SOAK.write(tmp_path)])
    middle = len(SOAK.lines) // 2
    parts = [
        write(tmp_path / "first.jsonl", *SOAK.lines[: middle + 7]),
        write(tmp_path / "second.jsonl", *SOAK.lines[middle - 7 :]),
        write(tmp_path / "again.jsonl", *SOAK.lines),
    ]
    assert answers_of(parts) == whole


def test_the_beginning_of_a_log_beside_the_whole_log_changes_nothing(tmp_path: Path) -> None:
    log = SOAK.write(tmp_path)
    whole = answers_of([log])
    torn = tmp_path / "torn.jsonl"
    torn.write_text(SOAK.text[: len(SOAK.text) * 2 // 3])
    assert answers_of([torn, log], replace(HOW, final=False)) == whole


def test_bare_verdicts_of_one_content_count_once_and_of_a_longer_copy_again(
    board: Board, tmp_path: Path
) -> None:
    """A line without run id is known by its place in a content: a longer copy is another one."""
    lines = [{"patch_id": "A", "verdict": word} for word in ("pass", "fail")]
    write(tmp_path / "a.jsonl", *lines)
    write(tmp_path / "b.jsonl", *lines)
    board.take(Inputs((tmp_path,)), HOW)
    board.derive()
    assert query.rows(board.connection, "SELECT count(*) FROM runs") == [(2,)]
    write(tmp_path / "b.jsonl", *lines, lines[0])
    board.take(Inputs((tmp_path,)), HOW)
    board.derive()
    assert query.rows(board.connection, "SELECT count(*) FROM runs") == [(5,)]


def test_an_index_on_disk_gives_the_answers_of_one_in_memory(tmp_path: Path) -> None:
    log = SOAK.write(tmp_path)
    db = tmp_path / "x.duckdb"
    half = len(SOAK.lines) // 2
    write(log, *SOAK.lines[:half])
    with open_board(db, Config()) as board:
        board.take(Inputs((log,)), replace(HOW, final=False))
        board.derive()
    write(log, *SOAK.lines)
    with open_board(db, Config()) as board:
        assert [one.status for one in board.catch_up(replace(HOW, final=False))] == [Status.GROWN]
        assert answers(board) == answers_of([log])


def test_an_index_of_another_schema_is_rebuilt_with_one_notice(tmp_path: Path) -> None:
    log = SOAK.write(tmp_path)
    gone = write(tmp_path / "gone.jsonl", {"run_id": "g", "verdict": "pass"})
    db = tmp_path / "x.duckdb"
    with open_board(db, Config()) as board:
        board.take(Inputs((log, gone)), HOW)
        board.derive()
    with duckdb.connect(db) as connection:
        connection.execute(f"UPDATE index_version SET version = {SCHEMA_VERSION + 1}")
    gone.unlink()
    with open_board(db, Config()) as board:
        board.catch_up(HOW)
        rebuilt, vanished = board.notices
        assert "another schema version and is rebuilt from 2 logs" in rebuilt
        assert vanished.startswith(f"{gone}: not there any more")
        assert answers(board) == answers_of([log])
    with open_board(db, Config()) as board:
        assert board.notices == []
        assert answers(board) == answers_of([log])


def test_a_header_overrides_the_configuration_and_what_is_wrong_in_it_is_said(
    board: Board, tmp_path: Path
) -> None:
    log = Log("night").header(policy={"min_failures": 5, "nonsense": 1}).soak(1).write(tmp_path)
    board.take(Inputs((log,)), HOW)
    board.derive()
    (notice,) = board.notices
    assert notice.startswith("experiment night: ")
    assert "nonsense" in notice


def test_headers_that_disagree_are_said(board: Board, tmp_path: Path) -> None:
    log = SOAK.header(policy={"min_failures": 5}).write(tmp_path)
    board.take(Inputs((log,)), HOW)
    board.derive()
    assert board.notices == ["experiment night: 2 header lines disagree."]


@pytest.mark.parametrize(("environment", "kind"), [(False, BadInput), (True, EnvironmentFault)])
def test_a_refused_source_is_raised_with_its_sentence(
    environment: bool, kind: type[Exception]
) -> None:
    refused = SourceReport("a", Status.REFUSED, note="a: why not.", environment=environment)
    with pytest.raises(kind, match=r"^a: why not\.$"):
        usable([SourceReport("b", Status.NEW), refused])


def test_usable_reports_are_given_back() -> None:
    reports = [SourceReport("a", Status.NEW), SourceReport("b", Status.VANISHED)]
    assert usable(reports) == reports


@pytest.mark.parametrize(
    ("name", "words"), [("missing", "does not exist"), ("empty", "has no logs in it")]
)
def test_a_path_without_logs_is_bad_input_that_names_it(
    board: Board, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "empty").mkdir()
    path = tmp_path / name
    with pytest.raises(BadInput, match=words) as caught:
        board.take(Inputs((path,)), HOW)
    assert str(path) in caught.value.message


def test_a_run_whose_lines_lie_in_two_files_is_one_run(board: Board, tmp_path: Path) -> None:
    start = {"kind": "run_start", "run_id": "1", "experiment": "E"}
    end = {"kind": "run_end", "run_id": "1", "verdict": "pass", "collected": 1, "passed": 1}
    write(tmp_path / "a.jsonl", start)
    write(tmp_path / "b.jsonl", {**end, "experiment": "E"})
    board.take(Inputs((tmp_path,)), HOW)
    board.derive()
    assert query.rows(board.connection, "SELECT experiment, verdict FROM runs") == [("E", "pass")]


def kept(board: Board) -> set[str]:
    """The experiments whose judgements carry the mark of `mark`."""
    found = query.rows(
        board.connection, "SELECT DISTINCT experiment FROM judgements WHERE why = 'kept'"
    )
    return {experiment for (experiment,) in found}


def mark(board: Board) -> None:
    query.write(board.connection, "UPDATE judgements SET why = 'kept'")


def test_only_experiments_that_new_lines_touch_are_derived_again(
    board: Board, tmp_path: Path
) -> None:
    soaks = {name: Log(name).header().soak(3) for name in ("one", "two", "three")}
    logs = [write(tmp_path / f"{name}.jsonl", *log.lines) for name, log in soaks.items()]
    board.take(Inputs(tuple(logs)), HOW)
    whole = answers(board)
    mark(board)
    write(logs[1], *soaks["two"].soak(2).lines)
    board.take(Inputs(tuple(logs)), HOW)
    board.derive()
    assert kept(board) == {"one", "three"}
    assert len(answers(board)) == len(whole)


def test_another_policy_of_one_experiment_derives_that_one_again(
    board: Board, tmp_path: Path
) -> None:
    log = write(tmp_path / "a" / "one.jsonl", *Log("one").header().soak(3).lines)
    other = write(tmp_path / "b" / "two.jsonl", *Log("two").header().soak(3).lines)
    board.take(Inputs((log, other)), HOW)
    board.derive()
    mark(board)
    header = {"kind": "experiment", "experiment": "one", "policy": {"alpha": 0.002}}
    more = write(tmp_path / "c" / "more.jsonl", header)
    board.take(Inputs((more,)), HOW)
    board.derive()
    assert kept(board) == {"two"}


def test_an_experiment_that_no_source_has_any_more_is_forgotten(
    board: Board, tmp_path: Path
) -> None:
    log = write(tmp_path / "a.jsonl", *Log("one").header().soak(3).lines)
    other = write(tmp_path / "b.jsonl", *Log("two").header().soak(3).lines)
    board.take(Inputs((log, other)), HOW)
    board.derive()
    write(log, *Log("three").header().soak(3).lines)
    board.take(Inputs((log,)), HOW)
    board.derive()
    for table in ("run_facts", "attributions", "experiment_facts"):
        found = query.rows(board.connection, f"SELECT DISTINCT experiment FROM {table} ORDER BY 1")
        assert found == [("three",), ("two",)], table


def test_a_log_in_whose_place_is_a_link_now_is_not_counted_twice(
    board: Board, tmp_path: Path
) -> None:
    first = write(tmp_path / "a.jsonl", *Log("one").header().soak(3).lines)
    second = write(tmp_path / "b.jsonl", *Log("two").header().soak(3).lines)
    board.take(Inputs((first,)), HOW)
    first.unlink()
    first.symlink_to(second)
    board.take(Inputs((first,)), HOW)
    assert {unit.experiment for unit in answers(board)} == {"two"}
