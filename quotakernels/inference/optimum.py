"""How sure the best cut is, what it brings, and how much of that is luck."""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    cast,
    computing,
    device,
    finish,
    namespace,
    wide_float,
)
from quotakernels.inference.bootstrap import BootstrapResult, bootstrap
from quotakernels.measures.boundary import best_boundary
from quotakernels.measures.curves import Curve
from quotakernels.measures.optimal import best_and_curve, optimal_cut
from quotakernels.ranking import Ranking, rank

__all__ = ["OptimumInterval", "optimum_interval"]


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
        where the smallest value is the best.  ``value.estimate - optimism`` is what to expect.
    """

    value: BootstrapResult
    threshold: BootstrapResult
    quota: BootstrapResult
    optimism: Array


class _Cut(NamedTuple):
    value: Array
    threshold: Array
    quota: Array


def optimum_interval(best: Any, y_true: Any, y_score: Any, **keywords: Any) -> OptimumInterval:
    """Confidence intervals of the best cut and of what it brings, and its optimism (bootstrap).

    In each resample the best cut is found anew.

    Parameters
    ----------
    best : function
        `best_boundary` or `optimal_cut`, by which the cut is chosen.
    y_true, y_score : arrays, shape (n,) and (..., n)
        As in `bootstrap`; models are leading axes of the scores and share the resamples.
    **keywords
        The function's own arguments, such as ``impacts=(5, -4, 0, 0)`` or ``measure=informedness``;
        and optional ones of `bootstrap`: `n_resamples`, `confidence_level`, `method`, `stratified`,
        `groups`, `poisson`, `random_state`, `sample_weight`, `where`, `pos_label`, `ties`,
        `validate`, `workers`, `max_memory` and `progress`.

    Returns
    -------
    OptimumInterval
        In the library and on the device of the scores.  NaN where no cut has a value.

    Raises
    ------
    TypeError, ValueError
        Another function; and as in `bootstrap` and that function.

    See Also
    --------
    curve_band : how sure a curve is.

    Notes
    -----
    The value at a cut that was chosen on the same examples is too good: it is the largest of many
    that are each too large or too small by chance.  So is the interval of the value.  The optimism
    is the mean, over the resamples, of what the resample's best cut brings on the resample less
    what the same threshold brings on the examples themselves.  Examples that took no part in the
    choice tell what the cut brings without such an estimate.

    References
    ----------
    Efron & Tibshirani, "An Introduction to the Bootstrap", chapter 17: the optimism.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import best_boundary, optimum_interval
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
    >>> print(found.optimism.round(3))
    0.015
    """
    if best is not best_boundary and best is not optimal_cut:
        raise TypeError(f"best must be best_boundary or optimal_cut; got {best!r}")
    own = {name: x for name, x in keywords.items() if name not in _OF_BOOTSTRAP}
    resampling = {name: x for name, x in keywords.items() if name in _OF_BOOTSTRAP}
    cuts = functools.partial(_best_cut, best, own)
    found = bootstrap(lambda ranking: cuts(ranking)[0], y_true, y_score, **resampling)
    data = {name: x for name, x in resampling.items() if name in _OF_RANK}
    curve = cuts(rank(y_true, y_score, **data))[1]
    optimism = _optimism(found.value.resamples, found.threshold.resamples, curve)
    return OptimumInterval(found.value, found.threshold, found.quota, optimism)


_OF_BOOTSTRAP, _OF_RANK = (
    [p.name for p in inspect.signature(x).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for x in (bootstrap, rank)
)


def _best_cut(best: Any, own: dict[str, Any], ranking: Ranking) -> tuple[_Cut, Curve]:
    """The best cut of a ranking, and what each of its cuts brings."""
    if best is best_boundary:
        found = best_boundary(ranking, **own)
        return _Cut(*found[:3]), found.curve
    own = {"measure": None, "maximize": True} | own
    cut, curve = best_and_curve((ranking,), own.pop("measure"), own.pop("maximize"), own)
    return _Cut(*cut[:3]), curve


def _optimism(value: Array, threshold: Array, curve: Curve) -> Array:
    """The mean of values, shape (..., R), less those at the same thresholds of a curve."""
    xp = namespace(value)
    dtype = value.dtype
    with computing(xp):
        wide = wide_float(xp, device(value))
        value, threshold, along = (cast(xp, x, wide) for x in (value, threshold, curve.threshold))
        falling = xp.where(xp.isnan(along), xp.full_like(along, xp.inf), along)[..., 1:]
        taken = ops.bisect(xp, -falling, -threshold, beyond=True)
        more = value - xp.take_along_axis(cast(xp, curve.value, wide), taken, axis=-1)
        there = more == more
        number = cast(xp, xp.count_nonzero(there, axis=-1), wide)
        more = xp.sum(xp.where(there, more, xp.zeros_like(more)), axis=-1)
        return finish(xp, more / number, dtype)
