"""Informedness, markedness and the Matthews correlation of confusion tables."""

from __future__ import annotations

import math

from quotakernels._array import Array, namespace
from quotakernels.measures._measure import measure
from quotakernels.measures.tables._kinds import CellMeasure
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    diagonal,
    margins,
    off_diagonal,
    off_diagonal_by_chance,
)


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

    A class that has no label and no prediction is left out.
    """
    xp = namespace(cells)
    truth, predicted, whole = margins(xp, cells)
    whole = whole[..., None]
    surplus = diagonal(xp, cells) * whole - truth * predicted
    edge = predicted * (surplus / (truth * (whole - truth)))
    edge = xp.where((truth == 0) & (predicted == 0) & (whole > 0), xp.zeros_like(edge), edge)
    return xp.sum(edge, axis=-1) / whole[..., 0]


def _informedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(table.cells)


def _markedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(namespace(table.cells).matrix_transpose(table.cells))


@measure(CellMeasure, greater_is_better=True, of_classes=_informedness_of_classes)
def informedness(table: ConfusionTable) -> Array:
    """Informedness, Youden's J, ΔP′: TPR - FPR.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where there are no positives or no negatives.

    Notes
    -----
    Of K classes it is the sum over classes of bias·(TPR - FPR).  A class that occurs neither in the
    labels nor in the predictions is left out; NaN where one occurs in the predictions only.  WRAcc,
    the weighted relative accuracy, is informedness·prevalence·(1 - prevalence).

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


@measure(CellMeasure, greater_is_better=True, of_classes=_markedness_of_classes)
def markedness(table: ConfusionTable) -> Array:
    """Markedness, ΔP: precision + inverse precision - 1.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From -1 to 1, 0 for chance; NaN where nothing is selected or nothing rejected.

    Notes
    -----
    Of K classes it is the sum over classes of prevalence·markedness, which is the informedness of
    labels and predictions exchanged.

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


@measure(CellMeasure, greater_is_better=True, of_classes=_correlation_of_classes)
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
    Of K classes it is Gorodkin's R_K, (n·Σ c_kk - Σ t_k p_k)/√((n² - Σ t_k²)(n² - Σ p_k²)) with t
    the sums of the rows and p those of the columns.  It lies on the upper ROC hull where the best
    of a ranking is positive.

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
    positive, negative = table.tp + table.fn, table.fp + table.tn
    selected, rejected = table.tp + table.fp, table.fn + table.tn
    return surplus(table) / geometric_mean(positive * negative, selected * rejected)
