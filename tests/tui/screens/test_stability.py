"""The Stability screen: a cell a run, deviation before habit, and every run within reach."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from dashboard import CLOCK, NARROW, SOAKS, WIDE, index_of, opened, press, run, text_of, until
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st
from logs import Log, fails, passes

from analysis.attribution.tell import Tell
from analysis.model import Phase, Role
from analysis.queries.canary_cells import CanaryRow
from analysis.queries.experiments import Choice
from analysis.queries.filters import parse
from analysis.queries.grid import Grid, Pinned, Rates
from analysis.queries.rates import PhaseRate, Rate
from analysis.queries.stability import PatchRow, RunCell, Stability, Totals
from analysis.store.runner import Failure, Waiting
from tui.app import Soakboard
from tui.glyphs import ASCII
from tui.inks import Ink
from tui.lines import Line, cells, plain
from tui.look import Look
from tui.messages import Arrived
from tui.screens.run import RunScreen
from tui.screens.run_grid import RunsAt, nearest, stops
from tui.screens.stability import StabilityScreen, filter_for
from tui.screens.stability_grid import (
    GridPainter,
    Layout,
    banded,
    green_sign,
    layout,
    legend,
    red_sign,
    sign,
)
from tui.screens.stability_lines import answer, cell_notes, notes, opened_run, phases
from tui.screens.tests import TestsScreen
from tui.state import Ordering, Start
from tui.widgets.frame import ToastLine

LOOK = Look(now=CLOCK)
START = Start(screen="stability")
WIDTHS = (72, 80, 99, 100, 120, 160, 200)
BANDS = (("soak", 12), ("concurrent", 20), ("serial", 16), ("repeat", 6), ("loaded", 5))
STRIPS = st.dictionaries(
    st.sampled_from([phase.value for phase in Phase]),
    st.text("pfnv", min_size=1, max_size=400),
    max_size=7,
)


def patch(
    name: str = "patch-7", soak: str = "soak", strips: dict[str, str] | None = None, *tells: Tell
) -> PatchRow:
    """A row with its counts."""
    strips = {"soak": "pfp"} if strips is None else strips
    whole = "".join(strips.values())
    k, n = whole.count("f"), whole.count("f") + whole.count("p")
    return PatchRow(Stability(soak, name, 2, k, n, len(whole), 0, None), strips, tells)


def canary(role: Role, strip: str, name: str = "", judged_on: str = "a::b") -> Pinned:
    """A canary that ran in the soak."""
    k, n = strip.count("f"), strip.count("f") + strip.count("p")
    row = CanaryRow("soak", role, name or role, judged_on, 0, k, n, {"soak": strip}, {}, (), 0)
    return Pinned(row, 0.9, 0.7)


def harmless(text: str) -> bool:
    """Nothing in it moves the cursor, colours, or turns the direction of writing."""
    turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    return not any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in text) and not (
        set(turning) & set(text)
    )


def tell(**changes: Any) -> Tell:
    """Red beside a patch, with a port between them."""
    return replace(Tell("red", 12, 12, "patch-7", 4, 12, "port", "26411"), **changes)


# Columns and bands


@given(STRIPS, st.integers(71, 220), st.integers(1, 3))
def test_bands_fit_and_a_cell_holds_as_few_runs_as_that_allows(
    strips: dict[str, str], width: int, soaks: int
) -> None:
    widest = tuple((phase, len(strip)) for phase, strip in strips.items())
    at = layout(width, widest, 999, soaks)

    def needed(ratio: int) -> int:
        return sum(-(-runs // ratio) + 1 for _, runs in widest) - 1

    ends = [band.start + band.cells for band in at.bands]
    assert all(end <= width for end in ends)
    assert [band.cells for band in at.bands] == [-(-runs // at.ratio) for _, runs in widest]
    if at.ratio > 1:
        assert at.bands[0].start + needed(at.ratio - 1) > width - 1


@given(STRIPS, st.integers(71, 220))
def test_every_run_of_a_row_is_in_exactly_one_cell(strips: dict[str, str], width: int) -> None:
    at = layout(width, tuple((phase, len(strip)) for phase, strip in strips.items()), 999, 2)
    found = [
        (one.phase, one.first + offset) for one in stops(strips, at) for offset in range(one.size)
    ]

    assert found == [(band.phase, n) for band in at.bands for n in range(len(strips[band.phase]))]


@given(STRIPS, st.integers(71, 220), st.sampled_from(list(Role)))
def test_a_cell_is_drawn_where_its_band_says(
    strips: dict[str, str], width: int, role: Role
) -> None:
    at = layout(width, tuple((phase, len(strip)) for phase, strip in strips.items()), 999, 2)
    text = plain(banded(strips, at, role, LOOK))

    first = at.bands[0].start if at.bands else 0
    for band in at.bands:
        drawn = text[band.start - first : band.start - first + band.cells]
        assert " " not in drawn
        assert text[band.start - first + band.cells :][:1] in ("", "│")


def test_a_hundred_thousand_runs_are_bucketed_and_none_is_left_out() -> None:
    strips = {"soak": "p" * 99_999 + "f", "serial": "v" + "p" * 20_000}
    at = layout(79, tuple((phase, len(strip)) for phase, strip in strips.items()), 120_001, 2)
    text = plain(banded(strips, at, Role.SUBJECT, LOOK))

    soak, serial = text.split("│")
    assert (soak.count("1"), soak[-1]) == (1, "1")
    assert serial.startswith("⊘")
    assert sum(one.size for one in stops(strips, at)) == 120_001


def test_one_soak_needs_no_column_of_soaks() -> None:
    several, one = layout(79, BANDS, 59, 2), layout(79, BANDS, 59, 1)

    assert several.soak
    assert not one.soak
    assert one.patch > several.patch
    assert one.bands[0].start < several.bands[0].start


# Cells


@pytest.mark.parametrize(
    ("bucket", "ratio", "drawn", "ink"),
    [
        ("p", 1, "·", Ink.DIM),
        ("f", 1, "✗", Ink.BROKEN),
        ("v", 1, "⊘", Ink.INVALID),
        ("n", 1, "–", Ink.UNSURE),
        ("pp", 2, "·", Ink.DIM),
        ("pf", 2, "1", Ink.BROKEN),
        ("ff", 2, "2", Ink.BROKEN),
        ("vf", 2, "1", Ink.BROKEN),
        ("pv", 2, "⊘", Ink.INVALID),
        ("pn", 2, "–", Ink.UNSURE),
        ("nv", 2, "⊘", Ink.INVALID),
        ("f" * 9, 9, "9", Ink.BROKEN),
        ("f" * 29, 29, "✗", Ink.BROKEN),
        ("f" + "p" * 28, 29, "1", Ink.BROKEN),
        ("p" + "f" * 28, 29, "9", Ink.BROKEN),
        ("f" * 10 + "p" * 10, 20, "5", Ink.BROKEN),
    ],
)
def test_a_cell_shows_deviation_before_habit(bucket: str, ratio: int, drawn: str, ink: Ink) -> None:
    made = sign(bucket, ratio, LOOK)

    assert (made.text, made.ink) == (drawn, ink)


def test_of_red_a_failure_is_habit_and_a_pass_is_bold() -> None:
    fail, one_pass = red_sign("ff", 2, LOOK), red_sign("fp", 2, LOOK)

    assert (fail.text, fail.ink, fail.bold) == ("✗", Ink.DIM, False)
    assert (one_pass.text, one_pass.ink, one_pass.bold) == ("✓", Ink.BROKEN, True)
    assert red_sign("v", 1, LOOK).text == "⊘"


def test_of_green_a_failure_is_bold_and_a_pass_is_habit() -> None:
    assert green_sign("pf", 2, LOOK).bold
    assert (green_sign("pp", 2, LOOK).bold, green_sign("pp", 2, LOOK).ink) == (False, Ink.DIM)


@pytest.mark.parametrize(("ratio", "words"), [(1, "✗ fail"), (2, "1–9 failed"), (29, "tenths")])
def test_the_legend_says_how_many_runs_a_cell_holds_and_what_a_digit_is(
    ratio: int, words: str
) -> None:
    at = Layout(13, 11, 1, 2, 5, ratio, ())
    text = plain(legend(at, "rows 1–7 of 39", 80, LOOK))

    assert words in text
    assert text.rstrip().endswith("1 cell = 1 run" if ratio == 1 else f"1 cell = {ratio} runs")
    assert "rows 1–7 of 39" in text
    assert len(text) == 80


def head_of(painter: GridPainter, width: int = 80, look: Look = LOOK) -> list[str]:
    """The lines above the rows."""
    return [plain(one) for one in painter.head(width, look, Ordering(), True)]


def test_the_canaries_above_the_rows_are_named_by_role_even_when_cut() -> None:
    both = (canary(Role.RED, "fff", "a-very-long-canary"), canary(Role.GREEN, "ppp"))
    _, red, green, rule = head_of(GridPainter(BANDS, 59, 2, both, "soak"))

    assert red.startswith(" red a")
    assert "3/3" in red
    assert "≥70%" in red
    assert green.startswith(" green  ")
    assert "0/3" in green
    assert "on their pinned test" in rule


def test_a_missing_canary_is_said_and_the_rows_stay_where_they_are() -> None:
    none = head_of(GridPainter(BANDS, 59, 2, (), "soak"))
    unknown = head_of(GridPainter(BANDS, 59, 2))

    assert "no red canary in soak: its verdicts cannot be judged" in none[1]
    assert "no green canary" in none[2]
    assert len(none) == len(unknown) == 4
    assert not unknown[1].strip()


def test_what_canaries_are_judged_on_is_said() -> None:
    by_run = canary(Role.RED, "f", judged_on="run verdict")
    green_by_run = canary(Role.GREEN, "p", judged_on="run verdict")
    pinned = canary(Role.GREEN, "p")

    assert "on their run verdicts" in head_of(GridPainter(BANDS, 9, 2, (by_run, green_by_run)))[3]
    assert "red on run verdicts" in head_of(GridPainter(BANDS, 9, 2, (by_run, pinned)))[3]


def test_a_canary_that_strays_is_bold() -> None:
    lines = GridPainter(BANDS, 9, 2, (canary(Role.RED, "ffp"), canary(Role.GREEN, "pp")), "s").head(
        80, LOOK, Ordering(), True
    )

    def counts(made: Line) -> tuple[Ink, bool]:
        (span,) = (span for span in made if "/" in span.text)
        return span.ink, span.bold

    assert counts(lines[1]) == (Ink.BROKEN, True)
    assert counts(lines[2]) == (Ink.TEXT, False)


# Ids from hell


@pytest.mark.parametrize("look", [LOOK, Look(ASCII, CLOCK)], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_makes_a_line_longer_or_leaves_a_control_sign_in_it(width: int, look: Look) -> None:
    for name in HELL:
        shared = tell(stable=name, kind=name, id=f"/{name}", varying=name)
        row = patch(name, name, {"soak": "pf"}, shared, tell(kind=None, id=None))
        both = (canary(Role.RED, "f", name), canary(Role.GREEN, "p", name))
        painter = GridPainter(BANDS, 59, 2, both, name)
        run_ = RunCell(name, "f", CLOCK.replace(tzinfo=None), 3, True, name, 9)
        lines: list[Line] = [
            *painter.head(width, look, Ordering(), True),
            *painter.row(row, width - 1, look, 1),
            *notes(row, width, 1, look),
            *notes(row, width, 5, look),
            *cell_notes(RunsAt("soak", 0, 1), [run_], width, 1, look),
            *cell_notes(RunsAt("soak", 0, 1), [run_], width, 5, look),
        ]
        for made in lines:
            text = plain(made)
            assert cells(text) <= width, text
            assert harmless(text), text
            assert not look.glyphs.ascii_only or text.isascii(), text


def test_markup_in_a_name_is_shown_as_it_stands() -> None:
    (made,) = GridPainter(BANDS, 59, 1).row(patch("x[$accent][/]"), 119, LOOK, 1)

    assert plain(made).startswith("x[$accent][/]")


# The answer


def grid_of(**counts: int) -> Grid:
    """Thirty-nine soaks of one patch each, unless said otherwise."""
    said = {"flipped": 29, "held": 8, "void": 2, "runs": 2313, "patches_flipped": 7, "patches": 8}
    soaks = counts.pop("soaks", 39)
    return Grid({"soak": 12}, 59, soaks, Totals(**{**said, **counts}))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            grid_of(),
            "⇄ 7 OF 8 PATCHES FLIPPED  in 29 of 39 soaks; 8 held, 2 have no verdict.",
        ),
        (
            grid_of(soaks=5, void=1),
            "⇄ 7 OF 8 PATCHES FLIPPED  in 29 of 38 patch × soak rows; 8 held, 1 has no verdict.",
        ),
        (grid_of(held=0, void=0), "⇄ 7 OF 8 PATCHES FLIPPED  in 29 of 29 patch × soak rows."),
        (
            grid_of(flipped=1, held=0, void=0, soaks=1, patches_flipped=2, patches=3),
            "⇄ 2 OF 3 PATCHES FLIPPED  in the only row of this soak.",
        ),
        (
            grid_of(patches_flipped=0, flipped=0, void=0, soaks=8),
            "✓ NO PATCH FLIPPED  8 patches, 2,313 runs; 8 held.",
        ),
        (
            grid_of(patches_flipped=0, flipped=1),
            "✓ NO PATCH FLIPPED  8 patches, 2,313 runs; 1 have both verdicts; "
            "8 held, 2 have no verdict.",
        ),
        (
            grid_of(patches_flipped=0, patches=0, flipped=0, held=0, void=1, runs=4),
            "? NO VERDICT  4 runs of 1 patch.",
        ),
    ],
)
def test_the_answer_says_how_many_patches_flipped(found: Grid, said: str) -> None:
    assert plain(answer(found, LOOK)[0]) == said


def test_the_answer_has_a_form_for_eighty_columns() -> None:
    wide = grid_of(flipped=10_000, held=10_000, void=10_000, soaks=1, patches=30_000)

    assert min(cells(form) for form in answer(wide, LOOK)) < 80


# By phase


def rates_of(*found: PhaseRate) -> Rates:
    """Rates of a patch."""
    return Rates("soak", "patch-7", found, ())


def rate(k: int, n: int, low: float = 0.0, high: float = 1.0) -> Rate:
    """k of n with an interval."""
    return Rate(k, n, low, high)


def test_the_ends_of_the_axis_stand_over_the_points_that_lie_there() -> None:
    never, always = rate(0, 4, 0.0, 0.6), rate(4, 4, 0.4, 1.0)
    for width in WIDTHS:
        head, first, last = (
            plain(one)
            for one in phases(
                rates_of(PhaseRate("soak", never, rate(0, 0)), PhaseRate("serial", always, never)),
                width,
                9,
                LOOK,
            )
        )
        start = first.index("●", 20)
        assert head[start] == "0"
        assert head[: last.rindex("●") + 1].rstrip().endswith("100 %")


@pytest.mark.parametrize("width", WIDTHS)
def test_phases_fit_and_those_without_room_are_counted(width: int) -> None:
    rows = [PhaseRate(phase.value, rate(1, 123_456), rate(0, 99_999)) for phase in Phase]
    for height in range(2, 12):
        made = [plain(one) for one in phases(rates_of(*rows), width, height, LOOK)]
        assert len(made) <= height
        assert all(cells(one) <= width for one in made)
        shown = sum("●" in one for one in made[1:])
        assert shown == 7 or f"{7 - shown} more phase" in made[-1]


def test_green_without_a_verdict_has_no_point_and_a_patch_without_one_says_so() -> None:
    (_, only) = phases(rates_of(PhaseRate("soak", rate(0, 4), rate(0, 0))), 80, 8, LOOK)

    assert plain(only).count("○") == 1  # the sign of the column
    assert "No verdict in any phase" in plain(phases(rates_of(), 80, 8, LOOK)[1])


# The tell, and the cell under the cursor


def text_lines(lines: Sequence[Line]) -> str:
    """The lines as one text."""
    return "\n".join(map(plain, lines))


def test_the_tell_names_who_is_red_and_what_both_hold() -> None:
    row = patch("patch-7", "gateway", None, tell())

    assert text_lines(notes(row, 80, 1, LOOK)) == (
        " * the tell: red stays red beside it on port 26411."
    )
    panel = text_lines(notes(row, 120, 5, LOOK))
    assert (
        "* red is stably red (12/12) beside patch-7 (4/12) in gateway: both hold port 26411."
    ) in panel
    assert "Row 1a" in panel


def test_a_tell_without_a_resource_says_what_to_record() -> None:
    row = patch("patch-7", "gateway", None, tell(kind=None, id=None))

    assert "record resources for these two" in text_lines(notes(row, 80, 1, LOOK))
    panel = text_lines(notes(row, 120, 5, LOOK))
    assert "record resources for these two" in panel
    assert "Row 1a" not in panel


def test_the_stable_side_of_a_tell_is_told_whom_it_stands_beside() -> None:
    row = patch("other", "gateway", {"soak": "ff"}, tell(stable="other"))

    assert "the tell: stays red beside patch-7 on port" in text_lines(notes(row, 80, 1, LOOK))


def test_of_a_long_path_the_end_is_shown() -> None:
    row = patch("patch-7", "s", None, tell(kind="file", id=f"/{'lab/' * 40}.settings"))

    assert text_lines(notes(row, 80, 1, LOOK)).endswith("/.settings.")


def test_more_tells_than_there_is_room_for_are_counted() -> None:
    row = patch("patch-7", "s", None, *(tell(stable=f"red-{n}") for n in range(9)))

    assert text_lines(notes(row, 80, 1, LOOK)).endswith("+8")
    panel = notes(row, 120, 5, LOOK)
    assert len(panel) == 5
    assert "7 more lines" in plain(panel[-1])


def test_runs_in_an_outage_are_mentioned() -> None:
    row = patch()
    stricken = replace(row, counts=replace(row.counts, outage_runs=2))

    for height in (1, 5):
        assert "2 of its 3 runs lie in an outage" in text_lines(notes(stricken, 80, height, LOOK))
        assert "outage" not in text_lines(notes(row, 80, height, LOOK))


def runs_like(strip: str) -> tuple[RunCell, ...]:
    """Runs of a strip."""
    return tuple(
        RunCell(f"run-{n}", cell, datetime(2026, 12, 1, 7, 0, n), n, False, "soak.jsonl", n + 1)
        for n, cell in enumerate(strip)
    )


@pytest.mark.parametrize(
    ("strip", "opened_number"), [("ppf", 2), ("pvp", 1), ("pnv", 1), ("ppp", 0), ("vff", 1)]
)
def test_a_cell_of_several_runs_opens_the_one_that_deviates(strip: str, opened_number: int) -> None:
    assert opened_run(RunsAt("soak", 0, 3), runs_like(strip)) == opened_number


def test_a_cell_says_which_runs_it_holds_and_how_they_ended() -> None:
    runs = runs_like("ppfvp")

    (one,) = cell_notes(RunsAt("soak", 2, 2), runs, 80, 1, LOOK)
    assert plain(one) == " soak 3–4 of 5: 1 failed, 1 void; ↵ run-2 failed, 2h 11m ago"
    panel = text_lines(cell_notes(RunsAt("soak", 0, 1), runs, 120, 5, LOOK))
    assert "soak 1 of 5" in panel
    assert "soak.jsonl:1" in panel


def test_a_cell_whose_runs_are_gone_opens_nothing() -> None:
    assert opened_run(RunsAt("soak", 7, 1), runs_like("pp")) is None
    assert "gone" in text_lines(cell_notes(RunsAt("soak", 7, 1), runs_like("pp"), 80, 1, LOOK))


@given(STRIPS, st.sampled_from([phase.value for phase in Phase]), st.integers(0, 500))
def test_the_cell_of_a_run_holds_it_or_is_the_nearest_there_is(
    strips: dict[str, str], phase: str, first: int
) -> None:
    at = layout(99, tuple((name, len(strip)) for name, strip in strips.items()), 999, 2)
    found = stops(strips, at)
    near = nearest(RunsAt(phase, first, 1), found)

    assert (near is None) == (not found)
    if near is not None and phase in strips:
        assert near.phase == phase
        assert near.first <= first < near.first + near.size or first >= len(strips[phase])


def test_the_filter_for_the_tests_of_a_patch_asks_for_its_whole_name() -> None:
    terms = parse(filter_for(patch('patch-1 "b"', "night")))
    assert [(term.field, term.value, term.whole) for term in terms] == [
        ("patch", 'patch-1 "b"', True),
        ("soak", "night", True),
    ]


# The app


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The soaks of the sample data."""
    return index_of(tmp_path_factory.mktemp("soaks"), SOAKS)


@pytest.fixture(scope="module")
def two_patches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A soak in which one patch flips and another never fails, and one with a bare patch."""
    folder = tmp_path_factory.mktemp("two")
    log = Log("ports").header().soak(4, failing=(1, 3)).arm("serial", 0, 20)
    for _ in range(3):
        log = log.run("subject", "soak", [passes()], patch_id="patch-8")
    bare = Log("bare").header(canaries=None).run("subject", "soak", [fails()], patch_id="patch-9")
    return index_of(folder, log.write(folder), bare.write(folder))


def screen_of(app: Soakboard) -> StabilityScreen:
    """The screen, on top."""
    assert isinstance(app.screen, StabilityScreen)
    return app.screen


def names(app: Soakboard) -> list[str]:
    """The patches of the rows, in their order."""
    page = screen_of(app).rows.page
    return [] if page is None else [row.counts.patch_id for row in page.rows]


def toast(app: Soakboard) -> str:
    """What is said at the bottom."""
    return app.screen.query_one(ToastLine).text.strip()


@pytest.mark.parametrize("size", [NARROW, (100, 24), WIDE, (80, 40), (200, 60), (72, 20)])
def test_the_screen_shows_rows_canaries_rates_and_the_tell(
    index: Path, size: tuple[int, int]
) -> None:
    async def shown() -> None:
        async with opened(index, size, start=START) as (app, _):
            text = text_of(app)
            assert "PATCHES FLIPPED" in text.split("\n")[2]
            for word in ("patch-417", "gateway", "red ", "green ", "BY PHASE", "1 cell = "):
                assert word in text, word
            assert "port 26411" in text or "the tell" in text or "THE TELL" in text
            assert ("OVER TIME" in text) == (size[0] >= 100)
            assert all(len(one) <= size[0] for one in text.split("\n"))

    run(shown())


def test_rows_come_by_flips_then_rate_and_s_goes_through_the_shown_columns(index: Path) -> None:
    async def sorted_() -> None:
        async with opened(index, start=START) as (app, pilot):
            page = screen_of(app).rows.page
            assert page is not None
            order = [
                (-row.counts.flips, -(row.counts.k / row.counts.n) if row.counts.n else 1)
                for row in page.rows
            ]
            assert order == sorted(order)
            seen = []
            for _ in range(4):
                await press(app, pilot, "s")
                seen.append((screen_of(app).rows.ordering.sort, toast(app)))
            assert [sort for sort, _ in seen] == ["rate", "patch", "soak", ""]
            await press(app, pilot, "s", "s")
            assert names(app) == sorted(names(app))
            await press(app, pilot, "S")
            assert names(app) == sorted(names(app), reverse=True)
            assert "sorted by patch ▴" in text_of(app)

    run(sorted_())


def test_a_click_on_a_header_sorts_by_it(index: Path) -> None:
    async def clicked() -> None:
        async with opened(index, start=START) as (app, pilot):
            await pilot.click("#stability-rows", offset=(2, 0))
            await until(pilot, lambda: names(app) == sorted(names(app)))
            assert screen_of(app).rows.ordering.sort == "patch"

    run(clicked())


def test_the_canaries_above_are_those_of_the_row_under_the_cursor(two_patches: Path) -> None:
    async def followed() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            assert " red c…ary-red ports" in text_of(app)
            await press(app, pilot, "slash", *"patch-9", "enter")
            await until(pilot, lambda: names(app) == ["patch-9"])
            await until(pilot, lambda: "no red canary in bare" in text_of(app))

    run(followed())


def test_the_arrow_steps_into_the_runs_and_enter_opens_the_one_under_the_cursor(
    two_patches: Path,
) -> None:
    async def stepped() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            assert names(app)[0] == "patch-7"
            await press(app, pilot, "right")
            assert "soak 1 of 4" in text_of(app)
            assert "to the rows" in text_of(app).split("\n")[-1]
            await press(app, pilot, "right")
            assert "soak 2 of 4" in text_of(app)
            await press(app, pilot, "enter")
            assert isinstance(app.screen, RunScreen)
            text = text_of(app)
            assert "✗ FAILED" in text
            assert "run 2 of 4" in text
            await press(app, pilot, "escape")
            assert "soak 2 of 4" in text_of(app)
            await press(app, pilot, "escape")
            assert "its runs" in text_of(app).split("\n")[-1]
            assert "soak 2 of 4" not in text_of(app)

    run(stepped())


def test_cells_go_on_from_phase_to_phase_and_end_at_the_last_run(two_patches: Path) -> None:
    async def walked() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, *["right"] * 5)
            assert "serial 1 of 2" in text_of(app)
            await press(app, pilot, "G")
            assert "serial 2 of 2" in text_of(app)
            await press(app, pilot, "right")
            assert "serial 2 of 2" in text_of(app)
            await press(app, pilot, "g")
            assert "soak 1 of 4" in text_of(app)
            await press(app, pilot, "left")
            assert "its runs" in text_of(app).split("\n")[-1]

    run(walked())


def test_another_row_keeps_the_place_as_near_as_its_runs_allow(two_patches: Path) -> None:
    async def moved() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, *["right"] * 4)
            assert "soak 4 of 4" in text_of(app)
            await press(app, pilot, "s", "s", "down")
            assert screen_of(app).rows.current is not None
            await until(pilot, lambda: "soak 3 of 3" in text_of(app))
            await press(app, pilot, "up")
            await until(pilot, lambda: "soak 4 of 4" in text_of(app))

    run(moved())


def test_enter_on_a_row_shows_the_tests_of_that_patch(two_patches: Path) -> None:
    async def entered() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, "enter")
            assert isinstance(app.screen, TestsScreen)
            assert 'patch:="patch-7" soak:="ports"' in text_of(app)

    run(entered())


def test_y_copies_the_patch_and_of_a_cell_the_run(two_patches: Path) -> None:
    async def copied() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, "y")
            assert (app.clipboard, toast(app)) == ("patch-7", "Copied: patch-7")
            await press(app, pilot, "right", "y")
            assert app.clipboard == "ports-00002"

    run(copied())


def test_a_click_on_a_cell_puts_the_cursor_there_and_a_second_one_opens_the_run(
    two_patches: Path,
) -> None:
    async def clicked() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            rows = screen_of(app).rows
            band = rows.grid.layout(rows.size.width - 1).bands[0]
            cell = (1 + band.start + 3, 4)
            await pilot.click("#stability-rows", offset=cell)
            await until(pilot, lambda: "soak 4 of 4" in text_of(app))
            await pilot.click("#stability-rows", offset=cell)
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await until(pilot, lambda: "run 4 of 4" in text_of(app))

    run(clicked())


def test_a_click_beside_the_cells_goes_back_to_rows(two_patches: Path) -> None:
    async def clicked() -> None:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, "right")
            await pilot.click("#stability-rows", offset=(3, 5))
            await until(pilot, lambda: screen_of(app).rows.cursor == 1)
            assert screen_of(app).rows.at is None
            await pilot.click("#stability-rows", offset=(3, 5))
            await until(pilot, lambda: isinstance(app.screen, TestsScreen))

    run(clicked())


def test_the_cell_under_the_cursor_is_seen_with_and_without_colours(
    two_patches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reversed_cells() -> list[int]:
        async with opened(two_patches, start=START) as (app, pilot):
            await press(app, pilot, "right", "right")
            rows = screen_of(app).rows
            segments = [one for one in rows.render_line(4) for _ in one.text]
            whole = [bool(one.style and one.style.reverse) for one in segments]
            common = max(set(whole), key=whole.count)
            at = rows.grid.layout(rows.size.width - 1).bands[0].start + 2
            assert [x for x, one in enumerate(whole) if one != common] == [at]
            return [at]

    run_twice: Iterator[str] = iter(("", "1"))
    for value in run_twice:
        monkeypatch.setenv("NO_COLOR", value)
        if not value:
            monkeypatch.delenv("NO_COLOR")

        async def check() -> None:
            await reversed_cells()

        run(check())


def test_a_filter_leaves_rows_and_is_completed_by_tab(index: Path) -> None:
    async def filtered() -> None:
        async with opened(index, start=Start("stability", "soak:gateway")) as (app, pilot):
            assert set(names(app)) == {"patch-417", "patch-426"}
            assert "2 of 8 patch × soak" in text_of(app)
            await press(app, pilot, "escape")
            assert len(names(app)) == 8
            await press(app, pilot, "slash", "p", "tab")
            await until(pilot, lambda: "patch:" in text_of(app).split("\n")[1])

    run(filtered())


def test_where_the_filter_leaves_nothing_no_chart_of_another_row_stays(index: Path) -> None:
    async def nothing() -> None:
        async with opened(index, start=START) as (app, pilot):
            assert "BY PHASE" in text_of(app)
            await press(app, pilot, "slash", *"zzz", "enter")
            await until(pilot, lambda: "Nothing matches zzz." in text_of(app))
            await until(pilot, lambda: "BY PHASE" not in text_of(app))
            await press(app, pilot, "right")
            assert toast(app) == "There is no row here."

    run(nothing())


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("left", "The cursor is on the rows"),
        ("Q", "Tests are quarantined, not patches"),
        ("b", "means nothing on this screen"),
    ],
)
def test_a_key_that_does_not_apply_says_why(index: Path, key: str, reason: str) -> None:
    async def pressed() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press(app, pilot, key)
            assert reason in toast(app)
            assert isinstance(app.screen, StabilityScreen)

    run(pressed())


def test_a_wider_terminal_shows_fewer_runs_in_a_cell_and_the_cursor_stays_on_its_run(
    tmp_path: Path,
) -> None:
    log = Log("long").header().soak(60, failing=range(0, 60, 2))
    db = index_of(tmp_path, log.write(tmp_path))

    async def resized() -> None:
        async with opened(db, start=START, choice=Choice()) as (app, pilot):
            assert "1 cell = 2 runs" in text_of(app)
            await press(app, pilot, *["right"] * 8)
            assert "soak 15–16 of 60: 1 passed, 1 failed" in text_of(app)
            await pilot.resize_terminal(120, 40)
            await until(pilot, lambda: "1 cell = 1 run" in text_of(app))
            assert "soak 15 of 60" in text_of(app)

    run(resized())


def test_the_height_of_the_list_follows_its_rows_and_leaves_room_for_the_charts(
    index: Path, two_patches: Path
) -> None:
    async def heights(db: Path, size: tuple[int, int]) -> tuple[int, int, int]:
        async with opened(db, size, start=START) as (app, _):
            screen = screen_of(app)
            charts = screen.query_one("#stability-charts")
            return screen.rows.size.height, screen.rows.visible_rows, charts.size.height

    async def compared() -> None:
        few, seen, _ = await heights(two_patches, WIDE)
        assert (few, seen) == (4 + 3 + 1, 3)
        _, _, charts = await heights(index, NARROW)
        assert charts >= 7
        _, _, charts = await heights(index, WIDE)
        assert charts >= 9

    run(compared())


# States


def test_without_a_record_it_says_how_to_get_one(tmp_path: Path) -> None:
    async def empty() -> None:
        async with opened(index_of(tmp_path), start=START) as (app, pilot):
            await until(pilot, lambda: "Nothing recorded yet" in text_of(app))
            await press(app, pilot, "enter")
            assert toast(app) == "There is no row here."

    run(empty())


def test_an_error_takes_the_place_of_rows_and_r_tries_again(index: Path) -> None:
    async def failed() -> None:
        async with opened(index, start=START) as (app, pilot):
            screen = screen_of(app)
            failure = Failure(RuntimeError("[red]broken[/]"))
            screen.on_arrived(Arrived("rows", screen._serials["rows"], failure))
            await pilot.pause()
            assert "Stability could not be read" in text_of(app)
            assert "[red]broken[/]" in text_of(app)
            await press(app, pilot, "r")
            await until(pilot, lambda: "patch-417" in text_of(app))

    run(failed())


def test_while_another_process_writes_the_rows_stay_and_that_is_said(index: Path) -> None:
    async def waited() -> None:
        async with opened(index, start=START) as (app, pilot):
            screen = screen_of(app)
            screen.on_arrived(Arrived("rows", screen._serials["rows"], Waiting("process 7")))
            await pilot.pause()
            assert "process 7 writes" in text_of(app)
            assert "patch-417" in text_of(app)

    run(waited())


def test_canaries_without_a_patch_beside_them_are_no_rows(tmp_path: Path) -> None:
    log = Log("only").header().round(0, subject=None)

    async def shown() -> None:
        async with opened(index_of(tmp_path, log.write(tmp_path)), start=START) as (app, _):
            assert "No patch here" in text_of(app)

    run(shown())


def test_with_ascii_signs_the_screen_has_no_other(index: Path) -> None:
    async def ascii_only() -> None:
        async with opened(index, WIDE, start=START, glyphs=ASCII) as (app, pilot):
            await press(app, pilot, "right")
            body = text_of(app).split("\n")
            assert [one for one in body if not one.isascii()] == []

    run(ascii_only())


def test_ids_from_hell_are_shown_and_harmless(tmp_path: Path) -> None:
    log = Log("soak[/]$x").header()
    for name in HELL:
        log = log.run("subject", "soak", [fails()], patch_id=name or None)
    path = tmp_path / "hell.jsonl"
    path.write_text(log.text, "utf-8")
    db = index_of(tmp_path, path)

    async def walked() -> None:
        async with opened(db, WIDE, start=START) as (app, pilot):
            for _ in names(app):
                await pilot.press("down", "y")
                await pilot.pause()
                assert harmless(text_of(app).replace("\n", ""))
            await press(app, pilot, "right", "enter")
            assert isinstance(app.screen, RunScreen)
            assert harmless(text_of(app).replace("\n", ""))
            await press(app, pilot, "escape", "escape", "enter")
            assert isinstance(app.screen, TestsScreen)
            assert harmless(text_of(app).replace("\n", ""))

    run(walked())
