"""What one quota needs of scores that are not sorted: the tie group in which it ends."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Across,
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    constant,
    device,
    from_host_view,
    host_view,
    is_array,
    wide_float,
)
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import short_repr
from quotakernels.inputs.cuts import check_when_short, known_masses, quota_masses
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.numbers import in_library_of
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, rank_examples


class RankingAtQuota(NamedTuple, Generic[T]):
    """What measures at one quota need of all examples: the tie group in which it ends.

    `rank_at_quota` makes it.  `hit_rate`, `qrecall`, `lift`, `confusion_table` and the measures of
    a table take it in place of a `Ranking`, without a quota, because it has one.  All other
    measures need the whole ranking, and refuse it.

    Attributes
    ----------
    threshold : array, shape (...)
        The score at which the quota ends, as that of `quota_threshold`.
    around : named tuple of arrays, shape (..., 1)
        How many examples the quota takes, and how many of them, and how many positive ones, are
        above that score, tied at it, and there at all.
    """

    threshold: T
    around: ops.Around

    def __repr__(self) -> str:
        """Library, and of one list how many examples there are."""
        if not is_array(self.threshold):  # a tree of something else
            return f"RankingAtQuota{tuple.__repr__(self)}"
        whole, positives = self.around.whole, self.around.positives
        return short_repr("RankingAtQuota", whole, whole.shape, [whole], [positives])


def ranking_at(
    found: Validated,
    ties: TiePolicy,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: Any = None,
) -> Ranking | ops.Around:
    """A ranking of checked examples, or of one quota the tie group in which it ends.

    Sums of weights, of costs, and of several quotas, need the sorted scores.
    """
    check_when_short(when_short)
    examples = in_library_of(found.masked, quota, fraction, budget)
    cut = quota if fraction is None else fraction
    single = type(cut) in (int, float) or getattr(cut, "ndim", None) == 0
    single = single and budget is None and (quota is None) != (fraction is None)
    plain = examples.weights is None and ties != "given" and found.groups is None
    if single and plain and examples.scores.shape[-1]:
        unmasked = in_library_of(found.examples._replace(valid=found.mask), cut)
        xp = namespace(examples.scores)
        with computing(xp):
            wanted, place = _wanted(xp, unmasked, quota, fraction, when_short)
            return _around(unmasked, found.good, wanted, place, ties)
    return rank_examples(examples, ties, found.good, found.groups)


def _around(
    examples: Examples, good: Array | None, wanted: Array, place: Any, ties: TiePolicy
) -> ops.Around:
    """See `around_of`; NumPy counts one list in the memory of a tensor several times faster."""
    find = compiled(around_of, namespace(examples.scores), ("ties",))
    data = (examples[:4], good, wanted)
    on_host = host_view(data) if examples.scores.ndim == 1 else None
    columns, good, wanted = on_host or data
    around: ops.Around = find(Examples(*columns), good, wanted, place, ties=ties)
    if on_host is not None:
        around = from_host_view(around, examples.scores)
    return around


def _wanted(
    xp: Namespace, examples: Examples, quota: Any, fraction: Any, when_short: Any
) -> tuple[Array, int | None]:
    """The mass that one quota stands for, and the place of the last example that it takes.

    The place is None where it is not known.
    """
    scores, valid = examples.scores, examples.valid
    size, dev = scores.shape[-1], device(scores)
    masses = known_masses(size, quota, fraction) if valid is None else None
    if masses is not None:
        return constant(xp, masses, wide_float(xp, dev), dev), max(math.ceil(masses[0]), 1)
    if valid is None:
        counts = xp.full((*scores.shape[:-1], 1), size, dtype=xp.int64, device=dev)
    else:
        counts = xp.count(valid)
    whole = ops.Groups(scores[..., :1], counts, counts, None, None)
    (wanted,), _ = quota_masses(xp, whole, quota=quota, fraction=fraction, when_short=when_short)
    return wanted, None


def last_place(xp: Namespace, wanted: Array) -> Array:
    """The place of the last example, from 1 on, of which a quota takes at least a part."""
    last = xp.where(wanted > 1, wanted, xp.ones_like(wanted))
    return cast(xp, xp.ceil(last), xp.int64)


def around_of(
    examples: Examples,
    good: Array | None,
    wanted: Array,
    place: Any,
    *,
    ties: TiePolicy,
    across: Across | None = None,
) -> ops.Around:
    """Where the wanted mass ends among the examples, or those of all shards together."""
    xp = namespace(wanted)
    scores, labels, _, valid, *_ = examples
    shape = (*scores.shape[:-1], 1)
    wanted = wanted if wanted.shape == shape else xp.broadcast_to(wanted, shape)
    if not isinstance(place, int):
        place = last_place(xp, wanted)
    thresholds, counts = ops.counts_around(xp, scores, labels, valid, place, across)
    counts = cast(xp, counts, wanted.dtype)
    before, here = counts[..., :2], counts[..., 2:4] - counts[..., :2]
    before, positive_before = before[..., :1], before[..., 1:]
    mass, positive = here[..., :1], here[..., 1:]
    row = ops.Rows(before, before, positive_before, mass, mass, positive)
    positives, whole = counts[..., 4:5], counts[..., 5:]
    if valid is None:
        whole = xp.full_like(positives, scores.shape[-1])
    if good is not None:
        wanted = xp.nan_unless(good, wanted)
    found = ops.Around(wanted, thresholds, row, whole, positives)
    return found if ties == "expected" else _one_class_first(xp, found, ties == "optimistic")


def _one_class_first(xp: Namespace, around: ops.Around, is_positive: bool) -> ops.Around:
    """The tie group is the part of one class, of which the first comes before the other."""
    row = around.row
    first = row.positive if is_positive else row.mass - row.positive
    nothing = xp.zeros_like(first)
    found = first if is_positive else nothing
    within = around.wanted <= row.mass_before + first
    before = row.mass_before + xp.where(within, nothing, first)
    mass = xp.clip(xp.where(within, first, row.mass - first), min=1.0)  # one is 0 at quota 0
    positive_before = row.positive_before + xp.where(within, nothing, found)
    positive = xp.where(within, found, row.positive - found)
    part = ops.Rows(before, before, positive_before, mass, mass, positive)
    return around._replace(row=part)
