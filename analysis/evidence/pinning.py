"""The inventory at the gate: what was collected against what is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.records.identity import normal_form


@dataclass(frozen=True)
class Comparison:
    """missing: pinned, not collected; grown: collected, not pinned. In normal form, sorted."""

    pinned: int
    missing: tuple[str, ...]
    grown: tuple[str, ...]


def compare(pinned: Sequence[str], collected: Sequence[str]) -> Comparison:
    """Hold the ids that were collected against those that are pinned, by their normal forms."""
    wanted, found = set(map(normal_form, pinned)), set(map(normal_form, collected))
    return Comparison(len(wanted), tuple(sorted(wanted - found)), tuple(sorted(found - wanted)))
