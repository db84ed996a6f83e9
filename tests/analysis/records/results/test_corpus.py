"""Real result files of some forty producers, read as their readings say."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analysis.records.results import Foreign, Format, Reading, recognise, summary
from analysis.records.results.junit import _Handler
from analysis.records.results.xml import walk

CORPUS = Path(__file__).parents[5] / "shared" / "corpus" / "results"
NAMES = (
    sorted(json.loads((CORPUS / "readings.json").read_text("utf-8"))) if CORPUS.is_dir() else ["-"]
)

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of result files is absent")

NO_RESULTS = {
    "junit/enricomi__non-junit.xml",
    "junit/enricomi__NUnit-issue47367.xml",
    "junit/enricomi__non-xml.xml",
    "junit/enricomi__empty.xml",
    "junit/jenkinsci__testXxe-xxe.xml",
    "junit/catchorg__junit.sw.approved.txt",
    "junit/ctrf-io__not-junit.xml",
    "json/buildkite__test-engine-result.json",
    "json/pytorch__slow-tests.json",
    "json/sippy__OCPCRT-74-pr-test.json",
}
"""Files that nothing is recognised in: they are refused like any file that is no log."""

DEVIATIONS = {
    # The one pass is contradicted by a panic in its own output: it proves nothing.
    "json/gotestyourself__go-test-json-panic-race-1.out": {"pass": 0},
}


def facts_of(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((CORPUS / "readings.json").read_text("utf-8"))[name]
    return found


def read(raw: bytes) -> Reading | Foreign | None:
    form = recognise(raw[: 64 * 1024])
    return form.read(io.BytesIO(raw)).settled() if isinstance(form, Format) else form


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_as_it_is_or_refused_by_name(name: str) -> None:
    raw, right = (CORPUS / name).read_bytes(), facts_of(name)["reading"]
    found = read(raw)
    if name in NO_RESULTS:
        assert found is None
    elif isinstance(found, Foreign):
        assert "which is not read" in found.sentence
        # None of the files that are JUnit is taken for another format.
        assert "cases" not in right or not right["cases"]
    else:
        assert found is not None
        check = {"junit": junit, "go-test": go_test, "ctrf": ctrf}[found.format]
        check(found, raw, {**right, **DEVIATIONS.get(name, {})})


def junit(found: Reading, raw: bytes, right: Mapping[str, Any]) -> None:
    """Cases as they stand in the file, before attempts at one test are put together."""
    if "unreadable" in right:
        assert not found.complete
        return
    handler = _Handler()
    walk(io.BytesIO(raw), handler)
    cases = handler.cases
    kinds = Counter(
        "not run" if case.marked and not case.results else str(case.outcome) for case in cases
    )
    left_out = right.get("notrun_by_attr", 0)
    assert len(cases) == right["cases"]
    assert kinds["not run"] == left_out
    assert kinds["passed"] == right["passed"] - left_out
    assert (kinds["failed"], kinds["error"]) == (right["failed"], right["error"])
    assert kinds["skipped"] == right["skipped"]
    assert handler.suite_errors == right.get("suite_level_errors", 0)
    assert len(found.executions) - len(cases) == right.get("extra_attempts", 0)
    if right.get("flaky"):
        assert summary(found).flaky == right["flaky"]
    if not cases or handler.suite_errors:
        assert not found.complete


def go_test(found: Reading, raw: bytes, right: Mapping[str, Any]) -> None:
    counts = summary(found)
    assert counts.tests == right["tests"]
    assert (counts.passed, counts.failed) == (right["pass"], right["fail"])
    assert counts.flaky == right.get("flaky(pass+fail)", 0)
    assert len(found.rejects) == right.get("bad_lines", 0)
    unfinished = right["run_without_end"] + (1 if "pass" in right and counts.not_run else 0)
    assert counts.not_run in (right["run_without_end"], unfinished)
    if right["packages"]["fail"] and not right["fail"]:
        assert not counts.complete
    if right.get("build-fail"):
        assert not counts.complete


def ctrf(found: Reading, raw: bytes, right: Mapping[str, Any]) -> None:
    counts = summary(found)
    assert (counts.tests, counts.passed) == (right["tests"], right["passed"])
    assert counts.failed == right.get("failed", 0)
    assert counts.skipped == right.get("skipped", 0)
    assert counts.not_run == right.get("pending", 0) + right.get("other", 0)
    assert counts.flaky == right["flaky"]
    assert counts.attempts - counts.tests == right["retries"]
    assert not found.notes
