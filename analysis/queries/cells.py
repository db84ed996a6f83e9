"""Runs as cells: one character a run, in the order in which they started.

A cell is PASSED, FAILED, NO_VERDICT or VOID. Ties of starts are broken by run id; runs without a
start follow in the order of rounds and lines. What `tui check` prints as a verdict of a run is
its cell here, within an outage too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TypeVar

from analysis.model import Phase

PASSED, FAILED, NO_VERDICT, VOID = "p", "f", "n", "v"

T = TypeVar("T")

# Where no start is recorded, the place in the log is the only order there is.
CELLS = """
SELECT experiment, patch_id, role, phase, run_id, started, round, in_outage, log, line,
    row(coalesce(started, 'infinity'::TIMESTAMP),
        CASE WHEN started IS NULL THEN row(round, log, line) END, run_id) AS place,
    CASE WHEN standing = 'void' THEN 'v' WHEN executed THEN left(verdict, 1) ELSE 'n' END AS cell,
    CASE WHEN executed THEN nullif(verdict, 'none') END AS verdict
FROM runs WHERE list_contains($experiments, experiment)
"""
"""The runs of the experiments $experiments. `place` orders them; verdict is NULL for none."""


def flips_in(strip: str) -> int:
    """Changes from one verdict to the next in the strip of a phase."""
    verdicts = [cell for cell in strip if cell in (PASSED, FAILED)]
    return sum(one != other for one, other in pairwise(verdicts))


def in_order(found: Mapping[str, T]) -> dict[str, T]:
    """What is known of phases, in the order in which they are shown."""
    return {phase.value: found[phase.value] for phase in Phase if phase.value in found}
