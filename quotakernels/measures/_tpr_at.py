"""The height of the ROC curve at given false positive rates."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, namespace, tolerance
from quotakernels.measures._measure import by_positives, measure_of, monotone
from quotakernels.measures._numbers import checked
from quotakernels.measures._quota import mass_totals, numbers_beside
from quotakernels.measures.curves import cut_masses
from quotakernels.validation import MASS_ROUNDING

__all__ = ["tpr_at"]

_RATE = (lambda x: (x >= 0) & (x <= 1), "a rate, from 0 to 1")


def _wanted_negatives(
    xp: Namespace, table: ops.Groups, *, fpr: Any
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The false positives, or their mass, at each rate, shape (..., K)."""
    rate = checked(xp, {"fpr": numbers_beside(table.counts, "fpr", fpr)}, {"fpr": _RATE})["fpr"]
    negative = xp.expand_dims(mass_totals(xp, table)[2], axis=-1)
    wanted = xp.reshape(rate, (-1,)) * negative
    return (xp.where(negative > 0, wanted, xp.full_like(wanted, xp.nan)),), tuple(rate.shape)


@by_positives
@monotone("always")
@measure_of(_wanted_negatives, greater_is_better=True)
def tpr_at(table: ops.Groups, wanted: Array) -> Array:
    """TPR on the ROC curve, which is straight between two cuts; where it is upright, the highest.

    NaN where a class is absent.
    """
    xp = namespace(wanted)
    along, up = (cast(xp, x, wanted.dtype) for x in cut_masses(xp, table))
    reached = wanted + tolerance(wanted, MASS_ROUNDING) * along[..., -1:]
    above = ops.bisect(xp, along, reached, beyond=True)  # 1 at least, as the curve begins with 0
    above, below = (ops.clip(xp, x, 0, along.shape[-1] - 1) for x in (above, above - 1))

    def between(x: Array) -> tuple[Array, Array]:
        start = xp.take_along_axis(x, below, axis=-1)
        return start, xp.take_along_axis(x, above, axis=-1) - start

    (start, way), (found, more) = between(along), between(up)
    share = xp.where(way > 0, (wanted - start) / way, xp.zeros_like(way))
    share = ops.clip(xp, share, 0.0, 1.0)
    height = (found + share * more) / up[..., -1:]
    return xp.where(xp.isnan(wanted), wanted, height)
