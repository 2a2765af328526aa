"""Accuracy, F-score and expected cost of a confusion table, and the information in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array
from quotakernels.inputs.numbers import COST, POSITIVE
from quotakernels.measures._measure import measure
from quotakernels.measures.over_quotas.averages import log_and_remainder
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable, diagonal, off_diagonal
from quotakernels.measures.tables.measure import TableMeasure, largest
from quotakernels.ops import namespace


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
    return xp.nan_unless(whole != 0, (tp + tn) / whole)


class _Cells(NamedTuple):
    """What information is made of, in units of one example.

    Cells (..., K, K) with how many times n they exceed the product of their row's and column's
    sums; and the sums of the rows (..., K), with those of all other rows.
    """

    cells: Array
    surplus: Array
    truth: Array
    others: Array


def _of_two(table: ConfusionTable) -> _Cells:
    xp = namespace(table.tp)
    surplus = table.tp * table.tn - table.fp * table.fn
    negative, positive = table.tn + table.fp, table.fn + table.tp
    cells, signed = (
        xp.reshape(xp.stack(x, axis=-1), (*surplus.shape, 2, 2))
        for x in (
            (table.tn, table.fp, table.fn, table.tp),
            (surplus, -surplus, -surplus, surplus),
        )
    )
    truth = xp.stack((negative, positive), axis=-1)
    return _Cells(cells, signed, truth, xp.stack((positive, negative), axis=-1))


def _of_several(table: ClassTable) -> _Cells:
    xp = namespace(table.cells)
    cells, truth = table.cells, xp.sum(table.cells, axis=-1)
    whole = xp.sum(truth, axis=-1)[..., None]
    expected = truth[..., :, None] * xp.sum(cells, axis=-2)[..., None, :]
    return _Cells(cells, cells * whole[..., None] - expected, truth, whole - truth)


def _information(table: _Cells) -> Array:
    """The sum of e·((1 + x)·log(1 + x) - x) over the cells, e expected and e·(1 + x) found.

    The terms -x add up to 0.  With them no term is negative, and nothing cancels near x = 0.
    """
    cells, surplus, truth, others = table
    xp = namespace(cells)
    predicted = xp.sum(cells, axis=-2)
    whole = (truth + others)[..., :, None]
    expected = truth[..., :, None] * predicted[..., None, :]
    base = xp.where(expected > 0, expected, xp.ones_like(expected))
    near = (surplus > -base / 2) & (surplus < base)
    little = xp.where(near, surplus, xp.zeros_like(surplus))
    remainder = log_and_remainder(xp, little / base)[1]
    close = little * (little / base - remainder) - base * remainder
    ratio = xp.where(cells > 0, cells * whole / base, xp.ones_like(base))
    far = cells * whole * xp.log(ratio) - surplus
    return xp.sum(xp.where(near, close, far) / (whole * whole), axis=(-2, -1))


def _entropy(table: _Cells) -> Array:
    """Of the labels; the logarithm of a share near 1 is that of all others."""
    xp = namespace(table.truth)
    whole = table.truth + table.others
    share, others = table.truth / whole, table.others / whole
    log = xp.log(xp.where(table.truth > 0, share, xp.ones_like(share)))
    return xp.sum(-share * xp.where(others < COMMON, xp.log1p(-others), log), axis=-1)


COMMON = 0.25
"""Share of all other classes, below which one is common."""


def _in_base(information: Array, base: Any) -> Array:
    return information if base is None else information / namespace(information).log(base)


def _information_of_classes(table: ClassTable, *, base: Any = None) -> Array:
    return _in_base(_information(_of_several(table)), base)


def _coefficient(table: _Cells) -> Array:
    share = _information(table) / _entropy(table)
    return ops.at_most(namespace(share), share, 1.0)


def _coefficient_of_classes(table: ClassTable) -> Array:
    return _coefficient(_of_several(table))


_BASE = (lambda x: POSITIVE[0](x) & (x != 1), "a base of logarithms, above 0 and not 1")


@measure(
    TableMeasure,
    greater_is_better=True,
    of_classes=_information_of_classes,
    domains={"base": _BASE},
)
def mutual_information(table: ConfusionTable, *, base: Any = None) -> Array:
    """Mutual information of labels and decisions.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Parameters
    ----------
    base : number or array, optional
        Base of the logarithm: natural by default, 2 for bits.

    Returns
    -------
    array, shape of the cells
        From 0 to the entropy of the labels; NaN where there are no examples.

    See Also
    --------
    information_coefficient : the same over the entropy of the labels.

    Notes
    -----
    The sum of c/n·log(c·n/(t·p)) over the cells c, with t and p the sums of their row and column.

    References
    ----------
    [EL] section 2, the mutual information coefficient; [PW], information.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, mutual_information
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(mutual_information(table).round(4), mutual_information(table, base=2).round(4))
    0.0863 0.1245
    """
    return _in_base(_information(_of_two(table)), base)


@measure(TableMeasure, greater_is_better=True, of_classes=_coefficient_of_classes)
def information_coefficient(table: ConfusionTable) -> Array:
    """Information coefficient: mutual information over the entropy of the labels.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where the labels do not vary.

    See Also
    --------
    mutual_information : I(labels; decisions).

    Notes
    -----
    It is 1 if the decisions determine the labels, always right or always wrong, and 0 if they are
    independent.

    References
    ----------
    [EL] section 2, where it is the mutual information coefficient.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, information_coefficient
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(information_coefficient(table).round(4))
    0.1245
    """
    return _coefficient(_of_two(table))
