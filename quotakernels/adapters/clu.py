"""Measures of a stream of batches as a metric class of CLU, or of Metrax, which is built on it."""

from __future__ import annotations

from typing import Any, Literal

from quotakernels._array import computing
from quotakernels.adapters._outputs import (
    GROUPS,
    SAMPLE_WEIGHT,
    WHERE,
    OutputNames,
    check_metric,
    in_place_of,
    reported,
)
from quotakernels.adapters.jax import emptied
from quotakernels.inputs.keywords import public

try:
    import flax.struct
    import jax
except ImportError as error:
    raise ImportError(
        'this needs Flax; install it by pip install "quotakernels[flax]"', name=error.name
    ) from error
try:
    from clu.metrics import Metric
except ImportError:  # its methods are here, but for those that make other metrics
    Metric = object

__all__ = ["clu_metric"]


@public
def clu_metric(
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
) -> type[Any]:
    """A metric class in the style of CLU, which keeps a state and computes measures of it.

    Its objects are frozen and pass through ``jax.jit``, ``lax.scan`` and ``jax.pmap``.  Use it in a
    ``clu.metrics.Collection``, or alone without CLU.

    Parameters
    ----------
    measures : callable, or a mapping from names to callables
        As `ScoreBuffer.compute` takes them.
    state : ScoreHistogram or FixedScoreBuffer
        For one list of scores.  Each object keeps a state like it, empty at first.  Buffers that
        are gathered from devices need the capacity for the examples of all devices.  A state with
        `num_groups` takes groups, and measures then give a value for each group.
    labels, scores, sample_weight, where, groups : str, or None
        The names of the model outputs for these arguments of the state's own `update`.  Other
        outputs are ignored.  The last three may be None.  With the default names they may be absent
        from the outputs, with other names not.  For the names of Metrax: ``scores="predictions"``,
        and ``sample_weight="sample_weights"`` if there are weights.
    cost : str, optional
        The name for the cost of each example, for measures at a budget.  Only a `ScoreBuffer` keeps
        costs; it grows, so compiled steps refuse to merge it.
    pos_label : optional
        As `rank` takes it.
    bound : {"midpoint", "lower", "upper", "both"}
        Which number to report for two bounds, of scores of four bytes and more in a histogram.
        ``"both"`` gives `Bounds`.

    Returns
    -------
    A class with the methods ``empty``, ``from_model_output``, ``merge``, ``reduce`` and
    ``compute``; the last gives what the measure returns, or a dictionary of that

    Raises
    ------
    TypeError
        A measure without its quota, or at a budget without `cost`; a state that keeps no costs.
        ``from_model_output`` also refuses what is likely meant for an argument of another name,
        such as ``weights`` for ``sample_weight``.
    ValueError
        A state with batch axes; another `bound`; a measure without guaranteed bounds, unless the
        state is exact.

    See Also
    --------
    quotakernels.adapters.jax.across_devices : the sum over devices without gathering.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.states import FixedScoreBuffer
    >>> from quotakernels.adapters.clu import clu_metric
    >>> state = FixedScoreBuffer.empty(jnp.zeros(1), capacity=100)
    >>> Auc = clu_metric(roc_auc, state)
    >>> metric = Auc.empty()
    >>> for labels, logits in [([1, 0], [2.0, 0.5]), ([1, 0], [0.2, 0.1])]:
    ...     batch = {"labels": jnp.array(labels), "logits": jnp.array(logits)}
    ...     metric = metric.merge(Auc.from_model_output(**batch))
    >>> print(metric.compute())
    0.75
    """
    check_metric(measures, emptied(state), cost, bound)
    names = OutputNames(labels, scores, sample_weight, where, groups, cost, pos_label)

    @flax.struct.dataclass
    class RankingMetric(_StateMetric):
        @classmethod
        def empty(cls) -> Any:
            """Of no examples."""
            return cls(emptied(state))

        @classmethod
        def from_model_output(cls, **outputs: Any) -> Any:
            """Of the examples of one batch."""
            return cls(names.updated(emptied(state), outputs))

        def compute(self) -> Any:
            """What the measures are of all examples."""
            return reported(self.state.compute(measures), bound)

    return RankingMetric


@flax.struct.dataclass
class _StateMetric(Metric):  # type: ignore[misc]
    """What does not depend on measures and names."""

    state: Any

    def merge(self, other: Any) -> Any:
        """Of the examples of both."""
        return self.replace(state=in_place_of(self.state.merge(other.state)))

    def reduce(self) -> Any:
        """Of the examples of all that are stacked along the first axis."""

        def merged(one: Any, other: Any) -> tuple[Any, None]:
            return one.merge(other), None

        with computing(jax.numpy):
            first = jax.tree.map(lambda x: x[0], self)
            others = jax.tree.map(lambda x: x[1:], self)
            return jax.lax.scan(merged, first, others)[0]
