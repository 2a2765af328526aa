"""Accuracy, F-scores and costs of confusion tables."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import Array, namespace
from quotakernels.inputs.numbers import COST
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable, diagonal, off_diagonal
from quotakernels.measures.tables.measure import TableMeasure, largest


def _accuracy_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    right = xp.sum(diagonal(xp, table.cells), axis=-1)
    return right / (right + off_diagonal(xp, table.cells))


def _errors_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    wrong = off_diagonal(xp, table.cells)
    return wrong / (wrong + xp.sum(diagonal(xp, table.cells), axis=-1))


@measure(TableMeasure, greater_is_better=True, of_classes=_accuracy_of_classes)
def accuracy(table: ConfusionTable) -> Array:
    """Accuracy, total accuracy rate: the share of right decisions, (tp + tn)/n.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        The share of right decisions, from 0 to 1; NaN without examples.

    Notes
    -----
    For K classes it is the share of the diagonal: the mean of the recalls weighted by prevalence,
    and also the mean of the precisions weighted by bias.

    References
    ----------
    [AR] eq. 1.

    Examples
    --------
    >>> from quotakernels import accuracy
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(accuracy(table))
    0.7
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(accuracy(three).round(4))
    0.75
    """
    right = table.tp + table.tn
    return right / (right + (table.fp + table.fn))


@measure(TableMeasure, greater_is_better=False, of_classes=_errors_of_classes)
def misclassification_rate(table: ConfusionTable) -> Array:
    """Misclassification rate: the share of wrong decisions, (fp + fn)/n.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        1 - accuracy, from 0 to 1; NaN without examples.

    See Also
    --------
    expected_cost : the same with costs.

    References
    ----------
    [AR] eq. 1.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, misclassification_rate
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(misclassification_rate(table))
    0.3
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(misclassification_rate(three).round(4))
    0.25
    """
    wrong = table.fp + table.fn
    return wrong / (wrong + (table.tp + table.tn))


_BETA = (lambda x: x >= 0, "a number, not negative")


@measure(TableMeasure, greater_is_better=True, domains={"beta": _BETA})
def f_score(table: ConfusionTable, *, beta: Any = 1.0) -> Array:
    """F-score: the harmonic mean of precision and recall, with weight β² for recall.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Parameters
    ----------
    beta : number or array
        β, not negative; with 0 it is the precision, with infinity the recall.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where there are neither positives nor selected examples.

    Notes
    -----
    F_β = (1 + β²)·tp/((1 + β²)·tp + β²·fn + fp).

    References
    ----------
    [Rijsbergen 1979] chapter 7.

    Examples
    --------
    >>> from quotakernels import f_score
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(f_score(table))
    0.6666666666666666
    >>> print(f_score(table, beta=[0, 2]).round(4))
    [0.75  0.625]
    """
    square = beta * beta
    missed, wrong = table.fn / (1 + 1 / square), table.fp / (1 + square)
    return table.tp / (table.tp + missed + wrong)


@measure(TableMeasure, greater_is_better=True)
def g_measure(table: ConfusionTable) -> Array:
    """G-measure: the geometric mean of precision and recall.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where precision or recall is NaN.

    References
    ----------
    [PW], arithmetic, harmonic and geometric mean of recall and precision.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, g_measure
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(g_measure(table))
    0.6708203932499369
    """
    selected, positive = table.tp + table.fp, table.tp + table.fn
    return namespace(selected).sqrt((table.tp / selected) * (table.tp / positive))


def _larger_cost(cost_fp: Array, cost_fn: Array) -> Array:
    return largest(cost_fp, cost_fn)


@measure(
    TableMeasure,
    domains={"cost_fp": COST, "cost_fn": COST},
    unit=_larger_cost,
    greater_is_better=False,
)
def expected_cost(table: ConfusionTable, *, cost_fp: Any, cost_fn: Any) -> Array:
    """Expected cost per example of wrong decisions, (cost_fp·fp + cost_fn·fn)/n.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Parameters
    ----------
    cost_fp, cost_fn : numbers or arrays
        Costs of a false positive and of a false negative, finite and not negative.

    Returns
    -------
    array, shape of the cells
        Not negative; NaN where there are no examples.

    See Also
    --------
    best_operating_point : the cut of a ranking where it is smallest.

    References
    ----------
    [EL] section 7.4, misclassification cost.

    Examples
    --------
    >>> from quotakernels import expected_cost
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(expected_cost(table, cost_fp=1, cost_fn=5))
    1.1
    """
    wrong, right = table.fp + table.fn, table.tp + table.tn
    return (cost_fp * table.fp + cost_fn * table.fn) / (wrong + right)


@measure(TableMeasure, greater_is_better=None)
def base_ratio(table: ConfusionTable, *, impacts: Any) -> Array:
    """Base ratio: the impact of right decisions over the sum of all impacts.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Parameters
    ----------
    impacts : four numbers or arrays
        (i_tp, i_fp, i_fn, i_tn), four finite numbers.

    Returns
    -------
    array, shape of the cells
        NaN where the sum of the impacts is 0; from 0 to 1 if no impact is negative.

    Notes
    -----
    (i_tp·tp + i_tn·tn)/(i_tp·tp + i_fp·fp + i_fn·fn + i_tn·tn).  Impacts (1, 1, 1, 1) give the
    accuracy and (1 + β², 1, β², 0) the F-score.

    References
    ----------
    [EL] eq. 1.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, base_ratio
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(base_ratio(table, impacts=(1, 1, 1, 1)))  # accuracy
    0.7
    >>> print(base_ratio(table, impacts=(2, 1, 1, 0)).round(4))  # the F-score
    0.6667
    """
    tp, fp, fn, tn = (impact * x for impact, x in zip(impacts, table, strict=True))
    whole = tp + fp + fn + tn
    xp = namespace(whole)
    return ops.nan_unless(xp, whole != 0, (tp + tn) / whole)
