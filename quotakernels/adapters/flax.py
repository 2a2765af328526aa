"""Measures of a stream of batches as a metric of Flax NNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from quotakernels.adapters import requiring
from quotakernels.adapters._metrics import (
    GROUPS,
    SAMPLE_WEIGHT,
    WHERE,
    OutputNames,
    check_metric,
    in_place_of,
    reported,
)
from quotakernels.adapters.jax import emptied

with requiring("Flax", "flax"):
    from flax import nnx

__all__ = ["RankingMetric"]


class RankingMetric(nnx.Metric):  # type: ignore[misc]
    """A Flax metric: any measures of all examples since the last reset.

    It works like other metrics of Flax: alone or in ``nnx.MultiMetric``, inside and outside of
    ``nnx.jit``, through ``nnx.split`` and ``nnx.merge``, with and without x64.

    Parameters
    ----------
    measures : callable, or a mapping from names to callables
        As `ScoreBuffer.compute` takes them.
    state : ScoreHistogram or FixedScoreBuffer
        For one list of scores.  The metric keeps an empty state like it.  Outside of compiled steps
        it may be a `ScoreBuffer`, which grows and which they refuse.  A state with `num_groups`
        takes groups, and measures then give a value for each group.
    labels, scores, sample_weight, where, groups : str, or None
        The keywords of `update` for these arguments of the state's own `update`.  The last three
        may be None; then the metric does not take them.  With the default names they may be absent
        from a call, with other names not.
    cost : str, optional
        The keyword for the cost of each example, for measures at a budget.  Only a `ScoreBuffer`
        keeps costs.
    pos_label : optional
        As `rank` takes it.
    bound : {"midpoint", "lower", "upper", "both"}
        Which number to report for two bounds, of scores of four bytes and more in a histogram.  The
        exact value is at most half their distance from the midpoint.  ``"both"`` gives `Bounds`.

    Attributes
    ----------
    state : nnx.metrics.MetricState
        Holds the state; ``state.get_value()`` gives it.

    Raises
    ------
    TypeError
        A measure without its quota, or at a budget without `cost`; a state that keeps no costs.
        `update` also refuses what is likely meant for an argument of another name, such as
        ``where`` for ``mask``.
    ValueError
        A state with batch axes; another `bound`; a measure without guaranteed bounds, unless the
        state is exact.  `update` also refuses groups if the state keeps none, and a batch
        without groups if it does.

    See Also
    --------
    quotakernels.states.ScoreHistogram, quotakernels.states.FixedScoreBuffer : the states.

    Examples
    --------
    >>> import functools
    >>> import jax.numpy as jnp
    >>> from flax import nnx
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.states import ScoreHistogram
    >>> from quotakernels.adapters.flax import RankingMetric
    >>> measures = {"auc": roc_auc, "hits": functools.partial(hit_rate, quota=2)}
    >>> state = ScoreHistogram.empty(jnp.zeros(1, jnp.bfloat16))
    >>> metrics = nnx.MultiMetric(
    ...     loss=nnx.metrics.Average("loss"), ranking=RankingMetric(measures, state)
    ... )
    >>> labels, logits = jnp.array([1, 0, 1]), jnp.array([2.5, 1, -3], jnp.bfloat16)
    >>> metrics.update(labels=labels, logits=logits, loss=0.25)
    >>> print(*metrics.compute()["ranking"].values())
    0.5 0.5
    """

    def __init__(
        self,
        measures: Any,
        state: Any,
        *,
        labels: str = "labels",
        scores: str = "logits",
        sample_weight: str | None = SAMPLE_WEIGHT,
        where: str | None = WHERE,
        groups: str | None = GROUPS,
        cost: str | None = None,
        pos_label: Any = None,
        bound: Literal["midpoint", "lower", "upper", "both"] = "midpoint",
    ) -> None:
        start = emptied(state)
        check_metric(measures, start, cost, bound)
        self.several = isinstance(measures, Mapping)
        self.bound = bound
        self.measures = tuple(measures.items()) if self.several else measures
        self.names = OutputNames(labels, scores, sample_weight, where, groups, cost, pos_label)
        self.state = nnx.metrics.MetricState(start)

    def update(self, **outputs: Any) -> None:
        """Count one more batch.

        Parameters
        ----------
        **outputs
            Labels and scores, one score for each example, and optionally sample weights and a mask,
            by the chosen names.  Other keywords are ignored.

        Raises
        ------
        TypeError, ValueError
            Labels or scores that are missing; a batch that the state refuses; a `ScoreBuffer` in a
            compiled step.
        """
        updated = self.names.updated(self.state.get_value(), outputs)
        self.state.set_value(in_place_of(updated))

    def reset(self) -> None:
        """Forget all batches."""
        self.state.set_value(emptied(self.state.get_value()))

    def compute(self) -> Any:
        """The measures of all batches so far.

        Returns
        -------
        What the measure returns, or a dictionary of that
        """
        measures = dict(self.measures) if self.several else self.measures
        return reported(self.state.get_value().compute(measures), self.bound)
