"""Intervals of what a quota brings where all examples of a cell bring the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quotakernels._array import (
    Namespace,
    computing,
    constant,
    device,
    namespace,
    to_numpy,
    wide_float,
)
from quotakernels.inference._normal import quantile
from quotakernels.inference.proportions.binomial import wilson
from quotakernels.inference.proportions.hit_rate import moving_cut
from quotakernels.measures.at_quota.hit_rate import hit_rate
from quotakernels.ranking import Ranking, table_of

NDArray = np.ndarray[Any, Any]
_HOST: Namespace = namespace(np.empty(0))


def impact_ends(
    ranking: Ranking, impacts: Sequence[float], quota: float, confidence_level: float
) -> NDArray:
    """Both ends of what a quota of one list brings, (i_tp, i_fp, i_fn, i_tn) being the impacts.

    What is brought is a sum over the positives among the selected, and those among the others.
    Either has Wilson's interval, which has a width even where all are positive, as resamples have
    not.  The cut moves with the sample: what it moves past are cases of the rate of positives at
    the cut.  The distances of the ends add up as those of independent estimates do, by their
    squares, and the ends stay within what the numbers of places allow.
    """
    tp, fp, fn, tn = impacts
    total, positives = (float(np.sum(to_numpy(x))) for x in (ranking.counts, ranking.positives))
    found = quota * float(hit_rate(ranking, quota=quota)) if quota > 0 else 0.0
    worth, squares, apart = fp * quota + tn * (total - quota), np.zeros(2), 0.0
    possible = np.full(2, worth)
    at_cut = _rate_at_cut(ranking, quota)
    for sign, impact, number, places in (
        (1, tp - fp, found, quota),
        (-1, fn - tn, positives - found, total - quota),
    ):
        worth += impact * number
        possible += np.sort([0.0, impact * places])
        if places > 0:
            squares += np.sort(impact * _away(number, places, confidence_level)) ** 2
            apart += sign * impact * (number / places - at_cut)
    squares += (quantile(confidence_level) * apart) ** 2 * quota * (1 - quota / total)
    ends = worth + np.asarray([-1.0, 1.0]) * np.sqrt(squares)
    return np.asarray(np.clip(ends, *possible))


def _rate_at_cut(ranking: Ranking, quota: float) -> float:
    xp = namespace(ranking.counts)
    with computing(xp):
        dev = device(ranking.counts)
        wanted = constant(xp, [quota], wide_float(xp, dev), dev)
        return float(moving_cut(xp, table_of(xp, ranking), wanted)[0][..., 0])


def _away(number: float, places: float, confidence_level: float) -> NDArray:
    """How far both ends of Wilson's interval are from a number of positives in some places."""
    found, missed = np.asarray(number), np.asarray(places - number)
    ends = wilson(_HOST, found, missed, quantile(confidence_level), np.ones(()))
    return places * np.asarray(ends) - number
