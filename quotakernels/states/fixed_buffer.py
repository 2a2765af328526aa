"""Examples kept in arrays of a fixed length, for programs in which no shape may change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Unpack

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, is_array, readable
from quotakernels._bits import pickled
from quotakernels._types import BatchData
from quotakernels.inputs.columns import COLUMNS, short_repr, warn_of_other_order
from quotakernels.inputs.examples import Examples, check_tie_policy
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import check_flag, forwarding, public
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, rank
from quotakernels.states._batch import (
    MOST_KEPT,
    Batch,
    check_alike,
    checked_batch,
    groups_of_state,
    lists_of,
    names_of,
    scores_like,
    with_bad,
)
from quotakernels.states._compute import computed
from quotakernels.states.buffer import numbered_groups, ranking_of_good

OWN = ("scores", "labels", "valid")
"""The arrays of examples beside the columns."""


class FixedScoreBuffer(NamedTuple):
    """At most `capacity` examples, in arrays of that length: a state for compiled loops.

    All its measures are exact.  It never changes: `update` and `merge` return a new one with arrays
    of the same shapes, so ``lax.scan`` can carry it, and a jitted step can donate it.  Elsewhere
    use `ScoreBuffer`, which grows.

    Attributes
    ----------
    scores, labels, valid : arrays, shape (..., capacity)
        The examples kept so far, from the front; `valid` is False for those that do not count.
    filled : int64 array, shape ()
        How many places are taken, also by masked examples.
    bad : int64 array, shape (...), or (..., S) with `num_groups`
        How many batches had bad values that could not be read, and so could not be refused, or did
        not fit.  If there was one, all measures are NaN; or an error, if `filled` can be read and
        shows that a batch did not fit.
    columns : mapping from names to arrays, shape (..., capacity)
        What else the state keeps of each example: its weight, ``"weights"``, what it brings or
        costs, and whether it was treated, as floats; its group, ``"groups"``, as int64.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from quotakernels import roc_auc
    >>> from quotakernels.states import FixedScoreBuffer
    >>> labels, scores = jnp.array([[1, 0, 1], [0, 1, 0]]), jnp.array([[3.0, 2, 1], [1, 2, 0]])
    >>> start = FixedScoreBuffer.empty(scores[0], capacity=100)
    >>> step = lambda state, batch: (state.update(*batch), None)
    >>> state, _ = jax.lax.scan(step, start, (labels, scores))
    >>> print(state.compute(roc_auc))
    0.7777778
    """

    scores: Array
    labels: Array
    valid: Array
    filled: Array
    bad: Array
    columns: dict[str, Array] = ops.NO_COLUMNS

    @classmethod
    @public
    def empty(
        cls,
        like: Any,
        *,
        capacity: int,
        weighted: bool = False,
        num_groups: int | None = None,
        columns: Iterable[str] = (),
    ) -> FixedScoreBuffer:
        """An empty state.

        Parameters
        ----------
        like : array, shape (..., n)
            Scores like those to come, real numbers or booleans.  The state gets their type,
            library, device and leading axes (the batch); n and the values do not matter.
        capacity : int
            The largest number of examples, at most 2**34.
        weighted : bool
            Whether batches may come with sample weights.
        num_groups : int, optional
            The number of groups of examples, in 8 bytes more for each place and each group; their
            ids are 0 to ``num_groups - 1``.
        columns : iterable of str
            Which of ``"gain"``, ``"gain_rejected"``, ``"cost"`` and ``"treatment"`` all batches
            come with, in 8 more bytes each for each place.

        Raises
        ------
        ValueError
            A capacity out of range; other names of columns.
        """
        xp, like = scores_like(like)
        capacity = size_of("capacity", capacity, most=MOST_KEPT)
        check_flag("weighted", weighted)
        names = [*(["weights"] if weighted else []), *names_of(columns)]
        place, lists = device(like), lists_of(like, num_groups)
        with xp.computing():
            types = dict.fromkeys(names, xp.wide_float(place))
            types |= {} if num_groups is None else {"groups": xp.int64}

            def kept(dtype: Any) -> Array:  # no array twice: donated once only
                return xp.zeros((*like.shape[:-1], capacity), dtype=dtype, device=place)

            return cls(
                kept(like.dtype),
                kept(xp.bool),
                kept(xp.bool),
                xp.zeros((), dtype=xp.int64, device=place),
                xp.zeros(lists, dtype=xp.int64, device=place),
                {name: kept(dtype) for name, dtype in types.items()},
            )

    def __repr__(self) -> str:
        """Shape and library; of one list also how many examples count, if that is known."""
        if not is_array(self.scores):  # a tree of something else
            return f"FixedScoreBuffer{tuple.__repr__(self)}"
        columns = [self.valid], [self.labels & self.valid]
        return short_repr("FixedScoreBuffer", self.scores, self.scores.shape, *columns)

    def __reduce__(self) -> Any:
        return pickled(self)

    @property
    def like(self) -> Array:
        """No scores, of the type that is kept."""
        return self.scores[..., :0]

    @property
    def capacity(self) -> int:
        """The largest number of examples."""
        return int(self.scores.shape[-1])

    @property
    def weighted(self) -> bool:
        """Whether weights are kept."""
        return "weights" in self.columns

    @property
    def column_names(self) -> tuple[str, ...]:
        """Which of gains, costs and treatments come with all batches."""
        return tuple(name for name in COLUMNS if name in self.columns)

    @property
    def num_groups(self) -> int | None:
        """How many groups of examples it has; None without groups."""
        return groups_of_state(self)

    @forwarding(rank, without=("ties", "num_groups"))
    def update(self, y_true: Any, y_score: Any, **data: Unpack[BatchData]) -> FixedScoreBuffer:
        """The state after one more batch, given as to `ScoreBuffer.update`.

        A state with `num_groups` needs `groups`, the group of each example, and one with `columns`
        needs these.

        Raises
        ------
        ValueError
            A batch that does not fit.  Where that cannot be read, all measures are NaN, also later;
            if it can be read afterwards, `compute` raises.
        """
        warn_of_other_order({"y_true": y_true, "y_score": y_score, **data})
        batch = checked_batch(self, y_true, y_score, data)
        length = batch.examples.scores.shape[-1]
        _check_place(self, length, length)
        xp = namespace(self.scores)
        with xp.computing():
            return xp.compiled(_with_batch)(self, batch)

    @public
    def merge(self, *others: FixedScoreBuffer) -> FixedScoreBuffer:
        """The state with the examples of this one and then of the others, with this one's capacity.

        Raises
        ------
        TypeError, ValueError
            States of other scores, weights, groups or batch axes; more examples than the capacity.
        """
        xp = namespace(self.scores)
        merged = self
        with xp.computing():
            for other in others:
                check_alike(self, other)
                _check_place(merged, other.filled, 0)
                merged = xp.compiled(_joined)(merged, other)
        return merged

    def ranking(self, ties: TiePolicy = "expected") -> Ranking:
        """The ranking of all examples, under a tie policy of `rank`.

        Raises
        ------
        ValueError
            More examples than the capacity came in a compiled program, and this can only be read
            now.
        """
        check_tie_policy(ties)
        _check_not_overfull(self)
        groups = None
        if self.num_groups is not None:
            with namespace(self.scores).computing():
                groups = numbered_groups(self.columns["groups"], self.num_groups)
        return ranking_of_good(Examples.of(_kept(self)), self.bad, ties, groups)

    def compute(self, measure: Any, **options: Any) -> Any:
        """Any measures of the examples so far, as in `ScoreBuffer.compute`.

        Raises
        ------
        ValueError
            More examples than the capacity came in a compiled program, and this can only be read
            now.
        """
        return computed(self, measure, options)


def _check_place(state: FixedScoreBuffer, more: Any, at_least: int) -> None:
    """Raise if there is no room for more examples, as far as that is known."""
    known = readable(state.filled) and (type(more) is int or (is_array(more) and readable(more)))
    filled, more = (int(state.filled), int(more)) if known else (0, at_least)
    if ops.is_below(state.capacity, filled + more):
        raise ValueError(
            f"the state has place for {state.capacity} examples and {filled} of them are taken, "
            f"so {more} more do not fit; give it more capacity, or use ScoreBuffer"
        )


def _check_not_overfull(state: FixedScoreBuffer) -> None:
    """Raise if a program filled one buffer beyond its capacity; several buffers give NaN."""
    if state.filled.ndim or not readable(state.filled):
        return
    lost = int(state.filled) - state.capacity
    if lost > 0:
        raise ValueError(
            f"the state has place for {state.capacity} examples and {state.capacity + lost} came, "
            f"{lost} too many, in a program that could not refuse them; give it more capacity, or "
            "use ScoreBuffer"
        )


def _with_batch(state: FixedScoreBuffer, batch: Batch) -> FixedScoreBuffer:
    xp = namespace(state.scores)
    given = batch.examples.named() | {"groups": batch.groups}
    if "valid" not in given:
        given["valid"] = xp.ones_like(given["labels"])
    state = state._replace(bad=with_bad(xp, state.bad, batch.bad))
    return _extended(xp, state, given, given["scores"].shape[-1])


def _joined(state: FixedScoreBuffer, other: FixedScoreBuffer) -> FixedScoreBuffer:
    xp = namespace(state.scores)
    state = state._replace(bad=state.bad + other.bad)
    return _extended(xp, state, _kept(other), other.filled)


def _extended(
    xp: Namespace, state: FixedScoreBuffer, given: dict[str, Any], length: Array | int
) -> FixedScoreBuffer:
    """The state with more examples written after its own."""
    filled = state.filled + length
    found = {
        name: xp.write_slice(kept, given[name], state.filled, length)
        for name, kept in _kept(state).items()
    }
    own = {name: x for name, x in found.items() if name in OWN}
    columns = {name: x for name, x in found.items() if name not in OWN}
    no_place = state.filled > state.capacity - length  # where their sum may leave the integers
    overflow = xp.cast(no_place, xp.int64)
    state = state._replace(**own, columns=columns)
    return state._replace(filled=filled, bad=state.bad + overflow)


def _kept(state: FixedScoreBuffer) -> dict[str, Array]:
    """All arrays of examples, by name."""
    return {**{name: getattr(state, name) for name in OWN}, **state.columns}
