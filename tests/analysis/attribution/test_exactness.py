"""Bounds and tests of large counts, against the special functions of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import hypergeom

from analysis.attribution.statistics import Count, Stratum, interval, lower, mid_p, upper

counts = st.integers(1, 50_000).flatmap(
    lambda n: st.builds(Count, st.one_of(st.integers(0, n), st.integers(0, min(n, 9))), st.just(n))
)
arms = st.integers(1, 400).flatmap(lambda n: st.builds(Count, st.integers(0, n), st.just(n)))
compared = st.builds(Stratum, arms, arms).filter(lambda s: s.high.k + s.low.k)


@settings(deadline=None)
@given(counts)
def test_bounds_are_the_quantiles_of_the_beta_distribution(count):
    k, n = count
    exact = {"rel": 1e-10, "abs": 0}
    if k < n:
        assert upper(count) == pytest.approx(betaincinv(k + 1, n - k, 0.95), **exact)
        assert interval(count)[1] == pytest.approx(betaincinv(k + 1, n - k, 0.975), **exact)
    if k:
        assert lower(count) == pytest.approx(betaincinv(k, n - k + 1, 0.05), **exact)
        assert interval(count)[0] == pytest.approx(betaincinv(k, n - k + 1, 0.025), **exact)


@pytest.mark.parametrize("k", [0, 1, 2, 500, 501, 300_000, 999_998, 999_999])
def test_bounds_hold_for_a_million_runs(k):
    n = 1_000_000
    assert upper(Count(k, n)) == pytest.approx(betaincinv(k + 1, n - k, 0.95), rel=1e-9)


@settings(deadline=None)
@given(st.lists(compared, min_size=1, max_size=3))
def test_the_mid_p_is_that_of_the_convolved_hypergeometric_distributions(strata):
    distribution, above = np.ones(1), 0
    for high, low in strata:
        failures = high.k + low.k
        x = np.arange(failures + 1)
        chances = hypergeom(high.n + low.n, failures, high.n).pmf(x)
        distribution = np.convolve(distribution, chances)
        above += high.k
    expected = distribution[above + 1 :].sum() + distribution[above] / 2
    assert mid_p(strata) == pytest.approx(expected, rel=1e-8, abs=1e-14)
