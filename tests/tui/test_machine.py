"""Machine output holds nothing that a terminal, a spreadsheet or a JSON reader trips over."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.machine import print_csv, print_json

CELLS = st.one_of(st.none(), st.integers(), st.text(), st.binary())


def test_a_document_names_its_schema_first(capsys: pytest.CaptureFixture[str]) -> None:
    print_json("check", {"ok": True, "at": dt.datetime(2026, 3, 1, tzinfo=dt.UTC), "raw": b"\xff"})
    body: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert next(iter(body)) == "schema"
    assert body == {
        "schema": "soakboard.check/1",
        "ok": True,
        "at": "2026-03-01T00:00:00+00:00",
        "raw": "\\xff",
    }


@given(st.text())
def test_json_is_ascii_and_gives_every_text_back(text: str) -> None:
    import contextlib

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_json("x", {"text": text})
    assert out.getvalue().isascii()
    assert json.loads(out.getvalue())["text"] == text


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_no_cell_of_a_csv_begins_like_a_formula(rows: list[tuple[Any, Any]]) -> None:
    import contextlib

    out = io.StringIO(newline="")
    with contextlib.redirect_stdout(out):
        print_csv(["a", "b"], rows)
    read = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert len(read) == len(rows) + 1
    for row, written in zip(rows, read[1:], strict=True):
        for value, cell in zip(row, written, strict=True):
            assert isinstance(value, int) or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
