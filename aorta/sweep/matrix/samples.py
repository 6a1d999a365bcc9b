"""``Samples``: times that are added one by one and always ready to be summed up."""

import bisect
import math
from array import array
from collections.abc import Iterable

from aorta.model.frozen import frozen

#: A bucket that gets longer is cut in two.
_BUCKET = 4096
#: Sums are of whole multiples of 2^-40 ms, so they are exact and have no order.
_SCALE = 40
#: Milliseconds beyond which a number is no step time (30,000 years).
_MOST = 1e15


@frozen
class Summed:
    """Of ``n`` values: mean, standard deviation of the population, extremes and percentiles."""

    n: int
    mean: float
    std: float
    min: float
    max: float
    p50: float
    p90: float
    p99: float


class Samples:
    """Values at 8 bytes each, sorted in buckets; the same values give the same sums in any order."""

    def __init__(self) -> None:
        self._buckets: list[array[float]] = []
        self._highest: list[float] = []
        self._n = self._sum = self._squares = 0

    def __len__(self) -> int:
        return self._n

    def add(self, values: Iterable[float]) -> None:
        """Add values; what is negative, not finite or absurd is no time, and left out."""
        for value in values:
            if 0 <= value <= _MOST:
                scaled = int(math.ldexp(value, _SCALE))
                self._n += 1
                self._sum += scaled
                self._squares += scaled * scaled
                self._insert(value)

    def _insert(self, value: float) -> None:
        if not self._buckets:
            self._buckets, self._highest = [array("d", (value,))], [value]
            return
        at = min(bisect.bisect_left(self._highest, value), len(self._buckets) - 1)
        bucket = self._buckets[at]
        bisect.insort(bucket, value)
        if len(bucket) > _BUCKET:
            half = len(bucket) // 2
            self._buckets[at : at + 1] = [bucket[:half], bucket[half:]]
            self._highest.insert(at, 0.0)
            self._highest[at] = bucket[half - 1]
            at += 1
        self._highest[at] = self._buckets[at][-1]

    def _at(self, index: int) -> float:
        for bucket in self._buckets:
            if index < len(bucket):
                return bucket[index]
            index -= len(bucket)
        raise IndexError(index)

    def percentile(self, q: float) -> float:
        """Return a percentile (``q`` from 0 to 1), between two values by linear interpolation on (n-1)*q."""
        place = (self._n - 1) * q
        low = math.floor(place)
        below = self._at(low)
        return below if low == place else below + (place - low) * (self._at(low + 1) - below)

    @property
    def mean(self) -> float | None:
        """Return the mean; null where there is no value."""
        return self._sum / (self._n << _SCALE) if self._n else None

    def summed(self) -> Summed | None:
        """Return all of it; null where there is no value."""
        if self.mean is None:
            return None
        variance = (self._n * self._squares - self._sum**2) / (self._n**2 << (2 * _SCALE))
        return Summed(
            n=self._n,
            mean=self.mean,
            std=math.sqrt(variance),
            min=self._buckets[0][0],
            max=self._highest[-1],
            p50=self.percentile(0.5),
            p90=self.percentile(0.9),
            p99=self.percentile(0.99),
        )
