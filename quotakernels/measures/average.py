"""Averages over all quotas: hit rate, Qrecall, PEM and its areas."""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, namespace
from quotakernels.measures._harmonic import harmonic_sums
from quotakernels.measures._measure import measure
from quotakernels.measures._quota import NONZERO, mass_totals

__all__ = ["PemAreas", "average_hit_rate", "average_qrecall", "item_scale", "pem_areas"]

EXACT = 2.0**53
"""Whole numbers below this are exact in float64."""


class PemAreas(NamedTuple):
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

    s1: Array
    s2: Array
    s3: Array


@measure
def average_hit_rate(table: ops.Groups) -> Array:
    """Average hit rate: the mean of HitRate(j) over the positives (AR eq. 12).

    AHR = Σ t[j]·HitRate(j) / P over all positions j, where t[j] is the expected label at j.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64 and on MPS).
        Above 0 and at most 1; NaN where there are no positives.

    Raises
    ------
    TypeError, ValueError
        As in `rank`.

    Notes
    -----
    Eq. 12 is taken literally: t[j] is the weight of position j and also enters HitRate(j).
    Without ties this is the average precision.  With ties it is at most the mean of AHR over all
    tie orders, and it can be below the pessimistic value: labels 0, 0, 1 with scores 0, 1, 0 give
    7/24, and 1/3 with positives last.  So the optimistic and the pessimistic policy give no
    bounds.  All scores equal: AHR is the prevalence.

    With weights, the mass and the positive mass of a tie group are spread evenly over its
    examples, which stay the positions.  Positions are examples, so a weight of 2 is not a
    repetition.

    References
    ----------
    AR eq. 12: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

    Examples
    --------
    >>> from quotakernels import average_hit_rate
    >>> print(average_hit_rate([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]).round(4))
    0.8056
    >>> print(average_hit_rate([0, 0, 1], [0, 1, 0]).round(4))
    0.2917
    """
    xp = namespace(table.counts)
    positive = mass_totals(xp, table)[1]

    def term(*row: Array) -> tuple[Array]:
        def several(*row: Array) -> Array:
            return ops.piecewise(xp, row[-1] > 2, many, pair, *row)

        shares = (_single_share, _pair_share, _tied_share)
        single, pair, many = (partial(share, xp) for share in shares)
        return (ops.piecewise(xp, row[-1] > 1, several, single, *row),)

    columns = ("mass_before", "mass", "positive_before", "positive", "items")
    return ops.sum_rows(xp, table, term, columns, ())[0] / positive


def _single_share(
    xp: Namespace, mass_before: Array, mass: Array, found: Array, here: Array, items: Array
) -> Array:
    """t[j]·HitRate(j) of a group of one."""
    return here * ((found + here) / (mass_before + mass + NONZERO))


def _pair_share(
    xp: Namespace, mass_before: Array, mass: Array, found: Array, here: Array, items: Array
) -> Array:
    """Σ t[j]·HitRate(j) over a group of two, each with half of the masses."""
    first = (found + here / 2) / (mass_before + mass / 2)
    return here / 2 * (first + (found + here) / (mass_before + mass))


def _tied_share(
    xp: Namespace, mass_before: Array, mass: Array, found: Array, here: Array, items: Array
) -> Array:
    """The same sum over a group of any size, in closed form."""
    mass, items = mass + NONZERO, items + NONZERO
    ones, ramps = harmonic_sums(xp, mass_before * (items / mass), items)
    return here / mass * (found * ones + here / items * ramps)


def item_scale(xp: Namespace, table: ops.Groups, whole: Array) -> Array:
    """The factor that gives masses a mean of one per example."""
    if table.weights is None:
        return xp.ones_like(whole)
    return cast(xp, xp.sum(table.counts, axis=-1, dtype=xp.int64), whole.dtype) / whole


@measure
def average_qrecall(table: ops.Groups, *, start: Literal["P", "P+1"] = "P") -> Array:
    """Average Qrecall: the mean of Q(j) over the quotas that could hold all positives (AR eq. 13).

    AQR = Σ Q(j) / (N + 1) over j = P..n.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.
    start : {"P", "P+1"}
        The first quota of the sum.  "P" is eq. 13.  "P+1" starts one later and divides by N, as
        the published tables 8 and 9 do.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64 and on MPS).
        At most 1; NaN where there are no positives and, with ``start="P+1"``, where there are no
        negatives.

    Raises
    ------
    TypeError, ValueError
        As in `rank`; and another `start`.

    Notes
    -----
    AQR is 1 exactly where all positives are ranked above all negatives.  It is not a function of
    the AUC.  All scores equal: (1 + P/n) / 2.  It is linear in the expected labels, so it is the
    mean over all tie orders, and the optimistic and the pessimistic policy give bounds.

    With weights, masses are rescaled to a mean of one per example, and the sum is the area
    [∫ T(x)dx from P to n + (T(P) + P)/2] / (P(N + 1)), which for constant weights equals eq. 13.
    For ``start="P+1"`` it is [∫ T(x)dx + (P - T(P))/2] / (PN).

    References
    ----------
    AR eq. 13: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

    Examples
    --------
    >>> from quotakernels import average_qrecall
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> print(average_qrecall(y_true, y_score).round(4))
    0.8889
    >>> print(average_qrecall(y_true, y_score, start="P+1"))
    1.0
    """
    if start not in ("P", "P+1"):
        raise ValueError(f'start must be "P" or "P+1"; got {start!r}')
    xp = namespace(table.counts)
    whole, positive = mass_totals(xp, table)
    area = _qrecall_sum if table.weights is None else _qrecall_area
    value = area(xp, table, whole, positive, start == "P+1")
    defined = (positive > 0) & ((whole > positive) if start == "P+1" else (whole > 0))
    return xp.where(defined, value, xp.full_like(value, xp.nan))


def _qrecall_sum(
    xp: Namespace, table: ops.Groups, whole: Array, positive: Array, late: bool
) -> Array:
    """ΣT(j) / (P·(N + 1)) from j = P, or ΣT(j) / (P·N) from j = P + 1, in whole numbers.

    Twice the sum is `integer - part / items`: the only fraction is that of the group which the
    first position falls into.  While that fits float64 there is one rounding, that of the last
    division; otherwise there are two.
    """
    first = positive + 1 if late else positive

    def full_groups(before: Array, found: Array, items: Array, here: Array, first: Array) -> tuple[Array]:
        doubled = items * (2 * found) + here * (items + 1)
        return (xp.where(before >= first, doubled, xp.zeros_like(doubled)),)

    columns = ("mass_before", "positive_before", "mass", "positive")
    (below,) = ops.sum_rows(xp, table, full_groups, columns, (first,))
    _, owner = ops.rows_at(xp, table, xp.expand_dims(first, axis=-1))
    row = ops.Rows(*(x[..., 0] for x in owner))
    items = xp.where(row.items > 0, row.items, xp.ones_like(row.items))
    skipped = first - row.mass_before - 1
    upto = row.positive * (skipped + 1)
    each = xp.floor(upto / items)
    rest = upto - each * items
    integer = (
        below
        + 2 * (items - skipped) * row.positive_before
        + row.positive * (items + 1)
        - each * skipped
    )
    part = rest * skipped
    doubled = 2 * positive * (whole - positive + (0 if late else 1))
    return xp.where(
        doubled * items < EXACT,
        (integer * items - part) / (doubled * items),
        (integer - part / items) / doubled,
    )


def _qrecall_area(
    xp: Namespace, table: ops.Groups, whole: Array, positive: Array, late: bool
) -> Array:
    """The same sums as areas under T, by the trapezoid rule, on masses of mean one."""

    def area(before: Array, found: Array, mass: Array, here: Array, first: Array) -> tuple[Array]:
        """Area under T from `first` on, within each row."""
        left_out = xp.minimum(xp.clip(first - before, 0.0), mass)
        left = found + left_out * here / xp.where(mass > 0, mass, xp.ones_like(mass))
        return ((mass - left_out) * (left + found + here) / 2,)

    scale = item_scale(xp, table, whole)
    columns = ("mass_before", "positive_before", "mass", "positive")
    below = ops.sum_rows(xp, table, area, columns, (positive,))[0] * scale
    _, owner = ops.rows_at(xp, table, xp.expand_dims(positive, axis=-1))
    row = ops.Rows(*(x[..., 0] for x in owner))
    mass = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
    found = row.positive_before + (positive - row.mass_before) * row.positive / mass
    negative = scale * (whole - positive)
    if late:
        return (below + (positive - found) / 2) / (positive * negative)
    return (below + (positive + found) / 2) / (positive * (negative + 1))


@measure
def pem_areas(table: ops.Groups, *, method: Literal["sum", "area"] = "sum") -> PemAreas:
    """The areas S1, S2 and S3 of which PEM is made (AR eq. 14-15, Table 5).

    With d(j) = Q(j) - j/n, S1 sums the positive d(j), S2 sums -d(j) over the negative ones, and
    S3 = N/2 is S1 of the optimal ranking.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.
    method : {"sum", "area"}
        "sum" adds up d(j) at j = 1..n, as Table 5 does.  "area" integrates d(x) from 0 to n, so
        that it also counts the parts of a step on either side of a change of sign.

    Returns
    -------
    PemAreas
        In units of examples.  All NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `rank`; another `method`; and "sum" with sample weights, which have no positions to
        sum over.

    Notes
    -----
    (S1 - S2) / S3 is the same by both methods.  Weighted areas are on masses rescaled to a mean
    of one per example.  The optimistic policy gives upper bounds of S1 and lower bounds of S2,
    the pessimistic policy the other way round.

    References
    ----------
    AR eq. 14-15, Table 5: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

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
        raise ValueError(f'method must be "sum" or "area"; got {method!r}')
    if method == "sum" and table.weights is not None:
        raise ValueError(
            'with sample weights there are no positions to sum over; use method="area"'
        )
    xp = namespace(table.counts)
    whole, positive = mass_totals(xp, table)
    crossing = _crossing_sum if method == "sum" else _crossing_area
    first = 1 if method == "sum" else 0

    def one_side(sign: int, crosses: Array, *line: Array) -> Array:
        return ops.piecewise(
            xp,
            crosses,
            lambda start, change, size, _: crossing(xp, sign * start, sign * change, size),
            lambda *line: xp.maximum(sign * line[-1], xp.zeros_like(line[-1])),
            *line,
        )

    def sides(
        before: Array, found: Array, size: Array, here: Array, whole: Array, positive: Array
    ) -> tuple[Array, Array]:
        """n·P·Σd of the rows, above and below zero; d is a straight line within each row."""
        start = whole * found - positive * before
        change = whole * here - positive * size
        line = (start, change, size, size * start + change * ((size + first) / 2))
        crosses = start * (start + change) < 0
        return one_side(1, crosses, *line), one_side(-1, crosses, *line)

    columns = ("mass_before", "positive_before", "mass", "positive")
    above, below = ops.sum_rows(xp, table, sides, columns, (whole, positive))
    scale = item_scale(xp, table, whole)
    negative = whole - positive
    unit = xp.where(negative > 0, whole * positive, xp.zeros_like(whole))
    s3 = xp.where(unit > 0, scale * negative / 2, xp.full_like(unit, xp.nan))
    return PemAreas(above * scale / unit, below * scale / unit, s3)


def _crossing_area(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Area above zero of a line that crosses it: start + x·change/size for x in [0, size]."""
    height = xp.maximum(start, start + change)
    return size * height * (height / xp.abs(change)) / 2


def _crossing_sum(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Sum of the positive values of start + k·change/size, k = 1..size, for a line that crosses.

    A value so near zero that rounding puts it on the wrong side adds nothing either way.
    """
    slope = change / size
    before_zero = xp.floor(size * xp.abs(start / change))
    rises = change > 0
    first = xp.where(rises, before_zero + 1, xp.ones_like(size))
    last = xp.where(rises, size, before_zero)
    ends = (xp.maximum(start + k * slope, xp.zeros_like(start)) for k in (first, last))
    return (last - first + 1) * sum(ends) / 2
