"""What parts of the dashboard tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.message import Message

from analysis.store.runner import Outcome
from tui.feed import Event


@dataclass
class Acted(Message):
    """Something that stands for an action was clicked."""

    act: str


@dataclass
class Arrived(Message):
    """What a slot asked for. serial: which of its requests this answers."""

    slot: str
    serial: int
    outcome: Outcome[Any]

    # The screen that asked gets it; no other is concerned.
    bubble = False


@dataclass
class Moved(Message):
    """The cursor of a list stands on another row."""

    list_id: str


@dataclass
class Opened(Message):
    """Enter, or a second click, on the row under the cursor of a list."""

    list_id: str


@dataclass
class Sorted(Message):
    """A header was clicked."""

    list_id: str
    column: str


@dataclass
class Wanted(Message):
    """A list needs rows that it does not hold."""

    list_id: str


@dataclass
class Fed(Message):
    """What the process that reads logs says."""

    event: Event


@dataclass
class Exported(Message):
    """What became of an export: a sentence, or why nothing was written."""

    outcome: Outcome[str]


@dataclass
class Drafted(Message):
    """What the contract of a test would be, or why it cannot be told."""

    outcome: Outcome[Any]


@dataclass
class Headed(Message):
    """What stands above every screen was read."""

    outcome: Outcome[Any]
