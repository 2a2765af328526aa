"""The metric of Flax NNX, in compiled steps and outside."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

nnx = pytest.importorskip("flax.nnx")
import jax  # noqa: E402
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


@pytest.mark.full
def test_metrics_of_compiled_steps():
    """One trace for all steps; split, merged and reset like the metrics of Flax."""
    state = qk.states.ScoreHistogram.empty(LOGITS[0])
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


@pytest.mark.full
def test_arguments_have_the_names_that_were_chosen():
    state = qk.states.FixedScoreBuffer.empty(LOGITS[0], capacity=8, weighted=True)
    names = {"labels": "y", "scores": "p", "sample_weight": "w", "where": "real"}
    metric = RankingMetric(qk.roc_auc, state, **names)
    metric.update(y=LABELS[0], p=LOGITS[0], w=jnp.array([1, 1, 3, 9]), real=MASK[0], labels=None)
    assert metric.compute() == 0.25
    assert int(state.filled) == 0


def test_outputs_of_likely_names_may_be_passed_over_if_it_is_said():
    state = qk.states.FixedScoreBuffer.empty(LOGITS[0], capacity=8)
    outputs = {"labels": LABELS[0], "logits": LOGITS[0]}

    def update(**names: Any) -> Any:
        return RankingMetric(qk.roc_auc, state, **names).update

    for other, option in (("where", "where"), ("weights", "sample_weight"), ("indexes", "groups")):
        update(**{option: None})(**outputs, **{other: MASK[0]})
        update()(**outputs, **{other: None})
    update(where="where")(**outputs, where=MASK[0])


def test_the_positive_label_may_have_another_name():
    state = qk.states.ScoreHistogram.empty(LOGITS[0])
    metric = RankingMetric(qk.roc_auc, state, pos_label=7)
    step = nnx.jit(lambda metric, y, s: metric.update(labels=y, logits=s))
    for labels, logits in zip(LABELS, LOGITS, strict=True):
        step(metric, 6 * labels + 1, logits)
    wanted = qk.roc_auc(LABELS.reshape(-1), LOGITS.reshape(-1))
    assert metric.compute() == wanted


@pytest.mark.full
def test_groups_of_compiled_steps():
    """A value for each group, and their mean; no groups are ignored in silence."""
    groups = jnp.array([[2, 0, 0, 9], [2, 2, 0, 2]])
    state = qk.states.ScoreHistogram.empty(LOGITS[0], num_groups=3)
    gauc = qk.group_mean(qk.roc_auc, weights="examples")
    metric = RankingMetric({"auc": qk.roc_auc, "gauc": gauc}, state, groups="user")

    @nnx.jit
    def step(metric: Any, labels: Any, logits: Any, mask: Any, user: Any) -> None:
        metric.update(labels=labels, logits=logits, mask=mask, user=user)

    for batch in zip(LABELS, LOGITS, MASK, groups, strict=True):
        step(metric, *batch)
    scores = np.asarray(LOGITS.astype("float32"))
    columns = (np.asarray(x)[np.asarray(MASK)] for x in (LABELS, scores, groups))
    labels, scores, ids = columns
    wanted = qk.rank(labels, scores, groups=ids, num_groups=3)
    found = metric.compute()
    np.testing.assert_array_equal(found["auc"], np.float32(qk.roc_auc(wanted)))
    assert found["gauc"].value == np.float32(gauc(wanted).value)
    of_one = {"labels": LABELS[0], "logits": LOGITS[0]}
    with pytest.raises(TypeError, match="expected a keyword argument 'user'"):
        metric.update(**of_one)
    with pytest.raises(ValueError, match="^the state has groups and needs groups="):
        RankingMetric(qk.roc_auc, state).update(**of_one)
    plain = qk.states.ScoreHistogram.empty(LOGITS[0])
    RankingMetric(qk.roc_auc, plain, groups=None).update(**of_one, groups=groups[0])


def test_states_may_grow_outside_of_programs():
    metric = RankingMetric(qk.roc_auc, qk.states.ScoreBuffer.empty(LOGITS[0]))
    metric.update(labels=LABELS[0], logits=LOGITS[0])
    metric.reset()
    metric.update(labels=LABELS[1], logits=LOGITS[1])
    assert metric.compute() == 0.625
    assert metric.state.get_value().examples().scores.shape == (4,)


@pytest.mark.full
def test_metrics_are_of_one_list():
    def value(measures: Any, labels: Any, logits: Any) -> Any:
        metric = RankingMetric(measures, state)
        metric.update(labels=labels, logits=logits)
        return metric.compute()

    state = qk.states.FixedScoreBuffer.empty(LOGITS[0], capacity=8)
    found = value(qk.roc_auc, LABELS[0], LOGITS[0])
    assert isinstance(found, jax.Array)
    assert found.shape == ()
    found = value(MEASURES, LABELS[0], LOGITS[0])
    assert {name: x.shape for name, x in found.items()} == {"auc": (), "hits": (2,)}
    assert all(isinstance(x, jax.Array) for x in found.values())


def test_names_that_were_chosen_and_measures_without_bounds():
    weighted = qk.states.FixedScoreBuffer.empty(LOGITS[0], capacity=8, weighted=True)
    for name in ("sample_weight", "where"):
        metric = RankingMetric(qk.roc_auc, weighted, **{name: None})
        metric.update(labels=LABELS[0], logits=LOGITS[0], chosen=MASK[0])
        assert metric.compute() == 0.75
    for measure in (qk.average_hit_rate, lambda ranking: ranking.counts.sum()):
        RankingMetric(measure, qk.states.ScoreHistogram.empty(LOGITS[0]))
        RankingMetric(measure, qk.states.FixedScoreBuffer.empty(jnp.zeros(1), capacity=9))


def test_which_of_two_bounds_is_reported():
    coarse = qk.states.ScoreHistogram.empty(jnp.zeros(1), bits=3)
    labels, logits = jnp.array([1, 0, 1, 0]), jnp.array([1.5, 1.25, 1.0, 1.75])
    wanted = {"lower": 0.0, "midpoint": 0.5, "upper": 1.0}
    for bound, number in wanted.items():
        metric = RankingMetric({"auc": qk.roc_auc}, coarse, bound=bound)
        metric.update(labels=labels, logits=logits)
        np.testing.assert_allclose(metric.compute()["auc"], number, atol=1e-6)
    metric = RankingMetric(qk.roc_auc, coarse, bound="both")
    metric.update(labels=labels, logits=logits)
    assert metric.compute() == coarse.update(labels, logits).compute(qk.roc_auc)
    usual = RankingMetric(qk.roc_auc, coarse)
    usual.update(labels=labels, logits=logits)
    assert usual.compute() == 0.5


def test_compiled_steps_refuse_a_state_that_grows():
    """It would be compiled anew at each of them."""
    state = qk.states.ScoreBuffer.empty(jnp.zeros(1, LOGITS.dtype))
    metric = RankingMetric(qk.roc_auc, state)
    batch = {"labels": LABELS[0], "logits": LOGITS[0]}
    message = r"^a ScoreBuffer grows, .*; make the metric with FixedScoreBuffer\.empty"

    @nnx.jit
    def step(metric: Any, batch: Any) -> None:
        metric.update(**batch)

    with pytest.raises(TypeError, match=message):
        step(metric, batch)


def test_measures_at_a_budget():
    """A step's output of that name is no cost unless it is said."""
    at_budget, costs = functools.partial(qk.hit_rate, budget=9), np.arange(1.0, 1 + LABELS.size)
    state = qk.states.ScoreBuffer.empty(jnp.zeros(1, LOGITS.dtype))
    metric = RankingMetric({"hits": at_budget}, state, cost="amount")
    columns = (LABELS, LOGITS, costs.reshape(LABELS.shape))
    for labels, logits, cost in zip(*columns, strict=True):
        batch = {"labels": labels, "logits": logits, "amount": cost, "cost": 0.5}
        metric.update(**batch)
    wanted = at_budget(LABELS.ravel(), LOGITS.ravel(), cost=costs)
    assert metric.compute() == {"hits": wanted}
    like = jnp.zeros(1, jnp.bfloat16)
    kept = qk.states.ScoreHistogram.empty(like, columns=["cost"])
    metric = RankingMetric(at_budget, kept, cost="amount")
    metric.update(labels=LABELS.ravel(), logits=LOGITS.ravel(), amount=costs)
    assert metric.compute() == wanted


@pytest.mark.parametrize("missing", ["jax", "flax"])
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, missing: str):
    for module in [x for x in sys.modules if x.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"quotakernels.adapters.{missing}", raising=False)
    with pytest.raises(ImportError, match=rf'pip install "quotakernels\[{missing}\]"'):
        importlib.import_module(f"quotakernels.adapters.{missing}")
