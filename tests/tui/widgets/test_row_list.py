"""A list of a million rows: it moves, asks in time, and stays on its row."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from analysis.queries.paging import Mark, Page
from tui.inks import DARK
from tui.lines import Line, line
from tui.look import Look
from tui.messages import Moved, Opened, Wanted
from tui.state import Ordering
from tui.widgets.row_list import MARGIN, RowList

HEIGHT = 12
SIZE = 300


class Numbers:
    """Paints a number."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        return [line("NUMBER")]

    def row(self, row: int, width: int, look: Look, lines: int) -> Sequence[Line]:
        return [line(f"row {row}")]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [line(shown)]

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line("nothing")]


class Harness(App[None]):
    """A list over numbers, answered at once or when it is told to."""

    look = Look()
    palette = DARK

    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.numbers = numbers
        self.asked: list[int] = []
        self.opened: list[int] = []
        self.answers = True

    def compose(self) -> ComposeResult:
        yield RowList(Numbers(), id="list")

    @property
    def rows(self) -> RowList[int]:
        return self.query_one(RowList)

    def on_mount(self) -> None:
        self.rows.styles.height = HEIGHT
        self.rows.focus()
        self.answer()

    def answer(self) -> None:
        """A window around the row under the cursor, or around its neighbour."""
        rows = self.rows
        anchor = rows.standing
        if rows.wants_end:
            at = len(self.numbers) - 1
        elif anchor is None:
            at = 0
        else:
            at = sum(number < anchor.key[0] for number in self.numbers)
        at = max(0, min(at, len(self.numbers) - 1))
        first = max(0, at - SIZE)
        held = tuple(self.numbers[first : at + SIZE])
        marks = tuple(Mark((number,), (number,), ()) for number in held)
        total = len(self.numbers)
        rows.show(Page(held, marks, first, total, total, at))

    def on_wanted(self, event: Wanted) -> None:
        self.asked.append(self.rows.cursor)
        if self.answers:
            self.answer()

    def on_moved(self, event: Moved) -> None:
        pass

    def on_opened(self, event: Opened) -> None:
        self.opened.append(self.rows.current or -1)


def shown(app: Harness) -> list[str]:
    made = ["".join(span.text for span in one).strip(" ▌") for one in app.rows.lines_now()]
    return made


def drive(numbers: list[int], test: Callable[[Harness, Pilot[None]], Awaitable[None]]) -> None:
    async def go() -> None:
        app = Harness(numbers)
        async with app.run_test(size=(40, HEIGHT + 2)) as pilot:
            await pilot.pause()
            await test(app, pilot)
            await pilot.pause()

    asyncio.run(go())


def test_what_is_shown_of_what_exists_is_written() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        assert shown(app)[1] == "row 0"
        assert shown(app)[-1] == "rows 1–10 of 1,000,000"

    drive([*range(1_000_000)], test)


def test_where_all_is_seen_nothing_is_written() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        assert shown(app)[-1] == ""

    drive([1, 2, 3], test)


def test_a_list_without_rows_says_so_and_can_be_walked() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        assert "nothing" in shown(app)
        app.rows.move(1)
        app.rows.to_last()
        app.rows.move_page(-1)
        assert app.rows.current is None

    drive([], test)


def test_more_rows_are_asked_for_before_the_last_one_is_reached() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.move(SIZE - MARGIN)
        await pilot.pause()
        assert app.asked == [SIZE - MARGIN]
        app.rows.move(250)
        await pilot.pause()
        assert app.rows.current == SIZE - MARGIN + 250

    drive([*range(1_000_000)], test)


def test_every_row_is_passed_once_on_the_way_down_and_up() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        seen = []
        for _ in range(len(app.numbers)):
            seen.append(app.rows.current)
            app.rows.move(1)
            await pilot.pause()
        assert seen == app.numbers
        assert app.rows.current == app.numbers[-1]
        for number in reversed(app.numbers):
            assert app.rows.current == number
            app.rows.move(-1)
            await pilot.pause()

    drive([*range(0, 2_100, 3)], test)


def test_the_last_row_of_a_million_is_one_step_away_and_so_is_the_first() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.to_last()
        await pilot.pause()
        assert app.rows.current == 999_999
        assert shown(app)[-1] == "rows 999,991–1,000,000 of 1,000,000"
        app.rows.to_first()
        await pilot.pause()
        assert app.rows.current == 0

    drive([*range(1_000_000)], test)


def test_the_cursor_stays_on_its_row_when_rows_come_and_go() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.move(500)
        app.rows.move(5)
        before = shown(app)
        number = app.rows.current
        app.numbers = [*range(-1_000, 0), *range(2_000)]
        app.answer()
        assert app.rows.current == number
        assert shown(app)[1:-1] == before[1:-1]

    drive([*range(2_000)], test)


def test_where_its_row_is_gone_the_cursor_stands_on_a_neighbour() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.move(20)
        app.numbers.remove(20)
        app.answer()
        assert app.rows.current == 21

    drive([*range(100)], test)


def test_where_the_last_rows_are_gone_the_cursor_stands_on_the_last_one() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.to_last()
        app.numbers = [0, 1, 2]
        app.answer()
        assert app.rows.current == 2
        assert shown(app)[1:4] == ["row 0", "row 1", "row 2"]

    drive([*range(100)], test)


def test_rows_that_come_late_do_not_move_a_cursor_that_has_moved_on() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.answers = False
        app.rows.move(SIZE - MARGIN)
        await pilot.pause()
        app.rows.move(7)
        app.answer()
        assert app.rows.current == SIZE - MARGIN + 7

    drive([*range(10_000)], test)


def test_a_click_moves_the_cursor_and_a_second_one_opens() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        await pilot.click(RowList, offset=(3, 5))
        assert app.rows.current == 4
        assert app.opened == []
        await pilot.click(RowList, offset=(3, 5))
        await pilot.pause()
        assert app.opened == [4]
        await pilot.click(RowList, offset=(3, 0))
        assert app.rows.current == 4

    drive([*range(100)], test)


def test_the_wheel_moves_the_cursor() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        from textual.events import MouseScrollDown, MouseScrollUp

        for kind in (MouseScrollDown, MouseScrollDown, MouseScrollUp):
            app.rows.post_message(kind(app.rows, 3, 3, 0, 1, 0, False, False, False))
            await pilot.pause()
        assert app.rows.current == 3

    drive([*range(100)], test)


def test_a_smaller_screen_keeps_the_cursor_in_view() -> None:
    async def test(app: Harness, pilot: Pilot[None]) -> None:
        app.rows.move(9)
        app.rows.styles.height = 5
        await pilot.pause()
        assert "row 9" in shown(app)

    drive([*range(100)], test)
