"""Sums that are exact, in any order."""

import math
import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.matrix.samples import Samples


def of(*values):
    made = Samples()
    made.add(values)
    return made


def by_hand(values, q):
    """Return a percentile as the documentation of numpy's ``linear`` has it."""
    values = sorted(values)
    place = (len(values) - 1) * q
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def test_nothing():
    assert of().summed() is None
    assert of().mean is None
    assert len(of()) == 0


def test_one():
    made = of(7.5).summed()
    assert (made.n, made.mean, made.std, made.min, made.max, made.p50, made.p99) == (
        1,
        7.5,
        0,
        7.5,
        7.5,
        7.5,
        7.5,
    )


def test_percentiles_lie_between_values():
    made = of(*range(1, 11)).summed()
    assert (made.p50, made.p90, made.p99) == pytest.approx((5.5, 9.1, 9.91))
    assert made.std == pytest.approx(math.sqrt(8.25))


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60))
def test_as_the_standard_library_has_it(values):
    made = of(*values)
    summed = made.summed()
    assert summed.mean == pytest.approx(statistics.fmean(values), rel=1e-12, abs=1e-11)
    assert summed.std == pytest.approx(statistics.pstdev(map(Fraction, values)), rel=1e-9, abs=1e-9)
    assert (summed.min, summed.max) == (min(values), max(values))
    for q in (0, 0.1, 0.5, 0.9, 0.99, 1):
        assert made.percentile(q) == pytest.approx(by_hand(values, q), rel=1e-12, abs=1e-12)


def test_many_in_any_order():
    values = [random.Random(1).expovariate(0.1) for _ in range(20_000)]
    shuffled = random.Random(2).sample(values, len(values))
    one, other = of(*values), Samples()
    for start in range(0, len(shuffled), 77):
        other.add(shuffled[start : start + 77])
    assert one.summed() == other.summed()
    ordered = sorted(values)
    assert one.percentile(0.5) == by_hand(ordered, 0.5)
    assert one.summed().max == ordered[-1]


def test_equal_values_fill_many_buckets():
    made = of(*[3.0] * 10_000, *[1.0] * 10_000, *[2.0] * 10_000)
    summed = made.summed()
    assert (summed.n, summed.min, summed.p50, summed.max) == (30_000, 1, 2, 3)


def test_what_is_no_time_is_left_out():
    assert of(math.nan, math.inf, -math.inf, -1.0, 1e300).summed() is None
    assert len(of(math.nan, 1.0)) == 1
