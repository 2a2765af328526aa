"""Who fills the quota: decisions from scores alone, without labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    compiled,
    computing,
    device,
    namespace,
    result_float,
)
from quotakernels.measures._measure import finished
from quotakernels.measures._quota import mass_totals, wanted_masses
from quotakernels.measures.quota import float_thresholds
from quotakernels.ranking import grouped
from quotakernels.validation import Examples, admit_scores

__all__ = ["QuotaThreshold", "quota_threshold", "select"]


class QuotaThreshold(NamedTuple):
    """Where a quota ends, each of the shape of the batch and the quota.

    Attributes
    ----------
    threshold : array
        Score of the last selected example, shared by those tied with it; NaN for quota 0.
    above : array
        Number (or mass) of examples with a higher score: all of them are in.
    tied : array
        Number (or mass) of examples with exactly this score: they share the other places.
    """

    threshold: Array
    above: Array
    tied: Array


def _table(examples: Examples) -> ops.Groups:
    xp = namespace(examples.scores)
    labels = xp.zeros(examples.scores.shape, dtype=xp.bool, device=device(examples.scores))
    return grouped(examples.scores, labels, examples.weights, examples.valid, ties="expected")


def select(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
) -> Array:
    """Probability of each example of being among the j best, when ties are broken at random.
    """
    examples = admit_scores(y_score, sample_weight, where, validate)
    xp = namespace(examples.scores)
    dtype = result_float(xp, device(examples.scores))
    with computing(xp):
        table = compiled(_table, xp)(examples)
        wanted, shape = wanted_masses(xp, table, quota, fraction)
        if shape:
            raise ValueError(f"select takes one quota; got an array of shape {shape}")
        return finished(xp, compiled(_shares, xp)(examples, table, wanted), dtype)


def _shares(examples: Examples, table: ops.Groups, wanted: Array) -> Array:
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted, False)
    key = ops.order_key(xp, examples.scores)
    last = xp.take_along_axis(ops.order_key(xp, table.thresholds), index, axis=-1)
    mass = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
    one = xp.ones_like(wanted)
    share = xp.where(wanted > row.mass_before, (wanted - row.mass_before) / mass, one - one)
    within = xp.where(key == last, share, xp.where(key > last, one, one - one))
    if examples.valid is not None:
        within = xp.where(examples.valid, within, xp.zeros_like(within))
    return xp.where(xp.isnan(wanted), wanted, within)


def quota_threshold(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
) -> QuotaThreshold:
    """The score at which a quota ends, how many lie above it, and how many are tied at it.
    """
    examples = admit_scores(y_score, sample_weight, where, validate)
    xp = namespace(examples.scores)
    dtype = result_float(xp, device(examples.scores))
    with computing(xp):
        table = compiled(_table, xp)(examples)
        wanted, shape = wanted_masses(xp, table, quota, fraction)
        result = compiled(_threshold, xp)(table, wanted)
        batch = wanted.shape[:-1]
        shaped = QuotaThreshold(*(xp.reshape(x, (*batch, *shape)) for x in result))
        return finished(xp, shaped, dtype)  # type: ignore[no-any-return]


def _threshold(table: ops.Groups, wanted: Array) -> QuotaThreshold:
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted, False)
    threshold = xp.take_along_axis(float_thresholds(xp, table.thresholds), index, axis=-1)
    filled = wanted > 0
    nan = xp.full_like(wanted, xp.nan)
    unknown = xp.where(xp.isnan(wanted), nan, xp.zeros_like(wanted))
    return QuotaThreshold(
        xp.where(filled, threshold, xp.full_like(threshold, xp.nan)),
        xp.where(filled, row.mass_before, unknown),
        xp.where(filled, row.mass, unknown),
    )
