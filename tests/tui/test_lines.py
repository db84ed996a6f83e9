"""Lines have the width that is asked for, whatever is in them."""

from __future__ import annotations

import pytest
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st

from tui.lines import Span, beside, cells, columns, fit, line, plain, right, spread, wrapped
from tui.text import safe

texts = st.one_of(st.sampled_from(HELL), st.text(max_size=40)).map(safe)
widths = st.integers(0, 60)


@given(texts, widths)
def test_a_fitted_line_has_exactly_the_width(text: str, width: int) -> None:
    assert cells(fit(text, width)) == width


@given(st.lists(texts, max_size=4), widths)
def test_a_fitted_line_of_several_pieces_has_exactly_the_width(
    pieces: list[str], width: int
) -> None:
    assert cells(fit(line(*pieces), width)) == width


@given(texts, texts, st.integers(1, 60))
def test_two_parts_are_spread_over_the_width(left: str, at_right: str, width: int) -> None:
    assert cells(spread(left, at_right, width)) == width


def test_what_is_cut_has_a_mark() -> None:
    assert plain(fit("test_server.py::test_echo", 10)) == "test_serv…"
    assert plain(fit("short", 10)) == "short     "


def test_the_right_part_stays_when_the_left_one_gives_way() -> None:
    assert plain(spread("a long sentence", "3 of 4", 14)) == "a long … 3 of 4"[0:7] + "…3 of 4"


@given(st.lists(st.tuples(texts, st.integers(1, 12)), min_size=1, max_size=5))
def test_columns_stand_under_each_other(cells_of: list[tuple[str, int]]) -> None:
    made = columns(
        [text for text, _ in cells_of], [width for _, width in cells_of], "l" * len(cells_of)
    )
    assert cells(made) == sum(width for _, width in cells_of) + len(cells_of) - 1


def test_numbers_stand_at_the_right_and_a_column_of_no_width_is_left_out() -> None:
    assert plain(columns(("a", "gone", "7"), (3, 0, 4), "llr")) == "a      7"


@given(texts, st.integers(4, 60))
def test_a_wrapped_sentence_has_no_line_longer_than_the_width(text: str, width: int) -> None:
    for one in wrapped(text, width):
        assert cells(one) <= width


@given(st.lists(st.text("abc", min_size=1, max_size=6), max_size=12), st.integers(6, 30))
def test_a_wrapped_sentence_loses_no_word(words: list[str], width: int) -> None:
    made = wrapped(" ".join(words), width, most=100)
    assert " ".join(plain(one) for one in made).split() == words


def test_a_sentence_longer_than_its_lines_ends_with_a_mark() -> None:
    made = wrapped("one two three four five six", 9, most=2)
    assert [plain(one) for one in made] == ["one two", "three fo…"]


def test_columns_of_lines_stand_beside_each_other() -> None:
    made = beside([line("a"), line("b")], [line("c")], 3, 2)
    assert [plain(one) for one in made] == ["a    c", "b    "]


@pytest.mark.parametrize("text", HELL)
def test_right_aligned_text_is_left_whole(text: str) -> None:
    made = right(Span(safe(text)), 30)
    assert plain(made).endswith(safe(text))
