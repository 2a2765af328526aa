"""Selective voting: the order of the models, their mean scores and how many are the best."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import exact as ex
import numpy as np
import pytest
from expected import as_floats

import quotakernels as qk
from quotakernels.inference import measure_correlations, vote

RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, 2, 24)
SCORES = RNG.integers(0, 8, (5, 24)) / 8 + LABELS * np.arange(5)[:, None] / 8
WEIGHTS = RNG.choice([0.5, 1, 3], 24)
WHERE = RNG.random(24) < 0.8
MODELS = dict(zip("abcde", SCORES, strict=True))


def exact_votes(exact: Any, order: list[int], **beside: Any) -> list[Fraction]:
    """The measure of the mean of the first X, whose order is that of the sum."""
    sums = [sum((SCORES[k] for k in order[:x]), np.zeros(24)) for x in range(1, 6)]
    return [exact(ex.groups(LABELS.tolist(), x.tolist(), **beside)) for x in sums]


@pytest.mark.parametrize("name", ["pem", "roc_auc", "average_hit_rate"])
@pytest.mark.parametrize("given", [(), ("sample_weight",), ("where",)])
def test_order_and_votes_are_exact(name: str, given: tuple[str, ...]):
    beside = {"sample_weight": WEIGHTS, "where": WHERE}
    beside = {key: beside[key] for key in given}
    lists = {key: x.tolist() for key, x in beside.items()}
    exact = getattr(ex, name)
    single = [exact(ex.groups(LABELS.tolist(), s.tolist(), **lists)) for s in SCORES]
    order = sorted(range(5), key=lambda k: -single[k])
    votes = exact_votes(exact, order, **lists)
    found = vote(getattr(qk, name), LABELS, MODELS, **beside)
    assert found.names == tuple("abcde"[k] for k in order)
    np.testing.assert_allclose(found.single, as_floats([single[k] for k in order]), rtol=1e-14)
    np.testing.assert_allclose(found.votes, as_floats(votes), rtol=1e-14)
    assert found.voters == 1 + votes.index(max(votes))


def test_means_of_other_examples():
    found = vote(qk.pem, LABELS, MODELS, voters=3)
    order = ["abcde".index(x) for x in found.names]
    others = RNG.random((5, 7))
    means = np.cumsum(others[order], axis=0) / np.arange(1, 6)[:, None]
    for models in (dict(zip("abcde", others, strict=True)), {"z": others[0]}):
        models = {**models, **dict(zip("edcba", others[::-1], strict=True))}
        np.testing.assert_array_equal(found.means(models), means)
    np.testing.assert_array_equal(found.mean(models), means[2])
    np.testing.assert_array_equal(found.mean(models, voters=5), means[4])
    unnamed = vote(qk.pem, LABELS, SCORES)
    assert unnamed.names == tuple(str(k) for k in order)
    np.testing.assert_array_equal(unnamed.means(others), means)


def test_where_less_is_better_and_measures_of_ones_own():
    cost = vote(qk.expected_cost, LABELS, MODELS, cost_fp=1, cost_fn=3, quota=9)
    assert (np.diff(cost.single) >= 0).all()
    assert cost.votes[cost.voters - 1] == cost.votes.min()
    assert vote(qk.roc_auc, LABELS, MODELS, greater_is_better=False).names == tuple(
        reversed(vote(qk.roc_auc, LABELS, MODELS).names)
    )
    own = vote(
        lambda ranking: -qk.hit_rate(ranking, quota=6), LABELS, MODELS, greater_is_better=False
    )
    known = vote(partial(qk.hit_rate, quota=6), LABELS, MODELS)
    assert (own.names, own.voters) == (known.names, known.voters)
    np.testing.assert_array_equal(own.votes, -known.votes)


@pytest.mark.filterwarnings("ignore:only 4 groups")
def test_votes_by_means_over_groups_at_a_budget_and_by_gains():
    groups, cost = np.arange(24) % 4, np.arange(1.0, 25)
    gains = {"gain": RNG.normal(LABELS), "gain_rejected": 0.5, "quota": 6}
    for measure, given in (
        (qk.group_mean(qk.roc_auc), {"groups": groups}),
        (qk.hit_rate, {"cost": cost, "budget": 60}),
        (qk.impact_at_quota, gains),
    ):
        found = vote(measure, LABELS, MODELS, **given)
        known = qk.compare(measure, LABELS, MODELS, n_resamples=400, random_state=1, **given)
        assert dict(zip(found.names, found.single, strict=True)) == dict(
            zip(known.names, known.estimate, strict=True)
        )


def test_equal_models_keep_their_order_and_the_fewest_vote():
    found = vote(qk.pem, [1, 0, 1], {"b": [3, 1, 2], "a": [3, 1, 2], "c": [3, 1, 2]})
    assert (found.names, found.voters) == (("b", "a", "c"), 1)
    undefined = vote(qk.pem, [1, 1], [[1, 2], [2, 1]])
    assert (undefined.names, undefined.voters) == (("0", "1"), 1)
    assert np.isnan(undefined.votes).all()


@pytest.mark.full
@pytest.mark.parametrize("library", ["jax.numpy", "torch", "array_api_strict"])
def test_other_libraries(library: str):
    xp: Any = pytest.importorskip(library)
    found = vote(qk.pem, xp.asarray(LABELS), xp.asarray(SCORES))
    known = vote(qk.pem, LABELS, SCORES)
    assert (found.names, found.voters) == (known.names, known.voters)
    np.testing.assert_allclose(found.votes, known.votes, rtol=1e-6)
    means = found.means(xp.asarray(SCORES))
    assert type(means) is type(xp.asarray(SCORES))
    np.testing.assert_allclose(np.asarray(means), known.means(SCORES), rtol=1e-6)


def test_correlations_of_measures_over_models():
    """As from the exact values; what is the same for all models, but for rounding, has none."""
    measures = {
        "AHR": qk.average_hit_rate,
        "cost": partial(qk.expected_cost, cost_fp=1, cost_fn=3, quota=9),
        "same": lambda x: 0.1 + 1e-17 * qk.pem(x),
        "PEM": qk.pem,
    }
    found = measure_correlations(measures, LABELS, MODELS, sample_weight=WEIGHTS)
    assert found.names == tuple(measures)
    given = [LABELS.tolist(), SCORES[0].tolist()]
    exact = ex.average_hit_rate(ex.groups(*given, sample_weight=WEIGHTS))
    np.testing.assert_allclose(found.values[0, 0], float(exact))
    known = np.corrcoef(found.values[[0, 1, 3]])
    np.testing.assert_allclose(found.correlation[np.ix_([0, 1, 3], [0, 1, 3])], known)
    np.testing.assert_array_equal(found.correlation, found.correlation.T)
    assert np.isnan(found.correlation[2]).all()
    with pytest.raises(TypeError, match="measures must be a mapping from names to measures"):
        measure_correlations(qk.pem, LABELS, MODELS)  # type: ignore[arg-type]
