"""Pages of a list: every row once, in one order, whatever is sorted, filtered or gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import Any, NamedTuple

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.queries.paging import Column, Listing, Mark, Page, PageRequest, page
from analysis.store import query

LIST = Listing(
    sql="SELECT name, part, size, share FROM things WHERE size IS NULL OR size < $limit",
    columns={
        "name": Column("name"),
        "size": Column("size", descending=True),
        "share": Column("share"),
    },
    key=("name", "part"),
    order=("size", "share"),
    fields={"patch": "name", "test": "part"},
    text=("name", "part"),
)
GROUPS = Listing(
    sql=LIST.sql,
    columns={"name": Column("name"), "total": Column("total", descending=True)},
    key=("name",),
    order=("total",),
    fields=LIST.fields,
    text=LIST.text,
    shown="SELECT name, sum(size)::BIGINT AS total, count(*) AS parts FROM matching GROUP BY name",
)
LIMIT = {"limit": 1000}


class Thing(NamedTuple):
    name: str
    part: str | None
    size: int | None
    share: float | None


names = st.text(st.sampled_from("aB\u00e9\u4e2d\U0001f600[\x00'"), max_size=2)
things = st.lists(
    st.builds(
        Thing,
        names,
        st.none() | names,
        st.none() | st.integers(-1, 2),
        st.none() | st.sampled_from([0.0, 0.1, 2.5]),
    ),
    max_size=30,
    unique_by=lambda thing: (thing.name, thing.part),
)
sorts = st.tuples(st.sampled_from(["", "name", "size", "share"]), st.booleans())


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute(
            "CREATE TABLE things (name VARCHAR, part VARCHAR, size BIGINT, share DOUBLE)"
        )
        yield opened


def fill(connection: duckdb.DuckDBPyConnection, rows: Sequence[Thing]) -> None:
    query.write(connection, "DELETE FROM things")
    for row in rows:
        query.write(
            connection,
            "INSERT INTO things VALUES ($a, $b, $c, $d)",
            dict(zip("abcd", row, strict=True)),
        )


def remove(connection: duckdb.DuckDBPyConnection, row: Thing) -> None:
    query.write(
        connection,
        "DELETE FROM things WHERE name = $name AND part IS NOT DISTINCT FROM $part",
        {"name": row.name, "part": row.part},
    )


def read(connection: duckdb.DuckDBPyConnection, request: PageRequest) -> Page[Thing]:
    return page(connection, LIST, LIMIT, request, Thing)


def compared(request: PageRequest) -> Any:
    """The order of a request as Python sorts: NULL last, the key at the end."""
    natural = {"name": False, "part": False, "size": True, "share": False}
    columns = dict.fromkeys(
        [*([request.sort] if request.sort else []), "size", "share", "name", "part"]
    )

    def compare(one: Thing, other: Thing) -> int:
        for column in columns:
            a, b = getattr(one, column), getattr(other, column)
            if a == b:
                continue
            if a is None or b is None:
                return 1 if a is None else -1
            sign = 1 if a > b else -1
            return -sign if natural[column] != request.reverse else sign
        return 0

    return cmp_to_key(compare)


@given(things, sorts, st.integers(1, 4))
def test_walking_down_and_up_gives_every_row_once_in_the_order_of_pythons_sort(
    connection: duckdb.DuckDBPyConnection, rows: list[Thing], sort: tuple[str, bool], size: int
) -> None:
    fill(connection, rows)
    request = PageRequest(sort=sort[0], reverse=sort[1], size=size)
    expected = sorted(rows, key=compared(request))

    seen: list[Thing] = []
    at = read(connection, request)
    while at.rows:
        assert at.total == at.everything == len(rows)
        assert list(at.rows) == expected[at.first : at.first + len(at.rows)]
        assert at.first <= at.at < at.first + len(at.rows)
        fresh = at.rows[len(seen) - at.first :]
        if not fresh:
            break
        seen += fresh
        at = read(connection, replace(request, anchor=at.marks[-1]))
        assert at.at == len(seen) - 1
    assert seen == expected

    seen = []
    at = read(connection, replace(request, at_end=True))
    while at.rows and at.first + len(seen) < len(rows) + len(seen):
        assert at.at == (len(rows) - 1 if not seen else len(rows) - len(seen))
        upper = at.rows[: len(rows) - len(seen) - at.first]
        seen = [*upper, *seen]
        if at.first == 0:
            break
        at = read(connection, replace(request, anchor=at.marks[0]))
    assert seen == expected


@given(things, sorts, st.data())
def test_a_walk_past_rows_that_vanish_gives_the_others_once(
    connection: duckdb.DuckDBPyConnection,
    rows: list[Thing],
    sort: tuple[str, bool],
    data: st.DataObject,
) -> None:
    fill(connection, rows)
    request = PageRequest(sort=sort[0], reverse=sort[1], size=2)
    left = sorted(rows, key=compared(request))
    seen: list[Thing] = []
    at = read(connection, request)
    while at.rows:
        beyond = [row for row in at.rows[at.at - at.first :] if row not in seen]
        if not beyond:
            break
        seen += beyond
        last = at.marks[at.rows.index(beyond[-1])]
        gone = data.draw(st.lists(st.sampled_from(left), max_size=2, unique=True))
        for row in gone:
            remove(connection, row)
            left.remove(row)
        if not left:
            break
        at = read(connection, replace(request, anchor=last))
        assert list(at.rows) == left[at.first : at.first + len(at.rows)]
        assert at.total == len(left)
    assert len(seen) == len(set(seen))
    assert seen == sorted(seen, key=compared(request))
    assert set(left) <= set(seen)


@given(things, sorts, sorts, st.data())
def test_a_row_is_found_again_after_another_sort(
    connection: duckdb.DuckDBPyConnection,
    rows: list[Thing],
    sort: tuple[str, bool],
    other: tuple[str, bool],
    data: st.DataObject,
) -> None:
    fill(connection, rows)
    whole = read(connection, PageRequest(sort=sort[0], reverse=sort[1]))
    if not whole.rows:
        return
    number = data.draw(st.integers(0, len(rows) - 1))
    request = PageRequest(sort=other[0], reverse=other[1], anchor=whole.marks[number], size=2)
    at = read(connection, request)
    assert at.rows[at.at - at.first] == whole.rows[number]
    assert at.at == sorted(rows, key=compared(request)).index(whole.rows[number])


FOUR = [Thing(name, None, size, None) for name, size in zip("abcd", (4, 3, 2, 1), strict=True)]


def mark_of(connection: duckdb.DuckDBPyConnection, name: str) -> Mark:
    whole = read(connection, PageRequest())
    return whole.marks[[row.name for row in whole.rows].index(name)]


def test_the_neighbour_stands_in_for_a_row_that_is_gone(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    fill(connection, FOUR)
    second, last = mark_of(connection, "b"), mark_of(connection, "d")
    remove(connection, FOUR[1])
    remove(connection, FOUR[3])
    at = read(connection, PageRequest(anchor=second))
    assert (at.rows[at.at].name, at.at) == ("c", 1)
    at = read(connection, PageRequest(anchor=last, size=1))
    assert ([row.name for row in at.rows], at.first, at.at) == (["c"], 1, 1)
    # In another order nobody knows where it would stand.
    assert read(connection, PageRequest(anchor=second, sort="name")).at == 0


def test_a_row_that_moved_is_followed(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, FOUR)
    mark = mark_of(connection, "a")
    query.write(connection, "UPDATE things SET size = 0 WHERE name = 'a'")
    at = read(connection, PageRequest(anchor=mark))
    assert (at.rows[at.at].name, at.at) == ("a", 3)


def test_a_row_that_the_filter_leaves_out_has_a_neighbour(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    fill(connection, FOUR)
    at = read(connection, PageRequest(anchor=mark_of(connection, "b"), filter="-b"))
    assert (at.rows[at.at].name, at.at, at.total, at.everything) == ("c", 1, 3, 4)


def test_a_filter_is_asked_of_the_rows_behind_a_group(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    fill(connection, [Thing("a", "x", 1, None), Thing("a", "y", 2, None), Thing("b", "y", 5, None)])
    whole = page(connection, GROUPS, LIMIT, PageRequest(), lambda *row: row)
    assert whole.rows == (("b", 5, 1), ("a", 3, 2))
    narrow = page(connection, GROUPS, LIMIT, PageRequest(filter="test:x"), lambda *row: row)
    assert (narrow.rows, narrow.total, narrow.everything) == ((("a", 1, 1),), 1, 2)
    back = page(connection, GROUPS, LIMIT, PageRequest(anchor=narrow.marks[0]), lambda *row: row)
    assert back.at == 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", ["A_b", "a%b", "naïve", "x[$accent]"]),
        ("a", ["A_b", "a%b", "naïve", "x[$accent]"]),
        ("A_", ["A_b"]),
        ("a%", ["a%b"]),
        ("-%", ["A_b", "naïve", "x[$accent]"]),
        ("a -b", ["naïve", "x[$accent]"]),
        ("NAÏVE", ["naïve"]),
        ('"[$accent]"', ["x[$accent]"]),
        ("patch:accent", ["x[$accent]"]),
        ("patch:=accent", []),
        ("patch:=NAÏVE", ["naïve"]),
        ('test:="the second"', ["a%b"]),
        ("-patch:=a_b", ["a%b", "naïve", "x[$accent]"]),
        ("test:second", ["a%b"]),
        ("-test:second", ["A_b", "naïve", "x[$accent]"]),
        ("'; DROP TABLE things; --", []),
        ("class:race", []),
        ("\x00", []),
        ("\udcff", []),
    ],
)
def test_a_filter_means_what_it_says_and_nothing_else(
    connection: duckdb.DuckDBPyConnection, text: str, left: list[str]
) -> None:
    fill(
        connection,
        [
            Thing("A_b", None, 1, None),
            Thing("a%b", "the second", 1, None),
            Thing("naïve", None, 1, None),
            Thing("x[$accent]", None, 1, None),
        ],
    )
    found = read(connection, PageRequest(filter=text))
    assert sorted(row.name for row in found.rows) == left
    assert (found.total, found.everything) == (len(left), 4)
    assert bool(found.hint) == (not left)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("patch:zz", "Nothing matches patch:zz."),
        ("a pathc:a", "Nothing matches pathc:a. Did you mean patch:a?"),
        ("patch:a patch:b", "No row matches all of these words."),
        ("owner:mara", "This list has no owner:. It has patch: test:"),
    ],
)
def test_a_filter_that_leaves_nothing_says_why(
    connection: duckdb.DuckDBPyConnection, text: str, hint: str
) -> None:
    fill(connection, FOUR)
    assert read(connection, PageRequest(filter=text)).hint == hint


def test_the_last_of_nothing_is_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, [])
    for request in (PageRequest(), PageRequest(at_end=True)):
        assert read(connection, request) == Page((), (), 0, 0, 0, 0)
