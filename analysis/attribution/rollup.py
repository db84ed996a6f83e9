"""From units to a patch, and from patches to an experiment."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.model import UnitClass

BLOCKING = frozenset(UnitClass) - {UnitClass.STABLE}
"""`--allow insufficient` lifts that class; an active quarantine entry lifts a test flake."""

_ROLL_UP = list(UnitClass)


def roll_up(classes: Sequence[UnitClass]) -> UnitClass:
    """Units to a patch, patches to an experiment: the worst that occurs."""
    return min(classes, key=_ROLL_UP.index, default=UnitClass.INSUFFICIENT)
