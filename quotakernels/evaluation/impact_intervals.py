"""How sure it is what a quota brings where rows differ by their labels only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quotakernels.evaluation.intervals import Limits, Resampled
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.settings import Resampling
from quotakernels.inference.proportions.hit_rate import hit_rate_interval
from quotakernels.ranking import rank

__all__ = ["impact_intervals"]

_SIDES = np.asarray([-1.0, 1.0])


def impact_intervals(
    data: Resampled,
    resampling: Resampling,
    impacts: tuple[float, ...],
    measures: tuple[Column, ...],
) -> dict[Quota, Limits]:
    """The interval of what each quota brings, from Wilson's of two hit rates.

    What is brought is a sum over the positives among the selected, and those among the others.
    Either has an interval that has a width even where all are positive, as resamples have not. The
    distances of the ends add up as those of independent estimates do, by their squares.
    """
    level, ends = resampling.tested_level, {}
    for quota, argument in data.quotas.items():
        both = np.empty((2, len(data.scores), 1))
        for row, name in enumerate(data.scores):
            examples = data.examples(name)
            labels, scores = examples["y_true"], examples["y_score"]
            total = float(labels.size)
            places = argument["quota"] if "quota" in argument else argument["fraction"] * total
            falling = -np.unique(scores, return_inverse=True)[1].astype(np.float64)
            found = _positives(labels, -falling, places, level)
            left = _positives(labels, falling, total - places, level)
            both[:, row, 0] = _brought(impacts, found, left, places, total)
        none = np.zeros((len(data.scores), 1), dtype=np.int64)
        ends[quota] = Limits(measures, both[0], both[1], none)
    return ends


def _positives(
    labels: NDArray[np.bool_], scores: NDArray[np.float64], places: float, level: float
) -> NDArray[np.float64]:
    """How many positives so many places find, and both ends."""
    if not places > 0:
        return np.zeros(3)
    ranking = rank(labels, scores)
    found = hit_rate_interval(ranking, quota=places, confidence_level=level)
    return places * np.asarray([found.estimate, found.lower, found.upper], dtype=np.float64)


def _brought(
    impacts: tuple[float, ...],
    found: NDArray[np.float64],
    left: NDArray[np.float64],
    places: float,
    total: float,
) -> NDArray[np.float64]:
    """Both ends of what positives that are found and left bring."""
    tp, fp, fn, tn = impacts
    estimate = fp * places + tn * (total - places) + (tp - fp) * found[0] + (fn - tn) * left[0]
    far = np.zeros(2)
    for worth, positives in ((tp - fp, found), (fn - tn, left)):
        ways = np.sort(worth * (positives[1:] - positives[0]))
        far += ways**2
    return np.asarray(estimate + _SIDES * np.sqrt(far))
