"""The grid of patches and runs: rows with their cells, widths of the whole, bounds of canaries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from logs import Log, fails, passes

from analysis.attribution.statistics import Count, lower, upper
from analysis.board import Board, Ingest, Inputs, now, open_board
from analysis.config import Config
from analysis.model import Role
from analysis.queries.grid import grid, patch_page, pinned, rates
from analysis.queries.paging import PageRequest
from analysis.queries.stability import patch_rows


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    """Two soaks: one of five rounds with stress, one of three rounds."""
    with open_board(None, Config()) as opened:
        for log in (
            Log("long").header().soak(5, failing=(1, 3)).arm("serial", 2, 40),
            Log("short").header().soak(3),
        ):
            opened.take(Inputs((log.write(tmp_path),)), Ingest(now(), final=True))
        opened.derive()
        yield opened


def test_bands_are_as_wide_as_the_longest_strip_of_any_row(board: Board) -> None:
    found = grid(board.connection, ["long", "short"])

    assert dict(found.widest) == {"soak": 5, "serial": 4}
    assert [*found.widest] == ["soak", "serial"]
    assert found.most == 9
    assert found.soaks == 2
    assert dict(grid(board.connection, ["short"]).widest) == {"soak": 3}


def test_a_page_holds_the_rows_of_the_whole_list_with_their_cells(board: Board) -> None:
    both = ["long", "short"]
    page = patch_page(board.connection, both, PageRequest())

    assert list(page.rows) == patch_rows(board.connection, both)
    assert page.total == len(page.marks) == 2
    assert page.rows[0].strips["soak"] == "pfpfp"
    assert page.rows[0].counts.flips == 4 + 1


def test_a_page_that_the_filter_leaves_empty_says_why(board: Board) -> None:
    page = patch_page(board.connection, ["long", "short"], PageRequest(filter="nowhere"))

    assert page.rows == ()
    assert "nowhere" in page.hint


def test_canaries_have_the_bounds_of_their_own_counts(board: Board) -> None:
    red, green = pinned(board.connection, "long")

    assert (red.row.role, green.row.role) == (Role.RED, Role.GREEN)
    assert (red.row.k, red.row.n, green.row.k, green.row.n) == (5, 5, 0, 5)
    assert red.lower == lower(Count(5, 5))
    assert green.upper == upper(Count(0, 5))


def test_an_experiment_without_canaries_has_none_to_pin(tmp_path: Path) -> None:
    log = Log("bare").header(canaries=None).run("subject", "soak", [passes()])
    with open_board(None, Config()) as board:
        board.take(Inputs((log.write(tmp_path),)), Ingest(now(), final=True))
        board.derive()

        assert pinned(board.connection, "bare") == ()


def test_rates_count_the_verdicts_that_the_cells_show(board: Board) -> None:
    found = rates(board.connection, "long", "patch-7")
    row = patch_rows(board.connection, ["long"])[0]

    assert {one.phase: (one.patch.k, one.patch.n) for one in found.phases} == {
        phase: (strip.count("f"), len(strip)) for phase, strip in row.strips.items()
    }
    assert sum(point.runs for point in found.points) == row.counts.n


def test_a_phase_that_only_a_canary_ran_in_has_a_band_too(tmp_path: Path) -> None:
    log = Log("soak").header().soak(1).run("green", "concurrent", [passes(), fails()])
    with open_board(None, Config()) as board:
        board.take(Inputs((log.write(tmp_path),)), Ingest(now(), final=True))
        board.derive()

        assert dict(grid(board.connection, ["soak"]).widest) == {"soak": 1, "concurrent": 1}
