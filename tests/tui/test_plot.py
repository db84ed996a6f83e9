"""Curves of characters: whatever the points are, the picture keeps its size and says the truth."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tui.glyphs import ASCII
from tui.inks import DARK
from tui.lines import cells, plain
from tui.look import Look
from tui.plot import Curve, canvas_of, chart, drawable, thinned
from tui.widgets.plot import Plot

BLOCKS = set(" ▖▗▘▝▀▄▌▐▚▞▙▛▜▟█")
HD = "hd"


@given(
    st.lists(st.tuples(st.floats(), st.floats()), max_size=60),
    st.integers(0, 90),
    st.integers(0, 20),
)
def test_any_numbers_make_a_picture_of_the_size_that_was_asked_for(
    points: list[tuple[float, float]], width: int, height: int
) -> None:
    made = chart(Curve(tuple(points)), width, height, Look())

    assert len(made) == height
    assert all(cells(one) <= max(width, 1) for one in made)


@pytest.mark.parametrize("height", [1, 2, 5, 24, 60])
@pytest.mark.parametrize("width", [12, 80, 300])
def test_a_canvas_has_no_frame_no_ticks_and_no_regard_for_the_terminal(
    width: int, height: int
) -> None:
    canvas = canvas_of([(float(x), x / 99) for x in range(100)], width, height, HD)

    assert [len(row) for row in canvas] == [width] * height
    assert set("".join(canvas)) <= BLOCKS
    assert canvas[0].strip()
    assert canvas[-1].strip()


def test_never_failing_lies_on_the_label_0_and_always_failing_on_100() -> None:
    def drawn_rows(share: float) -> list[str]:
        made = chart(Curve(tuple((float(x), share) for x in range(9))), 40, 9, Look())
        return [plain(one) for one in made if set(plain(one)) & (BLOCKS - {" "})]

    (never,), (always,) = drawn_rows(0.0), drawn_rows(1.0)
    assert never.lstrip().startswith("0┤")
    assert always.lstrip().startswith("100 %┤")


def test_a_share_beyond_the_axis_stays_on_its_edge() -> None:
    assert canvas_of([(0, 7.5), (9, 7.5)], 20, 4, HD) == canvas_of([(0, 1), (9, 1)], 20, 4, HD)


def test_one_point_is_drawn() -> None:
    made = chart(Curve(((7.0, 0.5),)), 40, 9, Look())

    assert sum(sign in BLOCKS - {" "} for one in made for sign in plain(one)) >= 1
    assert " 7" in plain(made[-1])


@pytest.mark.parametrize(
    "points", [(), ((math.nan, 0.5),), ((1.0, math.inf), (2.0, math.nan), (-math.inf, 0.1))]
)
def test_without_a_point_it_says_so(points: tuple[tuple[float, float], ...]) -> None:
    assert plain(chart(Curve(points, "No run has a verdict."), 40, 9, Look())[0]) == (
        " No run has a verdict."
    )


def test_points_without_a_place_do_not_move_the_others() -> None:
    good = [(1.0, 0.1), (2.0, 0.9), (3.0, 0.4)]
    bad = [(math.nan, 0.5), (2.5, math.inf), (math.inf, 0.0)]

    assert drawable([*bad, *reversed(good)]) == good


def test_a_picture_does_not_depend_on_the_one_before() -> None:
    curve = Curve(tuple((float(x), (x % 7) / 7) for x in range(50)))
    first = chart(curve, 60, 12, Look())
    chart(Curve(((1e9, 0.0), (2e9, 1.0))), 33, 7, Look(ASCII))

    assert chart(curve, 60, 12, Look()) == first


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3000), st.integers(5, 60))
def test_of_many_points_the_extremes_stay(shares: list[float], width: int) -> None:
    points = [(float(x), share) for x, share in enumerate(shares)]
    few = thinned(points, width)

    assert len(few) <= 4 * width + 2
    assert {min(shares), max(shares)} <= {share for _, share in few}
    assert (few[0], few[-1]) == (points[0], points[-1])
    assert few == sorted(few)


def test_a_hundred_thousand_points_are_drawn() -> None:
    shares = [0.0] * 100_000
    shares[77_777] = 1.0
    made = chart(Curve(tuple((float(x), share) for x, share in enumerate(shares))), 70, 9, Look())

    peak = plain(made[0]).rstrip()
    assert 0.7 < (len(peak) - 6) / 64 < 0.85
    assert "99,999" in plain(made[-1])


def test_labels_of_the_axis_name_its_ends_and_do_not_overlap() -> None:
    for last in (1, 2, 9, 123_456):
        made = chart(Curve(((1.0, 0.0), (float(last), 1.0))), 30, 8, Look())
        labels = plain(made[-1]).split()
        assert labels[-1] == f"{last:,}"
        assert len(set(labels)) == len(labels)


def test_with_ascii_signs_there_is_nothing_else() -> None:
    made = chart(Curve(tuple((float(x), x / 9) for x in range(10))), 50, 10, Look(ASCII))

    assert all(plain(one).isascii() for one in made)
    assert any("*" in plain(one) for one in made)


class Harness(App[None]):
    """A plot, alone."""

    look = Look()
    palette = DARK

    def compose(self) -> ComposeResult:
        yield Plot("OVER TIME", "rolling", id="plot")

    def on_mount(self) -> None:
        plot = self.query_one(Plot)
        plot.styles.height = "1fr"
        plot.show(Curve(((1.0, 0.0), (9.0, 1.0))))


def test_a_plot_is_drawn_anew_for_another_size() -> None:
    async def resized() -> None:
        app = Harness()
        async with app.run_test(size=(60, 10)) as pilot:
            plot = app.query_one(Plot)
            before = [plain(one) for one in plot.lines_now()]
            await pilot.resize_terminal(90, 12)
            await pilot.pause()
            after = [plain(one) for one in plot.lines_now()]
        assert (len(before), len(after)) == (10, 12)
        assert (max(map(len, before)), max(map(len, after))) == (60, 90)

    asyncio.run(resized())


def test_a_plot_of_nothing_yet_is_blank() -> None:
    async def blank() -> None:
        app = Harness()
        async with app.run_test(size=(60, 10)):
            fresh = Plot("OVER TIME", "", id="fresh")
            await app.mount(fresh)
            assert fresh.lines_now() == []

    asyncio.run(blank())
