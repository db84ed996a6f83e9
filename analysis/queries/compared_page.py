"""The tests of a comparison as a list: filtered, sorted, with a place to stand on.

A comparison judges its tests together and holds them all, so that its list is cut from memory.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from analysis.model import UnitClass
from analysis.queries.compared import ComparedTest, Standing
from analysis.queries.difference import Change
from analysis.queries.filters import Term, nothing_matches, parse, unsupported
from analysis.queries.paging import Mark, Page, PageRequest

Key = tuple[str | int | float, ...]

_CHANGES = tuple(Change)
_CLASSES = tuple(UnitClass)

COLUMNS: Mapping[str, Callable[[ComparedTest], Key]] = MappingProxyType(
    {
        "change": lambda test: (_CHANGES.index(test.change),),
        "test": lambda test: (test.test_id,),
        "before": lambda test: _rank(test.before),
        "after": lambda test: _rank(test.after),
        "company": lambda test: (-_share(test, "company"),),
        "alone": lambda test: (-_share(test, "alone"),),
        "p": lambda test: (2.0 if test.p is None else test.p,),
    }
)
"""What the list can be sorted by, each in its natural direction."""

FIELDS: Mapping[str, Callable[[ComparedTest], Sequence[str]]] = MappingProxyType(
    {
        "class": lambda test: [side.unit_class for side in _sides(test)],
        "row": lambda test: [side.row for side in _sides(test)],
        "patch": lambda test: [side.patch_id for side in _sides(test)],
        "test": lambda test: [test.test_id, test.variant or ""],
    }
)
"""What `field:value` of a filter looks at. Words look at all of it, and at the change."""


def compared_page(tests: Sequence[ComparedTest], request: PageRequest) -> Page[ComparedTest]:
    """What a request asks for of the tests of a comparison, all of it in one window.

    Raises KeyError for a sort that the list does not have.
    """
    terms = parse(request.filter)
    refusal = unsupported(terms, FIELDS)
    found = [] if refusal else [test for test in tests if all(_fits(test, one) for one in terms)]
    if request.sort:
        found.sort(key=COLUMNS[request.sort])
    if request.reverse:
        found.reverse()
    marks = tuple(Mark(_name(test), (), ()) for test in found)
    return Page(
        rows=tuple(found),
        marks=marks,
        first=0,
        total=len(found),
        everything=len(tests),
        at=_at(marks, request),
        hint="" if found or not terms else refusal or _hint(tests, terms),
    )


def comparing(before: str, after: str) -> str | None:
    """The command that prints the comparison, to be pasted into a shell; None where a name holds
    a control character, which a terminal would obey."""
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in before + after):
        return None
    return " ".join(map(shlex.quote, ("tui", "compare", "--", before, after)))


def _name(test: ComparedTest) -> tuple[str | None, ...]:
    sides = (test.before, test.after)
    patches = (None if side is None else side.patch_id for side in sides)
    return (test.test_id, test.variant, *patches)


def _at(marks: Sequence[Mark], request: PageRequest) -> int:
    if request.at_end:
        return max(0, len(marks) - 1)
    keys = [mark.key for mark in marks]
    anchor = request.anchor
    return keys.index(anchor.key) if anchor is not None and anchor.key in keys else 0


def _sides(test: ComparedTest) -> list[Standing]:
    return [side for side in (test.before, test.after) if side is not None]


def _rank(side: Standing | None) -> Key:
    """By class, then most failures; a test that is not there comes last."""
    if side is None:
        return (len(_CLASSES),)
    return (_CLASSES.index(side.unit_class), -side.failures)


def _share(test: ComparedTest, group: str) -> float:
    """The higher of the rates before and after."""
    counts = [side.company if group == "company" else side.alone for side in _sides(test)]
    return max((k / n for k, n in counts if n), default=-1.0)


def _fits(test: ComparedTest, term: Term) -> bool:
    looks = [FIELDS[term.field]] if term.field else list(FIELDS.values())
    texts = [text for look in looks for text in look(test)]
    if not term.field:
        texts.append(test.change)
    value = term.value.lower()
    return any(value in text.lower() for text in texts) != term.excluded


def _hint(tests: Sequence[ComparedTest], terms: Sequence[Term]) -> str:
    for term in terms:
        if not any(_fits(test, term) for test in tests):
            return nothing_matches(term)
    return "No row matches all of these words."
