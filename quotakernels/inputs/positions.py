"""How many positions of a ranking have to be looked at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, readable
from quotakernels._types import WhenShort
from quotakernels.inputs.quotas import masses_or_all

MOST = 10**8
"""Positions that are looked at; more of them would fill the memory."""


def masses_and_positions(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The wanted masses, and the numbers of all positions that have to be looked at."""
    (wanted,), shape = masses_or_all(
        xp, table, quota=quota, fraction=fraction, when_short=when_short
    )
    number = _number(xp, table, wanted)
    if ops.is_below(MOST, number):
        raise ValueError(f"the ranking has {number} positions, too many to visit each; pass quota=")
    return (wanted, xp.arange(1, number + 1, dtype=xp.int64, device=device(wanted))), shape


def _number(xp: Namespace, table: ops.Groups, wanted: Array) -> int:
    """How many positions there are: in a program no more than rows."""
    rows: int = table.counts.shape[-1]
    if table.in_place or not readable(table.counts):
        return rows
    most = int(np.max(np.sum(np.asarray(table.counts), axis=-1, dtype=np.int64), initial=1))
    if not table.segments:
        known = np.asarray(xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted))
        most = min(most, math.ceil(np.max(known, initial=1)))
    exact = type(table.counts) is np.ndarray
    return most if exact else 1 << (most - 1).bit_length()  # few programs
