"""Shares of a row, a column or all of a confusion table."""

from __future__ import annotations

from quotakernels._array import Array
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import ConfusionTable
from quotakernels.measures.tables.measure import TableMeasure


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
