"""Logs of real experiments, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.records import find_logs, open_source

LOGS = Path(__file__).parents[3] / "../shared/corpus/ground-truth"


@pytest.mark.skipif(not LOGS.is_dir(), reason="the logs of real experiments are not here")
def test_logs_of_real_experiments_are_read_without_a_reject(read_all):
    logs = find_logs(LOGS)
    assert len(logs) >= 39
    for path in logs:
        with open_source(path) as stream:
            data = stream.read()
        items = [json.loads(line) for line in data.splitlines()]
        reading = read_all(data)
        assert reading.counts == (len(items), len(items), 0, 0, 0)
        outcomes = [item["outcome"] for item in items if item["kind"] == "test"]
        assert [row["outcome"] for row in reading.tests] == outcomes
        verdicts = [item["verdict"] for item in items if item["kind"] == "run_end"]
        assert [run["verdict"] for run in reading.runs if run["kind"] == "run_end"] == verdicts
        assert {row["experiment"] for row in reading.experiments} == {items[0]["experiment"]}
        assert set(reading.rules) <= {"clock-suspect"}
