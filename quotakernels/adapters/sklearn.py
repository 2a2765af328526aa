"""Measures as scorers of scikit-learn: for ``cross_val_score``, ``cross_validate``, searches."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

import quotakernels as qk
from quotakernels._elsewhere import nearest
from quotakernels.inputs.keywords import brief, keywords_of, public, refuse_unknown
from quotakernels.measures._direction import (
    check_value,
    compared,
    direction_of,
    own_direction,
    title_of,
)
from quotakernels.measures._measure import Measure, refuse_arms
from quotakernels.measures.by_group import as_mean_over_groups, mean_over_groups, refuse_costs
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.ranking import TiePolicy

try:
    from sklearn.base import BaseEstimator
    from sklearn.metrics._scorer import _BaseScorer
    from sklearn.utils import column_or_1d
    from sklearn.utils.metadata_routing import UNUSED

    from quotakernels.adapters._responses import Responses, class_codes
except ImportError as error:
    raise ImportError(
        "quotakernels.adapters.sklearn needs scikit-learn: pip install 'quotakernels[sklearn]'"
    ) from error

__all__ = ["SCORERS", "get_scorer", "multimetric", "scorer"]

AVERAGES = ("macro", "weighted", "micro")
BINARY = ("decision_function", "predict_proba")
LARGE = qk.Ranking.from_counts([1, 0], [2**40, 2**40], [2**40, 0])
"""A ranking into which every quota fits, to try options on."""
ONE_OF_EACH = qk.tables.ConfusionTable(1, 1, 1, 1)
CUTS = ("threshold", "quota", "fraction")


@public
def scorer(
    measure: Callable[..., Any],
    *,
    ties: TiePolicy = "expected",
    pos_label: Any = None,
    average: Literal["macro", "weighted", "micro"] | None = None,
    response_method: str | tuple[str, ...] | None = None,
    greater_is_better: bool | None = None,
    **options: Any,
) -> Scorer:
    """A measure for scikit-learn's ``scoring=``.

    Parameters
    ----------
    measure : measure of this library, or function of a ranking
        One that gives a single number: `hit_rate`, `roc_auc`, `f_score` at a cut, …; the value of
        a point, as of `tpr_at`; or
        `group_mean` of one, a mean over groups of examples.
    ties : {"expected", "optimistic", "pessimistic", "given"}
        Tie policy, see `rank`.
    pos_label : optional
        The positive class; by default the second of the estimator's ``classes_``.
    average : {"macro", "weighted", "micro"}, optional
        For more than two classes: how `one_vs_rest` averages the measure over them.
    response_method : str or tuple of str, optional
        What gives the scores: the first of these methods that the estimator has.  By default
        ``("decision_function", "predict_proba")``; with `average`, ``"predict_proba"``.
        With ``"predict"`` and no cut, a measure of confusion tables is of the predicted classes.
    greater_is_better : bool, optional
        With False the scorer gives the negative.  By default that of the measure; to be given for
        functions of your own, and for measures that have none, such as `bias`.
    **options : optional
        What the measure takes beside labels and scores: `quota`, `fraction`, `threshold`, …

    Returns
    -------
    Scorer
        Called as ``scorer(estimator, X, y, sample_weight=None, groups=None)``.  With metadata
        routing, ``set_score_request(sample_weight=True)`` makes scikit-learn pass the weights of
        the fold.  With groups, the group of each example, the score is the mean over those where
        the measure is defined; a scorer of `group_mean` requests them by itself.

    Raises
    ------
    TypeError, ValueError
        Options that the measure does not take or lacks; a measure that gives more than one number,
        or that does not say whether more is better.

    Examples
    --------
    >>> from quotakernels import hit_rate
    >>> from quotakernels.adapters.sklearn import scorer
    >>> scorer(hit_rate, fraction=0.1)
    scorer(hit_rate, fraction=0.1)
    """
    if not callable(measure):
        raise TypeError(
            f"measure must be a measure or a function of a ranking; got {brief(measure)}"
        )
    measure = compared(measure)
    refuse_arms(measure, "a scorer")
    qk.rank([0, 1], [0, 1], ties=ties)  # raises if that is no tie policy
    predicts = response_method == "predict" and _lacks_a_cut(measure, options)
    _check_options(measure, options, predicts, ties, average, pos_label)
    tried = _of_one_group(measure)(ONE_OF_EACH if predicts else LARGE, **options)
    check_value(measure, tried)
    if isinstance(tried, tuple) or np.ndim(tried):
        kind = type(tried).__name__ if isinstance(tried, tuple) else "several numbers"
        name = title_of(measure)
        raise TypeError(f"a scorer gives one number; with these options {name} gives {kind}")
    better = direction_of(measure, greater_is_better, "greater_is_better")
    return Scorer(measure, options, ties, pos_label, average, response_method, better)


def _of_one_group(measure: Any) -> Any:
    """The measure of which another is the mean over groups, or else itself."""
    mean = mean_over_groups(measure)
    return measure if mean is None else mean.measure


def _lacks_a_cut(measure: Any, options: dict[str, Any]) -> bool:
    """Whether it is a measure of confusion tables, and nothing says at which cut."""
    given = set(options)
    measure = _of_one_group(measure)
    while isinstance(measure, functools.partial):
        given |= measure.keywords.keys()
        measure = measure.func
    return isinstance(measure, TableMeasure) and given.isdisjoint(CUTS)


def _check_options(
    measure: Any,
    options: dict[str, Any],
    predicts: bool,
    ties: str,
    average: str | None,
    pos_label: Any,
) -> None:
    """Raise for options that contradict each other or the measure."""
    refuse_costs(
        measure,
        "a scorer is given none: call the measure itself with cost=, on what cross_val_predict "
        "gives",
        **options,
    )
    if predicts:
        if mean_over_groups(measure):
            raise TypeError(f"{title_of(measure)} is of scores; predictions are judged all at once")
        for name, differs in (("ties", ties != "expected"), ("average", average is not None)):
            if differs:
                raise TypeError(f"{name}= is of scores, and without a cut predictions are judged")
    elif _lacks_a_cut(measure, options):
        raise TypeError(
            f"{title_of(measure)} needs quota=, fraction= or threshold=; or "
            "response_method='predict', for the classes that the estimator predicts"
        )
    if average is not None:
        _check_average(measure, average, pos_label)


def _check_average(measure: Any, average: Any, pos_label: Any) -> None:
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AVERAGES)}; got {brief(average)}")
    if pos_label is not None:
        raise TypeError("pos_label names one class, and average= stands for all of them")
    if not isinstance(measure, Measure):
        raise TypeError(f"average= is of measures of this library; got {brief(measure)}")


class Scorer(_BaseScorer):  # type: ignore[misc]
    """What `scorer` makes: to scikit-learn, a scorer as those of ``make_scorer``."""

    __metadata_request__score = {"estimator": UNUSED, "groups": False}  # noqa: RUF012

    def __init__(
        self,
        measure: Callable[..., Any],
        options: dict[str, Any],
        ties: str,
        pos_label: Any,
        average: str | None,
        response_method: str | tuple[str, ...] | None,
        greater_is_better: bool,
    ):
        self.measure = measure
        self.options = options
        self.ties = ties
        self.pos_label = pos_label
        self.average = average
        self.response_method = response_method
        self.greater_is_better = greater_is_better
        self._by_group = mean_over_groups(measure) is not None
        self._predicts = response_method == "predict" and _lacks_a_cut(measure, options)
        self._sign = 1 if greater_is_better else -1
        self._kwargs = options if pos_label is None else options | {"pos_label": pos_label}
        by_default = BINARY if average is None else "predict_proba"
        self._response_method = by_default if response_method is None else response_method

    def score(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> float:
        """The measure of what a fitted estimator says of `X`, whose true classes are `y`."""
        return self.of(Responses(estimator, X), y, sample_weight, groups)

    __call__ = score

    def _score(self, _: Any, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """The same where several scorers stand in one dictionary.

        What they share there knows one positive class, and these may differ in it.
        """
        return self.score(estimator, X, y, **metadata)

    def of(self, responses: Responses, y: Any, sample_weight: Any, groups: Any) -> float:
        """The measure of responses."""
        self._check_groups(groups)
        classes = responses.classes()
        codes = class_codes(y, classes)
        given: Any = {"sample_weight": sample_weight, "ties": self.ties}
        try:
            if self._predicts:
                value = self._of_predictions(codes, responses.predicted(), classes, sample_weight)
            elif self.average is None:
                place = self._positive(classes)
                scores = responses.of_class(place, len(classes), self._response_method)
                ranking = qk.rank(codes == place, scores, groups=groups, **given)
                value = self._of_ranking(ranking)
            else:
                scores = responses.of_all(len(classes), self._response_method)
                given |= {"average": self.average}
                value = qk.one_vs_rest(self.measure, codes, scores, **given, **self.options).value
        except ValueError as error:
            if not str(error).startswith("quota is "):
                raise
            raise ValueError(f"{error} in this fold; fraction= is a share of each fold") from None
        return self._sign * float(value)

    def _check_groups(self, groups: Any) -> None:
        """Raise for groups where they do not belong, and for none where they do."""
        if groups is None and self._by_group:
            raise TypeError(
                f"{self!r} needs groups=, the group of each example; with metadata routing "
                "scikit-learn passes those among params"
            )
        if groups is not None and (self._predicts or self.average is not None):
            which = "average=" if self.average is not None else "predicted classes"
            raise TypeError(f"{self!r} takes no groups: with {which} there is no mean over them")

    def _of_ranking(self, ranking: qk.Ranking) -> Any:
        if ranking.groups:
            return as_mean_over_groups(self.measure)(ranking, **self.options).value
        return self.measure(ranking, **self.options)

    def _of_predictions(self, codes: Any, predicted: Any, classes: Any, weights: Any) -> Any:
        """The measure of the table of two classes, or of more where the measure is of those too."""
        given: Any = {"sample_weight": weights}
        if len(classes) > 2 and self.pos_label is None:
            given["num_classes"] = len(classes)
        else:
            place = self._positive(classes)
            codes, predicted = codes == place, predicted == place
        table = qk.tables.confusion_table_from_predictions(codes, predicted, **given)
        return self.measure(table, **self.options)

    def _score_func(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None, **_: Any) -> Any:
        """The measure of predicted classes: what ``TunedThresholdClassifierCV`` asks for.

        That takes the largest value, for which NaN would pass.  So a cut at which the measure is
        undefined is the worst.
        """
        if not self._predicts:
            raise TypeError(
                f"{self!r} is of scores, and here predictions are judged, as by scorer(f_score, "
                "response_method='predict'); for a cut that fills a quota see quota_threshold"
            )
        truth, predicted = column_or_1d(y_true), column_or_1d(y_pred)
        positive = self._positive_among(np.unique(np.concatenate([truth, predicted])))
        table = qk.tables.confusion_table_from_predictions(
            truth == positive, predicted == positive, sample_weight=sample_weight
        )
        value = float(self.measure(table, **self.options))
        if value == value:
            return value
        if len(np.unique(truth)) == 1:
            raise ValueError(
                f"{title_of(self.measure)} is undefined in this fold, all of {truth[0]!r}; "
                "stratified folds have both classes"
            )
        return -self._sign * np.inf

    def _positive_among(self, labels: Any) -> Any:
        """The positive class of the labels that occur."""
        if self.pos_label is None and len(labels) != 2:
            raise ValueError(
                f"pos_label= must name the positive class; this fold has {labels.tolist()} only"
            )
        return labels[1] if self.pos_label is None else self.pos_label

    def _get_metadata_request(self) -> Any:
        """What `score` takes can be requested; what `_score_func` takes besides, cannot.

        A mean over groups requests them, unless something else was said.
        """
        request = super(_BaseScorer, self)._get_metadata_request()
        if self._by_group and not hasattr(self, "_metadata_request"):
            request.score.add_request(param="groups", alias=True)
        return request

    def __sklearn_clone__(self) -> Scorer:
        return copy.deepcopy(self)

    def _positive(self, classes: Any) -> int:
        """Where the positive class stands among those of the estimator."""
        if len(classes) != 2:
            hint = "; average= is for more" if len(classes) > 2 else ""
            raise ValueError(
                f"{self!r} takes an estimator of two classes{hint}; this one has {classes.tolist()}"
            )
        if self.pos_label is None:
            return 1
        places = np.flatnonzero(classes == self.pos_label)
        if len(places) == 0:
            raise ValueError(
                f"pos_label={self.pos_label!r} is none of the classes of the estimator, "
                f"{classes.tolist()}"
            )
        return int(places[0])

    def __repr__(self) -> str:
        name = getattr(self.measure, "__name__", repr(self.measure))
        own = {"ties": "expected", "pos_label": None, "average": None, "response_method": None}
        changed = {x: getattr(self, x) for x in own if getattr(self, x) != own[x]}
        if self.greater_is_better != own_direction(self.measure):
            changed["greater_is_better"] = self.greater_is_better
        named = (f"{x}={value!r}" for x, value in (self.options | changed).items())
        return f"scorer({', '.join([name, *named])})"


def multimetric(**scorers: Scorer) -> Scorers:
    """Several scorers as one, which asks the estimator once for all of them.

    Parameters
    ----------
    **scorers : Scorer
        By the names that their results are to have.

    Returns
    -------
    Scorers
        For ``cross_validate``, and for searches with ``refit=`` one of the names.

    Examples
    --------
    >>> from quotakernels import hit_rate
    >>> from quotakernels.adapters.sklearn import SCORERS, scorer, multimetric
    >>> both = multimetric(auc=SCORERS["roc_auc"], top=scorer(hit_rate, fraction=0.1))
    """
    for name, x in scorers.items():
        if not isinstance(x, Scorer):
            raise TypeError(f"{name} must be what scorer gives; got {brief(x)}")
    return Scorers(scorers)


class Scorers(BaseEstimator):  # type: ignore[misc]
    """What `multimetric` makes."""

    __metadata_request__score = {"estimator": UNUSED, "groups": False}  # noqa: RUF012

    def __init__(self, scorers: dict[str, Scorer]):
        self.scorers = scorers

    def score(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> dict[str, float]:
        """The measures of what a fitted estimator says of `X`."""
        responses = Responses(estimator, X)
        return {name: x.of(responses, y, sample_weight, groups) for name, x in self.scorers.items()}

    __call__ = score

    @property
    def _score_func(self) -> Any:
        raise AttributeError("multimetric gives several numbers, and here one is asked for")

    def __repr__(self) -> str:
        return f"multimetric({', '.join(f'{name}={x!r}' for name, x in self.scorers.items())})"


def get_scorer(name: str, **options: Any) -> Scorer:
    """The scorer of a measure by its name; the options are those of `scorer`.

    Examples
    --------
    >>> from quotakernels.adapters.sklearn import get_scorer
    >>> get_scorer("qrecall", quota=100)
    scorer(qrecall, quota=100)
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string; scorer takes a measure itself; got {brief(name)}")
    measures = _measures()
    measure = measures.get(name)
    if measure is None:
        way_out = nearest(name, list(measures)) or f"ready are {', '.join(READY)}"
        raise ValueError(f"{name!r} is not the name of a measure; {way_out}")
    refuse_unknown("get_scorer", options, keywords_of(scorer), keywords_of(measure))
    return scorer(measure, **options)


def _measures() -> dict[str, Any]:
    """The measures of the package by name."""
    modules = (qk, qk.tables, qk.charts, qk.points, qk.uplift)
    named = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: x for name, x in named.items() if isinstance(x, Measure)}


READY = (
    *("achievable_pr_auc", "auk", "average_hit_rate", "average_precision", "average_qrecall"),
    *("break_even_point", "equal_error_rate", "expected_average_precision", "gini", "h_measure"),
    *("kolmogorov_smirnov", "pem", "pr_auc", "roc_auc", "roc_hull_auc"),
)
"""Measures of scores that need no options."""


class _Ready(Mapping[str, Scorer]):
    """A new scorer each time, so that no request of metadata reaches the next user."""

    def __getitem__(self, name: str) -> Scorer:
        if name not in READY:
            known = name in _measures()
            raise KeyError(f"{name!r} needs options: get_scorer takes them" if known else name)
        return get_scorer(name)

    def __iter__(self) -> Iterator[str]:
        return iter(READY)

    def __len__(self) -> int:
        return len(READY)


SCORERS: Mapping[str, Scorer] = _Ready()
"""The scorers of measures that need no options, by name."""
