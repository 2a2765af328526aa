"""What a quota may be, and the masses that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    device,
    is_array,
    namespace,
    readable,
    to_numpy,
    wide_float,
)

__all__ = ["mass_totals", "wanted_masses"]

ROUNDING = 2.0**-50
"""Relative distance within which ``fraction * n`` counts as the whole number beside it."""
MASS_ROUNDING = 2.0**-40
"""Relative excess over the sum of the weights that is put down to the rounding of that sum."""


def mass_totals(xp: Namespace, table: ops.Groups) -> tuple[Array, Array]:
    """Mass of all examples and of the positive ones, per row of the batch."""
    wide = wide_float(xp, device(table.counts))
    if table.weights is None:
        columns = (table.counts, table.positives)
        whole, positive = (xp.sum(x, axis=-1, dtype=xp.int64) for x in columns)
    else:
        whole, positive = (ops.total(xp, x) for x in (table.weights, table.positive_weights))
    return cast(xp, whole, wide), cast(xp, positive, wide)


def wanted_masses(
    xp: Namespace, table: ops.Groups, quota: Any, fraction: Any
) -> tuple[Array, tuple[int, ...]]:
    """The wanted masses, shape (..., K), NaN where there are none, and the quota's own shape."""
    if (quota is None) == (fraction is None):
        raise TypeError("give exactly one of quota= (examples) and fraction= (a share of them)")
    name = "quota" if fraction is None else "fraction"
    value = _number(xp, table, name, quota if fraction is None else fraction)
    whole = xp.expand_dims(mass_totals(xp, table)[0], axis=-1)
    flat = xp.reshape(value, (-1,))
    if name == "quota":
        wanted, fits = _within(xp, table, flat, whole)
    else:
        fits = (flat > 0) & (flat <= 1)
        _raise_unless(xp, name, value, fits, "in (0, 1]")
        wanted = _whole_if_close(xp, flat * whole)
    nan = xp.asarray(xp.nan, dtype=wanted.dtype, device=device(wanted))
    return xp.where(fits & (whole > 0), wanted, nan), tuple(value.shape)


def _within(
    xp: Namespace, table: ops.Groups, quota: Array, whole: Array
) -> tuple[Array, Array]:
    """The quota, at most the whole mass, and whether it fits each row of the batch."""
    limit = whole if table.weights is None else whole * (1 + MASS_ROUNDING)
    if readable(whole) and bool(xp.any(whole > 0)):
        most = xp.max(limit)
        expected = f"not negative and at most {float(most):g}, what there is"
        _raise_unless(xp, "quota", quota, (quota >= 0) & (quota <= most), expected)
    return xp.minimum(quota, whole), (quota >= 0) & (quota <= limit)


def _whole_if_close(xp: Namespace, wanted: Array) -> Array:
    nearest = xp.round(wanted)
    return xp.where(xp.abs(wanted - nearest) <= ROUNDING * wanted, nearest, wanted)


def _number(xp: Namespace, table: ops.Groups, name: str, value: Any) -> Array:
    """The quota as a wide float array beside the table."""
    dev = device(table.counts)
    wide = wide_float(xp, dev)
    if type(value) in (int, float):
        return xp.asarray(float(value), dtype=wide, device=dev)
    if type(value) in (list, tuple) and all(type(x) in (int, float) for x in value):
        return xp.asarray([float(x) for x in value], dtype=wide, device=dev)
    if is_array(value) and not isinstance(value, (np.ndarray, np.generic)):
        if namespace(value) is not xp:
            theirs = namespace(value).__name__
            raise TypeError(f"{name} is an array of {theirs} and the scores are of {xp.__name__}")
        fits = xp.isdtype(value.dtype, ("integral", "real floating"))
    else:
        value = np.asarray(value)
        fits = value.dtype.kind in "iuf"
    if not fits:
        raise TypeError(f"{name} must be a number or an array of numbers; got {value!r}")
    if isinstance(value, np.ndarray):
        value = xp.asarray(value.astype(np.float64), dtype=wide, device=dev)
    return cast(xp, value, wide)


def _raise_unless(xp: Namespace, name: str, value: Array, fits: Array, expected: str) -> None:
    if not readable(fits) or bool(xp.all(fits)):
        return
    first = int(np.flatnonzero(~to_numpy(fits))[0])
    bad = float(to_numpy(xp.reshape(value, (-1,)))[first])
    place = f" at position {first}" if fits.shape[0] > 1 else ""
    raise ValueError(f"{name} is {bad:g}{place}; expected a number {expected}")
