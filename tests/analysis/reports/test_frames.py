"""Frames for notebooks: the numbers of the queries, in the shape that their docstrings say."""

from __future__ import annotations

import duckdb
import pandas as pd

from analysis.model import Phase
from analysis.queries.attributions import units
from analysis.queries.experiments import Choice, chosen
from analysis.queries.stability import patch_rows
from analysis.reports.frames import attribution_frame, stability_frame, verdict_matrix


def names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return chosen(connection, Choice(everything=True))


def test_a_row_of_the_attribution_frame_is_a_unit(samples: duckdb.DuckDBPyConnection) -> None:
    frame = attribution_frame(samples, names(samples))
    found = units(samples, names(samples))
    assert list(frame["test_id"]) == [unit.test_id for unit in found]
    assert list(frame["class"]) == [unit.unit_class for unit in found]
    assert list(frame["company_k"]) == [unit.bounds["company"]["k"] for unit in found]
    assert list(frame["alone_upper"]) == [unit.bounds["alone"]["upper"] for unit in found]
    assert frame["company_n"].dtype.kind == "i"
    (port,) = frame.loc[frame["resource_kind"] == "port", "resource_id"]
    assert port == "26411"
    assert frame.loc[frame["class"] == "stable", "resource_kind"].isna().all()


def test_a_row_of_the_stability_frame_is_a_canary_or_a_patch(
    samples: duckdb.DuckDBPyConnection,
) -> None:
    frame = stability_frame(samples, names(samples))
    patches = patch_rows(samples, names(samples))
    subjects = frame[frame["role"] == "subject"]
    assert list(subjects["flips"]) == [row.counts.flips for row in patches]
    assert list(subjects["soak"]) == [row.strips["soak"] for row in patches]
    assert list(frame["role"].iloc[:2]) == ["red", "green"]
    assert list(frame.columns[-7:]) == [phase.value for phase in Phase]


def test_the_matrix_has_a_cell_a_run(samples: duckdb.DuckDBPyConnection) -> None:
    matrix = verdict_matrix(samples, names(samples))
    phases = list(dict.fromkeys(matrix.columns.get_level_values("phase")))
    assert phases == [phase.value for phase in Phase if phase.value in phases]
    for row in patch_rows(samples, names(samples)):
        cells = matrix.loc[(row.counts.experiment, row.counts.patch_id)]
        for phase, strip in row.strips.items():
            assert "".join(cells[phase].dropna()) == strip
        assert cells.notna().sum() == row.counts.runs


def test_no_experiment_gives_frames_without_rows(samples: duckdb.DuckDBPyConnection) -> None:
    for frame in (attribution_frame(samples, []), stability_frame(samples, [])):
        assert isinstance(frame, pd.DataFrame)
        assert frame.empty
        assert len(frame.columns) > 10
    assert verdict_matrix(samples, []).empty
