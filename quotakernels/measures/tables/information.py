"""Mutual information of labels and decisions."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, namespace
from quotakernels.inputs.numbers import POSITIVE
from quotakernels.measures._measure import measure
from quotakernels.measures.over_quotas.harmonic import log_and_remainder
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable
from quotakernels.measures.tables.measure import TableMeasure


class _Cells(NamedTuple):
    """What information is made of, in units of one example.

    Cells (..., K, K) with how many times n they exceed the product of their row's and column's
    sums; and the sums of the rows (..., K), with those of all other rows.
    """

    cells: Array
    surplus: Array
    truth: Array
    others: Array


def _of_two(table: ConfusionTable) -> _Cells:
    xp = namespace(table.tp)
    surplus = table.tp * table.tn - table.fp * table.fn
    negative, positive = table.tn + table.fp, table.fn + table.tp
    cells, signed = (
        xp.reshape(xp.stack(x, axis=-1), (*surplus.shape, 2, 2))
        for x in (
            (table.tn, table.fp, table.fn, table.tp),
            (surplus, -surplus, -surplus, surplus),
        )
    )
    truth = xp.stack((negative, positive), axis=-1)
    return _Cells(cells, signed, truth, xp.stack((positive, negative), axis=-1))


def _of_several(table: ClassTable) -> _Cells:
    xp = namespace(table.cells)
    cells, truth = table.cells, xp.sum(table.cells, axis=-1)
    whole = xp.sum(truth, axis=-1)[..., None]
    expected = truth[..., :, None] * xp.sum(cells, axis=-2)[..., None, :]
    return _Cells(cells, cells * whole[..., None] - expected, truth, whole - truth)


def _information(table: _Cells) -> Array:
    """The sum of e·((1 + x)·log(1 + x) - x) over the cells, e expected and e·(1 + x) found.

    The terms -x add up to 0.  With them no term is negative, and nothing cancels near x = 0.
    """
    cells, surplus, truth, others = table
    xp = namespace(cells)
    predicted = xp.sum(cells, axis=-2)
    whole = (truth + others)[..., :, None]
    expected = truth[..., :, None] * predicted[..., None, :]
    base = xp.where(expected > 0, expected, xp.ones_like(expected))
    near = (surplus > -base / 2) & (surplus < base)
    little = xp.where(near, surplus, xp.zeros_like(surplus))
    remainder = log_and_remainder(xp, little / base)[1]
    close = little * (little / base - remainder) - base * remainder
    ratio = xp.where(cells > 0, cells * whole / base, xp.ones_like(base))
    far = cells * whole * xp.log(ratio) - surplus
    return xp.sum(xp.where(near, close, far) / (whole * whole), axis=(-2, -1))


def _entropy(table: _Cells) -> Array:
    """Of the labels; the logarithm of a share near 1 is that of all others."""
    xp = namespace(table.truth)
    whole = table.truth + table.others
    share, others = table.truth / whole, table.others / whole
    log = xp.log(xp.where(table.truth > 0, share, xp.ones_like(share)))
    return xp.sum(-share * xp.where(others < COMMON, xp.log1p(-others), log), axis=-1)


COMMON = 0.25
"""Share of all other classes, below which one is common."""


def _in_base(information: Array, base: Any) -> Array:
    return information if base is None else information / namespace(information).log(base)


def _information_of_classes(table: ClassTable, *, base: Any = None) -> Array:
    return _in_base(_information(_of_several(table)), base)


def _coefficient(table: _Cells) -> Array:
    share = _information(table) / _entropy(table)
    return ops.within_rounding(namespace(share), share, 1.0)


def _coefficient_of_classes(table: ClassTable) -> Array:
    return _coefficient(_of_several(table))


_BASE = (lambda x: POSITIVE[0](x) & (x != 1), "a base of logarithms, above 0 and not 1")


@measure(
    TableMeasure,
    greater_is_better=True,
    of_classes=_information_of_classes,
    domains={"base": _BASE},
)
def mutual_information(table: ConfusionTable, *, base: Any = None) -> Array:
    """Mutual information of labels and decisions.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Parameters
    ----------
    base : number or array, optional
        Base of the logarithm: natural by default, 2 for bits.

    Returns
    -------
    array, shape of the cells
        From 0 to the entropy of the labels; NaN where there are no examples.

    See Also
    --------
    information_coefficient : the same over the entropy of the labels.

    Notes
    -----
    The sum of c/n·log(c·n/(t·p)) over the cells c, with t and p the sums of their row and column.

    References
    ----------
    [EL] section 2, the mutual information coefficient; [PW], information.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, mutual_information
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(mutual_information(table).round(4), mutual_information(table, base=2).round(4))
    0.0863 0.1245
    """
    return _in_base(_information(_of_two(table)), base)


@measure(TableMeasure, greater_is_better=True, of_classes=_coefficient_of_classes)
def information_coefficient(table: ConfusionTable) -> Array:
    """Information coefficient: mutual information over the entropy of the labels.

    Takes a `ConfusionTable` or `ClassTable`, or what `confusion_table` takes.

    Returns
    -------
    array, shape of the cells
        From 0 to 1; NaN where the labels do not vary.

    See Also
    --------
    mutual_information : I(labels; decisions).

    Notes
    -----
    It is 1 if the decisions determine the labels, always right or always wrong, and 0 if they are
    independent.

    References
    ----------
    [EL] section 2, where it is the mutual information coefficient.

    Examples
    --------
    >>> from quotakernels.tables import ConfusionTable, information_coefficient
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(information_coefficient(table).round(4))
    0.1245
    """
    return _coefficient(_of_two(table))
