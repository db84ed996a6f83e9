"""Every key of the registry, on every screen: it does something, or says why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from dashboard import SAMPLES, index_of, opened, press, run, settled, text_of
from textual.pilot import Pilot

from tui.actions import ACTIONS, Action, bindings
from tui.app import Soakboard
from tui.screens.base import BoardScreen
from tui.state import SCREENS, Start
from tui.widgets.frame import Footer, ToastLine

TRIED = tuple(one for one in ACTIONS if one.name not in ("quit", "refresh"))
"""`quit` ends the app and `refresh` shows what is new: each has a test of its own."""

FIRST: Mapping[str, tuple[str, ...]] = {
    "up": ("down",),
    "first": ("G",),
    "page_up": ("G",),
    "panel_back": ("tab",),
    "left": ("right",),
}
"""Keys that are pressed first, so that there is somewhere to go."""

MAY_REST: Mapping[str, frozenset[str]] = {
    # Nothing to go back to at the top, the screen that is shown already.
    "back": frozenset(SCREENS),
    # Everything is chosen already.
    "everything": frozenset(SCREENS),
    # Everything fits on the screen.
    "page_down": frozenset({"overview"}),
    # A short list may be one page.
    "page_up": frozenset({"overview"}),
    **{name: frozenset({name}) for name in SCREENS},
}
"""Actions that may leave a screen as it is without a word."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logs = [SAMPLES / part for part in ("soak", "gate", "broken")]
    return index_of(tmp_path_factory.mktemp("keys"), *logs)


def state(app: Soakboard) -> tuple[object, ...]:
    """Everything that a key can change."""
    return (
        [type(one) for one in app.screen_stack],
        app.screen.name,
        text_of(app),
        app.theme,
        app.clipboard,
        app.focused,
    )


async def back_to(app: Soakboard, pilot: Pilot[int], tab: str) -> None:
    """The screen as it was at first, without a word on it."""
    while len(app.screen_stack) > 2:
        app.pop_screen()
    if app.screen.name != tab:
        app.go(tab)
    await settled(app, pilot)
    screen = app.screen
    assert isinstance(screen, BoardScreen)
    if screen.has_class("-filtering"):
        await press(app, pilot, "escape")
    screen.query_one(ToastLine)._hide()
    screen.focus_first()
    await settled(app, pilot)


async def tried(app: Soakboard, pilot: Pilot[int], tab: str, action: Action) -> None:
    """Press the first key of an action and look at what comes of it."""
    await back_to(app, pilot, tab)
    await press(app, pilot, *FIRST.get(action.name, ()))
    screen = app.screen
    assert isinstance(screen, BoardScreen)
    screen.query_one(ToastLine)._hide()
    await settled(app, pilot)
    reason, before = screen.why_not(action.name), state(app)
    await press(app, pilot, action.keys[0])
    if reason:
        said = screen.query_one(ToastLine).text
        assert said == reason, (tab, action.name)
        assert state(app)[0] == before[0]
        assert state(app)[3:5] == before[3:5]
    elif tab not in MAY_REST.get(action.name, ()):
        assert state(app) != before, (tab, action.name, "did nothing and said nothing")


@pytest.mark.parametrize("tab", SCREENS)
def test_every_key_does_something_or_says_why_not(index: Path, tab: str) -> None:
    async def test() -> None:
        async with opened(index, start=Start(tab)) as (app, pilot):
            for action in TRIED:
                await tried(app, pilot, tab, action)

    run(test())


def test_a_key_that_does_not_apply_stands_in_brackets_and_says_why(index: Path) -> None:
    async def test() -> None:
        async with opened(index, (120, 40), start=Start("tests")) as (app, pilot):
            await press(app, pilot, "c")
            footer = app.screen.query_one(Footer)
            assert "(a all of them)" in "".join(span.text for span in footer.lines_now()[0])
            await press(app, pilot, "a")
            said = app.screen.query_one(ToastLine).text
            assert said == "One experiment is compared with one other."

    run(test())


def test_q_quits_with_the_code_of_success(index: Path) -> None:
    async def test() -> None:
        async with opened(index) as (app, pilot):
            await pilot.press("q")
            await pilot.pause()
            assert app.return_value == 0

    run(test())


def test_esc_never_quits(index: Path) -> None:
    async def test() -> None:
        async with opened(index) as (app, pilot):
            await press(app, pilot, *["escape"] * 5)
            assert app.is_running
            assert app.return_value is None

    run(test())


def test_keys_are_text_while_a_filter_is_typed(index: Path) -> None:
    async def test() -> None:
        async with opened(index, start=Start("tests")) as (app, pilot):
            # Right after each other: none waits for what the one before did.
            await pilot.press("slash", *"qr1x")
            await settled(app, pilot)
            screen = app.screen
            assert isinstance(screen, BoardScreen)
            await pilot.pause(0.3)
            assert screen.name == "tests"
            assert screen.ordering().filter == "qr1x"
            await press(app, pilot, "escape", "escape")
            await pilot.pause(0.3)
            assert screen.ordering().filter == ""

    run(test())


def test_no_key_has_two_meanings_and_every_action_has_one() -> None:
    keys = Counter(key for action in ACTIONS for key in action.keys)
    assert [key for key, times in keys.items() if times > 1] == []
    assert all(action.keys and action.help and action.words for action in ACTIONS)
    assert len(bindings()) == len(keys)


def test_the_help_names_every_key_of_the_registry(index: Path) -> None:
    async def test() -> None:
        async with opened(index, (120, 50)) as (app, pilot):
            await press(app, pilot, "question_mark")
            shown = text_of(app)
            assert [one.name for one in ACTIONS if one.help not in shown] == []
            await press(app, pilot, "escape")
            assert isinstance(app.screen, BoardScreen)

    run(test())


def test_the_palette_finds_an_action_by_its_words(index: Path) -> None:
    async def test() -> None:
        async with opened(index) as (app, pilot):
            await press(app, pilot, "colon")
            await pilot.press(*"whose")
            await pilot.pause(0.5)
            await pilot.press("enter")
            await pilot.pause(0.2)
            await settled(app, pilot)
            assert app.screen.name == "tests"

    run(test())
