"""Measures of two classes for several: each class against all others, and their average."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels._array import Array, Namespace, device, tree_map
from quotakernels._records import plainly
from quotakernels._types import TiePolicy
from quotakernels.inputs.classes import validate_classes
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.examples import Examples, check_tie_policy
from quotakernels.inputs.keywords import check_choice, forwarding, show_value
from quotakernels.inputs.numbers import in_library_of
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import GROUPS, Measure
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, rank, rank_examples, table_of

Average: TypeAlias = Literal["macro", "weighted", "micro"] | None


@plainly
class OneVsRest(NamedTuple):
    """A measure of every class against the rest, and the average.

    If a measure returns a named tuple (`Summary`, …) each field is such a tuple.

    Attributes
    ----------
    value : array, shape (..., *rest)
        The average; with ``average=None`` the same as ``per_class``.
    per_class : array, shape (..., K, *rest)
        The measure of each class, NaN where it is undefined.  With ``average="micro"`` there is
        a single problem, and the axis has the length 1.
    defined : integer array, shape of ``value``
        How many classes are defined and make up the value.
    """

    value: Any
    per_class: Any
    defined: Any


_CALL_EACH = "; call the measure with y_true == k and y_score[..., k], for each class k"
_REFUSED = {"pos_label": ", but classes", **dict.fromkeys((*GROUPS, *COLUMNS), _CALL_EACH)}


@forwarding(rank, without=_REFUSED)
def one_vs_rest(
    measure: Any,
    y_true: Any,
    y_score: Any,
    *,
    classes: Any = None,
    average: Average = "macro",
    sample_weight: Any = None,
    where: Any = None,
    ties: TiePolicy = "expected",
    validate: bool = True,
    **options: Any,
) -> OneVsRest:
    """A measure for each of K classes against the rest, and the average over the classes.

    Parameters
    ----------
    measure : measure of this library
        `roc_auc`, `average_hit_rate`, `lift`, `summary`, …
    y_true : array, shape (n,) or (..., n)
        The class of each example: 0 to K - 1, of any dtype; or labels of any kind, with `classes`.
    y_score : array, shape (..., n, K)
        Score of each example for each class.  Each class is ranked by its own column, so the
        columns need not be probabilities or add up to 1.  Logits rank the examples of a class
        differently from their softmax, which divides each row by another number.
    classes : sequence of K labels, optional
        The labels of the classes, in the order of the columns of `y_score`.
    average : {"macro", "weighted", "micro"} or None
        "macro" is the mean over the classes where the measure is defined, "weighted" the same
        weighted by their prevalence.  "micro" is the measure of one pooled problem: all n·K scores
        in one ranking, each with the label of whether its class is the true one.  None leaves the
        classes apart.
    sample_weight, where : array, shape (n,), optional
        Weights, not negative; False for examples to leave out.
    ties, validate : optional
        The order of equal scores, and whether bad values are looked for: keywords of `rank`.
    **options
        The measure's own arguments, such as `quota` or `fraction`, the same for all classes.  With
        "micro" a quota counts the n·K pooled examples.

    Returns
    -------
    OneVsRest
        If the measure is undefined for all classes, the average is NaN and ``defined`` is 0.

    Raises
    ------
    TypeError
        A `measure` that is not a measure; `classes` that cannot be labels.
    ValueError
        A label that is none of the classes, another number of `classes` than columns, an average of
        curves.  Where values cannot be read, a bad label, score or weight makes that row of the
        batch NaN for all classes.

    Notes
    -----
    A class that does not occur has no ROC AUC, for example.  It is left out of the average and of
    ``defined``, and does not count as 0.  Prevalences are masses where there are weights.  Under
    ``ties="given"`` the pooled examples are in the order of the examples, class by class in each.
    ``normalized_marks(method="minmax")`` compares models, and needs a batch axis as it does alone.

    References
    ----------
    [Provost 2000], AUC weighted by prevalence.

    Examples
    --------
    >>> from quotakernels import hit_rate, one_vs_rest, roc_auc
    >>> y_true = ["cat", "dog", "dog", "cat"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]]
    >>> auc = one_vs_rest(roc_auc, y_true, y_score, classes=["cat", "dog", "eel"])
    >>> print(auc.per_class, auc.value, auc.defined)
    [0.875 0.75    nan] 0.8125 2
    >>> top = one_vs_rest(hit_rate, [0, 1, 1, 0], y_score, average=None, quota=[1, 2])
    >>> print(top.value)
    [[1.   0.75]
     [1.   0.5 ]
     [0.   0.  ]]
    """
    check_tie_policy(ties)
    _check_call(measure, average, options)
    examples, good = validate_classes(y_true, y_score, classes, sample_weight, where, validate)
    pooled = average == "micro"
    problems = _pooled(examples) if pooled else _by_class(examples)
    ranking = in_library_of(
        rank_examples(problems, ties, good), options.get("quota"), options.get("fraction")
    )
    results = _measured(measure, ranking, options, average)
    xp = namespace(ranking.counts)
    dtype = xp.result_float(device(ranking.counts))
    with xp.computing():
        if pooled:
            results = tree_map(lambda x: xp.expand_dims(x, axis=0), results)
        axis = examples.scores.ndim - 2
        per_class = tree_map(lambda x: _moved(xp, x, 0, axis), results)
        if average is None:
            value, defined = per_class, tree_map(lambda x: _is_defined(xp, x), per_class)
        else:
            value, defined = xp.compiled(_averages, ("average",))(results, ranking, average)
        return OneVsRest(*(xp.finished(x, dtype) for x in (value, per_class, defined)))


def _check_call(measure: Any, average: Any, own: dict[str, Any]) -> None:
    if not isinstance(measure, Measure):
        raise TypeError(
            "measure must be a measure of this library, such as roc_auc, with its parameters as "
            f"keywords; got {show_value(measure)}{_CALL_EACH if callable(measure) else ''}"
        )
    check_choice("average", average, "macro", "weighted", "micro", None)
    if "ranking" in own:
        raise TypeError("one_vs_rest takes y_true and y_score, and no Ranking")


def _measured(measure: Measure, ranking: Ranking, own: dict[str, Any], average: Any) -> Any:
    """The measure of every problem, if the average of that means something."""
    if own.get("method") == "minmax" and average != "micro" and ranking.counts.ndim == 2:
        raise ValueError('method="minmax" compares models; give scores of shape (models, n, K)')
    results = measure(ranking, **own)
    if hasattr(results, "threshold") and average is not None:  # the cuts of each class are others
        raise ValueError(f"{measure.__name__} gives cuts, which have no average; use average=None")
    return results


def _by_class(examples: Examples) -> Examples:
    """The classes first: (K, ..., n), so that the models stay the last axis of a batch."""
    xp = namespace(examples.scores)
    with xp.computing():
        return examples.map(lambda x: _moved(xp, x, -2, 0))


def _moved(xp: Namespace, x: Array, start: int, stop: int) -> Array:
    """``xp.moveaxis``, which ``torch.func.vmap`` lacks."""
    axes = list(range(x.ndim))
    axes.insert(stop, axes.pop(start))
    return xp.permute_dims(x, tuple(axes))


def _pooled(examples: Examples) -> Examples:
    """All classes in one problem, (..., n·K)."""
    xp = namespace(examples.scores)

    def joined(x: Array) -> Array:
        return xp.reshape(xp.matrix_transpose(x), (*x.shape[:-2], x.shape[-2] * x.shape[-1]))

    with xp.computing():
        return examples.map(joined)


def _is_defined(xp: Namespace, x: Array) -> Array:
    """1 for a number, 0 for NaN."""
    if not xp.of_kind(x.dtype, "real floating"):
        return xp.ones(x.shape, dtype=xp.int32, device=device(x))
    return xp.cast(~xp.isnan(x), xp.int32)


def _averages(results: Any, ranking: Ranking, average: str) -> tuple[Any, Any]:
    """Over the first axis: the averages of what is defined, and how many are."""
    xp = namespace(ranking.counts)
    mass = None
    if average == "weighted":
        mass = Totals(xp, table_of(xp, ranking)).positive

    def averaged(x: Array) -> Array:
        there, x = xp.wide(_is_defined(xp, x)), xp.wide(x)
        weight = there
        if mass is not None:
            shape = (*mass.shape, *(1 for _ in x.shape[mass.ndim :]))
            weight = there * xp.reshape(mass, shape)
        defined = xp.where(there > 0, x, xp.zeros_like(x))
        return xp.sum(weight * defined, axis=0) / xp.sum(weight, axis=0)

    counted = tree_map(lambda x: xp.sum(_is_defined(xp, x), axis=0), results)
    return tree_map(averaged, results), counted
