"""The experiments of the index, to look at one of them or to compare with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import ComposeResult

from analysis.queries import experiments
from analysis.queries.experiments import Choice, ExperimentLine
from tui.inks import Ink
from tui.lines import Line, Part, Span, bold, columns, dim, line
from tui.look import Look, number, plural
from tui.screens.base import BoardScreen
from tui.state import Ordering
from tui.widgets.frame import Answer
from tui.widgets.row_list import RowList

ROWS = "experiments"
_CLASS, _AGE, _COUNT = 23, 17, 8


class ExperimentPainter:
    """A line an experiment."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        names = ("experiment", "class", "newest", "runs", "patches")
        words = ("EXPERIMENT", "CLASS", "NEWEST", "RUNS", "PATCHES")
        parts: list[Part] = [
            bold_header(word, name, ordering, look) for name, word in zip(names, words, strict=True)
        ]
        return [line(" ", columns(parts, _widths(width - 1), "lllrr"))]

    def row(self, row: ExperimentLine, width: int, look: Look, lines: int) -> Sequence[Line]:
        widths = _widths(width)
        parts: tuple[Part, ...] = (
            look.middle(look.data(row.experiment), widths[0]),
            look.unit_class(row.unit_class),
            look.ago(row.newest) if row.newest else dim("no time recorded"),
            number(row.runs),
            number(row.patches),
        )
        return [columns(parts, widths, "lllrr", ellipsis=look.glyphs.ellipsis)]

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(f" {shown}"))] if shown else []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No experiment."))]


def bold_header(word: str, name: str, ordering: Ordering, look: Look) -> Span:
    """A header that sorts when it is clicked; an arrow shows which one it is."""
    if ordering.sort != name:
        return Span(word, Ink.HEAD, bold=True, act=f"sort:{name}")
    arrow = look.glyphs.up if ordering.reverse else look.glyphs.down
    return Span(word + arrow, Ink.ACCENT, bold=True, act=f"sort:{name}")


def _widths(width: int) -> tuple[int, ...]:
    fixed = _CLASS + _AGE + 2 * _COUNT + 4
    return (max(12, width - fixed - 1), _CLASS, _AGE, _COUNT, _COUNT)


class PickerScreen(BoardScreen):
    """Picks an experiment. purpose: the sentence on top. picked: gets its name."""

    question = "which experiment?"
    keys = (
        ("open", "choose"),
        ("everything", "all of them"),
        ("filter", "filter"),
        ("sort", "sort"),
        ("copy", "copy name"),
        ("back", "back"),
    )

    def __init__(
        self, tab: str, purpose: str, picked: Callable[[str], None], *, all_too: bool
    ) -> None:
        super().__init__()
        self.tab = tab
        self._purpose, self._picked, self._all_too = purpose, picked, all_too

    def compose_body(self) -> ComposeResult:
        yield RowList[ExperimentLine](ExperimentPainter(), id=ROWS)

    @property
    def rows(self) -> RowList[ExperimentLine]:
        """The list."""
        return self.query_one(f"#{ROWS}", RowList)

    def read_all(self) -> None:
        self.query_one(Answer).show(bold(self.board.look.data(self._purpose), Ink.HEAD))
        self.read_list(ROWS)

    def read_list(self, list_id: str) -> None:
        request = self.page_request(self.rows)
        self.ask("rows", lambda connection, _: experiments.summaries(connection, request))

    def show_answer(self, slot: str, value: Any) -> None:
        self.rows.show(value)
        self.query_one(Answer).show(bold(self.board.look.data(self._purpose), Ink.HEAD))

    def steps(self) -> Sequence[str]:
        return [self.tab.capitalize(), "Experiments"]

    def shown(self) -> Part:
        page = self.rows.page
        return "" if page is None else page.hint or plural(page.total, "experiment")

    def sortable(self, list_id: str) -> Sequence[str]:
        return experiments.COLUMNS

    def refusal(self, name: str) -> str:
        if name in ("pick", "compare", "export"):
            return "Esc goes back to the screen first."
        if name == "everything" and not self._all_too:
            return "One experiment is compared with one other."
        if name in ("open", "copy") and (not self.is_mounted or self.rows.current is None):
            return "There is no experiment here."
        return ""

    def do_open(self) -> None:
        row = self.rows.current
        if row is not None:
            self.board.pop_screen()
            self._picked(row.experiment)

    def do_everything(self) -> None:
        self.board.pop_screen()
        self.board.choose(Choice(everything=True))

    def do_back(self) -> None:
        if self.rows.ordering.filter:
            super().do_back()
        else:
            self.board.pop_screen()

    def copied(self) -> str:
        row = self.rows.current
        return "" if row is None else row.experiment
