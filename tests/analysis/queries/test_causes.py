"""The lists of units: the same numbers as the attribution itself, in the order of the table."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from logs import PATCH, Log, fails, passes

from analysis.attribution.cause import NO_FAILURE
from analysis.attribution.rollup import roll_up
from analysis.attribution.table import TABLE
from analysis.board import Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.model import UnitClass
from analysis.queries.attributions import UnitKey, UnitRow, units
from analysis.queries.causes import (
    GROUPINGS,
    CauseRow,
    Group,
    Side,
    cause_page,
    unit_page,
    units_total,
)
from analysis.queries.experiments import Choice, chosen
from analysis.queries.paging import PageRequest
from analysis.store import query

DATA = Path(__file__).parents[2] / "data" / "ground-truth"
ROWS = [row.name for row in TABLE]
ALL = PageRequest(size=10_000)


@pytest.fixture(scope="module")
def truth() -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str]]]:
    """The board of the ground truth, and its experiments."""
    with open_board(None, Config()) as board:
        board.take(Inputs((DATA,)), Ingest(now(), final=True))
        board.derive()
        yield board.connection, chosen(board.connection, Choice(everything=True))


def key_of(unit: UnitRow) -> UnitKey:
    return UnitKey(unit.experiment, unit.patch_id, unit.test_id, unit.variant)


def side(found: Sequence[UnitRow], name: str) -> Side:
    return Side(
        sum(int(unit.bounds[name]["k"]) for unit in found),
        sum(int(unit.bounds[name]["n"]) for unit in found),
    )


def group_of(unit: UnitRow, grouping: str) -> tuple[Any, ...]:
    return {
        "cause": (unit.unit_class, unit.cause),
        "patch": (unit.patch_id,),
        "soak": (unit.experiment,),
        "class": (str(unit.unit_class),),
    }[grouping]


def expected(found: Sequence[UnitRow]) -> dict[str, Any]:
    """What a line says of its units, which are in the order of the table."""
    return {
        "unit_class": roll_up([unit.unit_class for unit in found]),
        "row": min((unit.row for unit in found), key=ROWS.index),
        "company": side(found, "company"),
        "alone": side(found, "alone"),
        "failures": sum(unit.failures for unit in found),
        "units": len(found),
        "soaks": len({unit.experiment for unit in found}),
        "no_failure": all(unit.cause == NO_FAILURE for unit in found),
        "p": max((unit.p for unit in found if unit.p is not None), default=None),
        "sample": key_of(found[0]),
        "why": found[0].why,
        "action": found[0].action,
        "locus": found[0].locus,
    }


@pytest.mark.parametrize("grouping", GROUPINGS[:-1])
def test_every_line_says_what_its_units_say_together(
    truth: tuple[duckdb.DuckDBPyConnection, list[str]], grouping: str
) -> None:
    groups: dict[tuple[Any, ...], list[UnitRow]] = defaultdict(list)
    for unit in units(*truth):
        groups[group_of(unit, grouping)].append(unit)
    listed = cause_page(*truth, grouping, ALL)
    assert listed.total == len(groups)
    for row in listed.rows:
        name = (row.unit_class, row.label) if grouping == "cause" else (row.label,)
        said = expected(groups[name])
        assert {key: getattr(row, key) for key in said} == said
        quiet = {unit.test_id for unit in groups[name]} if row.no_failure else ()
        assert row.tests == len(quiet)
        group = Group(grouping, row.unit_class, row.key)
        inside = unit_page(*truth, ALL, group)
        assert [line.key for line in inside.rows] == [key_of(unit) for unit in groups[name]]
    order = [(list(UnitClass).index(row.unit_class), -row.failures, row.key) for row in listed.rows]
    assert order == sorted(order)


def test_units_are_the_units_of_the_attribution_in_its_order(
    truth: tuple[duckdb.DuckDBPyConnection, list[str]],
) -> None:
    listed = unit_page(*truth, ALL, None)
    whole = units(*truth)
    assert [line.key for line in listed.rows] == [key_of(unit) for unit in whole]
    for line, unit in zip(listed.rows, whole, strict=True):
        assert (line.unit_class, line.row, line.cause) == (unit.unit_class, unit.row, unit.cause)
        assert (line.failures, line.p, line.why) == (unit.failures, unit.p, unit.why)
        assert (line.action, line.locus) == (unit.action, unit.locus)
        for found, name in ((line.company, "company"), (line.alone, "alone")):
            assert {"k": found.k, "n": found.n, "lower": found.lower, "upper": found.upper} == dict(
                unit.bounds[name]
            )


def test_the_totals_of_the_ground_truth(
    truth: tuple[duckdb.DuckDBPyConnection, list[str]],
) -> None:
    found = units_total(*truth)
    assert (found.flakes, found.need_fix, found.need_runs, found.hold) == (6, 27, 39, 10)
    assert found.units == 82
    assert units_total(truth[0], []).units == 0


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("class:race", lambda unit: unit.unit_class is UnitClass.RACE),
        (
            'class:"patch race" -test_race',
            lambda unit: unit.unit_class is UnitClass.RACE and "test_race" not in unit.test_id,
        ),
        ("row:3b", lambda unit: unit.row == "3b"),
        ("patch:no_lock", lambda unit: unit.patch_id.startswith("no_lock")),
        ("test:test_port", lambda unit: "test_port" in unit.test_id),
        ("soak:shared_port", lambda unit: "shared_port" in unit.experiment),
        ("file:test_seed.py", lambda unit: unit.test_id.startswith("test_seed.py")),
        ("signature:address", lambda unit: "Address" in (unit.form or "")),
        ("TEST_PORT.py::test_server", lambda unit: "test_port.py" in unit.test_id),
        ("26411", lambda unit: unit.cause == "port 26411"),
        ("stable isolated-ep1", lambda unit: unit.row == "S" and "ed-ep1" in unit.experiment),
    ],
)
def test_a_filter_is_asked_of_the_units_and_only_those_are_summed_up(
    truth: tuple[duckdb.DuckDBPyConnection, list[str]],
    text: str,
    left: Callable[[UnitRow], bool],
) -> None:
    kept = [unit for unit in units(*truth) if left(unit)]
    assert kept
    single = unit_page(*truth, replace(ALL, filter=text), None)
    assert [line.key for line in single.rows] == [key_of(unit) for unit in kept]
    assert single.everything == 82
    grouped = cause_page(*truth, "cause", replace(ALL, filter=text))
    for row in grouped.rows:
        said = expected(
            [unit for unit in kept if (row.unit_class, row.label) == group_of(unit, "cause")]
        )
        assert {key: getattr(row, key) for key in said} == said
    assert sum(row.units for row in grouped.rows) == len(kept)
    assert grouped.everything == cause_page(*truth, "cause", ALL).total


@pytest.mark.parametrize("column", ["company", "alone"])
def test_shares_are_sorted_as_shares_and_nothing_executed_comes_last(
    truth: tuple[duckdb.DuckDBPyConnection, list[str]], column: str
) -> None:
    for reverse in (False, True):
        listed = unit_page(*truth, replace(ALL, sort=column, reverse=reverse), None)
        sides: list[Side] = [getattr(line, column) for line in listed.rows]
        shares = [one.k / one.n for one in sides if one.n]
        assert shares == sorted(shares, reverse=not reverse)
        assert all(one.n for one in sides[: len(shares)])


def board_of(folder: Path, *logs: Log) -> Any:
    for log in logs:
        log.write(folder)
    return Inputs((folder,))


@pytest.fixture
def two_lanes(tmp_path: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str]]]:
    """One test in three lanes, one of which has no name, and a credential in its message."""
    log = Log("lanes").header()
    for number in range(4):
        log = log.round(
            number,
            [
                fails("t.py::t[$accent]", message="bind failed, token=hunter2secret"),
                fails("t.py::t[$accent]", variant="b", message="bind failed, token=hunter2secret"),
                passes("t.py::t[$accent]", variant="a"),
            ],
        )
    with open_board(None, Config()) as board:
        board.take(board_of(tmp_path, log), Ingest(now(), final=True))
        board.derive()
        yield board.connection, ["lanes"]


def test_lanes_of_a_test_are_rows_of_their_own_and_the_nameless_comes_first(
    two_lanes: tuple[duckdb.DuckDBPyConnection, list[str]],
) -> None:
    listed = unit_page(*two_lanes, replace(ALL, filter="accent"), None)
    assert [line.key for line in listed.rows] == [
        key_of(unit) for unit in units(*two_lanes) if "accent" in unit.test_id
    ]
    assert {line.key.variant for line in listed.rows} == {None, "a", "b"}
    for number, mark in enumerate(listed.marks):
        assert unit_page(*two_lanes, PageRequest(filter="accent", anchor=mark), None).at == number


def test_a_credential_in_a_cause_is_not_shown_and_the_group_still_opens(
    two_lanes: tuple[duckdb.DuckDBPyConnection, list[str]],
) -> None:
    connection, names = two_lanes
    secret = "bind failed, token=hunter2secret"
    query.write(
        connection,
        """UPDATE judgements SET cause = $secret, why = $secret, action = $secret
        WHERE failures > 0""",
        {"secret": secret},
    )
    listed: tuple[CauseRow, ...] = cause_page(connection, names, "cause", ALL).rows
    (row,) = (row for row in listed if row.failures)
    inside = unit_page(connection, names, ALL, Group("cause", row.unit_class, row.key))
    assert inside.total == row.units == 2
    shown = [row.label, row.why, row.action]
    shown += [text for line in inside.rows for text in (line.cause, line.why, line.action)]
    assert "hunter2" not in json.dumps(shown)
    assert all(text.startswith("bind failed") for text in shown)


def test_patch_names_are_those_of_the_log(
    two_lanes: tuple[duckdb.DuckDBPyConnection, list[str]],
) -> None:
    assert [row.label for row in cause_page(*two_lanes, "patch", ALL).rows] == [PATCH]
