"""The data of all benchmarks: labels and scores of many kinds, the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Generator = np.random.Generator

DISTINCT_FRACTIONS = 2**24
"""Fewer than this many fractions i/n are all different in float32."""
ONE_IN_BITS = 0x3F800000
WEIGHT_UNIT = 4
"""Weights are multiples of a quarter, so that sums of them are exact."""


class Data(NamedTuple):
    """One problem."""

    labels: Array
    scores: Array
    weights: Array | None = None


def uniform(n: int, rng: Generator) -> Array:
    return rng.random(n, dtype=np.float32)


def tie_free(n: int, rng: Generator) -> Array:
    order = rng.permutation(n)
    if n < DISTINCT_FRACTIONS:
        return order.astype(np.float32) / np.float32(n)
    return (ONE_IN_BITS - 1 - order).astype(np.uint32).view(np.float32)


def hundred_values(n: int, rng: Generator) -> Array:
    return rng.integers(0, 100, n).astype(np.float32) / np.float32(100)


def small_groups(n: int, rng: Generator) -> Array:
    """A tenth as many values as examples: a million of them for ten million."""
    values = max(n // 10, 1)
    return rng.integers(0, values, n).astype(np.float32) / np.float32(values)


def logits(n: int, rng: Generator) -> Array:
    return rng.standard_normal(n, dtype=np.float32)


def float64(n: int, rng: Generator) -> Array:
    return rng.random(n)


def int32(n: int, rng: Generator) -> Array:
    """Whole numbers, most of which occur once or twice."""
    return rng.integers(0, n, n, dtype=np.int32)


def float16(n: int, rng: Generator) -> Array:
    return uniform(n, rng).astype(np.float16)


def bfloat16(n: int, rng: Generator) -> Array:
    import ml_dtypes

    return uniform(n, rng).astype(ml_dtypes.bfloat16)


def useful(scores: Array, luck: Array) -> Array:
    return luck < scores


def rare(scores: Array, luck: Array) -> Array:
    return luck < 0.02 * scores


def two_percent(scores: Array, luck: Array) -> Array:
    return luck < 0.04 * scores


def thirty_percent(scores: Array, luck: Array) -> Array:
    return luck < 0.6 * scores


def random(_scores: Array, luck: Array) -> Array:
    return luck < 0.5


def moderate(scores: Array, luck: Array) -> Array:
    """A quarter are positive, above the median four times as often as below it."""
    wide = scores.astype(np.float32)
    return luck < 0.1 + 0.3 * (wide > np.median(wide))


def quarters(n: int, rng: Generator) -> Array:
    return rng.integers(1, 17, n).astype(np.float32) / np.float32(WEIGHT_UNIT)


def problem(
    n: int,
    scores: Callable[[int, Generator], Array],
    labels: Callable[[Array, Array], Array] = moderate,
    weights: Callable[[int, Generator], Array] | None = None,
) -> Data:
    """Both classes are there, however few the examples are."""
    rng = np.random.default_rng(n)
    s = scores(n, rng)
    y = labels(s, rng.random(n, dtype=np.float32))
    y[:2] = True, False
    return Data(y, s, weights(n, rng) if weights else None)


def one_vs_rest(k: int) -> Data:
    """K examples of k classes, each of which occurs once, and their scores of shape (k, k)."""
    rng = np.random.default_rng(k)
    classes = rng.permutation(k)
    scores = rng.random((k, k), dtype=np.float32)
    scores[np.arange(k), classes] += np.float32(0.5)
    return Data(classes, scores)
