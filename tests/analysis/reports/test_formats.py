"""The same numbers in every format, whatever the names in the logs are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from documents import Page, counted, csv_rows, inline, markdown_tables
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st
from logs import Log, fails, passes, violates

from analysis.errors import BadInput
from analysis.queries.experiments import Choice, chosen
from analysis.queries.stability import patch_rows
from analysis.reports.content import What
from analysis.reports.export import Format
from analysis.reports.fitting import cut
from analysis.reports.harmless import safe
from analysis.reports.markdown import code, prose
from analysis.reports.wording import strip

from .conftest import Connected, Reported

PATCHES = "Patches, most flips first"
COMMAND = re.compile(r"^'?[=+\-@\t\r]")


def names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return chosen(connection, Choice(everything=True))


def exported(connection: duckdb.DuckDBPyConnection, reported: Reported) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(reported(connection, Format.JSON))
    return body


def test_every_format_has_the_same_counts_of_every_test(
    samples: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    expected = [
        (unit["experiment"], unit["patch_id"], unit["test_id"], *counted(unit))
        for unit in exported(samples, reported)["units"]
    ]
    assert len(expected) == 17
    page = Page(reported(samples, Format.HTML)).table("Tests")
    table = markdown_tables(reported(samples, Format.MARKDOWN))["Tests"]
    for rows in (page, table):
        assert [(*row[2:5], row[5], row[7]) for row in rows] == expected
    rows = csv_rows(reported(samples, Format.CSV, What.ATTRIBUTION))
    assert [
        (
            *(row[name] for name in ("experiment", "patch_id", "test_id")),
            *(f"{row[f'{side}_k']}/{row[f'{side}_n']}" for side in ("company", "alone")),
        )
        for row in rows
    ] == expected


def test_every_format_has_the_same_verdicts_of_every_patch(
    samples: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    patches = exported(samples, reported)["patches"]
    assert [(one["patch_id"], one["flips"], one["k"], one["n"]) for one in patches] == [
        (row.counts.patch_id, row.counts.flips, row.counts.k, row.counts.n)
        for row in patch_rows(samples, names(samples))
    ]
    expected = [
        [one["patch_id"], one["experiment"], str(one["flips"]), f"{one['k']}/{one['n']}"]
        for one in patches
    ]
    page = Page(reported(samples, Format.HTML)).table(PATCHES)
    table = markdown_tables(reported(samples, Format.MARKDOWN))[PATCHES]
    for rows in (page, table):
        assert [row[:4] for row in rows] == expected
        assert [row[5] for row in rows] == [strip(one["phases"]["soak"]) for one in patches]
    rows = csv_rows(reported(samples, Format.CSV, What.STABILITY))
    subjects = [row for row in rows if row["role"] == "subject"]
    assert [row["soak"] for row in subjects] == [one["phases"]["soak"] for one in patches]
    assert {row["role"] for row in rows} == {"subject", "red", "green"}


def test_classes_are_counted_alike(samples: duckdb.DuckDBPyConnection, reported: Reported) -> None:
    units = exported(samples, reported)["units"]
    table = markdown_tables(reported(samples, Format.MARKDOWN))["Tests by class"]
    shown = {row[0].split(" ", 1)[1]: int(row[1]) for row in table}
    assert sum(shown.values()) == len(units)
    assert {name: count for name, count in shown.items() if count} == {
        name: sum(unit["class"] == name for unit in units)
        for name in {unit["class"] for unit in units}
    }
    charts = re.findall(r"<svg.*?</svg>", reported(samples, Format.HTML), re.S)
    assert all(f">{count}" in charts[0] for count in shown.values())
    judged = [row for row in patch_rows(samples, names(samples)) if row.counts.n]
    assert len(charts) == 1 + len(judged)


def test_the_answer_stands_on_top_and_once(
    samples: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    for what, answer in (
        (What.ALL, "DO NOT TRUST"),
        (What.ATTRIBUTION, "1 OF 17 MAY BE QUARANTINED"),
        (What.STABILITY, "PATCHES FLIPPED"),
    ):
        text = reported(samples, Format.MARKDOWN, what)
        assert answer in text.splitlines()[2]
        assert text.count(answer) == 1
        page = Page(reported(samples, Format.HTML, what))
        assert page.text.count(answer) == 1


def test_a_filter_leaves_out_the_same_rows_everywhere_and_is_told(
    samples: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    body = json.loads(reported(samples, Format.JSON, What.ATTRIBUTION, "class:race"))
    (unit,) = body["units"]
    assert (unit["class"], body["filter"]) == ("patch race", "class:race")
    text = reported(samples, Format.MARKDOWN, What.ATTRIBUTION, "class:race")
    assert len(markdown_tables(text)["Tests"]) == 1
    assert 'Only rows that match "class:race"' in text
    (row,) = csv_rows(reported(samples, Format.CSV, What.ATTRIBUTION, "class:race"))
    assert row["test_id"] == unit["test_id"]


def test_a_csv_holds_one_table(samples: duckdb.DuckDBPyConnection, reported: Reported) -> None:
    with pytest.raises(BadInput, match="one table"):
        reported(samples, Format.CSV, What.ALL)


# --- names from hell ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def hell(connected: Connected, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Every bad name as experiment, patch and test, with a message of its own."""
    folder = tmp_path_factory.mktemp("hell")
    named = [name for name in HELL if name.strip()]
    for number, name in enumerate(named):
        log = Log(name).header(canaries=None)
        for outcome in (passes, fails, fails):
            test = outcome(name) if outcome is passes else fails(name, message=name)
            log = log.beside("red", "soak", [violates()]).beside("green", "soak", [passes()])
            log = log.beside("subject", "soak", [test], patch_id=name).later()
        (folder / f"{number}.jsonl").write_text(log.text, "utf-8")
    with connected(folder) as connection:
        yield connection


def bad_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return [
        test
        for (test,) in connection.execute("SELECT DISTINCT test_id FROM units").fetchall()
        if not test.startswith("tests/test_contract.py")
    ]


def test_json_gives_every_name_back(hell: duckdb.DuckDBPyConnection, reported: Reported) -> None:
    text = reported(hell, Format.JSON)
    assert text.isascii()
    assert {unit["test_id"] for unit in json.loads(text)["units"]} >= set(bad_names(hell))
    assert len(bad_names(hell)) > 15


def test_html_shows_every_name_and_obeys_none(
    hell: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    page = Page(reported(hell, Format.HTML))
    shown = [row[4] for row in page.table("Tests")]
    assert {cut(name, 500) for name in bad_names(hell)} <= set(shown)
    assert not {"script", "a", "img", "iframe", "object", "link"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"href", "src"} & set(attributes)
    assert safe(page.text.replace("\n", " ")) == page.text.replace("\n", " ")


def test_markdown_keeps_every_name_in_one_cell_and_obeys_none(
    hell: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    text = reported(hell, Format.MARKDOWN)
    rows = markdown_tables(text)["Tests"]
    assert {len(row) for row in rows} == {10}
    shown = {row[4].strip() for row in rows}
    assert {cut(name, 200).strip() for name in bad_names(hell)} <= shown
    tokens = inline(text)
    assert not [one for one in tokens if one.type in ("link_open", "image", "em_open")]
    assert {one.content for one in tokens if one.type == "html_inline"} <= {"<code>", "</code>"}
    plain = "".join(one.content for one in tokens if one.type != "code_inline")
    prose_only = re.sub("<code>.*?</code>", "", plain)
    assert not re.search(r"@\w|\w://", prose_only)


def test_no_cell_of_the_csv_is_a_formula(
    hell: duckdb.DuckDBPyConnection, reported: Reported
) -> None:
    for what in (What.ATTRIBUTION, What.STABILITY):
        rows = csv_rows(reported(hell, Format.CSV, what))
        assert rows
        for row in rows:
            for cell in row.values():
                assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
                assert safe(cell) == cell
    tests = {row["test_id"] for row in csv_rows(reported(hell, Format.CSV, What.ATTRIBUTION))}
    assert "'=cmd|' /C calc'!A0" in tests


@given(st.text(max_size=60))
def test_any_text_is_one_cell_of_a_table_and_reads_as_it_is(text: str) -> None:
    for written in (code(text), prose(text)):
        table = f"### T\n\n| a | b |\n| --- | --- |\n| {written} | x |\n"
        ((cell, other),) = markdown_tables(table)["T"]
        assert other == "x"
        assert cell.replace("\u200b", "").split() == safe(text).replace("\u200b", "").split()
        assert not [one for one in inline(table) if one.type in ("link_open", "em_open", "image")]


def test_a_log_of_nothing_but_a_verdict_is_a_report_too(
    connected: Connected, reported: Reported, tmp_path: Path
) -> None:
    path = tmp_path / "gate.jsonl"
    path.write_text('{"patch": "A", "verdict": "pass"}\n', "utf-8")
    with connected(path) as connection:
        page = Page(reported(connection, Format.HTML))
        assert page.table(PATCHES)[0][3] == "0/1"
        assert "CANNOT SAY YET" in page.text
        assert markdown_tables(reported(connection, Format.MARKDOWN))[PATCHES][0][3] == "0/1"
