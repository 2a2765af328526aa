"""Averages over all quotas: hit rate, Qrecall, PEM and its areas."""

from __future__ import annotations

from typing import Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, namespace
from quotakernels.measures._harmonic import harmonic_sums
from quotakernels.measures._measure import measure
from quotakernels.measures._quota import mass_totals

__all__ = ["PemAreas", "average_hit_rate", "average_qrecall", "item_scale", "pem_areas"]

EXACT = 2.0**53
"""Whole numbers below this are exact in float64."""


class PemAreas(NamedTuple):
    """The three areas of PEM = (S1 - S2) / S3, each of shape (...).

    Attributes
    ----------
    s1 : array
        Where the curve is above chance.
    s2 : array
        Where it is below chance, counted positive.
    s3 : array
        Of the optimal ranking, N/2.
    """

    s1: Array
    s2: Array
    s3: Array


@measure
def average_hit_rate(table: ops.Groups) -> Array:
    """Average hit rate: the mean of HitRate(j) over the positives (AR eq. 12).
    """
    xp = namespace(table.counts)
    positive = mass_totals(xp, table)[1]

    def single(rows_before: Array, mass: Array, found: Array, here: Array, items: Array) -> Array:
        return here * ((found + here) / (rows_before + mass))

    def tied(mass_before: Array, mass: Array, found: Array, here: Array, items: Array) -> Array:
        """All m items of a group hold the same share of its mass and of its positives."""
        one = xp.ones_like(mass)
        mass, items = xp.where(mass > 0, mass, one), xp.where(items > 0, items, one)
        ones, ramps = harmonic_sums(xp, mass_before * (items / mass), items)
        return here / mass * (found * ones + here / items * ramps)

    def term(row: ops.Rows) -> Array:
        columns = (row.mass_before, row.mass, row.positive_before, row.positive, row.items)
        return ops.piecewise(xp, row.items == 1, single, tied, *columns)

    return ops.sum_rows(xp, table, term, ()) / positive


def item_scale(xp: Namespace, table: ops.Groups, whole: Array) -> Array:
    """The factor that gives masses a mean of one per example."""
    if table.weights is None:
        return xp.ones_like(whole)
    return cast(xp, xp.sum(table.counts, axis=-1, dtype=xp.int64), whole.dtype) / whole


@measure
def average_qrecall(table: ops.Groups, *, start: Literal["P", "P+1"] = "P") -> Array:
    """Average Qrecall: the mean of Q(j) over the quotas that could hold all positives (AR eq. 13).
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

    def full_groups(row: ops.Rows, first: Array) -> Array:
        doubled = row.items * (2 * row.positive_before) + row.positive * (row.items + 1)
        return xp.where(row.mass_before >= first, doubled, xp.zeros_like(doubled))

    below = ops.sum_rows(xp, table, full_groups, (first,))
    _, owner = ops.rows_at(xp, table, xp.expand_dims(first, axis=-1), False)
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

    def area(row: ops.Rows, first: Array) -> Array:
        """Area under T from `first` on, within each row."""
        mass = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
        left_out = xp.clip(first - row.mass_before, 0.0)
        left_out = xp.minimum(left_out, row.mass)
        left = row.positive_before + left_out * row.positive / mass
        right = row.positive_before + row.positive
        return (row.mass - left_out) * (left + right) / 2

    scale = item_scale(xp, table, whole)
    below = ops.sum_rows(xp, table, area, (positive,)) * scale
    _, owner = ops.rows_at(xp, table, xp.expand_dims(positive, axis=-1), False)
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
    """
    if method not in ("sum", "area"):
        raise ValueError(f'method must be "sum" or "area"; got {method!r}')
    if method == "sum" and table.weights is not None:
        raise ValueError(
            'with sample weights there are no positions to sum over; use method="area"'
        )
    xp = namespace(table.counts)
    whole, positive = mass_totals(xp, table)
    part = _positive_sum if method == "sum" else _positive_area

    def above(row: ops.Rows, whole: Array, positive: Array) -> Array:
        return part(xp, *_advantage(row, whole, positive), row.mass)

    def below(row: ops.Rows, whole: Array, positive: Array) -> Array:
        start, change = _advantage(row, whole, positive)
        return part(xp, -start, -change, row.mass)

    scale = item_scale(xp, table, whole)
    negative = whole - positive
    unit = xp.where(negative > 0, whole * positive, xp.zeros_like(whole))
    s1, s2 = (ops.sum_rows(xp, table, f, (whole, positive)) * scale / unit for f in (above, below))
    s3 = xp.where(unit > 0, scale * negative / 2, xp.full_like(unit, xp.nan))
    return PemAreas(s1, s2, s3)


def _advantage(row: ops.Rows, whole: Array, positive: Array) -> tuple[Array, Array]:
    """n·P·d at the start of each row, and how much it changes within the row."""
    start = whole * row.positive_before - positive * row.mass_before
    return start, whole * row.positive - positive * row.mass


def _positive_area(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Area above zero of the line from `start` to `start + change` over `size`."""
    zero = xp.zeros_like(start)
    left, right = xp.maximum(start, zero), xp.maximum(start + change, zero)
    crosses = (left > 0) != (right > 0)
    steep = xp.where(crosses, xp.abs(change), xp.ones_like(change))
    part = xp.where(crosses, (left + right) / steep, xp.ones_like(steep))
    return size * part * (left + right) / 2


def _positive_sum(xp: Namespace, start: Array, change: Array, size: Array) -> Array:
    """Σ of the positive values of start + k·change/size over k = 1..size."""
    zero, one = xp.zeros_like(start), xp.ones_like(start)
    end = start + change
    slope = change / xp.where(size > 0, size, one)
    steep = xp.where(change == 0, one, xp.abs(change))
    before_zero = xp.floor(size * (xp.abs(start) / steep))
    falls, rises = (start > 0) & (end < 0), (start < 0) & (end > 0)
    first = xp.where(rises, xp.minimum(before_zero + 1, size), one)
    last = xp.where(falls, xp.minimum(before_zero, size), size)
    left = xp.maximum(start + first * slope, zero)
    right = xp.where(falls, xp.maximum(start + last * slope, zero), xp.maximum(end, zero))
    number = xp.where(size > 0, last - first + 1, zero)
    return number * (left + right) / 2
