"""Quotas of a finite list, of which the examples are a sample, and exact intervals for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, readable, to_numpy
from quotakernels.inference._scipy import scipy
from quotakernels.inputs.columns import first_bad
from quotakernels.inputs.quotas import numbers_like, wanted_masses
from quotakernels.inputs.totals import Totals

NDArray = np.ndarray[Any, Any]
ENDLESS = 2.0**53
"""As many places as no list has; infinity would stop JAX with `debug_infs`."""


def wanted_and_listed(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    population: Any = None,
    when_short: Any = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The quotas, and the places that they stand for on the list: `ENDLESS` without one."""
    (wanted,), shape = wanted_masses(
        xp, table, quota=quota, fraction=fraction, when_short=when_short
    )
    if population is None:
        return (wanted, xp.full_like(wanted, ENDLESS)), shape
    if isinstance(table, ops.Groups) and table.segments:
        raise TypeError("population is for one list, and cannot be combined with groups")
    size = numbers_like(table.counts, "population", population)
    if size.ndim:
        raise ValueError(
            f"population must be one number; got an array of shape {tuple(size.shape)}"
        )
    whole = Totals(xp, table).whole[..., None]
    fits = (size >= whole) & (size == xp.floor(size)) & (size < ENDLESS)
    if readable(fits) and not bool(xp.all(fits)):
        most = float(xp.max(whole))
        expected = f"a whole number below 2**53, at least {most:.15g}, the number of examples"
        raise ValueError(first_bad("population", size, xp.any(~fits), expected))
    return (ops.nan_unless(xp, fits, wanted), wanted * size / whole), shape


class Draws(NamedTuple):
    """Whole numbers: successes and failures, at least; draws and places on the list, at most.

    Undefined where there are no draws.
    """

    found: Array
    missed: Array
    drawn: Array
    listed: Array


def ends(draws: Draws, tail: float) -> tuple[NDArray, NDArray]:
    """Both ends of the exact interval of the share of successes on the list."""
    if not readable(draws.drawn):
        raise ValueError(
            'method="exact" with population runs on the host, but these values cannot be read; '
            'use method="wilson"'
        )
    host = [np.asarray(to_numpy(x)) for x in draws]
    lower, upper = np.full((2, *host[0].shape), np.nan)
    for place in np.ndindex(host[0].shape):
        found, missed, drawn, listed = (int(x[place]) for x in host)
        if drawn > 0:
            lower[place] = least(found, drawn, listed, tail) / listed
            upper[place] = 1 - least(missed, drawn, listed, tail) / listed
    return lower, upper


def least(found: int, drawn: int, listed: int, tail: float) -> int:
    """The least number of successes on the list with which `found` or more of those drawn have at
    least the probability `tail`, drawn without replacement (hypergeometric).
    """
    reached = scipy().stats.hypergeom.sf
    low, high = found, listed - drawn + found
    while low < high:
        middle = (low + high) // 2
        if reached(found - 1, listed, middle, drawn) >= tail:
            high = middle
        else:
            low = middle + 1
    return low
