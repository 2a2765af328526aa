"""Masses of any size, brought near 1 by powers of two, which change no digit.

Products of a few masses then neither overflow nor vanish.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from quotakernels import ops
from quotakernels._array import Array, Namespace, known, known_between
from quotakernels.inputs.totals import Totals
from quotakernels.ops import namespace
from quotakernels.ops.arrays import is_float

MASSES = ("quota", "start", "stop", "positives", "tp", "fp", "fn", "tn")
"""Fields of results that are masses; all others are free of their unit."""


def in_usual_units(function: Callable[..., Any], of_masses: bool = True) -> Callable[..., Any]:
    """A function of a table and of arrays, such that the unit of the masses does not matter.

    The arrays are masses too, of shape (..., K), if it is `of_masses`.  `MASSES` among the fields
    of the result are in the caller's unit.
    """

    @functools.wraps(function)
    def scaled(table: ops.TieTable, *arrays: Array, **options: Any) -> Any:
        xp = namespace(table.counts)
        unit = None
        if table.weighted:
            whole, *classes = (x[..., None] for x in Totals(xp, table))
            unit = usual_unit(xp, whole, classes)
        if unit is None:
            return function(table, *arrays, **options)
        per_row = xp.repeat_per_row(table, unit[..., 0])
        positive, negative = (x * per_row for x in table[3:5])
        arms = {name: x for name, x in table.columns.items() if name in ("treated", "control")}
        columns = table.columns | ops.map_columns(lambda x: x * per_row, arms)
        masses = {"positive_weights": positive, "negative_weights": negative}
        table = table._replace(**masses, columns=columns)
        if of_masses:
            arrays = tuple(x * unit for x in arrays)
        return _in_callers_unit(function(table, *arrays, **options), 1 / unit)

    return scaled


def _in_callers_unit(result: Any, unit: Array) -> Any:
    if not hasattr(result, "_fields"):
        return result
    masses = {name: x * unit for name, x in result._asdict().items() if name in MASSES}
    return result._replace(**masses)


def usual_unit(xp: Namespace, mass: Array, parts: Iterable[Array] = ()) -> Array | None:
    """A power of two for each mass that is far from 1, which brings it near; for others 1.

    It leaves no part so small that its square is no usual float.  None where it is known that no
    mass is far.
    """
    fraction, most = (52, 1024) if xp.finfo(mass.dtype).bits == 64 else (23, 128)
    far = most // 8
    if 0 not in mass.shape and known_between(mass, 2.0**-far, 2.0**far):
        return None
    exponent = _exponent(xp, mass, fraction, most)
    usual = (xp.order_key(mass) <= 0) | ((exponent >= -far) & (exponent < far))
    if known(usual):
        return None
    least = mass
    for part in parts:
        least = xp.where(part > 0, xp.minimum(least, part), least)
    room = _exponent(xp, least, fraction, most) + (most - far) // 2
    exponent = xp.minimum(exponent, xp.where(room > 0, room, xp.zeros_like(room)))
    limit = most - most // 40  # where the power and its inverse are usual floats
    exponent = xp.clip(exponent, -limit, limit)
    exponent = exponent // 2 * 2  # so that square roots keep their digits
    exponent = -xp.where(usual, xp.zeros_like(exponent), exponent)
    key = xp.order_key(mass)
    if is_float(xp, key):
        return xp.pow(xp.full_like(mass, 2.0), xp.cast(exponent, mass.dtype))
    return xp.from_order_key(xp.cast((exponent + most - 1) << fraction, key.dtype), mass.dtype)


def _exponent(xp: Namespace, mass: Array, fraction: int, most: int) -> Array:
    """The exponents of positive floats, from their bits, since subnormals may be compared equal to
    0; without these, within one.
    """
    key = xp.order_key(mass)
    if not is_float(xp, key):
        return (key >> fraction) - (most - 1)
    usual = xp.where((mass > 0) & xp.isfinite(mass), mass, xp.ones_like(mass))
    return xp.cast(xp.floor(xp.log2(usual)), xp.int64)
