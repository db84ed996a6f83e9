"""The complete decision table: rows in order, the first that matches decides.

A row is data: its name, its condition in words, the class it gives and the function that
judges a unit. The same object drives the classes, `--explain` and the documentation.
Source: the attribution specification; the statistics are in `statistics`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.attribution import (
    alone_rows,
    experiment_rows,
    harness_rows,
    quiet_rows,
    race_rows,
)
from analysis.attribution.judgement import Case, Judgement
from analysis.model import UnitClass

Judge = Callable[[Case], Judgement]


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    name: str
    condition: str
    unit_class: UnitClass
    judge: Judge


_E, _H, _P = experiment_rows, harness_rows, race_rows
_A, _Q = alone_rows, quiet_rows
_INVALID, _BROKEN, _HARNESS = UnitClass.INVALID, UnitClass.BROKEN, UnitClass.HARNESS
_RACE, _UNSURE, _FLAKE = UnitClass.RACE, UnitClass.INSUFFICIENT, UnitClass.FLAKE

TABLE: tuple[Row, ...] = (
    Row("V1", "a soak or canary run says pass and cannot be one", _INVALID, _E.impossible_pass),
    Row("V2", "the records are torn, doubled, unbound or mostly unusable", _INVALID, _E.unbound),
    Row("V3", "a pinned test has no record in the subject's soak", _INVALID, _E.pinned_absent),
    Row("V4", "no soak, or a soak without red or without green", _UNSURE, _E.no_controls),
    Row("V5", "red failed its pinned test in too few rounds", _INVALID, _E.red_unproven),
    Row("V6", "green's pinned test failed in every run", _INVALID, _E.green_broken),
    Row("2a", "red's pinned test passed at least once", _BROKEN, _E.red_passed),
    Row("2b", "green's pinned test failed at least once, not always", _BROKEN, _E.green_failed),
    Row("1a", "fails more while a peer holds the same resource", _HARNESS, _H.exposed),
    Row("1b", "failures tied to one inherited value", _HARNESS, _H.inherited),
    Row("1d", "a shared-resource signature in half of the failures", _HARNESS, _H.signed),
    Row("1e", "fails in company, never alone", _HARNESS, _H.company_only),
    Row("1g", "fails in serial more than in company", _HARNESS, _H.serial_more),
    Row("1c", "the alone phases were not fresh", _HARNESS, _H.unfresh),
    Row("1f", "soak mixed and no alone run", _HARNESS, _H.soak_mixed),
    Row("C", "failed in every executed run, serial included", UnitClass.CONSISTENT, _P.always),
    Row("3a", "fails on the patch more than on green, over the same arms", _RACE, _P.on_patch),
    Row("3b", "climbs when timing is tightened", _RACE, _P.tightened),
    Row("3c", "unstable only at high concurrency, no stress arm", _RACE, _P.concurrency_only),
    Row("I1", "fails alone, too few failures", _UNSURE, _A.too_few),
    Row("I2", "fails alone, the stress verdict is incomplete", _UNSURE, _A.stress_incomplete),
    Row("I3", "climbs under load or on a smaller machine", _UNSURE, _A.load_sensitive),
    Row("4a", "fails only after one other test", _FLAKE, _A.after_another),
    Row("4b", "fails alone, flat under stress, equal on green", _FLAKE, _A.flake),
    Row("I4", "failures in company or gate runs only, too few", _UNSURE, _Q.company_few),
    Row("S", "no failure, enough runs", UnitClass.STABLE, _Q.stable),
    Row("I5", "no failure, too few runs", _UNSURE, _Q.unseen),
)


@dataclass(frozen=True)
class Decision:
    """The row that decided, and every row tried on the way to it, in the table's order."""

    row: Row
    judgement: Judgement
    tried: tuple[tuple[Row, Judgement], ...]


def decide(case: Case) -> Decision:
    """Exactly one row for every case. Raises LookupError if none matches, which is a defect."""
    tried: list[tuple[Row, Judgement]] = []
    for row in TABLE:
        judgement = row.judge(case)
        tried.append((row, judgement))
        if judgement.matches:
            return Decision(row, judgement, tuple(tried))
    raise LookupError(f"no row matches {case.unit.test_id} on {case.unit.patch_id}")
