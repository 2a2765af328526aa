"""Measures as scorers of scikit-learn: for ``cross_val_score``, ``cross_validate``, searches."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

import quotakernels as qk
from quotakernels._elsewhere import nearest
from quotakernels.adapters import requiring
from quotakernels.adapters._metrics import NEEDED
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.keywords import (
    check_choice,
    keywords_of,
    public,
    refuse_unknown,
    show_value,
)
from quotakernels.measures._facts import check_value, compared, direction_of, fact, title_of
from quotakernels.measures._measure import CUTS, Measure
from quotakernels.measures.by_group import (
    as_mean_over_groups,
    mean_over_groups,
    needed_columns,
    without_options,
)
from quotakernels.measures.tables.confusion import TableMeasure
from quotakernels.ranking import TiePolicy

with requiring("scikit-learn", "sklearn"):
    from sklearn.base import is_classifier
    from sklearn.metrics._scorer import _BaseScorer
    from sklearn.utils import column_or_1d
    from sklearn.utils.metadata_routing import UNUSED

__all__ = ["get_scorer", "scorer"]

SMALL = ([1, 0], [1, 1], [1, 0])
"""The counts of a ranking to try options on."""
LARGE = ([1, 0], [2**40, 2**40], [2**40, 0])
"""The counts of a ranking into which every quota fits."""
TRIED: dict[str, dict[str, Any]] = {
    "cost": {"positive_costs": [2.0**80, 0.0], "negative_costs": [0.0, 2.0**80]},
    "gain": {"positive_gains": [1.0, 0.0], "negative_gains": [0.0, 1.0]},
    "treatment": {"treated_positives": [1, 0], "treated_negatives": [0, 1]},
}
"""Columns of these rankings, for measures that need them."""
ONE_OF_EACH = qk.tables.ConfusionTable(1, 1, 1, 1)


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
        It must give a single number: `hit_rate`, `roc_auc`, `f_score` at a cut, …; a point such as
        `tpr_at`, whose value counts; or `group_mean` of a measure, a mean over groups of examples.
    ties : {"expected", "optimistic", "pessimistic", "given"}
        How equal scores are ordered: by the mean over all orders, with the positives first or last,
        or as in the input.
    pos_label : optional
        The positive class; by default the second of the estimator's ``classes_``.
    average : {"macro", "weighted", "micro"}, optional
        For more than two classes: how `one_vs_rest` averages the measure over them.
    response_method : str or tuple of str, optional
        The method that gives the scores: the first of these that the estimator has.  By default
        ``("decision_function", "predict_proba")``; with `average`, ``"predict_proba"``.  Of
        regressors and rankers ``("decision_function", "predict")``; their labels are 0 and 1, or
        have a `pos_label`.  With ``"predict"`` and no cut, a measure of confusion tables judges the
        predicted classes.
    greater_is_better : bool, optional
        With False the scorer gives the negative of the measure.  By default as the measure says;
        give it for functions of your own, and for measures without a direction, such as `bias`.
    **options : optional
        Options of the measure: `quota`, `fraction`, `threshold`, …

    Returns
    -------
    Scorer
        Called as ``scorer(estimator, X, y, sample_weight=None, groups=None, …)``, with the `gain`,
        `gain_rejected`, `cost` and `treatment` of each example.  With metadata routing,
        ``set_score_request(sample_weight=True)`` makes scikit-learn pass the weights of the fold.
        With groups, the group of each example, the score is the mean over those where the measure
        is defined.  The scorer itself requests what the measure needs: the groups of a
        `group_mean`, the `cost` of a `budget`, the `treatment` of `auuc`.

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
            f"measure must be a measure or a function of a ranking; got {show_value(measure)}"
        )
    measure = compared(measure)
    qk.rank([0, 1], [0, 1], ties=ties)  # raises if that is no tie policy
    predicts = response_method == "predict" and lacks_a_cut(measure, options)
    _check_options(measure, options, predicts, ties, average, pos_label)
    given: dict[str, Any] = {}
    for name in needed_columns(measure, **options):
        given |= TRIED[name]
    plain, own = without_options(measure, **options)
    fits = isinstance(plain, Measure) and own.keys().isdisjoint(("quota", "budget"))
    ranking = qk.Ranking.from_counts(*(SMALL if fits else LARGE), **given)
    tried = of_one_group(measure)(ONE_OF_EACH if predicts else ranking, **options)
    _check_number(measure, tried)
    own = {"ties": ties, "pos_label": pos_label, "average": average}
    own |= {"response_method": response_method}
    return Scorer(measure, options, own, direction_of(measure, greater_is_better))


def _check_number(measure: Any, tried: Any) -> None:
    """Raise if the result of a measure is not a single number."""
    check_value(measure, tried)
    if isinstance(tried, tuple) or np.ndim(tried):
        kind = type(tried).__name__ if isinstance(tried, tuple) else "several numbers"
        raise TypeError(
            f"a scorer gives one number; with these options {title_of(measure)} gives {kind}"
        )


def _check_options(
    measure: Any,
    options: dict[str, Any],
    predicts: bool,
    ties: str,
    average: str | None,
    pos_label: Any,
) -> None:
    """Raise for options that contradict each other or the measure."""
    if predicts:
        if mean_over_groups(measure):
            raise TypeError(f"{title_of(measure)} needs scores, but predictions are judged here")
        for name, differs in (("ties", ties != "expected"), ("average", average is not None)):
            if differs:
                raise TypeError(f"{name}= needs scores, but without a cut predictions are judged")
    elif lacks_a_cut(measure, options):
        raise TypeError(
            f"{title_of(measure)} needs quota=, fraction=, budget= or threshold=; or "
            "response_method='predict', for the classes that the estimator predicts"
        )
    if average is not None:
        for name, what in needed_columns(measure, **options).items():
            raise TypeError(f"{what} needs {NEEDED[name]}, which average= does not take")
        _check_average(measure, average, pos_label)


def _check_average(measure: Any, average: Any, pos_label: Any) -> None:
    check_choice("average", average, "macro", "weighted", "micro")
    if pos_label is not None:
        raise TypeError("pos_label names one class, but average= takes all classes")
    if not isinstance(measure, Measure):
        raise TypeError(
            f"average= works only with quotakernels measures; got {show_value(measure)}"
        )


def get_scorer(name: str, **options: Any) -> Scorer:
    """The scorer of a measure by its name; the options are those of `scorer`.

    Examples
    --------
    >>> from quotakernels.adapters.sklearn import get_scorer
    >>> get_scorer("qrecall", quota=100)
    scorer(qrecall, quota=100)
    """
    measures = _measures()
    measure = measures.get(name)
    if measure is None:
        way_out = nearest(str(name), list(measures)) or "roc_auc is one"
        raise ValueError(f"{show_value(name)} is not the name of a measure; {way_out}")
    refuse_unknown("get_scorer", options, keywords_of(scorer), keywords_of(measure))
    return scorer(measure, **options)


def _measures() -> dict[str, Any]:
    """The measures of the package by name."""
    modules = (qk, qk.tables, qk.charts, qk.points, qk.budgets, qk.uplift)
    named = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: x for name, x in named.items() if isinstance(x, Measure)}


# what a scorer is


BINARY = ("decision_function", "predict_proba")
_CUTS = ("threshold", *CUTS)
_IN_FOLDS = {
    "quota": "fraction= is a share of each fold",
    "budget": 'with when_short="all" it then selects all',
}
"""Advice if a cut is larger than a fold."""


def of_one_group(measure: Any) -> Any:
    """The measure of which another is the mean over groups, or else itself."""
    mean = mean_over_groups(measure)
    return measure if mean is None else mean.measure


def lacks_a_cut(measure: Any, options: dict[str, Any]) -> bool:
    """Whether it is a measure of confusion tables without a cut."""
    function, given = without_options(measure, **options)
    return isinstance(function, TableMeasure) and given.keys().isdisjoint(_CUTS)


_REQUESTABLE = ("groups", *COLUMNS)
_REQUESTS = {"estimator": UNUSED, **dict.fromkeys(_REQUESTABLE, False)}
"""The metadata that `score` requests by default."""


class Scorer(_BaseScorer):  # type: ignore[misc]
    """The result of `scorer`: for scikit-learn, a scorer like those of ``make_scorer``."""

    __metadata_request__score: ClassVar[dict[str, Any]] = _REQUESTS

    def __init__(
        self,
        measure: Callable[..., Any],
        options: dict[str, Any],
        own: dict[str, Any],
        greater_is_better: bool,
    ):
        self.measure, self.options, self.own = measure, options, own
        self.greater_is_better = greater_is_better
        self.ties, self.average, self.pos_label = own["ties"], own["average"], own["pos_label"]
        self.response_method = response_method = own["response_method"]
        by_group = mean_over_groups(measure) is not None
        self.needs = ("groups",) * by_group + tuple(needed_columns(measure, **options))
        self._predicts = response_method == "predict" and lacks_a_cut(measure, options)
        self._sign = 1 if greater_is_better else -1
        named = {} if self.pos_label is None else {"pos_label": self.pos_label}
        self._kwargs = options | named
        by_default = BINARY if self.average is None else "predict_proba"
        self._response_method = by_default if response_method is None else response_method

    def score(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **columns: Any
    ) -> float:
        """The measure of a fitted estimator's scores for `X`, whose true classes are `y`."""
        return self._of(Responses(estimator, X), y, sample_weight, **columns)

    __call__ = score

    def _score(self, caller: Any, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """The measure for one of several scorers in a dictionary, which share the responses.

        scikit-learn's own cache assumes one positive class, but these scorers may have several.
        """
        responses, (shared,) = Responses(estimator, X), caller.args
        if shared is not None:
            responses = shared.setdefault(Responses, responses)
        return self._of(responses, y, **metadata)

    def _of(self, responses: Responses, y: Any, sample_weight: Any = None, **columns: Any) -> float:
        """The measure of the responses of an estimator."""
        columns = {name: x for name, x in columns.items() if x is not None}
        self._check_beside(columns)
        classes = responses.classes()
        codes = y if classes is None else class_codes(y, classes)
        given: Any = {"sample_weight": sample_weight, "ties": self.ties}
        try:
            if classes is None:
                value = self._of_no_class(responses, y, given | columns)
            elif self._predicts:
                value = self._of_predictions(codes, responses.predicted(), classes, sample_weight)
            elif self.average is None:
                place = self._positive(classes)
                scores = responses.of_class(place, len(classes), self._response_method)
                value = self._of_ranking(qk.rank(codes == place, scores, **given, **columns))
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

    def _check_beside(self, columns: dict[str, Any]) -> None:
        """Raise for columns that the measure does not use, or needs and lacks."""
        refuse_unknown(repr(self), columns, _REQUESTABLE)
        for name in columns:
            if name != "groups" and name.removesuffix("_rejected") not in self.needs:
                raise TypeError(f"{self!r} takes no {name}, which its measure does not need")
        for name in self.needs:
            if name not in columns:
                raise TypeError(
                    f"{self!r} needs {name}=, {NEEDED[name]}; after "
                    "sklearn.set_config(enable_metadata_routing=True) scikit-learn passes what is "
                    "given in params= of cross_val_score, or to fit of a search"
                )
        if "groups" in columns and (self._predicts or self.average is not None):
            which = "average=" if self.average is not None else "predicted classes"
            raise TypeError(f"{self!r} takes no groups: with {which} there is no mean over them")

    def _of_ranking(self, ranking: qk.Ranking) -> Any:
        if ranking.groups:
            return as_mean_over_groups(self.measure)(ranking, **self.options).value
        return self.measure(ranking, **self.options)

    def _of_predictions(self, codes: Any, predicted: Any, classes: Any, weights: Any) -> Any:
        """The measure of the confusion table of two classes, or of more if it accepts these."""
        given: Any = {"sample_weight": weights}
        if len(classes) > 2 and self.pos_label is None:
            given["num_classes"] = len(classes)
        else:
            place = self._positive(classes)
            codes, predicted = codes == place, predicted == place
        table = qk.tables.confusion_table_from_predictions(codes, predicted, **given)
        return self.measure(table, **self.options)

    def _score_func(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None, **_: Any) -> Any:
        """The measure of predicted classes, for ``TunedThresholdClassifierCV``.

        It looks for the largest value, and NaN would pass for that.  So an undefined value counts
        as the worst.
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
        """The requests of metadata: of arguments of `score`, not of further ones of `_score_func`.

        By default those that the measure needs are requested.
        """
        request = super(_BaseScorer, self)._get_metadata_request()
        own = getattr(self, "_metadata_request", None)
        said = {} if own is None else own.score.requests
        for name in self.needs:
            if said.get(name) is None:
                request.score.add_request(param=name, alias=True)
        return request

    def __sklearn_clone__(self) -> Scorer:
        return copy.deepcopy(self)

    def _positive(self, classes: Any) -> int:
        """The position of the positive class among the classes of the estimator."""
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
        changed = {x: y for x, y in self.own.items() if y != ("expected" if x == "ties" else None)}
        if self.greater_is_better != fact(self.measure, "greater_is_better"):
            changed["greater_is_better"] = self.greater_is_better
        named = (f"{x}={value!r}" for x, value in (self.options | changed).items())
        return f"scorer({', '.join([name, *named])})"


# what fitted estimators say of examples


WITHOUT_CLASSES = ("decision_function", "predict")
"""Methods of estimators without classes that give scores."""


class Responses:
    """The responses of an estimator for some examples; each method is called once."""

    def __init__(self, estimator: Any, examples: Any):
        self.estimator, self._examples = estimator, examples
        self._known: dict[str, Any] = {}

    def classes(self) -> Any:
        """The classes of the estimator, in its order; None for a regressor or a ranker."""
        model = self.estimator
        classes = getattr(model, "classes_", None)
        if classes is None:
            if is_classifier(model):
                raise AttributeError(f"{model!r} has no classes_: is it a fitted classifier?")
            return None
        if isinstance(classes, list) and any(np.ndim(x) for x in classes):
            raise ValueError(f"{self.estimator!r} has several outputs; a scorer takes one")
        return np.asarray(classes)

    def of_all(self, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of all classes, shape (n, K)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            negative = _negated(name, scores)
            return np.stack([negative, scores.astype(negative.dtype)], axis=-1)
        if scores.shape[1:] != (number,):
            raise ValueError(
                f"{name} gives an array of shape {scores.shape} for {number} classes; "
                "name another method by response_method="
            )
        if name == "decision_function" and number > 2 and _compares_pairs(self.estimator):
            raise ValueError(
                f"{name} of {self.estimator!r} compares pairs of classes; for each class use "
                "decision_function_shape='ovr' or response_method='predict_proba'"
            )
        return scores

    def of_class(self, place: int, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of one class, shape (n,)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            return scores if place == 1 else _negated(name, scores)
        return self.of_all(number, methods)[:, place]

    def of_no_class(self, methods: str | tuple[str, ...] | None) -> Any:
        """Scores of an estimator without classes, shape (n,)."""
        name, scores = self._response(methods or WITHOUT_CLASSES)
        if methods is None and name == "predict" and scores.dtype.kind != "f":
            raise TypeError(
                f"{self.estimator!r} has no classes_ and predicts whole numbers, which may be "
                "classes; if they are scores pass response_method='predict'"
            )
        return scores

    def predicted(self) -> Any:
        """The predicted classes, as positions among those of the estimator."""
        return class_codes(self._said("predict"), self.classes(), "the prediction")

    def _said(self, name: str) -> Any:
        """The result of a method of the estimator."""
        if name not in self._known:
            self._known[name] = getattr(self.estimator, name)(self._examples)
        return self._known[name]

    def _response(self, methods: str | tuple[str, ...]) -> tuple[str, Any]:
        names = (methods,) if isinstance(methods, str) else tuple(methods)
        for name in names:
            if hasattr(self.estimator, name):
                return name, _as_numbers(name, np.asarray(self._said(name)))
        raise AttributeError(f"{self.estimator!r} has no {' and no '.join(names)}")


def _as_numbers(name: str, scores: Any) -> Any:
    """The scores, if they are numbers."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} gives values of dtype {scores.dtype}, but scores must be numbers; "
            "name another method by response_method="
        )
    return scores


def _negated(name: str, scores: Any) -> Any:
    """The scores of the other of two classes."""
    if scores.dtype.kind == "f":
        return -scores
    if scores.size and max(int(scores.max()), -int(scores.min())) >= 2**63:
        raise ValueError(
            f"{name} gives integers of size 2**63 or more, and int64 cannot hold their negatives; "
            "give floats"
        )
    return -scores.astype(np.int64)


def _compares_pairs(estimator: Any) -> bool:
    """Whether the decision function has a column for each pair of classes."""
    inside = [
        *(getattr(estimator, name, None) for name in ("best_estimator_", "estimator_")),
        *(step for _, step in getattr(estimator, "steps", [])[-1:]),
    ]
    own = getattr(estimator, "decision_function_shape", None) == "ovo"
    return own or any(_compares_pairs(x) for x in inside if x is not None)


def class_codes(y: Any, classes: Any, name: str = "y") -> Any:
    """The position of each label among the classes."""
    labels = column_or_1d(y)
    matches = labels[:, None] == classes
    known = matches.any(axis=-1)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        label = labels.tolist()[place]
        raise ValueError(
            f"{name} is {label!r} at position {place}; "
            f"expected one of the classes of the estimator, {classes.tolist()}"
        )
    return matches.argmax(axis=-1)
