"""What can be done to a quarantine entry from its screen: what is asked, and what is done then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import duckdb

from analysis.errors import BadInput
from analysis.quarantine.desk import Asked, Desk
from analysis.quarantine.replay import Entry, State
from analysis.quarantine.touch import git_diff, read_diff
from tui.lines import Line, bold, line, wrapped
from tui.look import Look
from tui.screens.form import Field

_LIFE = re.compile(r"(\d+(?:\.\d+)?)\s*(m|h|d)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}

Do = Callable[[duckdb.DuckDBPyConnection, Desk, Mapping[str, str]], str]
"""Does it, and says in a sentence what was done."""


@dataclass(frozen=True)
class Act:
    """title, intro, fields: of the box that asks. do: gets what was typed."""

    title: str
    intro: Callable[[int, Look], Sequence[Line]]
    fields: tuple[Field, ...]
    do: Do


def life(text: str) -> timedelta:
    """A length of time: `24h`, `3d`. BadInput for anything else."""
    found = _LIFE.fullmatch(text.strip())
    if found is None:
        raise BadInput(f"{text!r} is no length of time, such as 24h or 3d.")
    return timedelta(**{_UNITS[found[2]]: float(found[1])})


def acts_for(entry: Entry | None) -> dict[str, str]:
    """The acts by name, with why one does not apply to an entry; empty if it does."""
    if entry is None:
        return dict.fromkeys(("renew", "unlock", "release", "note", "revoke"), "")
    excusing = entry.state in (State.ACTIVE, State.LAPSED)
    return {
        "renew": "" if excusing else f"It is {entry.state}: quarantine it anew instead.",
        "unlock": "" if excusing else f"It is {entry.state} already.",
        "release": ""
        if entry.state is State.UNLOCKED
        else "Only what a diff unlocked can be released; U unlocks.",
        "note": "",
        "revoke": "",
    }


def act_on(name: str, entry: Entry) -> Act:
    """What is asked for an act on an entry."""
    test, variant = entry.test_id, entry.variant

    def intro(words: str) -> Callable[[int, Look], Sequence[Line]]:
        return lambda width, look: [
            line(bold(look.test(test, width))),
            *wrapped(words, width),
        ]

    def renew(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        asked = Asked(
            test, variant=variant, life=life(given["life"]), approved_by=given["approved_by"]
        )
        event = desk.renew(connection, asked)
        return f"Renewed {test} until {event.fields['expires_at']}."

    def unlock(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        diff = git_diff(desk.path.resolve().parent, given["base"], given["head"])
        written = desk.unlock(read_diff(diff), {})
        mine = [only for event, only in written if event.test_id == test]
        if not mine:
            return f"That diff does not touch {test}: it stays as it is."
        return f"Unlocked {test}." + (" The diff only waits longer." if mine[0] else "")

    def release(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        desk.release(connection, test, variant)
        return f"Released {test}."

    def note(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        desk.note(test, variant, given["text"])
        return f"Noted on {test}."

    def revoke(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        desk.revoke(test, variant, given["reason"])
        return f"Revoked {test}: it blocks again."

    second = entry.renewals >= 1
    acts = {
        "renew": Act(
            "Renew, on newer stress evidence",
            intro("It needs stress evidence newer than the last, of the same size or larger."),
            (
                Field("life", "For", "24h"),
                Field("approved_by", "Approved by", needed=second),
            ),
            renew,
        ),
        "unlock": Act(
            "Unlock: the code moved",
            intro("If the diff between two revisions touches the test or its fixtures."),
            (Field("base", "Base", "HEAD~1"), Field("head", "Head", "HEAD")),
            unlock,
        ),
        "release": Act(
            "Release: proven clean",
            intro("Released once it ran clean often enough, alone, since the code moved."),
            (Field("sure", "Enter", "release it", needed=False),),
            release,
        ),
        "note": Act(
            "Note",
            intro("A disagreement, an agreement, a link. It changes nothing."),
            (Field("text", "Text"),),
            note,
        ),
        "revoke": Act(
            "Revoke: it should never have been listed",
            intro("A race or an infrastructure bug. The test blocks again at once."),
            (Field("reason", "Reason"),),
            revoke,
        ),
    }
    return acts[name]
