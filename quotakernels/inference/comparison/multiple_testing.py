"""What resamples, or a test, say of two models; and Holm's correction for many pairs."""

from __future__ import annotations

import string
from typing import Any, NamedTuple

import numpy as np

__all__ = ["PairTest", "holm", "letters_of", "of_exchanges", "of_resamples", "together"]


NDArray = np.ndarray[Any, Any]


def together(differ: NDArray) -> list[tuple[int, ...]]:
    """The largest groups without two models that differ, by insertion and absorption.

    In the order of their first members; a model may be in several.
    """
    groups = [frozenset(range(differ.shape[0]))]
    for pair in np.argwhere(np.triu(differ)).tolist():
        split = []
        for group in groups:
            split += [group - {model} for model in pair] if group.issuperset(pair) else [group]
        split = list(dict.fromkeys(split))
        groups = [group for group in split if not any(group < other for other in split)]
    return sorted(tuple(sorted(group)) for group in groups)


def letters_of(groups: list[tuple[int, ...]], number: int) -> tuple[str, ...]:
    """For each model the letters of the groups that it is in: a, b, …; beyond 52 their numbers."""
    alphabet = string.ascii_letters
    names = [alphabet[k] if k < len(alphabet) else f"({k + 1})" for k in range(len(groups))]
    return tuple(
        "".join(name for name, group in zip(names, groups, strict=True) if model in group)
        for model in range(number)
    )


class PairTest(NamedTuple):
    """An interval of the difference of two models, and the p-value of the test that it is 0."""

    lower: float
    upper: float
    p_value: float


def of_resamples(
    difference: float, values: NDArray, confidence_level: float, rounding: float
) -> PairTest:
    """From the differences in resamples, of which those within the rounding count as 0.

    1 - p is the level of the widest percentile interval that leaves 0 out, the estimate counted as
    one more resample.
    """
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    tail = (1 - confidence_level) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    fewer = min(np.count_nonzero(values <= 0), np.count_nonzero(values >= 0))
    p_value = min(1.0, 2 * (1 + fewer) / (1 + values.size))
    return PairTest(float(lower), float(upper), p_value)


def of_exchanges(difference: float, values: NDArray, rounding: float) -> PairTest:
    """From the differences after exchanges; there is no interval."""
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    as_far = np.count_nonzero(np.abs(values) >= abs(difference) - rounding)
    return PairTest(np.nan, np.nan, (1 + as_far) / (1 + values.size))


def holm(p_values: NDArray) -> NDArray:
    """p-values adjusted for their number by Holm's step-down method; NaN are not counted."""
    adjusted = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values, kind="stable")  # NaN last
    number = np.count_nonzero(~np.isnan(p_values))
    order = order[:number]
    factors = np.arange(number, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted
