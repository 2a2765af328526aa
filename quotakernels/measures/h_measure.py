"""The H-measure: how much of the expected cost of errors a classifier saves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels._keywords import brief
from quotakernels.measures._beta import around, expected_loss, given
from quotakernels.measures._measure import measure
from quotakernels.measures._reduction import Reduction, Totals, reduced, totals
from quotakernels.measures.hull import hull_table

__all__ = ["h_measure"]

CostDistribution: TypeAlias = Literal["prevalence"] | tuple[float, float]
NUMBERS = (int, float, np.integer, np.floating)
SMALLEST, LARGEST = 0.1, 1000
"""Of the parameters of the cost distribution, between which the accuracy holds."""


@measure(greater_is_better=True)
def h_measure(table: ops.Groups, *, cost_distribution: CostDistribution = "prevalence") -> Array:
    """H-measure: the share of the expected cost of errors that the ranking saves (Hand, 2009).

    H = 1 - L/Lmax.  L is the expectation over c of the smallest c·(1 - π)·FPR +
    (1 - c)·π·(1 - TPR) of all cuts; Lmax is that of a ranking that tells nothing.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.
    cost_distribution : "prevalence" or (a, b)
        The distribution of c, the cost of a false positive as a share of the costs of both
        errors: Beta(1 + π, 2 - π), with its mode at π, or Beta(a, b), with a and b from 0.1 to
        1000.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From 0 (chance) to 1 (optimum); NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `rank`; and another `cost_distribution`.

    See Also
    --------
    best_operating_point : the best cut for known costs.
    roc_hull : the cuts that are best for some c.

    Notes
    -----
    Hand (2009) took Beta(2, 2).  Hand & Anagnostopoulos (2014) propose the default, since an
    error in the rarer class is mostly the more serious one.

    With the edges of the ROC hull, m examples of which the share v is positive, L = Σ (m/n)·g(v)
    and Lmax = g(π), where g(v) is the expectation of min(c·(1 - v), (1 - c)·v).  For Beta(2, 2)
    g(v) = v(1 - v)(1 + v(1 - v))/2; in general it takes the incomplete beta function.  In float64
    the absolute error is below 1e-13, and below 1e-12 where a or b exceeds 100.  With weights m,
    n and π are masses.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    Hand, "Measuring classifier performance: a coherent alternative to the area under the ROC
    curve", Machine Learning 77, 2009.

    Hand & Anagnostopoulos, "A better Beta for the H measure of classification performance",
    Pattern Recognition Letters 40, 2014.

    Examples
    --------
    >>> from quotakernels import h_measure
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(h_measure(y_true, y_score).round(4))
    0.4436
    >>> print(h_measure(y_true, y_score, cost_distribution=(2, 2)).round(4))
    0.4524
    >>> print(h_measure(y_true, [0.5] * 5))
    0.0
    """
    parameters = _parameters(cost_distribution)
    xp = namespace(table.counts)
    hull = hull_table(xp, table)
    total = totals(xp, hull)
    loss = _loss(xp, total, parameters)
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in total)
    worst = loss(whole, positive, negative)[0][..., 0]

    def value(expected: Array) -> Array:
        saved = 1 - expected / worst
        return xp.maximum(saved, xp.zeros_like(saved))  # but for rounding it is not negative

    return reduced(xp, hull, Reduction(("mass", "positive", "negative"), loss, value))[0]


def _parameters(cost_distribution: Any) -> tuple[float, float] | None:
    """The numbers a and b, None where they follow the prevalence."""
    if isinstance(cost_distribution, str) and cost_distribution == "prevalence":
        return None
    if isinstance(cost_distribution, tuple) and len(cost_distribution) == 2:
        numbers = [x for x in cost_distribution if type(x) is not bool and isinstance(x, NUMBERS)]
        if len(numbers) == 2 and all(SMALLEST <= x <= LARGEST for x in numbers):
            a, b = (math.fabs(x) for x in numbers)  # Python's floats
            return a, b
    raise ValueError(
        f'cost_distribution must be "prevalence" or two numbers (a, b) from {SMALLEST} to '
        f"{LARGEST}; got {brief(cost_distribution)}"
    )


def _loss(
    xp: Namespace, total: Totals, parameters: tuple[float, float] | None
) -> Callable[[Array, Array, Array], tuple[Array]]:
    """The expected loss of rows, times a factor that all have."""
    if parameters is None:
        whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in total)
        beta = around(xp, positive / whole, negative / whole)
    else:
        beta = given(*parameters)

    def loss(mass: Array, positive: Array, negative: Array) -> tuple[Array]:
        divisor = xp.where(mass > 0, mass, xp.ones_like(mass))
        return (mass * expected_loss(xp, beta, positive / divisor, negative / divisor),)

    return loss
