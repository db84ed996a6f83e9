"""What a filter says, and what it may become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.queries.filters import (
    FIELDS,
    Term,
    complete,
    exactly,
    nothing_matches,
    parse,
    unsupported,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("  ", []),
        ("red  blue", [("", "red", False), ("", "blue", False)]),
        ("-red", [("", "red", True)]),
        ('"two words" x', [("", "two words", False), ("", "x", False)]),
        ('-"two words"', [("", "two words", True)]),
        ('class:"patch race"', [("class", "patch race", False)]),
        ("-CLASS:Race", [("class", "Race", True)]),
        ("test_x.py::test_y", [("", "test_x.py::test_y", False)]),
        ("test:test_x.py::test_y", [("test", "test_x.py::test_y", False)]),
        ("http://x", [("", "http://x", False)]),
        ("class:", []),
        ("-", []),
        ('"', []),
        ('"still open', [("", "still open", False)]),
        ("a--b", [("", "a--b", False)]),
        ("--b", [("", "-b", True)]),
        ("test_a[red]", [("", "test_a[red]", False)]),
        ('say"so', [("", 'say"so', False)]),
    ],
)
def test_a_filter_is_read_as_it_is_meant(text: str, terms: list[tuple[str, str, bool]]) -> None:
    assert [(term.field, term.value, term.excluded) for term in parse(text)] == terms


@given(
    st.text() | st.lists(st.sampled_from(["class:", '"', "-", " ", "x", "\t", ":"])).map("".join)
)
def test_every_text_is_a_filter_of_values_that_stand_in_it(text: str) -> None:
    for term in parse(text):
        assert term.value
        whole = text.encode("utf-8", "replace").decode()
        assert term.value.replace('"', "") in whole.replace('"', "")
        assert term.field in (*FIELDS, "")


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=4))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    doubled = [word.replace('"', '""') for word in words]
    terms = parse(" ".join(f'"{word}"' for word in doubled))
    assert [term.value for term in terms] == words


@given(st.sampled_from(FIELDS), st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_field_can_be_asked_for_as_a_whole(field: str, value: str) -> None:
    (term,) = parse(exactly(field, value))
    assert (term.field, term.value, term.excluded, term.whole) == (field, value, False, True)
    assert not any(
        one.whole for one in parse(f"{field}:x={value.split()[0] if value.split() else ''}")
    )


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("", []),
        ("cl", ["class:"]),
        ("x -PA", ["x -patch:"]),
        ("zz", []),
        ("ow", []),
        ("class:ra", ["class:race"]),
        ("class:i", ["class:invalid", "class:isolation", "class:insufficient"]),
        ("a -class:FL", ["a -class:flake"]),
        ("class:race", []),
        ("patch:a", []),
    ],
)
def test_tab_completes_fields_and_classes(text: str, completed: list[str]) -> None:
    assert list(complete(text, ("class", "patch"))) == completed


def test_every_class_is_offered_by_the_word_that_tells_it_from_the_others() -> None:
    offered = complete("class:", ("class",))
    assert len(set(offered)) == 8
    assert complete("class:", ("patch",)) == ()


def test_a_field_that_a_list_does_not_have_is_named() -> None:
    assert unsupported(parse("a class:b"), ("class",)) == ""
    assert unsupported(parse("owner:b"), ("test", "class")) == (
        "This list has no owner:. It has class: test:"
    )
    assert unsupported(parse("owner:b"), ()) == "This list has no owner:. It has words only."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class:rase", "Nothing matches class:rase. Did you mean class:race?"),
        ("-class:flaek", "Nothing matches -class:flaek. Did you mean -class:flake?"),
        ("clas:race", "Nothing matches clas:race. Did you mean class:race?"),
        ("qqq", "Nothing matches qqq."),
        ("row:9", "Nothing matches row:9."),
    ],
)
def test_what_may_have_been_meant_is_said(text: str, sentence: str) -> None:
    (term,) = parse(text)
    assert isinstance(term, Term)
    assert nothing_matches(term) == sentence
