"""Marks on one axis: how far each average measure is from chance, or between compared models."""

from __future__ import annotations

from typing import Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels.measures._harmonic import harmonic_sums
from quotakernels.measures._measure import measure
from quotakernels.measures._quota import mass_totals
from quotakernels.measures.average import average_hit_rate, average_qrecall
from quotakernels.measures.discrimination import pem, roc_auc

__all__ = ["Marks", "normalized_marks"]


class Marks(NamedTuple):
    """Normalised measures, each of shape (...): 0 is chance and 1 the optimum, or worst and best.
    """

    average_hit_rate: Array
    average_qrecall: Array
    pem: Array
    roc_auc: Array


@measure
def normalized_marks(table: ops.Groups, *, method: Literal["chance", "minmax"] = "chance") -> Marks:
    """AHR, AQR, PEM and AUC on one axis (AR Figure 10).
    """
    if method not in ("chance", "minmax"):
        raise ValueError(f'method must be "chance" or "minmax"; got {method!r}')
    measures = (average_hit_rate, average_qrecall, pem, roc_auc)
    values = Marks(*(m.of_table(table) for m in measures))
    xp = namespace(table.counts)
    if method == "minmax":
        return Marks(*(_between_models(xp, x) for x in values))
    if table.weights is not None:
        raise ValueError(
            'the expectation under random order is not defined with sample weights; '
            'use method="minmax"'
        )
    chance = _chance(xp, *mass_totals(xp, table))
    pairs = zip(values, chance, strict=True)
    return Marks(*((value - expected) / (1 - expected) for value, expected in pairs))


def _between_models(xp: Namespace, values: Array) -> Array:
    if values.ndim == 0:
        raise ValueError('method="minmax" compares models; give scores of shape (models, n)')
    low = xp.min(values, axis=-1, keepdims=True)
    return (values - low) / (xp.max(values, axis=-1, keepdims=True) - low)


def _chance(xp: Namespace, whole: Array, positive: Array) -> Marks:
    """The expectation of each measure when the examples are in random order."""
    harmonic, _ = harmonic_sums(xp, xp.zeros_like(whole), whole)
    others = xp.where(whole > 1, whole - 1, xp.ones_like(whole))
    share = (positive - 1) / others
    zero = xp.zeros_like(whole)
    hit_rate = share + (1 - share) * harmonic / whole
    return Marks(hit_rate, (whole + positive) / (2 * whole), zero, zero + 0.5)
