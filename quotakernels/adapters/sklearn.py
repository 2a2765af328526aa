"""Measures as scorers of scikit-learn: for ``cross_val_score``, ``cross_validate``, searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

import quotakernels as qk
from quotakernels.ranking import TiePolicy

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import column_or_1d
    from sklearn.utils.metadata_routing import UNUSED
except ImportError as error:
    raise ImportError(
        "quotakernels.adapters.sklearn needs scikit-learn: pip install 'quotakernels[sklearn]'"
    ) from error

__all__ = ["SCORERS", "get_scorer", "scorer", "together"]

LOSSES = (
    *("expected_cost", "misclassification_rate", "false_positive_rate", "false_negative_rate"),
    "negative_likelihood_ratio",
)
"""Measures of which less is better; scikit-learn maximizes, so it is given their negative."""
AVERAGES = ("macro", "weighted", "micro")
BINARY = ("decision_function", "predict_proba")
LARGE = qk.Ranking.from_counts([1, 0], [2**40, 2**40], [2**40, 0])
"""A ranking into which every quota fits, to try options on."""


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
        One that gives a single number: `hit_rate`, `roc_auc`, `f_score` at a cut, …
    ties : {"expected", "optimistic", "pessimistic", "given"}
        Tie policy, see `rank`.
    pos_label : optional
        The positive class; by default the second of the estimator's ``classes_``.
    average : {"macro", "weighted", "micro"}, optional
        For more than two classes: how `one_vs_rest` averages the measure over them.
    response_method : str or tuple of str, optional
        What gives the scores: the first of these methods that the estimator has.  By default
        ``("decision_function", "predict_proba")``; with `average`, ``"predict_proba"``.
    greater_is_better : bool, optional
        With False the scorer gives the negative.  By default it does so for costs and rates of
        errors.
    **options : optional
        What the measure takes beside labels and scores: `quota`, `fraction`, `threshold`, …

    Returns
    -------
    Scorer
        Called as ``scorer(estimator, X, y, sample_weight=None)``.  With metadata routing,
        ``set_score_request(sample_weight=True)`` makes scikit-learn pass the weights of the fold.

    Raises
    ------
    TypeError, ValueError
        Options that the measure does not take or lacks; a measure that gives more than one number.

    Examples
    --------
    >>> from quotakernels import hit_rate
    >>> from quotakernels.adapters.sklearn import scorer
    >>> scorer(hit_rate, fraction=0.1)
    scorer(hit_rate, fraction=0.1)
    """
    if not callable(measure):
        raise TypeError(f"measure must be a measure or a function of a ranking; got {measure!r}")
    name = getattr(measure, "__name__", repr(measure))
    if average is not None:
        _check_average(measure, average, pos_label)
    qk.rank([0, 1], [0, 1], ties=ties)  # raises if that is no tie policy
    tried = measure(LARGE, **options)
    if isinstance(tried, tuple) or np.ndim(tried):
        kind = type(tried).__name__ if isinstance(tried, tuple) else "several numbers"
        raise TypeError(f"a scorer gives one number; with these options {name} gives {kind}")
    better = name not in LOSSES if greater_is_better is None else greater_is_better
    return Scorer(measure, options, ties, pos_label, average, response_method, better)


def _check_average(measure: Any, average: Any, pos_label: Any) -> None:
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AVERAGES)}; got {average!r}")
    if pos_label is not None:
        raise TypeError("pos_label names one class, and average= stands for all of them")
    if not isinstance(measure, type(qk.roc_auc)):
        raise TypeError(f"average= is of measures of this library; got {measure!r}")


class Scorer(BaseEstimator):  # type: ignore[misc]
    """What `scorer` makes; an estimator only in that it is cloned and requests metadata as one."""

    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        measure: Callable[..., Any],
        options: dict[str, Any],
        ties: str = "expected",
        pos_label: Any = None,
        average: str | None = None,
        response_method: str | tuple[str, ...] | None = None,
        greater_is_better: bool = True,
    ):
        self.measure = measure
        self.options = options
        self.ties = ties
        self.pos_label = pos_label
        self.average = average
        self.response_method = response_method
        self.greater_is_better = greater_is_better

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The measure of what a fitted estimator says of `X`, whose true classes are `y`."""
        return self.of(Responses(estimator, X), y, sample_weight)

    __call__ = score

    def of(self, responses: Responses, y: Any, sample_weight: Any) -> float:
        """The measure of responses."""
        classes = responses.classes()
        codes = _codes(y, classes)
        try:
            if self.average is None:
                place = self._positive(classes)
                scores = responses.of_class(place, len(classes), self.response_method or BINARY)
                given: Any = {"sample_weight": sample_weight, "ties": self.ties}
                ranking = qk.rank(codes == place, scores, **given)
                value = self.measure(ranking, **self.options)
            else:
                scores = responses.of_all(len(classes), self.response_method or "predict_proba")
                value = self._averaged(codes, scores, sample_weight)
        except ValueError as error:
            if not str(error).startswith("quota is "):
                raise
            raise ValueError(f"{error} in this fold; fraction= is a share of each fold") from None
        return float(value) if self.greater_is_better else -float(value)

    def _averaged(self, codes: Any, scores: Any, sample_weight: Any) -> Any:
        given: Any = {"sample_weight": sample_weight, "ties": self.ties, "average": self.average}
        return qk.one_vs_rest(self.measure, codes, scores, **given, **self.options).value

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

    def _accept_sample_weight(self) -> bool:
        """Asked by scikit-learn where several scorers stand in one dictionary."""
        return True

    def __repr__(self) -> str:
        name = getattr(self.measure, "__name__", repr(self.measure))
        own = {"ties": "expected", "pos_label": None, "average": None, "response_method": None}
        changed = {x: getattr(self, x) for x in own if getattr(self, x) != own[x]}
        if self.greater_is_better != (name not in LOSSES):
            changed["greater_is_better"] = self.greater_is_better
        named = (f"{x}={value!r}" for x, value in (self.options | changed).items())
        return f"scorer({', '.join([name, *named])})"


class Responses:
    """What an estimator says of some examples, asked once for each method."""

    def __init__(self, estimator: Any, X: Any):
        self.estimator, self._x = estimator, X
        self._known: dict[str, Any] = {}

    def classes(self) -> Any:
        """The classes of the estimator, in its order."""
        classes = getattr(self.estimator, "classes_", None)
        if classes is None:
            raise AttributeError(f"{self.estimator!r} has no classes_: is it a fitted classifier?")
        if isinstance(classes, list) and any(np.ndim(x) for x in classes):
            raise ValueError(f"{self.estimator!r} has several outputs; a scorer takes one")
        return np.asarray(classes)

    def of_all(self, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of all classes, shape (n, K)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            negative = _negative(name, scores)
            return np.stack([negative, scores.astype(negative.dtype)], axis=-1)
        if scores.shape[1:] != (number,):
            raise ValueError(
                f"{name} gives an array of shape {scores.shape} for {number} classes; "
                "response_method= names another"
            )
        if name == "decision_function" and number > 2 and _compares_pairs(self.estimator):
            raise ValueError(
                f"{name} of {self.estimator!r} is of pairs of classes; "
                "decision_function_shape='ovr' or response_method='predict_proba' is of each class"
            )
        return scores

    def of_class(self, place: int, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of one class, shape (n,)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            return scores if place == 1 else _negative(name, scores)
        return self.of_all(number, methods)[:, place]

    def _response(self, methods: str | tuple[str, ...]) -> tuple[str, Any]:
        names = (methods,) if isinstance(methods, str) else tuple(methods)
        for name in names:
            if hasattr(self.estimator, name):
                if name not in self._known:
                    self._known[name] = np.asarray(getattr(self.estimator, name)(self._x))
                return name, _numbers(name, self._known[name])
        raise AttributeError(f"{self.estimator!r} has no {' and no '.join(names)}")


def _numbers(name: str, scores: Any) -> Any:
    """The scores, if they are numbers."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} gives values of dtype {scores.dtype}, and scores are numbers; "
            "response_method= names another"
        )
    return scores


def _negative(name: str, scores: Any) -> Any:
    """The scores of the other one of two classes."""
    if scores.dtype.kind == "f":
        return -scores
    if scores.size and max(int(scores.max()), -int(scores.min())) >= 2**63:
        raise ValueError(
            f"{name} gives integers as far from 0 as 2**63, of which int64 does not hold the "
            "negative; give floats"
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


def _codes(y: Any, classes: Any) -> Any:
    """The place of each label among the classes."""
    labels = column_or_1d(y)
    matches = labels[:, None] == classes
    known = matches.any(axis=-1)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        label = labels.tolist()[place]
        raise ValueError(
            f"y is {label!r} at position {place}; expected one of the classes of the estimator, "
            f"{classes.tolist()}"
        )
    return matches.argmax(axis=-1)


def together(**scorers: Scorer) -> Scorers:
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
    >>> from quotakernels.adapters.sklearn import SCORERS, scorer, together
    >>> both = together(auc=SCORERS["roc_auc"], top=scorer(hit_rate, fraction=0.1))
    """
    for name, x in scorers.items():
        if not isinstance(x, Scorer):
            raise TypeError(f"{name} must be what scorer gives; got {x!r}")
    return Scorers(scorers)


class Scorers(BaseEstimator):  # type: ignore[misc]
    """What `together` makes."""

    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(self, scorers: dict[str, Scorer]):
        self.scorers = scorers

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
    ) -> dict[str, float]:
        """The measures of what a fitted estimator says of `X`."""
        responses = Responses(estimator, X)
        return {name: x.of(responses, y, sample_weight) for name, x in self.scorers.items()}

    __call__ = score

    def __repr__(self) -> str:
        return f"together({', '.join(f'{name}={x!r}' for name, x in self.scorers.items())})"


def get_scorer(name: str, **options: Any) -> Scorer:
    """The scorer of a measure by its name; the options are those of `scorer`.

    Examples
    --------
    >>> from quotakernels.adapters.sklearn import get_scorer
    >>> get_scorer("qrecall", quota=100)
    scorer(qrecall, quota=100)
    """
    measure = getattr(qk, name, None) if name in qk.__all__ else None
    if not isinstance(measure, type(qk.roc_auc)):
        raise ValueError(f"{name!r} is not the name of a measure; ready are {', '.join(READY)}")
    return scorer(measure, **options)


READY = (
    *("achievable_pr_auc", "auk", "average_hit_rate", "average_precision", "average_qrecall"),
    *("expected_average_precision", "gini", "h_measure", "pem", "pr_auc", "roc_auc"),
    "roc_hull_auc",
)
"""Measures of scores that need no options."""


class _Ready(Mapping[str, Scorer]):
    """A new scorer each time, so that no request of metadata reaches the next user."""

    def __getitem__(self, name: str) -> Scorer:
        if name not in READY:
            raise KeyError(name)
        return get_scorer(name)

    def __iter__(self) -> Iterator[str]:
        return iter(READY)

    def __len__(self) -> int:
        return len(READY)


SCORERS: Mapping[str, Scorer] = _Ready()
"""The scorers of measures that need no options, by name."""
