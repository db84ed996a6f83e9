"""In a log of 200 mixed records exactly the planted ones are found, for rules on plain records."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.evidence.rules import Family

SOUND = {"verdict": "pass", "collected": 3, "passed": 3, "finished": "2026-05-01T00:00:00Z"}
TEST = {"test_id": "t::a", "outcome": "passed"}
PLANTED: dict[Family, list[tuple[str, dict[str, Any]]]] = {
    Family.COUNTS: [
        ("no-tests-collected", {"collected": 0, "passed": 0}),
        ("no-tests-collected", {"exit_code": 5}),
        ("nothing-passed", {"passed": 0, "skipped": 3}),
        ("counts-missing", {"passed": None}),
        ("counts-contradict", {"passed": 2, "failed": 1}),
        ("counts-contradict", {"exit_code": 1}),
        ("counts-contradict", {"skipped": -1}),
        ("suite-cut", {"passed": 2}),
        ("inventory-missing", {"inventory_missing": 1}),
    ],
    Family.RUN_LOG: [
        ("log-incomplete", {"complete": False}),
        ("log-incomplete", {"steps": 7}),
        ("log-missing", {"proof": {"log": {"path": "", "sha256": "0"}}}),
        ("log-digest-mismatch", {"proof": {"log": {"path": "x"}}}),
    ],
    Family.STREAM: [
        ("clock-suspect", {"started": "2026-05-01T00:00:01Z"}),
        ("clock-suspect", {"finished": "1999-01-01T00:00:00Z"}),
        ("unlabelled-zone", {"finished": "2026-05-01T00:00:00"}),
        ("alias-conflict", {"exit_code": 0, "rc": 1}),
        ("opinion-alone", {"source": "opinion"}),
        ("log-run-mismatch", {"tests": [{**TEST, "run_id": "other"}], "collected": 1, "passed": 1}),
    ],
}


@pytest.mark.parametrize("family", PLANTED)
def test_exactly_the_planted_records_are_found(audited: Any, family: Family) -> None:
    planted = PLANTED[family]
    lines, expected = [], {}
    for number in range(200):
        line: dict[str, Any] = {"run_id": f"r{number}", "patch_id": f"P{number}", **SOUND}
        if number % 9 == 4 and number // 9 < len(planted):
            rule, fields = planted[number // 9]
            line |= fields
            expected[f"r{number}"] = rule
        elif number % 3 == 0:
            line |= {"verdict": "fail", "passed": 2, "failed": 1, "exit_code": 1}
        lines.append({key: value for key, value in line.items() if value is not None})
    found = audited(*lines)
    assert set(found.column("SELECT DISTINCT run_id FROM findings")) == set(expected)
    for run, rule in expected.items():
        assert rule in found.rules(run)
