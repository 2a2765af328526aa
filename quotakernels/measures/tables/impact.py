"""What decisions bring, in the user's own unit (Eiland & Liebrock), at any ratio of the classes."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from quotakernels._array import Array, computing, device, finished, result_float
from quotakernels._records import plainly
from quotakernels._types import Number
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import POSITIVE, checked, numbers_like
from quotakernels.measures._measure import measure
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    validate_cells,
    validate_class_cells,
)
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.ops import namespace

T = TypeVar("T", ConfusionTable, ClassTable)


def tuned(table: ConfusionTable, positive: Any, negative: Any) -> ConfusionTable:
    """The cells with these masses of the two classes."""
    xp = namespace(table.tp)

    def share(cell: Array, mass: Array, wanted: Any) -> Array:
        # The compiler of JAX takes 0/0 for 0 where it sees that the cell of a cut must be 0.
        return xp.nan_unless(mass > 0, cell / mass * wanted)

    found, wrong = table.tp + table.fn, table.fp + table.tn
    return ConfusionTable(
        share(table.tp, found, positive),
        share(table.fp, wrong, negative),
        share(table.fn, found, positive),
        share(table.tn, wrong, negative),
    )


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
    dtype = result_float(xp, device(cells))
    with computing(xp):
        truth = xp.sum(cells, axis=-1, keepdims=True)
        shares = xp.nan_unless(truth > 0, cells / truth / cells.shape[-1])
        result: ClassTable = finished(xp, ClassTable(shares), dtype)
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
    dtype = result_float(xp, device(cells.tp))
    with computing(xp):
        r = numbers_like(cells.tp, "ratio", ratio)
        r = checked(xp, {"ratio": r}, {"ratio": POSITIVE})["ratio"]
        result: ConfusionTable = finished(xp, tuned(cells, r / (1 + r), 1 / (1 + r)), dtype)
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


def _impact(table: ConfusionTable, impacts: ConfusionTable) -> Impact:
    size = (table.tp + table.fp) + (table.fn + table.tn)
    return Impact(*(x / size for x in _total(table, impacts)))


def _conditional(table: ConfusionTable, impacts: ConfusionTable) -> OutcomeImpact:
    selected, rejected = _by_outcome(table, impacts)
    selected = selected / (table.tp + table.fp)
    rejected = rejected / (table.fn + table.tn)
    return OutcomeImpact(selected, rejected, (selected + rejected) / 2)


def mean_impact(table: ConfusionTable, impacts: ConfusionTable) -> Array:
    """ι_I of checked cells and impacts."""
    return _impact(table, impacts).whole


def mean_outcome(table: ConfusionTable, impacts: ConfusionTable) -> Array:
    """ι_σ of checked cells and impacts."""
    return _conditional(tuned(table, 0.5, 0.5), impacts).mean


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


@measure(
    TableMeasure,
    greater_is_better=True,
    of_classes=_class_impact,
    headline="whole",
)
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
    return _impact(table, impacts)


@measure(
    TableMeasure,
    greater_is_better=True,
    of_classes=_class_outcome,
    headline="mean",
)
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
    return _conditional(tuned(table, 0.5, 0.5), impacts)


@measure(
    TableMeasure,
    greater_is_better=True,
    of_classes=_class_conditional,
    headline="mean",
)
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
    return _conditional(table, impacts)


@measure(
    TableMeasure,
    headline="whole",
    greater_is_better=True,
    of_classes=_class_total,
    in_masses=True,
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
