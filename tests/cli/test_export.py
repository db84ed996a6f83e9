"""`tui export` as people and CI call it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents import Page, counted, csv_rows, markdown_tables

import tui

Tui = Callable[..., "subprocess.CompletedProcess[str]"]

SOAKS = Path(__file__).parents[2] / "sample_data" / "soak"
GATEWAY = SOAKS / "gateway.jsonl"


def body(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_numbers_are_those_of_attribute_and_check(run_tui: Tui) -> None:
    attributed, checked = (
        json.loads(run_tui(command, SOAKS, "--json").stdout) for command in ("attribute", "check")
    )
    found = body(run_tui("export", SOAKS, "--format", "json"))
    assert found["schema"] == "soakboard.export/1"
    assert found["units"] == attributed["units"]
    for one in checked["experiments"]:
        del one["objections"]
    assert found["experiments"] == checked["experiments"]
    page = Page(run_tui("export", SOAKS, "--format", "html").stdout).table("Tests")
    table = markdown_tables(run_tui("export", SOAKS).stdout)["Tests"]
    for rows in (page, table):
        assert [(row[5], row[7]) for row in rows] == [counted(unit) for unit in attributed["units"]]


def test_markdown_of_everything_goes_to_standard_output(run_tui: Tui, tmp_path: Path) -> None:
    result = run_tui("export", GATEWAY)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("# soakboard: gateway\n\n**")
    assert {"Tests", "Patches, most flips first"} <= set(markdown_tables(result.stdout))
    assert not list(tmp_path.iterdir())


def test_the_suffix_of_the_file_chooses_the_format(run_tui: Tui, tmp_path: Path) -> None:
    for name, start in (
        ("r.md", "# soakboard"),
        ("r.html", "<!doctype html>"),
        ("r.json", "{"),
        ("r.csv", "experiment,patch_id,test_id"),
        ("r.txt", "# soakboard"),
    ):
        result = run_tui("export", GATEWAY, "-o", name)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert run_tui("export", GATEWAY, "-o", "r2.md", "--json").returncode == 0
    assert (tmp_path / "r2.md").read_text("utf-8").startswith("{")


def test_a_csv_is_of_one_thing(run_tui: Tui) -> None:
    rows = csv_rows(run_tui("export", GATEWAY, "--format", "csv").stdout)
    assert rows[0]["class"] == "harness bug"
    rows = csv_rows(run_tui("export", GATEWAY, "--format", "csv", "--what", "stability").stdout)
    assert rows[0]["role"] == "red"
    refused = run_tui("export", GATEWAY, "--format", "csv", "--what", "all")
    assert refused.returncode == 2
    assert "--what attribution" in refused.stderr


def test_parts_are_exported_alone(run_tui: Tui) -> None:
    found = body(run_tui("export", GATEWAY, "--json", "--what", "attribution"))
    assert "units" in found
    assert "patches" not in found
    found = body(run_tui("export", GATEWAY, "--json", "--what", "stability"))
    assert "units" not in found
    assert [one["patch_id"] for one in found["patches"]] == ["patch-417"]


@pytest.mark.parametrize("what", ["quarantines", "x"])
def test_a_part_that_cannot_be_exported_is_bad_usage(run_tui: Tui, what: str) -> None:
    result = run_tui("export", GATEWAY, "--what", what)
    assert result.returncode == 2
    assert "attribution" in result.stderr


def test_evidence_has_the_findings_of_the_audit_in_every_format(
    run_tui: Tui, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    lines = [
        {"run_id": "1", "patch_id": "A", "verdict": "pass", "collected": 0, "merged": True},
        {"run_id": "2", "patch_id": "=B", "verdict": "pass", "collected": 1, "passed": 1},
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    audited = json.loads(run_tui("audit", log, "--json").stdout)
    found = body(run_tui("export", log, "--json", "--what", "evidence"))
    assert found["findings"] == audited["findings"]
    assert found["overturned"] == audited["overturned"]
    assert [one["merged"] for one in found["overturned"]] == [True]
    rows = csv_rows(run_tui("export", log, "--format", "csv", "--what", "evidence").stdout)
    assert [row["rule"] for row in rows] == [one["rule"] for one in found["findings"]]
    table = markdown_tables(run_tui("export", log, "--what", "evidence").stdout)
    page = Page(run_tui("export", log, "--format", "html", "--what", "evidence").stdout)
    titles = ("Overturned: logged passes that are none", "Findings, void first")
    for title, count in zip(titles, (1, len(rows)), strict=True):
        assert len(table[title]) == len(page.table(title)) == count


def test_json_and_another_format_contradict_each_other(run_tui: Tui) -> None:
    assert run_tui("export", GATEWAY, "--json", "--format", "md").returncode == 2


def test_an_existing_file_needs_force_and_is_refused_before_anything_is_read(
    run_tui: Tui, tmp_path: Path
) -> None:
    target = tmp_path / "r.md"
    target.write_text("mine", "utf-8")
    refused = run_tui("export", "no-such-log.jsonl", "-o", target)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert target.read_text("utf-8") == "mine"
    assert run_tui("export", GATEWAY, "-o", target, "--force").returncode == 0
    assert target.read_text("utf-8").startswith("# soakboard")


def test_a_place_that_cannot_be_written_is_the_environment(run_tui: Tui, tmp_path: Path) -> None:
    result = run_tui("export", GATEWAY, "-o", tmp_path / "no" / "r.md")
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1
    assert "r.md cannot be written" in result.stderr


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old", "utf-8")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))

    code = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"sys.path.insert(0, {str(Path(tui.__file__).parents[1])!r}); "
        "from tui.cli import main; "
        f"sys.exit(main(['export', {str(GATEWAY)!r}, '-o', {str(target)!r}, '--force']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=little_room,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "cannot be written" in done.stderr
    assert target.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_newest_experiment_of_an_index_is_exported_or_the_one_named(run_tui: Tui) -> None:
    assert run_tui("ingest", "--db", "x.duckdb", SOAKS).returncode == 0
    newest = body(run_tui("export", "--db", "x.duckdb", "--json"))
    named = body(run_tui("export", "--db", "x.duckdb", "--json", "--experiment", "billing"))
    everything = body(run_tui("export", "--db", "x.duckdb", "--json", "--all"))
    assert len(newest["experiments"]) == 1
    assert [one["experiment"] for one in named["experiments"]] == ["billing"]
    assert len(everything["experiments"]) == 8
    assert run_tui("export", "--db", "x.duckdb", "--experiment", "none such").returncode == 2


def test_only_a_csv_imports_pandas() -> None:
    for form, needed in (("md", False), ("json", False), ("html", False), ("csv", True)):
        code = (
            f"import sys; sys.path.insert(0, {str(Path(tui.__file__).parents[1])!r})\n"
            f"import tui.cli; tui.cli.main(['export', {str(GATEWAY)!r}, '--format', {form!r}])\n"
            "print('pandas' in sys.modules, file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
        )
        assert done.stderr.strip() == str(needed)
