"""Scorers of predicted classes, and what asks a scorer for its parts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

pytest.importorskip("sklearn")

import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    check_scoring,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from quotakernels.adapters.sklearn import get_scorer, scorer

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 4))
CODES = (X[:, 0] + RNG.normal(size=300) > 0.8).astype(int)
KINDS = CODES + (X[:, 1] > 0)
WEIGHTS = RNG.integers(1, 5, 300)
PREDICTED = {"response_method": "predict"}
F_2 = get_scorer("f_score", beta=2, **PREDICTED)


def tuned(scoring: Any, labels: Any = CODES, **options: Any) -> Any:
    given = {"cv": 3, "thresholds": 12} | options
    return TunedThresholdClassifierCV(GaussianNB(), scoring=scoring, **given).fit(X, labels)


@pytest.mark.full
@pytest.mark.parametrize("names", [(0, 1), ("bad", "good"), (False, True)])
@pytest.mark.parametrize("place", [0, 1])
def test_tuned_thresholds_are_those_of_scikit_learn(names: Any, place: int):
    labels, pos_label = np.asarray(names)[CODES], names[place]
    theirs = make_scorer(fbeta_score, beta=2, pos_label=pos_label)
    ours = scorer(qk.f_score.with_options(beta=2), pos_label=pos_label, **PREDICTED)
    given = (ours, F_2) if place else (ours,)  # by default the second class
    wanted = tuned(theirs, labels)
    for scoring in given:
        found = tuned(scoring, labels)
        assert found.best_threshold_ == wanted.best_threshold_
        assert found.best_score_ == pytest.approx(wanted.best_score_, rel=1e-12)
        assert found.predict(X).tolist() == wanted.predict(X).tolist()


def test_a_cut_where_the_measure_is_undefined_is_not_chosen():
    """The lowest cut selects all, of which the correlation is 0/0; the largest number is chosen."""
    for name in ("matthews_corrcoef", "negative_likelihood_ratio"):
        found = tuned(get_scorer(name, **PREDICTED), store_cv_results=True)
        scores = found.cv_results_["scores"]
        assert scores[0] == -np.inf < found.best_score_ == max(scores) < 1
        if name == "matthews_corrcoef":
            assert found.best_threshold_ == tuned(make_scorer(matthews_corrcoef)).best_threshold_


def test_costs_are_made_small():
    costs = ({"cost_fp": 1, "cost_fn": 20}, {"cost_fp": 20, "cost_fn": 1})
    low, high = (tuned(get_scorer("expected_cost", **cost, **PREDICTED)) for cost in costs)
    assert low.best_threshold_ < 0.3 < 0.7 < high.best_threshold_
    assert -1 < low.best_score_ < 0


@pytest.mark.parametrize(
    "scoring",
    [get_scorer("roc_auc"), scorer(qk.f_score, threshold=0.5), get_scorer("lift", quota=9)],
)
def test_scorers_of_scores_refuse_predictions(scoring: Any):
    match = r"^scorer\(.*\) needs scores, .* scorer\(f_score, response_method='predict'\)"
    with pytest.raises(TypeError, match=match):
        tuned(scoring)


def test_folds_of_one_class():
    order = np.argsort(CODES, kind="stable")
    folds = [(np.arange(300), order[:50])]  # the test fold holds negatives only
    recall = get_scorer("recall", **PREDICTED)
    with pytest.raises(ValueError, match=r"^recall is undefined in this fold, all of .*0.*; strat"):
        tuned(recall, cv=folds)
    accuracy = get_scorer("accuracy", **PREDICTED)
    assert tuned(accuracy, cv=folds, thresholds=np.asarray([-1, 0])).best_score_ == 0
    nobody = {"cv": folds, "thresholds": np.asarray([2, 3])}
    with pytest.raises(ValueError, match=r"^pos_label= must name .* this fold has \[0\] only"):
        tuned(accuracy, **nobody)
    assert tuned(get_scorer("accuracy", pos_label=1, **PREDICTED), **nobody).best_score_ == 1


def test_predictions_are_scored_as_by_scikit_learn():
    theirs = {"f": make_scorer(f1_score), "p": make_scorer(precision_score, zero_division=np.nan)}
    ours = {"f": get_scorer("f_score", **PREDICTED), "p": get_scorer("precision", **PREDICTED)}
    found = cross_validate(GaussianNB(), X, CODES, scoring=ours, error_score="raise")
    wanted = cross_validate(GaussianNB(), X, CODES, scoring=theirs)
    for name in ("test_f", "test_p"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)
    none = type("None", (), {"classes_": [0, 1], "predict": lambda self, X: np.zeros(len(X), int)})
    assert np.isnan(ours["p"](none(), X, CODES))
    strange = type("Strange", (), {"classes_": [0, 1], "predict": lambda self, X: KINDS})
    with pytest.raises(ValueError, match=r"^the prediction is 2 at position .*; expected one of"):
        ours["p"](strange(), X, CODES)


def test_predictions_of_several_classes():
    names = np.asarray(["a", "b", "c"])[KINDS]
    kappa = get_scorer("cohen_kappa", **PREDICTED)
    found = cross_val_score(GaussianNB(), X, names, scoring=kappa)
    wanted = cross_val_score(GaussianNB(), X, names, scoring=make_scorer(cohen_kappa_score))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_weights_of_predictions_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True)
        pair = []
        for scoring in (get_scorer("f_score", **PREDICTED), make_scorer(f1_score)):
            scoring.set_score_request(sample_weight=True)
            tuned = TunedThresholdClassifierCV(model, scoring=scoring, cv=3, thresholds=12)
            pair.append(tuned.fit(X, CODES, sample_weight=WEIGHTS).best_threshold_)
        assert pair[0] == pair[1]
        plain = TunedThresholdClassifierCV(GaussianNB(), scoring=F_2, cv=3)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            plain.fit(X, CODES, sample_weight=WEIGHTS)


def test_it_is_a_scorer_as_those_of_make_scorer():
    assert isinstance(F_2, type(make_scorer(f1_score)).__mro__[1])
    assert check_scoring(GaussianNB(), F_2) is F_2
    assert check_scoring(GaussianNB(), {"f": F_2})(GaussianNB().fit(X, CODES), X, CODES)["f"] > 0
    assert repr(F_2) == "scorer(f_score, beta=2, response_method='predict')"
    model = GaussianNB().fit(X, CODES)
    for again in (pickle.loads(pickle.dumps(F_2)), copy.deepcopy(F_2)):
        assert (repr(again), again(model, X, CODES)) == (repr(F_2), F_2(model, X, CODES))
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=F_2).fit(X, CODES)
    assert search.score(X, CODES) == F_2(search.best_estimator_, X, CODES)


def test_progress_is_monitored():
    callback = pytest.importorskip("sklearn.callback", reason="of scikit-learn 1.9")
    monitor = callback.ScoringMonitor(scoring=get_scorer("roc_auc"))
    LogisticRegression().set_callbacks(monitor).fit(X, CODES)
    assert monitor.get_logs().data
