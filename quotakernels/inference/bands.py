"""Confidence bands of curves, and intervals of the best cut."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, readable, to_numpy, tolerance
from quotakernels._records import plainly
from quotakernels.inference._call import (
    DATA,
    ENOUGH_SCORES,
    PRECISION,
    IntervalMethod,
    refuse_unused,
    warn_below,
    warn_of_few,
)
from quotakernels.inference._distributions import least_share
from quotakernels.inference._resamples import owners, units_by_class
from quotakernels.inference.bootstrapping import (
    BootstrapResult,
    bootstrap,
    defined,
    quantile,
    summary,
)
from quotakernels.inputs.columns import MASS_ROUNDING, as_column
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.examples import Examples, validated
from quotakernels.inputs.keywords import forwarding, show_value
from quotakernels.inputs.models import host_floats
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.measures._facts import compared, direction_of
from quotakernels.measures._measure import GROUPS, Measure, measure
from quotakernels.measures.at_quota import Curve, cut_masses, hit_rate, lift, qrecall
from quotakernels.measures.gains import best_quota, impact_at_quota
from quotakernels.measures.tables.best_cut import (
    SAME_VALUE,
    BestBoundary,
    best_and_curve,
    best_boundary,
    best_cut,
)
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, ranked, table_of

_GIVEN_RATE = (lambda x: (x >= 0) & (x <= 1), "a rate, from 0 to 1")


def _wanted_negatives(
    xp: Namespace, table: ops.TieTable, *, fpr: Any
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The number of false positives, or their mass, at each rate, shape (..., K)."""
    rate = checked(xp, {"fpr": numbers_like(table.counts, "fpr", fpr)}, {"fpr": _GIVEN_RATE})["fpr"]
    negative = xp.expand_dims(Totals(xp, table).negative, axis=-1)
    wanted = xp.reshape(rate, (-1,)) * negative
    return (xp.nan_unless(negative > 0, wanted),), tuple(rate.shape)


@measure(
    Measure, numbers=_wanted_negatives, greater_is_better=True, monotone="always", by_positives=True
)
def roc(table: ops.TieTable, wanted: Array) -> Array:
    """The value of `points.tpr_at` with ``interpolate=True``, found by bisection.

    That is one step for each rate and doubling of the curve's length, not for each rate and cut.
    """
    xp = namespace(wanted)
    along, up = (xp.cast(x, wanted.dtype) for x in cut_masses(xp, table))
    reached = wanted + tolerance(wanted, MASS_ROUNDING) * along[..., -1:]
    above = xp.bisect(along, reached, beyond=True)  # 1 at least, as the curve begins with 0
    above, below = (xp.clip(x, 0, along.shape[-1] - 1) for x in (above, above - 1))

    def between(x: Array) -> tuple[Array, Array]:
        start = xp.take_along_axis(x, below, axis=-1)
        return start, xp.take_along_axis(x, above, axis=-1) - start

    (start, way), (found, more) = between(along), between(up)
    share = xp.where(way > 0, (wanted - start) / way, xp.zeros_like(way))
    share = xp.clip(share, 0.0, 1.0)
    height = xp.rate(found + share * more, up[..., -1:])
    return xp.where(xp.isnan(wanted), wanted, height)


_CURVES = {
    "hit_rate": hit_rate,
    "qrecall": qrecall,
    "lift": lift,
    "roc": roc,
    "impact_at_quota": impact_at_quota,
}
_OF_EXAMPLES = ("sample_weight", "where", "pos_label", "validate")
_OF_GROUPS = dict.fromkeys(GROUPS, "; call it with one group's examples")
_REFUSED = {
    **_OF_GROUPS,
    "cost": ": it is drawn over quotas and rates",
    "treatment": "; bootstrap takes it, with uplift_at_quota at several quotas",
}
_USUAL_POINTS = 20
"""Points of a curve if none are given."""
ERROR_ROUNDING = 2.0**-40
"""Relative standard error that is put down to rounding."""


@plainly
class CurveBand(NamedTuple):
    """A curve at K places, and the band around it.

    Attributes
    ----------
    at : array, shape (K,)
        The fractions, quotas or false positive rates.
    estimate : array, shape (..., K)
        The curve there; NaN where it is undefined.
    lower, upper : arrays, shape (..., K)
        Both edges of the band.
    standard_error : array, shape (..., K)
        The standard deviation over the resamples.
    undefined : integer array, shape (..., K)
        How many resamples leave the curve undefined there.  The band is that of the others.
    """

    at: Array
    estimate: Array
    lower: Array
    upper: Array
    standard_error: Array
    undefined: Array


@forwarding(bootstrap, without=_REFUSED)
def curve_band(
    curve: Any,
    y_true: Any,
    y_score: Any,
    *,
    fraction: Any = None,
    quota: Any = None,
    fpr: Any = None,
    simultaneous: bool = False,
    confidence_level: float = 0.95,
    method: IntervalMethod = "percentile",
    **options: Any,
) -> CurveBand:
    """Confidence band of a curve, by the bootstrap: at each point, or for the whole curve at once.

    Each pointwise interval covers its true value with the wanted confidence, but along a curve one
    of them often fails.  A simultaneous band covers the true curve at all its points together.  It
    is estimate ± c·s with the standard error s of each point, where c is the quantile over the
    resamples of the largest |curve* - curve|/s along the curve (sup-t band).

    The other keywords are those of `bootstrap`.

    Parameters
    ----------
    curve : {"hit_rate", "qrecall", "lift", "roc", "impact_at_quota"}
        Or the measure itself: `hit_rate`, `qrecall`, `lift`, `roc_curve`, or the curve of one.  For
        `impact_at_quota` it is the `whole`.
    y_true, y_score : arrays, shape (n,) and (..., n)
        Labels and scores; models are leading axes of the scores and share the resamples.
    fraction, quota : array, shape (K,), optional
        Where to evaluate a curve over quotas: at shares of all examples, or at numbers.  Give one.
    fpr : array, shape (K,), optional
        Where to evaluate the ROC curve, which is straight between two cuts; where it is vertical,
        its highest point counts.  By default all curves are evaluated at 0.05, 0.1, … and 1.
    simultaneous : bool
        A band for the whole curve, instead of an interval for each point.
    confidence_level : float
        The share of such bands that should contain the true curve, or at each point its value.
    method : {"percentile", "expanded", "bca", "basic"}
        The interval of `bootstrap` at each point.  The default is "percentile", because percentiles
        of rising curves rise too; what corrects the other intervals differs from point to point.

    Returns
    -------
    CurveBand
        NaN at points where the curve is undefined, and in the band where it is undefined in all
        resamples.

    Raises
    ------
    TypeError, ValueError
        Another curve; points of the wrong kind for it, or not given as a list.

    Warns
    -----
    UserWarning
        Simultaneous bands are too narrow with fewer than 30 positives or negatives, or fewer than
        20 distinct scores.

    See Also
    --------
    bootstrap : intervals of any measure.
    best_cut_interval : how sure the best cut is.

    Notes
    -----
    Where all positives are found, or all selected examples are positive, all resamples agree and
    the band would have no width.  There it goes down to (α/2)^(1/m), with α = 1 - confidence_level,
    for m positives or m selected examples; this is Clopper and Pearson's bound.  With weights m is
    (Σw)²/Σw² of the positives (Kish), and with clusters at most the number of clusters with a
    positive.  Where no positive is found, the band goes up to 1 minus that.  The lift has no such
    ends, nor has the hit rate with weights or clusters.  Points where all resamples agree, such as
    at fraction 1, do not count in the maximum.  A simultaneous band stays within the range of the
    curve: from 0 to 1, or for the lift to 1/fraction; a band of an impact has no limits.  On each
    side it is at least as wide as the pointwise interval.  It is for the K points only, and
    promises nothing between them.

    In simulations pointwise 95 % bands covered the curve at a point in 92 to 100 %.  Simultaneous
    bands covered it at six points in 90 to 97, with 20 positives in 90 to 92.  With scores of five
    values and 30 positives simultaneous bands covered it in 81 to 91, and missed mostly near both
    ends of the curve.

    References
    ----------
    [Montiel Olea 2019], the sup-t band.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels.inference import curve_band
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.random(500) < 0.2
    >>> scores = rng.normal(labels)
    >>> found = curve_band("qrecall", labels, scores, fraction=[0.1, 0.5], random_state=1)
    >>> print(found.estimate.round(2), found.lower.round(2), found.upper.round(2))
    [0.24 0.72] [0.17 0.65] [0.3 0.8]
    >>> whole = curve_band(
    ...     "qrecall", labels, scores, fraction=[0.1, 0.5], simultaneous=True, random_state=1
    ... )
    >>> print(whole.lower.round(2), whole.upper.round(2))
    [0.17 0.63] [0.31 0.81]
    """
    places = {"fraction": fraction, "quota": quota, "fpr": fpr}
    chosen, name, at = _chosen(curve, {k: x for k, x in places.items() if x is not None})
    measure = compared(functools.partial(_CURVES[chosen], **{name: at}))
    options["confidence_level"] = confidence_level
    found = bootstrap(measure, y_true, y_score, method=method, **options)
    if simultaneous:
        _warn_of_few("simultaneous bands are too narrow", y_true, y_score, options)
    xp, dtype = namespace(found.resamples), found.resamples.dtype
    with xp.computing():
        found = BootstrapResult(*(x if x is found.undefined else xp.wide(x) for x in found))
        ends = found.lower, found.upper
        at = numbers_like(found.resamples, name, at)
        if simultaneous:
            ends = _simultaneous(xp, found, _range(xp, chosen, name, at), confidence_level)
        if _has_exact_ends(chosen, options):
            data = {k: x for k, x in options.items() if k in _OF_EXAMPLES}
            examples = validated({"y_true": y_true, "y_score": y_score, **data}).examples
            few = _few(xp, examples, options.get("clusters"), (chosen, name), at)
            ends = _beyond(xp, found.estimate, ends, *few, (1 - confidence_level) / 2)
        band = CurveBand(at, found.estimate, *ends, found.standard_error, found.undefined)
        return xp.finished(band, dtype)


def _chosen(curve: Any, places: dict[str, Any]) -> tuple[str, str, Any]:
    """The name of the curve, the name of the argument with its places, and the places."""
    name = getattr(curve, "__name__", curve)
    name = name.removesuffix("_curve") if isinstance(name, str) else name
    if not isinstance(name, str) or name not in _CURVES:
        raise ValueError(f"curve must be one of {', '.join(_CURVES)}; got {show_value(curve)}")
    fitting = ("fpr",) if name == "roc" else ("fraction", "quota")
    if len(places) > 1 or not set(places) <= set(fitting):
        expected = " or ".join(f"{x}=" for x in fitting)
        raise TypeError(f"{name} takes {expected}; got {', '.join(places)}")
    if not places:
        return name, fitting[0], np.arange(1, _USUAL_POINTS + 1) / _USUAL_POINTS
    ((kind, given),) = places.items()
    at = as_column(kind, given)
    if at.ndim != 1 or at.shape[0] == 0:
        raise ValueError(f"{kind} must be a list of numbers; got shape {tuple(at.shape)}")
    return name, kind, to_numpy(at) if readable(at) else at


def _has_exact_ends(curve: str, resampling: dict[str, Any]) -> bool:
    """Whether the numbers of examples behind the points of a curve are known."""
    one_by_one = all(resampling.get(x) is None for x in ("sample_weight", "clusters"))
    return curve in ("qrecall", "roc") or (curve == "hit_rate" and one_by_one)


def _few(
    xp: Namespace, examples: Examples, clusters: Any, what: tuple[str, str], at: Array
) -> tuple[Array, Array]:
    """How many units are behind each point of a curve, and which share of the mass is selected.

    Positives with unequal weights amount to fewer, and all of a cluster count as one.
    """
    scores, _, weights, valid, *_ = examples
    there = xp.ones(scores.shape, dtype=xp.bool, device=device(scores)) if valid is None else valid
    counted = xp.cast(xp.count(there), at.dtype)
    mass = counted
    if weights is not None:
        mass = xp.total(xp.where(there, weights, xp.zeros_like(weights)))[..., None]
    share = at / mass if what[1] == "quota" else at
    if what[0] == "hit_rate":
        return share * counted, share
    owner = None if clusters is None else owners(xp, examples, clusters)[1]
    positives = units_by_class(xp, examples, owner)[0]
    return xp.cast(positives, at.dtype)[..., None], share


def _beyond(
    xp: Namespace,
    estimate: Array,
    ends: tuple[Array, Array],
    units: Array,
    share: Array,
    tail: float,
) -> tuple[Array, Array]:
    """Ends that reach as far as Clopper and Pearson's if all units or none are found.

    Then all resamples agree, but the curve of other examples could still differ.
    """
    least = least_share(xp, tail, units)
    close = tolerance(estimate, ERROR_ROUNDING)
    unsure = share < 1 - close
    lower = xp.where(unsure & (estimate >= 1 - close), xp.minimum(ends[0], least), ends[0])
    upper = xp.where(unsure & (estimate == 0), xp.maximum(ends[1], 1 - least), ends[1])
    return lower, upper


def _range(xp: Namespace, curve: str, name: str, at: Array) -> tuple[float, Array]:
    """The smallest and largest value that the curve can have at each place."""
    most = float(xp.finfo(at.dtype).max)
    if curve == "impact_at_quota":
        return -most, xp.full_like(at, most)
    if curve != "lift":
        return 0.0, xp.ones_like(at)
    return 0.0, 1 / at if name == "fraction" else xp.full_like(at, most)


def _simultaneous(
    xp: Namespace, found: BootstrapResult, limits: tuple[float, Array], confidence_level: float
) -> tuple[Array, Array]:
    """Both edges of the band that contains that share of the resampled curves as a whole."""
    estimate, lower, upper, error, _, resamples = found
    varies = error > tolerance(error, ERROR_ROUNDING) * xp.abs(estimate)
    unit = xp.where(varies, error, xp.ones_like(error))
    away = xp.abs(resamples - xp.expand_dims(estimate, axis=-1)) / xp.expand_dims(unit, axis=-1)
    counts = xp.expand_dims(varies, axis=-1) & (resamples == resamples)
    largest = xp.max(xp.where(counts, away, xp.zeros_like(away)), axis=-2)
    largest = xp.nan_unless(xp.any(counts, axis=-2), largest)
    factor = xp.expand_dims(quantile(xp, largest, confidence_level), axis=-1)
    half = xp.where(varies, factor * unit, xp.zeros_like(unit))
    half = xp.where(xp.isnan(error), error, half)
    low, high = xp.minimum(estimate - half, lower), xp.maximum(estimate + half, upper)
    return xp.clip(low, limits[0]), xp.minimum(high, limits[1])


# the best cut: what it brings, and how much of that is luck


@plainly
class BestCutInterval(NamedTuple):
    """The best cut and what it brings, with intervals.

    Attributes
    ----------
    value : BootstrapResult
        What the best cut brings.
    threshold, quota : BootstrapResult
        The cut: the score of the last selected example, and the number or mass of the selected.  If
        selecting nobody is best, the quota is 0 and the threshold undefined; `undefined` of the
        threshold counts such resamples.
    optimism : array, shape (...)
        How much more a cut brings on the examples that chose it than on others; below 0 if less of
        the measure is better.
    expected : BootstrapResult
        What the chosen cut brings on other examples, ``value.estimate - optimism``, with its
        interval.  If selecting nobody, or everybody, is best and brings the same in all resamples,
        the optimism is 0 and the interval has no width.
    """

    value: BootstrapResult
    threshold: BootstrapResult
    quota: BootstrapResult
    optimism: Array
    expected: BootstrapResult


@forwarding(bootstrap, without=_OF_GROUPS)
def best_cut_interval(
    best: Any,
    y_true: Any,
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    method: IntervalMethod = "percentile",
    **options: Any,
) -> BestCutInterval:
    """Confidence intervals of the best cut and of what it brings, and its optimism (bootstrap).

    The best cut is found again in each resample.  The other keywords are those of `bootstrap`.

    Parameters
    ----------
    best : function
        The function that chooses the cut: `best_boundary`, `best_cut` or `best_quota`.
    y_true, y_score : arrays, shape (n,) and (..., n)
        Labels and scores; models are leading axes of the scores and share the resamples.
    quota, fraction : number, optional
        The largest number, or share, of examples that a cut may select; by default all.
    method : {"percentile", "expanded", "bca", "basic"}
        The interval of `bootstrap`; `expected` does not depend on it.  The default is "percentile",
        because "bca" and "expanded" are corrected by leaving out examples, and then the best cut
        jumps.
    **options
        The function's own arguments, such as ``impacts=(5, -4, 0, 0)`` or ``measure=informedness``.

    Returns
    -------
    BestCutInterval
        NaN where no cut has a value; resamples whose weight is less than the quota are undefined.

    Raises
    ------
    TypeError
        A function other than these three; a limit that is not a number; groups.

    Warns
    -----
    UserWarning
        The interval of `expected` is too narrow with fewer than 30 positives or negatives, or fewer
        than 20 distinct scores.

    See Also
    --------
    curve_band : how sure a curve is.

    Notes
    -----
    The value at a cut that was chosen on the same examples is too good: it is the largest of many
    values, each too large or too small by chance.  Each resample chooses again, so its value is too
    good twice.  The percentiles of these values, the default interval, lie too high.  The optimism
    is the mean, over the resamples, of a difference: what the resample's best cut brings on the
    resample, minus what the same threshold brings on the examples.  `expected` is the estimate
    minus the optimism; its interval comes from the percentiles of that difference, for every
    `method`.  Examples that were not used for the choice show directly what the cut brings.

    In simulations 95 % intervals of `expected` covered what the chosen cut brings in 93 to 94 %,
    and in 88 with scores of eight values.  Percentiles of the value covered it in 89 to 94.
    Intervals of `expected` covered what the best cut of the population brings in 91 with 20
    positives, and in 86 with scores of eight values.

    References
    ----------
    [Efron 1993] chapter 17, the optimism.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import best_boundary
    >>> from quotakernels.inference import best_cut_interval
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.random(500) < 0.2
    >>> scores = rng.normal(2 * labels)
    >>> found = best_cut_interval(
    ...     best_boundary, labels, scores, impacts=(3, -1, 0, 0), random_state=1
    ... )
    >>> print(found.quota.estimate, found.quota.lower.round(), found.quota.upper.round())
    131.0 93.0 198.0
    >>> print(found.value.estimate, found.value.lower.round(2), found.value.upper.round(2))
    0.346 0.26 0.45
    >>> expected = found.expected
    >>> print(expected.estimate.round(3), expected.lower.round(2), expected.upper.round(2))
    0.331 0.23 0.43
    """
    if not any(best is one for one in (best_boundary, best_cut, best_quota)):
        wanted = "best_boundary, best_cut or best_quota"
        raise TypeError(f"best must be {wanted}; got {show_value(best)}")
    refuse_unused(options.get("measure", best), {"gain": options.get("gain")})
    limit = {name: x for name, x in (("quota", quota), ("fraction", fraction)) if x is not None}
    own = {name: x for name, x in options.items() if name not in _OF_BOOTSTRAP}
    resampling = {name: x for name, x in options.items() if name in _OF_BOOTSTRAP}
    limits = [limit] if limit else []
    found = optima(best, own, limits, y_true, y_score, method, **resampling)[-1][0]
    _warn_of_few("the interval of `expected` is too narrow", y_true, y_score, resampling)
    return found


def _warn_of_few(wrong: str, y_true: Any, y_score: Any, resampling: Mapping[str, Any]) -> None:
    """Warn of few positives or negatives, where they decide, and of few distinct scores."""
    data = {name: x for name, x in resampling.items() if name in (*DATA, "ties")}
    ranking = ranked(y_true, y_score, **data)
    if readable(ranking.counts):
        counts, positives = (host_floats(x) for x in (ranking.counts, ranking.positives))
        if "gain" not in data:
            units = positives.sum(axis=-1), (counts - positives).sum(axis=-1)
            warn_of_few(PRECISION._replace(wrong=wrong), units)
        fewest = np.min(np.count_nonzero(counts > 0, axis=-1))
        warn_below(int(fewest), "distinct scores", wrong, ENOUGH_SCORES)


_OTHERS = {"measure", "cost", "treatment", "options"}
_OF_BOOTSTRAP = inspect.signature(bootstrap).parameters.keys() - _OTHERS


def optima(
    best: Any,
    own: dict[str, Any],
    limits: Sequence[Mapping[str, Any]],
    y_true: Any,
    y_score: Any,
    method: IntervalMethod = "percentile",
    **resampling: Any,
) -> list[tuple[BestCutInterval, BootstrapResult]]:
    """The best of all cuts, and those within some limits, on the same resamples.

    Each comes with the value of selecting exactly as many as the limit, by a straight line between
    two cuts.
    """
    cuts = _Cuts(best, own, limits)
    found: _Found = bootstrap(cuts, y_true, y_score, method=method, **resampling)
    data = {name: x for name, x in resampling.items() if name in (*DATA, "ties")}
    curve = cuts.boundary(ranked(y_true, y_score, **data)).curve
    level = resampling.get("confidence_level", 0.95)
    intervals = []
    for value, threshold, quota, filled in found.cuts.values():
        there = value_at(curve, threshold.resamples)
        more = _without_choice(found, quota.estimate, curve, value.resamples, there)
        optimism, expected = _expected(value.estimate, more, level)
        intervals.append((BestCutInterval(value, threshold, quota, optimism, expected), filled))
    return intervals


class _Cut(NamedTuple):
    """The best cut within a limit, and the value of selecting exactly as many."""

    value: Any
    threshold: Any
    quota: Any
    filled: Any


class _Found(NamedTuple):
    """The values of selecting nobody and everybody; the best cuts of all and within limits."""

    nobody: Any
    everybody: Any
    cuts: dict[int, _Cut]


class _Cuts:
    """A measure of rankings: the best of all cuts, and those within some limits."""

    made_here = True

    def __init__(self, best: Any, own: dict[str, Any], limits: Sequence[Mapping[str, Any]]):
        self.limits, self.sign = limits, 1
        boundary: Callable[..., BestBoundary] = _of_cuts if best is best_cut else best
        self.boundary = functools.partial(boundary, **own)
        if best is best_cut and limits:
            largest = direction_of(own.get("measure"), own.get("greater_is_better"))
            self.sign = 1 if largest else -1

    def __call__(self, ranking: Ranking) -> _Found:
        best = self.boundary(ranking)
        curve = best.curve
        nobody, everybody = curve.value[..., 0], curve.value[..., -1]
        cuts = [_Cut(best.value, best.threshold, best.quota, everybody)]
        if self.limits:
            xp, dtype = namespace(curve.value), curve.value.dtype
            with xp.computing():
                table = table_of(xp, ranking)
                most = xp.concat([_mass(xp, table, limit) for limit in self.limits], axis=-1)
                within = xp.compiled(_within, ("sign",))(curve, most, sign=self.sign)
                each = ([x[..., k] for x in within] for k in range(most.shape[-1]))
                cuts += [xp.finished(_Cut(*one), dtype) for one in each]
        return _Found(nobody, everybody, dict(enumerate(cuts)))


def _of_cuts(
    ranking: Ranking, *, measure: Any = None, greater_is_better: bool | None = None, **own: Any
) -> BestBoundary:
    """The result of `best_cut`, with its curve."""
    best, curve = best_and_curve(measure, (ranking,), greater_is_better, own, thresholds=True)
    return BestBoundary(*best, curve)


def _mass(xp: Namespace, table: ops.TieTable, limit: Mapping[str, Any]) -> Array:
    """A limit as a mass, shape (..., 1)."""
    (most,), shape = wanted_masses(xp, table, **limit)
    if shape:
        raise TypeError(f"{' and '.join(limit)} must be one number; got shape {shape}")
    return most


def _within(curve: Curve, most: Array, *, sign: int) -> _Cut:
    """The best cuts within masses, shape (..., K): their values times the sign are the largest.

    Of cuts that are equal up to rounding it is the first.
    """
    xp = namespace(curve.value)
    curve = Curve(*(xp.wide(x) for x in curve))
    worth = sign * curve.value
    worth = xp.where(xp.isnan(worth), xp.full_like(worth, -xp.inf), worth)
    upto = xp.running_max(worth)  # the best of each cut and those before it

    def at(x: Array, index: Array) -> Array:
        return xp.take_along_axis(x, index, axis=-1)

    last = xp.bisect(curve.quota, most, beyond=True) - 1
    last = xp.clip(last, 0, curve.quota.shape[-1] - 1)
    top = at(upto, last)
    sides = xp.maximum(xp.abs(upto[..., :1]), xp.abs(curve.value[..., -1:]))
    size = xp.maximum(xp.abs(top), xp.where(xp.isfinite(sides), sides, xp.zeros_like(sides)))
    near = xp.where(xp.isfinite(top), top - tolerance(top, SAME_VALUE) * size, top)
    first = xp.clip(xp.bisect(upto, near), 0, upto.shape[-1] - 1)
    after = xp.clip(last + 1, 0, upto.shape[-1] - 1)
    start, way = at(curve.quota, last), at(curve.quota, after) - at(curve.quota, last)
    share = xp.where(way > 0, (most - start) / way, xp.zeros_like(way))
    low, high = at(curve.value, last), at(curve.value, after)
    found = (at(curve.value, first), at(curve.threshold, first), at(curve.quota, first))
    filled = low + share * (high - low)
    found = (*(xp.nan_unless(top > -xp.inf, x) for x in found), filled)
    return _Cut(*(xp.nan_unless(most == most, x) for x in found))


class ValueAt:
    """A measure of rankings: the values of their cuts at some thresholds, shape (..., K); a
    threshold of NaN selects nobody.
    """

    made_here = True

    def __init__(self, best: Any, thresholds: Sequence[float]):
        self.best, self.thresholds = best, thresholds

    def __call__(self, ranking: Ranking) -> Array:
        """The value of each of the cuts."""
        curve = self.best(ranking).curve
        xp = namespace(curve.value)
        at = xp.constant(self.thresholds, curve.value.dtype, device(curve.value))
        at = xp.broadcast_to(at, (*curve.value.shape[:-1], at.shape[0]))
        return xp.finish(value_at(curve, at), curve.value.dtype)


def value_at(curve: Curve, threshold: Array) -> Array:
    """The values of the cuts ``score >= threshold``, shape (..., R).

    A threshold of NaN selects nobody.
    """
    xp = namespace(threshold)
    with xp.computing():
        return xp.compiled(_value_at)(curve, threshold)


def _value_at(curve: Curve, threshold: Array) -> Array:
    xp = namespace(threshold)
    both = (xp.wide(x) for x in (threshold, curve.threshold))
    threshold, along = (xp.where(xp.isnan(x), xp.full_like(x, xp.inf), x) for x in both)
    taken = xp.bisect(-along[..., 1:], -threshold, beyond=True)
    return xp.take_along_axis(xp.wide(curve.value), taken, axis=-1)


def _without_choice(
    found: _Found, places: Array, curve: Curve, value: Array, there: Array
) -> Array:
    """The differences of values; 0 if selecting nobody, or everybody, is best and has the same
    value on any examples.
    """
    xp = namespace(value)
    with xp.computing():
        more = xp.cast(value, there.dtype) - there
        sides = (found.nobody, curve.quota[..., 0]), (found.everybody, curve.quota[..., -1])
        for side, quota in sides:
            values, estimate = (xp.cast(x, more.dtype) for x in (side.resamples, side.estimate))
            estimate = xp.expand_dims(estimate, axis=-1)
            rounding = tolerance(side.estimate, ERROR_ROUNDING) * xp.abs(estimate)
            alike = xp.all(xp.abs(values - estimate) <= rounding, axis=-1)
            chosen = places == xp.cast(quota, places.dtype)
            fixed = xp.expand_dims(alike & chosen, axis=-1)
            more = xp.where(fixed, xp.zeros_like(more), more)
    return more


def _expected(
    estimate: Array, more: Array, confidence_level: float
) -> tuple[Array, BootstrapResult]:
    """The optimism, and the estimate less its optimism."""
    xp = namespace(more)
    dtype = estimate.dtype
    with xp.computing():
        number = xp.cast(defined(xp, more), more.dtype)
        mean = xp.sum(xp.where(more == more, more, xp.zeros_like(more)), axis=-1) / number
        wide = xp.cast(estimate, more.dtype)
        left = xp.expand_dims(wide, axis=-1) - more
        optimism, centre, left = xp.finished((mean, wide - mean, left), dtype)
    return optimism, summary("percentile", confidence_level, [centre, left, left])
