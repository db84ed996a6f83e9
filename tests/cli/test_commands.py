"""The commands as people and CI call them: real processes, real logs, documented exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tui

Tui = Callable[..., "subprocess.CompletedProcess[str]"]
Line = dict[str, Any]


def write(path: Path, lines: list[Line]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def bare_soak(rounds: int = 5, red: str = "fail", subject: str = "pass") -> list[Line]:
    verdicts = {"red": red, "green": "pass", "subj": subject}
    return [
        {"patch": patch, "ns": f"soak-{number}-{patch}", "verdict": verdict}
        for number in range(1, rounds + 1)
        for patch, verdict in verdicts.items()
    ]


@pytest.fixture
def soak(tmp_path: Path) -> Path:
    return write(tmp_path / "logs" / "soak.jsonl", bare_soak())


def report(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(result.stdout)
    return body


def is_one_sentence(result: subprocess.CompletedProcess[str], *named: object) -> bool:
    lines = result.stderr.strip().splitlines()
    return (
        len(lines) == 1
        and lines[0].startswith("tui: ")
        and "Traceback" not in result.stderr
        and all(str(name) in lines[0] for name in named)
    )


# --- check -------------------------------------------------------------------------------


def test_a_clean_bare_soak_is_insufficient_and_says_how_many_runs_are_missing(
    run_tui: Tui, soak: Path
) -> None:
    result = run_tui("check", soak)
    assert result.returncode == 1
    assert "insufficient evidence" in result.stdout
    assert "more soak runs" in result.stdout
    assert "0 of 5; a 1-in-2 flake would have been seen with 95 %" in result.stdout


def test_a_clean_bare_soak_may_pass_where_insufficient_is_allowed(run_tui: Tui, soak: Path) -> None:
    assert run_tui("check", soak, "--allow", "insufficient").returncode == 0


def test_a_red_canary_that_passed_is_no_whatever_is_allowed(run_tui: Tui, tmp_path: Path) -> None:
    lines = bare_soak()
    lines[9]["verdict"] = "pass"
    log = write(tmp_path / "soak.jsonl", lines)
    result = run_tui("check", log, "--allow", "insufficient", "--json")
    assert result.returncode == 1
    [experiment] = report(result)["experiments"]
    assert experiment["class"] == "broken isolation"
    assert experiment["canaries"] == {"red": [4, 5], "green": [5, 5]}
    assert experiment["false_accept"]["k"] == 1
    assert experiment["false_accept"]["n"] == 5


def test_a_patch_that_passed_and_failed_is_a_flip_with_both_lines(
    run_tui: Tui, tmp_path: Path
) -> None:
    log = write(
        tmp_path / "gate.jsonl",
        [
            {"patch": "A", "diff_sha256": "ab" * 32, "verdict": "pass"},
            {"patch": "A", "diff_sha256": "ab" * 6, "verdict": "fail"},
            {"patch": "B", "verdict": "pass"},
        ],
    )
    result = run_tui("check", log, "--json", "--allow", "insufficient")
    assert result.returncode == 1
    [experiment] = report(result)["experiments"]
    [flip] = experiment["flips"]
    assert (flip["patch_id"], flip["passes"], flip["fails"]) == ("A", 1, 1)
    assert flip["pass_at"] == f"{log}:1"
    assert flip["fail_at"] == f"{log}:2"
    assert {patch["patch_id"]: patch["unique"] for patch in experiment["patches"]} == {
        "A": False,
        "B": True,
    }


def test_a_digest_that_is_not_the_one_asked_for_is_invalid_evidence(
    run_tui: Tui, tmp_path: Path
) -> None:
    lines = [{**line, "patch_digest": "c29d20cf1268"} for line in bare_soak()]
    log = write(tmp_path / "soak.jsonl", lines)
    right = run_tui("check", log, "--digest", "C29D20CF1268AA", "--json")
    wrong = run_tui("check", log, "--digest", "subj=c29d20cf9999", "--json")
    assert [one["class"] for one in report(right)["experiments"]] == ["insufficient evidence"]
    assert [one["class"] for one in report(wrong)["experiments"]] == ["invalid evidence"]
    assert run_tui("check", log, "--digest", "xyz").returncode == 2


def test_a_log_on_standard_input_is_checked_like_a_file(run_tui: Tui, soak: Path) -> None:
    piped = run_tui("check", "-", "--json", stdin=soak.read_text("utf-8"))
    filed = run_tui("check", soak, "--json")
    assert piped.returncode == 1
    [one], [other] = report(piped)["experiments"], report(filed)["experiments"]
    assert one["experiment"] == "stdin"
    assert other["experiment"] == "logs"
    assert one["patches"] == other["patches"]
    assert one["canaries"] == other["canaries"]


def test_three_logs_of_one_directory_are_one_experiment(run_tui: Tui, tmp_path: Path) -> None:
    folder = tmp_path / "night"
    write(folder / "soak.jsonl", bare_soak())
    write(folder / "stress.jsonl", [{"patch": "subj", "phase": "serial", "verdict": "pass"}] * 2)
    write(folder / "gate.jsonl", [{"patch": "subj", "verdict": "pass"}])
    result = run_tui("attribute", folder, "--json")
    assert [one["experiment"] for one in report(result)["experiments"]] == ["night"]
    [unit] = report(result)["units"]
    assert unit["counts"]["soak"] == {"subject": [0, 5], "red": [5, 5], "green": [0, 5]}
    assert unit["counts"]["serial"] == {"subject": [0, 2]}


def outage_soak() -> Iterator[Line]:
    for number in range(40):
        for role in ("red", "green", "subject"):
            run = f"{number}-{role}"
            start = 1_780_000_000 + number * 60
            context = {"run_id": run, "patch_id": role, "role": role, "phase": "soak"}
            yield {"kind": "run_start", **context, "round": number}
            failed = 0
            for test in range(60):
                fails = number == 17 or (role == "red" and test == 0)
                failed += fails
                yield {
                    "kind": "test",
                    "run_id": run,
                    "test_id": f"t.py::test_{test}",
                    "outcome": "failed" if fails else "passed",
                    "message": "No space left on device" if fails else None,
                    "started": start + test * 0.1,
                    "finished": start + test * 0.1 + 0.05,
                }
            yield {
                "kind": "run_end",
                "run_id": run,
                "verdict": "fail" if failed else "pass",
                "collected": 60,
                "passed": 60 - failed,
                "failed": failed,
            }


def test_one_round_in_which_everything_fails_is_one_outage_and_no_test_is_blamed(
    run_tui: Tui, tmp_path: Path
) -> None:
    header = {
        "kind": "experiment",
        "experiment": "night",
        "canaries": {
            "red": {"patch_id": "red", "test_id": "t.py::test_0"},
            "green": {"patch_id": "green", "test_id": "t.py::test_0"},
        },
    }
    log = write(tmp_path / "soak.jsonl", [header, *outage_soak()])
    result = run_tui("check", log, "--json", "--allow", "insufficient")
    assert result.returncode == 1
    [experiment] = report(result)["experiments"]
    [outage] = experiment["outages"]
    assert "round 17" in outage
    assert "180 of 180" in outage
    assert "No space left on device" in outage
    assert experiment["flips"] == []
    assert experiment["classes"] == {"insufficient evidence": 60}
    assert [one.split(":")[0] for one in experiment["objections"]] == ["outage"]


def test_a_time_after_the_newest_run_is_no_yes(run_tui: Tui, tmp_path: Path) -> None:
    lines = [{**line, "at": "2026-03-01T00:00:00Z"} for line in bare_soak(red="pass")]
    log = write(tmp_path / "soak.jsonl", lines)
    result = run_tui("check", log, "--since", "2099-01-01", "--json")
    assert result.returncode == 2
    assert is_one_sentence(result, "2099-01-01")
    assert result.stdout == ""


def test_canaries_with_nothing_under_test_are_no_yes_whatever_is_allowed(
    run_tui: Tui, tmp_path: Path
) -> None:
    lines = [line for line in bare_soak() if line["patch"] != "subj"]
    result = run_tui("check", write(tmp_path / "soak.jsonl", lines), "--allow", "insufficient")
    assert result.returncode == 1
    assert "nothing is under test" in result.stdout


def test_a_patch_without_any_verdict_is_no_yes_whatever_its_tests_say(
    run_tui: Tui, tmp_path: Path
) -> None:
    lines = bare_soak(rounds=10)
    for number, line in enumerate(list(lines)):
        if line["patch"] == "subj":
            line |= {"run_id": f"r{number}", "kind": "run_end", "verdict": "maybe"}
            test = {"kind": "test", "run_id": f"r{number}", "test_id": "t::a"}
            lines.append({**test, "outcome": "passed"})
    result = run_tui("check", write(tmp_path / "soak.jsonl", lines), "--allow", "insufficient")
    assert result.returncode == 1
    assert "patch subj has no verdict in any of its soak runs" in result.stdout


@pytest.mark.parametrize("closed", [">&-", "<&-"])
def test_a_closed_stream_is_no_internal_error(soak: Path, closed: str) -> None:
    source = "-" if closed == "<&-" else str(soak)
    packages = str(Path(tui.__file__).parents[1])
    result = subprocess.run(
        ["bash", "-c", f'"$0" -m tui check "$1" {closed}', sys.executable, source],
        env={**os.environ, "PYTHONPATH": packages},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode in (1, 2, 3)
    assert "internal error" not in result.stderr


def test_a_file_of_rejects_only_says_why_its_first_line_is_none(
    run_tui: Tui, tmp_path: Path
) -> None:
    log = write(tmp_path / "soak.jsonl", [{"patch": "A", "round": 2.5, "verdict": "pass"}] * 3)
    for command in ("check", "rejects"):
        result = run_tui(command, log)
        assert result.returncode == 2
        assert is_one_sentence(result, log, "line 1: bad-value:round")


# --- attribute ---------------------------------------------------------------------------


def test_attribute_answers_and_exits_0_whatever_it_shows(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "soak.jsonl", bare_soak(red="pass"))
    result = run_tui("attribute", log)
    assert result.returncode == 0
    assert "broken isolation" in result.stdout
    assert result.stderr == ""


def test_attribute_json_has_the_documented_keys(run_tui: Tui, soak: Path) -> None:
    body = report(run_tui("attribute", soak, "--json"))
    assert body["schema"] == "soakboard.attribute/1"
    [unit] = body["units"]
    assert set(unit) >= {
        "experiment", "patch_id", "test_id", "variant", "class", "row", "blocks", "locus", "why",
        "action", "seed_row", "counts", "bounds", "p", "address", "need",
    }  # fmt: skip
    assert unit["test_id"] == "(run)"
    assert unit["row"] == "I5"
    assert unit["blocks"] is True
    assert unit["need"] == {"soak": 19, "serial": 59}
    [experiment] = body["experiments"]
    assert experiment == {
        "experiment": "logs",
        "class": "insufficient evidence",
        "canaries": {"red": [5, 5], "green": [5, 5]},
        "outages": [],
        "flips": [],
    }


def test_explain_shows_the_rows_in_order_up_to_the_one_that_matched(
    run_tui: Tui, soak: Path
) -> None:
    result = run_tui("attribute", soak, "--explain", "(run)", "--json")
    [unit] = report(result)["units"]
    rows = [one["row"] for one in unit["tried"]]
    assert rows[:4] == ["V1", "V2", "V3", "V4"]
    assert [one["row"] for one in unit["tried"] if one["matches"]] == ["I5"] == rows[-1:]
    assert all(one["numbers"] for one in unit["tried"])
    told = run_tui("attribute", soak, "--explain", "(run)")
    assert "red failed its run verdict" in told.stdout


def test_explain_of_an_unknown_test_suggests_a_near_one(run_tui: Tui, soak: Path) -> None:
    result = run_tui("attribute", soak, "--explain", "(runn)")
    assert result.returncode == 2
    assert is_one_sentence(result, "(runn)", "Did you mean '(run)'?")


# --- index -------------------------------------------------------------------------------


def test_an_index_answers_without_paths_and_takes_new_bytes_first(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    first = run_tui("ingest", soak, "--json")
    assert first.returncode == 0
    [source] = report(first)["sources"]
    assert source == {
        "path": str(soak), "lines": 15, "rows": 15, "rejects": 0, "blank": 0, "pending": 0,
        "status": "new", "note": None,
    }  # fmt: skip
    assert (tmp_path / ".soakboard" / "index.duckdb").exists()
    with soak.open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(line) + "\n" for line in bare_soak(rounds=6)[15:])
    checked = report(run_tui("check", "--json"))
    assert checked["experiments"][0]["canaries"] == {"red": [6, 6], "green": [6, 6]}
    again = report(run_tui("ingest", soak, "--json"))
    assert [one["status"] for one in again["sources"]] == ["known"]


def test_the_environment_names_the_index_and_db_goes_before_it(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    named, given = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    run_tui("ingest", soak, SOAKBOARD_DB=str(named))
    run_tui("ingest", soak, "--db", given, SOAKBOARD_DB=str(named))
    assert named.exists()
    assert given.exists()
    assert run_tui("check", "--db", given, "--allow", "insufficient").returncode == 0
    result = run_tui("check", SOAKBOARD_DB=str(tmp_path / "none.duckdb"))
    assert result.returncode == 2
    assert is_one_sentence(result, tmp_path / "none.duckdb", "tui ingest")


def test_paths_without_db_leave_no_index_behind(run_tui: Tui, soak: Path, tmp_path: Path) -> None:
    run_tui("check", soak)
    run_tui("attribute", soak)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs"]


def test_a_dry_run_says_what_would_be_read_and_changes_nothing(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    result = run_tui("ingest", soak, "--dry-run", "--json")
    assert [one["rows"] for one in report(result)["sources"]] == [15]
    assert not (tmp_path / ".soakboard").exists()
    run_tui("ingest", soak)
    other = write(tmp_path / "logs" / "other.jsonl", bare_soak(rounds=2))
    run_tui("ingest", other, "--dry-run")
    count = run_tui("sql", "SELECT count(*) FROM runs", "--format", "csv")
    assert count.stdout.splitlines()[1] == "15"


def test_the_newest_experiment_is_reported_and_others_on_request(
    run_tui: Tui, tmp_path: Path
) -> None:
    for day, name in ((1, "old"), (2, "new")):
        lines = [{**line, "at": f"2026-03-0{day}T00:00:00Z"} for line in bare_soak()]
        write(tmp_path / name / "soak.jsonl", lines)
        run_tui("ingest", tmp_path / name)

    def names(*options: str) -> list[str]:
        found = report(run_tui("check", "--json", *options))["experiments"]
        return [one["experiment"] for one in found]

    assert names() == ["new"]
    assert "--all reports on 1 more" in run_tui("check").stderr
    assert names("--experiment", "old") == ["old"]
    assert names("--all") == ["old", "new"]
    assert names("--since", "2026-03-02") == ["new"]
    result = run_tui("check", "--experiment", "older")
    assert result.returncode == 2
    assert is_one_sentence(result, "older", "old, new")


def test_a_log_that_vanished_keeps_its_rows_and_is_named(run_tui: Tui, soak: Path) -> None:
    run_tui("ingest", soak)
    soak.unlink()
    result = run_tui("check", "--allow", "insufficient")
    assert result.returncode == 0
    assert is_one_sentence(result, soak, "not there any more")


@pytest.mark.parametrize("command", [["check", "--allow", "insufficient"], ["attribute"]])
def test_a_known_log_that_is_none_any_more_gets_no_answer_from_the_rest(
    run_tui: Tui, soak: Path, tmp_path: Path, command: list[str]
) -> None:
    other = write(tmp_path / "other" / "soak.jsonl", bare_soak())
    run_tui("ingest", soak, other)
    _html(soak)
    result = run_tui(*command)
    assert result.returncode == 2
    assert is_one_sentence(result, soak, "HTML")
    assert result.stdout == ""
    soak.unlink()
    assert run_tui(*command).returncode == 0


def test_a_policy_in_the_file_changes_the_class_without_a_new_ingest(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    (tmp_path / "soakboard.toml").write_text("[policy]\nrate_company = 0.5\n", "utf-8")
    run_tui("ingest", soak)
    [before] = report(run_tui("attribute", "--json"))["units"]
    (tmp_path / "soakboard.toml").write_text("[policy]\nrate_company = 0.1\n", "utf-8")
    [after] = report(run_tui("attribute", "--json"))["units"]
    assert before["need"] == {"serial": 59}
    assert after["need"] == {"serial": 59, "soak": 19}


def test_a_policy_in_the_header_overrides_and_the_result_says_so(
    run_tui: Tui, tmp_path: Path
) -> None:
    header = {"kind": "experiment", "experiment": "e", "policy": {"rate_company": 0.5}}
    log = write(tmp_path / "soak.jsonl", [header, *bare_soak()])
    result = run_tui("check", log)
    assert "the experiment's header overrides policy.rate_company" in result.stdout


# --- rejects and sql ---------------------------------------------------------------------


def test_rejects_are_listed_with_line_offset_reason_and_safe_text(
    run_tui: Tui, tmp_path: Path
) -> None:
    log = tmp_path / "soak.jsonl"
    good = b'{"patch":"A","verdict":"pass"}\n'
    bad = b'{"patch":"A\x1b[31m","password":"hunter22"\n'
    log.write_bytes(good + bad + good)
    result = run_tui("rejects", log, "--json")
    body = report(result)
    assert body["schema"] == "soakboard.rejects/1"
    [reject] = body["rejects"]
    assert (reject["path"], reject["line"], reject["offset"]) == (str(log), 2, len(good))
    assert reject["reason"] == "not-json"
    assert "hunter22" not in result.stdout
    told = run_tui("rejects", log)
    assert "\x1b" not in told.stdout
    assert "hunter22" not in told.stdout
    assert told.returncode == 0


def test_sql_reads_the_documented_views_in_three_formats(run_tui: Tui, soak: Path) -> None:
    for view in ("runs", "results", "attributions", "findings", "rejects"):
        assert run_tui("sql", f"SELECT * FROM {view}", soak).returncode == 0
    question = "SELECT role, count(*) AS n FROM runs GROUP BY role ORDER BY role"
    assert run_tui("sql", question, soak, "--format", "csv").stdout == (
        "role,n\ngreen,5\nred,5\nsubject,5\n"
    )
    body = report(run_tui("sql", question, soak, "--format", "json"))
    assert body["schema"] == "soakboard.sql/1"
    assert body["columns"] == ["role", "n"]
    assert body["rows"] == [["green", 5], ["red", 5], ["subject", 5]]
    assert run_tui("sql", question, soak).stdout.splitlines()[0].split() == ["role", "n"]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE sources",
        "DELETE FROM run_lines",
        "COPY runs TO 'out.csv'",
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SET threads = 1",
        "SELECT 1; DROP TABLE sources",
        "nonsense",
        "",
    ],
)
def test_sql_that_would_do_more_than_read_the_index_is_refused(
    run_tui: Tui, soak: Path, tmp_path: Path, statement: str
) -> None:
    run_tui("ingest", soak)
    result = run_tui("sql", statement)
    assert result.returncode == 2
    assert is_one_sentence(result)
    assert not (tmp_path / "out.csv").exists()
    assert run_tui("sql", "SELECT count(*) FROM runs", "--format", "csv").stdout == (
        "count_star()\n15\n"
    )


def test_sql_times_are_utc_whatever_the_zone_of_the_machine(run_tui: Tui, tmp_path: Path) -> None:
    log = write(
        tmp_path / "gate.jsonl",
        [
            {"patch": "A", "verdict": "fail", "at": "2026-03-28T23:30:00+00:00"},
            {"patch": "A", "verdict": "pass", "at": "2026-03-29T00:30:00+00:00"},
        ],
    )
    question = (
        "SELECT finished::DATE AS day, verdict, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS t "
        "FROM runs ORDER BY day"
    )
    answers = {
        run_tui("sql", question, log, "--format", "csv", TZ=zone).stdout
        for zone in ("UTC", "Europe/Madrid", "America/Los_Angeles")
    }
    [answer] = answers
    days = [line.split(",")[:2] for line in answer.splitlines()[1:]]
    assert days == [["2026-03-28", "fail"], ["2026-03-29", "pass"]]


def test_a_query_that_is_interrupted_ends_with_130(soak: Path, tmp_path: Path) -> None:
    endless = "SELECT count(*) FROM range(100000000000) a, range(100000) b"
    index = tmp_path / "index.duckdb"
    command = [sys.executable, "-m", "tui", "sql", endless, str(soak), "--db", str(index)]
    packages = str(Path(tui.__file__).parents[1])
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": packages},
    ) as process:
        # A signal while the interpreter still starts is not the command's to answer.
        while not index.exists() and process.poll() is None:
            time.sleep(0.05)
        # Again and again: an impatient person does, and it must not change the answer.
        code: int | None = None
        while code is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=0.1)
        assert process.stderr is not None
        assert process.stderr.read().decode().strip() == "tui: interrupted"
    assert code == 130


def test_csv_for_a_spreadsheet_holds_no_formula(run_tui: Tui, tmp_path: Path) -> None:
    log = write(tmp_path / "gate.jsonl", [{"patch": "=1+1", "verdict": "pass"}])
    result = run_tui("sql", "SELECT patch_id FROM runs", log, "--format", "csv")
    assert result.stdout == "patch_id\n'=1+1\n"


# --- what cannot be read -----------------------------------------------------------------


def _html(path: Path) -> Path:
    path.write_text("<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n", "utf-8")
    return path


def _binary(path: Path) -> Path:
    path.write_bytes(bytes(range(256)) * 50)
    return path


def _empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def _blank(path: Path) -> Path:
    path.write_bytes(b"\n\n  \n")
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    (path / "notes.txt").write_text("none\n", "utf-8")
    return path


def _missing(path: Path) -> Path:
    return path


@pytest.mark.parametrize("command", ["check", "attribute", "ingest", "rejects"])
@pytest.mark.parametrize("make", [_html, _binary, _empty, _blank, _folder, _missing])
def test_what_is_no_log_is_one_sentence_with_its_name_and_exit_2(
    run_tui: Tui, tmp_path: Path, command: str, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path / "input.jsonl")
    result = run_tui(command, path)
    assert result.returncode == 2
    assert is_one_sentence(result, path)


def test_an_unreadable_log_is_one_sentence_and_exit_3(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every file")
    soak.chmod(0)
    result = run_tui("check", soak)
    assert result.returncode == 3
    assert is_one_sentence(result, soak)


def test_a_good_log_beside_a_refused_one_is_ingested_and_the_answer_is_2(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    page = _html(tmp_path / "page.jsonl")
    result = run_tui("ingest", soak, page, "--json")
    assert result.returncode == 2
    assert {one["path"]: one["status"] for one in report(result)["sources"]} == {
        str(soak): "new",
        str(page): "refused",
    }
    assert is_one_sentence(result, page, "HTML")
    assert run_tui("check", soak, page).returncode == 2


def test_a_wrong_key_in_the_configuration_is_one_sentence_and_exit_2(
    run_tui: Tui, soak: Path, tmp_path: Path
) -> None:
    (tmp_path / "soakboard.toml").write_text("[policy]\nalhpa = 0.01\n", "utf-8")
    result = run_tui("check", soak)
    assert result.returncode == 2
    assert is_one_sentence(result, "soakboard.toml", "alhpa", "alpha")


# --- text from data ----------------------------------------------------------------------

HOSTILE = [
    "t.py::test_a[red]",
    "t.py::test_path[/]",
    "t.py::test_x[$accent]",
    "t.py::test_\x1b[31mred\x1b]0;title\x07",
    "t.py::test_\u202egnp.exe",
    "t.py::test_nul\x00",
    "t.py::test_\x9b31m",
    "t.py::test_line\nbreak\r",
    "=cmd|' /C calc'!A0",
]


def test_text_from_data_never_steers_the_terminal(run_tui: Tui, tmp_path: Path) -> None:
    lines: list[Line] = []
    for number in range(4):
        for role in ("red", "green", "subject"):
            run = f"{number}-{role}"
            lines += [
                {"kind": "run_start", "run_id": run, "patch_id": f"{role}\x1b[2J", "role": role,
                 "phase": "soak", "round": number},
                *(
                    {"kind": "test", "run_id": run, "test_id": test, "message": "\x1b[5m\u202e",
                     "outcome": "failed" if (number + index) % 2 else "passed"}
                    for index, test in enumerate(HOSTILE)
                ),
                {"kind": "run_end", "run_id": run, "verdict": "fail" if role == "red" else "none"},
            ]  # fmt: skip
    log = write(tmp_path / "soak.jsonl", lines)
    steering = set("\x1b\x07\x00\x9b\u202e\r")
    for arguments in (
        ["check"], ["attribute"], ["attribute", "--json"], ["check", "--json"],
        ["attribute", "--explain", HOSTILE[3]], ["attribute", "--explain", "\x1b[31m"],
    ):  # fmt: skip
        result = run_tui(*arguments, log)
        assert not steering & set(result.stdout + result.stderr), arguments
    ids = {unit["test_id"] for unit in report(run_tui("attribute", log, "--json"))["units"]}
    assert ids >= set(HOSTILE)
    shown = run_tui("attribute", log).stdout
    assert "test_a[red]" in shown
    assert "test_path[/]" in shown
