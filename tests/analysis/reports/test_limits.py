"""What has no room is left out, worst first stays, and the report says so."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from documents import Page, markdown_tables
from hypothesis import given
from hypothesis import strategies as st
from logs import Log

from analysis.reports import html, markdown
from analysis.reports.compose import MOST_ROWS
from analysis.reports.content import Scope, What
from analysis.reports.document import Column, Table
from analysis.reports.export import Format, write
from analysis.reports.fitting import cut, fitting
from analysis.reports.wording import SHOWN_RUNS, strip
from analysis.store import query

from .conftest import MADE, Connected, Reported

MANY = 100_000


@pytest.fixture(scope="module")
def many(
    connected: Connected, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An index with 100,000 tests, each of a long name."""
    log = Log().header().soak(6, failing=(2, 3)).write(tmp_path_factory.mktemp("many"))
    with connected(log) as connection:
        query.write(
            connection,
            """INSERT INTO units
            SELECT u.experiment, u.patch_id, 'tests/a/very/long/path/to/test_module_' || i % 977
                || '.py::TestSomething::test_case[' || i || '-<&>|`*_]', u.variant, u.judgement
            FROM units u, range($many) t(i) WHERE u.test_id LIKE '%test_total'""",
            {"many": MANY - 2},
        )
        yield connection


def test_a_page_of_100_000_tests_is_under_2_mb_and_says_what_it_leaves_out(
    many: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    text = reported(many, Format.HTML)
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    shown = len(page.table("Tests"))
    assert 1_000 < shown <= MOST_ROWS
    assert f"The first {shown:,} of 100,000 rows, {MANY - shown:,} are left out" in page.text
    assert "100,000 MAY BE QUARANTINED" in page.text


def test_a_comment_of_100_000_tests_is_under_its_limit_and_says_what_it_leaves_out(
    many: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    text = reported(many, Format.MARKDOWN)
    assert len(text.encode()) <= markdown.MOST_BYTES
    shown = len(markdown_tables(text)["Tests"])
    assert shown > 50
    assert f"The first {shown:,} of 100,000 rows, {MANY - shown:,} are left out" in text


def test_a_report_that_fits_leaves_nothing_out(
    samples: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    for form in (Format.HTML, Format.MARKDOWN):
        assert "left out" not in reported(samples, form)


def table(*rows: str) -> Table:
    return Table("", (Column(""),), tuple((row,) for row in rows), len(rows))


def first_cells(given: Table) -> list[str]:
    return [row[0] for row in given.rows]


@given(st.lists(st.lists(st.text(max_size=20), max_size=20), max_size=5), st.integers(-10, 500))
def test_what_is_kept_fits_and_is_the_beginning(lists: list[list[str]], room: int) -> None:
    kept = fitting([table(*rows) for rows in lists], first_cells, room)
    assert sum(len(row.encode()) + 1 for rows in kept for row in rows) <= max(room, 0)
    for rows, whole in zip(kept, lists, strict=True):
        assert rows == whole[: len(rows)]


def test_a_short_table_leaves_its_room_to_a_long_one_wherever_it_stands() -> None:
    long, short = fitting([table(*["b" * 9] * 100), table("a")], first_cells, 102)
    assert (len(long), len(short)) == (10, 1)


@given(st.text(), st.integers(3, 40))
def test_a_long_name_loses_its_middle_and_shows_that(text: str, most: int) -> None:
    shown = cut(text, most)
    assert len(shown) <= most
    whole = cut(text, 10**6)
    assert shown == whole or ("…" in shown and whole.endswith(shown[-1]))


def test_of_many_runs_the_newest_are_shown_and_all_are_counted() -> None:
    assert strip("pf" * 30) == "·✗" * 30
    told = strip("p" * 1_000 + "f" * SHOWN_RUNS)
    assert told == f"…{'✗' * SHOWN_RUNS} (last {SHOWN_RUNS} of 1,060)"
    assert strip("") == ""


class Pieces(io.StringIO):
    """A stream that knows the longest text that it was given at once."""

    longest = 0

    def write(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        return super().write(text)


@pytest.mark.parametrize("form", [Format.JSON, Format.CSV])
def test_what_has_all_rows_is_written_row_by_row(
    many: duckdb.DuckDBPyConnection, form: Format
) -> None:
    stream = Pieces()
    write(many, Scope(What.ATTRIBUTION, ("soak",), MADE), form, stream)
    text = stream.getvalue()
    assert stream.longest < 10_000 < len(text)
    if form is Format.JSON:
        assert len(json.loads(text)["units"]) == MANY
    else:
        assert text.count("\n") == MANY + 1


def test_the_limits_leave_room_for_what_is_not_a_table() -> None:
    style = Path(html.__file__).with_name("page.css").read_text("utf-8")
    assert len(style) < 10_000
    assert not re.search(r"url\(|@import", style)
