"""The list of a comparison: filtered and sorted, and it stays on its row."""

from __future__ import annotations

import shlex

import pytest
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st

from analysis.model import UnitClass
from analysis.queries.compared import ComparedTest, Standing
from analysis.queries.compared_page import COLUMNS, compared_page, comparing
from analysis.queries.difference import Change
from analysis.queries.paging import PageRequest


def standing(unit_class: UnitClass, k: int, n: int, patch: str = "patch-7") -> Standing:
    return Standing(patch, "t", unit_class, "S", k, (k, n), (0, n), "executions")


def compared(
    name: str,
    change: Change,
    p: float | None = None,
    before: Standing | None = None,
    after: Standing | None = None,
) -> ComparedTest:
    return ComparedTest(name, None, before, after, change, p, "why", {})


HARNESS = standing(UnitClass.HARNESS, 4, 12)
STABLE = standing(UnitClass.STABLE, 0, 24, "patch-8")
FLAKE = standing(UnitClass.FLAKE, 1, 24)
TESTS = (
    compared("c.py::worse", Change.WORSE, 0.001, STABLE, FLAKE),
    compared("a.py::same", Change.SAME, 0.4, HARNESS, HARNESS),
    compared("b.py::fixed", Change.FIXED, 1e-6, HARNESS, STABLE),
    compared("d.py::new", Change.NEW, None, None, FLAKE),
)


def names(request: PageRequest) -> list[str]:
    return [test.test_id.partition("::")[2] for test in compared_page(TESTS, request).rows]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("", ["worse", "same", "fixed", "new"]),
        ("test", ["same", "fixed", "worse", "new"]),
        ("before", ["same", "fixed", "worse", "new"]),
        ("after", ["same", "worse", "new", "fixed"]),
        ("company", ["same", "fixed", "worse", "new"]),
        ("p", ["fixed", "worse", "same", "new"]),
    ],
)
def test_the_list_is_sorted_by_any_column(column: str, order: list[str]) -> None:
    assert names(PageRequest(sort=column)) == order
    assert names(PageRequest(sort=column, reverse=True)) == order[::-1]


@pytest.mark.parametrize("column", COLUMNS)
def test_no_order_loses_a_test(column: str) -> None:
    assert sorted(names(PageRequest(sort=column))) == sorted(names(PageRequest()))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("worse", ["worse"]),
        ("class:stable", ["worse", "fixed"]),
        ("class:stable -worse", ["fixed"]),
        ("patch:patch-8", ["worse", "fixed"]),
        ("test:A.PY", ["same"]),
        ("row:S harness", ["same", "fixed"]),
        ('"no difference"', ["same"]),
    ],
)
def test_a_filter_leaves_what_matches_before_or_after(text: str, left: list[str]) -> None:
    assert names(PageRequest(filter=text)) == left


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("class:rase", "Nothing matches class:rase. Did you mean class:race?"),
        ("owner:mara", "This list has no owner:."),
        ("worse fixed", "No row matches all of these words."),
    ],
)
def test_a_filter_that_leaves_nothing_says_why(text: str, hint: str) -> None:
    page = compared_page(TESTS, PageRequest(filter=text))
    assert not page.rows
    assert page.everything == 4
    assert page.hint.startswith(hint)


def test_the_place_is_kept_by_name_and_else_is_the_first() -> None:
    here = compared_page(TESTS, PageRequest()).marks[2]
    assert compared_page(TESTS, PageRequest(anchor=here)).at == 2
    assert compared_page(TESTS, PageRequest(anchor=here, reverse=True)).at == 1
    assert compared_page(TESTS, PageRequest(anchor=here, filter="worse")).at == 0
    assert compared_page(TESTS, PageRequest(at_end=True)).at == 3


def test_nothing_compared_is_an_empty_list() -> None:
    page = compared_page((), PageRequest(at_end=True))
    assert (page.rows, page.total, page.at, page.hint) == ((), 0, 0, "")


@given(st.one_of(st.sampled_from(HELL), st.text(max_size=20)))
def test_no_filter_is_too_strange(text: str) -> None:
    page = compared_page(TESTS, PageRequest(filter=text))
    assert page.total == len(page.rows) <= page.everything
    assert bool(page.hint) == (not page.rows)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_shell_reads_the_command_as_it_was_meant(before: str, after: str) -> None:
    command = comparing(before, after)
    if command is not None:
        assert shlex.split(command) == ["tui", "compare", "--", before, after]


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "nul\x00"])
def test_there_is_no_command_to_paste_for_a_name_that_a_terminal_obeys(name: str) -> None:
    assert comparing("soak", name) is None
