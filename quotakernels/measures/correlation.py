"""Pearson's correlation of the best scores with their labels, at a quota."""

from __future__ import annotations

from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace, wide_float
from quotakernels.measures._measure import measure, quota_measure
from quotakernels.measures.quota import Curve, cut_thresholds

__all__ = ["pearson", "pearson_curve"]


class _Moments(NamedTuple):
    """Mass, its sum of scores and of labels, and the three centred second moments."""

    mass: Array
    score: Array
    label: Array
    score_score: Array
    score_label: Array
    label_label: Array


class _Part(NamedTuple):
    """The mass taken of a tie group, and the group's own mass, positive mass and score."""

    taken: Array
    mass: Array
    positive: Array
    score: Array


def _relative_scores(xp: Namespace, table: ops.Groups) -> Array:
    """Scores minus the best one, in units of their range; 0 in empty rows.

    Squares of such numbers neither lose an offset's worth of digits nor overflow.
    """
    scores = cast(xp, table.thresholds, wide_float(xp, device(table.counts)))
    filled = table.counts > 0
    inf = xp.asarray(xp.inf, dtype=scores.dtype, device=device(scores))
    best = xp.max(xp.where(filled, scores, -inf), axis=-1, keepdims=True)
    below = xp.where(filled, scores - best, xp.zeros_like(scores))
    finite = xp.where(xp.isfinite(below), xp.abs(below), xp.zeros_like(below))
    span = xp.max(finite, axis=-1, keepdims=True)
    return below / xp.where(span > 0, span, xp.ones_like(span))


def _steps(xp: Namespace, before: _Moments, part: _Part) -> tuple[Array, Array, Array]:
    """What a part adds to the second moments (the parallel-variance rule)."""
    joins = (before.mass > 0) & (part.taken > 0)
    one = xp.ones_like(part.taken)
    mass, group, whole = (
        xp.where(joins, x, one) for x in (before.mass, part.mass, before.mass + part.taken)
    )
    gap = part.score - before.score / mass
    # a difference of fractions over their common denominator: exactly 0 where they are equal
    label_gap = (part.positive * mass - before.label * group) / (group * mass)
    share = mass * (part.taken / whole)
    steps = (gap * gap * share, gap * label_gap * share, label_gap * label_gap * share)
    return tuple(xp.where(joins, x, xp.zeros_like(x)) for x in steps)  # type: ignore[return-value]


def _moments_before(xp: Namespace, table: ops.Groups) -> tuple[_Moments, _Part]:
    """For every row: the moments of all rows before it, and the row itself."""
    rows = ops.table_rows(xp, table)
    score = _relative_scores(xp, table)
    part = _Part(rows.mass, rows.mass, rows.positive, score)
    sums = ops.exclusive(xp, xp.where(rows.mass > 0, rows.mass * score, xp.zeros_like(score)))
    zero = xp.zeros_like(score)
    first = _Moments(rows.mass_before, sums, rows.positive_before, zero, zero, zero)
    second = (ops.exclusive(xp, x) for x in _steps(xp, first, part))
    return _Moments(*first[:3], *second), part


def _correlation(xp: Namespace, before: _Moments, part: _Part) -> Array:
    """Correlation over what stands before and a part; NaN where either does not vary."""
    steps = _steps(xp, before, part)
    score, both, label = (x + step for x, step in zip(before[3:], steps, strict=True))
    varies = (score > 0) & (label > 0)
    value = both / (xp.sqrt(score) * xp.sqrt(label))
    value = xp.clip(value, -1.0, 1.0)
    return xp.where(varies, value, xp.asarray(xp.nan, dtype=value.dtype, device=device(value)))


@quota_measure
def pearson(table: ops.Groups, wanted: Array) -> Array:
    """Pearson's correlation of the j best scores with their expected labels (AR eq. 8-11).
    """
    xp = namespace(wanted)
    table = ops.head(xp, table, wanted)
    index, _ = ops.rows_at(xp, table, wanted, False)
    before, part = (
        type(x)(*(xp.take_along_axis(column, index, axis=-1) for column in x))
        for x in _moments_before(xp, table)
    )
    return _correlation(xp, before, part._replace(taken=wanted - before.mass))


@measure
def pearson_curve(table: ops.Groups) -> Curve:
    """Pearson's correlation at every cut (AR eq. 8-11): see `pearson` and `Curve`.
    """
    xp = namespace(table.counts)
    before, part = _moments_before(xp, table)
    value = _correlation(xp, before, part)
    zero = xp.zeros_like(value[..., :1])
    quota = xp.concat([zero, before.mass + part.taken], axis=-1)
    value = xp.concat([xp.full_like(zero, xp.nan), value], axis=-1)
    return Curve(quota, value, cut_thresholds(xp, table))
