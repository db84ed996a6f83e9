"""The statistics of the decision table: exact bounds, exact tests, run counts.

Sources: Clopper and Pearson (1934) for bounds, Fisher's exact test with Lancaster's
mid-p (1961) for comparisons, Benjamini and Hochberg (1995) for many tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln

CONFIDENCE = 0.95


class Count(NamedTuple):
    """k failures of n executed."""

    k: int
    n: int

    def __add__(self, other: object) -> Count:
        if not isinstance(other, Count):
            return NotImplemented
        return Count(self.k + other.k, self.n + other.n)

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"

    @property
    def mixed(self) -> bool:
        """Both outcomes seen."""
        return 0 < self.k < self.n


ZERO = Count(0, 0)


def total(counts: Iterable[Count]) -> Count:
    """The sum of counts; 0/0 for none."""
    result = ZERO
    for count in counts:
        result = result + count
    return result


class Stratum(NamedTuple):
    """Two groups within one phase, role or machine size: is `high` above `low`?"""

    high: Count
    low: Count


def upper(count: Count) -> float:
    """One-sided 95 % upper bound of a rate: BetaInv(0.95; k+1, n-k). 1.0 for n = 0."""
    if count.n == 0 or count.k >= count.n:
        return 1.0
    return float(betaincinv(count.k + 1, count.n - count.k, CONFIDENCE))


def lower(count: Count) -> float:
    """One-sided 95 % lower bound of a rate: BetaInv(0.05; k, n-k+1). 0.0 for k = 0."""
    if count.k <= 0:
        return 0.0
    return float(betaincinv(count.k, count.n - count.k + 1, 1 - CONFIDENCE))


def interval(count: Count) -> tuple[float, float]:
    """Two-sided 95 % Clopper-Pearson interval of a rate; (0, 1) for n = 0."""
    tail = (1 - CONFIDENCE) / 2
    if count.n == 0:
        return 0.0, 1.0
    low = 0.0 if count.k == 0 else float(betaincinv(count.k, count.n - count.k + 1, tail))
    high = (
        1.0 if count.k == count.n else float(betaincinv(count.k + 1, count.n - count.k, 1 - tail))
    )
    return low, high


def need(rate: float) -> int:
    """Clean runs that exclude a failure rate with 95 %: ceil(ln 0.05 / ln(1 - rate))."""
    return math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-rate))


def seen(n: int) -> float:
    """The smallest failure rate that n clean runs would have shown with 95 %; 1.0 for n = 0."""
    return 1.0 if n == 0 else 1 - (1 - CONFIDENCE) ** (1 / n)


def one_in(n: int) -> int | None:
    """The rarest flake, as 1 in so many, that n clean runs would have shown with 95 %.

    The chance is rounded to whole per cent: 40 runs show a 1-in-14 flake with 94.8 %. None for
    fewer than 5 runs, which cannot even show one that fails every second time.
    """
    if n == 0:
        return None
    nearest = round(1 / seen(n))
    rarest = nearest if round(1 - (1 - 1 / nearest) ** n, 2) >= CONFIDENCE else nearest - 1
    return rarest if rarest >= 2 else None


def _hypergeometric(high: Count, low: Count) -> tuple[int, NDArray[np.float64]]:
    """(smallest x, P(X = x), ...) of X failures in `high`, all four margins fixed."""
    failures, runs = high.k + low.k, high.n + low.n
    first, last = max(0, failures - low.n), min(failures, high.n)
    x = np.arange(first, last + 1, dtype=np.float64)

    def choose(n: float, k: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)

    log_p = choose(high.n, x) + choose(low.n, failures - x)
    log_p -= choose(runs, np.array([float(failures)]))
    p = np.exp(log_p)
    return first, p / p.sum()


def mid_p(strata: Sequence[Stratum]) -> float:
    """Is `high` above `low`? Fisher's exact test, one-sided mid-p, over strata.

    Convolves the strata's hypergeometric distributions and returns
    P(X > x) + P(X = x) / 2 for the observed sum x. 1.0 where nothing can be compared
    (no stratum has both groups, or no failure at all).
    """
    usable = [s for s in strata if s.high.n and s.low.n and s.high.k + s.low.k]
    if not usable:
        return 1.0
    start, observed = 0, 0
    distribution = np.ones(1)
    for stratum in usable:
        first, p = _hypergeometric(*stratum)
        start += first
        observed += stratum.high.k
        distribution = np.convolve(distribution, p)
    at = observed - start
    value = float(distribution[at + 1 :].sum() + distribution[at] / 2)
    return min(1.0, max(0.0, value))


def benjamini_hochberg(p_values: Sequence[float], q: float) -> list[bool]:
    """Which of the p-values are rejected at false discovery rate q, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    cut = 0
    for rank, index in enumerate(order, start=1):
        if p_values[index] <= q * rank / len(p_values):
            cut = rank
    accepted = set(order[:cut])
    return [i in accepted for i in range(len(p_values))]
