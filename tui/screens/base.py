"""What all screens do alike: read, show one of four states, filter, sort, move, copy, go."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import duckdb
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Resize, ScreenResume
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from analysis.errors import AnalysisError
from analysis.queries.experiments import Choice, chosen
from analysis.queries.paging import PageRequest
from analysis.store.runner import Failure, NoIndex, OtherVersion, Result, Waiting
from tui.actions import bindings
from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import Part, dim
from tui.messages import Acted, Arrived, Moved, Opened, Sorted, Wanted
from tui.state import SCREENS, Ordering
from tui.widgets.document import Document, Panel
from tui.widgets.filter_bar import FilterBar
from tui.widgets.frame import Answer, Crumb, Footer, TabBar, ToastLine
from tui.widgets.notice import Notice, NoticeBoard
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from tui.app import Soakboard

Read = Callable[[duckdb.DuckDBPyConnection, Sequence[str]], Any]
"""A question about the chosen experiments."""

NEEDED = (72, 20)
WIDTHS = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]
HEIGHTS = [(0, "-low"), (32, "-tall")]
LOADING_AFTER_S = 0.15
MOVES = ("down", "up", "page_down", "page_up", "first", "last")


class BoardScreen(Screen[None]):
    """A screen about the chosen experiments.

    tab: the screen it belongs to. question: what it answers. keys: actions in the footer with
    their words here, in the order of use. signs: what its signs mean, for the help.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings()
    # Not the filter's input, which is the first that could take it.
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    tab: str = ""
    question: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    signs: tuple[str, ...] = ()
    what: str = ""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._serials: dict[str, int] = {}
        self._stale = True
        self._has_rows = False
        self._reading: set[str] = set()
        self._waiting_for = ""

    # Parts

    def compose(self) -> ComposeResult:
        yield TabBar(self.tab)
        yield Crumb()
        yield FilterBar()
        yield Answer()
        yield Panel(id="gap")
        with Container(id="body"):
            yield from self.compose_body()
        yield NoticeBoard()
        yield Panel(id="small")
        yield ToastLine()
        yield Footer()

    def compose_body(self) -> ComposeResult:
        """The parts of this screen."""
        raise NotImplementedError

    def read_all(self) -> None:
        """Ask for everything that is shown."""
        raise NotImplementedError

    def show_answer(self, slot: str, value: Any) -> None:
        """Show what a slot asked for."""
        raise NotImplementedError

    def steps(self) -> Sequence[str]:
        """The way to here, for the crumb."""
        return [self.tab.capitalize()]

    def shown(self) -> Part:
        """What is shown of what exists, for the right of the crumb."""
        return ""

    def refusal(self, name: str) -> str:
        """Why an action does not apply now; empty if it does. Screens add their own reasons."""
        return ""

    def empty(self, error: AnalysisError) -> Notice:
        """What to say where nothing is recorded."""
        return self.board.nothing_recorded(error)

    @property
    def board(self) -> Soakboard:
        """The app."""
        return cast("Soakboard", self.app)

    # Life

    def on_mount(self) -> None:
        self.query_one("#small", Panel).show(
            lambda width, height, look: [_needs(self.app.size.width, self.app.size.height)]
        )
        self.refresh_frame()

    def on_screen_resume(self, event: ScreenResume) -> None:
        self.query_one(TabBar).show(self.board.masthead)
        if self._stale:
            self.reload()
        if self.focused is None and not self.query_one(FilterBar).is_open:
            self.focus_first()

    def on_resize(self, event: Resize) -> None:
        small = event.size.width < NEEDED[0] or event.size.height < NEEDED[1]
        self.set_class(small, "-small")

    def reload(self) -> None:
        """Ask for everything anew; what is shown stays until the answers are there."""
        self._stale = False
        self.read_all()

    def became_stale(self) -> None:
        """The index or the choice has changed."""
        self._stale = True
        if self.board.screen is self:
            self.reload()

    def redraw_all(self) -> None:
        """Signs, colours or the form of times have changed."""
        for part in self.query(Widget):
            redraw = getattr(part, "redraw", None)
            if redraw is not None:
                redraw()

    def focus_first(self) -> None:
        """Give the focus to where the work is."""
        for part in self.query("#body *").results(Widget):
            if part.can_focus and part.display:
                part.focus()
                return

    # Reading

    def ask(self, slot: str, read: Read) -> None:
        """Read something about the chosen experiments; `show_answer` gets it."""
        serial = self._serials.get(slot, 0) + 1
        self._serials[slot] = serial
        self._reading.add(slot)
        choice = self.board.choice

        def of_choice(connection: duckdb.DuckDBPyConnection) -> Any:
            return read(connection, chosen(connection, choice))

        def deliver(outcome: Any) -> None:
            self.post_message(Arrived(slot, serial, outcome))

        self.board.runner.ask(f"{type(self).__name__}.{slot}", of_choice, deliver)
        self.set_timer(LOADING_AFTER_S, self._say_loading)

    def _say_loading(self) -> None:
        if not self._reading:
            return
        if self._has_rows:
            self.refresh_frame()
        elif not self.has_class("-notice"):
            self.notice(self.board.loading(self._waiting_for))

    def on_arrived(self, event: Arrived) -> None:
        """What a slot asked for, unless it asked for something else since."""
        if self._serials.get(event.slot) != event.serial:
            return
        outcome = event.outcome
        if isinstance(outcome, Waiting):
            self._waiting_for = outcome.holder
            if not self._has_rows:
                self.notice(self.board.loading(outcome.holder))
            self.refresh_frame()
            return
        self._reading.discard(event.slot)
        self._waiting_for = ""
        if isinstance(outcome, Result):
            self._has_rows = True
            self.notice(None)
            self.show_answer(event.slot, outcome.value)
        elif isinstance(outcome, Failure):
            self._failed(outcome.error)
        self.refresh_frame()

    def _failed(self, error: Exception) -> None:
        if isinstance(error, OtherVersion):
            self.notice(self.board.loading("", "The index is rebuilt from its logs."))
        elif isinstance(error, NoIndex) or (
            isinstance(error, AnalysisError) and "hold no run" in error.message
        ):
            busy = self.board.masthead.doing
            self.notice(self.board.loading("", busy) if busy else self.empty(error))
        else:
            self.notice(not_read(self.tab, error, self.board.look.glyphs))
        self._has_rows = False

    def notice(self, notice: Notice | None) -> None:
        """Show a notice in the place of rows, or the rows again."""
        had_focus = isinstance(self.focused, NoticeBoard)
        self.set_class(notice is not None, "-notice")
        if notice is not None:
            self.query_one(NoticeBoard).show(notice)
            self.query_one(NoticeBoard).focus()
            self.query_one(Answer).show("")
        elif had_focus:
            self.focus_first()

    # Frame

    def refresh_frame(self) -> None:
        """Crumb, count and footer, from what is shown now."""
        # What was read may arrive while the screen is being taken apart.
        if not self.is_mounted or not self.query(Crumb):
            return
        shown = self.shown()
        if self._waiting_for and self._has_rows:
            shown = self.board.look.status("as last read", f"{self._waiting_for} writes")
        elif self._reading and self._has_rows:
            shown = dim(f"reading {self.board.look.glyphs.ellipsis}")
        ordering = self.ordering()
        self.query_one(Crumb).show(self.steps(), shown, ordering.filter)
        if self.query_one(FilterBar).is_open:
            keys = [("open", "keep filter", True), ("back", "clear, then close", True)]
            self.query_one(FilterBar).count(self.shown())
        else:
            keys = [(name, words, not self.why_not(name)) for name, words in self.keys]
        self.query_one(Footer).show(keys)
        self.query_one(TabBar).show(self.board.masthead)

    def toast(self, text: str) -> None:
        """One line that goes away by itself."""
        for line_ in self.query(ToastLine):
            line_.show(text)

    # Lists

    def the_list(self) -> RowList[Any] | None:
        """The list that has the focus, or the first one."""
        focused = self.focused
        if isinstance(focused, RowList):
            return focused
        lists = [one for one in self.query(RowList) if one.display]
        return lists[0] if lists else None

    def ordering(self) -> Ordering:
        """Filter and order of the list that has the focus."""
        found = self.the_list()
        return Ordering() if found is None else found.ordering

    def page_request(self, rows: RowList[Any], size: int = 300) -> PageRequest:
        """What a list needs, around its cursor."""
        ordering = rows.ordering
        return PageRequest(
            filter=ordering.filter,
            sort=ordering.sort,
            reverse=ordering.reverse,
            anchor=rows.standing,
            at_end=rows.wants_end,
            size=size,
        )

    def read_list(self, list_id: str) -> None:
        """Ask for the rows of a list."""
        raise NotImplementedError

    def sortable(self, list_id: str) -> Sequence[str]:
        """The columns that a list can be sorted by."""
        return ()

    def order(self, rows: RowList[Any], ordering: Ordering) -> None:
        """Show a list in another order, or less of it."""
        rows.ordering = ordering
        self.read_list(rows.id or "")
        rows.redraw()
        self.refresh_frame()

    def on_wanted(self, event: Wanted) -> None:
        self.read_list(event.list_id)

    def on_moved(self, event: Moved) -> None:
        self.refresh_frame()

    def on_opened(self, event: Opened) -> None:
        self.action_act("open")

    def on_sorted(self, event: Sorted) -> None:
        self._sort_by(self.query_one(f"#{event.list_id}", RowList), event.column)

    def _sort_by(self, rows: RowList[Any], column: str) -> None:
        now = rows.ordering
        if now.sort == column:
            self.order(rows, replace(now, reverse=not now.reverse))
        else:
            self.order(rows, replace(now, sort=column, reverse=False))

    # Actions

    def on_acted(self, event: Acted) -> None:
        event.stop()
        kind, _, rest = event.act.partition(":")
        if kind == "sort":
            rows = self.the_list()
            if rows is not None:
                self._sort_by(rows, rest)
        elif kind == "step":
            self.go_to_step(int(rest))
        elif kind == "unfilter":
            self.set_filter("")
        else:
            self.action_act(event.act)

    def why_not(self, name: str) -> str:
        """Why an action does not apply now; empty if it does."""
        if self.has_class("-notice"):
            refused = self._why_not_beside_a_notice(name)
            if refused is not None:
                return refused
        found = self.refusal(name)
        if found:
            return found
        if not hasattr(self, f"do_{name}"):
            return f"{name.replace('_', ' ').capitalize()} means nothing on this screen."
        if name in MOVES and self._mover() is None:
            return "There is nothing to move through here."
        if name in ("panel", "panel_back") and self.panels() < 2:
            return "There is one panel only."
        if name in ("filter", "sort", "reverse") and self.the_list() is None:
            return "There is no list here."
        if name in ("sort", "reverse"):
            rows = self.the_list()
            if rows is not None and not self.sortable(rows.id or ""):
                return "This list has one order only."
        if name == "copy" and not self._has_rows:
            return "Nothing is read yet."
        if name == "export" and not self.what:
            return "What this screen shows has no export of its own."
        return ""

    def _why_not_beside_a_notice(self, name: str) -> str | None:
        """Why an action does not apply where no rows are; None: as anywhere else."""
        shown = self.query_one(NoticeBoard).notice
        if name == "copy" and shown is not None:
            return "" if shown.copy else "There is nothing to copy here."
        of_rows = ("open", "export", "freeze", "filter", "sort", "reverse", "group")
        there = (*MOVES, *of_rows, "right", "left")
        return "There is no row here." if name in there else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are text while a filter is typed."""
        if action == "act" and isinstance(self.focused, Input):
            return False
        return super().check_action(action, parameters)

    def action_act(self, name: str) -> None:
        """Do an action, or say why not."""
        if self.has_class("-small") and name != "quit":
            return
        reason = self.why_not(name)
        if reason:
            self.toast(reason)
            return
        getattr(self, f"do_{name}")()

    def panels(self) -> int:
        """How many parts Tab goes through."""
        if self.has_class("-notice"):
            return 0
        parts = self.query("#body *").results(Widget)
        return sum(1 for part in parts if part.can_focus and part.display)

    def go_to_step(self, step: int) -> None:
        """A step of the crumb was clicked."""
        self.action_act("back")

    def do_overview(self) -> None:
        self.board.go("overview")

    def do_stability(self) -> None:
        self.board.go("stability")

    def do_tests(self) -> None:
        self.board.go("tests")

    def do_evidence(self) -> None:
        self.board.go("evidence")

    def do_quarantine(self) -> None:
        self.board.go("quarantine")

    def _mover(self) -> RowList[Any] | Document | None:
        focused = self.focused
        return focused if isinstance(focused, RowList | Document) else self.the_list()

    def do_down(self) -> None:
        if (mover := self._mover()) is not None:
            mover.move(1)

    def do_up(self) -> None:
        if (mover := self._mover()) is not None:
            mover.move(-1)

    def do_page_down(self) -> None:
        if (mover := self._mover()) is not None:
            mover.move_page(1)

    def do_page_up(self) -> None:
        if (mover := self._mover()) is not None:
            mover.move_page(-1)

    def do_first(self) -> None:
        if (mover := self._mover()) is not None:
            mover.to_first()

    def do_last(self) -> None:
        if (mover := self._mover()) is not None:
            mover.to_last()

    def do_panel(self) -> None:
        self.focus_next("#body *")
        self.refresh_frame()

    def do_panel_back(self) -> None:
        self.focus_previous("#body *")
        self.refresh_frame()

    def do_back(self) -> None:
        """At a top screen there is nothing to go back to."""
        if self.ordering().filter:
            self.set_filter("")

    def do_quit(self) -> None:
        self.board.exit(0)

    def do_help(self) -> None:
        self.board.show_help(self)

    def do_palette(self) -> None:
        self.board.action_command_palette()

    def do_refresh(self) -> None:
        self.board.read_logs()
        self.reload()

    def do_follow(self) -> None:
        self.board.follow()

    def do_times(self) -> None:
        self.board.switch_times()

    def do_theme(self) -> None:
        self.board.switch_theme()

    def do_pick(self) -> None:
        self.board.pick_experiment()

    def do_everything(self) -> None:
        self.board.choose(Choice(everything=True))

    def do_compare(self) -> None:
        self.board.pick_comparison()

    def do_export(self) -> None:
        self.board.export_what(self.what, self.ordering().filter)

    def do_copy(self) -> None:
        notice = self.query_one(NoticeBoard).notice
        text = notice.copy if self.has_class("-notice") and notice else self.copied()
        if text:
            self.board.copy_to_clipboard(text)
            self.toast(f"Copied: {text}")
        else:
            self.toast("There is nothing to copy here.")

    def copied(self) -> str:
        """What `y` copies: the id or the command of the row under the cursor."""
        return ""

    def do_sort(self) -> None:
        rows = self.the_list()
        if rows is None:
            return
        names = ["", *self.sortable(rows.id or "")]
        now = names.index(rows.ordering.sort) if rows.ordering.sort in names else 0
        following = names[(now + 1) % len(names)]
        self.order(rows, replace(rows.ordering, sort=following, reverse=False))
        self.toast(f"Sorted by {following or 'the usual order'}.")

    def do_reverse(self) -> None:
        rows = self.the_list()
        if rows is not None:
            self.order(rows, replace(rows.ordering, reverse=not rows.ordering.reverse))

    # Filter

    def do_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterBar).open(self.ordering().filter)
        self.refresh_frame()

    def set_filter(self, text: str) -> None:
        """Show only what a filter leaves."""
        rows = self.the_list()
        if rows is not None and rows.ordering.filter != text:
            self.order(rows, replace(rows.ordering, filter=text))

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self.set_filter(event.text)

    def on_filter_bar_moved(self, event: FilterBar.Moved) -> None:
        event.stop()
        if (rows := self.the_list()) is not None:
            rows.move(event.rows)

    def on_filter_bar_completing(self, event: FilterBar.Completing) -> None:
        event.stop()
        self.query_one(FilterBar).complete(self.completed(event.text))

    def completed(self, text: str) -> str:
        """A filter, its last word completed where only one thing can be meant."""
        return text

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        event.stop()
        self.remove_class("-filtering")
        self.focus_first()
        self.refresh_frame()


def _needs(width: int, height: int) -> tuple[Any, ...]:
    from tui.lines import bold, line

    return line(
        bold(f"Needs {NEEDED[0]}x{NEEDED[1]}, has {width}x{height}.", Ink.HEAD), " q quits."
    )


def not_read(what: str, error: Exception, glyphs: Glyphs) -> Notice:
    """What went wrong, what to do, and the raw words."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, AnalysisError):
        text = tuple(part for part in (error.message, error.hint) if part)
        detail = ""
    else:
        text = ("Something went wrong inside soakboard. Nothing is lost: the logs are the truth.",)
        detail = f"{type(error).__name__}: {error}"
    return Notice(
        title=f"{glyphs.failed} {what.capitalize()} could not be read.",
        text=text,
        hints=(
            ("r", "try again"),
            ("y", "copy the message, for a bug report"),
            (f"1 {glyphs.dash} {len(SCREENS)}", "other screens"),
        ),
        detail=detail,
        ink=Ink.BROKEN,
        copy=trace,
    )
