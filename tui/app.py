"""The dashboard: screens over an index that another process keeps up to date."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import duckdb
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.message import Message
from textual.theme import Theme

from analysis.config import load_config
from analysis.errors import AnalysisError
from analysis.quarantine.desk import Desk
from analysis.quarantine.replay import State
from analysis.queries.attributions import UnitKey
from analysis.queries.causes import CauseRow
from analysis.queries.experiments import Choice, chosen
from analysis.queries.masthead import Summary, summary
from analysis.store.runner import Failure, Outcome, Result, Runner, Waiting
from tui.acts import Act
from tui.exit_codes import ExitCode
from tui.feed import Ended, Event, Feed, Reading, Refused, Taken
from tui.glyphs import Glyphs, glyphs_for
from tui.inks import DARK, LIGHT, PLAIN, Ink, Palette, sixteen
from tui.look import Look
from tui.messages import Drafted, Exported, Fed, Headed
from tui.palette import Actions
from tui.screens.base import BoardScreen
from tui.screens.evidence import EvidenceScreen
from tui.screens.help import HelpScreen
from tui.screens.overview import OverviewScreen
from tui.screens.picker import PickerScreen
from tui.screens.quarantine import QuarantineScreen
from tui.screens.stability import StabilityScreen
from tui.screens.tests import TestsScreen
from tui.state import Masthead, Start
from tui.widgets.notice import Notice

TERMINAL_S = 1.0
"""How often it is asked whether the terminal is still there."""


@dataclass(frozen=True)
class Source:
    """What the dashboard is opened on. paths: logs that are read; none: those that the index
    knows. final: no writer will complete a torn last line. quarantine: the list; None for that of
    the project."""

    db: Path
    paths: tuple[Path, ...] = ()
    experiment: str | None = None
    final: bool = False
    quarantine: Path | None = None


class Soakboard(App[int]):
    """The app: owns the reads, the process that feeds the index, and how things look."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "soakboard"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", show=False, priority=True)]
    boards: ClassVar[tuple[type[BoardScreen], ...]] = (
        OverviewScreen,
        StabilityScreen,
        TestsScreen,
        EvidenceScreen,
        QuarantineScreen,
    )

    def __init__(
        self,
        source: Source,
        choice: Choice,
        start: Start | None = None,
        *,
        glyphs: Glyphs | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self._clock, self._source = clock, source
        self._glyphs = glyphs_for() if glyphs is None else glyphs
        self._utc, self._dark = False, True
        self.start = start or Start()
        self.choice = choice
        self.masthead = Masthead()
        self.experiments: tuple[str, ...] = ()
        self.complaint = ""
        self.fed = False
        self.defect: Exception | None = None
        self.runner = Runner(source.db)
        self.feed = Feed(
            source.db,
            source.paths,
            self._fed,
            experiment=source.experiment,
            final=source.final,
        )

    def _fed(self, event: Event) -> None:
        self.post_message(Fed(event))

    # How things look

    @property
    def look(self) -> Look:
        """How values are written now."""
        return Look(self._glyphs, self._clock(), self._utc)

    @property
    def palette(self) -> Palette:
        """Which colours hold: none under NO_COLOR, the terminal's own where it has 16."""
        if self.no_color:
            return PLAIN
        if self.console.color_system in ("standard", "windows"):
            return sixteen(dark=self._dark)
        return DARK if self._dark else LIGHT

    def switch_times(self) -> None:
        """Ages, or times in UTC."""
        self._utc = not self._utc
        self._redraw()

    def switch_theme(self) -> None:
        """Dark, or light."""
        self._dark = not self._dark
        self._use_theme()
        self._redraw()

    def _use_theme(self) -> None:
        palette = self.palette
        if palette.base is None:
            self.theme = "ansi-dark" if palette.dark else "ansi-light"
        else:
            self.theme = f"soakboard-{palette.name}"

    def _redraw(self) -> None:
        for screen in self._boards():
            screen.redraw_all()
            screen.refresh_frame()

    def _boards(self) -> list[BoardScreen]:
        installed = [self.get_screen(one.tab) for one in self.boards]
        pushed = [one for one in self.screen_stack if one not in installed]
        return [one for one in [*installed, *pushed] if isinstance(one, BoardScreen)]

    # Life

    def on_mount(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self.exit, ExitCode.INTERRUPTED)
        if not self.is_headless:
            self.set_interval(TERMINAL_S, self._end_without_terminal)
        for palette in (DARK, LIGHT):
            self.register_theme(_theme(palette))
        self._use_theme()
        for kind in self.boards:
            self.install_screen(kind(name=kind.tab), kind.tab)
        self.push_screen(self.start.screen)
        self._read_masthead()
        self.feed.read()

    def _end_without_terminal(self) -> None:
        # A terminal can be gone without a signal; its input would be read in vain for ever.
        if sys.__stdin__ is None or not sys.__stdin__.isatty():
            self.exit(ExitCode.INTERRUPTED)

    def _handle_exception(self, error: Exception) -> None:
        self.defect = error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # Whoever runs the app says in one line what went wrong; Textual would print a traceback.
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        self.runner.close()
        self.feed.stop()

    def go(self, tab: str) -> None:
        """One of the five screens, as it was left."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if self.screen.name != tab:
            self.switch_screen(tab)
            self._head()

    def show_help(self, screen: BoardScreen) -> None:
        """The keys, and what the signs of a screen mean."""
        self.push_screen(HelpScreen(screen))

    def open_tests(self, filter: str) -> None:
        """The tests that a filter leaves, by cause."""
        self.go("tests")
        # It may be the first time that this screen is seen: its parts are made before it reads.
        self._tests.call_later(self._tests.open_with, filter)

    def open_cause(self, cause: CauseRow) -> None:
        """The tests behind a cause."""
        self.go("tests")
        self._tests.call_later(self._tests.open_cause, cause)

    @property
    def _tests(self) -> TestsScreen:
        screen = self.get_screen("tests")
        assert isinstance(screen, TestsScreen)
        return screen

    def open_detail(self, key: UnitKey, position: int, total: int) -> None:
        """The detail of a test; position: its place among `total` rows, from 1."""
        from tui.screens.detail import DetailScreen

        self.push_screen(DetailScreen(key, position, total))

    def desk(self) -> Callable[[], Desk]:
        """The place where the quarantine list is kept. BadInput is raised when it is used."""
        from analysis.quarantine.log import list_path
        from tui.person import who

        source, clock = self._source, self._clock

        def made() -> Desk:
            config = load_config(Path.cwd())
            path = source.quarantine or list_path(config, Path.cwd())
            return Desk(path, config, who(), clock().replace(microsecond=0))

        return made

    def freeze(self, key: UnitKey) -> None:
        """Quarantine a test, or say why not and what would change it."""
        from tui.freezing import contract_of

        desk = self.desk()
        self.runner.ask(
            "contract",
            lambda connection: contract_of(connection, desk(), key),
            lambda outcome: self._post(Drafted(outcome)),
        )

    def _post(self, message: Message) -> None:
        self.post_message(message)

    def on_drafted(self, event: Drafted) -> None:
        """What a contract would be."""
        from tui.freezing import screen_for

        outcome = event.outcome
        if isinstance(outcome, Result):
            self.push_screen(screen_for(outcome.value, self.do_act))
        else:
            self._said_of(outcome)

    def do_act(self, act: Act, given: Mapping[str, str]) -> None:
        """Do something to the quarantine list, and say what became of it."""
        desk = self.desk()
        self.runner.ask(
            "act",
            lambda connection: act.do(connection, desk(), given),
            lambda outcome: self._post(Exported(outcome)),
        )

    def _said_of(self, outcome: Outcome[Any]) -> None:
        from analysis.quarantine.desk import NotAdmitted
        from tui.freezing import refusal_screen

        if isinstance(outcome, Waiting):
            self._toast(f"It waits for {outcome.holder}, which writes to the index.")
        elif isinstance(outcome, Failure) and isinstance(outcome.error, NotAdmitted):
            self.push_screen(refusal_screen(outcome.error))
        elif isinstance(outcome, Failure) and isinstance(outcome.error, AnalysisError):
            self._toast(f"{outcome.error.message} {outcome.error.hint}".strip())
        elif isinstance(outcome, Failure):
            self._toast(f"It was not done: {outcome.error}")

    def pick_experiment(self) -> None:
        """Choose what the screens are about."""

        def picked(name: str) -> None:
            self.choose(Choice(experiment=name))

        purpose = "Which experiment are the screens to be about?"
        self.push_screen(PickerScreen(self._tab(), purpose, picked, all_too=True))

    def pick_comparison(self) -> None:
        """Compare the newest of the chosen experiments with another one."""
        from tui.screens.comparison import ComparisonScreen

        try:
            alpha = load_config(Path.cwd()).policy.alpha
        except AnalysisError as error:
            self._toast(error.message)
            return
        after = self.experiments[-1] if self.experiments else ""

        def picked(before: str) -> None:
            self.push_screen(ComparisonScreen(before, after, alpha))

        purpose = f"What is {after} to be compared with?"
        self.push_screen(PickerScreen(self._tab(), purpose, picked, all_too=False))

    def export_what(self, what: str, filter: str) -> None:
        """Ask for a file, and write to it what a screen shows."""
        from analysis.reports.content import Scope, What
        from analysis.reports.export import format_of, write_report
        from tui.screens.export import ExportScreen

        choice, made, desk = self.choice, self._clock(), self.desk()

        def write(target: Path, force: bool) -> None:
            form = format_of(target)
            assert form is not None

            def written(connection: duckdb.DuckDBPyConnection) -> str:
                names = tuple(chosen(connection, choice))
                scope = Scope(What(what), names, made, filter, desk())
                write_report(connection, scope, form, target, force=force)
                return f"Wrote {target}."

            def deliver(outcome: Outcome[str]) -> None:
                self.post_message(Exported(outcome))

            self._toast(f"Writing {target} {self._glyphs.ellipsis}")
            self.runner.ask("export", written, deliver)

        self.push_screen(ExportScreen(what, write))

    def on_exported(self, event: Exported) -> None:
        """Say what became of an export, or of an act on the quarantine list."""
        if isinstance(event.outcome, Result):
            self._toast(event.outcome.value)
            self._changed()
        else:
            self._said_of(event.outcome)

    def _tab(self) -> str:
        return self.screen.tab if isinstance(self.screen, BoardScreen) else "overview"

    # What is shown

    def choose(self, choice: Choice) -> None:
        """Answer for other experiments from now on."""
        self.choice = choice
        self._changed()

    def _changed(self) -> None:
        self._read_masthead()
        for screen in self._boards():
            if screen.is_mounted:
                screen.became_stale()

    def _read_masthead(self) -> None:
        choice = self.choice

        desk = self.desk()

        def read(connection: duckdb.DuckDBPyConnection) -> tuple[Summary, int]:
            found = summary(connection, chosen(connection, choice))
            return found, len(desk().list_now().listed(State.LAPSED))

        def deliver(outcome: Outcome[tuple[Summary, int]]) -> None:
            self.post_message(Headed(outcome))

        self.runner.ask("masthead", read, deliver)

    def on_headed(self, event: Headed) -> None:
        """Show what stands above every screen."""
        if isinstance(event.outcome, Result):
            found: Summary
            found, lapsed = event.outcome.value
            self.experiments = found.experiments
            self._head(newest=found.newest, void=found.void_passes, lapsed=lapsed)

    def _head(self, **changes: Any) -> None:
        self.masthead = replace(self.masthead, **changes)
        if isinstance(self.screen, BoardScreen):
            self.screen.refresh_frame()

    # Logs

    def read_logs(self) -> None:
        """Take what is new of the logs."""
        self.complaint = ""
        self.feed.read()

    def follow(self) -> None:
        """Take new lines as they come, or no more."""
        following = not self.masthead.following
        self.feed.follow(following)
        self._head(following=following)
        self._toast("New lines appear as they are written." if following else "Follows no more.")

    def on_fed(self, event: Fed) -> None:
        """What the process that reads logs says."""
        said: Event = event.event
        if isinstance(said, Reading):
            self._head(doing=said.words)
            return
        self.fed = True
        self._head(doing="")
        if isinstance(said, Refused):
            self.complaint = said.sentence
            self._toast(said.sentence)
            self._changed()
        elif isinstance(said, Ended):
            self._head(following=False)
            self._toast("The process that reads the logs has ended; r starts it again.")
        elif isinstance(said, Taken):
            for sentence in (*said.refused, *said.notices):
                self._toast(sentence)
            self.complaint = " ".join(said.refused)
            if said.changed or not self.experiments:
                self._changed()

    def _toast(self, text: str) -> None:
        if isinstance(self.screen, BoardScreen):
            self.screen.toast(text)

    # States

    def loading(self, holder: str, words: str = "") -> Notice:
        """What to say while nothing can be shown yet."""
        doing = words or self.masthead.doing
        if holder and not doing:
            return Notice(
                title="Waiting for the index.",
                text=(
                    f"It is being written by {holder}. Nothing is lost: the logs are the truth.",
                    "What is here appears as soon as that process is done.",
                ),
                hints=(("q", "quit; what that process does goes on"),),
            )
        return Notice(
            title=f"Reading {self._glyphs.ellipsis}",
            text=(doing,) if doing else (),
            hints=(("q", "quit; what was read stays"),) if doing else (),
        )

    def nothing_recorded(self, error: AnalysisError) -> Notice:
        """What to say where there is no record."""
        refused = (self.complaint,) if self.complaint else ()
        return Notice(
            title="Nothing recorded yet.",
            text=(
                *refused,
                "soakboard reads what a gate and its soaks leave behind. Start with:",
            ),
            hints=(
                ("tui demo", "see it work on sample data"),
                ("tui path/to/soak.jsonl", "look at logs of yours"),
                ("tui ingest path/to/soak.jsonl", "keep them in the index of `tui`"),
            ),
            detail="Without a red and a green canary no verdict can be trusted: "
            "the README says how to log them.",
            copy="tui demo",
        )


def _theme(palette: Palette) -> Theme:
    """The colours of what Textual draws itself: input, palette, scrollbars."""
    inks = palette.inks
    accent = inks[Ink.ACCENT] or ""
    return Theme(
        name=f"soakboard-{palette.name}",
        primary=accent,
        accent=accent,
        foreground=inks[Ink.TEXT],
        background=palette.base,
        surface=palette.panel,
        panel=palette.panel,
        warning=inks[Ink.HARNESS],
        error=inks[Ink.BROKEN],
        success=inks[Ink.STABLE],
        dark=palette.dark,
        variables={"block-cursor-text-style": "none", "input-cursor-background": accent},
    )
