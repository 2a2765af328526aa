"""The measures at a quota as curves: their values at every cut."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, of_kind, wide_float
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.ops import namespace


@plainly
class Curve(NamedTuple, Generic[T]):
    """A measure at every cut: cut g selects the first g tie groups, cut 0 nothing.

    A ranking of G rows has G + 1 cuts; rows that are padding repeat the cut before them.  Between
    two cuts T is a straight line; for values there use the measure with ``quota=``.

    Attributes
    ----------
    quota : array, shape (..., G + 1)
        Number of the selected examples, a whole number; with weights their mass, a float.  Where
        values cannot be read the whole numbers come as floats, NaN in a row with a bad value.
    value : array, shape (..., G + 1)
        The measure; NaN where it is undefined.
    threshold : array, shape (..., G + 1)
        Score of the last selected example: ``score >= threshold`` selects.  NaN at cut 0.  In
        the dtype of the scores, or in a float dtype where they are integers.
    """

    quota: Any
    value: T
    threshold: T | Any


def above_cuts(xp: Namespace, table: ops.Groups, column: Array) -> Array:
    """Sums of the rows above each cut, shape (..., G + 1).

    Of S groups of examples there are G + S cuts: one below each row, and then the empty ones.
    """
    if table.segments:
        return _with_empty(xp, table, ops.running_total(xp, table, column), 0)
    sums = xp.prefix_sum(column)
    return xp.concat([xp.zeros_like(sums[..., :1]), sums], axis=-1)


def below_cuts(xp: Namespace, table: ops.Groups, column: Array) -> Array:
    """Sums of the rows below each cut; in a difference of sums a small one would be lost."""
    if table.segments:
        behind = ops.total_behind(xp, table, column)
        return xp.concat([behind, ops.group_total(xp, table, column)], axis=-1)
    sums = xp.flip(xp.prefix_sum(xp.flip(column, axis=-1)), axis=-1)
    return xp.concat([sums, xp.zeros_like(sums[..., :1])], axis=-1)


def _with_empty(xp: Namespace, table: ops.Groups, rows: Array, fill: Any) -> Array:
    """What stands at the cuts below all rows, and at the empty ones."""
    number = table.segments.ids.shape[-1] if table.segments else 1
    shape = (*rows.shape[:-1], number)
    empty = xp.full(shape, fill, dtype=rows.dtype, device=device(rows))
    return xp.concat([rows, empty] if table.segments else [empty, rows], axis=-1)


def beside_cuts(xp: Namespace, table: ops.Groups, x: Array) -> Array:
    """What belongs to each list, shape (...), or to each group, (..., S), beside its cuts."""
    if table.segments:
        return xp.concat([ops.repeat_per_row(xp, table, x), x], axis=-1)
    return xp.expand_dims(x, axis=-1)


def row_ends(xp: Namespace, table: ops.Groups, x: Array) -> tuple[Array, Array]:
    """What stands at the cut above each row and at that below it, of numbers of all cuts."""
    if not table.segments:
        return x[..., :-1], x[..., 1:]
    rows = table.counts.shape[-1]
    below, empty = x[..., :rows], ops.repeat_per_row(xp, table, x[..., rows:])
    return xp.where(ops.first_rows(xp, table), empty, xp.shift_right(below, 1, 0)), below


def cut_quotas(xp: Namespace, table: ops.Groups) -> Array:
    """The selected mass at every cut; without weights whole numbers, exact."""
    return above_cuts(xp, table, table.mass)


def cut_masses(xp: Namespace, table: ops.Groups) -> tuple[Array, Array]:
    """The selected negative and positive mass at every cut; without weights whole numbers."""
    return _mass_at_cuts(xp, table, table.negative), _mass_at_cuts(xp, table, table.positive)


def _mass_at_cuts(xp: Namespace, table: ops.Groups, column: Array) -> Array:
    sums = xp.rising_sum if table.weighted else xp.prefix_sum
    return _with_empty(xp, table, sums(column), 0)


def _cut_positives(xp: Namespace, table: ops.Groups) -> Array:
    """The selected positive mass at every cut, as floats."""
    return cast(xp, _mass_at_cuts(xp, table, table.positive), wide_float(xp, device(table.counts)))


def real_cuts(xp: Namespace, table: ops.Groups) -> Array:
    """Which cuts are not padding; the empty ones are none."""
    return _with_empty(xp, table, table.counts > 0, True)


def cut_thresholds(xp: Namespace, table: ops.Groups) -> Array:
    """The threshold of every cut, NaN for an empty one; padding repeats the group before it."""
    thresholds = _with_empty(xp, table, float_thresholds(xp, table.thresholds), xp.nan)
    if table.segments:
        return thresholds
    filled = table.counts > 0
    places = xp.arange(1, filled.shape[-1] + 1, dtype=xp.int64, device=device(filled))
    owner = xp.running_max(xp.where(filled, places, xp.zeros_like(places)))
    owner = xp.concat([xp.zeros_like(owner[..., :1]), owner], axis=-1)
    return xp.take_last_axis(thresholds, owner)


def float_thresholds(xp: Namespace, thresholds: Array) -> Array:
    """Thresholds in a type that has NaN."""
    if not of_kind(xp, thresholds.dtype, "real floating"):
        return cast(xp, thresholds, wide_float(xp, device(thresholds)))
    return thresholds


@measure(Measure, greater_is_better=None)
def hit_rate_curve(table: ops.Groups) -> Curve:
    """Hit rate at every cut ([AR] eq. 4): see `hit_rate` and `Curve`.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is from 0 to 1, and NaN at the empty cut.

    References
    ----------
    [AR] eq. 4 and section 2.2.3.

    Examples
    --------
    >>> from quotakernels import hit_rate_curve
    >>> curve = hit_rate_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.threshold)
    [0 1 3 4 5] [nan 0.9 0.8 0.6 0.1]
    >>> print(curve.value.round(3))
    [  nan 1.    0.667 0.75  0.6  ]
    """
    xp = namespace(table.counts)
    quota, positive = cut_quotas(xp, table), _cut_positives(xp, table)
    value = positive / cast(xp, quota, positive.dtype)
    return Curve(quota, value, cut_thresholds(xp, table))


@measure(Measure, greater_is_better=None)
def qrecall_curve(table: ops.Groups) -> Curve:
    """Qrecall at every cut ([AR] eq. 6): see `qrecall` and `Curve`.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` rises from 0 to 1; all NaN where there are no positives.

    References
    ----------
    [AR] eq. 6.

    Examples
    --------
    >>> from quotakernels import qrecall_curve
    >>> curve = qrecall_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [0.    0.333 0.667 1.    1.   ]
    """
    xp = namespace(table.counts)
    positive = _cut_positives(xp, table)
    value = xp.rate(positive, positive[..., -1:])
    return Curve(cut_quotas(xp, table), value, cut_thresholds(xp, table))


@measure(Measure, greater_is_better=None)
def lift_curve(table: ops.Groups) -> Curve:
    """Cumulative lift at every cut: see `lift` and `Curve`.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is NaN at the empty cut, and everywhere if there are no positives.

    References
    ----------
    [AR] eq. 4 and section 2.2.5.

    Examples
    --------
    >>> from quotakernels import lift_curve
    >>> curve = lift_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [  nan 1.667 1.111 1.25  1.   ]
    """
    xp = namespace(table.counts)
    quota, positive = cut_quotas(xp, table), _cut_positives(xp, table)
    total = Totals(xp, table)
    prevalence = xp.expand_dims(total.positive / total.whole, axis=-1)
    value = (positive / cast(xp, quota, positive.dtype)) / prevalence
    # XLA knows that the first numerator is 0, and on the CPU takes (0/0)·x for 0.
    value = xp.nan_unless(quota > 0, value)
    return Curve(quota, value, cut_thresholds(xp, table))
