"""How the detail of a test is written: whole, harmless, at every width."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dashboard import CLOCK, SOAKS, index_of
from details import all_details, details_of, harness_bug
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st
from logs import TEST, Log, fails, passes, touches

from analysis.board import open_board
from analysis.config import Config
from analysis.model import Phase, Role, UnitClass
from analysis.queries.detail import Arm, TestDetail
from tui.glyphs import ASCII, UNICODE
from tui.inks import Ink
from tui.lines import Line, cells, plain
from tui.look import Look
from tui.screens.arms_lines import arms, axis_end, runs, squeezed
from tui.screens.detail_lines import answer, freezing, judged, sections
from tui.screens.failure_lines import failures, messages, records, timeline

LOOK = Look(UNICODE, CLOCK)
PLAIN = Look(ASCII, CLOCK)
WIDTHS = (72, 80, 99, 100, 120, 160, 200)
OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("soaks"), SOAKS)


@pytest.fixture(scope="module")
def details(index: Path) -> list[TestDetail]:
    with open_board(index, Config()) as board:
        return all_details(board)


@pytest.fixture
def detail_in(tmp_path: Path) -> Callable[[Log], TestDetail]:
    """The detail of TEST in a log."""

    def of(log: Log) -> TestDetail:
        (found,) = (one for one in details_of(log.write(tmp_path)) if one.unit.test_id == TEST)
        return found

    return of


def body(detail: TestDetail, width: int, look: Look = LOOK) -> list[Line]:
    return [one for section in sections(detail, width, look) for one in section.lines]


def written(lines: list[Line]) -> str:
    return "\n".join(plain(one).rstrip() for one in lines)


def words(text: str) -> str:
    """A text without the places where it was folded."""
    return "".join(text.split())


def failing(log: Log, rounds: int = 12) -> Log:
    return log.soak(rounds, failing=range(0, rounds, 3))


# Lines


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_longer_than_the_width(details: list[TestDetail], width: int) -> None:
    for detail in details:
        for look in (LOOK, PLAIN):
            assert max(cells(one) for one in body(detail, width, look)) <= width


def test_in_ascii_every_sign_is_ascii(details: list[TestDetail]) -> None:
    for detail in details:
        for width in (80, 120, 200):
            assert written(body(detail, width, PLAIN)).isascii()
        assert all(plain(one).isascii() for one in answer(detail.unit, PLAIN))


def test_names_and_messages_from_hell_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    names = [name for name in HELL if name.strip()]
    log = Log("hell").header()
    for number in range(4):
        tests = [
            fails(name, message=f"{name}\nassert {name}", **touches(name), log={"path": name})
            if number % 2
            else passes(name)
            for name in names
        ]
        log = log.round(number, [*tests])
    found = details_of(log.write(tmp_path))
    assert len(found) > 10
    for detail in found:
        for width in (80, 120):
            for one in body(detail, width):
                assert cells(one) <= width
                assert not OBEYED.search(plain(one))


def test_the_row_that_matched_stands_first_and_alone_is_lit(details: list[TestDetail]) -> None:
    for detail in details:
        (section,) = (one for one in sections(detail, 80, LOOK) if one.name == "WHY")
        lit = [any(span.lit for span in one) for one in section.lines]
        first = lit.index(True)
        assert first == 1
        assert plain(section.lines[1]).split()[:3] == [detail.unit.row, "▸", "yes"]
        assert not any(lit[lit.index(False, first) :])


def test_every_row_above_stands_there_with_all_of_its_numbers(details: list[TestDetail]) -> None:
    for detail in details:
        for width in (80, 120):
            shown = words(written(body(detail, width)))
            for tried in detail.tried:
                assert words(tried.numbers) in shown


def test_a_row_that_had_nothing_to_compare_is_no_no(details: list[TestDetail]) -> None:
    tried = [
        (detail, one)
        for detail in details
        for one in detail.tried
        if not one.matches and not judged(one)
    ]
    assert {one.numbers.partition("(")[2] for _, one in tried} >= {"nothing to compare)"}
    for detail, one in tried:
        assert re.search(rf"(?m)^ {one.row} +\?", written(body(detail, 80)))


def test_the_reason_and_the_imperative_are_whole(details: list[TestDetail]) -> None:
    for detail in details:
        shown = words(written(body(detail, 80)))
        assert words(detail.unit.why) in shown
        assert words(f"DO {detail.unit.action}") in shown


def test_the_answer_names_class_row_and_what_it_means(details: list[TestDetail]) -> None:
    said = plain(answer(harness_bug(details).unit, LOOK)[0])
    assert said.startswith("▲ HARNESS BUG  row 1a  fix isolation, quarantine nothing")


@pytest.mark.parametrize("unit_class", list(UnitClass))
def test_only_a_test_flake_is_not_refused(details: list[TestDetail], unit_class: UnitClass) -> None:
    said = freezing(replace(details[0].unit, unit_class=unit_class))
    assert said.startswith("Refused: ") != (unit_class is UnitClass.FLAKE)
    assert (str(unit_class) in said) != (unit_class is UnitClass.FLAKE)


# Arms


def arm(k: int, n: int, high: float, green: tuple[int, int] = (0, 0)) -> Arm:
    return Arm(Phase.SOAK, (k, n), (0.0, high), green)


def test_the_axis_ends_at_a_quarter_only_if_everything_is_below() -> None:
    assert axis_end([arm(0, 100, 0.03), arm(1, 50, 0.11)]) == 0.25
    assert axis_end([arm(0, 100, 0.03), arm(0, 12, 0.26)]) == 1.0
    assert axis_end([arm(0, 100, 0.03, green=(1, 2))]) == 1.0
    assert axis_end([arm(0, 0, 1.0, green=(1, 20))]) == 0.25
    assert axis_end([]) == 1.0


def test_the_end_of_the_axis_is_always_printed(details: list[TestDetail]) -> None:
    for detail in details:
        for width in (54, 66, 80, 110):
            head = plain(arms(detail, width, LOOK)[0])
            assert head.rstrip(" ─").endswith("100 %" if axis_end(detail.arms) == 1 else "25 %")


def test_arms_that_never_ran_are_named(detail_in: Callable[[Log], TestDetail]) -> None:
    shown = written(arms(detail_in(failing(Log().header())), 80, LOOK))
    assert "not run: concurrent, serial, repeat, tightened, loaded" in shown
    assert "alone not judged" in shown


def test_arms_that_ran_and_are_left_out_are_named(
    detail_in: Callable[[Log], TestDetail],
) -> None:
    shared = touches("/shared/home/.settings")
    log = Log().header()
    for number in range(12):
        log = log.round(number, [fails(**shared) if number % 3 else passes(**shared)])
    log = log.arm(
        "serial", 4, 20, passing=lambda: passes(**shared), failing=lambda: fails(**shared)
    )
    assert "left out as not fresh: serial" in written(arms(detail_in(log), 80, LOOK))


@given(st.text("pf", max_size=200), st.integers(1, 9), st.integers(1, 150))
def test_squeezed_signs_fit_and_keep_every_failure(signs: str, size: int, room: int) -> None:
    made, each = squeezed(signs, size, room)
    assert len(made) <= room
    assert len(made) * each >= len(signs) * size
    assert ("f" in made) == ("f" in signs)
    if len(signs) <= room:
        assert (made, each) == (signs, size)


def test_a_strip_says_how_many_runs_a_cell_is(detail_in: Callable[[Log], TestDetail]) -> None:
    detail = detail_in(failing(Log().header()).arm("repeat", 3, 300))
    (strip,) = (one for one in detail.strips if one.phase is Phase.REPEAT)
    for width in (50, 80, 200):
        (row,) = (plain(one) for one in runs(detail, width, LOOK) if "repeat" in plain(one))
        signs = row.count("·") + row.count("✗")
        (size,) = (int(text) for text in re.findall(r"1 cell = (\d+)", row))
        assert (signs - 1) * size < strip.n <= signs * size
        assert row.rstrip().endswith("3/300")


# How it failed


def test_a_bar_is_drawn_for_the_failure_and_each_of_its_peers(details: list[TestDetail]) -> None:
    shown = [one for one in details if one.timeline and one.timeline.peers]
    assert shown
    for detail in shown:
        assert detail.timeline is not None
        lines = [plain(one) for one in timeline(detail, 80, LOOK)]
        assert sum("━" in one for one in lines) == 1 + len(detail.timeline.peers)
        assert f"failure 1 of {detail.timeline.failures:,}" in lines[0]
        assert any(re.search(r"\d (ms|s)$", one.rstrip()) for one in lines)


def test_bars_start_where_the_executions_started(details: list[TestDetail]) -> None:
    for detail in details:
        shown = detail.timeline
        if shown is None or not shown.peers or shown.failure.started is None:
            continue
        lines = [plain(one) for one in timeline(detail, 120, LOOK)]
        starts = [one.index("━") for one in lines if "━" in one]
        times = [shown.failure.started, *(peer.started for peer in shown.peers)]
        known = [moment or datetime.max.replace(tzinfo=UTC) for moment in times]
        assert [known[at] for at in sorted(range(len(known)), key=lambda at: starts[at])] == sorted(
            known
        )


def test_a_log_without_resources_says_that_company_is_not_known(
    detail_in: Callable[[Log], TestDetail],
) -> None:
    shown = written(body(detail_in(failing(Log().header())), 80))
    assert "who was beside it is not known" in words_apart(shown)
    assert "who held what is not known" in words_apart(shown)
    assert re.search(r"(?m)^ 1a +\? +no resource recorded", shown)


def words_apart(text: str) -> str:
    return " ".join(text.split())


def test_a_test_that_never_failed_says_so(detail_in: Callable[[Log], TestDetail]) -> None:
    detail = detail_in(Log().header().soak(12))
    assert "No failure on record." in written(timeline(detail, 80, LOOK))
    assert "No failure on record." in written(failures(detail, 80, LOOK))
    assert messages(detail, 80, LOOK) == []
    assert records(detail, 80, LOOK) == []


def test_a_message_is_shown_once_however_often_it_was_said(
    detail_in: Callable[[Log], TestDetail],
) -> None:
    detail = detail_in(failing(Log().header()))
    assert detail.failures_total == 4
    (one,) = messages(detail, 80, LOOK)
    assert "assert 3 == 4" in written(one)


def test_of_a_long_message_what_is_left_out_is_said(
    detail_in: Callable[[Log], TestDetail],
) -> None:
    message = "\n".join(f"line {number}" for number in range(200))
    log = Log().header().round(0, [fails(message=message)]).soak(6)
    (one,) = messages(detail_in(log), 80, LOOK)
    shown = written(one)
    assert "200 lines, 15 shown" in shown
    assert all(f" line {number}\n" in f"{shown}\n" for number in (0, 9, 195, 199))
    assert "line 100" not in shown
    assert "\n …\n" in shown


def test_a_failure_without_a_message_says_so(detail_in: Callable[[Log], TestDetail]) -> None:
    detail = detail_in(Log().header().round(0, [fails(message=None)]).soak(6))
    assert "no message recorded" in written(failures(detail, 80, LOOK))
    assert "The record has no message." in written(messages(detail, 80, LOOK)[0])


def test_kept_output_is_named_whole(detail_in: Callable[[Log], TestDetail]) -> None:
    path, digest = f"/var/{'deep/' * 30}run.log", "ab" * 32
    log = Log().header().round(0, [fails(log={"path": path, "sha256": digest})]).soak(6)
    shown = words(written(records(detail_in(log), 80, LOOK)))
    assert path in shown
    assert f"sha256{digest}" in shown


def test_where_nothing_was_kept_that_is_said(detail_in: Callable[[Log], TestDetail]) -> None:
    shown = written(records(detail_in(failing(Log().header())), 80, LOOK))
    assert "No output of a failing run was kept." in shown
    assert "soak.jsonl:" in shown


def test_red_is_shown_dim_whatever_it_did(details: list[TestDetail]) -> None:
    for detail in details:
        for strip in (one for one in detail.strips if one.role is Role.RED):
            only = replace(detail, strips=(strip,))
            (row,) = runs(only, 80, LOOK)[1:]
            assert {span.ink for span in row if span.text.strip()} == {Ink.DIM}
