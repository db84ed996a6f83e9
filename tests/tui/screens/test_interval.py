"""A rate with its interval on one axis."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.glyphs import UNICODE
from tui.inks import Ink
from tui.lines import plain
from tui.screens.interval import interval_bar

SHARES = st.floats(0, 4)


@given(SHARES, SHARES, SHARES | st.none(), SHARES | st.none(), st.integers(8, 150))
def test_an_interval_reaches_from_its_lower_to_its_upper_bound(
    one: float, other: float, point: float | None, control: float | None, cells: int
) -> None:
    def at(share: float) -> int:
        return round(min(1.0, share) * (cells - 1))

    low, high = sorted((one, other))
    bar = plain(interval_bar((low, high), point, control, cells, Ink.RACE, UNICODE))

    assert len(bar) == cells
    assert all(at(low) <= place <= at(high) for place, sign in enumerate(bar) if sign in "├─┤")
    assert point is None or bar[at(point)] == "●"
    assert control is None or point is not None or bar[at(control)] == "○"
    assert all(bar[place] != " " for place in range(at(low), at(high) + 1))


def test_what_is_not_known_is_not_drawn() -> None:
    assert plain(interval_bar(None, None, None, 9, Ink.RACE, UNICODE)) == " " * 9
