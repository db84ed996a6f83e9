"""Every action with its keys and words: bindings, footer, help, palette and README come from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding, BindingType

from tui.glyphs import Glyphs


class Group(StrEnum):
    """Where an action stands in the help."""

    MOVE = "MOVE"
    DO = "DO"
    FIND = "FIND"
    TIME = "TIME"


@dataclass(frozen=True)
class Action:
    """name: `do_<name>` of a screen does it. keys: Textual's names of them. shown: as they are
    printed. words: in the footer. help: in the help and the README."""

    name: str
    keys: tuple[str, ...]
    shown: str
    words: str
    help: str
    group: Group

    def key(self, glyphs: Glyphs) -> str:
        """The key as the footer prints it."""
        return self.all_keys(glyphs).split()[0]

    def all_keys(self, glyphs: Glyphs) -> str:
        """The keys as the help prints them."""
        signs = {"↵": glyphs.enter, "→": glyphs.right, "←": glyphs.left}
        signs |= {"↑": glyphs.up, "↓": glyphs.down} if glyphs.ascii_only else {}
        return " ".join(signs.get(one, one) for one in self.shown.split())


ACTIONS: tuple[Action, ...] = (
    Action("overview", ("1",), "1", "overview", "can the gate be trusted?", Group.MOVE),
    Action("stability", ("2",), "2", "stability", "verdicts run by run", Group.MOVE),
    Action("tests", ("3",), "3", "tests", "whose fault is it?", Group.MOVE),
    Action("evidence", ("4",), "4", "evidence", "what proves nothing", Group.MOVE),
    Action("quarantine", ("5",), "5", "quarantine", "what is excused", Group.MOVE),
    Action("down", ("down", "j"), "j ↓", "down", "next row", Group.MOVE),
    Action("up", ("up", "k"), "k ↑", "up", "row before", Group.MOVE),
    Action("page_down", ("pagedown", "space"), "PgDn Space", "page", "page down", Group.MOVE),
    Action("page_up", ("pageup",), "PgUp", "page", "page up", Group.MOVE),
    Action("first", ("g", "home"), "g Home", "first", "first row", Group.MOVE),
    Action("last", ("G", "end"), "G End", "last", "last row", Group.MOVE),
    Action("panel", ("tab",), "Tab", "panel", "next panel", Group.MOVE),
    Action("panel_back", ("shift+tab",), "Shift+Tab", "panel", "panel before", Group.MOVE),
    Action("right", ("right",), "→", "runs", "into the runs; next one", Group.MOVE),
    Action("left", ("left",), "←", "back", "back out; the one before", Group.MOVE),
    Action("open", ("enter",), "↵", "open", "one step deeper", Group.DO),
    Action("back", ("escape",), "Esc", "back", "one step back, no quit", Group.DO),
    Action("copy", ("y",), "y", "copy", "copy id or command", Group.DO),
    Action("export", ("e",), "e", "export", "export what is shown", Group.DO),
    Action("freeze", ("Q",), "Q", "quarantine", "quarantine this test", Group.DO),
    Action("renew", ("R",), "R", "renew", "renew on new evidence", Group.DO),
    Action("unlock", ("U",), "U", "unlock", "unlock: the code moved", Group.DO),
    Action("release", ("L",), "L", "release", "release, proven clean", Group.DO),
    Action("note", ("N",), "N", "note", "write a note", Group.DO),
    Action("revoke", ("V",), "V", "revoke", "revoke: it was a race", Group.DO),
    Action("help", ("question_mark", "f1"), "? F1", "help", "this help", Group.DO),
    Action("quit", ("q",), "q", "quit", "quit", Group.DO),
    Action("filter", ("slash",), "/", "filter", "filter rows, live", Group.FIND),
    Action("sort", ("s",), "s", "sort", "sort by the next column", Group.FIND),
    Action("reverse", ("S",), "S", "reverse", "reverse the order", Group.FIND),
    Action("group", ("b",), "b", "group", "group rows otherwise", Group.FIND),
    Action("pick", ("x",), "x", "experiment", "choose the experiment", Group.FIND),
    Action("everything", ("a",), "a", "all", "every experiment at once", Group.FIND),
    Action("compare", ("c",), "c", "compare", "compare two experiments", Group.FIND),
    Action("palette", ("ctrl+p", "colon"), ": ctrl+p", "palette", "find an action", Group.FIND),
    Action("refresh", ("r",), "r", "refresh", "read new lines of logs", Group.TIME),
    Action("follow", ("f",), "f", "follow", "follow growing logs", Group.TIME),
    Action("times", ("t",), "t", "times", "ages or times in UTC", Group.TIME),
    Action("theme", ("T",), "T", "theme", "dark or light", Group.TIME),
)

BY_NAME = {action.name: action for action in ACTIONS}


def bindings() -> list[BindingType]:
    """A binding a key; each calls `action_act` with the name of its action.

    They are asked before the part that has the focus: a key that is typed right after another
    one must find what that one did.
    """
    return [
        Binding(key, f"act('{action.name}')", action.words, show=False, priority=True)
        for action in ACTIONS
        for key in action.keys
    ]
