"""Faults that such tools had: small inputs with the right reading beside them, in the index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import analysis
from analysis.board import Board, Ingest, Inputs, open_board
from analysis.config import Config
from analysis.errors import EnvironmentFault
from analysis.queries.attributions import UnitRow, units
from analysis.queries.free import ask
from analysis.store import query
from analysis.store.index import open_index

BUGS = Path(__file__).parents[1] / "data" / "bugs"
PACKAGES = str(Path(analysis.__file__).parents[1])
HOW = Ingest(datetime(2026, 6, 1, 12, tzinfo=UTC), final=False)


def read(board: Board, *paths: Path, how: Ingest = HOW) -> Board:
    board.take(Inputs(paths), how)
    board.derive()
    return board


def results(board: Board, columns: str) -> list[tuple[Any, ...]]:
    return query.rows(
        board.connection,
        f"SELECT {columns} FROM results WHERE test_id <> '(run)' ORDER BY byte_offset, item",
    )


def classes(board: Board) -> list[UnitRow]:
    found = query.rows(board.connection, "SELECT experiment FROM experiment_facts")
    return units(board.connection, [name for (name,) in found])


def said(unit: UnitRow) -> tuple[object, ...]:
    return unit.unit_class, unit.row, unit.why, unit.elsewhere, unit.counts


PER_DAY = """
import json, sys
sys.path.insert(0, sys.argv[1])
sys.modules["pytz"] = None  # as where it is not installed
from datetime import UTC, datetime
from pathlib import Path
from analysis.board import Ingest, Inputs, open_board
from analysis.config import Config
from analysis.queries.free import ask
with open_board(None, Config()) as board:
    board.take(Inputs((Path(sys.argv[2]),)), Ingest(datetime(2026, 6, 1, tzinfo=UTC), True))
    board.derive()
    answer = ask(board.connection, '''
        SELECT CAST(CAST(finished AS DATE) AS VARCHAR), count(*) FILTER (failed),
            count(*) FILTER (NOT failed)
        FROM results WHERE test_id = 't::a' GROUP BY 1 ORDER BY 1''')
print(json.dumps(answer.rows))
"""


@pytest.mark.parametrize("zone", ["Europe/Madrid", "UTC", "Pacific/Kiritimati"])
def test_22_days_are_days_in_utc_whatever_the_zone_of_the_machine(zone: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PER_DAY, PACKAGES, BUGS / "22-duckdb-local-shift/verdicts.jsonl"],
        env={**os.environ, "TZ": zone},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout) == [["2026-03-28", 1, 0], ["2026-03-29", 0, 1]]


def test_23_nothing_in_the_index_has_a_zone_to_be_fetched_with() -> None:
    with open_board(None, Config()) as board:
        read(board, BUGS / "22-duckdb-local-shift/verdicts.jsonl")
        columns = query.rows(
            board.connection,
            """SELECT table_name, column_name, data_type FROM duckdb_columns()
            WHERE NOT internal""",
        )
        assert ("run_lines", "finished", "TIMESTAMP") in columns
        assert [column for column in columns if "TIME ZONE" in column[2]] == []


def test_25_an_empty_time_is_no_time_and_both_verdicts_count() -> None:
    with open_board(None, Config()) as board:
        read(board, BUGS / "25-all-nat-group/verdicts.jsonl")
        assert results(board, "outcome, finished") == [("failed", None), ("passed", None)]
        newest = query.first(board.connection, "SELECT newest FROM experiment_facts")
        assert newest == (None,)


def test_31_two_spellings_of_unicode_are_one_unit(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    spelled = ("t.py::test_u[\u304b\u3099]", "t.py::test_u[\u304c]")
    log.write_text(
        "".join(
            json.dumps({"patch_id": "A", "run_id": str(at), "test_id": test, "verdict": "fail"})
            + "\n"
            for at, test in enumerate(spelled)
        )
    )
    with open_board(None, Config()) as board:
        read(board, log)
        assert [one[0] for one in results(board, "test_id")] == list(spelled)
        assert len({one[0] for one in results(board, "test_norm")}) == 1
        assert len(classes(board)) == 1


def test_32_quotes_backslashes_and_brackets_stay_as_they_are(tmp_path: Path) -> None:
    entry = (BUGS / "32-backslash-id-mismatch/quarantine.txt").read_text().strip()
    report = json.loads((BUGS / "32-backslash-id-mismatch/report.jsonl").read_text())
    log = tmp_path / "a.jsonl"
    log.write_text(json.dumps({**report, "kind": "test", "run": 1}) + "\n")
    with open_board(None, Config()) as board:
        read(board, log)
        assert results(board, "test_id, test_norm, outcome") == [(entry, entry, "failed")]


def test_38_one_test_on_two_interpreters_is_two_units() -> None:
    with open_board(None, Config()) as board:
        read(board, BUGS / "38-quarantine-too-wide/verdicts.jsonl")
        assert results(board, "variant, outcome") == [
            ("py3.9", "failed"),
            ("py3.9", "passed"),
            ("py3.13", "failed"),
            ("py3.13", "failed"),
        ]
        # Failures in gate runs count for no arm of an experiment and are listed beside it.
        found = {unit.variant: unit.elsewhere for unit in classes(board)}
        assert found == {"py3.13": 2, "py3.9": 1}


def test_41_a_test_that_is_not_run_any_more_has_not_recovered(tmp_path: Path) -> None:
    folder = tmp_path / "gate"
    folder.mkdir()
    shutil.copy(BUGS / "41-quarantine-cleared-because-not-run/verdicts.jsonl", folder)
    with open_board(None, Config()) as board:
        (before,) = classes(read(board, folder))
        assert before.elsewhere == 1
        later = [
            {"test": "t::other", "verdict": "pass", "at": f"2026-02-{day:02}"} for day in (1, 2)
        ]
        (folder / "later.jsonl").write_text("".join(json.dumps(line) + "\n" for line in later))
        after = {unit.test_id: unit for unit in classes(read(board, folder))}
        assert set(after) == {"t::q", "t::other"}
        assert said(after["t::q"]) == said(before)
        last = query.first(
            board.connection, "SELECT max(finished)::DATE FROM results WHERE test_id = 't::q'"
        )
        assert last == (date(2026, 1, 1),)


def test_46_two_records_on_a_line_are_refused_whole_and_counted() -> None:
    with open_board(None, Config()) as board:
        (report,) = board.take(Inputs((BUGS / "46-jsonl-two-per-line/soak.jsonl",)), HOW)
        assert (report.lines, report.rows, report.rejects, report.blank) == (3, 1, 1, 1)
        board.derive()
        assert results(board, "test_id") == [("t::c",)]
        (reject,) = query.rows(board.connection, "SELECT line, reason FROM rejects")
        assert reject == (1, "two-objects-on-a-line")


def test_47_a_torn_tail_waits_and_then_comes_exactly_once(tmp_path: Path) -> None:
    log = tmp_path / "soak.jsonl"
    log.write_bytes((BUGS / "47-jsonl-torn-tail/soak.jsonl").read_bytes())
    with open_board(None, Config()) as board:
        (report,) = board.take(Inputs((log,)), HOW)
        assert (report.lines, report.rows, report.rejects, report.pending) == (2, 1, 0, 1)
        with log.open("ab") as file:
            file.write(b'il"}\n')
        board.catch_up(HOW)
        board.catch_up(HOW)
        board.derive()
        assert results(board, "run_id, outcome") == [("1", "passed"), ("2", "failed")]


def test_47_what_a_new_process_appends_to_a_torn_tail_is_not_lost(tmp_path: Path) -> None:
    log = tmp_path / "soak.jsonl"
    log.write_bytes((BUGS / "47-jsonl-torn-tail/soak.jsonl").read_bytes())
    with open_board(None, Config()) as board:
        board.take(Inputs((log,)), HOW)
        appended = b'{"run":3,"test":"t::a","verdict":"pass"}'
        with log.open("ab") as file:
            file.write(appended + b"\n" + appended.replace(b"3", b"4") + b"\n")
        board.catch_up(HOW)
        ((raw,),) = query.rows(board.connection, "SELECT raw FROM rejects")
        assert raw.endswith(appended)
        board.derive()
        assert results(board, "run_id") == [("1",), ("4",)]


def test_49_a_repeated_key_is_refused_and_the_next_line_is_read() -> None:
    with open_board(None, Config()) as board:
        read(board, BUGS / "49-duckdb-duplicate-key/soak.jsonl")
        assert query.rows(board.connection, "SELECT line, reason FROM rejects") == [
            (1, "duplicate-key")
        ]
        assert query.rows(board.connection, "SELECT run_id, verdict FROM runs") == [("2", "pass")]


def test_50_who_holds_the_index_is_said_in_one_sentence(tmp_path: Path) -> None:
    db = tmp_path / "x.duckdb"
    code = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, db], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        with pytest.raises(duckdb.IOException), duckdb.connect(db, read_only=True):
            pass
        held = f"in use by process {process.pid};"
        with pytest.raises(EnvironmentFault, match=held) as caught, open_index(db, 0.1):
            pass
        assert "\n" not in str(caught.value)
        process.kill()


def test_59_one_record_is_one_execution_and_one_unit() -> None:
    with open_board(None, Config()) as board:
        read(board, BUGS / "59-plotext-single-bar/verdicts.jsonl")
        assert results(board, "test_id, failed, finished") == [("t::a", True, datetime(2026, 1, 1))]
        (unit,) = classes(board)
        assert (unit.test_id, unit.elsewhere) == ("t::a", 1)


def test_23_a_moment_with_a_zone_is_fetched_without_pytz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytz", None)
    with open_board(None, Config()) as board:
        sql = (BUGS / "23-pytz-missing/query.sql").read_text()
        ((moment,),) = ask(board.connection, sql).rows
        assert str(moment).startswith("2026-01-01 00:00:00")
