"""Scores counted by their leading bits: a state of fixed size that merges by addition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, from_host_view, is_array, readable
from quotakernels._bits import pickled
from quotakernels._types import BatchData
from quotakernels.inputs.columns import (
    COLUMNS,
    as_column,
    refuse_columns,
    short_repr,
    warn_of_other_order,
)
from quotakernels.inputs.examples import check_tie_policy, good_lists, warn_of_bad
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import check_flag, forwarding, public, silently
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, rank, ranking_of
from quotakernels.states._batch import (
    MOST_KEPT,
    Batch,
    check_alike,
    check_fits,
    checked_batch,
    columns_in,
    groups_of_state,
    lists_of,
    names_of,
    scores_like,
    with_bad,
)
from quotakernels.states._compute import Bounds, bounds_of, check_measures, computed, measured

MOST_BITS = 26
"""A histogram of so many bits takes a gigabyte."""
_SHARE = (lambda x: (x > 0) & (x <= 1), "a number above 0, 1 at most")
_USUAL_BITS = {32: 16, 64: 19}
"""Enough for the sign, the exponent and seven bits of the fraction."""


class ScoreHistogram(NamedTuple):
    """How many examples of each class have scores that begin with the same bits.

    A state for streams of any length.  It has a fixed size and merges by addition in any order.  It
    is a named tuple of arrays, so it passes through ``jax.jit``, ``lax.scan``, ``jax.vmap`` and
    ``jax.lax.psum``.  It assumes no range of the scores.  Each score of one or two bytes (float16,
    bfloat16, small integers) has a bin of its own, and all measures are exact.  Wider scores share
    bins.  Measures that never fall where the ROC curve rises then give guaranteed `Bounds`; other
    measures are refused.  Make one by `empty` or `of`.  It never changes: `update` and `merge`
    return a new one.

    Attributes
    ----------
    like : array, shape (..., 0)
        An empty array of the type of the scores.
    counts : int64 array, shape (..., B, 2)
        Negatives and positives in each of B = 2**bits bins, best first.
    bad : int64 array, shape (...)
        Batches with bad values, as in `ScoreBuffer`.
    columns : mapping from names to float arrays, shape (..., B, 2, 2)
        Sums, and the rounding errors of these, of the weights, ``"weight"``, and of the columns of
        a `Ranking`, as far as the state keeps them.

    With `num_groups` there is a histogram for each group of examples.  All arrays but `like` have
    one more axis, S, before B, and measures give a value for each group.  The state is S times as
    large, 16 * S * B bytes without weights, and an update copies all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.states import ScoreHistogram
    >>> labels, scores = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.8, 0.1], np.float16)
    >>> state = ScoreHistogram.empty(like=scores)
    >>> state = state.update(labels, scores).update(labels, scores)
    >>> print(state.compute(hit_rate, quota=2), state.compute(roc_auc))
    1.0 0.875
    >>> coarse = ScoreHistogram.of(labels, scores, bits=10)  # 0.9 and 0.8 share a bin
    >>> print(*(x.round(4) for x in coarse.compute(roc_auc)))
    0.75 1.0
    """

    like: Array
    counts: Array
    bad: Array
    columns: dict[str, Array] = ops.NO_COLUMNS

    @classmethod
    @public
    def empty(
        cls,
        like: Any,
        *,
        bits: int | None = None,
        weighted: bool = False,
        num_groups: int | None = None,
        columns: Iterable[str] = (),
    ) -> ScoreHistogram:
        """An empty state.

        Parameters
        ----------
        like : array, shape (..., n)
            Scores like those to come, real numbers or booleans.  The state gets their type,
            library, device and leading axes (the batch); n and the values do not matter.
            Integers of four and eight bytes are counted as the widest floats.
        bits : int, optional
            The number of leading bits that are distinguished, at most 26.  By default all bits of
            scores of one and two bytes, 16 of float32 and 19 of float64.
        weighted : bool
            Whether batches may come with sample weights.
        num_groups : int, optional
            The number of groups of examples; their ids are 0 to ``num_groups - 1``.
        columns : iterable of str
            Which of ``"gain"``, ``"gain_rejected"``, ``"cost"`` and ``"treatment"`` all batches
            come with.  Each takes up to three sums of every bin.
        """
        xp, like = scores_like(like)
        check_flag("weighted", weighted)
        given = dict.fromkeys(names_of(columns), 0.0)
        with xp.computing():
            place = device(like)
            if xp.key_bits(like.dtype) > 16 and xp.of_kind(like.dtype, "integral"):
                like = xp.cast(like, xp.wide_float(place))
            width = xp.key_bits(like.dtype)
            bits = _USUAL_BITS.get(width, width) if bits is None else bits
            bits = size_of("bits", bits, most=min(width, MOST_BITS))
            lists = lists_of(like, num_groups)
            _check_size(bits, math.prod(lists))
            counts = xp.zeros((*lists, 2**bits, 2), dtype=xp.int64, device=place)
            bad = xp.zeros(lists, dtype=xp.int64, device=place)
            wide, shape = xp.wide_float(place), (*counts.shape, 2)
            names = [*(["weight"] if weighted else []), *ops.to_sum(given, None)]
            sums = {name: xp.zeros(shape, dtype=wide, device=place) for name in names}
            return cls(like, counts, bad, sums)

    @classmethod
    @forwarding(rank, without=("ties",))
    def of(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        bits: int | None = None,
        num_groups: int | None = None,
        **data: Unpack[BatchData],
    ) -> ScoreHistogram:
        """The state of one batch; parameters as those of `empty` and `update`."""
        column = as_column("y_score", y_score)
        refuse_columns({"y_score": tuple(column.shape)})
        weighted = data.get("sample_weight") is not None
        options: dict[str, Any] = {"weighted": weighted, "num_groups": num_groups}
        state = cls.empty(column, bits=bits, columns=columns_in(data), **options)
        return state.update(y_true, y_score, **data)

    def __repr__(self) -> str:
        """Shape and library; of one list also how many examples there are, if that is known."""
        if not is_array(self.counts):  # a tree of something else
            return f"ScoreHistogram{tuple.__repr__(self)}"
        shape, columns = self.counts.shape[:-1], ([self.counts], [self.counts[..., 1]])
        return short_repr("ScoreHistogram", self.counts, shape, *columns)

    def __reduce__(self) -> Any:
        return pickled(self)

    @property
    def bits(self) -> int:
        """How many leading bits of the scores are distinguished."""
        return int(self.counts.shape[-2]).bit_length() - 1

    @property
    def exact(self) -> bool:
        """Whether each bin is for a single score, so that all measures are exact."""
        return self.bits == namespace(self.like).key_bits(self.like.dtype)

    @property
    def weighted(self) -> bool:
        """Whether the state keeps sums of weights as well as counts."""
        return "weight" in self.columns

    @property
    def column_names(self) -> tuple[str, ...]:
        """Which columns batches come with."""
        given = {"treatment" if name == "treated" else name for name in self.columns}
        return tuple(name for name in COLUMNS if name in given)

    @property
    def num_groups(self) -> int | None:
        """How many groups of examples it has; None without groups."""
        return groups_of_state(self)

    @forwarding(rank, without=("ties", "num_groups"))
    def update(self, y_true: Any, y_score: Any, **data: Unpack[BatchData]) -> ScoreHistogram:
        """The state after one more batch, given as to `ScoreBuffer.update`.

        A state with `num_groups` needs `groups`, the group of each example; one with `columns`
        needs these.  A bad value that cannot be read makes only its group NaN, unless the id itself
        is bad.
        """
        warn_of_other_order({"y_true": y_true, "y_score": y_score, **data})
        xp, y_score = namespace(self.like), _as_counted(self.like, as_column("y_score", y_score))
        alone = {name for name, x in data.items() if x is not None} <= {"validate"}
        if alone and not self.columns and self.num_groups is None:
            check_fits(self.like, y_score)
            if (found := _if_good(self, y_true, y_score)) is not None:
                return self._replace(counts=found[0], bad=with_bad(xp, self.bad, found[1]))
        batch = checked_batch(self, y_true, y_score, data)
        with xp.computing():
            return xp.compiled(_with_batch)(self, batch)

    @public
    def merge(self, *others: ScoreHistogram) -> ScoreHistogram:
        """The state with the examples of this one and of the others.

        Raises
        ------
        TypeError, ValueError
            States of other scores, bits, weights, groups or batch axes.
        """
        xp = namespace(self.like)
        for other in others:
            check_alike(self, other)
        with xp.computing():
            merged = self
            for other in others:
                merged = xp.compiled(_sum)(merged, other)
            return merged

    @public
    def decay(self, factor: Any) -> ScoreHistogram:
        """The state with all its weights multiplied by `factor`.

        If it is called before each period, an example of k periods ago weighs factor**k.  If the
        mass of a bin becomes 0, its examples count as never seen.

        Parameters
        ----------
        factor : number
            Above 0, and 1 at most.  Powers of 1/2 are exact.

        Raises
        ------
        TypeError
            A state without masses; `empty` makes one with ``weighted=True``.
        ValueError
            A factor out of range; where it cannot be read the masses are NaN.

        Examples
        --------
        >>> import numpy as np
        >>> from quotakernels import hit_rate
        >>> from quotakernels.states import ScoreHistogram
        >>> state = ScoreHistogram.empty(like=np.zeros(0, np.float16), weighted=True)
        >>> state = state.update([0, 1], np.array([0.9, 0.5], np.float16)).decay(0.5)
        >>> state = state.update([1, 0], np.array([0.9, 0.5], np.float16))
        >>> print(state.compute(hit_rate, quota=1.5))
        0.6666666666666666
        """
        if not self.weighted:
            raise TypeError("decay needs masses; make the state with weighted=True")
        xp = namespace(self.like)
        with xp.computing():
            share = numbers_like(self.counts, "factor", factor)
            if share.ndim:
                raise ValueError(f"factor must be one number; got shape {tuple(share.shape)}")
            share = checked(xp, {"factor": share}, {"factor": _SHARE})["factor"]
            return xp.compiled(_decayed)(self, share)

    def ranking(self, ties: TiePolicy = "expected") -> Ranking:
        """The ranking of all examples, in which the scores of one bin are tied.

        Takes the tie policies of `rank` but "given".

        Raises
        ------
        ValueError
            2**63 examples or more, or negative counts, where values can be read (else NaN).
        """
        check_tie_policy(ties)
        if ties == "given":
            raise ValueError('ties="given" needs the order of the examples; use ScoreBuffer')
        xp = namespace(self.like)
        with xp.computing():
            good, negative = _countable(xp, self.counts), _negative(xp, self)
            if readable(good) and bool(xp.any(negative)):
                raise ValueError("the state has negative counts or masses, which no batch brings")
            if readable(good) and not bool(xp.all(good)):
                raise ValueError("the state holds 2**63 examples or more")
            warn_of_bad(self.bad)
            good = (good & ~negative & (self.bad == 0))[..., None]
            return ranking_of(xp.compiled(_table, ("ties",))(self, good, ties=ties), good)

    def bounds(self, measure: Any, **options: Any) -> Any:
        """Two numbers between which the measure of the scores themselves lies.

        Parameters
        ----------
        measure : measure, or a mapping from names to measures
            A measure that never falls where the ROC curve rises: `hit_rate`, `qrecall`, `lift`,
            `roc_auc`, `gini`, `pem`, `average_qrecall`, `mean_hit_rate`, `pr_auc`, `auk`,
            `roc_hull_auc`, `achievable_pr_auc`, `normalized_enrichment_factor`, and `ndcg` of
            counts.  Or ``functools.partial`` of one, or with groups `group_mean` of one; then the
            mean itself has bounds.
        **options
            The measure's own arguments, such as ``quota=100``.

        Returns
        -------
        Bounds, or a mapping from the names to them
        """
        check_measures(measure, self.like, options)
        if self.exact:
            found = computed(self, measure, options)
            if isinstance(measure, Mapping):
                return {name: Bounds(x, x) for name, x in found.items()}
            return Bounds(found, found)
        worst = self.ranking("pessimistic")
        with silently():
            ends = worst, self.ranking("optimistic")
        return measured(measure, lambda f, own: bounds_of(f, own, *ends), options)

    def compute(self, measure: Any, **options: Any) -> Any:
        """Any measures of the examples so far, as in `ScoreBuffer.compute`.

        Returns
        -------
        What the measure returns, or `Bounds` of it unless the state is `exact`; a mapping of them
        for a mapping

        Raises
        ------
        ValueError
            A measure without guaranteed bounds, unless the state is `exact`.
        """
        if self.exact:
            return computed(self, measure, options)
        return self.bounds(measure, **options)


def _check_size(bits: int, lists: int) -> None:
    if (size := 2 * lists * 2**bits) > MOST_KEPT:
        raise ValueError(
            f"bits={bits} makes {size} counts for {lists} lists or groups; expected at most "
            f"{MOST_KEPT}"
        )


def _as_counted(like: Array, y_score: Array) -> Array:
    """Wide integers as floats, as which they are counted; other scores as they are."""
    xp = namespace(like)
    if y_score.dtype == like.dtype or namespace(y_score) is not xp:
        return y_score
    with xp.computing():
        wide = xp.of_kind(y_score.dtype, "integral") and xp.key_bits(y_score.dtype) > 16
        return xp.cast(y_score, like.dtype) if wide else y_score


def _if_good(state: ScoreHistogram, y_true: Any, y_score: Array) -> tuple[Array, Any] | None:
    """The counts with those of scores that nothing stands beside, and what `with_bad` takes.

    None of all else: it has to be checked by itself, or to be told what is wrong.
    """
    good = good_lists(y_true, y_score)
    if good is None or y_score.ndim > 1 or y_score.dtype.itemsize == 1:
        return namespace(state.like).binned_if_good(state.counts, y_score, y_true, state.bits)
    labels, scores = good  # of which float32 has the bits of bfloat16 first
    xp, counts = namespace(scores), np.asarray(state.counts)
    raised, _, left = xp.binned(counts, (scores, labels, None, None, {}), state.bits)
    return None if left else (from_host_view(raised, state.counts), None)


def _with_batch(state: ScoreHistogram, batch: Batch) -> ScoreHistogram:
    xp = namespace(state.like)
    counts, sums, left = xp.binned(state.counts, batch.examples, state.bits, batch.groups)
    bad = with_bad(xp, state.bad, batch.bad, left)
    columns = {name: _raised(xp, x, sums[name]) for name, x in state.columns.items()}
    return state._replace(counts=counts, bad=bad, columns=columns)


def _raised(xp: Namespace, column: Array, more: Array, error: Array | None = None) -> Array:
    """A column with more added to its sums, and its rounding errors with those of the addition."""
    total, lost = sum_and_loss(column[..., 0], more)
    before = column[..., 1] if error is None else column[..., 1] + error
    return xp.stack([total, before + lost], axis=-1)


def sum_and_loss(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum, and its rounding error."""
    total = x + y
    added = total - x
    return total, (x - (total - added)) + (y - added)


def _sum(state: ScoreHistogram, other: ScoreHistogram) -> ScoreHistogram:
    """The sum of two states; lists in which a count overflows are bad from then on."""
    xp = namespace(state.like)
    counts = state.counts + other.counts
    left = xp.any(xp.flat(counts) < 0, axis=-1)
    bad = state.bad + other.bad + xp.cast(left, xp.int64)
    columns = {
        name: _raised(xp, x, *(other.columns[name][..., k] for k in (0, 1)))
        for name, x in state.columns.items()
    }
    return state._replace(counts=counts, bad=bad, columns=columns)


def _decayed(state: ScoreHistogram, share: Array) -> ScoreHistogram:
    xp = namespace(state.like)
    gone = state.columns["weight"][..., 0] * share == 0
    counts = xp.where(gone, xp.zeros_like(state.counts), state.counts)
    columns = {
        name: xp.where(gone[..., None], xp.zeros_like(x), x * share)
        for name, x in state.columns.items()
    }
    return state._replace(counts=counts, columns=columns)


def _countable(xp: Namespace, counts: Array) -> Array:
    """Which rows of the batch have fewer than 2**63 examples, of counts below that."""
    return ~xp.any(xp.prefix_sum(xp.flat(counts)) < 0, axis=-1)


def _negative(xp: Namespace, state: ScoreHistogram) -> Array:
    """Which rows of the batch have a negative count in a bin, as in a forged file.

    A row with an overflow is bad already.
    """
    less = state.counts < 0
    for name, x in state.columns.items():
        if name not in ("gain", "gain_rejected"):
            less = less | (x[..., 0] + x[..., 1] < 0)
    return xp.any(xp.flat(less), axis=-1) & (state.bad == 0)


def _table(state: ScoreHistogram, good: Array, *, ties: TiePolicy) -> ops.TieTable:
    xp = namespace(state.like)
    counted = xp.any(state.counts > 0, axis=(*range(state.counts.ndim - 2), -1))
    thresholds = xp.bin_thresholds(state.like, state.bits, counted)
    if (size := state.num_groups) is None:
        table = _finished(xp, _rows(xp, state, good, thresholds), ties)
        return xp.with_filled_thresholds(table)
    both = xp.of_each_group(thresholds, size)
    table = _finished(xp, _rows(xp, state, good, both.scores), ties)
    levels = xp.broadcast_to(both.levels, (*state.like.shape[:-1], both.levels.shape[-1]))
    ids = xp.arange(size, dtype=xp.int64, device=device(state.counts))
    table = xp.parted(table, both._replace(levels=levels), ids)
    return xp.with_filled_thresholds(table)


def _finished(xp: Namespace, table: ops.TieTable, ties: TiePolicy) -> ops.TieTable:
    return xp.without_empty_rows(xp.split_ties(table, ties))


def _rows(xp: Namespace, state: ScoreHistogram, good: Array, thresholds: Array) -> ops.TieTable:
    """A row for each bin of each group, if there are any; bad lists and groups are empty."""
    shape = (*state.like.shape[:-1], thresholds.shape[-1])

    def by_class(x: Array) -> tuple[Array, Array]:
        x = xp.where(good[..., None], x, xp.zeros_like(x))
        return xp.reshape(x[..., 0], shape), xp.reshape(x[..., 1], shape)

    negatives, positives = by_class(state.counts)
    columns = {
        name: ops.ByClass(*by_class(x[..., 0] + x[..., 1])[::-1])
        for name, x in state.columns.items()
    }
    masses = columns.pop("weight", (None, None))
    thresholds = xp.broadcast_to(thresholds, shape)
    counts = negatives + positives
    return ops.TieTable(thresholds, counts, positives, *masses)._replace(columns=columns)
