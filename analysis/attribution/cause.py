"""What a unit's class comes from, in a few words: units of one class and cause are one problem."""

from __future__ import annotations

from analysis.attribution.facts import Unit
from analysis.attribution.table import Decision
from analysis.model import UnitClass

NO_FAILURE = "no failure"

_OF_THE_EXPERIMENT = (UnitClass.INVALID, UnitClass.BROKEN)


def cause_of(unit: Unit, decision: Decision) -> str:
    """The shared resource where one is named, else what holds for the whole experiment, else
    the message of most failures for a bug of the harness, else the test itself."""
    address = decision.judgement.address
    if address is not None and address.id is not None:
        return f"{address.kind} {address.id}"
    row = decision.row
    if row.unit_class in _OF_THE_EXPERIMENT or row.name == "V4":
        return row.condition
    if not unit.failures:
        return NO_FAILURE
    if row.unit_class is UnitClass.HARNESS:
        if address is not None:
            return f"{address.kind} (which one is not recorded)"
        if unit.detail.form:
            return unit.detail.form
    return unit.test_id if unit.variant is None else f"{unit.test_id} [{unit.variant}]"
