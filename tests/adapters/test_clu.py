"""Metric classes like those of CLU: alone, in collections, gathered from devices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

pytest.importorskip("flax")
import jax
import jax.numpy as jnp

from quotakernels.adapters.clu import clu_metric

MEASURES = {"auc": qk.roc_auc, "hits": functools.partial(qk.hit_rate, quota=3)}
LABELS = jnp.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]])
LOGITS = jnp.array([[3, 1, 0.5, -2], [0.5, 2, 0.5, 1], [0, 4, -1, 4]], jnp.bfloat16)
STATES = {
    "histogram": qk.ScoreHistogram.empty(LOGITS[0]),
    "buffer": qk.FixedScoreBuffer.empty(LOGITS[0], capacity=12),
}

of_both = pytest.mark.parametrize("state", STATES.values(), ids=STATES)


def at_once(measure: Any) -> np.ndarray[Any, Any]:
    """What NumPy gives for all examples, in the floats that JAX has here."""
    scores = np.asarray(LOGITS.astype("float32"))
    return np.asarray(measure(np.asarray(LABELS).ravel(), scores.ravel()), dtype="float32")


@of_both
def test_a_class_by_itself(state: Any):
    """In a step that is given its metric for good, in two epochs, by the names of Metrax."""
    names = {"scores": "predictions", "sample_weight": "sample_weights"}
    metrics = clu_metric(MEASURES, state, **names)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(metric: Any, labels: Any, predictions: Any) -> Any:
        batch = {"labels": labels, "predictions": predictions, "loss": 0}
        return metric.merge(metrics.from_model_output(**batch))

    for _ in range(2):
        metric = metrics.empty()
        for batch in zip(LABELS, LOGITS, strict=True):
            metric = step(metric, *batch)
        found = metric.compute()
        assert all(found[name] == at_once(measure) for name, measure in MEASURES.items())
    with pytest.raises(AttributeError):
        metric.state = None


@of_both
def test_collections_and_devices(state: Any):
    metrics = pytest.importorskip("clu.metrics")
    auc = clu_metric(qk.roc_auc, state)
    renamed = auc.from_fun(lambda y, logits, **_: {"labels": y, "logits": logits})
    losses = metrics.Average.from_output("loss")
    collection = metrics.Collection.create(auc=auc, renamed=renamed, loss=losses)

    @functools.partial(jax.vmap, axis_name="batch")
    def gathered(labels: Any, logits: Any) -> Any:
        outputs = {"labels": labels, "y": labels, "logits": logits, "loss": jnp.float32(2)}
        return collection.gather_from_model_output(**outputs)

    whole = gathered(LABELS, LOGITS).unreplicate()
    found = collection.empty().merge(whole).compute()
    assert found == {"auc": at_once(qk.roc_auc), "renamed": at_once(qk.roc_auc), "loss": 2}
