"""The sentences that answer, and how numbers and runs are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from analysis.model import UnitClass
from analysis.queries.attributions import UnitRow
from analysis.queries.audited import AuditTotals
from analysis.queries.overview import Overview, Trust
from analysis.queries.stability import Totals

SHOWN_RUNS = 60
"""Runs of a phase that a table shows: the newest."""

MARKS: Mapping[UnitClass, str] = {
    UnitClass.INVALID: "⊘",
    UnitClass.BROKEN: "◆",
    UnitClass.HARNESS: "▲",
    UnitClass.CONSISTENT: "✗",
    UnitClass.RACE: "⇄",
    UnitClass.INSUFFICIENT: "?",
    UnitClass.FLAKE: "≈",
    UnitClass.STABLE: "✓",
}

SIGNS = str.maketrans({"p": "·", "f": "✗", "n": "–", "v": "⊘"})
LEGEND = "A sign a run, in start order: · pass, ✗ fail, ⊘ void, – no verdict."


def trust_sentence(found: Overview) -> str:
    """May the gate be trusted? Unknown is not trusted."""
    if found.trust is Trust.YES:
        red, green = found.red, found.green
        return (
            f"✓ {found.trust}  Red failed {red.good}/{red.judged}, green passed "
            f"{green.good}/{green.judged}, nothing is against it."
        )
    reasons = ", ".join(found.reasons)
    unknown = found.trust is Trust.UNKNOWN
    sign, end = ("?", "Run more.") if unknown else ("◆", "Block merges.")
    return f"{sign} {found.trust}  {reasons[:1].upper()}{reasons[1:]}. {end}"


def quarantine_sentence(units: Sequence[UnitRow]) -> str:
    """How many tests may be quarantined, and what the others need."""
    found = Counter(unit.unit_class for unit in units)
    flakes, hold = found.pop(UnitClass.FLAKE, 0), found.pop(UnitClass.STABLE, 0)
    runs = found.pop(UnitClass.INSUFFICIENT, 0)
    return (
        f"≈ {flakes:,} OF {len(units):,} MAY BE QUARANTINED  {found.total():,} need a fix first, "
        f"{runs:,} more runs, {hold:,} hold."
    )


def flips_sentence(found: Totals) -> str:
    """How many patches flipped."""
    return (
        f"⇄ {found.patches_flipped:,} OF {found.patches:,} PATCHES FLIPPED  in "
        f"{found.flipped:,} of {found.rows:,} soaks of a patch; {found.held:,} held, "
        f"{found.void:,} have no verdict."
    )


def evidence_sentence(found: AuditTotals) -> str:
    """How many logged passes prove nothing."""
    return (
        f"⊘ {found.overturned:,} OF {found.passes:,} LOGGED PASSES PROVE NOTHING  of "
        f"{found.runs:,} runs {found.void:,} are void, {found.unproven:,} unproven."
    )


def bound(k: int, n: int, lower: float, upper: float) -> str:
    """The one-sided bound of a rate: the lower one where it never passed; nothing for 0 of 0."""
    if not n:
        return ""
    return f"≥{lower:.1%}" if k == n else f"≤{upper:.1%}"


def strip(cells: str) -> str:
    """The signs of a phase's runs; the newest where there are many, and of how many."""
    signs = cells.translate(SIGNS)
    if len(signs) <= SHOWN_RUNS:
        return signs
    return f"…{signs[-SHOWN_RUNS:]} (last {SHOWN_RUNS} of {len(signs):,})"
