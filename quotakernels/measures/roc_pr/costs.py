"""Cuts for given costs, and the H-measure, the expected cost under a distribution of costs."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.keywords import public, show_value
from quotakernels.inputs.numbers import (
    COST,
    Domains,
    checked,
    common_shape,
    numbers_like,
    of_numbers,
)
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures.at_quota.curves import cut_thresholds
from quotakernels.measures.roc_pr.hull import hull_table
from quotakernels.ops import namespace

AROUND_ROUNDS = 10
"""Rounds of the continued fraction that are enough for parameters from 1 to 2."""


class Beta(NamedTuple):
    """Beta(a, b): its parameters, the logarithm of B(a, b), and the rounds that it takes."""

    a: Any
    b: Any
    log_normaliser: Any
    rounds: int


def given(a: float, b: float) -> Beta:
    """Beta(a, b) of two numbers; no rounds for Beta(2, 2), of which all is known."""
    if a == b == 2:
        return Beta(a, b, -math.log(6), 0)
    return Beta(a, b, _log_beta(a, b), AROUND_ROUNDS + math.ceil(3 * math.sqrt(max(a, b))))


def _log_beta(a: float, b: float) -> float:
    """The logarithm of B(a, b), by steps of one from the parameters' fractions in (0, 1].

    Differences of large log-gammas would lose digits.
    """
    above_a, above_b = math.ceil(a) - 1, math.ceil(b) - 1
    x, y = a - above_a, b - above_b
    steps = [math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)]
    steps += [math.log((x + k) / (x + y + k)) for k in range(above_a)]
    steps += [math.log((y + k) / (a + y + k)) for k in range(above_b)]
    return math.fsum(steps)


def around(xp: Namespace, share: Array, other: Array) -> Beta:
    """Beta(1 + π, 2 - π) of a share π and 1 - π: B = π(1 - π)·(pi/2)/sin(pi·π)."""
    small, large = xp.minimum(share, other), xp.maximum(share, other)
    angle = math.pi * small
    normaliser = large * (angle / xp.sin(angle)) / 2
    return Beta(1 + share, 1 + other, xp.log(normaliser), AROUND_ROUNDS)


def expected_losses(xp: Namespace, beta: Beta, share: Array, other: Array) -> tuple[Array, Array]:
    """Expected losses of a negative and of a positive, times a + b, of shares v and 1 - v.

    They are A = a·I_v(a + 1, b) and B = b·I_{1-v}(b + 1, a) with the regularised incomplete beta
    function I.  The expectation of min(c·(1 - v), (1 - c)·v) over c is (1 - v)·A + v·B, whose slope
    is B - A.  The two change places with v and 1 - v.  For v below the mean, roughly, the continued
    fraction of the first is quick, and the second follows from it without loss.
    """
    a, b, log_normaliser, rounds = beta
    if rounds == 0:
        return 2 * share**3 * (1 + 3 * other), 2 * other**3 * (1 + 3 * share)
    swapped = share * (a + b + 2) > a + 1
    v, rest = xp.where(swapped, other, share), xp.where(swapped, share, other)
    a, b = a + xp.zeros_like(v), b + xp.zeros_like(v)
    a, b = xp.where(swapped, b, a), xp.where(swapped, a, b)
    exponent = a * _log(xp, v, rest) + b * _log(xp, rest, v) - log_normaliser
    density = xp.exp(exponent) * (1 / a + 1 / b)
    first = v * b * density / ((a + 1) * _fraction(xp, a + 1, b, v, rest, rounds))
    negative, positive = a * first, b * (1 - density - first)
    return xp.where(swapped, positive, negative), xp.where(swapped, negative, positive)


def _log(xp: Namespace, share: Array, other: Array) -> Array:
    """The logarithm of a share, from 1 minus it where that is known better."""
    return xp.where(share > 0.5, xp.log1p(-other), xp.log(share))


def _fraction(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, rounds: int) -> Array:
    """The continued fraction 1 + d₁/(1 + d₂/(1 + …)) in I_x(a, b) (DLMF 8.17.22), from its tail.

    The coefficients d tend to -x/4, of which the tail is made.
    """
    value = (1 + xp.sqrt(rest)) / 2
    for m in range(rounds, 0, -1):
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value
        k = m - 1
        value = 1 - (a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) / value
    return value


CostDistribution: TypeAlias = Literal["prevalence"] | tuple[float, float]
NUMBERS = (int, float, np.integer, np.floating)
SMALLEST, LARGEST = 0.1, 1000
"""Of the parameters of the cost distribution, between which the accuracy holds."""


@measure(Measure, greater_is_better=True)
def h_measure(table: ops.Groups, *, cost_distribution: CostDistribution = "prevalence") -> Array:
    """H-measure: the share of the expected cost of errors that the ranking saves ([Hand 2009]).

    H = 1 - L/Lmax.  L is the expectation over c of the smallest c·(1 - π)·FPR + (1 - c)·π·(1 - TPR)
    of all cuts; Lmax is that of a constant score.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    cost_distribution : "prevalence" or (a, b)
        The distribution of c, the cost of a false positive as a share of the costs of both
        errors: Beta(1 + π, 2 - π), with its mode at π, or Beta(a, b), with a and b from 0.1 to
        1000.

    Returns
    -------
    array, shape (...)
        From 0 (chance) to 1 (optimum); NaN where one class is absent.

    See Also
    --------
    best_operating_point : the best cut for known costs.
    roc_hull : the cuts that are best for some c.

    Notes
    -----
    [Hand 2009] took Beta(2, 2).  [Hand 2014] proposes the default, since an error in the rarer
    class is mostly the more serious one.

    With the edges of the ROC hull, m examples of which the share v is positive, L = Σ (m/n)·g(v)
    and Lmax = g(π), where g(v) is the expectation of min(c·(1 - v), (1 - c)·v).  For Beta(2, 2)
    g(v) = v(1 - v)(1 + v(1 - v))/2; in general it takes the incomplete beta function.  In float64
    the absolute error is below 1e-13, and below 1e-12 where a or b exceeds 100.  With weights m,
    n and π are masses, and sums in another order, as of a batch, can move H by 1e-15, so a
    small H has few certain digits.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Hand 2009], [Hand 2014].

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
    total = Totals(xp, hull)
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in total)
    if parameters is None:
        beta = around(xp, positive / whole, negative / whole)
    else:
        beta = given(*parameters)

    def losses(mass: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        divisor = xp.where(mass > 0, mass, xp.ones_like(mass))
        return expected_losses(xp, beta, positive / divisor, negative / divisor)

    chance = losses(whole, positive, negative)

    def saved(mass: Array, positive: Array, negative: Array) -> tuple[Array]:
        """Beside a cut for everybody, whose costs are the tangent: no term is negative."""
        of_negative, of_positive = losses(mass, positive, negative)
        return (negative * (chance[0] - of_negative) + positive * (chance[1] - of_positive),)

    worst = (negative * chance[0] + positive * chance[1])[..., 0]

    def value(found: Array) -> Array:
        found = xp.maximum(found, xp.zeros_like(found))  # negative by rounding alone
        return total.within(found, worst) / worst

    return reduced(xp, hull, Reduction(("mass", "positive", "negative"), saved, value))[0]


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
        f"{LARGEST}; got {show_value(cost_distribution)}"
    )


SAME_COST = 2.0**-48
"""Relative difference below which two costs are taken as equal."""


@plainly
class OperatingPoint(NamedTuple, Generic[T]):
    """A cut and what it costs; every field has the shape of the batch and the costs.

    Attributes
    ----------
    threshold, quota : array
        The cut, as in `Curve`.
    fpr, tpr : array
        Its false and true positive rate.
    cost : array
        Its expected cost per example.
    """

    threshold: T | Any
    quota: Any
    fpr: T
    tpr: T
    cost: T


_DOMAINS: Domains = {
    "cost_fp": COST,
    "cost_fn": COST,
    "prevalence": (lambda x: (x >= 0) & (x <= 1), "a share, from 0 to 1"),
}


@public
def iso_performance_slope(cost_fp: NumberOf[A], cost_fn: NumberOf[A], prevalence: NumberOf[A]) -> A:
    """Slope in ROC space, ΔTPR/ΔFPR, of the lines along which the expected cost is the same.

    It is cost_fp·(1 - π) / (cost_fn·π).

    Parameters
    ----------
    cost_fp, cost_fn : number or array
        Costs of a false positive and of a false negative, finite and not negative.
    prevalence : number or array
        π, the share of positives where the classifier will be used, from 0 to 1.

    Returns
    -------
    array
        In the broadcast shape of the three.  Not negative, infinite if only false positives cost,
        and NaN if neither error costs anything.

    Raises
    ------
    ValueError
        Negative, NaN or infinite costs, a prevalence outside 0 to 1.  Where values cannot be
        read the result is NaN instead.

    See Also
    --------
    best_operating_point : the cut that the highest of these lines touches.

    Notes
    -----
    Every line of this slope joins points of equal cost.  The higher the line, the smaller the cost.
    The hull vertex with ``slope_min <= slope <= slope_max`` (see `roc_hull`) has the smallest cost.

    References
    ----------
    [Provost 2001].

    Examples
    --------
    >>> from quotakernels.charts import iso_performance_slope
    >>> print(iso_performance_slope(1, 5, 0.5))
    0.2
    >>> print(iso_performance_slope(1, [1, 5, 0], 0.25))
    [3.  0.6 inf]
    """
    named = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prevalence": prevalence}
    return of_numbers(_slope, named, _DOMAINS)  # type: ignore[no-any-return]


def _slope(_: Namespace, cost_fp: Array, cost_fn: Array, prevalence: Array) -> Array:
    return cost_fp * (1 - prevalence) / (cost_fn * prevalence)


def _mass_costs(
    xp: Namespace, table: ops.Groups, *, cost_fp: Any, cost_fn: Any, prevalence: Any = None
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """What each selected negative and each other positive adds to the cost per example.

    Both of shape (..., K); NaN where a class is absent or a value is bad.
    """
    given = {"cost_fp": cost_fp, "cost_fn": cost_fn}
    given |= {} if prevalence is None else {"prevalence": prevalence}
    values = {name: numbers_like(table.counts, name, x) for name, x in given.items()}
    shape = common_shape(values)
    values = checked(xp, values, {name: _DOMAINS[name] for name in values})
    flat = {name: xp.reshape(xp.broadcast_to(x, shape), (-1,)) for name, x in values.items()}
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    one_fp, one_fn = 1 / whole, 1 / whole
    if prevalence is not None:
        one_fp, one_fn = (1 - flat["prevalence"]) / negative, flat["prevalence"] / positive
    of_fp, of_fn = flat["cost_fp"] * one_fp, flat["cost_fn"] * one_fn
    known = (positive > 0) & (negative > 0) & ~xp.isnan(of_fp + of_fn)
    return (xp.nan_unless(known, of_fp), xp.nan_unless(known, of_fn)), shape


class _BestOperatingPoint(Measure):
    validator = staticmethod(_mass_costs)


@measure(_BestOperatingPoint, greater_is_better=None)
def best_operating_point(table: ops.Groups, of_fp: Array, of_fn: Array) -> OperatingPoint:
    """The cut with the smallest expected cost, for given costs of the two kinds of errors.

    The cost per example is cost_fp·(1 - π)·FPR + cost_fn·π·(1 - TPR).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    cost_fp, cost_fn, prevalence : number or array
        As `iso_performance_slope` takes them, broadcast together to the shape Q.  The prevalence is
        by default that of the data, of each row of the batch.

    Returns
    -------
    OperatingPoint
        Arrays of shape (..., *Q), all NaN where one class is absent.

    Raises
    ------
    ValueError
        Costs or a prevalence that `iso_performance_slope` refuses; shapes that do not fit together.

    See Also
    --------
    iso_performance_slope : the slope of lines of equal cost.
    roc_hull : all cuts that are best for some costs.

    Notes
    -----
    All cuts take part, also those that select nothing and everything.  Among cuts of the same cost
    the result is the one with the smallest quota.  A cut that selects more must save a relative
    2**-48 more than it costs, which is more than rounding.  A tie group is selected whole or not at
    all; no part of one is cheaper than both.  Only vertices of the hull can be best, and its slope
    falls, so each cost takes one binary search.

    References
    ----------
    [Provost 2001].

    Examples
    --------
    >>> from quotakernels import best_operating_point
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> best = best_operating_point(y_true, y_score, cost_fp=1, cost_fn=[0.2, 1, 5])
    >>> print(best.threshold, best.quota, best.cost)
    [0.9 0.6 0.6] [1. 4. 4.] [0.08 0.2  0.2 ]
    >>> print(best_operating_point(y_true, y_score, cost_fp=1, cost_fn=5, prevalence=0.02).quota)
    1.0
    """
    xp = namespace(table.counts)
    hull = ops.filled_first(xp, hull_table(xp, table))
    up, along = (cast(xp, x, of_fp.dtype) for x in (hull.positive, hull.negative))
    price = xp.where(up > 0, along / up, xp.full_like(up, xp.inf))
    taken = xp.bisect(price, of_fn / of_fp * (1 - tolerance(price, SAME_COST)))
    unknown = xp.isnan(of_fp)

    def there(x: Array) -> Array:
        return xp.nan_unless(~unknown, xp.take_last_axis(x, taken))

    whole = not hull.weighted
    (fp, tn), (tp, fn) = (map(there, _selected_and_not(xp, x, whole)) for x in (along, up))
    cost = of_fp * fp + of_fn * fn
    return OperatingPoint(
        there(cut_thresholds(xp, hull)), fp + tp, fp / (fp + tn), tp / (tp + fn), cost
    )


def _selected_and_not(xp: Namespace, mass: Array, whole: bool) -> tuple[Array, Array]:
    """The mass before and from each cut on, each summed from 0."""
    nothing = xp.zeros_like(mass[..., :1])
    both = (xp.prefix_sum(x, whole=whole) for x in (mass, xp.flip(mass, axis=-1)))
    before, after = (xp.concat([nothing, x], axis=-1) for x in both)
    return before, xp.flip(after, axis=-1)
