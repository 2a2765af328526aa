"""Every example, kept: states of which all measures are exact."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import (
    Array,
    Namespace,
    computing,
    device,
    in_short,
    is_array,
    kept,
    known,
    namespace,
    wide_float,
)
from quotakernels.inputs.examples import Examples, check_tie_policy
from quotakernels.inputs.groups import GroupsOfExamples
from quotakernels.inputs.keywords import public
from quotakernels.ranking import Ranking, TiePolicy, rank_examples
from quotakernels.states._alike import check_alike
from quotakernels.states._batch import scores_like, update_of, validate_batch, with_fault
from quotakernels.states._compute import computed
from quotakernels.states._pickled import pickled


class ScoreBuffer(NamedTuple):
    """All examples of all batches: a state that grows, and of which every measure is exact.

    It never changes: `update` and `merge` return another one, which shares what has been kept.
    As a named tuple of arrays it passes through ``jax.jit``; where shapes have to stay the same,
    as in ``lax.scan``, take `FixedScoreBuffer`.

    Attributes
    ----------
    like : array, shape (..., 0)
        No scores, of the type that is kept.
    pieces : tuple of Examples
        For each batch: scores, labels, weights or None, and which examples count or None.
    bad : int64 array, shape (...)
        Batches with bad values that could not be read, and so not be refused.  All measures are
        NaN where there was one.

    Examples
    --------
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.states import ScoreBuffer
    >>> state = ScoreBuffer.empty(like=[0.0])
    >>> state = state.update([1, 0, 1], [0.9, 0.8, 0.3]).update([0, 1], [0.1, 0.2])
    >>> print(state.compute(hit_rate, quota=4), state.compute(roc_auc).round(4))
    0.75 0.6667
    """

    like: Array
    pieces: tuple[Examples, ...]
    bad: Array

    @classmethod
    @public
    def empty(cls, like: Any) -> ScoreBuffer:
        """A state that has seen nothing.

        Parameters
        ----------
        like : array, shape (..., n)
            Scores such as will come, real numbers or booleans: the state gets their type, library
            and device, and their leading axes, the batch.  n and the values do not matter.
        """
        xp, like = scores_like(like)
        with computing(xp):
            return cls(like, (), xp.zeros(like.shape[:-1], dtype=xp.int64, device=device(like)))

    @update_of
    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        where: Any = None,
        pos_label: Any = None,
        validate: bool = True,
        gain: Any = None,
        gain_rejected: Any = 0,
    ) -> ScoreBuffer:
        """The state after one more batch.

        Takes what `rank` takes, but for `ties`.  Scores have the type, library, device and leading
        axes of the state; a batch without weights beside others that have them counts each example
        once.

        Raises
        ------
        TypeError, ValueError
            For a batch that does not fit the state.  Bad values that cannot be read (in a trace, on
            an accelerator) make all measures of their row NaN, for good.
        """
        columns = (y_true, y_score, sample_weight, where)
        batch = validate_batch(
            self.like, columns, pos_label, validate, gain=gain, gain_rejected=gain_rejected
        )
        xp = namespace(self.like)
        with computing(xp):
            piece = batch.examples.map(kept)
            bad = with_fault(xp, self.bad, batch.fault)
        return self._replace(pieces=(*self.pieces, piece), bad=bad)

    @public
    def merge(self, *others: ScoreBuffer) -> ScoreBuffer:
        """The state that has seen what this one and then the others have seen.

        Raises
        ------
        TypeError, ValueError
            States of other scores or batch axes.
        """
        pieces, bad = self.pieces, self.bad
        for other in others:
            check_alike(self, other)
            with computing(namespace(bad)):
                pieces, bad = pieces + other.pieces, bad + other.bad
        return self._replace(pieces=pieces, bad=bad)

    def __repr__(self) -> str:
        """Shape and library; of one list also how many examples count, if that is known."""
        if not is_array(self.like):  # a tree of something else
            return f"ScoreBuffer{tuple.__repr__(self)}"
        pieces: Any = self.pieces
        shape = (*self.like.shape[:-1], sum(x.scores.shape[-1] for x in pieces))
        counts = [x.labels == x.labels if x.valid is None else x.valid for x in pieces]
        positives = [x.labels & y for x, y in zip(pieces, counts, strict=True)]
        return in_short("ScoreBuffer", self.like, shape, counts, positives)

    def __reduce__(self) -> Any:
        return pickled(self)

    def examples(self) -> Examples:
        """All that was kept, in the order in which it came."""
        xp = namespace(self.like)
        with computing(xp):
            pieces = self.pieces or (_nothing(xp, self.like),)
            return Examples(*(_joined(xp, pieces, name) for name in Examples._fields))

    def ranking(self, ties: TiePolicy = "expected") -> Ranking:
        """What has been seen as a ranking; parameters as in `rank`."""
        check_tie_policy(ties)
        return ranking_without_faults(self.examples(), self.bad, ties)

    def compute(self, measure: Any, **options: Any) -> Any:
        """Any measures of what has been seen.

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
            Something else than a measure, such as ``len``; options beside several measures.
        """
        return computed(self, measure, options)


def ranking_without_faults(
    examples: Examples, bad: Array, ties: TiePolicy, groups: GroupsOfExamples | None = None
) -> Ranking:
    """The ranking of checked examples, invalid where there were bad batches."""
    xp = namespace(bad)
    with computing(xp):
        if known(bad == 0):
            return rank_examples(examples, ties, groups=groups)
        good = (bad == 0)[..., None]
        sound = xp.broadcast_to(good, examples.scores.shape)
        valid = sound if examples.valid is None else sound & examples.valid
        if groups is not None:
            good = xp.broadcast_to(good[..., None], (*bad.shape, groups.ids.shape[0], 1))
    return rank_examples(examples._replace(valid=valid), ties, good, groups)


def _nothing(xp: Namespace, like: Array) -> Examples:
    """One example that does not count."""
    shape, place = (*like.shape[:-1], 1), device(like)
    absent = xp.zeros(shape, dtype=xp.bool, device=place)
    return Examples(xp.zeros(shape, dtype=like.dtype, device=place), absent, None, absent)


def _joined(xp: Namespace, pieces: tuple[Examples, ...], name: str) -> Array | None:
    """One column of all pieces; what some do not have is 1, or True, there, and gains are 0."""
    parts = [getattr(piece, name) for piece in pieces]
    if all(part is None for part in parts):
        return None
    if name == "gain" and any(part is None for part in parts):
        raise ValueError("some batches came with gains and some without; give gain= with all")
    place = device(pieces[0].scores)
    dtype = xp.bool if name == "valid" else wide_float(xp, place)
    fill = xp.zeros if name == "gain_rejected" else xp.ones
    whole = [
        fill(piece.scores.shape, dtype=dtype, device=place) if part is None else part
        for piece, part in zip(pieces, parts, strict=True)
    ]
    return whole[0] if len(whole) == 1 else xp.concat(whole, axis=-1)
