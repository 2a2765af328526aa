"""The metric of Flax NNX, in compiled steps and outside."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

nnx = pytest.importorskip("flax.nnx")
import jax.numpy as jnp  # noqa: E402

from quotakernels.adapters.flax import RankingMetric  # noqa: E402

MEASURES = {"auc": qk.roc_auc, "hits": functools.partial(qk.hit_rate, quota=jnp.array([1, 3]))}
LABELS = jnp.array([[1, 0, 1, 0], [0, 1, 1, 0]])
LOGITS = jnp.array([[3, 1, 0.5, -2], [0.5, 2, 0.5, 1]], jnp.bfloat16)
MASK = jnp.array([[True, True, True, False], [True] * 4])


def at_once(measure: Any) -> np.ndarray[Any, Any]:
    """What NumPy gives for all examples that count, in the floats that JAX has here."""
    scores = np.asarray(LOGITS.astype("float32"))
    ranking = qk.rank(*(x[MASK] for x in map(np.asarray, (LABELS, scores))))
    return np.asarray(measure(ranking), dtype="float32")


def test_metrics_of_compiled_steps():
    """One trace for all steps; split, merged and reset like the metrics of Flax."""
    state = qk.ScoreHistogram.empty(LOGITS[0])
    ranking, auc = RankingMetric(MEASURES, state), RankingMetric(qk.roc_auc, state)
    metrics = nnx.MultiMetric(ranking=ranking, auc=auc, loss=nnx.metrics.Average("loss"))
    traces = []

    @functools.partial(nnx.jit, donate_argnums=0)
    def step(metrics: Any, labels: Any, logits: Any, mask: Any) -> None:
        traces.append(0)
        metrics.update(labels=labels, logits=logits, mask=mask, loss=jnp.mean(logits))

    for epoch in range(2):
        for batch in zip(LABELS, LOGITS, MASK, strict=True):
            step(metrics, *batch)
        assert len(traces) == 1, epoch
        found = nnx.merge(*nnx.split(metrics)).compute()
        assert found["ranking"]["auc"] == found["auc"] == at_once(qk.roc_auc)
        assert np.array_equal(found["ranking"]["hits"], at_once(MEASURES["hits"]))
        metrics.reset()
        assert np.isnan(metrics.compute()["auc"])


def test_arguments_have_the_names_that_were_chosen():
    state = qk.FixedScoreBuffer.empty(LOGITS[0], capacity=8, weighted=True)
    names = {"labels": "y", "scores": "p", "sample_weight": "w", "where": "real"}
    metric = RankingMetric(qk.roc_auc, state, **names)
    metric.update(y=LABELS[0], p=LOGITS[0], w=jnp.array([1, 1, 3, 9]), real=MASK[0], labels=None)
    assert metric.compute() == 0.25
    assert int(state.filled) == 0
    with pytest.raises(TypeError, match="expected a keyword argument 'p'; got y, labels"):
        metric.update(y=LABELS[0], labels=LABELS[0])


@pytest.mark.parametrize("name", ["sample_weight", "where"])
def test_names_that_were_chosen_are_not_optional(name: str):
    state = qk.FixedScoreBuffer.empty(LOGITS[0], capacity=8, weighted=True)
    metric = RankingMetric(qk.roc_auc, state, **{name: "chosen"})
    with pytest.raises(TypeError, match="expected a keyword argument 'chosen'; .* None instead"):
        metric.update(labels=LABELS[0], logits=LOGITS[0], sample_weight=None, mask=None)
    metric = RankingMetric(qk.roc_auc, state, **{name: None})
    metric.update(labels=LABELS[0], logits=LOGITS[0], chosen=MASK[0])
    assert metric.compute() == 0.75


def test_states_may_grow_outside_of_programs():
    metric = RankingMetric(qk.roc_auc, qk.ScoreBuffer.empty(LOGITS[0]))
    metric.update(labels=LABELS[0], logits=LOGITS[0])
    metric.reset()
    metric.update(labels=LABELS[1], logits=LOGITS[1])
    assert metric.compute() == 0.625
    assert metric.state.get_value().examples().scores.shape == (4,)
