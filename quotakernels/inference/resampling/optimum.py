"""How sure the best cut is, what it brings, and how much of that is luck."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    cast,
    computing,
    device,
    finish,
    namespace,
    tolerance,
    wide_float,
)
from quotakernels.inference.resampling.bands import SAME_VALUE
from quotakernels.inference.resampling.bootstrap import BootstrapResult, bootstrap, summary
from quotakernels.inference.resampling.intervals import defined
from quotakernels.inputs.keywords import brief, forwarding
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.gains.impact_at_quota import best_quota
from quotakernels.measures.tables.boundary import best_boundary
from quotakernels.measures.tables.optimal import best_and_curve, optimal_cut
from quotakernels.ranking import Ranking, rank, ranked


class OptimumInterval(NamedTuple):
    """The best cut, what it brings, and how sure both are.

    Attributes
    ----------
    value : BootstrapResult
        What the best cut brings.
    threshold, quota : BootstrapResult
        Where it is: the score of the last selected example, and the number or mass of the selected.
        Where it is best to select nobody, the quota is 0 and there is no threshold: such resamples
        are among those that leave the threshold undefined.
    optimism : array, shape (...)
        How much more a cut brings on the examples by which it was chosen than on others; below 0
        for a measure of which less is better.
    expected : BootstrapResult
        What the chosen cut brings on other examples: ``value.estimate - optimism``, and how sure
        that is.  Where the best is to select nobody, or all, and that brings the same in all
        resamples, there is no optimism, and nothing is unsure.
    """

    value: BootstrapResult
    threshold: BootstrapResult
    quota: BootstrapResult
    optimism: Array
    expected: BootstrapResult


class _Cut(NamedTuple):
    value: Array
    threshold: Array
    quota: Array
    nobody: Array
    everybody: Array


@forwarding(bootstrap)
def optimum_interval(best: Any, y_true: Any, y_score: Any, **keywords: Any) -> OptimumInterval:
    """Confidence intervals of the best cut and of what it brings, and its optimism (bootstrap).

    In each resample the best cut is found anew.  The other keywords are those of `bootstrap`.

    Parameters
    ----------
    best : function
        `best_boundary`, `optimal_cut` or `best_quota`, by which the cut is chosen.
    y_true, y_score : arrays, shape (n,) and (..., n)
        As in `bootstrap`; models are leading axes of the scores and share the resamples.
    **keywords
        The function's own arguments, such as ``impacts=(5, -4, 0, 0)`` or ``measure=informedness``.

    Returns
    -------
    OptimumInterval
        NaN where no cut has a value.

    Raises
    ------
    TypeError
        Another function than these two.

    See Also
    --------
    curve_band : how sure a curve is.

    Notes
    -----
    The value at a cut that was chosen on the same examples is too good: it is the largest of many
    that are each too large or too small by chance, and on resamples, which are chosen from once
    more, it is too good twice.  So percentiles of them, the default interval of the value, lie too
    high.  The optimism is the mean, over the resamples, of what the resample's best cut brings on
    the resample less what the same threshold brings on the examples themselves.  What is found
    here as that difference is, on other examples, the estimate less what they bring: `expected` is
    the estimate less its mean, with an interval from its percentiles whatever the `method`.
    Examples that took no part in the choice tell what the cut brings without such an estimate.

    References
    ----------
    [Efron 1993] chapter 17, the optimism.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import best_boundary
    >>> from quotakernels.inference import optimum_interval
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.random(500) < 0.2
    >>> scores = rng.normal(2 * labels)
    >>> found = optimum_interval(
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
    if not any(best is one for one in (best_boundary, optimal_cut, best_quota)):
        wanted = "best_boundary, optimal_cut or best_quota"
        raise TypeError(f"best must be {wanted}; got {brief(best)}")
    own = {name: x for name, x in keywords.items() if name not in _OF_BOOTSTRAP}
    resampling = {name: x for name, x in keywords.items() if name in _OF_BOOTSTRAP}
    cuts = functools.partial(_best_cut, best, own)
    found = bootstrap(_FirstOf(cuts), y_true, y_score, **resampling)
    data = {name: x for name, x in resampling.items() if name in _OF_RANK}
    curve = cuts(ranked(y_true, y_score, **data))[1]
    more = _flattery(found.value.resamples, found.threshold.resamples, curve)
    more = _without_choice(found, curve, more)
    level = resampling.get("confidence_level", 0.95)
    optimism, expected = _expected(found.value.estimate, more, level)
    return OptimumInterval(found.value, found.threshold, found.quota, optimism, expected)


_OF_BOOTSTRAP, _OF_RANK = (
    [p.name for p in inspect.signature(x).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for x in (bootstrap, rank)
)


class _FirstOf:
    """A function of rankings without its other results."""

    made_here = True

    def __init__(self, function: Callable[[Ranking], tuple[_Cut, Curve]]):
        self._function = function

    def __call__(self, ranking: Ranking) -> _Cut:
        return self._function(ranking)[0]


def _best_cut(best: Any, own: dict[str, Any], ranking: Ranking) -> tuple[_Cut, Curve]:
    """The best cut of a ranking, and what each of its cuts brings."""
    if best is not optimal_cut:
        *cut, curve = best(ranking, **own)
    else:
        own = {"measure": None, "maximize": None} | own
        cut, curve = best_and_curve(own.pop("measure"), (ranking,), own.pop("maximize"), own)
    value, threshold, quota = cut[:3]
    return _Cut(value, threshold, quota, curve.value[..., 0], curve.value[..., -1]), curve


def _flattery(value: Array, threshold: Array, curve: Curve) -> Array:
    """Values of cuts, shape (..., R), less those at the same thresholds of a curve."""
    xp = namespace(value)
    with computing(xp):
        wide = wide_float(xp, device(value))
        value, threshold, along = (cast(xp, x, wide) for x in (value, threshold, curve.threshold))
        falling = xp.where(xp.isnan(along), xp.full_like(along, xp.inf), along)[..., 1:]
        taken = ops.bisect(xp, -falling, -threshold, beyond=True)
        return value - xp.take_along_axis(cast(xp, curve.value, wide), taken, axis=-1)


def _without_choice(found: Any, curve: Curve, more: Array) -> Array:
    """No flattery of nobody or all, where that is the best and brings the same on any examples."""
    xp = namespace(more)
    with computing(xp):
        sides = (found.nobody, curve.quota[..., 0]), (found.everybody, curve.quota[..., -1])
        for side, quota in sides:
            values, estimate = (cast(xp, x, more.dtype) for x in (side.resamples, side.estimate))
            estimate = xp.expand_dims(estimate, axis=-1)
            rounding = tolerance(side.estimate, SAME_VALUE) * xp.abs(estimate)
            alike = xp.all(xp.abs(values - estimate) <= rounding, axis=-1)
            chosen = found.quota.estimate == cast(xp, quota, found.quota.estimate.dtype)
            fixed = xp.expand_dims(alike & chosen, axis=-1)
            more = xp.where(fixed, xp.zeros_like(more), more)
    return more


def _expected(
    estimate: Array, more: Array, confidence_level: float
) -> tuple[Array, BootstrapResult]:
    """The optimism, and what is left of an estimate that is so much too good."""
    xp = namespace(more)
    dtype = estimate.dtype
    with computing(xp):
        number = cast(xp, defined(xp, more), more.dtype)
        mean = xp.sum(xp.where(more == more, more, xp.zeros_like(more)), axis=-1) / number
        wide = cast(xp, estimate, more.dtype)
        left = xp.expand_dims(wide, axis=-1) - more
        optimism, centre, left = (finish(xp, x, dtype) for x in (mean, wide - mean, left))
    return optimism, summary("percentile", confidence_level, [centre, left, left])
