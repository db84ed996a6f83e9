"""The statistics of the decision table: exact bounds, exact tests, run counts.

Sources: Clopper and Pearson (1934) for bounds, Fisher's exact test with Lancaster's
mid-p (1961) for comparisons, Benjamini and Hochberg (1995) for many tests.
Parameters are whole numbers, so sums of a few terms give what special functions give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

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
    return _rate(count.k, count.n, CONFIDENCE) if count.k < count.n else 1.0


def lower(count: Count) -> float:
    """One-sided 95 % lower bound of a rate: BetaInv(0.05; k, n-k+1). 0.0 for k = 0."""
    return _rate(count.k - 1, count.n, 1 - CONFIDENCE) if count.k > 0 else 0.0


def interval(count: Count) -> tuple[float, float]:
    """Two-sided 95 % Clopper-Pearson interval of a rate; (0, 1) for n = 0."""
    k, n = count
    tail = (1 - CONFIDENCE) / 2
    return (
        _rate(k - 1, n, tail) if k > 0 else 0.0,
        _rate(k, n, 1 - tail) if k < n else 1.0,
    )


def _rate(k: int, n: int, chance: float) -> float:
    """The rate at which more than k of n fail with `chance`, for 0 <= k < n.

    That is BetaInv(chance; k+1, n-k). Newton's method from the mode of that distribution: its
    distribution function bends one way only on either side, so no step passes the root.
    """
    if k == 0:
        return -math.expm1(math.log1p(-chance) / n)
    if k == n - 1:
        return math.pow(chance, 1 / n)
    ways = math.log(n) + _log_choose(n - 1, k)
    rate = k / (n - 1)
    for _ in range(_STEPS):
        density = math.exp(ways + k * math.log(rate) + (n - 1 - k) * math.log1p(-rate))
        # The smaller of the two tails is summed: it ends soon and loses no digits.
        if chance > 0.5:
            step = _at_most(k, n, rate) - (1 - chance) / density
        else:
            step = chance / density - _more_than(k, n, rate)
        rate += step
        # Each step doubles the digits that hold: after one of this size all of them do.
        if abs(step) <= 1e-9 * rate:
            break
    return rate


_STEPS = 100
_NOTHING = 1e-17
_EXACT = 500


def _log_choose(n: int, k: int) -> float:
    """ln C(n, k). Differences of lgamma lose digits where k or n - k is small beside n."""
    if min(k, n - k) <= _EXACT:
        return math.log(math.comb(n, k))
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _at_most(k: int, n: int, rate: float) -> float:
    """P(X <= k) of n at a rate, over the density of BetaDist(k+1, n-k) at that rate."""
    odds = (1 - rate) / rate
    term = (1 - rate) / (n - k)
    terms = [term]
    for x in range(k, 0, -1):
        term *= odds * x / (n - x + 1)
        if term < _NOTHING * terms[0]:
            break
        terms.append(term)
    return math.fsum(terms)


def _more_than(k: int, n: int, rate: float) -> float:
    """P(X > k) of n at a rate, over the density of BetaDist(k+1, n-k) at that rate."""
    odds = rate / (1 - rate)
    term = rate / (k + 1)
    terms = [term]
    for x in range(k + 1, n):
        term *= odds * (n - x) / (x + 1)
        if term < _NOTHING * terms[0]:
            break
        terms.append(term)
    return math.fsum(terms)


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


def _hypergeometric(high: Count, low: Count) -> tuple[int, list[float]]:
    """(smallest x, [P(X = x), ...]) of X failures in `high`, all four margins fixed.

    Each chance follows from its neighbour's, outwards from the likeliest x.
    """
    failures, runs = high.k + low.k, high.n + low.n
    first, last = max(0, failures - low.n), min(failures, high.n)
    likeliest = min(max((failures + 1) * (high.n + 1) // (runs + 2), first), last)
    above, below = [1.0], [1.0]
    for x in range(likeliest, last):
        odds = (failures - x) * (high.n - x) / ((x + 1) * (low.n - failures + x + 1))
        above.append(above[-1] * odds)
    for x in range(likeliest, first, -1):
        odds = x * (low.n - failures + x) / ((failures - x + 1) * (high.n - x + 1))
        below.append(below[-1] * odds)
    weights = [*below[:0:-1], *above]
    whole = math.fsum(weights)
    return first, [weight / whole for weight in weights]


def _convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The distribution of the sum of two independent counts."""
    mirrored, end = other[::-1], len(other)
    return [
        sum(map(mul, one[max(0, x - end + 1) : x + 1], mirrored[max(0, end - 1 - x) :]))
        for x in range(len(one) + end - 1)
    ]


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
    distribution = [1.0]
    for stratum in usable:
        first, chances = _hypergeometric(*stratum)
        start += first
        observed += stratum.high.k
        distribution = _convolved(chances, distribution)
    at = observed - start
    return min(1.0, math.fsum([*distribution[at + 1 :], distribution[at] / 2]))


def benjamini_hochberg(p_values: Sequence[float], q: float) -> list[bool]:
    """Which of the p-values are rejected at false discovery rate q, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    cut = 0
    for rank, index in enumerate(order, start=1):
        if p_values[index] <= q * rank / len(p_values):
            cut = rank
    accepted = set(order[:cut])
    return [i in accepted for i in range(len(p_values))]
