"""Agreement beyond chance: the kappas of Cohen and Fleiss, Scott's pi and Bennett's S."""

from __future__ import annotations

from quotakernels._array import Array, namespace
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    margins,
    off_diagonal,
    off_diagonal_by_chance,
)
from quotakernels.measures.tables.informedness import surplus
from quotakernels.measures.tables.measure import TableMeasure


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
