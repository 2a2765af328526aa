"""What the scorers of scikit-learn are: measures that ask an estimator."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNUSED

import quotakernels as qk
from quotakernels.adapters._responses import Responses, class_codes
from quotakernels.measures._facts import own_direction, title_of
from quotakernels.measures.by_group import as_mean_over_groups, mean_over_groups, needs_costs
from quotakernels.measures.tables.measure import TableMeasure

BINARY = ("decision_function", "predict_proba")
CUTS = ("threshold", "quota", "fraction", "budget")
_IN_FOLDS = {
    "quota": "fraction= is a share of each fold",
    "budget": 'with when_short="all" it then selects all',
}
"""What to do where a cut is larger than a fold."""


def of_one_group(measure: Any) -> Any:
    """The measure of which another is the mean over groups, or else itself."""
    mean = mean_over_groups(measure)
    return measure if mean is None else mean.measure


def lacks_a_cut(measure: Any, options: dict[str, Any]) -> bool:
    """Whether it is a measure of confusion tables, and nothing says at which cut."""
    given = set(options)
    measure = of_one_group(measure)
    while isinstance(measure, functools.partial):
        given |= measure.keywords.keys()
        measure = measure.func
    return isinstance(measure, TableMeasure) and given.isdisjoint(CUTS)


_REQUESTS = {"estimator": UNUSED, "groups": False, "cost": False}
"""What is asked for, of what `score` takes, where nobody says otherwise."""


def _said(owner: Any) -> dict[str, Any]:
    """What the user has said of requests: True, False, None or another name, by name."""
    said = owner._metadata_request.score.requests if hasattr(owner, "_metadata_request") else {}
    return dict(said)


def _asking(request: Any, owner: Any, needed: dict[str, Any]) -> Any:
    """A request for what is needed too, unless the user has said something of it."""
    said = _said(owner)
    for name in (x for x, alias in needed.items() if alias and said.get(x) is None):
        request.score.add_request(param=name, alias=needed[name])
    return request


class Scorer(_BaseScorer):  # type: ignore[misc]
    """What `scorer` makes: to scikit-learn, a scorer as those of ``make_scorer``."""

    __metadata_request__score = _REQUESTS

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
        self.needs_costs = bool(needs_costs(measure, **options))
        self._predicts = response_method == "predict" and lacks_a_cut(measure, options)
        self._sign = 1 if greater_is_better else -1
        self._kwargs = options if pos_label is None else options | {"pos_label": pos_label}
        by_default = BINARY if average is None else "predict_proba"
        self._response_method = by_default if response_method is None else response_method

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        cost: Any = None,
    ) -> float:
        """The measure of what a fitted estimator says of `X`, whose true classes are `y`."""
        if cost is not None and not self.needs_costs:
            raise TypeError(f"{self!r} takes no cost, as it has no budget")
        return self.of(Responses(estimator, X), y, sample_weight, groups, cost)

    __call__ = score

    def _score(self, _: Any, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """The same where several scorers stand in one dictionary.

        What they share there knows one positive class, and these may differ in it.
        """
        return self.score(estimator, X, y, **metadata)

    def of(self, responses: Responses, y: Any, sample_weight: Any, groups: Any, cost: Any) -> float:
        """The measure of responses."""
        self._check_beside(groups, cost)
        classes = responses.classes()
        codes = y if classes is None else class_codes(y, classes)
        given: Any = {"sample_weight": sample_weight, "ties": self.ties}
        try:
            if classes is None:
                given |= {"groups": groups, "cost": cost}
                value = self._of_no_class(responses, y, given)
            elif self._predicts:
                value = self._of_predictions(codes, responses.predicted(), classes, sample_weight)
            elif self.average is None:
                place = self._positive(classes)
                scores = responses.of_class(place, len(classes), self._response_method)
                given |= {"groups": groups, "cost": cost}
                value = self._of_ranking(qk.rank(codes == place, scores, **given))
            else:
                scores = responses.of_all(len(classes), self._response_method)
                given |= {"average": self.average}
                value = qk.one_vs_rest(self.measure, codes, scores, **given, **self.options).value
        except ValueError as error:
            for name, instead in _IN_FOLDS.items():
                if str(error).startswith(f"{name} is "):
                    raise ValueError(f"{error} in this fold; {instead}") from None
            raise
        return self._sign * float(value)

    def _of_no_class(self, responses: Responses, y: Any, given: dict[str, Any]) -> Any:
        """The measure of the scores that a regressor or a ranker gives."""
        if self._predicts or self.average is not None:
            raise TypeError(f"{self!r} needs a classifier; {responses.estimator!r} has no classes_")
        scores = responses.of_no_class(self.response_method)
        labels = column_or_1d(y)
        return self._of_ranking(qk.rank(labels, scores, pos_label=self.pos_label, **given))

    def _check_beside(self, groups: Any, cost: Any) -> None:
        """Raise for groups where they do not belong, and for what is needed and absent."""
        needed = {"groups": (groups, self._by_group, "the group of each example")}
        needed["cost"] = (cost, self.needs_costs, "what each example costs")
        for name, (given, needs, what) in needed.items():
            if given is None and needs:
                raise TypeError(
                    f"{self!r} needs {name}=, {what}; after "
                    "sklearn.set_config(enable_metadata_routing=True) scikit-learn passes what is "
                    "given in params= of cross_val_score, or to fit of a search"
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
                f"{self!r} needs scores, but predictions are judged here: use scorer(f_score, "
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

        A mean over groups requests them, and a budget costs, unless something else was said.
        """
        request = super(_BaseScorer, self)._get_metadata_request()
        return _asking(request, self, {x: self.request_of(x) for x in ("groups", "cost")})

    def request_of(self, name: str) -> Any:
        """What the user has said of a request, or else whether the measure needs what it is for."""
        needed = {"groups": self._by_group, "cost": self.needs_costs}
        said = _said(self).get(name)
        return needed.get(name, False) if said is None else said

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
                f"pos_label={self.pos_label!r} is not one of the classes of the estimator, "
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


class Scorers(BaseEstimator):  # type: ignore[misc]
    """What `multimetric` makes."""

    __metadata_request__score = _REQUESTS

    def __init__(self, scorers: dict[str, Scorer]):
        self.scorers = scorers

    def _get_metadata_request(self) -> Any:
        """What one of the scorers requests is requested."""
        wanted = {name: self._alias(name) for name in ("sample_weight", "groups", "cost")}
        return _asking(super()._get_metadata_request(), self, wanted)

    def _alias(self, name: str) -> Any:
        found = {x.request_of(name) for x in self.scorers.values()} - {False}
        if len(found) > 1:
            raise ValueError(
                f"the scorers of a multimetric must request {name} under one name; these do under "
                f"{', '.join(sorted(name if x is True else x for x in found))}"
            )
        return next(iter(found), False)

    def _for_each(self, name: str, value: Any) -> Any:
        """What each scorer gets: those that request it, or all, if none does."""
        asking = {key for key, x in self.scorers.items() if x.request_of(name)}
        return {key: value if key in (asking or self.scorers) else None for key in self.scorers}

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        cost: Any = None,
    ) -> dict[str, float]:
        """The measures of what a fitted estimator says of `X`; costs go to those that need some."""
        responses = Responses(estimator, X)
        weights, groups = (
            self._for_each(name, x)
            for name, x in (("sample_weight", sample_weight), ("groups", groups))
        )
        return {
            name: x.of(responses, y, weights[name], groups[name], cost if x.needs_costs else None)
            for name, x in self.scorers.items()
        }

    __call__ = score

    @property
    def _score_func(self) -> Any:
        raise AttributeError("multimetric gives several numbers, but one is needed here")

    def __repr__(self) -> str:
        return f"multimetric({', '.join(f'{name}={x!r}' for name, x in self.scorers.items())})"
