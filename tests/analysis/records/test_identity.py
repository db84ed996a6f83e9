"""The identity of a test."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records import is_unstable, normal_form


@pytest.mark.parametrize(
    ("test_id", "normal"),
    [
        ("t.py::a", "t.py::a"),
        ("./t.py::a", "t.py::a"),
        ("././t.py::a", "t.py::a"),
        ("/t.py::a", "t.py::a"),
        (".\\d\\t.py::a", "d/t.py::a"),
        ("d\\t.py::C::a[x\\y]", "d/t.py::C::a[x\\y]"),
        ("../t.py::a", "../t.py::a"),
        (".hidden/t.py::a", ".hidden/t.py::a"),
        ("t.py::a[e\u0301]", "t.py::a[\u00e9]"),
        ("a::b@grp", "a::b"),
        ("a::b[x]@grp", "a::b[x]"),
        ("a::b[x@y]", "a::b[x@y]"),
        ("a::b[x@y]@grp", "a::b[x@y]"),
        ("a::b[::@x]", "a::b[::@x]"),
        ("a::b[[@x]", "a::b[[@x]"),
        ("a@v2.py::b", "a@v2.py::b"),
        ("a::b@", "a::b@"),
        ("a::@b", "a::@b"),
        ("(run)", "(run)"),
        ("/", "/"),
        ("", ""),
        ('t.py::j[True-"\\\\u2603"]', 't.py::j[True-"\\\\u2603"]'),
    ],
)
def test_the_normal_form_of_an_id(test_id, normal):
    assert normal_form(test_id) == normal


@given(st.text())
def test_a_normal_form_is_nfc_and_spelling_makes_no_other(test_id):
    normal = normal_form(test_id)
    assert unicodedata.is_normalized("NFC", normal)
    assert normal_form(unicodedata.normalize("NFD", test_id)) == normal


@given(st.text(alphabet="abc[]:\\/@", min_size=1))
def test_a_leading_dot_slash_is_the_same_test(name):
    test_id = "t.py::" + name
    assert normal_form("./" + test_id) == normal_form(test_id)


@pytest.mark.parametrize(
    "test_id",
    [
        "t::a[<object at 0x7f3a5c0b1d30>]",
        "t::a[<object at 0x7f]",
        "t::a[0X00FFAA]",
        "t::a[123e4567-e89b-12d3-a456-426614174000]",
        "t::a[Point(x=1, y...>]",
    ],
)
def test_an_id_that_changes_from_run_to_run_is_unstable(test_id, read_items):
    assert is_unstable(test_id)
    item = {"kind": "test", "run_id": "r", "test_id": test_id, "outcome": "passed"}
    (row,) = read_items(item).tests
    assert row["unstable_id"] is True
    assert row["test_id"] == test_id


@pytest.mark.parametrize(
    "test_id",
    [
        "t::a[0x1F]",
        "t::a[abcdef12]",
        "t::a[123e4567-e89b]",
        "t::a[x...]",
        "t::a[<b>]",
        "t::a[at 0]",
    ],
)
def test_an_id_that_only_looks_like_it_is_stable(test_id):
    assert not is_unstable(test_id)
