"""Did verdicts change though nothing else did? Patches down, runs across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Resize

from analysis.queries import grid, stability
from analysis.queries.filters import complete, exactly
from analysis.queries.grid import Grid, Rates
from analysis.queries.paging import Page
from analysis.queries.rates import WINDOW
from analysis.queries.stability import PatchRow, RunCell
from tui.lines import Part
from tui.look import Look, number, plural
from tui.plot import Curve
from tui.screens.base import BoardScreen
from tui.screens.run import RunScreen
from tui.screens.run_grid import RunGrid
from tui.screens.stability_lines import answer, cell_notes, notes, opened_run, phases
from tui.state import Ordering
from tui.widgets.document import Panel
from tui.widgets.frame import Answer
from tui.widgets.plot import Plot

ROWS = "stability-rows"
ON_ROWS: tuple[tuple[str, str], ...] = (
    ("open", "its tests"),
    ("right", "its runs"),
    ("sort", "sort"),
    ("filter", "filter"),
    ("copy", "copy"),
    ("export", "export"),
    ("pick", "experiment"),
    ("reverse", "reverse"),
    ("compare", "compare"),
    ("refresh", "refresh"),
)
ON_RUNS = (
    ("open", "its run"),
    ("right", "next run"),
    ("back", "to the rows"),
    ("copy", "copy run id"),
)


class StabilityScreen(BoardScreen):
    """The grid, and charts of the patch under the cursor.

    The cursor is on a row, or on a cell of it once → was pressed.
    """

    tab = "stability"
    what = "stability"
    question = "did verdicts change though nothing else did?"
    keys = ON_ROWS
    signs = (
        "A cell is a run, or as many as the line under the grid says; a digit counts failures.",
        "FLIP: changes of verdict from run to run in one phase. k/n: failed / verdicts.",
        "Above the rows: the canaries of the selected row. Red must fail, so its passes stand out.",
        "* the tell: a patch that is stably red beside one that varies, and what both touch.",
    )

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._grid: Grid | None = None
        self._row: tuple[str, str] | None = None
        self._soak: str | None = None
        self._band: tuple[str, str, str] | None = None
        self._runs: tuple[RunCell, ...] | None = None

    def compose_body(self) -> ComposeResult:
        yield RunGrid(id=ROWS)
        with Horizontal(id="stability-charts"):
            yield Panel(id="stability-phases")
            yield Plot("OVER TIME", f"rolling {WINDOW} runs, start order", id="stability-time")
        yield Panel(id="stability-note")

    @property
    def rows(self) -> RunGrid:
        """The grid."""
        return self.query_one(f"#{ROWS}", RunGrid)

    def on_mount(self) -> None:
        start = self.board.start
        if start.screen == self.tab and start.filter:
            self.rows.ordering = Ordering(filter=start.filter)
        super().on_mount()

    # Reading

    def read_all(self) -> None:
        self._row = self._soak = self._band = None
        self.ask("grid", grid.grid)
        self.read_list(ROWS)

    def read_list(self, list_id: str) -> None:
        request = self.page_request(self.rows)
        self.ask("rows", lambda connection, names: grid.patch_page(connection, names, request))

    def _read_beside(self, row: PatchRow) -> None:
        """Ask for what belongs to the row under the cursor, where that is another one."""
        soak, patch = row.counts.experiment, row.counts.patch_id
        if self._soak != soak:
            self._soak = soak
            self.ask("canaries", lambda connection, _: (soak, grid.pinned(connection, soak)))
        if self._row != (soak, patch):
            self._row = (soak, patch)
            self.ask("rates", lambda connection, _: grid.rates(connection, soak, patch))
        at = self.rows.at
        if at is not None and self._band != (soak, patch, at.phase):
            phase = at.phase
            self._band, self._runs = (soak, patch, phase), None
            self.ask(
                "runs", lambda connection, _: stability.runs_of(connection, soak, patch, phase)
            )

    def show_answer(self, slot: str, value: Any) -> None:
        if slot == "grid":
            self._show_grid(value)
        elif slot == "rows":
            page: Page[PatchRow] = value
            self.rows.show(page)
        elif slot == "canaries":
            soak, canaries = value
            if soak == self._soak:
                self.rows.use(replace(self.rows.grid, canaries=canaries, canaries_of=soak))
        elif slot == "rates":
            if (value.experiment, value.patch_id) == self._row:
                self._show_rates(value)
        elif self._band is not None:
            self._runs = value
            self._show_note()

    def _show_grid(self, found: Grid) -> None:
        self._grid = found
        widest = tuple(found.widest.items())
        painter = replace(self.rows.grid, widest=widest, most=found.most, soaks=found.soaks)
        self.rows.use(painter)
        self.query_one(Answer).show_fitting(answer(found, self.board.look))

    def _show_rates(self, found: Rates) -> None:
        self.query_one("#stability-phases", Panel).show(
            lambda width, height, look: phases(found, width, height, look)
        )
        points = tuple((float(point.at), point.share) for point in found.points)
        self.query_one(Plot).show(Curve(points, "No run of this patch has a verdict."))

    def _show_nothing_beside(self) -> None:
        self._row = self._soak = self._band = self._runs = None
        self.rows.use(replace(self.rows.grid, canaries=(), canaries_of=None))
        self.query_one("#stability-phases", Panel).show(lambda width, height, look: [])
        self.query_one(Plot).show(Curve((), ""))

    def redraw_all(self) -> None:
        super().redraw_all()
        if self._grid is not None:
            self._show_grid(self._grid)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        # A cell holds another number of runs now.
        self.call_after_refresh(self._show_note)

    # Showing

    def on_moved(self, event: Any) -> None:
        row = self.rows.current
        if row is not None:
            self._read_beside(row)
        elif self.rows.page is not None:
            self._show_nothing_beside()
        self.keys = ON_RUNS if self._stepping else ON_ROWS
        self._show_note()
        super().on_moved(event)

    def _show_note(self) -> None:
        row, runs, rows = self.rows.current, self._runs, self.rows

        def paint(width: int, height: int, look: Look) -> Sequence[Any]:
            if row is None:
                return []
            at = rows.at
            if at is not None:
                return cell_notes(at, runs, width, height, look)
            return notes(row, width, height, look)

        self.query_one("#stability-note", Panel).show(paint)

    def shown(self) -> Part:
        page = self.rows.page
        if page is None:
            return ""
        if page.hint:
            return self.board.look.data(page.hint)
        glyphs, ordering = self.board.look.glyphs, self.rows.ordering
        one_soak = self._grid is not None and self._grid.soaks == 1
        unit = "patch" if one_soak else f"patch {glyphs.times} soak"
        units = "patches" if one_soak else unit
        found = plural(page.total, unit, units)
        if ordering.filter:
            found = f"{number(page.total)} of {plural(page.everything, unit, units)}"
        arrow = glyphs.up if ordering.reverse else glyphs.down
        order = f"sorted by {ordering.sort or 'flips'} {arrow}"
        return self.board.look.status(found, order)

    def sortable(self, list_id: str) -> Sequence[str]:
        one_soak = self._grid is not None and self._grid.soaks == 1
        return ("rate", "patch") if one_soak else ("rate", "patch", "soak")

    def completed(self, text: str) -> str:
        offered = complete(text, stability.LISTING.fields)
        return offered[0] if len(offered) == 1 else text

    # Actions

    @property
    def _stepping(self) -> bool:
        """Whether the cursor is on a cell."""
        return self.is_mounted and self.rows.at is not None

    def refusal(self, name: str) -> str:
        row = self.rows.current if self.is_mounted else None
        if name in ("open", "copy", "right") and row is None:
            return "There is no row here."
        if name == "right" and row is not None and not row.strips:
            return "This patch has no run."
        if name == "left" and not self._stepping:
            return "The cursor is on the rows; the right arrow steps into the runs."
        if name in ("open", "copy") and self._stepping and self._opened is None:
            return "The runs of this row are being read."
        if name == "freeze":
            return "Tests are quarantined, not patches: Enter shows the tests of this one."
        return ""

    @property
    def _opened(self) -> int | None:
        """The number of the run that the cell under the cursor stands for."""
        at = self.rows.at
        return None if at is None or self._runs is None else opened_run(at, self._runs)

    def do_right(self) -> None:
        self.rows.step(1)

    def do_left(self) -> None:
        self.rows.step(-1)

    def do_first(self) -> None:
        if self._stepping:
            self.rows.to_end(-1)
        else:
            super().do_first()

    def do_last(self) -> None:
        if self._stepping:
            self.rows.to_end(1)
        else:
            super().do_last()

    def do_back(self) -> None:
        if self._stepping:
            self.rows.stand_in(None)
        else:
            super().do_back()

    def do_open(self) -> None:
        row, opened = self.rows.current, self._opened
        if row is None:
            return
        if opened is None or self._runs is None or self._band is None:
            self.board.open_tests(filter_for(row))
            return
        soak, patch, phase = self._band
        runs = tuple(run.run_id for run in self._runs)
        self.board.push_screen(RunScreen("stability", (patch, phase), soak, runs, opened))

    def copied(self) -> str:
        row, opened = self.rows.current, self._opened
        if self._runs is not None and opened is not None:
            return self._runs[opened].run_id
        return "" if row is None else row.counts.patch_id


def filter_for(row: PatchRow) -> str:
    """The filter that leaves the tests of a patch in its soak."""
    return f"{exactly('patch', row.counts.patch_id)} {exactly('soak', row.counts.experiment)}"
