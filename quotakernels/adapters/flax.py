"""Measures of a stream of batches as a metric of Flax NNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from quotakernels._array import concrete
from quotakernels.adapters import requiring
from quotakernels.adapters._metrics import (
    check_measures_fit,
    checked_metric,
    named_measures,
    reported,
)
from quotakernels.adapters.jax import emptied
from quotakernels.states import ScoreBuffer, ScoreHistogram

with requiring("Flax", "flax"):
    from flax import nnx

__all__ = ["RankingMetric"]

SAMPLE_WEIGHT, WHERE = "sample_weight", "mask"
"""The default names of outputs that may be absent."""
_ARGUMENTS = {WHERE: "where"}
"""The keywords of states for these, if they differ."""
_SIMILAR = {
    SAMPLE_WEIGHT: ("sample_weights", "weights", "weight"),
    WHERE: ("where",),
    "groups": ("group", "indexes"),
}
"""Names that were probably meant as these."""
_FOR_EXACT_SCORES = (
    "make the metric with FixedScoreBuffer.empty(like, capacity=…), or with a ScoreHistogram of "
    "bfloat16 or float16 scores"
)


class RankingMetric(nnx.Metric):  # type: ignore[misc]
    """A Flax metric: any measures of all examples since the last reset.

    It works like other metrics of Flax: alone or in ``nnx.MultiMetric``, inside and outside of
    ``nnx.jit``, through ``nnx.split`` and ``nnx.merge``, with and without x64.

    Parameters
    ----------
    measures : callable, or a mapping from names to callables
        Functions of a `Ranking`: `roc_auc`, ``partial(hit_rate, quota=100)``.
    state : ScoreHistogram or FixedScoreBuffer
        For one list of scores.  The metric keeps an empty state like it.  Outside of compiled steps
        it may be a `ScoreBuffer`, which grows and which they refuse.  A state with `num_groups`
        takes groups, and measures then give a value for each group.
    labels, scores, sample_weight, where, groups : str, or None
        The keywords of `update` for these arguments of the state's own `update`.  The last three
        may be None; then the metric does not take them.  With the default names they may be absent
        from a call, with other names not.
    **columns : str
        The keywords for the `gain`, `gain_rejected`, `cost` and `treatment` of each example, which
        a `ScoreBuffer` keeps, and other states if they are made with these columns.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
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
        A measure without its quota.  `update` also refuses what is likely meant for an argument of
        another name, such as ``where`` for ``mask``.
    ValueError
        A state with batch axes; a column that a measure or the state needs, or that the state does
        not keep; another `bound`; a measure without guaranteed bounds, unless the
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
        groups: str | None = "groups",
        pos_label: Any = None,
        bound: Literal["midpoint", "lower", "upper", "both"] = "midpoint",
        **columns: str,
    ) -> None:
        start = emptied(state)
        _check_metric(measures, start, columns, bound)
        self.several = isinstance(measures, Mapping)
        self.bound = bound
        self.measures = tuple(measures.items()) if self.several else measures
        self.pos_label = pos_label
        usual = {SAMPLE_WEIGHT: sample_weight, WHERE: where, "groups": groups}
        self.usual = tuple((x, name) for x, name in usual.items() if name is not None)
        self.needed = (("y_true", labels), ("y_score", scores), *columns.items())
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
        given = {argument: _needed(name, outputs) for argument, name in self.needed}
        for usual, name in self.usual:
            found = _usual(name, outputs) if name == usual else _needed(name, outputs, True)
            given[_ARGUMENTS.get(usual, usual)] = found
        if given.get("groups") is None:  # not every state takes them
            given.pop("groups", None)
        updated = self.state.get_value().update(**given, pos_label=self.pos_label)
        if isinstance(updated, ScoreBuffer) and not concrete(updated.bad):
            raise TypeError(
                "a ScoreBuffer grows, so each step would be compiled anew; make the metric with "
                "FixedScoreBuffer.empty(like, capacity=…), or update it outside of compiled steps"
            )
        self.state.set_value(updated)

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


def _check_metric(measures: Any, state: Any, columns: dict[str, str], bound: Any) -> None:
    """Raise for measures that the state cannot compute, for columns that it does not keep, and for
    several lists of scores.
    """
    names = checked_metric(measures, state.like, bound, columns)
    if not isinstance(state, ScoreBuffer) and set(names) != set(state.column_names):
        kept = ", ".join(state.column_names) or "no columns"
        raise ValueError(
            f"the state keeps {kept}; got the keywords of {', '.join(names) or 'none'}"
        )
    exact = not isinstance(state, ScoreHistogram) or state.exact
    check_measures_fit(named_measures(measures).values(), exact, _FOR_EXACT_SCORES)
    if batch := tuple(state.like.shape[:-1]):
        raise ValueError(
            f"state must be for one list of scores, of shape (n,); got one with batch axes "
            f"{batch}: make a metric for each model or class, from like=scores[:, 0]"
        )


def _needed(name: str, outputs: Mapping[str, Any], optional: bool = False) -> Any:
    """The output of that name; one that is `optional` may be given no name."""
    if name in outputs:
        return outputs[name]
    off = "; pass None if there is no such output" if optional else ""
    if name in ("labels", "logits"):
        off = "; labels= and scores= of the metric are for other names"
    raise TypeError(
        f"expected a keyword argument {name!r}; got {', '.join(outputs) or 'none'}{off}"
    )


def _usual(name: str, outputs: Mapping[str, Any]) -> Any:
    """The output of the default name, or None; raise if there is one with a similar name."""
    option = _ARGUMENTS.get(name, name)
    for other in (x for x in _SIMILAR[name] if name not in outputs and outputs.get(x) is not None):
        raise TypeError(
            f"got {other} and no {name}; make the metric with {option}={other!r}, or with "
            f"{option}=None if that is something else"
        )
    return outputs.get(name)
