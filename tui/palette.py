"""The command palette: every action of the registry, found by typing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.actions import ACTIONS, Action
from tui.screens.base import BoardScreen

if TYPE_CHECKING:
    from collections.abc import Callable


class Actions(Provider):
    """Offers what applies on the screen beneath."""

    async def discover(self) -> Hits:
        for action in self._offered():
            yield DiscoveryHit(_title(action), self._doing(action), help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._offered():
            title = _title(action)
            score = matcher.match(f"{title} {action.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(title), self._doing(action), help=action.help)

    def _offered(self) -> list[Action]:
        screen = self.screen
        if not isinstance(screen, BoardScreen):
            return []
        return [one for one in ACTIONS if one.name != "palette" and not screen.why_not(one.name)]

    def _doing(self, action: Action) -> Callable[[], None]:
        return partial(cast("BoardScreen", self.screen).action_act, action.name)


def _title(action: Action) -> str:
    return f"{action.words} ({action.shown})"
