"""The shape of test lines: which keys they have in which order, learned from one of them.

A test line is cut in two: a head, which many lines share word for word, and a tail, which
begins with the first key that says something of the one execution. A shape can parse tails and
write them down again. A tail that is written down exactly as it stands in the log was read
exactly: nothing in it was skipped, repeated or taken for another type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.records import plan

_KINDS: Mapping[str, str] = {
    "test_id": "word",
    "outcome": "word",
    "errno": "word",
    "exc": "text",
    "message": "text",
    "where": "text",
    "iteration": "whole",
    "started": "number",
    "finished": "number",
    "duration_s": "number",
    "before": "texts",
    "resources": "resources",
}
"""What the keys of one execution hold. Other keys belong to what lines have in common."""

_RESOURCE = ("kind", "id", "op")
_STYLES = ((", ", ": "), (",", ":"))
_FEWEST_WORD_BYTES = 4
_MOST_WORD_BYTES = 8


@dataclass(frozen=True)
class Key:
    """A key of a tail. kind: how its value is read and written; `name` is canonical, empty for
    a key that lines have in common. members: of resources, their keys in order. decimals: of a
    number that is written with trailing zeros, else -1."""

    key: str
    name: str
    kind: str
    members: tuple[str, ...] = ()
    decimals: int = -1


@dataclass(frozen=True)
class Shape:
    """keys: of a tail, in order. separators: between members, and between key and value."""

    keys: tuple[Key, ...]
    separators: tuple[str, str]

    @property
    def read(self) -> list[Key]:
        """The keys whose values `parsing` gives: all but those that are null in every line."""
        return [key for key in self.keys if key.kind != "null"]

    @property
    def structure(self) -> str:
        """What json_transform reads from a tail."""
        return json.dumps({key.key: self._type(key) for key in self.read})

    def _type(self, key: Key) -> object:
        match key.kind:
            case "word" | "text" | "moment":
                return "VARCHAR"
            case "whole":
                return "BIGINT"
            case "number":
                return "DOUBLE"
            case "texts":
                return ["VARCHAR"]
            case "resources":
                return [dict.fromkeys(key.members, "VARCHAR")]
            case _:
                return "JSON"

    def parsing(self, condition: str = "true") -> tuple[str, dict[str, str]]:
        """The statement that reads the table `tails` (`i`, `tail`): `i` and the values of the
        keys as c0, c1 …; and its parameters. Nothing of a log stands in a statement itself.

        Fails where a tail that meets the condition on `object` is no JSON.
        """
        columns = []
        for place, key in enumerate(self.read):
            cast = "::VARCHAR" if key.kind == "shared" else ""
            columns.append(f"struct_extract_at(j, {place + 1}){cast} AS c{place}")
        return (
            f"""SELECT i, {", ".join(columns)} FROM (
                SELECT i, json_transform(object, $structure) AS j
                FROM (SELECT i, '{{' || tail AS object FROM tails) WHERE {condition}
            )""",
            {"structure": self.structure},
        )

    def checking(self) -> tuple[str, dict[str, str]]:
        """The statement that says of each row of the table `parsed` (`tail` and the values c0,
        c1 …), in their order, whether it was read exactly; and its parameters."""
        texts: dict[str, str] = {}
        written = []
        between, after_key = self.separators
        place = 0
        for index, key in enumerate(self.keys):
            literal = json.dumps(key.key, ensure_ascii=False) + after_key
            if index:
                literal = between + literal
            if key.kind == "null":
                written.append(_parameter(texts, literal + "null"))
                continue
            written.append(_parameter(texts, literal))
            written.extend(_written(key, f"c{place}", texts, self.separators))
            place += 1
        written.append("'}'")
        return f"SELECT tail = concat({', '.join(written)}) AS exact FROM parsed", texts


def _parameter(texts: dict[str, str], text: str) -> str:
    name = f"t{len(texts)}"
    texts[name] = text
    return f"${name}"


def _written(
    key: Key, value: str, texts: dict[str, str], separators: tuple[str, str]
) -> Iterator[str]:
    """How a value is written in JSON, as arguments of concat(), which leaves out what is null.

    A word is written as it stands: what would need an escape comes out as another text.
    """
    match key.kind:
        case "word" | "moment":
            yield from ("'\"'", value, "'\"'")
        case "text":
            yield f"to_json({value})::VARCHAR"
        case "number" if key.decimals >= 0:
            yield f"format('{{:.{key.decimals}f}}', {value})"
        case "whole" | "number" | "shared":
            yield f"{value}::VARCHAR"
        case "texts":
            yield _listed(value, "to_json(x)::VARCHAR", texts, separators[0])
        case "resources":
            yield _listed(value, _resource(key, texts, separators), texts, separators[0])


def _listed(value: str, member: str, texts: dict[str, str], between: str) -> str:
    members = f"list_transform({value}, lambda x: {member})"
    joined = f"array_to_string({members}, {_parameter(texts, between)})"
    return f"CASE WHEN len({value}) = 0 THEN '[]' ELSE '[' || {joined} || ']' END"


def _resource(key: Key, texts: dict[str, str], separators: tuple[str, str]) -> str:
    between, after_key = separators
    pieces, good = [], []
    for index, member in enumerate(key.members):
        name = json.dumps(member) + after_key
        value = f"struct_extract_at(x, {index + 1})"
        pieces.append(_parameter(texts, ("{" if index == 0 else between) + name))
        pieces.append(f"to_json({value})::VARCHAR")
        good.append(f"{value} IN ('r', 'w')" if member == "op" else f"{value} <> ''")
    return f"CASE WHEN {' AND '.join(good)} THEN {' || '.join(pieces)} || '}}' END"


def cut(raw: bytes, item: Mapping[str, Any]) -> int:
    """Where the tail of a line begins that was parsed to `item`; -1 where it has none.

    The head before it, with a closing brace, is an object of the keys that stand before.
    """
    before: list[str] = []
    for key in item:
        if _name(key):
            break
        before.append(key)
    else:
        return -1
    word = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not before or len(word) < _FEWEST_WORD_BYTES:
        return -1
    at = raw.find(word)
    while at > 0:
        head = raw[:at].rstrip(b" ,") + b"}"
        try:
            found = json.loads(head)
        except ValueError:
            found = None
        if isinstance(found, dict) and list(found) == before:
            return at
        at = raw.find(word, at + 1)
    return -1


def word_at(raw: bytes, at: int) -> bytes:
    """The first bytes of a tail, by which other tails are found: its first key, or most of it."""
    return raw[at : min(at + _MOST_WORD_BYTES, raw.index(b'"', at + 1) + 1)]


def shape_of(tail: bytes) -> Shape | None:
    """The shape of the tail of a good line; None where it has none that can be read at once."""
    try:
        item: dict[str, Any] = json.loads(b"{" + tail, parse_float=_Written)
    except ValueError:
        return None
    fixed = {decimals for value in item.values() if (decimals := _decimals(value)) >= 0}
    found = [_key(key, value, fixed) for key, value in item.items()]
    keys = tuple(key for key in found if key is not None)
    names = [key.name for key in keys if key.name]
    # Fields of a structure have no case.
    different = len({key.casefold() for key in item}) == len(item)
    if len(keys) < len(item) or len(set(names)) < len(names) or not different:
        return None
    spaced = tail[len(json.dumps(keys[0].key)) :].startswith(b": ")
    return Shape(keys, _STYLES[0] if spaced else _STYLES[1])


def _name(key: str) -> str:
    slot = plan.TEST.slots.get(key)
    return slot.name if slot and slot.name in _KINDS else ""


class _Written(float):
    """A number that knows how it was written."""

    def __new__(cls, text: str) -> _Written:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def _decimals(value: object) -> int:
    """How many decimals a number was given that does not need them all; -1 for any other."""
    if not isinstance(value, _Written) or value.text == float.__repr__(value):
        return -1
    decimals = len(value.text.partition(".")[2])
    return decimals if value.text == f"{value:.{decimals}f}" else -1


def _key(key: str, value: Any, fixed: set[int]) -> Key | None:
    """None: its value is of a kind that has to be converted."""
    name = _name(key)
    if value is None:
        return Key(key, "", "null")
    kind = _KINDS[name] if name else "shared"
    if name in ("started", "finished") and isinstance(value, str):
        kind = "moment"
    elif kind == "number" and type(value) is int:
        kind = "whole"
    if kind == "number" and not isinstance(value, _Written):
        return None
    if kind == "number":
        # A writer that fills up with zeros does so for every number; not each ends in one.
        decimals = len(value.text.partition(".")[2])
        return Key(key, name, kind, decimals=decimals if decimals in fixed else -1)
    if kind != "resources":
        return Key(key, name, kind)
    first = value[0] if value else {}
    return Key(key, name, kind, tuple(first) if set(first) == set(_RESOURCE) else _RESOURCE)
