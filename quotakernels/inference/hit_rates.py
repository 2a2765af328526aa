"""Intervals of the hit rate at a quota: score, Wilson's and exact ones, also of a finite list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    constant,
    device,
    finished,
    readable,
    result_float,
    to_numpy,
    wide_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inference._call import not_one_of, refuse_masses
from quotakernels.inference._distributions import check_level, normal_width, scipy
from quotakernels.inputs.columns import first_bad
from quotakernels.inputs.cuts import wanted_masses, whole_if_close
from quotakernels.inputs.numbers import numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.hit_rate import hit_rate, positives_at, share_found
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, table_of

_STEP = 0.1
_SPREAD = [_STEP * k - 3.7 for k in range(78)]
_NODES = [math.exp(t - math.exp(-t)) for t in _SPREAD]
_WEIGHTS = [_STEP * s * (1 + math.exp(-t)) for s, t in zip(_NODES, _SPREAD, strict=True)]
"""Of the double exponential rule for integrals from 0 on of what falls like exp(-s)."""
_ROUNDS = 9
"""Of Newton's method, which needs up to 7."""


# a share of independent trials, whose numbers need not be whole


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
    return width * xp.total(weights * density)  # XLA's fused sums of this go wrong on CPU


# a sample of a finite list


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
    if table.segments:
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
    return (xp.nan_unless(fits, wanted), wanted * size / whole), shape


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


Method = Literal["score", "wilson", "exact"]


# the hit rate


@plainly
class HitRateInterval(NamedTuple, Generic[T]):
    """A hit rate with its confidence interval; all of one shape.

    Attributes
    ----------
    estimate : array
        The hit rate.
    lower, upper : array
        The ends of the interval.
    """

    estimate: T
    lower: T
    upper: T


class _IntervalMeasure(Measure):
    """A measure, but for the exact interval of a finite list, which SciPy finds on the host."""

    validator = staticmethod(wanted_and_listed)

    def _computed(self, ranking: Ranking, numbers: dict[str, Any], options: dict[str, Any]) -> Any:
        finite = numbers.get("population") is not None
        if not finite or options.get("method") != "exact":
            return super()._computed(ranking, numbers, options)
        level = options.get("confidence_level", 0.95)
        check_level(level)
        xp = namespace(ranking.counts)
        dtype = result_float(xp, device(ranking.counts))
        with computing(xp):
            table = table_of(xp, ranking, by_group=True)
            refuse_masses(table, "the ranking")
            (wanted, listed), shape = self.validator(xp, table, **numbers)
            draws, estimate = compiled(_draws, xp)(table, wanted, listed)
            bounds = (xp.asarray(x, device=device(wanted)) for x in ends(draws, (1 - level) / 2))
            found = HitRateInterval(estimate, *bounds)
            found = HitRateInterval(*(xp.reshape(x, (*x.shape[:-1], *shape)) for x in found))
            return finished(xp, found, dtype)


def _draws(table: ops.Groups, wanted: Array, listed: Array) -> tuple[Draws, Array]:
    """The whole numbers of a quota, rounded so that the interval grows, and the hit rate."""
    xp = namespace(wanted)
    found, missed = _whole_parts(xp, table, wanted)
    rounded = (found, missed, xp.ceil(wanted), xp.ceil(whole_if_close(xp, listed)))
    there = wanted > 0
    draws = (cast(xp, xp.where(there, x, xp.zeros_like(x)), xp.int64) for x in rounded)
    return Draws(*draws), share_found(xp, table, wanted)


def _whole_parts(xp: Namespace, table: ops.Groups, wanted: Array) -> tuple[Array, Array]:
    """Positives and negatives among the selected, rounded down."""
    found = whole_if_close(xp, positives_at(xp, table, wanted))
    return xp.floor(found), xp.floor(whole_if_close(xp, wanted - found))


@measure(_IntervalMeasure, greater_is_better=None, by_group=True)
def hit_rate_interval(
    table: ops.Groups,
    wanted: Array,
    listed: Array,
    *,
    confidence_level: float = 0.95,
    method: Method = "score",
) -> HitRateInterval:
    """Confidence interval of the hit rate at a quota: of T(j)/j, the share of positives.

    The examples count as independent draws, and the cut is their score at position j.  With
    `population` they are a random sample of a finite list.  The interval is then for the best of
    that list, at the same fraction: J = j·population/n places.

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota or fraction.

    Parameters
    ----------
    sample_weight : None
        Refused, like a ranking with weights, because the draws are counted.
    population : number, optional
        The length of the list from which the n examples are a random sample without replacement: a
        whole number from n to below 2**53.  If it is n, everything is known.  It does not go with
        `groups`.
    confidence_level : float
        Above 0 and below 1.
    method : {"score", "wilson", "exact"}
        "score" is the score interval at a quota, whose cut moves with the sample.  The others are
        for a cut that was fixed beforehand: "wilson" is Wilson's score interval; "exact" is Clopper
        and Pearson's, which covers at least at its level for every hit rate.

    Returns
    -------
    HitRateInterval
        Arrays of shape (..., *Q), with `groups` (..., S, *Q).  The ends are between 0 and 1.  All
        NaN for quota 0 and where there are no examples.

    Raises
    ------
    ValueError
        A population that is not a whole number, or below n.  Where values cannot be read the result
        is NaN instead.  The exact interval of a population is an error there, because SciPy
        computes it on the host.

    See Also
    --------
    hit_rate : the estimate.

    Notes
    -----
    The ends of the score interval are the shares p for which T(j) is z standard errors from p·j.
    The variance is f·j·[p(1 - p) + (1 - j/n)(p - m)²], with f = (J - j)/(J - 1) with a population
    and 1 without.  The second term is for the cut, which moves with the sample; m is the rate of
    positives there, (T(j + w) - T(j - w) + 1/2)/(number of places + 1) with w = max(5, j^0.8/2),
    within 0 and n.  It matters where the hit rate falls steeply at the quota, such as for a strong
    model with as many places as there are positives.  Wilson's interval leaves it out.  Both take
    fractional T(j) and j as they are.

    The exact ends are the shares for which at least as many positives, or at most as many, have a
    probability of α/2, with α = 1 - confidence_level.  They are quantiles of a beta distribution,
    with a relative error of about 1e-10.  With a population, the number of positives in the list's
    J places replaces the share, and the draws are hypergeometric.  The ends are then the smallest
    and the largest number with at least α/2.  If ties or the quota leave fractions, numbers are
    rounded so that the interval only grows.

    In simulations at such steep quotas the 95 % score interval covered the true value in 96 to
    98 %, with a population in 91 to 98, and Wilson's in 69 to 82.  For a strong model with fewer
    than 30 positives and more places than positives, the score interval covered it in 88 %, with a
    population in 89 to 93, and Wilson's in 66 to 76.  Elsewhere both covered it in 93 to 100.  If
    the quota ends in a large tie group, the score interval is rather too wide than too narrow.

    References
    ----------
    [Wilson 1927]; [Clopper 1934].

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels.inference import hit_rate_interval
    >>> score = np.arange(40, 0, -1)
    >>> repaid = score % 5 > 0
    >>> found = hit_rate_interval(repaid, score, quota=10)
    >>> print(found.estimate, found.lower.round(4), found.upper.round(4))
    0.8 0.4454 0.9587
    >>> exact = hit_rate_interval(repaid, score, quota=10, method="exact")
    >>> print(exact.lower.round(4), exact.upper.round(4))
    0.4439 0.9748
    >>> listed = hit_rate_interval(repaid, score, quota=10, method="exact", population=60)
    >>> print(listed.lower.round(4), listed.upper.round(4))
    0.6 0.8667
    """
    check_level(confidence_level)
    if method not in get_args(Method):
        raise not_one_of("method", method, get_args(Method))
    refuse_masses(table, "the ranking")
    xp = namespace(wanted)
    if method == "exact":
        tail, trials = (1 - confidence_level) / 2, xp.ceil(wanted)
        parts = xp.stack(_whole_parts(xp, table, wanted))
        bounds = exact_lower(xp, parts, trials, tail)
        lower, upper = bounds[0, ...], 1 - bounds[1, ...]
    else:
        found = xp.minimum(positives_at(xp, table, wanted), wanted)
        z, unknown = normal_width(confidence_level), _unknown(xp, wanted, listed)
        moving = moving_cut(xp, table, wanted) if method == "score" else ()
        lower, upper = wilson(xp, found, wanted - found, z, unknown, *moving)
    lower, upper = (xp.nan_unless(wanted > 0, x) for x in (lower, upper))
    return HitRateInterval(share_found(xp, table, wanted), lower, upper)


def moving_cut(xp: Namespace, table: ops.Groups, wanted: Array) -> tuple[Array, Array]:
    """The rate of positives at the cut, and the share of the examples beyond it."""
    whole = cast(xp, Totals(xp, table).whole[..., None], wanted.dtype)
    wanted = wanted + xp.zeros_like(whole)
    first, last = around_cut(xp, wanted, whole)
    counted = positives_at(xp, table, xp.concat([first, last], axis=-1))
    quotas = wanted.shape[-1]
    between = counted[..., quotas:] - counted[..., :quotas]
    return (between + 0.5) / (last - first + 1), 1 - wanted / whole


def around_cut(xp: Namespace, wanted: Array, whole: Array) -> tuple[Array, Array]:
    """The places between which the rate of positives at the cut is counted."""
    away = xp.maximum(wanted**0.8 / 2, 5 * xp.ones_like(wanted))
    return xp.maximum(wanted - away, xp.zeros_like(wanted)), xp.minimum(wanted + away, whole)


def _unknown(xp: Namespace, wanted: Array, listed: Array) -> Array:
    """The factor of the variance for a sample of a finite list, (J - j)/(J - 1)."""
    one = xp.ones_like(wanted)
    finite = xp.where(listed < ENDLESS, listed, one)
    several = finite > 1
    factor = (finite - wanted) / xp.where(several, finite - 1, one)
    factor = xp.where(several, xp.minimum(factor, one), one)
    return xp.where(listed > wanted, xp.where(listed < ENDLESS, factor, one), xp.zeros_like(one))


_HOST: Namespace = namespace(np.empty(0))


# what a quota brings where all examples of a cell bring the same


def impact_ends(
    ranking: Ranking, impacts: Sequence[float], quota: float, confidence_level: float
) -> NDArray:
    """Both ends of what a quota of one list brings, (i_tp, i_fp, i_fn, i_tn) being the impacts.

    What is brought is a sum over the positives among the selected, and those among the others.
    Either has Wilson's interval, which has a width even where all are positive, as resamples have
    not.  The cut moves with the sample: what it moves past are cases of the rate of positives at
    the cut.  The distances of the ends add up as those of independent estimates do, by their
    squares, and the ends stay within what the numbers of places allow.
    """
    tp, fp, fn, tn = impacts
    total, positives = (float(np.sum(to_numpy(x))) for x in (ranking.counts, ranking.positives))
    found = quota * float(hit_rate(ranking, quota=quota)) if quota > 0 else 0.0
    worth, squares, apart = fp * quota + tn * (total - quota), np.zeros(2), 0.0
    possible = np.full(2, worth)
    at_cut = _rate_at_cut(ranking, quota)
    for sign, impact, number, places in (
        (1, tp - fp, found, quota),
        (-1, fn - tn, positives - found, total - quota),
    ):
        worth += impact * number
        possible += np.sort([0.0, impact * places])
        if places > 0:
            squares += np.sort(impact * _away(number, places, confidence_level)) ** 2
            apart += sign * impact * (number / places - at_cut)
    squares += (normal_width(confidence_level) * apart) ** 2 * quota * (1 - quota / total)
    ends = worth + np.asarray([-1.0, 1.0]) * np.sqrt(squares)
    return np.asarray(np.clip(ends, *possible))


def _rate_at_cut(ranking: Ranking, quota: float) -> float:
    xp = namespace(ranking.counts)
    with computing(xp):
        dev = device(ranking.counts)
        wanted = constant(xp, [quota], wide_float(xp, dev), dev)
        return float(moving_cut(xp, table_of(xp, ranking), wanted)[0][..., 0])


def _away(number: float, places: float, confidence_level: float) -> NDArray:
    """How far both ends of Wilson's interval are from a number of positives in some places."""
    found, missed = np.asarray(number), np.asarray(places - number)
    ends = wilson(_HOST, found, missed, normal_width(confidence_level), np.ones(()))
    return places * np.asarray(ends) - number
