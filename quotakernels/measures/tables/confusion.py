"""Confusion tables: of a ranking at a cut, of predictions, and of rates."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finished,
    result_float,
)
from quotakernels._types import (
    A,
    NumberOf,
)
from quotakernels.inputs.classes import validate_predictions
from quotakernels.inputs.examples import nan_unless_valid
from quotakernels.inputs.groups import MOST_CLASSES, size_of
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import AMOUNT, RATE, Domains, checked, of_numbers
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable, binary_cells, class_cells
from quotakernels.measures.tables.measure import CutMeasure


@measure(CutMeasure, greater_is_better=None)
def confusion_table(
    table: ops.Groups,  # noqa: ARG001
    tp: Array,
    fp: Array,
    fn: Array,
    tn: Array,
) -> ConfusionTable:
    """Confusion table at a threshold, a quota, a fraction or a budget.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    threshold : number or array, shape Q, optional
        The cut selects ``score >= threshold``; with NaN, nothing, as the first cut of a curve
        does.  A NaN elsewhere has a warning.  A number of Python, also in a list, is rounded to the
        type of floating scores, as array libraries do.  Arrays and NumPy scalars are compared by
        their exact values: the float32 nearest to 0.9 is below ``np.float64(0.9)``.
    quota, fraction : number or array, shape Q, optional
        How many of the best examples the cut selects, or which share of all, as in `hit_rate`.  It
        need not be whole.
    budget : number or array, shape Q, optional
        The cut selects the best whose `cost` is within it, as in `hit_rate`.  Exactly one of
        `threshold`, `quota`, `fraction` and `budget` is given.
    inclusive : bool
        With False a threshold selects ``score > threshold`` ([AR] eq. 2).
    when_short : {"all", "nan"}, optional
        As in `hit_rate`.

    Returns
    -------
    ConfusionTable
        Cells of shape (..., *Q).  At a threshold they are exact integers, or masses if there are
        weights.  At a quota they are expectations over the order of ties ([AR] eq. 5), which need
        not be whole.  Where values cannot be read, integers come as floats (float64 if the device
        has it), so that the cells of a row of the batch with a bad value can be NaN.

    Raises
    ------
    TypeError
        None or several of `threshold`, `quota`, `fraction` and `budget`, one that is not a number,
        a budget without costs.
    ValueError
        A quota or budget that `hit_rate` refuses.  Where values cannot be read, cells at such a
        quota are NaN, and so are all cells of a row of the batch with a bad value.

    See Also
    --------
    confusion_table_from_predictions, confusion_table_from_rates : other ways to a table.
    table_curve, best_cut : a measure of the tables at all cuts.

    Notes
    -----
    Measures of tables take a `ConfusionTable`, or what this function takes; some take a
    `ClassTable` too.  They refuse cells that are negative or infinite.  Their results have the
    shape of the cells, of a `ClassTable` without its last two axes, and are floats as `rank`
    describes them.

    The thresholds of curves and of `best_cut` are the scores of the last selected examples.  So
    the table at ``roc_curve(ranking).threshold`` has the ``tp`` and ``fp`` of its vertices.

    References
    ----------
    [AR] eq. 1-3.

    Examples
    --------
    >>> from quotakernels import confusion_table, rank
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(*confusion_table(ranking, threshold=0.8))
    2 1 1 1
    >>> print(*confusion_table(ranking, threshold=0.8, inclusive=False))
    1 0 2 2
    >>> print(*confusion_table(ranking, quota=2))
    1.5 0.5 1.5 1.5
    """
    return ConfusionTable(tp, fp, fn, tn)


@public
def confusion_table_from_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> ConfusionTable | ClassTable:
    """Confusion table of predicted classes, two or K.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_pred`
        Labels 0 and 1, of any dtype, or any two labels with `pos_label`; with `num_classes`, the
        classes 0 to K - 1.
    y_pred : array, shape (..., n)
        Predicted labels of the same kind.
    num_classes : int, optional
        K, for a `ClassTable`; not together with `pos_label`.
    sample_weight, where, pos_label, validate : optional
        As in `rank`, in the shape of `y_true` or of `y_pred`.

    Returns
    -------
    ConfusionTable or ClassTable
        Exact integers, or masses where there are weights.  Where values cannot be read, the
        integers come as floats, as in `confusion_table`.

    Raises
    ------
    ValueError
        Labels or predictions that are none of the classes.  Where values cannot be read, all cells
        of a row of the batch with a bad value are NaN.

    References
    ----------
    [AR] Table 1.

    Examples
    --------
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> print(*confusion_table_from_predictions([1, 0, 1, 1, 0], [1, 1, 1, 0, 0]))
    2 1 1 1
    >>> print(confusion_table_from_predictions([0, 1, 2, 2], [0, 2, 2, 1], num_classes=3).cells)
    [[1 0 0]
     [0 0 1]
     [0 1 1]]
    """
    size = None if num_classes is None else size_of("num_classes", num_classes, most=MOST_CLASSES)
    if not (size is None or pos_label is None):
        raise TypeError("pos_label is for two classes and cannot be combined with num_classes")
    validated = validate_predictions(
        y_true, y_pred, size, sample_weight, where, pos_label, validate
    )
    xp, pairs = validated
    dtype = result_float(xp, device(pairs.truth))
    with computing(xp):
        if size is None:
            table: Any = compiled(binary_cells, xp)(pairs)
        else:
            table = compiled(class_cells, xp, ("size",))(pairs, size=size)
        table = finished(xp, table, dtype)
        return nan_unless_valid(xp, table, pairs.good)  # type: ignore[no-any-return]


@public
def confusion_table_from_rates(
    *,
    prevalence: NumberOf[A],
    tpr: NumberOf[A] | None = None,
    fpr: NumberOf[A] | None = None,
    lr_positive: NumberOf[A] | None = None,
    lr_negative: NumberOf[A] | None = None,
    n: NumberOf[A] = 1.0,
) -> ConfusionTable[A]:
    """Confusion table of given rates: (TPR, FPR), or both likelihood ratios.

    From likelihood ratios, TPR = LR₊·(1 - LR₋)/(LR₊ - LR₋) and FPR = (1 - LR₋)/(LR₊ - LR₋).

    Parameters
    ----------
    prevalence : number or array
        π, the share of positives, from 0 to 1.
    tpr, fpr : numbers or arrays, optional
        True and false positive rate, from 0 to 1; NaN is taken as undefined.
    lr_positive, lr_negative : numbers or arrays, optional
        LR₊ = TPR/FPR and LR₋ = FNR/TNR, not negative; one may be infinite.
    n : number or array
        The number of examples, or their mass.  All are broadcast together.

    Returns
    -------
    ConfusionTable
        Masses that add up to `n`.  NaN for LR₊ = LR₋ = 1, which does not determine the rates.

    Raises
    ------
    TypeError
        Not exactly one of the two pairs.
    ValueError
        Rates outside 0…1, negative ratios or `n`, ratios that no rates have (both above 1 or both
        below 1); NaN instead where values cannot be read.

    References
    ----------
    [EL] section 7.3, both likelihood ratios.

    Examples
    --------
    >>> from quotakernels.tables import confusion_table_from_rates
    >>> print(*confusion_table_from_rates(prevalence=0.25, tpr=0.5, fpr=0.25, n=16))
    2.0 3.0 2.0 9.0
    >>> print(*confusion_table_from_rates(prevalence=0.5, lr_positive=4, lr_negative=0.25, n=10))
    4.0 1.0 1.0 4.0
    """
    pairs = {"tpr": tpr, "fpr": fpr}, {"lr_positive": lr_positive, "lr_negative": lr_negative}
    given = [pair for pair in pairs if any(x is not None for x in pair.values())]
    if len(given) != 1 or any(x is None for x in given[0].values()):
        raise TypeError("give either tpr= and fpr=, or lr_positive= and lr_negative=")
    by_rates = "tpr" in given[0]

    def cells(xp: Namespace, prevalence: Array, n: Array, *pair: Array) -> ConfusionTable:
        found = (pair[0], 1 - pair[0], pair[1], 1 - pair[1]) if by_rates else _rates(xp, *pair)
        tpr, fnr, fpr, tnr = found
        positive, negative = n * prevalence, n * (1 - prevalence)
        cells = (positive * tpr, negative * fpr, positive * fnr, negative * tnr)
        shaped = sum(xp.zeros_like(x) for x in cells)
        return ConfusionTable(*(x + shaped for x in cells))

    named = {"prevalence": prevalence, "n": n, **given[0]}
    result: ConfusionTable = of_numbers(cells, named, _DOMAINS_OF_RATES if by_rates else _DOMAINS)
    return result


def _rates(xp: Namespace, positive: Array, negative: Array) -> tuple[Array, ...]:
    """TPR, FNR, FPR and TNR of two likelihood ratios, without a difference of nearly equal ones.

    A ratio r stands as a pair of min(r, 1) and 1/max(r, 1), of which r is the quotient.
    """
    negative = negative + xp.zeros_like(positive)
    fits = {
        "lr_negative": (
            lambda x: ~((positive - 1) * (1 - x) < 0),
            "a ratio that goes with lr_positive",
        )
    }
    negative = checked(xp, {"lr_negative": negative}, fits)["lr_negative"]
    over, under = xp.clip(positive, max=1.0), 1 / xp.clip(positive, min=1.0)
    top, bottom = xp.clip(negative, max=1.0), 1 / xp.clip(negative, min=1.0)
    informed, safe = over - under, bottom - top
    whole = over * bottom - under * top
    return (
        over * safe / whole,
        top * informed / whole,
        under * safe / whole,
        bottom * informed / whole,
    )


_RATIO = (lambda x: ~(x < 0), "a ratio, not negative")
_DOMAINS_OF_RATES: Domains = {"prevalence": RATE, "n": AMOUNT, "tpr": RATE, "fpr": RATE}
_DOMAINS: Domains = {"prevalence": RATE, "n": AMOUNT, "lr_positive": _RATIO, "lr_negative": _RATIO}
