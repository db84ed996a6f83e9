"""What a person types to leave rows out: words, fields, exclusions.

Words are separated by blanks and every one must match somewhere in a row. `-word` excludes,
`"two words"` stay together (`""` is a quote in them), `field:value` looks in one field and
`field:=value` for the whole of it. Case is ignored. A word with a
colon whose beginning is no field, such as test_x.py::test_y, is a word like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from analysis.model import UnitClass

FIELDS = ("class", "row", "patch", "test", "soak", "file", "owner", "rule", "signature")

# The word that tells a class from every other.
_TELLING = {
    UnitClass.INVALID: "invalid",
    UnitClass.BROKEN: "broken",
    UnitClass.HARNESS: "harness",
    UnitClass.CONSISTENT: "consistent",
    UnitClass.RACE: "race",
    UnitClass.INSUFFICIENT: "insufficient",
    UnitClass.FLAKE: "flake",
    UnitClass.STABLE: "stable",
}

# A quote that is still open reaches to the end: the text is read while it is typed.
_TERM = re.compile(
    rf"""(?ix)
    (?P<minus>-?)
    (?:(?P<field>{"|".join(FIELDS)}):(?P<whole>=?))?
    (?: "(?P<quoted>(?:[^"]|"")*)(?:"|\Z) | (?P<word>\S*) )
    """
)


@dataclass(frozen=True)
class Term:
    """One condition. typed: as it stands in the filter; field: "" for a word that may stand
    anywhere; value: never empty; excluded: rows that have it are left out; whole: the field is
    the value and does not only contain it."""

    typed: str
    field: str
    value: str
    excluded: bool
    whole: bool = False


def parse(text: str) -> tuple[Term, ...]:
    """The terms of a filter, in order. One without a value (`class:`, `-`) is not there yet."""
    # What is no character cannot be in the index, and cannot be asked for either.
    text = text.encode("utf-8", "replace").decode()
    found = []
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            at += 1
            continue
        at = match.end()
        quoted = match["quoted"]
        value = match["word"] if quoted is None else quoted.replace('""', '"')
        if value:
            field = (match["field"] or "").lower()
            found.append(Term(match[0], field, value, match["minus"] == "-", match["whole"] == "="))
    return tuple(found)


def exactly(field: str, value: str) -> str:
    """The filter that leaves the rows of which a field is a value."""
    doubled = value.replace('"', '""')
    return f'{field}:="{doubled}"'


def complete(text: str, fields: Collection[str]) -> tuple[str, ...]:
    """What the last word of a filter may become: the whole text, a field or a class completed.

    fields: those that the list has. Empty where nothing begins so.
    """
    head, minus, word = _last_word(text)
    name, colon, value = word.partition(":")
    if not colon:
        ends = [f"{field}:" for field in FIELDS if field in fields and _begins(field, word)]
        return tuple(f"{head}{minus}{end}" for end in ends if word)
    if name.lower() != "class" or "class" not in fields:
        return ()
    return tuple(
        f"{head}{minus}{name}:{end}" for end in _class_words(value) if end.lower() != value.lower()
    )


def unsupported(terms: Iterable[Term], fields: Collection[str]) -> str:
    """A sentence about the first term whose field the list does not have; "" if it has all."""
    for term in terms:
        if term.field and term.field not in fields:
            known = " ".join(f"{field}:" for field in FIELDS if field in fields)
            return f"This list has no {term.field}:. " + (
                f"It has {known}" if known else "It has words only."
            )
    return ""


def nothing_matches(term: Term) -> str:
    """What to say of a term that no row matches, with what may have been meant."""
    meant = _meant(term)
    sentence = f"Nothing matches {term.typed}."
    return f"{sentence} Did you mean {meant}?" if meant else sentence


def _last_word(text: str) -> tuple[str, str, str]:
    """What stands before the last word, its minus, and itself."""
    start = max((at + 1 for at, sign in enumerate(text) if sign.isspace()), default=0)
    word = text[start:]
    minus = "-" if word.startswith("-") else ""
    return text[:start], minus, word[len(minus) :]


def _begins(whole: str, typed: str) -> bool:
    return whole.startswith(typed.lower())


def _class_words(typed: str) -> list[str]:
    """For each class that has a word beginning so: that word. All classes for ""."""
    if not typed:
        return list(_TELLING.values())
    found = [
        next((word for word in one.value.split() if _begins(word, typed)), None)
        for one in UnitClass
    ]
    return list(dict.fromkeys(word for word in found if word is not None))


def _meant(term: Term) -> str:
    minus = "-" if term.excluded else ""
    if term.field == "class":
        words = [word for one in UnitClass for word in one.value.split()]
        near = get_close_matches(term.value.lower(), words, n=1)
        return f"{minus}class:{near[0]}" if near else ""
    name, colon, value = term.value.partition(":")
    near = (
        get_close_matches(name.lower(), FIELDS, n=1) if colon and value and not term.field else []
    )
    return f"{minus}{near[0]}:{value}" if near else ""
