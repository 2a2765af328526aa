"""Rates of a confusion table, their ratios and what these say of one another."""

from __future__ import annotations

import math

from quotakernels._array import Array
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import ConfusionTable
from quotakernels.measures.tables.measure import TableMeasure
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
