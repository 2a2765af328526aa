"""Intervals of a share from successes among independent trials; numbers need not be whole."""

from __future__ import annotations

import math

from quotakernels import ops
from quotakernels._array import Array, Namespace, constant, device

_STEP = 0.1
_SPREAD = [_STEP * k - 3.7 for k in range(78)]
_NODES = [math.exp(t - math.exp(-t)) for t in _SPREAD]
_WEIGHTS = [_STEP * s * (1 + math.exp(-t)) for s, t in zip(_NODES, _SPREAD, strict=True)]
"""Of the double exponential rule for integrals from 0 on of what falls like exp(-s)."""
_ROUNDS = 9
"""Of Newton's method, which needs up to 7."""


def wilson(
    xp: Namespace,
    found: Array,
    missed: Array,
    z: float,
    variance: Array,
    cut: Array | float = 0.0,
    moves: Array | float = 0.0,
) -> tuple[Array, Array]:
    """The shares p for which `found` is z standard errors from p·n, n = found + missed.

    The variance is the given multiple of [p(1 - p) + moves·(p - cut)²]n: of a number fixed before
    if `moves` is 0.  Roots are divided by, not subtracted.
    """
    trials = found + missed
    square = z * z * variance

    def lower(found: Array, missed: Array, cut: Array | float) -> Array:
        share = found / trials
        apart = moves * trials * (share - cut) ** 2
        root = found * (missed / trials) + apart + square * (1 / 4 - moves * cut * (1 - cut))
        below = found + square * (1 / 2 - moves * cut) + xp.sqrt(square * root)
        end = found * share - square * moves * cut**2
        inside = (end > 0) & (below > 0)
        end = xp.where(inside, end / xp.where(inside, below, xp.ones_like(below)), 0 * share)
        return xp.where(xp.isnan(below), below, end)  # NaN of no trials

    return lower(found, missed, cut), 1 - lower(missed, found, 1 - cut)


def exact_lower(xp: Namespace, found: Array, trials: Array, tail: float) -> Array:
    """The share p with which `found` successes or more have the probability `tail` (less than ½):
    the lower end of Clopper and Pearson, a quantile of Beta(found, trials - found + 1).

    Newton's method for the logarithm of the probability as a function of ln(p/(1 - p)), in which
    it is concave, so that steps from below do not lead beyond.  It is an integral, divided by the
    whole, of a density that falls at least exponentially; both are sums over fixed nodes, whose
    number does not depend on that of the trials.
    """
    a = xp.where(found > 0, found, xp.ones_like(found))
    b = trials - a + 1
    mean, rest = a / (a + b), b / (a + b)
    width = 1 / xp.sqrt(a * rest)
    flat = xp.zeros_like(a)
    whole = _below(xp, a, b, flat, width) + _below(xp, b, a, flat, width)
    at = -math.sqrt(-2 * math.log(2 * tail)) * width
    for _ in range(_ROUNDS):
        rise = a * rest * xp.expm1(at) / (rest + mean * xp.exp(at))
        part = _below(xp, a, b, at, 1 / (xp.abs(rise) + 1 / width))
        density = xp.exp(_log_density(xp, a, b, at))
        at = at - (xp.log(part / whole) - math.log(tail)) * (part / density)
    end = mean / (mean + rest * xp.exp(-at))
    return xp.where(found > 0, end, 0 * trials)


def _log_density(xp: Namespace, a: Array, b: Array, at: Array) -> Array:
    """That of the log odds of Beta(a, b) at a distance from its mode, less that of the mode."""
    mean, rest = a / (a + b), b / (a + b)
    return -a * xp.log1p(rest * xp.expm1(-at)) - b * xp.log1p(mean * xp.expm1(at))


def _below(xp: Namespace, a: Array, b: Array, at: Array, width: Array) -> Array:
    """The integral of that density from minus infinity up, where it falls within this width."""
    nodes, weights = (constant(xp, x, at.dtype, device(at)) for x in (_NODES, _WEIGHTS))
    a, b, at = (xp.expand_dims(x, axis=-1) for x in (a, b, at))
    density = xp.exp(_log_density(xp, a, b, at - nodes * width[..., None]))
    return width * ops.total(xp, weights * density)  # XLA's fused sums of this go wrong on CPU
