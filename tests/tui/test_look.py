"""How values are written: bounds never look better than they are, ids stay recognisable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.glyphs import ASCII, UNICODE, glyphs_for
from tui.look import Look, age

NOW = datetime(2026, 11, 30, 9, 12, tzinfo=UTC)
LOOK = Look(now=NOW)


@pytest.mark.parametrize(
    ("rate", "written"),
    [
        (0.0798, "≤8%"),
        (0.08, "≤8%"),
        (0.0801, "≤9%"),
        (0.0014, "≤.2%"),
        (0.00001, "≤.1%"),
        (0.0, "≤0%"),
        (0.0099, "≤1%"),
        (1.0, "≤100%"),
    ],
)
def test_an_upper_bound_is_rounded_up(rate: float, written: str) -> None:
    assert LOOK.upper(rate) == written


@given(st.floats(0, 1))
def test_no_bound_is_written_narrower_than_it_is(rate: float) -> None:
    def value(written: str) -> float:
        return float(written[1:-1]) / 100

    assert value(LOOK.upper(rate)) >= rate - 1e-8
    assert value(LOOK.lower(rate)) <= rate + 1e-8


def test_the_bound_of_what_never_passed_is_the_lower_one() -> None:
    assert LOOK.bound(12, 12, 1.0, 0.779) == "≥77%"
    assert LOOK.bound(0, 36, 0.0798, 0.0) == "≤8%"
    assert LOOK.bound(0, 0, 1.0, 0.0) == ""


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (80, "test_clock.py::test_rollover[leap-2028-02-29T23:59:60Z]"),
        (45, "test_clock.py::te…er[leap-2028-02-…23:59:60Z]"),
        (28, "test_clock.py::te…er[lea…0Z]"),
    ],
)
def test_file_parameters_and_both_ends_of_a_name_survive(cells: int, written: str) -> None:
    test = "test_clock.py::test_rollover[leap-2028-02-29T23:59:60Z]"
    assert LOOK.test(test, cells) == written


def test_directories_go_first() -> None:
    test = "tests/unit/deep/test_clock.py::test_rollover"
    assert LOOK.test(test, 34) == "…/test_clock.py::test_rollover"


@given(st.one_of(st.sampled_from(HELL), st.text(max_size=80)), st.integers(2, 60))
def test_an_id_fits_its_cells_and_steers_nothing(text: str, cells: int) -> None:
    for look in (LOOK, Look(ASCII, NOW)):
        for written in (look.test(text, cells), look.middle(look.data(text), cells)):
            assert cell_len(written) <= cells
            assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in written)
        assert look.path(text, cells).isprintable() or not look.glyphs.ascii_only


@given(st.text(max_size=40))
def test_in_ascii_everything_is_ascii(text: str) -> None:
    assert Look(ASCII, NOW).data(text).isascii()


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(12, "12s"), (180, "3m"), (4620, "1h 17m"), (7 * 3600, "7h"), (47 * 3600, "47h"), (3e5, "3d")],
)
def test_ages_have_their_largest_units(seconds: float, written: str) -> None:
    assert age(timedelta(seconds=seconds)) == written


def test_times_in_utc_have_the_year() -> None:
    assert Look(now=NOW, utc=True).age(datetime(2026, 11, 30, 7, 55)) == "2026-11-30 07:55Z"


def test_a_time_that_is_not_recorded_is_no_age() -> None:
    assert LOOK.age(None) == "–"
    assert LOOK.ago(None) == "at an unknown time"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LANG": "C.UTF-8"}, UNICODE),
        ({"LANG": "de_DE.utf8"}, UNICODE),
        ({}, UNICODE),
        ({"LANG": "C"}, ASCII),
        ({"LANG": "de_DE.ISO-8859-1"}, ASCII),
        ({"LANG": "ja_JP.UTF-8"}, ASCII),
        ({"LC_ALL": "C", "LANG": "C.UTF-8"}, ASCII),
    ],
)
def test_signs_follow_the_locale(environment: dict[str, str], expected: object) -> None:
    assert glyphs_for(environment) is expected


def test_every_sign_takes_the_cells_it_says() -> None:
    wide = ("ellipsis", "at_most", "at_least", "enter")
    for glyphs in (UNICODE, ASCII):
        for name, sign in vars(glyphs).items():
            if isinstance(sign, str) and name not in (*wide, "levels", "plot_marker"):
                assert cell_len(sign) == 1, name
    assert all(sign.isascii() for sign in vars(ASCII).values() if isinstance(sign, str))
