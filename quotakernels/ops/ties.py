"""Tie policies: tables in which the groups of ties are split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotakernels._array import Array, Namespace
from quotakernels._types import TiePolicy
from quotakernels.ops._table import Gains, GainsOrNone, Groups
from quotakernels.ops.tables import without_empty_rows


def split_ties(xp: Namespace, table: Groups, ties: TiePolicy) -> Groups:
    """Each group as two, positives and negatives, in the order of an all-good or all-bad luck."""
    if ties not in ("optimistic", "pessimistic"):
        return table

    def interleaved(positive: Array, negative: Array) -> Array:
        pair = (positive, negative) if ties == "optimistic" else (negative, positive)
        both = xp.stack(pair, axis=-1)
        return xp.reshape(both, (*both.shape[:-2], -1))

    none = xp.zeros_like(table.positives)
    counts = interleaved(table.positives, table.counts - table.positives)
    positives = interleaved(table.positives, none)
    masses: tuple[Array | None, Array | None] = (None, None)
    if table.weighted:
        nothing = xp.zeros_like(table.positive)
        masses = (interleaved(table.positive, nothing), interleaved(nothing, table.negative))
    thresholds = interleaved(table.thresholds, table.thresholds)
    amounts: dict[str, Any] = {"gains": _split_gains(xp, table, interleaved)}
    for name in ("costs", "arms"):  # of positives and of negatives, in turn
        columns = getattr(table, name)
        pairs = ((x, xp.zeros_like(x)) for x in columns)
        split = (pair if k % 2 == 0 else pair[::-1] for k, pair in enumerate(pairs))
        amounts[name] = columns and type(columns)(*(interleaved(*pair) for pair in split))
    return without_empty_rows(
        xp, Groups(thresholds, counts, positives, *masses)._replace(**amounts)
    )


def _split_gains(
    xp: Namespace, table: Groups, interleaved: Callable[[Array, Array], Array]
) -> GainsOrNone:
    """Each class with its own; the size, which is of both, with the first row that is there."""
    if not (gains := table.gains):
        return ()
    nothing, there = xp.zeros_like(gains.size), table.positives > 0
    of_positives, rest = (xp.where(x, gains.size, nothing) for x in (there, ~there))
    pairs = [(gains.positive, nothing), (nothing, gains.negative), (of_positives, rest)]
    if not isinstance(gains.positive_rejected, tuple):
        pairs += [(gains.positive_rejected, nothing), (nothing, gains.negative_rejected)]
    return Gains(*(interleaved(*pair) for pair in pairs))


def with_filled_thresholds(xp: Namespace, table: Groups) -> Groups:
    """The table without thresholds of empty rows, which may be infinite, or NaN: they become 0."""
    filled = table.counts > 0
    thresholds = xp.where(filled, table.thresholds, xp.zeros_like(table.thresholds))
    return table._replace(thresholds=thresholds)
