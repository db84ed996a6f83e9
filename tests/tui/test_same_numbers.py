"""What the screens show is what `tui attribute --json`, `tui check` and `tui export` say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dashboard import SAMPLES, index_of, opened, press, run, text_of

from analysis.model import UnitClass
from tui.cli import main
from tui.exit_codes import ExitCode
from tui.state import Start

HUGE = (220, 60)
SIGNS = {"✗": "f", "·": "p", "⊘": "v", "–": "n"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("numbers"), SAMPLES / "soak", SAMPLES / "gate")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    assert main([*arguments]) in (ExitCode.YES, ExitCode.NO)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def shown(index: Path, tab: str, *keys: str, filter: str = "") -> str:
    """What a screen shows."""
    found: list[str] = []

    async def test() -> None:
        async with opened(index, HUGE, start=Start(tab, filter)) as (app, pilot):
            await press(app, pilot, *keys)
            found.append(text_of(app))

    run(test())
    return found[0]


def counted(unit: dict[str, Any], group: str) -> str:
    """`k/n` of the bounds, or a dash for 0 of 0."""
    bound = unit["bounds"][group]
    return f"{bound['k']}/{bound['n']}" if bound["n"] else "-"


def test_every_row_of_the_tests_has_the_numbers_of_attribute_and_export(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attributed = said(capsys, "attribute", "--db", str(index), "--all", "--json")["units"]
    exported = said(capsys, "export", "--db", str(index), "--all", "--json")["units"]
    assert exported == attributed
    lines = shown(index, "tests", "b", "b", "b", "b").splitlines()
    rows = [line.removeprefix("▌").split() for line in lines]
    for unit in attributed:
        wanted = (
            unit["row"],
            unit["test_id"],
            unit["patch_id"],
            unit["experiment"],
            counted(unit, "company"),
            counted(unit, "alone"),
        )
        matching = [row for row in rows if set(wanted) <= set(row)]
        assert len(matching) == 1, wanted


def test_the_overview_counts_the_classes_of_attribute(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = said(capsys, "attribute", "--db", str(index), "--all", "--json")["units"]
    classes = Counter(unit["class"] for unit in units)
    text = shown(index, "overview")
    for one in UnitClass:
        (number,) = re.findall(rf"{one} +(\d+)", text)
        assert int(number) == classes[one.value], one
    assert f"{len(units)} (patch, test) pairs" in text


def test_the_overview_counts_the_canaries_and_passes_of_check_and_export(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked = said(capsys, "check", "--db", str(index), "--all", "--json")["experiments"]
    exported = said(capsys, "export", "--db", str(index), "--all", "--json")
    assert [one["canaries"] for one in exported["experiments"]] == [
        one["canaries"] for one in checked
    ]
    text = shown(index, "overview")
    for role, deed in (("red", "red failed"), ("green", "green passed")):
        k, n = map(sum, zip(*(one["canaries"][role] for one in checked), strict=True))
        assert re.search(rf"{deed} +{k}/{n} ", text)
    assert exported["trust"] in text
    assert exported["reasons"][0].lower() in text.lower()
    flipped = {flip["patch_id"] for one in checked for flip in one["flips"]}
    assert re.search(rf"flipped +{len(flipped)} of ", text)


def test_the_stability_grid_draws_the_verdicts_of_export(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patches = said(capsys, "export", "--db", str(index), "--all", "--json")["patches"]
    text = shown(index, "stability")
    for patch in patches:
        (row,) = [
            line
            for line in text.splitlines()
            if re.search(rf"^.{re.escape(patch['patch_id'])} +{patch['experiment']} ", line)
        ]
        assert re.search(rf" {patch['flips']} +{patch['k']}/{patch['n']} ", row) or not patch["n"]
        signs = "".join(SIGNS.get(sign, "") for sign in row.partition("%")[2] or row)
        assert signs.endswith("".join(patch["phases"].values())), (signs, patch["phases"])


def test_the_detail_of_a_test_has_its_counts_reason_and_command(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = said(capsys, "attribute", "--db", str(index), "--all", "--json")["units"]
    (unit,) = [one for one in units if one["row"] == "1a"]
    text = shown(index, "tests", "enter", filter="row:1a")
    flat = " ".join(text.split())
    assert unit["why"] in flat
    assert unit["action"] in flat
    for phase, counts in unit["counts"].items():
        k, n = counts["subject"]
        assert re.search(rf"{phase} +● +{k}/{n} ", text)
