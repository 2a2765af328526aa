"""Intervals and tests of the measures of confusion tables, from their counts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quotakernels._bits import host_array
from quotakernels._records import plainly
from quotakernels.inference._distributions import (
    Alternative,
    Side,
    check_level,
    normal_p_value,
    normal_width,
    wilson,
)
from quotakernels.inference.hit_rates import Interval, NDArray
from quotakernels.measures.tables.confusion import ConfusionTable, TableMeasure, validate_cells
from quotakernels.ops import namespace

_Share = tuple[tuple[int, ...], tuple[int, ...]]
"""Which cells count for a share and which against it, of (tp, fp, fn, tn)."""
_SHARES: Mapping[str, _Share] = {
    "accuracy": ((0, 3), (1, 2)),
    "misclassification_rate": ((1, 2), (0, 3)),
    "precision": ((0,), (1,)),
    "recall": ((0,), (2,)),
    "false_positive_rate": ((1,), (3,)),
    "true_negative_rate": ((3,), (1,)),
    "false_negative_rate": ((2,), (0,)),
    "inverse_precision": ((3,), (2,)),
    "prevalence": ((0, 2), (1, 3)),
    "bias": ((0, 1), (2, 3)),
}
_DIFFERENCES: Mapping[str, tuple[_Share, _Share]] = {
    "informedness": (((0,), (2,)), ((1,), (3,))),
    "markedness": (((0,), (1,)), ((2,), (3,))),
}
"""Differences of shares of two independent samples."""


def _logit(x: NDArray) -> NDArray:
    return np.log(x / (1 - x))


def _expit(x: NDArray) -> NDArray:
    return 1 / (1 + np.exp(-x))


_Scale = tuple[Callable[[NDArray], NDArray], Callable[[NDArray], NDArray]]
_AS_IT_IS: _Scale = (np.positive, np.positive)
_RATIOS = ("diagnostic_odds_ratio", "positive_likelihood_ratio", "negative_likelihood_ratio")
_SCALES: Mapping[str, _Scale] = {
    **dict.fromkeys(("f_score", "g_measure", "information_coefficient"), (_logit, _expit)),
    **dict.fromkeys(
        ("matthews_corrcoef", "bookmaker_correlation", "cohen_kappa", "scott_pi", "fleiss_kappa"),
        (np.arctanh, np.tanh),
    ),
    "bennett_s": (np.arctanh, np.tanh),
    **dict.fromkeys(_RATIOS, (np.log, np.exp)),
}
"""Scales without ends, on which an estimate is about normal."""
CELL_STEP = 2.0**-24
"""By which part of all examples a cell is increased to tell how a measure depends on it."""
BISECTIONS = 60
FARTHEST = 40.0
"""Standard errors beyond which a p-value is 0 in floats."""


_Interval = Callable[[Any], tuple[NDArray, NDArray]]
_Estimate = tuple[NDArray, _Interval]


class _Measured(NamedTuple):
    """A measure of tables on the host, whose four cells are the first axis."""

    name: str
    measure: Callable[..., Any]
    options: dict[str, Any]

    def of(self, cells: NDArray) -> NDArray:
        with np.errstate(all="ignore"):
            return np.asarray(self.measure(ConfusionTable(*cells), **self.options), np.float64)

    def interval(self, cells: NDArray) -> _Interval:
        """Both ends, as a function of how many standard errors they are away."""
        if self.name in _SHARES:
            return partial(_of_share, _SHARES[self.name], cells)
        if self.name in _DIFFERENCES:
            first, second = _DIFFERENCES[self.name]
            return _of_difference(_with_interval(first, cells), _with_interval(second, cells))
        return self._by_slopes(cells)

    def _by_slopes(self, cells: NDArray) -> _Interval:
        """The delta method for a multinomial table.

        Ratios have half an example more in each cell, others where one is empty.
        """
        to_scale, back = _SCALES.get(self.name, _AS_IT_IS)
        estimate = self.of(cells)
        if self.name in (*_RATIOS, "discriminant_power"):
            cells = cells + 0.5
        elif to_scale is not np.positive:
            cells = cells + 0.5 * (cells == 0).any(axis=0)
        whole = cells.sum(axis=0)
        step, here = CELL_STEP * whole, to_scale(self.of(cells))
        more = [
            np.concatenate([cells[:k], cells[k : k + 1] + step, cells[k + 1 :]]) for k in range(4)
        ]
        slopes = np.stack([(to_scale(self.of(x)) - here) / step for x in more])
        fields = slopes.ndim - cells.ndim
        share = (cells / whole).reshape(4, *(1,) * fields, *whole.shape)
        mean = (share * slopes).sum(axis=0)
        error = np.sqrt((share * (slopes - mean) ** 2).sum(axis=0) * whole)

        def interval(z: Any) -> tuple[NDArray, NDArray]:
            lower, upper = back(here - z * error), back(here + z * error)
            return np.minimum(lower, estimate), np.maximum(upper, estimate)

        return interval


def _share(share: _Share, cells: NDArray) -> NDArray:
    found, missed = (cells[list(x)].sum(axis=0) for x in share)
    return np.asarray(found / (found + missed))


def _with_interval(share: _Share, cells: NDArray) -> _Estimate:
    return _share(share, cells), partial(_of_share, share, cells)


def _of_share(share: _Share, cells: NDArray, z: NDArray | float) -> tuple[NDArray, NDArray]:
    found, missed = (cells[list(x)].sum(axis=0) for x in share)
    return wilson(namespace(found), found, missed, z, np.ones_like(found))


def _of_difference(first: _Estimate, second: _Estimate) -> _Interval:
    """That of a difference of two independent estimates, of which each has its own interval."""
    (a, of_a), (b, of_b) = first, second

    def interval(z: NDArray | float) -> tuple[NDArray, NDArray]:
        (low, high), (least, most) = of_a(z), of_b(z)
        down = np.sqrt((a - low) ** 2 + (most - b) ** 2)
        return a - b - down, a - b + np.sqrt((high - a) ** 2 + (b - least) ** 2)

    return interval


def table_interval(
    measure: Any, table: ConfusionTable, *, confidence_level: float = 0.95, **options: Any
) -> Interval:
    """The interval of a measure of a confusion table, from its counts alone.

    It needs no scores, so it serves tables from publications.  The examples are taken as drawn one
    by one from a population, in which each has one of four outcomes.

    Parameters
    ----------
    measure : callable
        A measure of confusion tables, such as `recall`, or your own function of a `ConfusionTable`
        that gives one number for each, or several: then results have these as first axis.
    table : ConfusionTable
        Counts of examples, of any shape; shares, and sums of weights, are refused.
    confidence_level : float
        The share of samples whose intervals are to hold the value of the population.
    **options
        The measure's own numbers, such as ``beta=2``.

    Returns
    -------
    Interval
        On the host.  NaN where the measure is undefined.

    Raises
    ------
    TypeError, ValueError
        What the measure raises; cells that are not whole numbers; a level that is not between 0
        and 1.

    See Also
    --------
    compare_tables : whether two tables differ.
    hit_rate_interval : where the threshold was chosen by a quota, and moves with the sample.

    Notes
    -----
    Shares, such as precision and recall, have Wilson's interval; informedness and markedness,
    differences of two shares, that of Newcombe's method 10.  All others have the delta method, for
    the logarithm of ratios, the log odds of what lies between 0 and 1, Fisher's z of agreement and
    correlation, and as they are for impacts and functions of your own.  Ratios have half an example
    added to each cell, others on such scales where one is empty.  Near 0, the interval of mutual
    information is too narrow.  Precision and what else depends on the class ratio
    have no such interval if the numbers of positives and negatives were chosen, as in a
    case-control study.

    References
    ----------
    [Wilson 1927]; [Newcombe 1998].

    Examples
    --------
    >>> from quotakernels import recall
    >>> from quotakernels.inference import table_interval
    >>> from quotakernels.tables import ConfusionTable, diagnostic_odds_ratio
    >>> table = ConfusionTable(tp=45, fp=10, fn=5, tn=140)
    >>> found = table_interval(recall, table)
    >>> print(found.estimate, found.lower.round(3), found.upper.round(3))
    0.9 0.786 0.957
    >>> found = table_interval(diagnostic_odds_ratio, table)
    >>> print(found.estimate, found.lower.round(1), found.upper.round(1))
    126.0 37.4 327.4
    """
    check_level(confidence_level)
    measured, cells = _taken(measure, table, options)
    estimate = measured.of(cells)
    with np.errstate(all="ignore"):
        lower, upper = measured.interval(cells)(normal_width(confidence_level))
    return Interval(estimate, *(np.where(np.isnan(estimate), np.nan, x) for x in (lower, upper)))


def _taken(measure: Any, table: Any, options: dict[str, Any]) -> tuple[_Measured, NDArray]:
    if not isinstance(table, ConfusionTable):
        raise TypeError(f"table must be a ConfusionTable; got {type(table).__name__}")
    if not callable(measure):
        raise TypeError(f"measure must be callable; got {type(measure).__name__}")
    cells = np.stack([host_array(x).astype(np.float64) for x in validate_cells(table)[1]])
    if (parts := ~np.isnan(cells) & (cells != np.floor(cells))).any():
        raise ValueError(
            "table must have counts, which are whole numbers: shares and weights do not say how "
            f"many examples there are; got {cells[parts][0]}"
        )
    name = measure.__name__ if isinstance(measure, TableMeasure) else ""
    return _Measured(name, measure, options), cells


@plainly
class TableComparison(NamedTuple):
    """How much a measure of one table differs from that of another; arrays of one shape.

    Attributes
    ----------
    difference : array
        The measure of the first table less that of the second.
    lower, upper : array
        The ends of its interval.
    p_value : array
        Of the test that both are equal in the population, or of the side that was asked for.
    """

    difference: NDArray
    lower: NDArray
    upper: NDArray
    p_value: NDArray


def compare_tables(
    measure: Any,
    first: ConfusionTable,
    second: ConfusionTable,
    *,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    confidence_level: float = 0.95,
    **options: Any,
) -> TableComparison:
    """Whether a measure differs between two confusion tables of different examples.

    Parameters
    ----------
    measure : callable
        As in `table_interval`.
    first, second : ConfusionTable
        Counts of two samples that share no example, such as two publications.
    alternative : {"two-sided", "greater", "less"}
        What the test may show: that the measures differ, that the first is greater, or that it is
        less.
    margin : float
        A difference of the measure, and only for a one-sided test: "greater" may show that the
        difference is above -margin (the first is not inferior), "less" that it is below the margin.
    confidence_level : float
        The level of the interval, or of its one bound.
    **options
        The measure's own numbers.

    Returns
    -------
    TableComparison
        On the host.  NaN where the measure is undefined or infinite for either table.

    Raises
    ------
    TypeError, ValueError
        What `table_interval` raises; a margin of a two-sided test.

    See Also
    --------
    compare : models on the same examples, whose scores are at hand.

    Notes
    -----
    The distances from both estimates to the ends of their intervals are added as squares
    ("square and add"), which for shares is Newcombe's method 10.  The p-value is that of the
    interval which just ends at no difference, or at the margin.

    References
    ----------
    [Newcombe 1998]; [Zou 2008].

    Examples
    --------
    >>> from quotakernels import recall
    >>> from quotakernels.inference import compare_tables
    >>> from quotakernels.tables import ConfusionTable
    >>> first = ConfusionTable(tp=56, fp=10, fn=14, tn=90)
    >>> second = ConfusionTable(tp=48, fp=10, fn=32, tn=90)
    >>> found = compare_tables(recall, first, second)
    >>> print(found.difference.round(2), found.lower.round(4), found.upper.round(4))
    0.2 0.0524 0.3339
    >>> print(found.p_value.round(4))
    0.0081
    """
    side = Side.of(alternative, margin, confidence_level)
    samples = [_taken(measure, table, options) for table in (first, second)]
    with np.errstate(all="ignore"):
        parts = [(measured.of(cells), measured.interval(cells)) for measured, cells in samples]
        interval = _of_difference(*parts)
        difference = np.asarray(parts[0][0] - parts[1][0])
        difference = np.where(np.isfinite(difference), difference, np.nan)
        ends = (x + 0 * difference for x in interval(normal_width(side.level)))
        lower, upper = side.ends(*ends)
        margin = side.sign * side.margin
        away = np.where(np.isnan(lower + upper), np.nan, difference + margin)
        z = _distance(lambda z: np.where(away > 0, *interval(z)) + margin, away)
    p_value = normal_p_value(namespace(z), z)
    p_value = side.p_value(namespace(z), np.sign(away), p_value)
    return TableComparison(*map(np.asarray, (difference, lower, upper, p_value)))


def _distance(end: Callable[[NDArray], NDArray], away: NDArray) -> NDArray:
    """At how many standard errors the interval ends at 0."""
    near, far = np.zeros_like(away), np.full_like(away, FARTHEST)
    for _ in range(BISECTIONS):
        middle = (near + far) / 2
        outside = end(middle) * np.sign(away) > 0
        near, far = np.where(outside, middle, near), np.where(outside, far, middle)
    return np.where(np.isnan(away), away, near)
