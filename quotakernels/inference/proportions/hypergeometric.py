"""Intervals of a share of a finite list, of which a sample is known: sums on the host."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, readable, to_numpy

__all__ = ["Draws", "ends"]

NDArray = np.ndarray[Any, Any]
_DEVIATIONS, _MORE = 13, 60
"""How far from its mode a distribution is summed; what is beyond is less than 2**-53 of it."""


class Draws(NamedTuple):
    """Whole numbers: successes and failures, at least; draws and places on the list, at most.

    Undefined where there are no draws.
    """

    found: Array
    missed: Array
    drawn: Array
    listed: Array


def ends(draws: Draws, tail: float) -> tuple[NDArray, NDArray]:
    """Both ends of the exact interval of the share of successes on the list."""
    if not readable(draws.drawn):
        raise ValueError(
            'method="exact" beside population sums on the host, and these values cannot be read; '
            'use method="wilson"'
        )
    host = [np.asarray(to_numpy(x)) for x in draws]
    lower, upper = np.full((2, *host[0].shape), np.nan)
    for place in np.ndindex(host[0].shape):
        found, missed, drawn, listed = (int(x[place]) for x in host)
        if drawn > 0:
            lower[place] = least(found, drawn, listed, tail) / listed
            upper[place] = 1 - least(missed, drawn, listed, tail) / listed
    return lower, upper


def least(found: int, drawn: int, listed: int, tail: float) -> int:
    """The least number of successes on the list with which `found` or more of those drawn have at
    least the probability `tail`.
    """
    low, high = found, listed - drawn + found
    while low < high:
        middle = (low + high) // 2
        if reached(found, drawn, middle, listed) >= tail:
            high = middle
        else:
            low = middle + 1
    return low


def reached(found: int, drawn: int, good: int, listed: int) -> float:
    """The probability of `found` or more good ones among those drawn from a list without
    replacement (hypergeometric), from ratios of neighbouring probabilities around the mode.
    """
    lowest, highest = max(0, drawn + good - listed), min(drawn, good)
    if found <= lowest:
        return 1.0
    if found > highest:
        return 0.0
    mode = (drawn + 1) * (good + 1) // (listed + 2)
    share = good / listed
    variance = drawn * share * (1 - share) * (listed - drawn) / max(listed - 1, 1)
    reach = int(_DEVIATIONS * variance**0.5) + _MORE
    first, last = max(lowest, mode - reach), min(highest, mode + reach)
    below = np.arange(first, last, dtype=np.float64)
    ratio = (good - below) / (below + 1) * ((drawn - below) / (listed - good - drawn + below + 1))
    up = np.cumprod(ratio[mode - first :])
    down = np.cumprod(1 / ratio[: mode - first][::-1])[::-1]
    weights = np.concatenate([down, [1.0], up])
    return float(weights[max(found - first, 0) :].sum() / weights.sum())
