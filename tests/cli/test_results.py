"""`tui ingest` on result files: whose run they are, what is counted once, what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis.records.results import FORMATS
from tui.cli import main
from tui.exit_codes import ExitCode

FAILS = "<testcase classname='m' name='b' time='0.5'><failure message='boom'/></testcase>"
PASSES = "<testcase classname='m' name='a' time='0.25'/>"


def junit(*cases: str, stamp: str = "2026-11-30T10:00:00") -> str:
    head = f"<testsuite name='s' tests='{len(cases)}' timestamp='{stamp}'>"
    return f"{head}{''.join(cases)}</testsuite>\n"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "index.duckdb"


class Tui:
    """The command, on one index."""

    def __init__(self, db: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._db, self._capsys = db, capsys

    def ingest(self, *arguments: object, code: int = 0) -> list[dict[str, Any]]:
        assert main(["ingest", "--db", str(self._db), "--json", *map(str, arguments)]) == code
        sources: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["sources"]
        return sources

    def sql(self, query: str) -> list[dict[str, Any]]:
        assert main(["sql", query, "--db", str(self._db), "--format", "json"]) == 0
        found = json.loads(self._capsys.readouterr().out)
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    def units(self) -> list[dict[str, Any]]:
        main(["attribute", "--db", str(self._db), "--all", "--json"])
        units: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["units"]
        return units


@pytest.fixture
def tui(db: Path, capsys: pytest.CaptureFixture[str]) -> Tui:
    return Tui(db, capsys)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_reading_is_printed_and_nothing_is_changed(tui: Tui, db: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "r.xml", junit(PASSES, FAILS))
    (source,) = tui.ingest("--dry-run", path)
    told = {name: source[name] for name in ("format", "tests", "passed", "failed", "errors")}
    assert told == {"format": "junit", "tests": 2, "passed": 1, "failed": 1, "errors": 0}
    rest = ("skipped", "flaky", "attempts", "not_run", "complete", "notes")
    assert [source[name] for name in rest] == [0, 0, 2, 0, True, []]
    assert not db.exists()


def test_options_say_whose_run_it_is(tui: Tui, tmp_path: Path) -> None:
    path = write(tmp_path / "r.xml", junit(PASSES, FAILS))
    said = ("--patch", "p", "--role", "subject", "--phase", "serial", "--experiment", "night")
    tui.ingest(*said, "--run-id", "r-1", "--variant", "linux", path)
    (run,) = tui.sql("SELECT experiment, run_id, patch_id, phase, verdict FROM runs")
    assert run == {
        "experiment": "night",
        "run_id": "r-1",
        "patch_id": "p",
        "phase": "serial",
        "verdict": "fail",
    }
    units = {unit["test_id"]: unit for unit in tui.units()}
    assert set(units) == {"s::m::a", "s::m::b"}
    assert {unit["variant"] for unit in units.values()} == {"linux"}
    assert units["s::m::b"]["counts"] == {"serial": {"subject": [1, 1]}}


def test_what_nobody_says_is_missing(tui: Tui, tmp_path: Path) -> None:
    tui.ingest(write(tmp_path / "r.xml", junit(PASSES)))
    (run,) = tui.sql("SELECT patch_id, phase, role FROM runs")
    assert run == {"patch_id": "(unknown)", "phase": "gate", "role": "subject"}


def test_paths_say_whose_run_it_is(tui: Tui, tmp_path: Path) -> None:
    for number, phase in enumerate(["soak", "serial"]):
        write(tmp_path / f"logs/night/{phase}/p1/{number}/x.xml", junit(PASSES))
        write(tmp_path / f"logs/night/{phase}/p1/{number}/notes.txt", "no results")
    sources = tui.ingest(
        "--layout", "{experiment}/{phase}/{patch}/{round}/*.xml", tmp_path / "logs"
    )
    assert len(sources) == 2
    runs = tui.sql("SELECT experiment, phase, patch_id, round FROM runs ORDER BY round")
    assert runs == [
        {"experiment": "night", "phase": "soak", "patch_id": "p1", "round": 0},
        {"experiment": "night", "phase": "serial", "patch_id": "p1", "round": 1},
    ]


def test_the_same_bytes_in_two_rounds_are_two_runs(tui: Tui, tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"logs/{number}/x.xml", junit(PASSES))
    tui.ingest("--layout", "{round}/*.xml", "--patch", "p", tmp_path / "logs")
    assert tui.sql("SELECT count(*) AS n FROM runs") == [{"n": 3}]


@pytest.mark.parametrize(
    "template", ["*.xml", "{pach}/*.xml", "{patch}/{patch}/*.xml", "/{patch}", "../{patch}"]
)
def test_a_layout_that_says_nothing_is_refused(tui: Tui, tmp_path: Path, template: str) -> None:
    write(tmp_path / "logs/1/x.xml", junit(PASSES))
    with pytest.raises(json.JSONDecodeError):
        tui.ingest("--layout", template, tmp_path / "logs", code=ExitCode.BAD_INPUT)


def test_a_file_beside_it_says_whose_run_it_is(tui: Tui, tmp_path: Path) -> None:
    path = write(tmp_path / "r" / "r.xml", junit(PASSES))
    write(tmp_path / "r" / "soakboard-run.json", '{"patch_id": "p", "phase": "loaded", "cpus": 2}')
    tui.ingest(path.parent)
    (run,) = tui.sql("SELECT patch_id, phase, cpus FROM runs")
    assert run == {"patch_id": "p", "phase": "loaded", "cpus": 2}


@pytest.mark.parametrize("said", ["no json", "[1]", '{"cpus": "many"}'])
def test_a_damaged_file_beside_it_refuses_the_results(tui: Tui, tmp_path: Path, said: str) -> None:
    path = write(tmp_path / "r" / "r.xml", junit(PASSES))
    write(tmp_path / "r" / "soakboard-run.json", said)
    (source,) = tui.ingest(path, code=ExitCode.BAD_INPUT)
    assert source["status"] == "refused"


def test_the_same_file_again_changes_nothing_and_another_content_replaces_it(
    tui: Tui, tmp_path: Path
) -> None:
    path = write(tmp_path / "r.xml", junit(PASSES))
    tui.ingest("--patch", "p", path)
    assert tui.ingest(path)[0]["status"] == "known"
    assert tui.sql("SELECT count(*) AS n FROM results") == [{"n": 1}]
    write(path, junit(PASSES, FAILS))
    # What was said of its run still holds.
    assert tui.ingest()[0]["status"] == "rewritten"
    rows = tui.sql("SELECT patch_id, test_id, outcome FROM results ORDER BY test_id")
    assert [(row["patch_id"], row["outcome"]) for row in rows] == [("p", "passed"), ("p", "failed")]


def aggregate(*suites: str) -> str:
    return f"<testsuites>{''.join(suites)}</testsuites>"


@pytest.mark.parametrize("first", ["one.xml", "all.xml"])
def test_an_aggregate_and_its_parts_are_counted_once(tui: Tui, tmp_path: Path, first: str) -> None:
    one, other = junit(PASSES), junit(FAILS, stamp="2026-11-30T10:01:00")
    write(tmp_path / "r/one.xml", one)
    write(tmp_path / "r/two.xml", other)
    write(tmp_path / "r/all.xml", aggregate(one, other))
    tui.ingest(tmp_path / "r" / first)
    tui.ingest(tmp_path / "r")
    assert tui.sql("SELECT count(*) AS n FROM results") == [{"n": 2}]


def test_shards_with_equal_names_are_counted_each(tui: Tui, tmp_path: Path) -> None:
    shards = Path(__file__).parents[1] / "data" / "bugs" / "10-dedupe-by-timestamp-loses"
    shutil.copytree(shards, tmp_path / "shards")
    tui.ingest(tmp_path / "shards")
    rows = tui.sql("SELECT test_id, outcome FROM results ORDER BY test_id")
    assert [row["outcome"] for row in rows] == ["passed", "failed"]


def test_parts_count_again_when_the_aggregate_is_another(tui: Tui, tmp_path: Path) -> None:
    one, other = junit(PASSES), junit(FAILS, stamp="2026-11-30T10:01:00")
    write(tmp_path / "r/all.xml", aggregate(one, other))
    tui.ingest(tmp_path / "r")
    write(tmp_path / "r/one.xml", one)
    assert tui.ingest(tmp_path / "r")[1]["status"] == "same content"
    write(tmp_path / "r/all.xml", aggregate(other))
    tui.ingest(tmp_path / "r")
    tui.ingest(tmp_path / "r")
    assert tui.sql("SELECT count(*) AS n FROM results") == [{"n": 2}]


def test_attempts_are_one_execution_and_the_failed_one_counts(tui: Tui, tmp_path: Path) -> None:
    flaky = "<testcase classname='m' name='c'><flakyFailure message='once'/></testcase>"
    tui.ingest("--patch", "p", write(tmp_path / "r.xml", junit(flaky)))
    (unit,) = tui.units()
    assert unit["counts"] == {"gate": {"subject": [1, 1]}} or unit["elsewhere"] == 1
    assert tui.sql("SELECT verdict FROM runs") == [{"verdict": "pass"}]


def test_a_cut_file_has_its_whole_cases_and_is_never_a_pass(tui: Tui, tmp_path: Path) -> None:
    path = write(tmp_path / "r.xml", junit(PASSES, PASSES.replace("'a'", "'b'"))[:-30])
    (source,) = tui.ingest(path)
    assert (source["tests"], source["complete"]) == (1, False)
    assert tui.sql("SELECT verdict FROM runs") == [{"verdict": "none"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<test-run id='2'/>", "NUnit 3"),
        ("<assemblies/>", "xUnit.net"),
        ('{"numTotalTests": 3, "testResults": []}', "Jest"),
        ("<catalog/>", "XML"),
        ("<!doctype html><html></html>", "HTML"),
    ],
)
def test_what_is_not_read_is_refused_by_name(
    tui: Tui, tmp_path: Path, text: str, words: str
) -> None:
    (source,) = tui.ingest(write(tmp_path / "r.xml", text), code=ExitCode.BAD_INPUT)
    assert source["status"] == "refused"
    assert words in source["note"]


def test_other_files_of_a_directory_are_left_alone(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path / "r/one.xml", junit(PASSES))
    write(tmp_path / "r/pom.xml", "<project/>")
    write(tmp_path / "r/package.json", '{"name": "x"}')
    assert [Path(source["path"]).name for source in tui.ingest(tmp_path / "r")] == ["one.xml"]


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    text = capsys.readouterr().out
    assert main(["formats", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["formats"]
    assert [one["name"] for one in listed] == [form.name for form in FORMATS]
    assert all(form.title in text for form in FORMATS)


def test_a_report_of_pytest_has_the_ids_of_pytest(tui: Tui, tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "tests"
    text = "import pytest\n\nclass TestB:\n    @pytest.mark.parametrize('x', ['a-b', '[c]'])\n"
    write(folder / "test_m.py", f"{text}    def test_x(self, x): pass\n\ndef test_y(): pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ids = subprocess.run(
        [*command, "--collect-only"],
        cwd=folder.parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.splitlines()
    report = [*command, "--junitxml=r.xml", "-o", "junit_family=xunit1"]
    subprocess.run(report, cwd=folder.parent, capture_output=True, check=True)
    tui.ingest(folder.parent / "r.xml")
    found = {row["test_id"] for row in tui.sql("SELECT test_id FROM results")}
    assert found == {one for one in ids if "::" in one}
