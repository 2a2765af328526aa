"""Metric classes like those of CLU: alone, in collections, gathered from devices."""

from __future__ import annotations

import functools
import importlib
import sys
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
    "histogram": qk.states.ScoreHistogram.empty(LOGITS[0]),
    "buffer": qk.states.FixedScoreBuffer.empty(LOGITS[0], capacity=12),
}

of_both = pytest.mark.parametrize("state", STATES.values(), ids=STATES)


def at_once(measure: Any) -> np.ndarray[Any, Any]:
    """What NumPy gives for all examples, in the floats that JAX has here."""
    scores = np.asarray(LOGITS.astype("float32"))
    return np.asarray(measure(np.asarray(LABELS).ravel(), scores.ravel()), dtype="float32")


@pytest.mark.full
@pytest.mark.parametrize("state", [STATES["histogram"], STATES["buffer"]])
def test_a_class_by_itself(state: Any):
    """In a step that is given its metric for good, in two epochs, by the names of Metrax."""
    names = {"scores": "predictions", "sample_weight": None}
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


@pytest.mark.full
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


def test_no_clu_is_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "clu", None)
    monkeypatch.setitem(sys.modules, "clu.metrics", None)
    monkeypatch.delitem(sys.modules, "quotakernels.adapters.clu")
    alone = importlib.import_module("quotakernels.adapters.clu")
    metric = alone.clu_metric(qk.roc_auc, STATES["buffer"])
    of_each = jax.vmap(lambda y, z: metric.from_model_output(labels=y, logits=z))(LABELS, LOGITS)
    assert of_each.reduce().compute() == at_once(qk.roc_auc)
    assert metric.__mro__[2] is object


@pytest.mark.parametrize(("name", "missing"), [("jax", "jax"), ("flax", "flax"), ("clu", "flax")])
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str, missing: str):
    for module in [x for x in sys.modules if x.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"quotakernels.adapters.{name}", raising=False)
    with pytest.raises(ImportError, match=rf'pip install "quotakernels\[{missing}\]"'):
        importlib.import_module(f"quotakernels.adapters.{name}")
