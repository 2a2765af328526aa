"""Confusion tables with other class ratios than those of the data, at the same rates."""

from __future__ import annotations

from typing import Any, TypeVar

from quotakernels import ops
from quotakernels._array import Array, computing, device, finished, namespace, result_float
from quotakernels._types import Number
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import POSITIVE, checked, numbers_like
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    validate_cells,
    validate_class_cells,
)

T = TypeVar("T", ConfusionTable, ClassTable)


def tuned(table: ConfusionTable, positive: Any, negative: Any) -> ConfusionTable:
    """The cells with these masses of the two classes."""
    xp = namespace(table.tp)

    def share(cell: Array, mass: Array, wanted: Any) -> Array:
        # The compiler of JAX takes 0/0 for 0 where it sees that the cell of a cut must be 0.
        return ops.nan_unless(xp, mass > 0, cell / mass * wanted)

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
        shares = ops.nan_unless(xp, truth > 0, cells / truth / cells.shape[-1])
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
