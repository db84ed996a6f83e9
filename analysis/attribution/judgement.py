"""What a row says of a unit: whether it matches, its numbers, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.attribution.contrasts import Contrasts, Tested
from analysis.attribution.facts import Address, Unit
from analysis.config import Policy
from analysis.model import Locus, Phase


@dataclass(frozen=True)
class Case:
    """A unit with its comparisons and the policy it is judged by."""

    unit: Unit
    contrasts: Contrasts
    policy: Policy


@dataclass(frozen=True)
class Judgement:
    """A row's answer.

    numbers: the counts and p-value that decided, in words. The rest is set where it matches:
    why: one sentence; action: an imperative; need: runs of a phase that would decide.
    """

    matches: bool
    numbers: str
    why: str = ""
    action: str = ""
    p: float | None = None
    locus: Locus | None = None
    address: Address | None = None
    need: Mapping[Phase, int] | None = None


def no(numbers: str) -> Judgement:
    """The row does not match."""
    return Judgement(False, numbers)


def p_text(p: float) -> str:
    """A p-value as people read it: 0.031, 9.9e-05."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def significant(test: Tested, case: Case) -> bool:
    """Whether a comparison promotes a unit to a class: only a corrected p does."""
    return test.p < case.policy.alpha and case.contrasts.promoted


def p_words(test: Tested) -> str:
    """A comparison as people read it."""
    return f"p {p_text(test.p)}" if test.comparable else "nothing to compare"


def order_association(case: Case) -> bool:
    """Row 4o: the unit fails after one other test in the same process and never without it."""
    polluter = case.contrasts.polluter
    return (
        polluter is not None
        and polluter.lacking.n > 0
        and polluter.lacking.k == 0
        and significant(case.contrasts.order, case)
    )


def green_unjudged(case: Case) -> bool:
    """Green was there, but never executed what it is judged on: nothing may rest on it."""
    green = case.unit.experiment.green
    return green.present and not green.failed.n
