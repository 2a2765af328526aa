"""Measures of confusion tables of two classes and of several."""

from __future__ import annotations

from quotakernels._array import Array
from quotakernels.measures._cells import ConfusionTable
from quotakernels.measures._class_formulas import (
    accuracy_of_classes,
    correlation_of_classes,
    errors_of_classes,
    geometric_mean,
    informedness_of_classes,
    kappa_of_classes,
    markedness_of_classes,
)
from quotakernels.measures._table_measure import table_measure

__all__ = [
    "accuracy",
    "cohen_kappa",
    "informedness",
    "markedness",
    "matthews_corrcoef",
    "misclassification_rate",
    "surplus",
]


def surplus(table: ConfusionTable) -> Array:
    """The determinant of the table, n² times the covariance of label and selection."""
    return table.tp * table.tn - table.fp * table.fn


@table_measure(greater_is_better=True, of_classes=accuracy_of_classes)
def accuracy(table: ConfusionTable) -> Array:
    """Accuracy, total accuracy rate: the share of right decisions, (tp + tn)/n.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From 0 to 1; NaN where there are no examples.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    Notes
    -----
    Of K classes it is the share of the diagonal: the recalls weighted by prevalence, and also the
    precisions weighted by bias.

    References
    ----------
    AR eq. 1-3: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, accuracy
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(accuracy(table))
    0.7
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(accuracy(three).round(4))
    0.75
    """
    right = table.tp + table.tn
    return right / (right + (table.fp + table.fn))


@table_measure(greater_is_better=False, of_classes=errors_of_classes)
def misclassification_rate(table: ConfusionTable) -> Array:
    """Misclassification rate: the share of wrong decisions, (fp + fn)/n.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From 0 to 1; NaN where there are no examples.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    See Also
    --------
    expected_cost : the same with costs.

    References
    ----------
    AR eq. 1: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, misclassification_rate
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(misclassification_rate(table))
    0.3
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(misclassification_rate(three).round(4))
    0.25
    """
    wrong = table.fp + table.fn
    return wrong / (wrong + (table.tp + table.tn))


@table_measure(greater_is_better=True, of_classes=informedness_of_classes)
def informedness(table: ConfusionTable) -> Array:
    """Informedness, Youden's J, ΔP′: TPR - FPR.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 to 1, 0 for chance; NaN where there are no positives or no negatives.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    Notes
    -----
    Of K classes it is the sum over classes of bias·(TPR - FPR).  A class that occurs neither in the
    labels nor in the predictions is left out; NaN where one occurs in the predictions only.  WRAcc,
    the weighted relative accuracy, is informedness·prevalence·(1 - prevalence).

    References
    ----------
    PW: Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT, ROC
    & BIRD".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, informedness
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(informedness(table))
    0.4
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(informedness(three).round(4))
    0.7083
    """
    return surplus(table) / ((table.tp + table.fn) * (table.fp + table.tn))


@table_measure(greater_is_better=True, of_classes=markedness_of_classes)
def markedness(table: ConfusionTable) -> Array:
    """Markedness, ΔP: precision + inverse precision - 1.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 to 1, 0 for chance; NaN where nothing is selected or nothing rejected.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    Notes
    -----
    Of K classes it is the sum over classes of prevalence·markedness, which is the informedness of
    labels and predictions exchanged.

    References
    ----------
    PW: Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT, ROC
    & BIRD".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, markedness
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(markedness(table))
    0.4166666666666667
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(markedness(three).round(4))
    0.7083
    """
    return surplus(table) / ((table.tp + table.fp) * (table.fn + table.tn))


@table_measure(greater_is_better=True, of_classes=correlation_of_classes)
def matthews_corrcoef(table: ConfusionTable) -> Array:
    """Matthews correlation coefficient: the correlation of label and selection.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 to 1, 0 for chance; NaN where either does not vary.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    Notes
    -----
    MCC = (tp·tn - fp·fn)/√((tp + fn)(fp + tn)(tp + fp)(fn + tn)) = ±√(informedness·markedness).
    Of K classes it is Gorodkin's R_K, (n·Σ c_kk - Σ t_k p_k)/√((n² - Σ t_k²)(n² - Σ p_k²)) with t
    the sums of the rows and p those of the columns.  It lies on the upper ROC hull where the best
    of a ranking is positive.

    References
    ----------
    PW: Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT, ROC
    & BIRD".
    Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient",
    2004.

    Examples
    --------
    >>> from quotakernels import ConfusionTable, matthews_corrcoef
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(matthews_corrcoef(table))
    0.408248290463863
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(matthews_corrcoef(three).round(4))
    0.7
    """
    positive, negative = table.tp + table.fn, table.fp + table.tn
    selected, rejected = table.tp + table.fp, table.fn + table.tn
    return surplus(table) / geometric_mean(positive * negative, selected * rejected)


@table_measure(greater_is_better=True, of_classes=kappa_of_classes)
def cohen_kappa(table: ConfusionTable) -> Array:
    """Cohen's κ: the agreement beyond chance, (a - e)/(1 - e), a the accuracy.

    Parameters
    ----------
    table : `ConfusionTable` or `ClassTable`
        Or labels and scores ``y_true, y_score``, or a `Ranking`, with a cut.
    threshold, quota, fraction, inclusive : optional
        The cut, as in `confusion_table`; not beside a table.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`, beside labels and scores.

    Returns
    -------
    array, shape of the cells (of a `ClassTable` without the last two axes)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 to 1, 0 for chance; NaN where label and selection are constant and agree.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; cells that are negative or infinite.

    See Also
    --------
    scott_pi, bennett_s : other ideas of chance.

    Notes
    -----
    e = Σ t_k p_k/n², the expected agreement of independent draws with the same row sums t and
    column sums p.

    References
    ----------
    PW: Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT, ROC
    & BIRD".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, cohen_kappa
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(cohen_kappa(table))
    0.4
    >>> from quotakernels import confusion_table_from_predictions
    >>> three = confusion_table_from_predictions([0, 0, 1, 2], [0, 1, 1, 2], num_classes=3)
    >>> print(cohen_kappa(three).round(4))
    0.6364
    """
    positive, negative = table.tp + table.fn, table.fp + table.tn
    selected, rejected = table.tp + table.fp, table.fn + table.tn
    return 2 * surplus(table) / (selected * negative + positive * rejected)
