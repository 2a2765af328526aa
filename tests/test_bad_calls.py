"""Arguments that are missing, unknown, given twice, or make no sense together."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 0, 3, 0.25, 1, 1])
M = np.asarray([True, True, False, True, True, True, True, True])

MEASURES = [qk.hit_rate, qk.roc_auc, qk.hit_rate_curve, qk.lift_table, qk.normalized_marks]


@pytest.mark.parametrize("measure", MEASURES)
def test_calls_that_say_too_much_or_too_little(measure: Any):
    name, ranking = measure.__name__, qk.rank(Y, S)
    own = {"quota": 1} if measure is qk.hit_rate else {}
    for extra in ({"sample_weight": W}, {"where": M}, {"ties": "given"}, {"validate": True}):
        with pytest.raises(TypeError, match=f"^{next(iter(extra))} cannot be .* pass it to rank"):
            measure(ranking, **extra, **own)
    with pytest.raises(TypeError, match=r"^y_score cannot be combined with a Ranking"):
        measure(ranking, S, **own)
    with pytest.raises(TypeError, match=r"^y_(true|score) cannot be combined with a Ranking"):
        measure(Y, S, ranking=ranking, **own)
    with pytest.raises(TypeError, match=rf"^{name} got an unexpected keyword argument 'quotas'"):
        measure(Y, S, quotas=1, **own)
    for wrong in ((Y,), (), (S,)):
        with pytest.raises(TypeError, match=rf"^{name} needs y_true and y_score, or a Ranking"):
            measure(*wrong, **own)
    with pytest.raises(TypeError, match=rf"^{name} takes y_true and y_score.* by position"):
        measure(Y, S, W, **own)
    with pytest.raises(TypeError, match=rf"^{name} got y_score twice"):
        measure(Y, S, y_score=S, **own)
    with pytest.raises(TypeError, match=r"^ranking must be a Ranking; got ndarray"):
        measure(ranking=S, **own)
    for wrong in ({"y_true": None, "y_score": S}, {"y_true": Y, "y_score": None}):
        with pytest.raises(TypeError, match=r"^y_(true|score) must be an array; got None"):
            measure(**wrong, **own)
    np.testing.assert_array_equal(
        measure(ranking=ranking, **own), measure(y_score=S, y_true=Y, **own)
    )


@pytest.mark.parametrize("ties", ["nonsense", None, "Expected", ("given",)])
def test_unknown_tie_policies(ties: Any):
    message = r"^ties must be one of expected, optimistic, pessimistic, given; got "
    for call in (qk.rank, qk.roc_auc):
        with pytest.raises(ValueError, match=message):
            call(Y, S, ties=ties)
    with pytest.raises(ValueError, match=message):
        qk.Ranking.from_counts([1], [1], [1], ties=ties)


def test_pearson_knows_two_kinds_of_labels():
    message = '^labels must be "expected" or "observed"; got \'own\''
    for measure, own in ((qk.pearson, {"quota": 1}), (qk.pearson_curve, {})):
        with pytest.raises(ValueError, match=message):
            measure(Y, S, labels="own", **own)


def test_decisions_refuse_what_they_do_not_know():
    for function in (qk.select, qk.quota_threshold):
        for bad in ({"y_true": Y}, {"ties": "given"}, {"pos_label": 1}):
            with pytest.raises(TypeError, match=r"unexpected keyword argument"):
                function(S, quota=1, **bad)
        with pytest.raises(TypeError, match=r"^y_score must be an array; got None"):
            function(None, quota=1)


def test_a_ranking_where_labels_and_scores_are_needed():
    ranking, models = qk.rank(Y, S), {"a": S, "b": -S}
    calls = {
        "bootstrap needs y_score": lambda: qk.bootstrap(qk.roc_auc, ranking),
        "compare needs models": lambda: qk.compare(qk.roc_auc, y_true=ranking),
        "fold_summary needs y_score": lambda: qk.inference.fold_summary(qk.roc_auc, ranking),
        "rank needs y_score": lambda: qk.rank(ranking),
    }
    for message, call in calls.items():
        with pytest.raises(TypeError, match=f"^{message}: a Ranking has lost the order of the ex"):
            call()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y_true'"):
        qk.compare(qk.roc_auc, models=models)
    for function in (qk.dominates, qk.inference.delong_test_unpaired):  # which take two of them
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'$"):
            function(ranking)


def test_measures_and_rankings_can_be_pickled():
    ranking = qk.rank(Y, S)
    measure, again = pickle.loads(pickle.dumps((qk.roc_auc, ranking)))
    assert measure is qk.roc_auc
    assert measure(again) == qk.roc_auc(Y, S)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name == "jax32"]))
def test_a_pickled_ranking_keeps_every_bit(mode: Mode):
    counts, weights = np.asarray([2**40, 3]), np.asarray([1e200, 0.1])
    with mode.context():
        thresholds = mode.array(np.asarray([2.0, 1.0]))
        masses = {"weights": weights, "positive_weights": weights}
        ranking = qk.Ranking.from_counts(thresholds, counts, counts, **masses)
        again = pickle.loads(pickle.dumps(ranking))
    assert again.columns == ranking.columns == {}
    for before, after in zip(ranking[:5], again[:5], strict=True):
        assert after.dtype == before.dtype
        np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
    np.testing.assert_array_equal(np.asarray(again.counts), counts)
    assert type(again.thresholds) is type(thresholds)


def test_amounts_go_to_functions_from_elsewhere_too():
    """Of which nobody knows whether they take a budget, gains or treatments."""
    rng = np.random.default_rng(5)
    y, s, amount = rng.integers(0, 2, 60), rng.random(60), rng.random(60)
    cases: tuple[tuple[dict[str, Any], Any], ...] = (
        ({"cost": amount}, qk.hit_rate.with_options(budget=5)),
        ({"cost": amount, "gain": amount}, qk.budgets.gain_per_cost.with_options(budget=5)),
        ({"treatment": np.arange(60) % 2}, qk.uplift.uplift_at_quota.with_options(quota=9)),
    )
    for given, measure in cases:
        own = {"n_resamples": 9, "random_state": 1, **given}
        wanted = qk.bootstrap(measure, y, s, **own)
        found = qk.bootstrap(lambda ranking, measure=measure: measure(ranking), y, s, **own)
        np.testing.assert_allclose(found.lower, wanted.lower, rtol=1e-12)
