"""The README says what the code does."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from pictures import FOLDER, PICTURES, picture, texts

from analysis.attribution.table import TABLE
from analysis.evidence.audit import catalogue
from analysis.records.results import FORMATS
from tui.actions import ACTIONS
from tui.cli import COMMANDS
from tui.exit_codes import MEANINGS

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text("utf-8")


def test_the_readme_has_the_rows_of_the_decision_table_in_their_order() -> None:
    written = README.split("<!-- /table -->")[0].split("|---|---|---|\n")[-1].strip().splitlines()
    rows = [f"| {row.name} | {row.condition} | {row.unit_class} |" for row in TABLE]
    assert written == rows


def test_the_readme_has_a_row_for_every_rule_on_evidence() -> None:
    table = README.split("<!-- rules: analysis/evidence -->")[1].split("<!-- /rules -->")[0]
    written = table.strip().splitlines()[2:]
    rows = [f"| {fooled} | `{fields}` | `{name}` |" for fooled, fields, name in catalogue()]
    assert written == rows


def test_the_readme_names_every_command_and_no_other() -> None:
    named = set(re.findall(r"^\| `tui (\w+)", README, re.MULTILINE))
    assert named == set(COMMANDS)


def test_the_readme_has_every_key_of_the_dashboard_in_the_order_of_the_help() -> None:
    written = README.split("<!-- /keys -->")[0].split("in words |\n|---|---|---|\n")[-1]
    rows = []
    for action in ACTIONS:
        keys = " ".join(f"`{key}`" for key in action.shown.split())
        rows.append(f"| {keys} | {action.words} | {action.help} |")
    assert written.strip().splitlines() == rows


def test_the_readme_lists_the_result_files_that_are_read() -> None:
    written = README.split("<!-- /formats -->")[0].split("written by |\n|---|---|\n")[-1]
    assert written.strip().splitlines() == [
        f"| {one.title} | {one.written_by} |" for one in FORMATS
    ]


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_the_pictures_of_the_readme_show_what_is_drawn(name: str, tmp_path: Path) -> None:
    shown = (FOLDER / f"{name}.svg").read_text("utf-8")
    assert f"]({FOLDER.relative_to(TOP)}/{name}.svg)" in README
    assert texts(shown) == texts(asyncio.run(picture(name, tmp_path)))


def test_the_readme_names_every_exit_code_with_its_meaning() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert codes == {int(code) for code in MEANINGS}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (TOP / ".ci" / "run").read_text("utf-8")
    assert "pip install -q '.[dev]'" in README
    assert ".[dev]" in script
    assert "bin/pytest" in README
    assert "bin/pytest" in script
