"""What decisions bring, in the user's own unit (Eiland & Liebrock)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from quotakernels._array import Array, computing, device, namespace, result_float
from quotakernels.measures._cells import ConfusionTable, admit_cells
from quotakernels.measures._measure import finished
from quotakernels.measures._numbers import admit_numbers, checked
from quotakernels.measures._quota import numbers_beside
from quotakernels.measures._table_measure import table_measure
from quotakernels.measures.curves import Curve
from quotakernels.measures.optimal import optimal_cut, table_curve

__all__ = [
    "BestBoundary",
    "Impact",
    "OutcomeImpact",
    "best_boundary",
    "conditional_impact",
    "impact",
    "normalize_table",
    "outcome_impact",
    "tune_prevalence",
]


class Impact(NamedTuple):
    """The impact per example, and its two parts.

    Attributes
    ----------
    whole : array, shape (...)
        ι_I; the sum of the parts.
    selected, rejected : array, shape (...)
        What the selected and what the rejected examples bring, over all examples.
    """

    whole: Array
    selected: Array
    rejected: Array


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


class BestBoundary(NamedTuple):
    """The best of all cuts by what it brings, and what every cut brings.

    Attributes
    ----------
    value : array, shape (...)
        The impact there, per example from `best_boundary` and in all from `best_quota`; NaN if it
        is undefined at every cut.
    threshold, quota : array, shape (...)
        Score of the last selected example (NaN for the empty cut), and the number or mass of the
        selected.
    optima : boolean array, shape (..., G + 1)
        Which cuts are best, up to rounding; the first of them is the one reported.
    curve : Curve
        The same impact at every cut.
    """

    value: Array
    threshold: Array
    quota: Array
    optima: Array
    curve: Curve


def _brought(table: ConfusionTable, impacts: ConfusionTable) -> tuple[Array, Array]:
    """What the selected and the rejected bring in all."""
    selected = impacts.tp * table.tp + impacts.fp * table.fp
    return selected, impacts.fn * table.fn + impacts.tn * table.tn


def _impact(table: ConfusionTable, impacts: ConfusionTable) -> Impact:
    selected, rejected = _brought(table, impacts)
    size = (table.tp + table.fp) + (table.fn + table.tn)
    return Impact((selected + rejected) / size, selected / size, rejected / size)


def _conditional(table: ConfusionTable, impacts: ConfusionTable) -> OutcomeImpact:
    selected, rejected = _brought(table, impacts)
    selected = selected / (table.tp + table.fp)
    rejected = rejected / (table.fn + table.tn)
    return OutcomeImpact(selected, rejected, (selected + rejected) / 2)


def _tuned(table: ConfusionTable, positive: Any, negative: Any) -> ConfusionTable:
    """The cells with these masses of the two classes."""
    found, wrong = table.tp + table.fn, table.fp + table.tn
    return ConfusionTable(
        table.tp / found * positive,
        table.fp / wrong * negative,
        table.fn / found * positive,
        table.tn / wrong * negative,
    )


@table_measure()
def impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Array:
    """Impact of the decisions per example, in the user's unit, ι_I (EL eq. 5 and 12).

    ι_I = (i_tp·TP + i_fp·FP + i_fn·FN + i_tn·TN)/n; n·ι_I is what all decisions bring together.

    Parameters
    ----------
    table : ConfusionTable
        Or in its place `y_true` and `y_score`, or a `Ranking`, with one cut: `threshold` (and
        `inclusive`), `quota` or `fraction`, as in `confusion_table`.
    impacts : four numbers or arrays
        What one true positive, false positive, false negative and true negative brings.

    Returns
    -------
    Impact
        Arrays of the shape of the cells, in the widest real float; NaN without examples.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; impacts that are not four finite numbers.

    References
    ----------
    EL eq. 5: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
    Users".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, impact
    >>> loans = ConfusionTable(tp=80, fp=20, fn=120, tn=30)
    >>> print(*impact(loans, impacts=(50, -200, 0, 0)))
    0.0 0.0 0.0
    """
    return _impact(table, impacts)


@table_measure()
def outcome_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Array:
    """Impact of one selected and of one rejected example, classes balanced (EL eq. 7-9).

    ι_Z and ι_Z̄ are the means over the selected and the rejected of the normalised table, in which
    each class has half of the mass; ι_σ is half of their sum.

    Parameters
    ----------
    table : ConfusionTable
        Or in its place `y_true` and `y_score`, or a `Ranking`, with one cut: `threshold` (and
        `inclusive`), `quota` or `fraction`, as in `confusion_table`.
    impacts : four numbers or arrays
        What one true positive, false positive, false negative and true negative brings.

    Returns
    -------
    OutcomeImpact
        Arrays of the shape of the cells, in the widest real float; NaN for an output without
        examples, and with it the mean; all NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; impacts that are not four finite numbers.

    See Also
    --------
    conditional_impact : the same without normalisation.

    References
    ----------
    EL eq. 7-9: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import confusion_table_from_rates, outcome_impact
    >>> table = confusion_table_from_rates(tpr=0.67, fpr=0.05, prevalence=0.5)
    >>> print(*(x.round(3) for x in outcome_impact(table, impacts=(0, -7.9, -13, 0))))
    -0.549 -3.352 -1.95
    """
    return _conditional(_tuned(table, 0.5, 0.5), impacts)


@table_measure()
def conditional_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Array:
    """Impact of one selected and of one rejected example, as an end user observes it (EL eq. 6).

    Parameters
    ----------
    table : ConfusionTable
        Or in its place `y_true` and `y_score`, or a `Ranking`, with one cut: `threshold` (and
        `inclusive`), `quota` or `fraction`, as in `confusion_table`.
    impacts : four numbers or arrays
        What one true positive, false positive, false negative and true negative brings.

    Returns
    -------
    OutcomeImpact
        Arrays of the shape of the cells, in the widest real float; NaN for an output without
        examples, and with it the mean.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; impacts that are not four finite numbers.

    See Also
    --------
    outcome_impact : the same with balanced classes.

    References
    ----------
    EL eq. 6: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
    Users".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, conditional_impact
    >>> loans = ConfusionTable(tp=80, fp=20, fn=120, tn=30)
    >>> print(*conditional_impact(loans, impacts=(50, -100, -5, 0)))
    20.0 -4.0 8.0
    """
    return _conditional(table, impacts)


@table_measure()
def _mean_impact(table: ConfusionTable, *, impacts: ConfusionTable) -> Array:
    return _impact(table, impacts).whole


@table_measure()
def _mean_outcome(table: ConfusionTable, *, impacts: ConfusionTable) -> Array:
    return _conditional(_tuned(table, 0.5, 0.5), impacts).mean


def normalize_table(table: ConfusionTable) -> ConfusionTable:
    """A confusion table in which each class has half of the mass (EL).

    Parameters
    ----------
    table : ConfusionTable
        Counts or masses.

    Returns
    -------
    ConfusionTable
        TP/(2P), FP/(2N), FN/(2P), TN/(2N) in the widest real float; the cells of an absent class
        are NaN.

    Raises
    ------
    TypeError, ValueError
        Cells that are not finite numbers of one shape, or negative.

    References
    ----------
    EL section 4: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, normalize_table
    >>> print(*normalize_table(ConfusionTable(tp=3, fp=10, fn=1, tn=30)))
    0.375 0.125 0.125 0.375
    """
    return tune_prevalence(table, 1.0)


def tune_prevalence(table: ConfusionTable, ratio: Any) -> ConfusionTable:
    """A confusion table tuned to another ratio of the classes, with the same rates (EL).

    Parameters
    ----------
    table : ConfusionTable
        Counts or masses.
    ratio : number or array
        The wanted r = P′/N′, above 0; it broadcasts against the cells.

    Returns
    -------
    ConfusionTable
        Masses that add up to 1, r/(1 + r) of them positive, in the widest real float; the cells
        of an absent class are NaN.

    Raises
    ------
    TypeError, ValueError
        Cells that are not finite numbers of one shape, or negative; a ratio that is not a finite
        number above 0.

    References
    ----------
    EL section 4: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import ConfusionTable, tune_prevalence
    >>> print(*tune_prevalence(ConfusionTable(tp=3, fp=10, fn=1, tn=30), 1 / 3))
    0.1875 0.1875 0.0625 0.5625
    """
    given = admit_numbers(table._asdict())[1].values()
    dtype = result_float(namespace(next(iter(given))), device(next(iter(given))))
    xp, cells = admit_cells(table)
    with computing(xp):
        r = numbers_beside(cells.tp, "ratio", ratio)
        r = checked(xp, {"ratio": r}, {"ratio": _RATIO})["ratio"]
        result: ConfusionTable = finished(xp, _tuned(cells, r / (1 + r), 1 / (1 + r)), dtype)
    return result


_RATIO = (lambda x: (x > 0) & (x < float("inf")), "a finite number above 0")


def best_boundary(
    *data: Any, impacts: Any, kind: Literal["impact", "outcome"] = "impact", **keywords: Any
) -> BestBoundary:
    """The cut that brings the most, B*, and what every cut brings (EL).

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    impacts : four numbers or arrays
        What one true positive, false positive, false negative and true negative brings.
    kind : {"impact", "outcome"}
        The impact per example ι_I, or ι_σ of `outcome_impact`.
    **keywords : optional
        `sample_weight`, `where`, `pos_label`, `ties`, `validate` as in `rank`, beside labels and
        scores.

    Returns
    -------
    BestBoundary
        Floats in the widest real float (float64; float32 under JAX without x64 and on MPS).

    Raises
    ------
    TypeError, ValueError
        As in `rank`; impacts that are not four finite numbers; another `kind`.

    See Also
    --------
    optimal_cut : the cut that is best by any measure of confusion tables.

    Notes
    -----
    Where a true positive brings more than a false negative, and a true negative more than a false
    positive, a best cut of ι_I is a vertex of the ROC hull.

    References
    ----------
    EL section 6: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import best_boundary
    >>> best = best_boundary([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], impacts=(5, -4, 0, 0))
    >>> print(best.value.round(3), best.threshold, best.quota)
    2.2 0.6 4.0
    >>> print(best.curve.value)
    [0.  1.  1.2 2.2 1.4]
    """
    if kind not in ("impact", "outcome"):
        raise ValueError(f'kind must be "impact" or "outcome"; got {kind!r}')
    measure = _mean_impact if kind == "impact" else _mean_outcome
    best = optimal_cut(*data, measure, impacts=impacts, **keywords)
    return BestBoundary(*best, table_curve(*data, measure, impacts=impacts, **keywords))
