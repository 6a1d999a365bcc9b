"""Against published values, exact fractions, and brute force."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.matrix.statistics import (
    ALPHA,
    detectable,
    fisher,
    holm,
    smallest_effect,
    trials_needed,
    wilson,
)


def exact(failed, passed, failed_baseline, passed_baseline):
    """Return both tails as fractions."""
    n, others, events = failed + passed, failed_baseline + passed_baseline, failed + failed_baseline
    whole = math.comb(n + others, events)

    def weight(k):
        return Fraction(math.comb(n, k) * math.comb(others, events - k), whole)

    low, high = max(0, events - others), min(n, events)
    return (
        sum((weight(k) for k in range(failed, high + 1)), Fraction(0)),
        sum((weight(k) for k in range(low, failed + 1)), Fraction(0)),
    )


@pytest.mark.parametrize(
    ("failed", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(failed, n, low, high):
    assert wilson(failed, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson(n - failed, n) == pytest.approx((1 - high, 1 - low), abs=5e-5)


@pytest.mark.parametrize("n", [1, 2, 7, 10_000])
def test_wilson_at_the_ends(n):
    assert wilson(0, n)[0] == 0.0
    assert wilson(n, n)[1] == 1.0
    for failed in (0, n // 2, n):
        low, high = wilson(failed, n)
        assert 0 <= low <= failed / n <= high <= 1


def test_the_lady_tasting_tea():
    """R. A. Fisher, The Design of Experiments (1935): all four cups right, and three of four."""
    assert fisher(4, 0, 0, 4).more == pytest.approx(1 / 70, rel=1e-12)
    assert fisher(3, 1, 1, 3).more == pytest.approx(17 / 70, rel=1e-12)


def test_fisher_is_exact_for_all_small_tables():
    for table in product(range(6), repeat=4):
        if sum(table[:2]) and sum(table[2:]):
            more, fewer = exact(*table)
            assert fisher(*table).more == pytest.approx(float(more), rel=1e-12)
            assert fisher(*table).fewer == pytest.approx(float(fewer), rel=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        (300, 700, 250, 750),
        (9, 991, 0, 1000),
        (0, 5000, 30, 4970),
        (900, 900, 850, 950),
        (40, 9960, 3, 7),
    ],
)
def test_fisher_of_large_tables(table):
    more, fewer = exact(*table)
    assert fisher(*table).more == pytest.approx(float(more), rel=1e-9)
    assert fisher(*table).fewer == pytest.approx(float(fewer), rel=1e-9)


def test_fisher_of_the_most_trials():
    more, fewer = exact(120, 9880, 90, 9910)
    assert fisher(120, 9880, 90, 9910) == pytest.approx((float(more), float(fewer)), rel=1e-9)
    assert fisher(10_000, 0, 0, 10_000).more == 0.0
    assert fisher(0, 10_000, 0, 10_000) == (1.0, 1.0)


def test_fisher_has_two_directions():
    assert fisher(5, 0, 0, 5).more == fisher(0, 5, 5, 0).fewer == pytest.approx(1 / 252)
    assert fisher(5, 0, 0, 5).fewer == pytest.approx(1.0)


def test_holm_as_in_r():
    """As p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R has it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_counts_hypotheses_without_a_test():
    assert holm([0.01, 0.5], family=8) == pytest.approx([0.08, 1.0])
    assert holm([], family=8) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_stepping_down(values):
    adjusted = holm(values)
    assert all(before <= after <= 1 for before, after in zip(values, adjusted, strict=True))
    # What is rejected is what the procedure, word by word, rejects.
    rejected = set()
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[index] * (len(values) - rank) > ALPHA:
            break
        rejected.add(index)
    assert {index for index, value in enumerate(adjusted) if value <= ALPHA} == rejected


def brute(trials_baseline, trials_cell, comparisons, alpha=ALPHA):
    for failed in range(trials_cell + 1):
        more, _ = exact(failed, trials_cell - failed, 0, trials_baseline)
        if more * 2 * comparisons <= Fraction(str(alpha)):
            return failed / trials_cell
    return None


def test_the_smallest_effect_is_that_of_brute_force():
    for trials_baseline, trials_cell, comparisons in product(range(1, 14), range(1, 14), (1, 4, 9)):
        assert smallest_effect(trials_baseline, trials_cell, comparisons) == brute(
            trials_baseline, trials_cell, comparisons
        )


def test_too_few_trials_show_nothing():
    assert smallest_effect(3, 3, 1) is None
    assert smallest_effect(4, 4, 1) == 1.0
    assert smallest_effect(5, 5, 4) == 1.0
    assert smallest_effect(5, 5, 8) is None
    assert smallest_effect(0, 5, 1) is smallest_effect(5, 0, 1) is None
    assert smallest_effect(1000, 1000, 1) == 0.006


def test_the_mirror_of_the_smallest_effect():
    """A cell that never fails is better than a baseline that fails in that part of its trials."""
    rate = smallest_effect(8, 40, 3)
    failed = round(rate * 40)
    assert fisher(0, 8, failed, 40 - failed).fewer * 6 <= ALPHA
    assert fisher(0, 8, failed - 1, 41 - failed).fewer * 6 > ALPHA


def test_what_is_detectable_beside_a_baseline_that_fails():
    assert detectable(10, 20, 20, 1) == (0.85, 0.15)
    assert fisher(17, 3, 10, 10).more <= ALPHA / 2 < fisher(16, 4, 10, 10).more
    assert detectable(5, 5, 5, 1) == (None, 0.2)
    assert detectable(1, 2, 2, 1) == (None, None)


def test_the_trials_that_are_needed_are_enough_and_nearly_no_fewer():
    for rate, of_base, others in ((0.0, 0.4, 1), (0.0, 0.4, 3), (1.0, 0.5, 2), (0.3, 0.4, 3), (0.02, 0.2, 7)):
        needed = trials_needed(rate, of_base, others, 1000)
        limit = ALPHA / (2 * others)
        for n, is_enough in ((needed, True), (int(needed * 0.8), False)):
            failed, base = round(rate * n), round(of_base * n)
            assert (min(fisher(failed, n - failed, base, n - base)) <= limit) is is_enough, (rate, of_base, n)
    assert trials_needed(0.49, 0.5, 1, 1000) is None
    assert trials_needed(0.5, 0.5, 1, 1000) is None
