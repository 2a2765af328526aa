"""Tie groups by cumulative counts, which serve what is made of sums alone, in fewer steps."""

from __future__ import annotations

from quotakernels._array import Array, Namespace, of_kind
from quotakernels.ops import native
from quotakernels.ops._table import Cumulative, Groups, InPlace
from quotakernels.ops.keys import key_bits
from quotakernels.ops.tables import layout_of, on_device


def cumulative_groups(
    xp: Namespace, scores: Array, labels: Array, valid: Array | None, by_positives: bool = False
) -> Cumulative | None:
    """The tie groups of counted examples by sums alone, where that takes fewer steps.

    For measures that are `by_positives`, neighbouring groups without positives may be one row.
    """
    arrays, library = (scores, labels, valid), native.library(xp)
    if by_positives and valid is None:
        if library == "numpy":
            return native.numpy_.merged_of_scores(scores, labels)
        if library == "torch" and native.all_readable(scores, labels):
            return native.torch_.merged_of_scores(scores, labels)
    if library != "torch" or scores.ndim != 1:
        return None
    if native.all_readable(*arrays) or native.torch_.are_mapped(*arrays):
        return None
    counted = native.torch_.cumulative_groups(*arrays)
    apart = isinstance(layout_of(xp, scores, valid), InPlace)
    return counted if apart else counted._replace(begins=())


def merged_groups(xp: Namespace, table: Groups) -> Cumulative | None:
    """The cumulative counts of known tie groups, where rows without positives are worth merging.

    That is one list of NumPy without weights.
    """
    return native.numpy_.merged_groups(table) if native.library(xp) == "numpy" else None


def counts_segments(
    xp: Namespace,
    scores: Array,
    labels: Array | None,
    valid: Array | None,
    codes: Array,
) -> bool:
    """Whether `cumulative_segments` serves: PyTorch, on a device, one list of what floats hold."""
    if labels is None or scores.ndim != 1:
        return False
    arrays = (scores, labels, valid, codes)
    exact = of_kind(xp, scores.dtype, "real floating") or key_bits(xp, scores.dtype) <= 32
    return exact and on_device(xp, *arrays) and not native.all_readable(*arrays)


def cumulative_segments(
    examples: tuple[Array, Array, Array | None],
    codes: Array,
    ids: Array | int,
    unfit: Array | None,
) -> Cumulative:
    """The tie groups of groups of counted examples, of a list that `counts_segments`.

    Labels may be `unfit`, scores NaN and codes those of no group, which the marks tell.
    """
    return native.torch_.cumulative_segments(*examples, codes, ids, unfit)
