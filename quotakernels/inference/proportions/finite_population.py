"""The door for quotas of a finite list, of which the examples are a sample."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import Array, Namespace, constant, device, readable
from quotakernels.inputs.columns import first_bad
from quotakernels.inputs.quotas import mass_totals, numbers_beside, wanted_masses

__all__ = ["wanted_and_listed"]


def wanted_and_listed(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    population: Any = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The quotas, and the places that they stand for on the list: infinitely many without one."""
    (wanted,), shape = wanted_masses(xp, table, quota=quota, fraction=fraction)
    if population is None:
        return (wanted, xp.full_like(wanted, xp.inf)), shape
    size = numbers_beside(table.counts, "population", population)
    if size.ndim:
        raise ValueError(
            f"population must be one number; got an array of shape {tuple(size.shape)}"
        )
    whole = mass_totals(xp, table)[0][..., None]
    fits = (size >= whole) & (size == xp.floor(size)) & (size < 2.0**53)
    if readable(fits) and not bool(xp.all(fits)):
        most = float(xp.max(whole))
        expected = f"a whole number below 2**53, at least that of the examples, {most:.15g}"
        raise ValueError(first_bad("population", size, xp.any(~fits), expected))
    nan = constant(xp, xp.nan, wanted.dtype, device(wanted))
    return (xp.where(fits, wanted, nan), wanted * size / whole), shape
