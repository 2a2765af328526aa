"""Tie policies: tables in which the groups of ties are split."""

from __future__ import annotations

from typing import Any

from quotakernels._array import Array, Namespace
from quotakernels._types import TiePolicy
from quotakernels.ops._table import ByClass, Groups
from quotakernels.ops.tables import without_empty_rows


def split_ties(xp: Namespace, table: Groups, ties: TiePolicy) -> Groups:
    """Each group as two, positives and negatives, in the order of an all-good or all-bad luck."""
    if ties not in ("optimistic", "pessimistic"):
        return table

    def interleaved(positive: Array, negative: Array) -> Array:
        pair = (positive, negative) if ties == "optimistic" else (negative, positive)
        both = xp.stack(pair, axis=-1)
        return xp.reshape(both, (*both.shape[:-2], -1))

    def split(sums: ByClass) -> ByClass:
        nothing = xp.zeros_like(sums.positive)
        return ByClass(interleaved(sums.positive, nothing), interleaved(nothing, sums.negative))

    counts = interleaved(table.positives, table.counts - table.positives)
    positives = interleaved(table.positives, xp.zeros_like(table.positives))
    masses: Any = split(ByClass(table.positive, table.negative)) if table.weighted else (None, None)
    columns = {name: split(x) for name, x in table.columns.items()}
    thresholds = interleaved(table.thresholds, table.thresholds)
    return without_empty_rows(
        xp, Groups(thresholds, counts, positives, *masses)._replace(columns=columns)
    )


def with_filled_thresholds(xp: Namespace, table: Groups) -> Groups:
    """The table without thresholds of empty rows, which may be infinite, or NaN: they become 0."""
    filled = table.counts > 0
    thresholds = xp.where(filled, table.thresholds, xp.zeros_like(table.thresholds))
    return table._replace(thresholds=thresholds)
