"""Student's t distribution, of whole degrees of freedom."""

from __future__ import annotations

import functools

import numpy as np

from quotakernels._array import Array, Namespace, cast, constant, device
from quotakernels.inference._scipy import scipy
from quotakernels.measures.roc_pr.beta import Beta, cumulative, rounds_for

__all__ = ["quantiles", "two_sided"]


def two_sided(xp: Namespace, t: Array, freedom: Array, most: int) -> Array:
    """The probability of a value beyond ±t with ν degrees of freedom, which are at most `most`.

    It is I_x(ν/2, 1/2) with x = ν/(ν + t²); NaN without a degree of freedom.
    """
    normalisers = constant(xp, _log_normalisers(most), t.dtype, device(t))
    known = freedom >= 1
    places = xp.where(known, freedom, xp.ones_like(freedom))
    number = cast(xp, places, t.dtype)
    beta = Beta(number / 2, 0.5, _taken(xp, normalisers, places), rounds_for((most + 1) / 2))
    square = t * t
    share = number / (number + square)
    p = cumulative(xp, beta, share, square / (number + square))
    return xp.where(known & (t == t), p, xp.full_like(p, xp.nan))


def quantiles(xp: Namespace, confidence_level: float, freedom: Array, like: Array) -> Array:
    """The t that so large a share lies within, ±t, with each of some degrees of freedom.

    NaN without any; the degrees are at most the length of `like`, of which the type counts.
    """
    known = freedom >= 1
    table = constant(xp, _quantiles(confidence_level, like.shape[-1]), like.dtype, device(like))
    found = _taken(xp, table, xp.where(known, freedom, xp.ones_like(freedom)))
    return xp.where(known, found, xp.full_like(found, xp.nan))


def _taken(xp: Namespace, table: Array, places: Array) -> Array:
    """Entries of a list, in the shape of their places."""
    return xp.reshape(xp.take(table, xp.reshape(places, (-1,)), axis=0), places.shape)


@functools.cache
def _log_normalisers(most: int) -> list[float]:
    """The logarithm of B(ν/2, 1/2) for ν from 1 on; the first entry is unused."""
    found = scipy().special.betaln(np.arange(1, most + 1) / 2, 0.5)
    return [0.0, *found.tolist()]


@functools.cache
def _quantiles(confidence_level: float, most: int) -> list[float]:
    """For ν from 1 on; the first entry is unused."""
    below = scipy().special.stdtrit(np.arange(1, most + 1), (1 - confidence_level) / 2)
    return [0.0, *(-below).tolist()]
