"""Measures as scorers of scikit-learn: for ``cross_val_score``, ``cross_validate``, searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

import quotakernels as qk
from quotakernels._elsewhere import nearest
from quotakernels.inputs.keywords import keywords_of, public, refuse_unknown, show_value
from quotakernels.measures._facts import check_value, compared, direction_of, refuse_arms, title_of
from quotakernels.measures._measure import Measure
from quotakernels.measures.by_group import mean_over_groups, needs_costs, without_options
from quotakernels.ranking import TiePolicy

try:
    from quotakernels.adapters._scorers import Scorer, Scorers, lacks_a_cut, of_one_group
except ImportError as error:
    raise ImportError(
        "quotakernels.adapters.sklearn needs scikit-learn: pip install 'quotakernels[sklearn]'"
    ) from error

__all__ = ["SCORERS", "get_scorer", "multimetric", "scorer"]

AVERAGES = ("macro", "weighted", "micro")
SMALL = ([1, 0], [1, 1], [1, 0])
"""The counts of a ranking to try options on."""
LARGE = ([1, 0], [2**40, 2**40], [2**40, 0])
"""The same, into which every quota fits."""
ANY_BUDGET: Any = {"positive_costs": [2.0**80, 0.0], "negative_costs": [0.0, 2.0**80]}
"""Its costs, for those that need some."""
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
        Tie policy, see `rank`.
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
        Called as ``scorer(estimator, X, y, sample_weight=None, groups=None, cost=None)``.  With
        metadata routing, ``set_score_request(sample_weight=True)`` makes scikit-learn pass the
        weights of the fold.  With groups, the group of each example, the score is the mean over
        those where the measure is defined; a scorer of `group_mean` requests them by itself.  A
        scorer with a `budget` requests `cost`, what each example costs, in the same way.

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
    refuse_arms(measure, "a scorer")
    qk.rank([0, 1], [0, 1], ties=ties)  # raises if that is no tie policy
    predicts = response_method == "predict" and lacks_a_cut(measure, options)
    _check_options(measure, options, predicts, ties, average, pos_label)
    costs = ANY_BUDGET if needs_costs(measure, **options) else {}
    plain, own = without_options(measure, **options)
    fits = isinstance(plain, Measure) and own.keys().isdisjoint(("quota", "budget"))
    ranking = qk.Ranking.from_counts(*(SMALL if fits else LARGE), **costs)
    tried = of_one_group(measure)(ONE_OF_EACH if predicts else ranking, **options)
    check_value(measure, tried)
    if isinstance(tried, tuple) or np.ndim(tried):
        kind = type(tried).__name__ if isinstance(tried, tuple) else "several numbers"
        name = title_of(measure)
        raise TypeError(f"a scorer gives one number; with these options {name} gives {kind}")
    better = direction_of(measure, greater_is_better)
    return Scorer(measure, options, ties, pos_label, average, response_method, better)


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
        if name := needs_costs(measure, **options):
            raise TypeError(f"{name} needs what each example costs, which average= does not take")
        _check_average(measure, average, pos_label)


def _check_average(measure: Any, average: Any, pos_label: Any) -> None:
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AVERAGES)}; got {show_value(average)}")
    if pos_label is not None:
        raise TypeError("pos_label names one class, but average= takes all classes")
    if not isinstance(measure, Measure):
        raise TypeError(
            f"average= works only with quotakernels measures; got {show_value(measure)}"
        )


def multimetric(**scorers: Scorer) -> Scorers:
    """Several scorers as one, which asks the estimator once for all of them.

    It requests the weights, groups and costs that its scorers request, and passes them to these
    alone.  What none of them requests, but `set_score_request` of the whole does, goes to all of
    them.

    Parameters
    ----------
    **scorers : Scorer
        Scorers by the names of their results.

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
            raise TypeError(f"{name} must be made by scorer or get_scorer; got {show_value(x)}")
    return Scorers(scorers)


def get_scorer(name: str, **options: Any) -> Scorer:
    """The scorer of a measure by its name; the options are those of `scorer`.

    Examples
    --------
    >>> from quotakernels.adapters.sklearn import get_scorer
    >>> get_scorer("qrecall", quota=100)
    scorer(qrecall, quota=100)
    """
    if not isinstance(name, str):
        raise TypeError(
            f"name must be a string; scorer takes a measure itself; got {show_value(name)}"
        )
    measures = _measures()
    measure = measures.get(name)
    if measure is None:
        way_out = nearest(name, list(measures)) or f"ready are {', '.join(READY)}"
        raise ValueError(f"{name!r} is not the name of a measure; {way_out}")
    refuse_unknown("get_scorer", options, keywords_of(scorer), keywords_of(measure))
    return scorer(measure, **options)


def _measures() -> dict[str, Any]:
    """The measures of the package by name."""
    modules = (qk, qk.tables, qk.charts, qk.points, qk.budgets, qk.uplift)
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
