"""Rankings that callers make of the columns of others."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk
from quotakernels.states import ScoreBuffer

READ_LATER = parameters([m for m in MODES if m.name in ("numpy", "jax32", "torch", "torch-vmap")])


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "given"])
@pytest.mark.parametrize("mode", READ_LATER)
def test_every_ranking_that_is_made_here_can_be_made_by_hand(mode: Mode, ties: Any):
    """Padded tables too, and those of merged, resampled or chosen rows."""
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (2, 3, 20)) > 0, rng.integers(-2, 3, (2, 3, 20)) / 2
    weights, there = rng.integers(0, 3, (2, 3, 20)) / 4, rng.random((2, 3, 20)) < 0.7

    def made(y: Any, s: Any, w: Any, m: Any) -> Any:
        weighted = qk.rank(y, s, sample_weight=w, where=m, ties=ties)
        plain = qk.rank(y, s, where=m, ties=ties)
        return weighted, plain, plain.at_thresholds(plain.thresholds[..., ::7])

    for ranking in mode.run(made, labels, scores, weights, there):
        by_hand = qk.Ranking(*ranking)
        np.testing.assert_array_equal(qk.roc_auc(by_hand), qk.roc_auc(ranking))
        for same in (copy.deepcopy(by_hand), pickle.loads(pickle.dumps(by_hand))):
            assert type(same) is qk.Ranking
            np.testing.assert_array_equal(same.counts, ranking.counts)
    points = qk.Ranking.from_points([0.5, 0.5, 2], [0.25, 1, 1])
    assert qk.roc_auc(qk.Ranking(*points)) == qk.roc_auc(points)


def test_what_is_no_array_passes():
    """Trees of axes, for example, which JAX maps over."""
    assert qk.Ranking(0, 0, 0, None, None).counts == 0


# what an interpreter shows of rankings and buffers: a line, for which nothing has to be waited


Y, S = np.asarray([1, 0, 1, 1, 0]), np.asarray([0.9, 0.8, 0.8, 0.6, 0.1])


def test_of_rankings() -> None:
    assert repr(qk.rank(Y, S)) == "Ranking(shape=(4,), numpy, 5 examples, 3 positive)"
    assert repr(qk.rank(Y, [S, S])) == "Ranking(shape=(2, 5), numpy)"
    rng = np.random.default_rng(0)
    assert len(repr(qk.rank(rng.random(900) < 0.5, rng.random(900)))) < 80


def test_of_rankings_with_more() -> None:
    grouped = qk.rank(Y, S, groups=list("abbba"), cost=S)
    assert repr(grouped) == "Ranking(shape=(4,), numpy, 5 examples, 3 positive, 2 groups, costs)"
    assert repr(qk.rank(Y, [S, S], groups=Y)) == "Ranking(shape=(2, 5), numpy, 2 groups)"
    assert repr(qk.rank(Y, [S, S], gain=S)) == "Ranking(shape=(2, 5), numpy, gains)"


def test_of_buffers() -> None:
    state = ScoreBuffer.empty(like=S[:0])
    assert repr(state) == "ScoreBuffer(shape=(0,), numpy, 0 examples, 0 positive)"
    state = state.update(Y, S).update(Y, S, where=S > 0.7)
    assert repr(state) == "ScoreBuffer(shape=(10,), numpy, 8 examples, 5 positive)"
    batch = ScoreBuffer.empty(like=[S, S]).update(Y, [S, S])
    assert repr(batch) == "ScoreBuffer(shape=(2, 5), numpy)"


def test_of_states_of_a_fixed_size() -> None:
    fixed = qk.states.FixedScoreBuffer.empty(S[:0], capacity=900).update(Y, S, where=S > 0.7)
    assert repr(fixed) == "FixedScoreBuffer(shape=(900,), numpy, 3 examples, 2 positive)"
    histogram = qk.states.ScoreHistogram.of(Y, S, bits=8)
    assert repr(histogram) == "ScoreHistogram(shape=(256,), numpy, 5 examples, 3 positive)"
    many = qk.states.ScoreHistogram.empty(like=[S, S], bits=8, num_groups=3)
    assert repr(many) == "ScoreHistogram(shape=(2, 3, 256), numpy)"
    many = qk.states.FixedScoreBuffer.empty(like=[S, S], capacity=9)
    assert repr(many) == "FixedScoreBuffer(shape=(2, 9), numpy)"


def test_of_what_an_evaluation_has_of_groups() -> None:
    found = qk.evaluate(Y, {"a": S}, quota=1, by=list("abbba")).groups
    assert found is not None
    at_quota = "measures=(<column places>, <column found>, <column selection_rate>, "
    assert at_quota in repr(found)
    assert "function" not in repr(found)


WITH_THEIR_OWN = {"BootstrapResult", "Comparison", "RankingAtQuota"}
RECORDS = {name for name in qk.results.__all__ if hasattr(getattr(qk.results, name), "_fields")}


@pytest.mark.parametrize("name", sorted(RECORDS - WITH_THEIR_OWN))
def test_records_show_plain_numbers(name: str) -> None:
    kind = getattr(qk.results, name)
    fields = [np.float32(0.1) if k else np.asarray([1.0, 2.5]) for k in range(len(kind._fields))]
    shown = repr(kind(*fields))
    assert shown.startswith(f"{name}(")
    assert "np." not in shown
    assert "=0.1" in shown


def test_records_show_numbers_as_they_are() -> None:
    found = qk.inference.auc_interval(Y, S)
    numbers = ", ".join(f"{k}={float(x)}" for k, x in found._asdict().items())
    assert repr(found) == f"AucInterval({numbers})"
    table = qk.tables.confusion_table(Y, S, quota=2)
    assert repr(table) == "ConfusionTable(tp=1.5, fp=0.5, fn=1.5, tn=1.5)"


def test_of_metrics() -> None:
    pytest.importorskip("torchmetrics")
    from quotakernels.adapters.torchmetrics import RankingMetric

    assert repr(RankingMetric(qk.roc_auc)) == "RankingMetric(roc_auc)"
    both = {"auc": qk.roc_auc, "hits": qk.hit_rate.with_options(quota=3)}
    assert repr(RankingMetric(both, groups="mean")) == "RankingMetric(auc, hits, groups='mean')"
    coarse = RankingMetric(both["hits"], state="histogram")
    assert repr(coarse) == "RankingMetric(hit_rate_quota_3, state='histogram')"


def test_what_is_traced_is_not_read() -> None:
    jax = pytest.importorskip("jax")
    said: list[str] = []

    def seen(labels: object, scores: object) -> object:
        ranking = qk.rank(labels, scores)
        said.extend(map(repr, (ranking, ScoreBuffer.empty(scores).update(labels, scores))))
        return ranking

    ranking = jax.jit(seen)(jax.numpy.asarray(Y), jax.numpy.asarray(S))
    assert said == ["Ranking(shape=(5,), jax)", "ScoreBuffer(shape=(5,), jax)"]
    assert repr(ranking) == "Ranking(shape=(5,), jax, 5 examples, 3 positive)"
    shapes = jax.tree.map(lambda x: x.shape, ranking)  # a tree of anything
    assert repr(shapes) == f"Ranking({', '.join(5 * ['(5,)'])}, {{}}, InPlace(), (), ())"


def test_nor_what_has_a_shape_only() -> None:
    torch = pytest.importorskip("torch")
    with torch.device("meta"):
        labels, scores = torch.zeros(5), torch.zeros(5)
    assert repr(qk.rank(labels, scores)) == "Ranking(shape=(5,), torch)"
