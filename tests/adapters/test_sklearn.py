"""Scorers for scikit-learn: equal to the measure of each fold, computed by hand."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from backends import in_full

import quotakernels as qk

pytest.importorskip("sklearn")

import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
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
    GroupKFold,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from quotakernels.adapters.sklearn import get_scorer, scorer

RNG = np.random.default_rng(17)
X = RNG.normal(size=(60, 2)).round(1)
CODES = (X[:, 0] + RNG.normal(size=60) > 0.3).astype(int)
KINDS = (CODES + (X[:, 1] > 0.5)).astype(int)  # three classes
WEIGHTS = RNG.integers(0, 4, 60).astype(float)
USERS = RNG.choice(["ann", "bob", "eve", "jim"], 60)
COSTS = np.random.default_rng(4).integers(1, 9, 60).astype(float)
FOLDS = StratifiedKFold(3)


def by_hand(estimator: Any, labels: Any, score_of: Any) -> list[float]:
    """`score_of` the fitted estimator and the test part of each fold."""
    found = []
    for train, test in FOLDS.split(X, labels):
        found.append(score_of(clone(estimator).fit(X[train], labels[train]), test))
    return found


@pytest.mark.parametrize("names", [(0, 1), (-1, 1), ("bad", "good"), (False, True), (7, 2)])
@pytest.mark.parametrize("estimator", [in_full(LogisticRegression()), GaussianNB()], ids=repr)
def test_either_class_is_the_positive_one(names: Any, estimator: Any):
    labels = np.asarray(names)[CODES]

    def hit_rate(fitted: Any, test: Any, place: int) -> Any:
        scores = fitted.predict_proba(X[test])[:, place]
        if isinstance(estimator, LogisticRegression):
            scores = fitted.decision_function(X[test]) * (1 if place else -1)
        return qk.hit_rate(labels[test] == sorted(names)[place], scores, fraction=0.33)

    of_each = [by_hand(estimator, labels, partial(hit_rate, place=k)) for k in (0, 1)]
    assert of_each[0] != of_each[1]
    for pos_label in (None, *names):
        scoring = scorer(qk.hit_rate, fraction=0.33, pos_label=pos_label)
        found = cross_val_score(estimator, X, labels, cv=FOLDS, scoring=scoring)
        place = 1 if pos_label is None else sorted(names).index(pos_label)
        assert found.tolist() == of_each[place]


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_equal_to_those_of_scikit_learn(name: str):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = cross_val_score(model, X, CODES, cv=FOLDS, scoring=get_scorer(name))
    np.testing.assert_allclose(found, cross_val_score(model, X, CODES, cv=FOLDS, scoring=name))


def test_options_of_measures():
    model = GaussianNB().fit(X, CODES)
    scores = model.predict_proba(X)[:, 1].round(1)
    answer = np.stack([1 - scores, scores], axis=-1)
    said = {"classes_": [0, 1], "predict_proba": lambda self, X: answer}
    rounded = type("Rounded", (), said)()
    for measure, options in (
        (qk.f_score, {"threshold": 0.5, "beta": 2}),
        (qk.qrecall, {"quota": 7.5, "ties": "pessimistic"}),
        (qk.charts.chart_area, {"kind": "lift"}),
        (qk.pr_auc, {"start": "horizontal"}),
        (qk.roc_auc, {"max_fpr": 0.2}),
    ):
        assert scorer(measure, **options)(rounded, X, CODES) == measure(CODES, scores, **options)
    cost = {"threshold": 0.5, "cost_fp": 1, "cost_fn": 5}
    found = get_scorer("expected_cost", **cost)(rounded, X, CODES)
    assert found == -qk.expected_cost(CODES, scores, **cost) < 0
    positive = scorer(qk.expected_cost, greater_is_better=True, **cost)
    assert positive(rounded, X, CODES) == -found
    of_summary = scorer(
        lambda ranking, name: getattr(qk.summary(ranking), name), greater_is_better=True, name="s1"
    )
    assert of_summary(rounded, X, CODES) == qk.summary(CODES, scores).s1


def test_the_direction_is_that_of_the_measure():
    model = GaussianNB().fit(X, CODES)
    scores = model.predict_proba(X)[:, 1]
    rate, cut = qk.tables.false_positive_rate, {"threshold": 0.5}
    for measure, options in ((rate, cut), (partial(rate, **cut), {})):
        value = rate(CODES, scores, **cut)
        assert scorer(measure, **options)(model, X, CODES) == -value < 0
        more = scorer(measure, greater_is_better=True, **options)
        assert more(model, X, CODES) == value
        assert "greater_is_better=True" in repr(more)
        assert "greater_is_better" not in repr(scorer(measure, **options))
    bias = scorer(qk.tables.bias, threshold=0.5, greater_is_better=False)
    assert bias(model, X, CODES) == -qk.tables.bias(CODES, scores, threshold=0.5)


def test_a_quota_above_the_fold_is_undefined_and_says_what_to_do():
    scoring = get_scorer("hit_rate", quota=30)
    with pytest.warns(UserWarning, match=r"from 0 to 20\.0.* fraction= is a share of each fold"):
        found = cross_val_score(GaussianNB(), X, CODES, cv=FOLDS, scoring=scoring)
    assert np.isnan(found).all()
    with pytest.raises(ValueError, match="^quota is 30"):
        cross_validate(GaussianNB(), X, CODES, cv=FOLDS, scoring=scoring, error_score="raise")


def test_a_fold_with_one_class():
    """The positive class is that of the estimator, not the larger of those in the fold."""
    order = np.argsort(CODES, kind="stable")
    model = GaussianNB().fit(X, CODES)
    first = order[:10]
    assert get_scorer("hit_rate", quota=5)(model, X[first], CODES[first]) == 0
    assert np.isnan(get_scorer("roc_auc")(model, X[first], CODES[first]))


def of_fold(measure: Any, **columns: Any) -> Any:
    """A measure of the test part of a fold with some columns, or its mean over groups."""

    def value(fitted: Any, test: Any) -> float:
        own = {name: x[test] for name, x in columns.items()}
        found = measure(qk.rank(CODES[test], fitted.predict_proba(X[test])[:, 1], **own))
        return float(getattr(found, "value", found))

    return value


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed():
    model = GaussianNB().set_fit_request(sample_weight=False)
    measure = partial(qk.hit_rate, fraction=0.25)
    wanted = by_hand(model, CODES, of_fold(measure, sample_weight=WEIGHTS))
    scoring = get_scorer("hit_rate", fraction=0.25).set_score_request(sample_weight=True)
    given = {"cv": FOLDS, "params": {"sample_weight": WEIGHTS}}
    assert cross_val_score(model, X, CODES, scoring=scoring, **given).tolist() == wanted
    assert cross_val_score(model, X, CODES, scoring=clone(scoring), **given).tolist() == wanted
    unweighted = get_scorer("hit_rate", fraction=0.25).set_score_request(sample_weight=False)
    both = {"weighted": scoring, "plain": unweighted}
    found = cross_validate(model, X, CODES, scoring=both, **given)
    assert found["test_weighted"].tolist() == wanted
    assert found["test_plain"].tolist() != wanted
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="set_score_request"):
        cross_val_score(model, X, CODES, scoring=get_scorer("gini"), **given)


@pytest.mark.parametrize("weights", [None, "examples"])
def test_the_mean_over_groups(weights: Any):
    mean = qk.group_mean(qk.hit_rate, weights=weights)
    fitted, every = GaussianNB().fit(X, CODES), np.arange(60)
    wanted = of_fold(partial(mean, quota=2), groups=USERS)(fitted, every)
    for asked in (scorer(mean, quota=2), scorer(partial(mean, quota=2))):
        assert asked(fitted, X, CODES, groups=USERS) == wanted
    plain = get_scorer("hit_rate", quota=2)(fitted, X, CODES, groups=USERS)
    assert plain == of_fold(qk.group_mean(qk.hit_rate, quota=2), groups=USERS)(fitted, every)
    loss = scorer(mean, quota=2, greater_is_better=False)
    assert loss(fitted, X, CODES, groups=USERS) == -wanted
    given = {"groups": USERS, "sample_weight": WEIGHTS}
    ranking = qk.rank(CODES, fitted.predict_proba(X)[:, 1], **given)
    assert scorer(mean, quota=2)(fitted, X, CODES, **given) == mean(ranking, quota=2).value


ROUTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "groups": (qk.group_mean(qk.roc_auc, weights="examples"), {"groups": USERS}),
    "cost": (qk.qrecall.with_options(budget=20), {"cost": COSTS}),
    "treatment": (qk.uplift.auuc, {"treatment": COSTS.astype(int) % 2}),
    "gain, cost": (
        qk.budgets.gain_per_cost.with_options(quota=9),
        {"gain": COSTS % 3, "cost": COSTS},
    ),
    "cost, groups": (qk.group_mean(qk.hit_rate, budget=5), {"cost": COSTS, "groups": USERS}),
}


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("name", ROUTED)
def test_columns_are_routed(name: str):
    """By their own names and by others, of copies too, beside scorers that ask for none."""
    measure, columns = ROUTED[name]
    wanted = by_hand(GaussianNB(), CODES, of_fold(measure, **columns))
    asking, given = scorer(measure), {"cv": FOLDS, "params": columns}
    for scoring in (asking, clone(asking), pickle.loads(pickle.dumps(asking))):
        assert cross_val_score(GaussianNB(), X, CODES, scoring=scoring, **given).tolist() == wanted
    named = scorer(measure).set_score_request(**{x: f"own_{x}" for x in columns})
    renamed = {"cv": FOLDS, "params": {f"own_{x}": column for x, column in columns.items()}}
    assert cross_val_score(GaussianNB(), X, CODES, scoring=named, **renamed).tolist() == wanted
    both = {"own": asking, "auc": get_scorer("roc_auc")}
    found = cross_validate(GaussianNB(), X, CODES, scoring=both, **given)
    assert found["test_own"].tolist() == wanted
    assert len(set(found["test_auc"])) > 1
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=FOLDS, scoring=asking)
    assert search.fit(X, CODES, **columns).best_score_ == np.mean(wanted)


@pytest.mark.usefixtures("routing")
def test_a_request_of_weights_leaves_that_of_groups_and_costs():
    gauc = qk.group_mean(qk.roc_auc, weights="examples")
    model = GaussianNB().set_fit_request(sample_weight=False)
    given = {"cv": FOLDS, "error_score": "raise"}
    params = {"sample_weight": WEIGHTS, "groups": USERS}
    both = scorer(gauc).set_score_request(sample_weight=True, groups=True)
    wanted = cross_val_score(model, X, CODES, scoring=both, params=params, **given)
    weights = scorer(gauc).set_score_request(sample_weight=True)
    found = cross_val_score(model, X, CODES, scoring=weights, params=params, **given)
    assert found.tolist() == wanted.tolist()
    assert clone(weights).get_metadata_routing().score.requests["groups"] is True
    none = scorer(gauc).set_score_request(groups=False)
    assert none.get_metadata_routing().score.requests["groups"] is False
    paid = scorer(qk.qrecall, budget=20).set_score_request(sample_weight=True)
    assert paid.get_metadata_routing().score.requests["cost"] is True


@pytest.mark.usefixtures("routing")
def test_groups_of_folds_are_no_business_of_a_scorer_that_asks_for_none():
    folds, params = GroupKFold(3), {"groups": USERS}
    given = {"cv": folds, "params": params, "error_score": "raise"}
    found = cross_val_score(GaussianNB(), X, CODES, scoring=get_scorer("roc_auc"), **given)
    for (train, test), value in zip(folds.split(X, CODES, USERS), found, strict=True):
        scores = GaussianNB().fit(X[train], CODES[train]).predict_proba(X[test])[:, 1]
        assert value == qk.roc_auc(CODES[test], scores)


def test_costs_beside_all_and_of_tables():
    fitted = GaussianNB().fit(X, CODES)
    everybody = scorer(qk.lift, budget=9000, when_short="all")(fitted, X, CODES, cost=COSTS)
    assert everybody == 1
    table = scorer(qk.f_score, budget=20)(fitted, X, CODES, cost=COSTS)
    scores = fitted.predict_proba(X)[:, 1]
    assert table == qk.f_score(CODES, scores, cost=COSTS, budget=20)


class Counting(ClassifierMixin, BaseEstimator):
    """Counts how often it is asked."""

    asked = 0

    def fit(self, X: Any, y: Any) -> Counting:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        Counting.asked += 1
        return X[:, 0]


def test_scorers_of_one_dictionary_ask_once():
    scorers = {"auc": get_scorer("roc_auc"), "top": scorer(qk.hit_rate, quota=4, pos_label=0)}
    given = {"cv": FOLDS}
    apart = {
        k: cross_val_score(Counting(), X, CODES, scoring=x, **given) for k, x in scorers.items()
    }
    Counting.asked = 0
    found = cross_validate(Counting(), X, CODES, cv=FOLDS, scoring=scorers | {"sk": "roc_auc"})
    assert Counting.asked == 6  # scikit-learn's own asks for itself
    for name in scorers:
        assert found[f"test_{name}"].tolist() == apart[name].tolist()


def test_more_than_two_classes():
    model = GaussianNB().fit(X, KINDS)
    names = np.asarray(["a", "b", "c"])
    for average in ("macro", "weighted", "micro"):
        scoring = get_scorer("hit_rate", fraction=0.2, average=average)
        scores = model.predict_proba(X)
        wanted = qk.one_vs_rest(qk.hit_rate, KINDS, scores, average=average, fraction=0.2).value
        assert scoring(model, X, KINDS) == wanted
        named = cross_val_score(GaussianNB(), X, names[KINDS], cv=KFold(3), scoring=scoring)
        assert not np.isnan(named).any()
    two = get_scorer("gini", average="macro")
    assert two(model.fit(X, CODES), X, CODES) == get_scorer("gini")(model, X, CODES)


class Says(ClassifierMixin, BaseEstimator):
    """A classifier of which `decision_function` gives what it was made with."""

    def __init__(self, scores: Any):
        self.scores, self.classes_ = scores, np.asarray([0, 1])

    def decision_function(self, X: Any) -> Any:
        return self.scores


INTEGERS = [(np.uint8, 0), (np.int8, -128), (np.uint64, 0), (np.int64, 1 - 2**63), (bool, 0)]


@pytest.mark.parametrize(("dtype", "lowest"), INTEGERS)
def test_responses_of_integers_are_negated_without_wrapping(dtype: Any, lowest: int):
    model, labels = Says(np.asarray([lowest, 1, 1, lowest], dtype)), [0, 1, 1, 0]
    for pos_label in (0, 1):
        assert scorer(qk.roc_auc, pos_label=pos_label)(model, None, labels) == 1
    both = scorer(qk.roc_auc, average="macro", response_method="decision_function")
    assert both(model, None, labels) == 1


@pytest.mark.parametrize("scores", [np.asarray([-(2**63), 1]), np.asarray([2**63, 1], np.uint64)])
def test_integers_without_a_negative_are_scores(scores: Any):
    assert scorer(qk.roc_auc)(Says(scores), None, (scores == scores.max()).astype(int)) == 1


def test_decision_functions_of_pairs_are_refused():
    """Of three classes there are as many pairs as classes."""
    scoring = get_scorer("roc_auc", average="macro", response_method="decision_function")
    pairs = SVC(decision_function_shape="ovo")
    inside = make_pipeline(StandardScaler(), pairs), GridSearchCV(pairs, {"C": [1]}, cv=2)
    for model in (pairs, *inside):
        fitted = model.fit(X, KINDS)
        with pytest.raises(ValueError, match="decision_function_shape='ovr' or response_method="):
            scoring(fitted, X, KINDS)
    assert scoring(SVC().fit(X, KINDS), X, KINDS) > 0.5
    assert get_scorer("roc_auc")(pairs.fit(X, CODES), X, CODES) > 0.5


def test_copies_are_the_same():
    top = scorer(qk.hit_rate, fraction=0.2, ties="optimistic", pos_label=0)
    assert repr(top) == "scorer(hit_rate, fraction=0.2, ties='optimistic', pos_label=0)"
    model = GaussianNB().fit(X, CODES)
    search = clone(GridSearchCV(model, {}, scoring=top)).scoring
    for again in (clone(top), pickle.loads(pickle.dumps(top)), search):
        assert (repr(again), again(model, X, CODES)) == (repr(top), top(model, X, CODES))


def test_regressors_and_rankers_score_by_what_they_predict():
    model = LinearRegression().fit(X, CODES)
    wanted = qk.hit_rate(CODES, model.predict(X), quota=10)
    for labels, options in ((CODES, {}), (np.asarray(["no", "yes"])[CODES], {"pos_label": "yes"})):
        assert get_scorer("hit_rate", quota=10, **options)(model, X, labels) == wanted
    assert get_scorer("hit_rate", quota=10, response_method="predict")(model, X, CODES) == wanted
    clusters = KMeans(2, n_init=1, random_state=0).fit(X)
    kept = get_scorer("gini", response_method="predict")(clusters, X, CODES)
    assert kept == qk.gini(CODES, clusters.predict(X))
    outliers = IsolationForest(random_state=0).fit(X)
    assert get_scorer("gini")(outliers, X, CODES) == qk.gini(CODES, outliers.decision_function(X))
    grouped = scorer(qk.group_mean(qk.roc_auc))
    ids = np.arange(60) % 4
    mean = qk.group_mean(qk.roc_auc, CODES, model.predict(X), groups=ids).value
    assert grouped(model, X, CODES, groups=ids) == mean


def test_ranked_lists_need_no_quota():
    model, ids = GaussianNB().fit(X, CODES), np.arange(60) % 4
    scores = model.predict_proba(X)[:, 1]
    for options in ({}, {"fraction": 0.1}):
        found = scorer(qk.group_mean(qk.retrieval.ndcg), **options)(model, X, CODES, groups=ids)
        mean = qk.group_mean(qk.retrieval.ndcg, CODES, scores, groups=ids, **options)
        assert found == mean.value


def test_scikit_learn_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "quotakernels.adapters.sklearn")
    with pytest.raises(ImportError, match=r'needs scikit-learn \(.*pip install "quotakernels\[sk'):
        importlib.import_module("quotakernels.adapters.sklearn")


# predicted classes, and what asks a scorer for its parts

DRAW = np.random.default_rng(3)
XS = DRAW.normal(size=(300, 4))
LABELS = (XS[:, 0] + DRAW.normal(size=300) > 0.8).astype(int)
THREE = LABELS + (XS[:, 1] > 0)
MASSES = DRAW.integers(1, 5, 300)
PREDICTED = {"response_method": "predict"}
F_2 = get_scorer("f_score", beta=2, **PREDICTED)


def tuned(scoring: Any, labels: Any = LABELS, **options: Any) -> Any:
    given = {"cv": 3, "thresholds": 12} | options
    return TunedThresholdClassifierCV(GaussianNB(), scoring=scoring, **given).fit(XS, labels)


@pytest.mark.full
@pytest.mark.parametrize("names", [(0, 1), ("bad", "good"), (False, True)])
@pytest.mark.parametrize("place", [0, 1])
def test_tuned_thresholds_are_those_of_scikit_learn(names: Any, place: int):
    labels, pos_label = np.asarray(names)[LABELS], names[place]
    theirs = make_scorer(fbeta_score, beta=2, pos_label=pos_label)
    ours = scorer(qk.f_score.with_options(beta=2), pos_label=pos_label, **PREDICTED)
    given = (ours, F_2) if place else (ours,)  # by default the second class
    wanted = tuned(theirs, labels)
    for scoring in given:
        found = tuned(scoring, labels)
        assert found.best_threshold_ == wanted.best_threshold_
        assert found.best_score_ == pytest.approx(wanted.best_score_, rel=1e-12)
        assert found.predict(XS).tolist() == wanted.predict(XS).tolist()


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
    order = np.argsort(LABELS, kind="stable")
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
    found = cross_validate(GaussianNB(), XS, LABELS, scoring=ours, error_score="raise")
    wanted = cross_validate(GaussianNB(), XS, LABELS, scoring=theirs)
    for name in ("test_f", "test_p"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)
    none = type("None", (), {"classes_": [0, 1], "predict": lambda self, XS: 0 * LABELS})
    assert np.isnan(ours["p"](none(), XS, LABELS))
    strange = type("Strange", (), {"classes_": [0, 1], "predict": lambda self, XS: THREE})
    with pytest.raises(ValueError, match=r"^the prediction is 2 at position .*; expected one of"):
        ours["p"](strange(), XS, LABELS)


def test_predictions_of_several_classes():
    names = np.asarray(["a", "b", "c"])[THREE]
    kappa = get_scorer("cohen_kappa", **PREDICTED)
    found = cross_val_score(GaussianNB(), XS, names, scoring=kappa)
    wanted = cross_val_score(GaussianNB(), XS, names, scoring=make_scorer(cohen_kappa_score))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_weights_of_predictions_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True)
        pair = []
        for scoring in (get_scorer("f_score", **PREDICTED), make_scorer(f1_score)):
            scoring.set_score_request(sample_weight=True)
            tuned = TunedThresholdClassifierCV(model, scoring=scoring, cv=3, thresholds=12)
            pair.append(tuned.fit(XS, LABELS, sample_weight=MASSES).best_threshold_)
        assert pair[0] == pair[1]
        plain = TunedThresholdClassifierCV(GaussianNB(), scoring=F_2, cv=3)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            plain.fit(XS, LABELS, sample_weight=MASSES)


def test_it_is_a_scorer_as_those_of_make_scorer():
    assert isinstance(F_2, type(make_scorer(f1_score)).__mro__[1])
    assert check_scoring(GaussianNB(), F_2) is F_2
    model = GaussianNB().fit(XS, LABELS)
    assert check_scoring(GaussianNB(), {"f": F_2})(model, XS, LABELS)["f"] > 0
    assert repr(F_2) == "scorer(f_score, beta=2, response_method='predict')"
    for again in (pickle.loads(pickle.dumps(F_2)), copy.deepcopy(F_2)):
        assert (repr(again), again(model, XS, LABELS)) == (repr(F_2), F_2(model, XS, LABELS))
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=F_2).fit(XS, LABELS)
    assert search.score(XS, LABELS) == F_2(search.best_estimator_, XS, LABELS)


def test_progress_is_monitored():
    callback = pytest.importorskip("sklearn.callback", reason="of scikit-learn 1.9")
    monitor = callback.ScoringMonitor(scoring=get_scorer("roc_auc"))
    LogisticRegression().set_callbacks(monitor).fit(XS, LABELS)
    assert monitor.get_logs().data
