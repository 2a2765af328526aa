"""Likelihood ratios, odds ratio and discriminant power of confusion tables."""

from __future__ import annotations

import math

from quotakernels._array import Array, namespace
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import ConfusionTable
from quotakernels.measures.tables.measure import TableMeasure

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
