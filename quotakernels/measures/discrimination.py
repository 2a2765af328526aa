"""Discrimination over all pairs: ROC AUC, the Gini coefficient, PEM."""

from __future__ import annotations

from quotakernels import ops
from quotakernels._array import Array, namespace
from quotakernels.measures._measure import measure
from quotakernels.measures._quota import mass_totals

__all__ = ["gini", "pem", "roc_auc"]


def _pairs(table: ops.Groups) -> tuple[Array, Array]:
    """Twice the number (or mass) of pairs won, ties counted half, and of all pairs once."""
    xp = namespace(table.counts)
    whole, positive = mass_totals(xp, table)

    def won(row: ops.Rows) -> Array:
        return (row.mass - row.positive) * (2 * row.positive_before + row.positive)

    return ops.sum_rows(xp, table, won, ()), positive * (whole - positive)


@measure
def roc_auc(table: ops.Groups) -> Array:
    """Area under the ROC curve: the share of pairs ranked rightly, ties counted half.
    """
    won, pairs = _pairs(table)
    return won / (2 * pairs)


@measure
def gini(table: ops.Groups) -> Array:
    """Gini coefficient, 2·AUC - 1.
    """
    won, pairs = _pairs(table)
    return (won - pairs) / pairs


@measure
def pem(table: ops.Groups) -> Array:
    """PEM, the performance relative to chance and optimum over all quotas (AR eq. 14-15).
    """
    won, pairs = _pairs(table)
    return (won - pairs) / pairs
