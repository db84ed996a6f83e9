"""A window of a long list: filtered, sorted and cut by DuckDB.

The one place where SQL is put together. What is put together comes from a `Listing`, which is
code; what a person typed and where a row stands go in as parameters.

A page is found by the values of the row it stands on (keyset), never by a row number: rows that
come and go elsewhere do not move it, and the millionth row costs what the first one costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import duckdb

from analysis.queries.filters import Term, nothing_matches, parse, unsupported
from analysis.store import query

R = TypeVar("R")

_PARAMETER = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Mark:
    """Where a row stands. key names it; order: its values in the order `by` that it was read in."""

    key: tuple[Any, ...]
    order: tuple[Any, ...]
    by: tuple[str, ...]


@dataclass(frozen=True)
class PageRequest:
    """What to show of a listing.

    sort: a column of the listing, "" for its own order. reverse: against the natural direction.
    anchor: the row to stand on, or its neighbour when it is gone; None: the first row. at_end:
    the last row instead. size: at most so many rows on either side of that row.
    """

    filter: str = ""
    sort: str = ""
    reverse: bool = False
    anchor: Mark | None = None
    at_end: bool = False
    size: int = 300


@dataclass(frozen=True)
class Page(Generic[R]):
    """A window around the anchor. marks: parallel to rows.

    first: ordinal of rows[0] among the rows that the filter leaves, from 0. total: how many it
    leaves. everything: how many there are without it. at: ordinal of the row to stand on, 0 for
    none. hint: a sentence where the filter leaves nothing.
    """

    rows: tuple[R, ...]
    marks: tuple[Mark, ...]
    first: int
    total: int
    everything: int
    at: int
    hint: str = ""


@dataclass(frozen=True)
class Column:
    """What a list can be sorted by: an expression over its rows, and its natural direction."""

    sql: str
    descending: bool = False


@dataclass(frozen=True)
class Listing:
    """A list that can be paged.

    sql: a SELECT; the filter is asked of its rows. shown: a SELECT over `matching`, the rows
    that the filter leaves, for a list of groups. added: a SELECT over `cut`, the shown rows of one
    window, and `matching`, for what only they need; it gives the columns of `cut` first and one row
    for each. key: expressions over a shown row that name it. order: columns of the list's own
    order. fields, text: expressions over a row of `sql`, for `field:value` and for bare words.
    NULLs come last in either direction.
    """

    sql: str
    columns: Mapping[str, Column]
    key: tuple[str, ...]
    order: tuple[str, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    text: tuple[str, ...] = ()
    shown: str = "FROM matching"
    added: str = "FROM cut"


def page(
    connection: duckdb.DuckDBPyConnection,
    listing: Listing,
    parameters: query.Parameters,
    request: PageRequest,
    make: Callable[..., R],
) -> Page[R]:
    """The window of a listing that a request asks for.

    parameters: of the listing's SQL. make: gets the columns of a shown row, in their order.
    Raises KeyError for a sort that the listing does not have.
    """
    terms = parse(request.filter)
    refusal = unsupported(terms, listing.fields)
    reading = _Reading(
        connection,
        listing,
        parameters,
        _order(listing, request),
        _Condition("false") if refusal else _matches(terms, listing),
    )
    place = reading.place(request.anchor) if request.anchor and not request.at_end else None
    total, at = reading.count(place)
    everything = reading.whole().count(None)[0] if terms else total
    if request.at_end:
        after, before = [], reading.before(None, request.size + 1)
    else:
        after = reading.after(place, request.size + 1)
        before = reading.before(place, request.size) if place is not None else []
    if not after:
        at = max(total - 1, 0)
    found = [*reversed(before), *after]
    return Page(
        rows=tuple(make(*row[reading.width :]) for row in found),
        marks=tuple(reading.mark(row) for row in found),
        first=at - len(before) + (0 if after or not found else 1),
        total=total,
        everything=everything,
        at=at,
        hint="" if total or not terms else refusal or _hint(reading.whole(), terms),
    )


@dataclass(frozen=True)
class _Condition:
    """A condition in SQL and the values that it names."""

    sql: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _Reading:
    """A listing in one order under one filter."""

    connection: duckdb.DuckDBPyConnection
    listing: Listing
    parameters: query.Parameters
    order: Sequence[Column]
    filter: _Condition

    @property
    def width(self) -> int:
        """How many columns stand before those of the listing."""
        return len(self.order)

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(column.sql for column in self.order)

    def whole(self) -> _Reading:
        """The same without the filter."""
        return _Reading(
            self.connection, self.listing, self.parameters, self.order, _Condition("true")
        )

    def mark(self, row: Sequence[Any]) -> Mark:
        """Where a row that was read stands."""
        values = tuple(row[: self.width])
        return Mark(
            tuple(values[self.by.index(name)] for name in self.listing.key), values, self.by
        )

    def place(self, anchor: Mark) -> tuple[Any, ...] | None:
        """The values of the anchor in this order: as it stands now, or else as it stood."""
        for reading in (self, self.whole()):
            named = _names(anchor, self.listing)
            found = reading._rows(
                f"SELECT {', '.join(self.by)} FROM shown WHERE {named.sql}", named.values
            )
            if found:
                return found[0]
            if self.filter.sql == "true":
                break
        return anchor.order if anchor.by == self.by else None

    def count(self, place: Sequence[Any] | None) -> tuple[int, int]:
        """How many rows there are, and how many of them stand before a place."""
        if place is None:
            ((total,),) = self._rows("SELECT count(*) FROM shown", {})
            return int(total), 0
        ahead = _beyond(self.order, place, forward=False)
        ((total, at),) = self._rows(
            f"SELECT count(*), count(*) FILTER ({ahead.sql}) FROM shown", ahead.values
        )
        return int(total), int(at)

    def after(self, place: Sequence[Any] | None, size: int) -> list[tuple[Any, ...]]:
        """The row at a place and those after it, or the first."""
        where = None if place is None else _beyond(self.order, place, forward=True)
        return self._cut(where, size, forward=True)

    def before(self, place: Sequence[Any] | None, size: int) -> list[tuple[Any, ...]]:
        """The rows before a place, or the last ones; nearest first."""
        where = None if place is None else _beyond(self.order, place, forward=False)
        return self._cut(where, size, forward=False)

    def _cut(self, where: _Condition | None, size: int, *, forward: bool) -> list[tuple[Any, ...]]:
        marks = ", ".join(f"{sql} AS mark_{number}" for number, sql in enumerate(self.by))
        order = ", ".join(
            f"mark_{number} {'DESC' if column.descending == forward else 'ASC'} "
            f"NULLS {'LAST' if forward else 'FIRST'}"
            for number, column in enumerate(self.order)
        )
        where = where or _Condition("true")
        return self._rows(
            f"""
            , cut AS MATERIALIZED (
                SELECT {marks}, shown.* FROM shown WHERE {where.sql} ORDER BY {order} LIMIT $size
            )
            FROM ({self.listing.added}) ORDER BY {order}
            """,
            {**where.values, "size": size},
        )

    def matches(self, conditions: Sequence[_Condition]) -> tuple[int, ...]:
        """How many rows each condition leaves on its own."""
        counts = ", ".join(f"count(*) FILTER ({one.sql})" for one in conditions)
        values = {name: value for one in conditions for name, value in one.values.items()}
        (found,) = self._rows(f"SELECT {counts} FROM listed", values)
        return found

    def _rows(self, statement: str, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The answer to a statement over `listed`, `matching` and `shown`."""
        whole = f"""
            WITH listed AS ({self.listing.sql}),
            matching AS (SELECT * FROM listed WHERE {self.filter.sql}),
            shown AS ({self.listing.shown})
            {statement}
        """
        given = {**self.parameters, **self.filter.values, **values}
        # DuckDB refuses a parameter that the statement does not name.
        named = set(_PARAMETER.findall(whole))
        return query.rows(
            self.connection, whole, {name: given[name] for name in given if name in named}
        )


def _order(listing: Listing, request: PageRequest) -> list[Column]:
    """What rows are sorted by: the column asked for, the listing's own order, then the key."""
    first = [listing.columns[request.sort]] if request.sort else []
    own = [listing.columns[name] for name in listing.order]
    key = [Column(sql) for sql in listing.key]
    once: dict[str, Column] = {}
    for column in (*first, *own, *key):
        once.setdefault(column.sql, column)
    return [Column(column.sql, column.descending != request.reverse) for column in once.values()]


def _names(anchor: Mark, listing: Listing) -> _Condition:
    """Is this the row of that name?"""
    parts, values = [], {}
    for number, (sql, value) in enumerate(zip(listing.key, anchor.key, strict=True)):
        parts.append(f"{sql} IS NULL" if value is None else f"{sql} = $key_{number}")
        if value is not None:
            values[f"key_{number}"] = value
    return _Condition(" AND ".join(parts), values)


def _beyond(order: Sequence[Column], place: Sequence[Any], *, forward: bool) -> _Condition:
    """Does a row stand at a place or after it, or else before it?

    Comparing rows as a whole would not do: directions differ, and a NULL makes it unknown.
    """
    condition, values = ("true" if forward else "false"), {}
    for number, (column, value) in reversed(list(enumerate(zip(order, place, strict=True)))):
        name = f"place_{number}"
        if value is None:
            beyond = "false" if forward else f"{column.sql} IS NOT NULL"
            same = f"{column.sql} IS NULL"
        else:
            values[name] = value
            beyond = f"{column.sql} {'<' if column.descending == forward else '>'} ${name}"
            if forward:
                beyond += f" OR {column.sql} IS NULL"
            same = f"{column.sql} = ${name}"
        condition = f"({beyond} OR ({same} AND {condition}))"
    return _Condition(condition, values)


def _matches(terms: Sequence[Term], listing: Listing) -> _Condition:
    """Does a row match every term?"""
    parts = [_match(number, term, listing) for number, term in enumerate(terms)]
    return _Condition(
        " AND ".join(part.sql for part in parts) or "true",
        {name: value for part in parts for name, value in part.values.items()},
    )


def _match(number: int, term: Term, listing: Listing) -> _Condition:
    name = f"term_{number}"
    where = (listing.fields[term.field],) if term.field else listing.text
    # contains() and not LIKE: no sign of the text means anything but itself.
    form = "lower({0}) = lower(${1})" if term.whole else "contains(lower({0}), lower(${1}))"
    found = " OR ".join(form.format(sql, name) for sql in where) or "false"
    sql = f"coalesce({found}, false)"
    return _Condition(f"NOT {sql}" if term.excluded else sql, {name: term.value} if where else {})


def _hint(reading: _Reading, terms: Sequence[Term]) -> str:
    """Why a filter leaves nothing: a term that nothing matches, or all of them together."""
    counts = reading.matches(
        [_match(number, term, reading.listing) for number, term in enumerate(terms)]
    )
    for term, count in zip(terms, counts, strict=True):
        if not count:
            return nothing_matches(term)
    return "No row matches all of these words."
