"""What the dashboard knows and remembers, in frozen pieces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

SCREENS = ("overview", "stability", "tests", "evidence", "quarantine")


@dataclass(frozen=True)
class Masthead:
    """What stands above every screen. newest: of the records of the choice. void: logged passes
    that prove nothing. lapsed: quarantine entries. doing: what is being read from logs, in words.
    """

    newest: datetime | None = None
    void: int = 0
    lapsed: int = 0
    following: bool = False
    doing: str = ""


@dataclass(frozen=True)
class Ordering:
    """What a list shows and in which order. sort: a column, empty for the usual order."""

    filter: str = ""
    sort: str = ""
    reverse: bool = False


@dataclass(frozen=True)
class Start:
    """Where the dashboard opens: a screen, what its list shows, and a test whose detail to open."""

    screen: str = "overview"
    filter: str = ""
    test: str | None = None
