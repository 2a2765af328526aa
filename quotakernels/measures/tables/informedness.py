"""Agreement beyond chance: informedness, markedness, correlation and the kappas."""

from __future__ import annotations

import math

from quotakernels._array import Array, Namespace
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    diagonal,
    margins,
    off_diagonal,
    off_diagonal_by_chance,
)
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.ops import namespace


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
    WRAcc, the weighted relative accuracy, is informedness·prevalence·(1 - prevalence).

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
