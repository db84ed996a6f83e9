"""`tui quarantine` and `tui gate`: who enters, what is excused, what never passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from contracts import SIGNATURE, START, TEST, event, hours, log
from logs import Log, fails, passes

from analysis.attribution.statistics import Count, lower, need, upper
from analysis.quarantine.events import Kind, stamp
from tui.cli import main
from tui.exit_codes import ExitCode

TRUTH = Path(__file__).parents[1] / "data" / "ground-truth"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "ground-truth"
BUGS = Path(__file__).parents[1] / "data" / "bugs"
FAILS = (
    "<testcase classname='tests.test_clock' file='tests/test_clock.py' name='test_same_second'>"
    "<failure type='AssertionError' message='clock crossed a boundary: 4 != 5'/></testcase>"
)
PASSES = "<testcase classname='m' name='other'/>"

Tui = Callable[..., tuple[int, Any]]


@pytest.fixture
def tui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tui:
    """The command in a folder of its own: its code, and the JSON that it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOAKBOARD_DB", raising=False)

    def run(*arguments: object) -> tuple[int, Any]:
        code = main([*map(str, arguments), "--json"])
        out = capsys.readouterr().out
        return code, json.loads(out) if out else None

    return run


def write(tmp_path: Path, *events: Any) -> Path:
    path = tmp_path / "quarantine.jsonl"
    path.write_bytes(log(*events))
    return path


def results(tmp_path: Path, *cases: str, name: str = "r.xml") -> Path:
    path = tmp_path / name
    path.write_text(f"<testsuite name='pytest' tests='{len(cases)}'>{''.join(cases)}</testsuite>")
    return path


def at(count: float) -> str:
    return stamp(hours(count))


# The gate


def test_a_failure_that_the_list_excuses_does_not_block(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    code, said = tui("gate", results(tmp_path, FAILS, PASSES), "--at", at(2))
    assert code == ExitCode.YES
    (failure,) = said["failures"]
    assert (failure["excused"], failure["owner"]) == (True, "mara")
    assert "0.9 days left" in failure["why"]
    assert said["pass"]
    assert said["list"]


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([FAILS], "nothing passed"),
        ([FAILS.replace("crossed", "jumped over"), PASSES], "another way"),
        ([FAILS.replace("failure", "error"), PASSES], "another way"),
        ([FAILS.replace("test_same_second'", "test_same_second[a]'"), PASSES], "not on the list"),
        ([FAILS.replace("test_same_second'", "test_same_second2'"), PASSES], "not on the list"),
        ([], "incomplete"),
    ],
)
def test_what_is_not_excused_blocks_and_says_why(
    tui: Tui, tmp_path: Path, cases: list[str], words: str
) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    code, said = tui("gate", results(tmp_path, *cases), "--at", at(2))
    assert code == ExitCode.NO
    assert any(words in sentence for sentence in said["objections"]), said["objections"]


def test_a_cut_file_never_passes(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    path = results(tmp_path, PASSES, PASSES.replace("other", "last"))
    path.write_bytes(path.read_bytes()[:-20])
    code, said = tui("gate", path, "--at", at(2))
    assert code == ExitCode.NO
    assert "incomplete" in said["objections"][0]


@pytest.mark.parametrize("content", [b"", b"\n", b"<html></html>", b"nonsense\n"])
def test_what_is_no_result_never_passes(tui: Tui, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.xml"
    path.write_bytes(content)
    code, said = tui("gate", path)
    assert (code, said) == (ExitCode.BAD_INPUT, None)


def test_without_a_list_nothing_is_excused(tui: Tui, tmp_path: Path) -> None:
    assert tui("gate", results(tmp_path, PASSES))[0] == ExitCode.YES
    assert tui("gate", results(tmp_path, FAILS, PASSES))[0] == ExitCode.NO


@pytest.mark.parametrize(("on_lapse", "code"), [("hold", ExitCode.YES), ("block", ExitCode.NO)])
def test_a_lapsed_entry_holds_or_blocks_as_the_policy_says(
    tui: Tui, tmp_path: Path, on_lapse: str, code: int
) -> None:
    (tmp_path / "soakboard.toml").write_text(f'[policy]\non_lapse = "{on_lapse}"\n')
    write(tmp_path, event(Kind.QUARANTINED))
    found, said = tui("gate", results(tmp_path, FAILS, PASSES), "--at", at(24))
    assert found == code
    assert any("LAPSED" in one and "mara" in one for one in said["warnings"])


@pytest.mark.parametrize("kind", [Kind.UNLOCKED, Kind.REVOKED])
def test_an_entry_that_left_excuses_nothing(tui: Tui, tmp_path: Path, kind: Kind) -> None:
    write(tmp_path, event(Kind.QUARANTINED), event(kind, 1))
    assert tui("gate", results(tmp_path, FAILS, PASSES), "--at", at(2))[0] == ExitCode.NO


def test_a_quarantined_test_that_always_fails_is_no_flake_any_more(
    tui: Tui, tmp_path: Path
) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    folder = tmp_path / "runs"
    folder.mkdir()
    for number in range(3):
        results(folder, FAILS, PASSES.replace("other", f"o{number}"), name=f"{number}.xml")
    code, said = tui("gate", folder, "--at", at(2))
    assert code == ExitCode.NO
    assert all("no longer a flake" in one["why"] for one in said["failures"])


def test_a_quarantined_test_that_vanished_is_reported(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    code, said = tui("gate", results(tmp_path, PASSES), "--at", at(2))
    assert code == ExitCode.YES
    assert said["warnings"] == [f"{TEST} is quarantined and has no result here"]


def test_pinned_tests_that_are_absent_block(tui: Tui, tmp_path: Path) -> None:
    ids = ["m::other", *(f"m::t{number}" for number in range(411))]
    (tmp_path / "inventory.txt").write_text("\n".join(ids))
    (tmp_path / "soakboard.toml").write_text('[inventory]\nfile = "inventory.txt"\n')
    code, said = tui("gate", results(tmp_path, PASSES))
    assert code == ExitCode.NO
    assert "411 of 412 pinned tests are absent, such as m::t0" in said["objections"]


def test_a_malformed_line_of_the_list_never_passes_silently(tui: Tui, tmp_path: Path) -> None:
    path = write(tmp_path, event(Kind.QUARANTINED))
    path.write_bytes(path.read_bytes() + b"nonsense\n")
    code, said = tui("gate", results(tmp_path, PASSES), "--at", at(2))
    assert code == ExitCode.NO
    assert any("line 2" in one for one in said["objections"])
    assert tui("quarantine", "list", "--at", at(2))[0] == ExitCode.BAD_INPUT
    assert tui("quarantine", "check", "--at", at(2))[0] == ExitCode.BAD_INPUT


def test_a_pass_after_a_retry_is_a_pass(tui: Tui, tmp_path: Path) -> None:
    flaky = "<testcase classname='m' name='f'><flakyFailure message='once'/></testcase>"
    assert tui("gate", results(tmp_path, flaky))[0] == ExitCode.YES


def test_an_entry_of_one_lane_excuses_no_other(tui: Tui, tmp_path: Path) -> None:
    """The log of a test that is flaky on one version and fails on another."""
    line = {"run_id": "1", "test_id": "t::a", "outcome": "failed", "exc": "E", "kind": "test"}
    other = {"run_id": "1", "kind": "run_end", "verdict": "fail"}
    ok = {"run_id": "1", "kind": "test", "test_id": "t::b", "outcome": "passed"}
    signature = {"outcome": "failed", "exc": "E", "form": ""}
    write(tmp_path, event(Kind.QUARANTINED, 0, "t::a", variant="py3.9", signatures=[signature]))
    for lane, code in (("py3.9", ExitCode.YES), ("py3.13", ExitCode.NO)):
        path = tmp_path / f"{lane}.jsonl"
        path.write_text(
            "".join(json.dumps(one) + "\n" for one in ({**line, "variant": lane}, ok, other))
        )
        assert tui("gate", path, "--at", at(2))[0] == code, lane


def test_a_name_in_another_form_is_shown_as_not_matched(tui: Tui, tmp_path: Path) -> None:
    dotted = "<testcase classname='{}.TestFake' name='test_fq'><failure/></testcase>"
    signature = {"outcome": "failed", "exc": "", "form": ""}
    write(
        tmp_path,
        event(Kind.QUARANTINED, 0, "x::quant.ops.TestFake::test_fq", signatures=[signature]),
    )
    cases = (dotted.format("quant.ops"), dotted.format("__main__"), PASSES)
    path = tmp_path / "r.xml"
    path.write_text(f"<testsuite name='x' tests='3'>{''.join(cases)}</testsuite>")
    code, said = tui("gate", path, "--at", at(2))
    assert code == ExitCode.NO
    assert [one["excused"] for one in said["failures"]] == [False, True]


# Entering


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the ground truth is absent")
def test_only_flakes_with_complete_evidence_are_admitted(tui: Tui, tmp_path: Path) -> None:
    labels = json.loads((CORPUS / "labels.json").read_text("utf-8"))
    db = tmp_path / "i.duckdb"
    assert main(["ingest", "-q", "--db", str(db), str(CORPUS)]) == 0
    admitted = set()
    for experiment, label in labels.items():
        code, said = tui(
            "quarantine",
            "add",
            label["test_id"],
            "--experiment",
            experiment,
            "--owner",
            "o",
            "--reason",
            "r",
            "--db",
            db,
            "--quarantine",
            tmp_path / f"{experiment}.jsonl",
        )
        failing = [one["rule"] for one in said["conditions"] if not one["holds"]]
        if code == ExitCode.YES:
            admitted.add(experiment)
            assert not failing
            assert label["class"] == "test flake", experiment
        else:
            assert code == ExitCode.NO
            assert failing
            assert all(one["remedy"] for one in said["conditions"] if not one["holds"])
        if label["class"] != "test flake":
            assert "class is test flake (4a, 4b)" in failing, experiment
    assert any(name.startswith("seed_flake") for name in admitted)


def flaky(name: str = "night", failures: int = 20) -> Log:
    """A test that fails by itself, with complete stress arms on patch and green."""
    log_ = Log(name).header().soak(12)
    counts = {"serial": 1, "repeat": failures // 2, "tightened": failures // 2, "loaded": 4}
    return log_.stress(counts).stress(counts, "green")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    db = tmp_path / "i.duckdb"
    assert main(["ingest", "-q", "--db", str(db), str(flaky().write(tmp_path))]) == 0
    return db


ADD = ("--owner", "mara", "--reason", "unseeded")
ID = "tests/test_order.py::test_total"


def test_a_flake_enters_with_its_contract(tui: Tui, index: Path, tmp_path: Path) -> None:
    code, said = tui("quarantine", "add", ID, *ADD, "--db", index, "--for", "6h")
    assert code == ExitCode.YES, said
    made = said["event"]
    assert (made["owner"], made["class"], made["row"]) == ("mara", "test flake", "4b")
    assert made["signatures"] == [
        {"outcome": "failed", "exc": "AssertionError", "form": "assert # == #"}
    ]
    alone = made["evidence"]["alone"]
    assert said["runs_to_leave"] == need(lower(Count(alone["k"], alone["n"])))
    assert made["evidence"]["sources"][0]["path"].endswith("night.jsonl")
    code, shown = tui("quarantine", "list", "--db", index)
    assert [one["state"] for one in shown["entries"]] == ["active"]
    code, _ = tui("quarantine", "add", ID, *ADD, "--db", index)
    assert code == ExitCode.NO
    assert len((tmp_path / "quarantine.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--owner", " ", "--reason", "x"), "an owner and a reason"),
        (("--owner", "x"), "an owner and a reason"),
        ((*ADD, "--for", "31d"), "at most 30 days"),
    ],
)
def test_every_rule_refuses_by_its_name(
    tui: Tui, index: Path, tmp_path: Path, options: tuple[str, ...], rule: str
) -> None:
    code, said = tui("quarantine", "add", ID, *options, "--db", index)
    assert code == ExitCode.NO
    assert [one["rule"] for one in said["conditions"] if not one["holds"]] == [rule]
    assert (tmp_path / "quarantine.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "name", ["tests/test_order.py", "tests/test_order.py::*", "test_total", "tests"]
)
def test_never_a_file_a_glob_or_a_part_of_a_name(tui: Tui, index: Path, name: str) -> None:
    assert tui("quarantine", "add", name, *ADD, "--db", index)[0] == ExitCode.BAD_INPUT


def test_a_known_race_is_refused_with_its_fix(tui: Tui, index: Path, tmp_path: Path) -> None:
    (tmp_path / "race-patterns.toml").write_text(
        f'[[pattern]]\ntest = "{ID}"\nsignature = "assert # == #"\ncause = "no lock"\n'
        'fix = "take the lock"\ndate = "2026-05-01"\n'
    )
    code, said = tui("quarantine", "add", ID, *ADD, "--db", index)
    (refused,) = [one for one in said["conditions"] if not one["holds"]]
    assert code == ExitCode.NO
    assert (refused["figures"], refused["remedy"]) == ("no lock (2026-05-01)", "take the lock")


def test_too_little_stress_and_too_few_failures_are_refused(tui: Tui, tmp_path: Path) -> None:
    db = tmp_path / "i.duckdb"
    short = Log("short").header().soak(12).arm("repeat", 2, 60).arm("repeat", 2, 60, "green")
    main(["ingest", "-q", "--db", str(db), str(short.write(tmp_path))])
    code, said = tui("quarantine", "add", ID, *ADD, "--db", db)
    rules = {one["rule"].split(",")[0] for one in said["conditions"] if not one["holds"]}
    assert code == ExitCode.NO
    assert {"class is test flake (4a", "at least 3 failures", "stress runs at least 200"} <= rules


# Staying and leaving


def test_check_exits_1_from_the_second_it_lapses(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    edge = hours(24)
    before = stamp(edge - timedelta(seconds=1))
    assert tui("quarantine", "check", "--at", before)[0] == ExitCode.YES
    code, said = tui("quarantine", "check", "--at", stamp(edge))
    assert code == ExitCode.NO
    assert [one["owner"] for one in said["lapsed"]] == ["mara"]
    code, said = tui("quarantine", "check", "--at", before, "--within", "1h")
    assert (code, len(said["due"])) == (ExitCode.YES, 1)


def test_a_renewal_needs_newer_evidence_and_later_somebody_else(
    tui: Tui, index: Path, tmp_path: Path
) -> None:
    tui("quarantine", "add", ID, *ADD, "--db", index)
    code, said = tui("quarantine", "renew", ID, "--db", index)
    assert code == ExitCode.NO
    assert "evidence newer than the last" in [
        one["rule"] for one in said["conditions"] if not one["holds"]
    ]
    for number, approval in enumerate([(), (), ("--approved-by", "lead")]):
        log_ = Log(f"fresh{number}", slot=10_000 * (number + 1)).header().soak(12)
        counts = {"serial": 1, "repeat": 10, "tightened": 10, "loaded": 4}
        path = log_.stress(counts).stress(counts, "green").write(tmp_path)
        main(["ingest", "-q", "--db", str(index), str(path)])
        code, said = tui("quarantine", "renew", ID, "--db", index, *approval)
        if number == 1:
            assert code == ExitCode.NO
            (refused,) = [one for one in said["conditions"] if not one["holds"]]
            assert refused["rule"] == "approved by someone else"
        else:
            assert code == ExitCode.YES, said


def test_a_release_is_earned_in_clean_runs_after_the_code_moved(
    tui: Tui, index: Path, tmp_path: Path
) -> None:
    tui("quarantine", "add", ID, *ADD, "--db", index, "--at", "2026-05-29T00:00:00Z")
    code, said = tui("quarantine", "release", ID, "--db", index)
    assert code == ExitCode.NO
    diff = tmp_path / "d.diff"
    diff.write_text("--- a/tests/test_order.py\n+++ b/tests/test_order.py\n@@ -1 +1 @@\n-a\n+b\n")
    moved = stamp(hours(0).replace(month=7))
    assert tui("quarantine", "touch", "--diff", diff, "--at", moved)[1]["unlocked"]
    code, said = tui("quarantine", "release", ID, "--db", index)
    asked = [one for one in said["conditions"] if not one["holds"]]
    assert code == ExitCode.NO
    assert asked[0]["figures"] == "0 failures in 0 runs"
    later = Log("clean", slot=700_000).header().soak(12).arm("repeat", 0, 120)
    main(["ingest", "-q", "--db", str(index), str(later.write(tmp_path))])
    code, said = tui("quarantine", "release", ID, "--db", index)
    assert code == ExitCode.YES, said


def test_an_entry_that_hides_a_race_is_inert_at_once(tui: Tui, tmp_path: Path) -> None:
    db = tmp_path / "i.duckdb"
    raced = Log("raced").header().soak(12)
    raced = raced.stress({"serial": 3, "repeat": 8, "tightened": 60, "loaded": 4}).stress(
        {}, "green"
    )
    main(["ingest", "-q", "--db", str(db), str(raced.write(tmp_path))])
    early = START.replace(year=2025)
    signature = {"outcome": "failed", "exc": "AssertionError", "form": "assert # == #"}
    made = event(Kind.QUARANTINED, 0, ID, signatures=[signature])
    fields = {**made.fields, "expires_at": stamp(early + timedelta(days=1))}
    from dataclasses import replace

    write(tmp_path, replace(made, at=early, fields=fields))
    code, said = tui("quarantine", "check", "--db", db)
    assert code == ExitCode.NO
    assert "hid a race from 2025-11-30" in said["hid"][0]["sentence"]
    failing = Log("now").run(
        "subject", "gate", [fails(ID), passes("t.py::ok")], end={"verdict": "fail"}
    )
    folder = tmp_path / "now"
    folder.mkdir()
    code, said = tui("gate", failing.write(folder), "--db", db)
    assert code == ExitCode.NO
    assert "hid a race" in said["failures"][0]["why"]


def test_the_price_is_what_was_excused_of_what_ran(tui: Tui, tmp_path: Path) -> None:
    db = tmp_path / "i.duckdb"
    signature = {"outcome": "failed", "exc": "AssertionError", "form": "assert # == #"}
    made = event(Kind.QUARANTINED, 0, ID, signatures=[signature])
    from dataclasses import replace

    early = START.replace(year=2026, month=5, day=1)
    fields = {**made.fields, "expires_at": stamp(early + timedelta(days=1))}
    write(tmp_path, replace(made, at=early, fields=fields))
    log_ = Log("gated")
    for number in range(40):
        how = [fails(ID)] if number in (3, 9) else [passes(ID)]
        if number == 20:
            how = [fails(ID, message="another way")]
        end = {"verdict": "fail" if number in (3, 9, 20) else "pass"}
        log_ = log_.run("subject", "gate", how, patch_id=f"p{number % 4}", end=end)
    main(["ingest", "-q", "--db", str(db), str(log_.write(tmp_path))])
    _, said = tui("quarantine", "list", "--db", db)
    price = said["entries"][0]["price"]
    assert (price["excused"], price["executed"], price["runs"], price["patches"]) == (2, 40, 40, 4)
    # By hand: the rate at which 2 or fewer of 40 would be seen with a chance of 5 % only.
    assert price["upper"] == pytest.approx(upper(Count(2, 40)))
    assert price["upper"] == pytest.approx(0.1491, abs=5e-4)


def test_notes_and_revocations_are_written_down(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    assert tui("quarantine", "note", TEST, "--text", "I disagree", "--by", "lead")[0] == 0
    assert tui("quarantine", "revoke", TEST)[0] == ExitCode.BAD_INPUT
    assert tui("quarantine", "revoke", TEST, "--reason", "a race", "--by", "lead")[0] == 0
    _, said = tui("quarantine", "show", TEST)
    assert [one["event"] for one in said["events"]] == ["quarantined", "noted", "revoked"]
    assert said["state"] == "revoked"
    assert tui("quarantine", "revoke", TEST, "--reason", "again")[0] == ExitCode.NO


def test_no_data_is_no_recovery(tui: Tui, tmp_path: Path) -> None:
    write(tmp_path, event(Kind.QUARANTINED))
    _, said = tui("quarantine", "list", "--at", at(24 * 31))
    assert [one["state"] for one in said["entries"]] == ["lapsed"]


def test_the_same_failure_is_of_the_same_signature() -> None:
    from analysis.quarantine.evidence import signature

    assert signature("failed", "AssertionError", "clock crossed a boundary: 41 != 42") == SIGNATURE
    assert signature("failed", "AssertionError", None).form == ""


@pytest.mark.parametrize("form", ["md", "html", "json", "csv"])
def test_every_format_has_what_is_listed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, event(Kind.QUARANTINED, 0, "t.py::=cmd[<b>]", owner="=mara"))
    path = Log("night").header().soak(1).write(tmp_path)
    assert main(["export", str(path), "--what", "quarantine", "--format", form]) == ExitCode.YES
    out = capsys.readouterr().out
    assert "t.py::=cmd[" in out
    assert "<b>" not in out or form in ("json", "csv", "md")
    assert not [line for line in out.splitlines() if form == "csv" and ",=mara" in line]
    if form == "json":
        (entry,) = json.loads(out)["entries"]
        assert entry["owner"] == "=mara"
