"""Every example, kept: states of which all measures are exact."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from quotakernels._array import Array, Namespace, device, is_array, kept, known, readable
from quotakernels._bits import pickled
from quotakernels._types import BatchData
from quotakernels.inputs.columns import as_column, short_repr, warn_of_other_order
from quotakernels.inputs.examples import (
    Examples,
    bad_amounts,
    bad_values,
    check_tie_policy,
    raise_or_exclude,
    warn_of_bad,
)
from quotakernels.inputs.groups import GroupCodes, ids_of, kept_within, numbered, of_their_group
from quotakernels.inputs.keywords import forwarding, public
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, rank, rank_examples
from quotakernels.states._batch import (
    Batch,
    check_alike,
    checked_batch,
    groups_of_state,
    lists_of,
    scores_like,
    with_bad,
)
from quotakernels.states._compute import computed

OF_ALL_BATCHES = ("gain", "cost", "treatment")
"""Columns that must be given with all batches or with none."""


class ScoreBuffer(NamedTuple):
    """All examples of all batches: a state that grows.  Every measure of it is exact.

    It never changes: `update` and `merge` return a new one, which shares the kept examples.  It is
    a named tuple of arrays, so it passes through ``jax.jit``.  A program that takes one is compiled
    anew for each number of batches: in steps that are compiled use `FixedScoreBuffer`.

    Attributes
    ----------
    like : array, shape (..., 0)
        An empty array of the type of the scores.
    pieces : tuple of Examples
        For each batch: scores, labels and the other columns, None for those that were not given.
    bad : int64 array, shape (...), or (..., S) with `num_groups`
        How many batches had bad values that could not be read, and so could not be refused.  If
        there was one, all measures are NaN; outside of programs on the CPU a warning says so.
    groups : tuple of arrays
        For each batch: the id of each example; empty without groups.

    Examples
    --------
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.states import ScoreBuffer
    >>> state = ScoreBuffer.empty(like=[0.0])
    >>> state = state.update([1, 0, 1], [0.9, 0.8, 0.3]).update([0, 1], [0.1, 0.2])
    >>> print(state.compute(hit_rate, quota=4), state.compute(roc_auc).round(4))
    0.75 0.6667
    >>> state = ScoreBuffer.empty(like=[0.0]).update([1, 0], [0.9, 0.3], groups=["a", "a"])
    >>> print(state.update([1, 0, 0], [0.1, 0.2, 0.5], groups=["b", "b", "a"]).compute(roc_auc))
    [1. 0.]
    """

    like: Array
    pieces: tuple[Examples, ...]
    bad: Array
    groups: tuple[Array, ...] = ()

    @classmethod
    @public
    def empty(cls, like: Any, *, num_groups: int | None = None) -> ScoreBuffer:
        """An empty state.

        Parameters
        ----------
        like : array, shape (..., n)
            Scores like those to come, real numbers or booleans.  The state gets their type,
            library, device and leading axes (the batch); n and the values do not matter.
        num_groups : int, optional
            The number of groups of examples, whose ids are then 0 to ``num_groups - 1``; compiled
            programs need it.  Without it the groups are the ids that occur.
        """
        xp, like = scores_like(like)
        lists = lists_of(like, num_groups)
        with xp.computing():
            return cls(like, (), xp.zeros(lists, dtype=xp.int64, device=device(like)))

    @forwarding(rank, without=("ties", "num_groups"))
    def update(self, y_true: Any, y_score: Any, **data: Unpack[BatchData]) -> ScoreBuffer:
        """The state after one more batch.

        Takes what `rank` takes, except `ties`.  Scores have the type, library, device and leading
        axes of the state.  If some batches have weights, an example without one counts once.
        Groups, gains, costs and treatments must be given with all batches or with none.  A group
        may have examples in several batches.

        Raises
        ------
        TypeError, ValueError
            A batch that does not fit the state.  Bad values that cannot be read (in a trace, on an
            accelerator) make all measures of their row NaN, also later.
        """
        warn_of_other_order({"y_true": y_true, "y_score": y_score, **data})
        given = {**data}
        ids = given.pop("groups", None) if self.num_groups is None else None
        batch = checked_batch(self, y_true, y_score, given)
        if ids is not None:
            batch = _with_ids(batch, ids, as_column("y_score", y_score).shape[-1])
        xp = namespace(self.like)
        with xp.computing():
            piece = batch.examples.map(kept)
            bad = with_bad(xp, self.bad, batch.bad)
            more = () if batch.groups is None else (kept(batch.groups),)
        groups = (*self.groups, *more)
        return self._replace(pieces=(*self.pieces, piece), bad=bad, groups=groups)

    @public
    def merge(self, *others: ScoreBuffer) -> ScoreBuffer:
        """The state with the examples of this one and then of the others.

        Raises
        ------
        TypeError, ValueError
            States of other scores, `num_groups` or batch axes.
        """
        pieces, bad, groups = self[1:]
        for other in others:
            check_alike(self, other)
            with namespace(bad).computing():
                pieces, bad = pieces + other.pieces, bad + other.bad
            groups += other.groups
        return self._replace(pieces=pieces, bad=bad, groups=groups)

    def __repr__(self) -> str:
        """Shape and library; of one list also how many examples count, if that is known."""
        if not is_array(self.like):  # a tree of something else
            return f"ScoreBuffer{tuple.__repr__(self)}"
        pieces: Any = self.pieces
        shape = (*self.like.shape[:-1], sum(x.scores.shape[-1] for x in pieces))
        counts = [x.labels == x.labels if x.valid is None else x.valid for x in pieces]
        positives = [x.labels & y for x, y in zip(pieces, counts, strict=True)]
        return short_repr("ScoreBuffer", self.like, shape, counts, positives)

    def __reduce__(self) -> Any:
        return pickled(self)

    @property
    def num_groups(self) -> int | None:
        """The number of groups; None without groups, or if any ids are allowed."""
        return groups_of_state(self)

    def examples(self) -> Examples:
        """All examples, in the order in which they came."""
        xp = namespace(self.like)
        with xp.computing():
            pieces = self.pieces or (_nothing(xp, self.like),)
            parts = [piece.named() for piece in pieces]
            names = dict.fromkeys(name for part in parts for name in part)
            return Examples.of({name: _joined(xp, parts, name) for name in names})

    def ranking(self, ties: TiePolicy = "expected") -> Ranking:
        """The ranking of all examples, under a tie policy of `rank`."""
        check_tie_policy(ties)
        examples = self.examples()
        return ranking_of_good(examples, self.bad, ties, self._groups_of(examples))

    def _groups_of(self, examples: Examples) -> GroupCodes | None:
        xp = namespace(self.like)
        with xp.computing():
            ids = joined_ids(xp, self.groups, len(self.pieces))
            if self.num_groups is not None:
                if ids is None:
                    ids = xp.zeros(examples.scores.shape, dtype=xp.int64, device=device(self.like))
                return numbered_groups(ids, self.num_groups)
            return None if ids is None else numbered(ids)

    def compute(self, measure: Any, **options: Any) -> Any:
        """Any measures of the examples so far.

        Parameters
        ----------
        measure : callable, or a mapping from names to callables
            A function of a `Ranking`, or ``functools.partial`` of one.
        **options
            The measure's own arguments, such as ``quota=100``.

        Returns
        -------
        What the measure returns, or a mapping from the names to that

        Raises
        ------
        TypeError
            Anything but a measure, such as ``len``; options with several measures.
        """
        return computed(self, measure, options)


def ranking_of_good(
    examples: Examples, bad: Array, ties: TiePolicy, groups: GroupCodes | None = None
) -> Ranking:
    """The ranking of checked examples, invalid where there were bad batches."""
    xp = namespace(bad)
    with xp.computing():
        if readable(examples.scores):
            _check_values(xp, examples, groups)
        if known(bad == 0):
            return rank_examples(examples, ties, groups=groups)
        warn_of_bad(bad)
        good = (bad == 0)[..., None]
        if groups is None:
            of_good = xp.broadcast_to(good, examples.scores.shape)
        else:
            if good.ndim == examples.scores.ndim:
                good = xp.broadcast_to(good[..., None], (*bad.shape, groups.ids.shape[0], 1))
            of_good = of_their_group(xp, groups, good)
        valid = of_good if examples.valid is None else of_good & examples.valid
    return rank_examples(examples._replace(valid=valid), ties, good, groups)


def _check_values(xp: Namespace, examples: Examples, groups: GroupCodes | None) -> None:
    """Raise for values that no batch can have had, as in a forged file, and for amounts whose sum
    over all batches overflows.
    """
    weights = examples.weights
    bad = bad_values(xp, examples.scores, weights)
    bad |= {name: bad_amounts(xp, name, x, weights) for name, x in examples.columns.items()}
    columns = {"y_score": examples.scores, "sample_weight": weights, **examples.columns}
    if groups is not None:
        columns["groups"], size = groups.codes, groups.ids.shape[0]
        _, bad["groups"] = kept_within(xp, examples.scores, groups.codes, size)
    raise_or_exclude(xp, columns, bad, examples.valid)


def numbered_groups(codes: Array, size: int) -> GroupCodes:
    """Groups numbered from 0 on, some perhaps without examples."""
    xp = namespace(codes)
    return GroupCodes(codes, xp.arange(size, dtype=xp.int64, device=device(codes)))


def joined_ids(xp: Namespace, parts: tuple[Array, ...], batches: int) -> Array | None:
    """The ids of all batches, which must be of one type; None without groups."""
    if not parts:
        return None
    if len(parts) != batches:
        raise ValueError("some batches came with groups and some without; give groups= with all")
    there = [x for x in parts if x.shape[-1]] or parts[:1]
    kinds = sorted({_kind_of_ids(x) for x in there})
    if len(kinds) > 1:
        raise TypeError(f"the groups of all batches must be of one type; got {' and '.join(kinds)}")
    return there[0] if len(there) == 1 else xp.concat(there, axis=-1)


def _kind_of_ids(ids: Array) -> str:
    """The name of the type of ids; for strings and dates without their length or unit."""
    return str(ids.dtype) if not isinstance(ids, np.ndarray) else ids.dtype.type.__name__


def _with_ids(batch: Batch, groups: Any, length: int) -> Batch:
    """The batch with its first examples, so many, and with their ids."""
    examples = batch.examples.map(lambda x: x[..., :length])
    ids = ids_of(examples.scores, groups, batched=examples.scores.ndim > 1)
    return batch._replace(examples=examples, groups=ids)


def _nothing(xp: Namespace, like: Array) -> Examples:
    """One example that does not count."""
    shape, place = (*like.shape[:-1], 1), device(like)
    absent = xp.zeros(shape, dtype=xp.bool, device=place)
    return Examples(xp.zeros(shape, dtype=like.dtype, device=place), absent, None, absent)


def _joined(xp: Namespace, pieces: list[dict[str, Array]], name: str) -> Array:
    """One column of all pieces; where some lack it weights are 1, flags True and gains 0."""
    if name in OF_ALL_BATCHES and not all(name in piece for piece in pieces):
        raise ValueError(f"some batches came with {name}= and some without; give it with all")
    place = device(pieces[0]["scores"])
    dtype = xp.bool if name == "valid" else xp.wide_float(place)
    fill = xp.zeros if name == "gain_rejected" else xp.ones
    whole = [
        piece[name] if name in piece else fill(piece["scores"].shape, dtype=dtype, device=place)
        for piece in pieces
    ]
    return whole[0] if len(whole) == 1 else xp.concat(whole, axis=-1)
