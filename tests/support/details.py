"""Details of tests, as the dashboard gets them."""

from __future__ import annotations

from pathlib import Path

from analysis.board import Board, Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.queries.attributions import UnitKey, units
from analysis.queries.detail import TestDetail, detail_of
from analysis.queries.experiments import Choice, chosen


def all_details(board: Board) -> list[TestDetail]:
    """The details of every test of a board."""
    names = chosen(board.connection, Choice(everything=True))
    found = []
    for row in units(board.connection, names):
        key = UnitKey(row.experiment, row.patch_id, row.test_id, row.variant)
        detail = detail_of(board.connection, key)
        assert detail is not None
        found.append(detail)
    return found


def details_of(log: Path) -> list[TestDetail]:
    """The details of every test of a log."""
    with open_board(None, Config()) as board:
        board.take(Inputs((log,)), Ingest(now(), final=True))
        board.derive()
        return all_details(board)


def harness_bug(details: list[TestDetail]) -> TestDetail:
    """A test that fails while a peer holds its resource."""
    return next(one for one in details if one.unit.row == "1a")
