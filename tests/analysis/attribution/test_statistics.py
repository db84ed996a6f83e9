"""Bounds, run counts, exact tests and many tests, against known values and direct counting."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, fisher_exact, hypergeom

from analysis.attribution.statistics import (
    Count,
    Stratum,
    benjamini_hochberg,
    interval,
    lower,
    mid_p,
    need,
    one_in,
    seen,
    total,
    upper,
)

counts = st.integers(0, 12).flatmap(lambda n: st.builds(Count, st.integers(0, n), st.just(n)))
strata = st.builds(Stratum, counts, counts)
usable = strata.filter(lambda s: s.high.n and s.low.n and s.high.k + s.low.k)


@pytest.mark.parametrize(
    ("rate", "runs"), [(0.5, 5), (0.1, 29), (0.05, 59), (0.01, 299), (1 / 200, 598)]
)
def test_need_is_the_number_of_clean_runs_that_excludes_a_rate(rate, runs):
    assert need(rate) == runs
    assert upper(Count(0, runs)) <= rate < upper(Count(0, runs - 1))


@given(st.floats(0.001, 0.9))
def test_the_runs_needed_exclude_the_rate_and_one_run_less_does_not(rate):
    runs = need(rate)
    assert (1 - rate) ** runs <= 0.05 * (1 + 1e-9)
    assert (1 - rate) ** (runs - 1) > 0.05 * (1 - 1e-9)


def test_two_hundred_clean_runs_mean_at_most_one_and_a_half_percent():
    assert f"{upper(Count(0, 200)):.1%}" == "1.5%"
    assert upper(Count(0, 200)) == pytest.approx(1 - 0.05 ** (1 / 200))


@pytest.mark.parametrize(("runs", "flake"), [(40, 14), (5, 2), (29, 10), (59, 20), (200, 67)])
def test_so_many_clean_runs_would_have_shown_a_flake_of_one_in(runs, flake):
    assert one_in(runs) == flake


@pytest.mark.parametrize("runs", [0, 1, 4])
def test_fewer_than_five_runs_show_no_flake_for_certain(runs):
    assert one_in(runs) is None


@given(st.integers(5, 5000))
def test_the_flake_that_was_said_to_be_seen_is_seen_with_95_percent(runs):
    rate = one_in(runs)
    assert rate is not None
    assert round(1 - (1 - 1 / rate) ** runs, 2) >= 0.95
    assert 1 - (1 - 1 / (rate + 2)) ** runs < 0.95


def test_no_run_excludes_nothing():
    assert upper(Count(0, 0)) == seen(0) == 1.0
    assert lower(Count(0, 0)) == 0.0
    assert interval(Count(0, 0)) == (0.0, 1.0)


@given(counts.filter(lambda c: c.n))
def test_bounds_are_those_of_clopper_and_pearson(count):
    k, n = count
    assert upper(count) == pytest.approx(beta.ppf(0.95, k + 1, n - k) if k < n else 1.0)
    assert lower(count) == pytest.approx(beta.ppf(0.05, k, n - k + 1) if k else 0.0)
    low, high = interval(count)
    assert low == pytest.approx(beta.ppf(0.025, k, n - k + 1) if k else 0.0)
    assert high == pytest.approx(beta.ppf(0.975, k + 1, n - k) if k < n else 1.0)
    assert low <= lower(count) <= k / n <= upper(count) <= high


@given(st.lists(counts))
def test_a_total_is_the_sum_of_its_counts(some):
    assert total(some) == Count(sum(c.k for c in some), sum(c.n for c in some))


def by_hand(stratum: Stratum) -> dict[int, float]:
    """P(X = x) of the failures in `high` with all margins fixed."""
    (k1, n1), (k0, n0) = stratum
    found = hypergeom(n1 + n0, k1 + k0, n1)
    return {x: float(found.pmf(x)) for x in range(max(0, k1 + k0 - n0), min(n1, k1 + k0) + 1)}


@given(usable)
def test_mid_p_of_one_table_is_the_hypergeometric_tail_and_half_the_point(stratum):
    (k1, n1), (k0, n0) = stratum
    found = hypergeom(n1 + n0, k1 + k0, n1)
    assert mid_p([stratum]) == pytest.approx(found.sf(k1) + found.pmf(k1) / 2)
    exact = fisher_exact([[k1, n1 - k1], [k0, n0 - k0]], alternative="greater").pvalue
    assert mid_p([stratum]) == pytest.approx(exact - found.pmf(k1) / 2)


@settings(max_examples=60)
@given(st.lists(usable, min_size=1, max_size=3))
def test_mid_p_over_strata_enumerates_every_table_with_these_margins(several):
    observed = sum(stratum.high.k for stratum in several)
    above = at = 0.0
    for tables in itertools.product(*(by_hand(stratum).items() for stratum in several)):
        p = math.prod(chance for _, chance in tables)
        failures = sum(x for x, _ in tables)
        above += p * (failures > observed)
        at += p * (failures == observed)
    assert mid_p(several) == pytest.approx(above + at / 2)


@given(st.lists(usable, max_size=3), st.lists(strata, max_size=3))
def test_a_stratum_without_both_groups_or_without_a_failure_says_nothing(several, others):
    empty = [s for s in others if not (s.high.n and s.low.n and s.high.k + s.low.k)]
    assert mid_p([*empty, *several]) == pytest.approx(mid_p(several))


def test_where_nothing_can_be_compared_the_p_value_is_one():
    assert mid_p([]) == 1.0
    assert mid_p([Stratum(Count(3, 3), Count(0, 0))]) == 1.0
    assert mid_p([Stratum(Count(0, 9), Count(0, 9))]) == 1.0


@given(st.lists(usable, min_size=1, max_size=3))
def test_high_above_low_and_low_above_high_add_up_to_one(several):
    swapped = [Stratum(stratum.low, stratum.high) for stratum in several]
    assert mid_p(several) + mid_p(swapped) == pytest.approx(1)


def test_exposure_does_not_stand_in_for_load_once_phases_are_strata():
    """Pooled, the phase that fails often and ran more on one side looks like a difference."""
    often = Stratum(Count(50, 100), Count(5, 10))
    rarely = Stratum(Count(1, 10), Count(10, 100))
    pooled = Stratum(often.high + rarely.high, often.low + rarely.low)
    assert mid_p([pooled]) < 0.01
    assert mid_p([often, rarely]) > 0.3


def test_large_arms_keep_their_precision():
    stratum = Stratum(Count(400, 20_000), Count(300, 20_000))
    found = hypergeom(40_000, 700, 20_000)
    assert mid_p([stratum]) == pytest.approx(found.sf(400) + found.pmf(400) / 2, rel=1e-6)


@given(st.lists(st.floats(0, 1), max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_benjamini_and_hochberg_by_their_definition(values, q):
    ranked = sorted(values)
    passing = [p for rank, p in enumerate(ranked, 1) if p <= q * rank / len(ranked)]
    cut = max(passing, default=-1.0)
    assert benjamini_hochberg(values, q) == [p <= cut for p in values]


def test_of_ten_thousand_uniform_p_values_none_is_promoted():
    raw = [(rank + 0.5) / 10_000 for rank in range(10_000)]
    assert sum(p < 0.01 for p in raw) == 100
    assert not any(benjamini_hochberg(raw, 0.01))
