"""What is around one place of unsorted scores, in nothing but the standard."""

from __future__ import annotations

from quotakernels._array import Across, Array, Namespace
from quotakernels.ops import standard
from quotakernels.ops._bits import in_python, key_at_by_bits
from quotakernels.ops._table import Groups

__all__ = ["groups_around", "key_at"]


def key_at(xp: Namespace, key: Array, place: Array, across: Across | None = None) -> Array:
    """The key at a place, counted from 1, when the largest is the first; both of shape (..., 1).

    The keys are those of all shards that are summed `across`, which get the same answer.
    """
    if across is not None:
        if xp.isdtype(key.dtype, "real floating"):
            raise TypeError(f"y_score has dtype {key.dtype}, whose bits shards cannot count here")
        return key_at_by_bits(xp, key, place, in_python, across)
    falling = xp.sort(key, axis=-1, descending=True)
    return xp.take_along_axis(falling, place - 1, axis=-1)


def groups_around(
    xp: Namespace,
    scores: Array,
    labels: Array,
    valid: Array | None,
    place: Array,
    across: Across | None = None,
) -> Groups:
    """Three rows: of all scores above the one at a place, of those equal to it, and of the rest.

    What lies between the ends of the middle row is as in `tie_groups`, and nothing is sorted.
    All rows have the middle one's threshold.  They are rows of all shards together.
    """
    from quotakernels import ops

    key = ops.order_key(xp, scores)
    if valid is not None:
        key = xp.where(valid, key, standard.lowest_key(xp, key))
    there = ops.key_at(xp, key, place, across)
    upto, above = key >= there, key > there
    parts = [above, upto, xp.ones_like(labels)]
    if valid is not None:
        parts = [above & valid, upto & valid, valid]
    parts += [part & labels for part in parts]
    ends = xp.concat([ops.count(xp, part) for part in parts], axis=-1)
    ends = ends if across is None else across(ends)
    counts, positives = (x - standard.shifted(xp, x, 1, 0) for x in (ends[..., :3], ends[..., 3:]))
    thresholds = ops.from_order_key(xp, there, scores.dtype)
    thresholds = xp.broadcast_to(thresholds, (*thresholds.shape[:-1], 3))
    return Groups(thresholds, counts, positives, None, None)
