"""Discrimination over all pairs: ROC AUC, the Gini coefficient, PEM."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, Sums, item_scale, reduced
from quotakernels.measures.roc_pr.curves import Standardized, checked_part, partial_auc
from quotakernels.ops import namespace


@plainly
class PemAreas(NamedTuple, Generic[T]):
    """The three areas of PEM = (S1 - S2) / S3, each of shape (...).

    Attributes
    ----------
    s1 : array
        Where Qrecall is above chance, d(j) = Q(j) - j/n > 0.
    s2 : array
        Where it is below chance, counted positive.
    s3 : array
        S1 of the optimal ranking, N/2.
    """

    s1: T
    s2: T
    s3: T


@measure(Measure, greater_is_better=None, by_positives=True, by_group=True, by_sums=True)
def pem_areas(table: ops.Groups, *, method: Literal["sum", "area"] = "sum") -> PemAreas:
    """The areas S1, S2 and S3 in PEM = (S1 - S2)/S3 ([AR] eq. 14-15, Table 5).

    With d(j) = Q(j) - j/n, S1 sums the positive d(j), S2 sums -d(j) over the negative ones, and
    S3 = N/2 is S1 of the optimal ranking.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    method : {"sum", "area"}
        "sum" adds up d(j) at j = 1..n, as Table 5 does; it refuses sample weights, which have no
        such positions.  "area" integrates d(x) from 0 to n, so it also counts both parts of a step
        in which the sign changes.

    Returns
    -------
    PemAreas
        In units of examples.  All 0 where there are no negatives, NaN where there are no positives.

    Notes
    -----
    (S1 - S2) / S3 is the same by both methods.  Weighted areas are on masses rescaled to a mean
    of one per example.  The optimistic policy gives upper bounds of S1 and lower bounds of S2,
    the pessimistic policy the other way round.

    References
    ----------
    [AR] eq. 14-15, Table 5.

    Examples
    --------
    >>> from quotakernels import pem_areas
    >>> y_true, y_score = [1, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> print(*pem_areas(y_true, y_score))
    0.4 0.4 1.5
    >>> print(*pem_areas(y_true, y_score, method="area"))
    0.375 0.375 1.5
    """
    if method not in ("sum", "area"):
        raise ValueError(f'method must be "sum" or "area"; got {show_value(method)}')
    if method == "sum" and table.weighted:
        raise ValueError(
            'with sample weights there are no positions to sum over; use method="area"'
        )
    xp = namespace(table[0])
    return reduced(xp, table, advantage_areas(xp, table, Totals(xp, table), method))[0]  # type: ignore[no-any-return]


def advantage_areas(
    xp: Namespace, table: Any, total: Totals, method: Literal["sum", "area"]
) -> Reduction:
    """S1, S2 and S3; d is a straight line within each row."""
    whole, positive = (ops.repeat_per_row(xp, table, x) for x in (total.whole, total.positive))
    by_sum = method == "sum"

    def terms(before: Array, found: Array, size: Array, here: Array) -> tuple[Array, ...]:
        """n·P·Σd of each row, above and below zero."""
        half, half_positive = whole / 2, positive / 2
        start = half * found - half_positive * before
        return _by_side(xp, by_sum, start, half * here - half_positive * size, size)

    def value(above: Array, below: Array) -> PemAreas:
        unit, optimum = total.whole * total.positive, total.pairs / (2 * total.positive)
        if table.weighted:
            scale = item_scale(xp, table, total)
            unit, optimum = unit / scale, optimum * scale
        return PemAreas(above / unit, xp.abs(below) / unit, optimum)

    columns = ("mass_before", "positive_before", "mass", "positive")
    if not by_sum:
        return Reduction(columns, terms, value)
    by_position = _advantages(xp, table, whole, positive)
    return Reduction(columns, terms, value, False, by_position)


def _advantages(
    xp: Namespace, table: ops.Groups | ops.Cumulative, whole: Array, positive: Array
) -> ops.Summands:
    """n·P·d of each position, above and below zero; exactly 0 in a group without a slope."""

    def terms(
        before: Array, found: Array, mass: Array, size: Array, here: Array, place: Array
    ) -> tuple[Array, Array]:
        before = xp.minimum(before, whole) if table.in_place else before  # behind the last example
        start = whole * found - positive * before
        line = start + place * (whole * here - positive * mass) / size
        return xp.clip(line, 0.0), xp.clip(line, None, 0.0)

    sums = ("group_mass_before", "group_positive_before")
    columns = (*sums, "group_mass", "group_size", "group_positive", "place")
    return ops.Summands(columns, terms)


def _by_side(
    xp: Namespace,
    by_sum: bool,
    start: Array,
    change: Array,
    size: Array,
) -> tuple[Array, ...]:
    """Sums, or areas, above zero and below of lines, of which half the heights are given."""
    crossing = _crossing_sum if by_sum else _crossing_area
    end = start + change
    line = size * (start + end) + change if by_sum else size * (start + end)
    crosses = start * end < 0

    def one(sign: int) -> Array:
        low, high = (0.0, None) if sign > 0 else (None, 0.0)
        return xp.piecewise(
            crosses,
            lambda start, change, size, _: sign * crossing(xp, sign * start, sign * change, size),
            lambda *x: xp.clip(x[-1], low, high),
            *(start, change, size, line),
        )

    return one(1), one(-1)


def _crossing_area(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Area above zero of a line that crosses it, of which this is half: start + x·change/size for x
    in [0, size].
    """
    height = xp.maximum(start, start + change)
    return size * height * (height / xp.abs(change))


def _crossing_sum(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Sum of the positive values, of which these are halves: start + k·change/size, k = 1..size.

    The line crosses zero.
    A value so near zero that rounding puts it on the wrong side adds nothing either way.
    """
    slope = change / size
    before_zero = xp.floor(size * xp.abs(start / change))
    rises = change > 0
    first = xp.where(rises, before_zero + 1, xp.ones_like(size))
    last = xp.where(rises, size, before_zero)
    ends = (xp.clip(start + k * slope, 0.0) for k in (first, last))
    return (last - first + 1) * sum(ends)


class Won(NamedTuple):
    """Twice the pairs won, ties counted half; and the number of pairs."""

    twice: Array
    pairs: Array

    @property
    def share(self) -> Array:
        """Pairs won, of all."""
        return self.twice / (2 * self.pairs)

    @property
    def surplus(self) -> Array:
        """Pairs won less pairs lost, over all."""
        return (self.twice - self.pairs) / self.pairs


def pairs_won(_xp: Namespace, table: Any, total: Totals) -> Reduction:
    """AUC is the share of the pairs of a positive and a negative that are won, Gini the surplus.

    Whole numbers of positives go on from one group of examples to the next, which takes fewer
    steps: those before the group are taken off at the end.
    """
    in_list = "_in_list" if table.segments and not total.rounded else ""

    def won_twice(before: Array, upto: Array, below: Array) -> tuple[Array]:
        return (below * (before + upto),)

    columns = (f"positive_before{in_list}", f"positive_upto{in_list}", "negative")

    def value(twice: Array) -> Won:
        if in_list:
            twice = twice - 2 * total.positive_before * total.negative
        won = total.within(twice, 2 * total.pairs) if total.rounded else twice
        return Won(won, total.pairs)

    return Reduction(columns, won_twice, value, True)


def _won(table: Any) -> Won:
    """Of groups of examples on a device of PyTorch in its own steps, which are fewer."""
    xp = namespace(table[0])
    if isinstance(table, ops.Cumulative) and table.segments:
        twice, pairs = ops.won_twice_by_group(table)
        mark: Any = table.mark
        return Won(cast(xp, twice, mark.dtype), pairs * mark)
    return reduced(xp, table, pairs_won(xp, table, Totals(xp, table)))[0]  # type: ignore[no-any-return]


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_counts=True,
    sums=Sums(pairs_won, attrgetter("share")),
)
def roc_auc(
    table: ops.Groups,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    standardized: Standardized = "mcclish",
) -> Array:
    """Area under the ROC curve: the share of pairs ranked correctly, ties counted half.

    A pair is a positive and a negative; it is ranked correctly if the positive has the higher
    score.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    max_fpr : float, optional
        Only the part up to this false positive rate f, ∫ TPR dFPR from 0 to f; 0 < f ≤ 1.
    min_tpr : float, optional
        Only the part above this true positive rate t, ∫ (1 - FPR) dTPR from t to 1; 0 ≤ t < 1.
        With weights a part near 1 is right to about 1e-16/(1 - t) of itself.
        With both bounds it is the area that lies in both parts, ∫ max(TPR - t, 0) dFPR from 0 to f.
    standardized : {"mcclish", False}
        "mcclish" scales the area of a part to (1 + (area - chance)/(best - chance))/2, so that
        chance is 0.5; chance is f²/2 and the best f, or (1 - t)²/2 and 1 - t.  False gives the area
        itself, and is required with both bounds.

    Returns
    -------
    array, shape (...)
        From 0 to 1; NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        A bound that is not a number or is out of range; another value of `standardized`; both
        bounds standardized.

    Notes
    -----
    Numerator and denominator are whole numbers, exact as long as 2PN of all groups together is
    below 2**53 (n up to 1.3e8); beyond that the result is within a few ulp.  With weights a pair
    counts the product of its weights.  Parts are within a few 2**-53 of their largest area; inside
    a tie group the curve is a straight line.  The optimistic and the pessimistic policy give
    bounds.

    References
    ----------
    [Hanley 1982]; of parts [McClish 1989], [Jiang 1996], of both bounds [Yang 2019].

    Examples
    --------
    >>> from quotakernels import roc_auc
    >>> print(roc_auc([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.75
    >>> print(roc_auc([1, 1], [0.9, 0.8]))
    nan
    >>> y_true, y_score = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]
    >>> print(roc_auc(y_true, y_score, max_fpr=0.5, standardized=False).round(4))
    0.2778
    >>> print(roc_auc(y_true, y_score, max_fpr=0.5).round(4))
    0.7037
    """
    max_fpr, min_tpr = checked_part(max_fpr, min_tpr, standardized)
    if max_fpr is not None or min_tpr is not None:
        return partial_auc(table, max_fpr, min_tpr, standardized)
    return _won(table).share


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    signed=True,
    by_positives=True,
    by_counts=True,
    sums=Sums(pairs_won, attrgetter("surplus")),
)
def gini(table: ops.Groups) -> Array:
    """Gini coefficient, 2·AUC - 1.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From -1 to 1; NaN where one class is absent.

    See Also
    --------
    pem : always the same number.
    roc_auc : the area, with notes on weights and ties.

    References
    ----------
    [PW], AUC and Gini.

    Examples
    --------
    >>> from quotakernels import gini
    >>> print(gini([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    """
    return _won(table).surplus


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    signed=True,
    by_positives=True,
    by_counts=True,
    sums=Sums(pairs_won, attrgetter("surplus")),
)
def pem(table: ops.Groups) -> Array:
    """PEM, the performance relative to chance and optimum over all quotas ([AR] eq. 14-15).

    PEM = (S1 - S2) / S3 = (Σ Q(j) - (n + 1)/2) / (N/2), summed over j = 1..n.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From -1 (worst) over 0 (chance) to 1 (optimum); NaN where one class is absent.

    See Also
    --------
    pem_areas : S1, S2 and S3.

    Notes
    -----
    Since Σ Q(j) = (P + 1)/2 + N·AUC, PEM equals 2·AUC - 1, the Gini coefficient, for every
    ranking, with ties, and for either class.  It is computed as such, and with weights it is
    defined as such.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [AR] eq. 14-15.

    Examples
    --------
    >>> from quotakernels import pem
    >>> print(pem([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    >>> print(pem([0, 1], [0.9, 0.1]))
    -1.0
    """
    return _won(table).surplus
