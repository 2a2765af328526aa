"""Measures of confusion tables: rates, accuracy, information, agreement, impact."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from quotakernels._array import Array, Namespace, device
from quotakernels._records import plainly
from quotakernels._types import Number
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import COST, POSITIVE, checked, numbers_like
from quotakernels.measures._measure import measure
from quotakernels.measures._sums import log_and_remainder
from quotakernels.measures.tables.confusion import (
    ClassTable,
    ConfusionTable,
    TableMeasure,
    diagonal,
    largest,
    margins,
    off_diagonal,
    off_diagonal_by_chance,
    validate_cells,
    validate_class_cells,
)
from quotakernels.ops import namespace


@measure(TableMeasure, greater_is_better=True)
def precision(table: ConfusionTable) -> Array:
    """Precision: the share of positives among the selected, tp/(tp + fp).

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where nothing is selected.

    See Also
    --------
    hit_rate : the same at a quota.
    inverse_precision : that of the rejected.

    References
    ----------
    [AR] eq. 1-2.

    Examples
    --------
    >>> from quotakernels import precision
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(precision(table))
    0.75
    """
    return table.tp / (table.tp + table.fp)


@measure(TableMeasure, greater_is_better=True)
def recall(table: ConfusionTable) -> Array:
    """Recall, sensitivity, true positive rate: tp/(tp + fn).

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN without positives.

    See Also
    --------
    qrecall : the same at a quota.

    References
    ----------
    [AR] eq. 1 and 3.

    Examples
    --------
    >>> from quotakernels import recall
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(recall(table))
    0.6
    """
    return table.tp / (table.tp + table.fn)


@measure(TableMeasure, greater_is_better=False)
def false_positive_rate(table: ConfusionTable) -> Array:
    """False positive rate, fallout: fp/(fp + tn).

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        0 is best, 1 the worst; NaN without negatives.

    References
    ----------
    [AR] eq. 1 and 17.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, false_positive_rate
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(false_positive_rate(table))
    0.2
    """
    return table.fp / (table.fp + table.tn)


@measure(TableMeasure, greater_is_better=True)
def true_negative_rate(table: ConfusionTable) -> Array:
    """True negative rate, specificity, inverse recall: tn/(fp + tn).

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN without negatives.

    References
    ----------
    [AR] eq. 1.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, true_negative_rate
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(true_negative_rate(table))
    0.8
    """
    return table.tn / (table.fp + table.tn)


@measure(TableMeasure, greater_is_better=False)
def false_negative_rate(table: ConfusionTable) -> Array:
    """False negative rate, miss rate: fn/(tp + fn), which is 1 - recall.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        0 is best, 1 the worst; NaN without positives.

    Notes
    -----
    [AR] calls it α, the type 1 error, and the false positive rate β, the type 2 error; elsewhere
    the names are the other way round.

    References
    ----------
    [AR] eq. 1, 16 and 19.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, false_negative_rate
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(false_negative_rate(table))
    0.4
    """
    return table.fn / (table.tp + table.fn)


@measure(TableMeasure, greater_is_better=True)
def inverse_precision(table: ConfusionTable) -> Array:
    """Inverse precision: the share of negatives among the rejected, tn/(fn + tn).

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where nothing is rejected.

    References
    ----------
    [PW], inverse precision.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, inverse_precision
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(inverse_precision(table))
    0.6666666666666666
    """
    return table.tn / (table.fn + table.tn)


@measure(TableMeasure, greater_is_better=None)
def prevalence(table: ConfusionTable) -> Array:
    """Prevalence: the share of positives, (tp + fn)/n.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN without examples.

    References
    ----------
    [PW], prevalence.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, prevalence
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(prevalence(table))
    0.5
    """
    positive = table.tp + table.fn
    return positive / (positive + (table.fp + table.tn))


@measure(TableMeasure, greater_is_better=None)
def bias(table: ConfusionTable) -> Array:
    """Bias: the share of the selected, (tp + fp)/n.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1, NaN without examples.

    References
    ----------
    [PW], bias.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, bias
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(bias(table))
    0.4
    """
    selected = table.tp + table.fp
    return selected / (selected + (table.fn + table.tn))


DISCRIMINANT = math.sqrt(3) / math.pi
"""The deviation of the logistic distribution is π/√3."""


def _odds_ratio(table: ConfusionTable) -> Array:
    return (table.tp * table.tn) / (table.fp * table.fn)


@measure(TableMeasure, greater_is_better=True)
def positive_likelihood_ratio(table: ConfusionTable) -> Array:
    """Positive likelihood ratio, LR₊ = TPR/FPR.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        Not negative, infinite without false positives; NaN where TPR or FPR is NaN, or both are 0.

    See Also
    --------
    confusion_table_from_rates : the table that has given ratios.

    References
    ----------
    [EL] section 7.3, LR₊.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, positive_likelihood_ratio
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(positive_likelihood_ratio(table))
    3.0
    """
    positive, negative = table.tp + table.fn, table.fp + table.tn
    return (table.tp * negative) / (table.fp * positive)


@measure(TableMeasure, greater_is_better=False)
def negative_likelihood_ratio(table: ConfusionTable) -> Array:
    """Negative likelihood ratio, LR₋ = FNR/TNR.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        Not negative, infinite without true negatives; NaN where FNR or TNR is NaN, or both are 0.

    See Also
    --------
    confusion_table_from_rates : the table that has given ratios.

    References
    ----------
    [EL] section 7.3, LR₋.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, negative_likelihood_ratio
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(negative_likelihood_ratio(table))
    0.5
    """
    positive, negative = table.tp + table.fn, table.fp + table.tn
    return (table.fn * negative) / (table.tn * positive)


@measure(TableMeasure, greater_is_better=True)
def diagnostic_odds_ratio(table: ConfusionTable) -> Array:
    """Diagnostic odds ratio, DOR = tp·tn/(fp·fn) = LR₊/LR₋.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        Not negative, 1 for chance, infinite where only the denominator is 0; NaN for 0/0.

    See Also
    --------
    discriminant_power : its logarithm.

    References
    ----------
    [EL] eq. 3-4.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, diagnostic_odds_ratio
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(diagnostic_odds_ratio(table))
    6.0
    """
    return _odds_ratio(table)


@measure(TableMeasure, greater_is_better=True)
def discriminant_power(table: ConfusionTable) -> Array:
    """Discriminant power, DP = (√3/π)·log(DOR), with the natural logarithm.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        0 for chance; infinite where DOR is infinite, -infinity where DOR is 0, NaN where DOR is
        NaN.

    See Also
    --------
    diagnostic_odds_ratio : DOR.

    References
    ----------
    [EL] section 6.2.3, DP.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, discriminant_power
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(discriminant_power(table).round(4))
    0.9878
    """
    odds = _odds_ratio(table)
    return DISCRIMINANT * namespace(odds).log(odds)


# accuracy and information


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


@measure(
    TableMeasure, domains={"cost_fp": COST, "cost_fn": COST}, unit=largest, greater_is_better=False
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
    return namespace(whole).nan_unless(whole != 0, (tp + tn) / whole)


class _Contingency(NamedTuple):
    """What information is made of, in units of one example.

    Cells (..., K, K) with how many times n they exceed the product of their row's and column's
    sums; and the sums of the rows (..., K), with those of all other rows.
    """

    cells: Array
    surplus: Array
    truth: Array
    others: Array


def _cells_of_two(table: ConfusionTable) -> _Contingency:
    xp = namespace(table.tp)
    surplus = table.tp * table.tn - table.fp * table.fn
    negative, positive = table.tn + table.fp, table.fn + table.tp
    cells, signed = (
        xp.reshape(xp.stack(x, axis=-1), (*surplus.shape, 2, 2))
        for x in ((table.tn, table.fp, table.fn, table.tp), (surplus, -surplus, -surplus, surplus))
    )
    truth = xp.stack((negative, positive), axis=-1)
    return _Contingency(cells, signed, truth, xp.stack((positive, negative), axis=-1))


def _cells_of_several(table: ClassTable) -> _Contingency:
    xp = namespace(table.cells)
    cells, truth = table.cells, xp.sum(table.cells, axis=-1)
    whole = xp.sum(truth, axis=-1)[..., None]
    expected = truth[..., :, None] * xp.sum(cells, axis=-2)[..., None, :]
    return _Contingency(cells, cells * whole[..., None] - expected, truth, whole - truth)


def _information(table: _Contingency) -> Array:
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


def _entropy(table: _Contingency) -> Array:
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
    return _in_base(_information(_cells_of_several(table)), base)


def _coefficient(table: _Contingency) -> Array:
    share = _information(table) / _entropy(table)
    return namespace(share).at_most(share, 1.0)


def _coefficient_of_classes(table: ClassTable) -> Array:
    return _coefficient(_cells_of_several(table))


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
    return _in_base(_information(_cells_of_two(table)), base)


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
    return _coefficient(_cells_of_two(table))


# agreement beyond chance


def surplus(table: ConfusionTable) -> Array:
    """The determinant of the table, n² times the covariance of label and selection."""
    return table.tp * table.tn - table.fp * table.fn


def geometric_mean(a: Array, b: Array) -> Array:
    """√(a·b), also where the product leaves the range of floats.

    Both are multiplied by a power of two first if they are large or small, which changes no digit.
    """
    xp = namespace(a)
    small = math.sqrt(xp.finfo(a.dtype).smallest_normal)
    larger, one = xp.maximum(a, b), xp.ones_like(a)
    shrunk = xp.where(larger > 1 / small, small * one, one)
    factor = xp.where(larger < small, one / small, shrunk)
    return xp.sqrt((a * factor) * (b * factor)) / factor


def _informedness_of_cells(cells: Array) -> Array:
    """The mean over predictions of the edge TPR - FPR that the predicted class has.

    A class that has no label and no prediction is left out.  The edges of counts are summed
    without rounding, since those of several classes may cancel each other.
    """
    xp = namespace(cells)
    truth, predicted, whole = margins(xp, cells)
    own = diagonal(xp, cells)
    half = _half(xp, cells)
    hits = _long_quotient(xp, own, truth, half)
    false = _long_quotient(xp, predicted - own, whole[..., None] - truth, half)
    edge, rest = (x - y for x, y in zip(hits, false, strict=True))
    absent = (truth == 0) & (predicted == 0) & (whole[..., None] > 0)
    edge, rest = (xp.where(absent, xp.zeros_like(x), x) for x in (edge, rest))
    high, low = _parts(xp, edge, half)
    upper, lower = _parts(xp, predicted, 1 / half)
    products = (upper * high, upper * low + lower * high, lower * low, predicted * rest)
    found = xp.zeros_like(whole)
    for product in products:
        found = found + xp.total(product)
    return found / whole


def _half(xp: Namespace, x: Array) -> float:
    """A power of two below which a float, and its product with another, has half of its digits."""
    return 2.0**-24 if xp.finfo(x.dtype).bits == 64 else 2.0**-10


def _long_quotient(xp: Namespace, above: Array, below: Array, half: float) -> tuple[Array, Array]:
    """A quotient of counts that is at most 1, in twice the digits of a float.

    The first part is a multiple of half², so that its products with counts are exact.
    """
    first = xp.floor(above / below / half**2) * half**2
    high, low = _parts(xp, first, half)
    upper, lower = _parts(xp, below, 1 / half)
    rest = above - high * upper
    for product in (high * lower, low * upper, low * lower):
        rest = rest - product
    return first, rest / below


def _parts(xp: Namespace, x: Array, unit: float) -> tuple[Array, Array]:
    """A float as a multiple of a power of two, and the rest."""
    high = xp.floor(x / unit) * unit
    return high, x - high


def _informedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(table.cells)


def _markedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(namespace(table.cells).matrix_transpose(table.cells))


@measure(TableMeasure, greater_is_better=True, of_classes=_informedness_of_classes)
def informedness(table: ConfusionTable) -> Array:
    """Informedness, Youden's J, ΔP′: TPR - FPR.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where there are no positives or no negatives.

    Notes
    -----
    For K classes it is the sum over classes of bias·(TPR - FPR).  A class that occurs neither in
    the labels nor in the predictions is left out; NaN where one occurs in the predictions only.

    References
    ----------
    [PW], informedness, ΔP′.

    Examples
    --------
    >>> from quotakernels import informedness
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(informedness(table))
    0.4
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(informedness(three).round(4))
    0.7083
    """
    return surplus(table) / ((table.tp + table.fn) * (table.fp + table.tn))


@measure(TableMeasure, greater_is_better=True)
def weighted_relative_accuracy(table: ConfusionTable) -> Array:
    """WRAcc, the positives found beyond chance as a share of all examples.

    WRAcc = bias·(precision - prevalence) = (TP·TN - FP·FN)/n².

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -¼ to ¼, 0 for chance; NaN where there are no examples.

    See Also
    --------
    informedness : WRAcc/[prevalence·(1 - prevalence)], which does not depend on the class ratio.

    References
    ----------
    [PW], weighted relative accuracy; [Lavrač 1999].

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, weighted_relative_accuracy
    >>> print(weighted_relative_accuracy(ConfusionTable(tp=3, fp=1, fn=2, tn=4)))
    0.1
    """
    whole = (table.tp + table.fn) + (table.fp + table.tn)
    return surplus(table) / (whole * whole)


@measure(TableMeasure, greater_is_better=True, of_classes=_markedness_of_classes)
def markedness(table: ConfusionTable) -> Array:
    """Markedness, ΔP: precision + inverse precision - 1.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where nothing is selected or nothing rejected.

    Notes
    -----
    For K classes it is the sum over classes of prevalence·markedness.  That is the informedness
    with labels and predictions exchanged.

    References
    ----------
    [PW], markedness.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, markedness
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(markedness(table))
    0.4166666666666667
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(markedness(three).round(4))
    0.7083
    """
    return surplus(table) / ((table.tp + table.fp) * (table.fn + table.tn))


def _correlation_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    truth, predicted, whole = margins(xp, table.cells)
    surplus = off_diagonal_by_chance(xp, truth, predicted) - whole * off_diagonal(xp, table.cells)
    return surplus / geometric_mean(*(off_diagonal_by_chance(xp, x, x) for x in (truth, predicted)))


def _correlation_of_cells(table: ConfusionTable) -> Array:
    positive, negative = table.tp + table.fn, table.fp + table.tn
    selected, rejected = table.tp + table.fp, table.fn + table.tn
    return surplus(table) / geometric_mean(positive * negative, selected * rejected)


@measure(TableMeasure, greater_is_better=True, of_classes=_correlation_of_classes)
def matthews_corrcoef(table: ConfusionTable) -> Array:
    """Matthews correlation coefficient: the correlation of label and selection.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where either does not vary.

    Notes
    -----
    MCC = (tp·tn - fp·fn)/√((tp + fn)(fp + tn)(tp + fp)(fn + tn)) = ±√(informedness·markedness).
    For K classes it is Gorodkin's R_K, (n·Σ c_kk - Σ t_k p_k)/√((n² - Σ t_k²)(n² - Σ p_k²)) with t
    the sums of the rows and p those of the columns.  If the best value over all cuts is positive,
    that cut is on the upper ROC hull.

    References
    ----------
    [PW], correlation; [Gorodkin 2004].

    Examples
    --------
    >>> from quotakernels import matthews_corrcoef
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(matthews_corrcoef(table))
    0.408248290463863
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(matthews_corrcoef(three).round(4))
    0.7
    """
    return _correlation_of_cells(table)


def _bookmaker_correlation_of_classes(table: ClassTable) -> Array:
    """What is as small as the rounding of the sums is 0, and so has no sign."""
    xp = namespace(table.cells)
    least = _half(xp, table.cells) ** 4
    both = (_informedness_of_classes(table), _markedness_of_classes(table))
    edge, mark = (xp.where(abs(x) < least, xp.zeros_like(x), x) for x in both)
    root = geometric_mean(abs(edge), abs(mark))
    root = xp.where(edge < 0, -root, root)
    opposite = (edge > 0) & (mark < 0) | (edge < 0) & (mark > 0)
    return xp.nan_unless(~opposite, root)


@measure(TableMeasure, greater_is_better=True, of_classes=_bookmaker_correlation_of_classes)
def bookmaker_correlation(table: ConfusionTable) -> Array:
    """Bookmaker correlation: ±√(informedness·markedness), with their sign.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where one of the two is NaN, and where they have opposite
        signs, which is possible with more than two classes.

    See Also
    --------
    matthews_corrcoef : the same number for two classes; for more it is Gorodkin's R_K.

    Notes
    -----
    For counts below 2⁴⁸ both are summed without rounding, so the root of a number near 0 keeps its
    digits.  Values below 2⁻⁹⁶ count as 0.

    References
    ----------
    [PW], correlation of several classes.

    Examples
    --------
    >>> from quotakernels.tables import bookmaker_correlation, confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(bookmaker_correlation(three).round(4))
    0.7083
    """
    return _correlation_of_cells(table)


def _kappa_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    truth, predicted, whole = margins(xp, table.cells)
    chance = off_diagonal_by_chance(xp, truth, predicted)
    return (chance - whole * off_diagonal(xp, table.cells)) / chance


@measure(TableMeasure, greater_is_better=True, of_classes=_kappa_of_classes)
def cohen_kappa(table: ConfusionTable) -> Array:
    """Cohen's κ: the agreement beyond chance, (a - e)/(1 - e), a the accuracy.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where all labels and decisions are one class.

    See Also
    --------
    scott_pi, bennett_s : other ideas of chance.

    Notes
    -----
    e = Σ t_k p_k/n², the expected agreement of independent draws with the same row sums t and
    column sums p.

    References
    ----------
    [PW], kappa.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, cohen_kappa
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(cohen_kappa(table))
    0.4
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(cohen_kappa(three).round(4))
    0.6364
    """
    positive, negative = table.tp + table.fn, table.fp + table.tn
    selected, rejected = table.tp + table.fp, table.fn + table.tn
    return 2 * surplus(table) / (selected * negative + positive * rejected)


def _scott(table: ConfusionTable) -> Array:
    """With w wrong decisions, 1 - e is (2·tp + w)(2·tn + w)/(2n²)."""
    wrong = table.fp + table.fn
    chance = (2 * table.tp + wrong) * (2 * table.tn + wrong)
    return (4 * table.tp * table.tn - wrong * wrong) / chance


@measure(TableMeasure, greater_is_better=True)
def scott_pi(table: ConfusionTable) -> Array:
    """Scott's π: the agreement beyond chance, (a - e)/(1 - e), a the accuracy.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1; NaN where all labels and decisions are one class.

    See Also
    --------
    cohen_kappa, bennett_s : other ideas of chance.

    Notes
    -----
    e = q² + (1 - q)² with q the mean of prevalence and bias: chance has one distribution for both.

    References
    ----------
    [PW], kappa.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, scott_pi
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(scott_pi(table))
    0.3939393939393939
    """
    return _scott(table)


@measure(TableMeasure, greater_is_better=True)
def fleiss_kappa(table: ConfusionTable) -> Array:
    """Fleiss' κ of two raters, the labels and the selection: Scott's π.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1; NaN where `scott_pi` is NaN.

    See Also
    --------
    scott_pi : always the same number.

    Notes
    -----
    Fleiss generalised Scott's π to several raters.  For two raters who both rate all examples it is
    Scott's π.

    References
    ----------
    [Fleiss 1971].

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, fleiss_kappa
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(fleiss_kappa(table))
    0.3939393939393939
    """
    return _scott(table)


@measure(TableMeasure, greater_is_better=True)
def bennett_s(table: ConfusionTable) -> Array:
    """Bennett's S: the agreement beyond chance with e = ½, 2·accuracy - 1.

    Takes a `ConfusionTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1; NaN where there are no examples.

    See Also
    --------
    cohen_kappa, scott_pi : other ideas of chance.

    References
    ----------
    [Bennett 1954].

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, bennett_s
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(bennett_s(table))
    0.4
    """
    right, wrong = table.tp + table.tn, table.fp + table.fn
    return (right - wrong) / (right + wrong)


# impact


T = TypeVar("T", ConfusionTable, ClassTable)


def tuned(table: ConfusionTable, ratio: Any) -> ConfusionTable:
    """The cells with masses of the two classes of this ratio, which add up to 1."""
    xp = namespace(table.tp)

    def share(cell: Array, mass: Array, wanted: Any) -> Array:
        # The compiler of JAX takes 0/0 for 0 where it sees that the cell of a cut must be 0.
        return xp.nan_unless(mass > 0, cell / mass * wanted)

    of_positive = (table.tp + table.fn, ratio / (1 + ratio))
    of_negative = (table.fp + table.tn, 1 / (1 + ratio))
    sides = (of_positive, of_negative, of_positive, of_negative)
    return ConfusionTable(*(share(x, *side) for x, side in zip(table, sides, strict=True)))


@public
def normalize_table(table: T) -> T:
    """A confusion table in which all classes have the same mass ([EL]).

    Parameters
    ----------
    table : ConfusionTable or ClassTable
        Counts or masses: finite numbers of one shape, not negative.

    Returns
    -------
    ConfusionTable or ClassTable
        TP/(2P), FP/(2N), FN/(2P), TN/(2N) as floats; for K classes, every row divided by K times
        its sum.  The cells of an absent class are NaN.

    References
    ----------
    [EL] section 6.4, Table 4.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, normalize_table
    >>> print(*normalize_table(ConfusionTable(tp=3, fp=10, fn=1, tn=30)))
    0.375 0.125 0.125 0.375
    """
    if not isinstance(table, ClassTable):
        return tune_ratio(table, 1.0)
    xp, (cells,) = validate_class_cells(table)
    dtype = xp.result_float(device(cells))
    with xp.computing():
        truth = xp.sum(cells, axis=-1, keepdims=True)
        shares = xp.nan_unless(truth > 0, cells / truth / cells.shape[-1])
        result: ClassTable = xp.finished(ClassTable(shares), dtype)
    return result


@public
def tune_ratio(table: ConfusionTable, ratio: Number) -> ConfusionTable:
    """A confusion table tuned to another ratio of the classes, with the same rates ([EL]).

    Parameters
    ----------
    table : ConfusionTable
        Counts or masses, as `normalize_table` takes them.
    ratio : number or array
        The wanted r = P′/N′, finite and above 0; it broadcasts against the cells.

    Returns
    -------
    ConfusionTable
        Masses that add up to 1, r/(1 + r) of them positive; the cells of an absent class are NaN.

    References
    ----------
    [EL] section 7.4, where it is used.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, tune_ratio
    >>> print(*tune_ratio(ConfusionTable(tp=3, fp=10, fn=1, tn=30), 1 / 3))
    0.1875 0.1875 0.0625 0.5625
    """
    if not isinstance(table, ConfusionTable):
        raise TypeError(_no_table(table))
    xp, cells = validate_cells(table)
    dtype = xp.result_float(device(cells.tp))
    with xp.computing():
        r = numbers_like(cells.tp, "ratio", ratio)
        r = checked(xp, {"ratio": r}, {"ratio": POSITIVE})["ratio"]
        result: ConfusionTable = xp.finished(tuned(cells, r), dtype)
    return result


def _no_table(given: Any) -> str:
    if isinstance(given, ClassTable):
        return (
            "table must be a ConfusionTable, since a ratio is one of two classes; "
            "got a ClassTable: tune the tables of its by_class()"
        )
    return f"table must be a ConfusionTable; got {type(given).__name__}"


@plainly
class Impact(NamedTuple):
    """The impact per example, and its two parts.

    Attributes
    ----------
    whole : array, shape (...)
        ι_I; the sum of the parts.
    selected, rejected : array, shape (...)
        What the selected and the rejected examples bring, divided by the number of all examples.
    """

    whole: Array
    selected: Array
    rejected: Array


@plainly
class OutcomeImpact(NamedTuple):
    """The impact of one example of each output.

    Attributes
    ----------
    selected, rejected : array, shape (...)
        ι_Z and ι_Z̄: the mean over the selected and over the rejected examples.
    mean : array, shape (...)
        ι_σ, half of their sum.
    """

    selected: Array
    rejected: Array
    mean: Array


@plainly
class ClassImpact(NamedTuple):
    """An impact of K classes.

    Attributes
    ----------
    whole : array, shape (...)
        The sum of the outputs from `impact` and `total_impact`; their mean from `outcome_impact`
        and `conditional_impact`.
    outputs : array, shape (..., K)
        For each class what the examples predicted as that class bring: their part of the whole, or
        their mean.
    """

    whole: Array
    outputs: Array


def _by_outcome(table: ConfusionTable, impacts: ConfusionTable) -> tuple[Array, Array]:
    """What the selected and the rejected bring in all."""
    selected = impacts.tp * table.tp + impacts.fp * table.fp
    return selected, impacts.fn * table.fn + impacts.tn * table.tn


def _total(table: ConfusionTable, impacts: ConfusionTable) -> Impact:
    selected, rejected = _by_outcome(table, impacts)
    return Impact(selected + rejected, selected, rejected)


def impact_of(table: ConfusionTable, impacts: ConfusionTable) -> Impact:
    """What all decisions bring per example."""
    size = (table.tp + table.fp) + (table.fn + table.tn)
    return Impact(*(x / size for x in _total(table, impacts)))


def outcome_of(table: ConfusionTable, impacts: ConfusionTable) -> OutcomeImpact:
    """What one selected and one rejected example bring on average."""
    selected, rejected = _by_outcome(table, impacts)
    selected = selected / (table.tp + table.fp)
    rejected = rejected / (table.fn + table.tn)
    return OutcomeImpact(selected, rejected, (selected + rejected) / 2)


def _class_total(table: ClassTable, *, impacts: Array) -> ClassImpact:
    xp = namespace(table.cells)
    outputs = xp.sum(table.cells * impacts, axis=-2)
    return ClassImpact(xp.sum(outputs, axis=-1), outputs)


def _class_impact(table: ClassTable, *, impacts: Array) -> ClassImpact:
    xp = namespace(table.cells)
    whole, outputs = _class_total(table, impacts=impacts)
    size = xp.sum(table.cells, axis=(-2, -1))
    return ClassImpact(whole / size, outputs / size[..., None])


def _class_conditional(table: ClassTable, *, impacts: Array) -> ClassImpact:
    xp = namespace(table.cells)
    outputs = _class_total(table, impacts=impacts).outputs / xp.sum(table.cells, axis=-2)
    return ClassImpact(xp.sum(outputs, axis=-1) / outputs.shape[-1], outputs)


def _class_outcome(table: ClassTable, *, impacts: Array) -> ClassImpact:
    xp = namespace(table.cells)
    shares = table.cells / xp.sum(table.cells, axis=-1, keepdims=True)
    return _class_conditional(ClassTable(shares), impacts=impacts)


@measure(TableMeasure, greater_is_better=True, of_classes=_class_impact, headline="whole")
def impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Impact:
    """Impact of the decisions per example, in the user's unit, ι_I ([EL] eq. 5 and 12).

    ι_I = (i_tp·TP + i_fp·FP + i_fn·FN + i_tn·TN)/n; n·ι_I is what all decisions bring together.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Parameters
    ----------
    impacts : four numbers or arrays, or of shape (..., K, K)
        (i_tp, i_fp, i_fn, i_tn): what one true positive, false positive, false negative and true
        negative brings, all finite.  For a `ClassTable` row t and column p hold what one example of
        class t predicted as p brings.

    Returns
    -------
    Impact, or ClassImpact of a ClassTable
        NaN without examples.

    References
    ----------
    [EL] eq. 5 and 12.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, impact
    >>> loans = ConfusionTable(tp=80, fp=20, fn=120, tn=30)
    >>> print(*impact(loans, impacts=(50, -200, 0, 0)))
    0.0 0.0 0.0
    """
    return impact_of(table, impacts)


@measure(TableMeasure, greater_is_better=True, of_classes=_class_outcome, headline="mean")
def outcome_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> OutcomeImpact:
    """Impact of one selected and of one rejected example, classes balanced ([EL] eq. 7-9).

    ι_Z and ι_Z̄ are the means over the selected and the rejected of the normalised table, in which
    each class has half of the mass; ι_σ is half of their sum.

    Takes what `impact` takes.

    Returns
    -------
    OutcomeImpact, or ClassImpact of a ClassTable
        NaN for an output without examples, and with it the mean; all NaN where a class is absent.

    See Also
    --------
    conditional_impact : the same without normalisation.

    References
    ----------
    [EL] eq. 7-9.

    Examples
    --------
    >>> from quotakernels.tables import confusion_table_from_rates, outcome_impact
    >>> table = confusion_table_from_rates(tpr=0.67, fpr=0.05, prevalence=0.5)
    >>> print(*(x.round(3) for x in outcome_impact(table, impacts=(0, -7.9, -13, 0))))
    -0.549 -3.352 -1.95
    """
    return outcome_of(tuned(table, 1.0), impacts)


@measure(TableMeasure, greater_is_better=True, of_classes=_class_conditional, headline="mean")
def conditional_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> OutcomeImpact:
    """Impact of one selected and of one rejected example, as an end user observes it ([EL] eq. 6).

    Takes what `impact` takes.

    Returns
    -------
    OutcomeImpact, or ClassImpact of a ClassTable
        NaN for an output without examples, and then for the mean.

    See Also
    --------
    outcome_impact : the same with balanced classes.

    References
    ----------
    [EL] eq. 6.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, conditional_impact
    >>> loans = ConfusionTable(tp=80, fp=20, fn=120, tn=30)
    >>> print(*conditional_impact(loans, impacts=(50, -100, -5, 0)))
    20.0 -4.0 8.0
    """
    return outcome_of(table, impacts)


@measure(
    TableMeasure, headline="whole", greater_is_better=True, of_classes=_class_total, in_masses=True
)
def total_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Impact:
    """Impact of all decisions together, in the user's unit, n·ι_I.

    Takes what `impact` takes.

    Returns
    -------
    Impact, or ClassImpact of a ClassTable
        Totals; 0 for a table without examples, NaN at a quota of none.

    See Also
    --------
    impact : the same per example.
    impact_at_quota : the total if each example has its own gain.

    References
    ----------
    [EL] section 6.4, the total impact.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, total_impact
    >>> loans = ConfusionTable(tp=80, fp=20, fn=120, tn=30)
    >>> print(*total_impact(loans, impacts=(50, -150, -5, 0)))
    400.0 1000.0 -600.0
    """
    return _total(table, impacts)
