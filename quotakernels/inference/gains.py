"""What selections bring: intervals of sums of gains, and tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from quotakernels.inference._distributions import normal_width, student_t
from quotakernels.inference.comparing import Tests, rounding_of
from quotakernels.inference.hit_rates import NUMPY, PairTest, by_student
from quotakernels.inputs.keywords import silently
from quotakernels.measures.selection import select

NDArray = np.ndarray[Any, Any]
_STRAIGHT = 1e-6
"""Skewness below which the transformation is the number itself."""


class Total(NamedTuple):
    """What a selection brings, as far as it varies with the rows, or clusters, that are drawn.

    Attributes
    ----------
    moves : array, shape (n,)
        What each of them adds to the total.
    chosen : array, shape (n,)
        How much of it is selected.
    few : int
        How many rows bring half of all gains.
    """

    moves: NDArray
    chosen: NDArray
    few: int = 0

    @property
    def freedom(self) -> NDArray:
        """One less than how many are selected."""
        return np.asarray(np.count_nonzero(self.chosen) - 1.0)

    @property
    def away(self) -> NDArray:
        """How far each is from the mean, larger by as much as the mean follows the sample."""
        number = len(self.moves)
        away: NDArray = self.moves - np.mean(self.moves)
        return away * math.sqrt(number / max(number - 1, 1))

    @property
    def error(self) -> float:
        """The standard error; 0 for what is but rounding."""
        error = float(np.linalg.norm(self.away))
        return error if error > 2.0**-40 * float(np.sum(np.abs(self.moves))) else 0.0

    @property
    def skew(self) -> float:
        """The skewness of the total, the third moment of the sum in standard errors."""
        return float(np.sum(self.away**3)) / self.error**3 if self.error else 0.0

    def ends(self, confidence_level: float) -> NDArray:
        """How far both ends of its interval are from the total; NaN below two places.

        Student's t, with the skewness taken out by a cubic transformation [Hall 1992].
        """
        t, skew = float(student_t(NUMPY, confidence_level, self.freedom)), self.skew
        far = np.asarray([t, -t])
        if abs(skew) > _STRAIGHT:
            far = 3 / skew * (np.cbrt(1 + skew * (far - skew / 6)) - 1)
        return -self.error * far

    def is_skewed(self, confidence_level: float) -> bool:
        """Whether skewness alone may be as likely to lie outside a plain interval as its level
        allows: so much is left to a correction by a skewness that few rows can tell.

        The probability beyond one end is then twice what it should be, by the first term of the
        expansion of Student's t [Hall 1992].
        """
        z = normal_width(confidence_level)
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return abs(self.skew) * (2 * z * z + 1) * density / 6 > (1 - confidence_level) / 2


class Gains(NamedTuple):
    """What rows bring more if they are selected, and what if not; their weights and clusters."""

    net: NDArray
    given_up: Any
    weights: NDArray | None = None
    clusters: NDArray | None = None

    def in_places(self, scores: NDArray, places: float) -> Total:
        """The total of the best so many; of weights it is a mass.

        The cut moves with the sample, past rows that bring what those around the last place do.
        """
        mass = np.ones(len(self.net)) if self.weights is None else self.weights
        ends = np.minimum(places * np.asarray([1.0, 0.5, 1.5]), np.sum(mass))
        with silently():  # of half a place
            chosen, within, outside = (
                select(scores, quota=x, sample_weight=self.weights) for x in ends
            )
        near = mass * (outside - within)
        return self._total(chosen, float(near @ self.net / np.sum(near)) if near.any() else 0.0)

    def from_threshold(self, scores: NDArray, threshold: float) -> Total:
        """The total of the rows with at least this score; of NaN that of nobody."""
        return self._total(np.where(scores >= threshold, 1.0, 0.0), 0.0)

    def _total(self, chosen: NDArray, at_cut: float) -> Total:
        mass = 1.0 if self.weights is None else self.weights
        gains = np.sort(np.maximum(mass * chosen * self.net, 0.0))[::-1]
        sums = np.cumsum(gains)
        few = int(np.searchsorted(sums, sums[-1] / 2)) + 1
        moves = mass * (chosen * (self.net - at_cut) + self.given_up)
        if self.clusters is not None:
            moves, chosen = (np.bincount(self.clusters, x) for x in (moves, chosen))
        return Total(moves, chosen, few)


def tests_of_totals(brings: NDArray, totals: Sequence[Total], level: float) -> Tests:
    """Student's t of what models bring, by the rows or clusters that only one selects.

    Where the models are alike such differences are symmetric, and of heavy tails Student's t then
    rejects too rarely rather than too often; the skewness that few rows show is chance.
    """

    def tested(first: int, second: int) -> PairTest:
        one, other = totals[first], totals[second]
        apart = Total(one.moves - other.moves, one.chosen - other.chosen)
        by = float(brings[first] - brings[second])
        freedom = float(np.maximum(apart.freedom, 1.0))
        return by_student(by, apart.error, freedom, level, rounding_of(brings))

    return Tests(tested, "student")
