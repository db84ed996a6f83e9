"""Text made fit for a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.text import cut, cut_middle, safe, table, width


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain [red] text é 漢", "plain [red] text é 漢"),
        ("\x1b[2J\n\t\x00", "␛[2J␊␉␀"),
        ("\x7f", "␡"),
        ("\x85\x9b", "<U+0085><U+009B>"),
        ("\u202eevil\u2066", "<U+202E>evil<U+2066>"),
        ("a\u2028b", "a<U+2028>b"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_what_a_terminal_obeys_is_shown_instead(raw: str, shown: str) -> None:
    assert safe(raw) == shown


@given(st.text(st.characters(codec=None)))
def test_safe_text_is_one_line_that_can_be_written_and_stays_as_it_is(raw) -> None:
    shown = safe(raw)
    assert len(shown.splitlines()) <= 1
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert not any(character < " " or "\x7f" <= character < "\xa0" for character in shown)
    assert safe(shown) == shown


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 30))
def test_a_cut_text_fits_and_says_that_it_was_cut(text: str, cells: int) -> None:
    short = cut(text, cells)
    assert width(short) <= cells
    if short != text and cells:
        assert short.endswith("…")
        assert text.startswith(short[:-1])


@given(st.lists(st.tuples(st.text(), st.integers(), st.none()), max_size=6))
def test_a_table_has_a_line_a_row_and_straight_columns(rows) -> None:
    lines = table(("name", "count", "漢"), rows, "lr").split("\n")
    assert len(lines) == len(rows) + 1
    ends = {
        width(line[: line.rindex(str(row[1])) + len(str(row[1]))])
        for line, row in zip(lines[1:], rows, strict=True)
    }
    assert len(ends) <= 1


def test_a_wide_character_takes_two_cells() -> None:
    assert table(("a", "b"), [("漢", "x"), ("cc", "y")]) == "a   b\n漢  x\ncc  y"


def test_a_table_without_rows_is_its_header() -> None:
    assert table(("a", "b"), []) == "a  b"


@given(st.text(max_size=60), st.integers(min_value=0, max_value=40))
def test_a_text_cut_in_the_middle_fits_and_keeps_its_end(text: str, cells: int) -> None:
    shown = cut_middle(text, cells)
    assert width(shown) <= cells or shown == text == ""
    if width(text) > cells >= 4:
        head, _, tail = shown.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail.rpartition("…")[2])


def test_what_fits_is_not_cut_in_the_middle() -> None:
    assert cut_middle("test_port.py::test_server", 25) == "test_port.py::test_server"
    assert cut_middle("test_port.py::test_server", 12) == "tes…t_server"
