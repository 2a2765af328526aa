"""Any measures of what a state holds, and certified bounds of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, computing, namespace
from quotakernels.measures._measure import bounded_by_ties
from quotakernels.ranking import Ranking

__all__ = ["Bounds", "bounds_of", "measured"]


class Bounds(NamedTuple):
    """Two numbers between which the exact value of a measure certainly lies.

    Attributes
    ----------
    lower, upper : arrays
        The measure if among scores of one bin all positives came last, and first; NaN where the
        measure is undefined.
    """

    lower: Array
    upper: Array

    @property
    def width(self) -> Array:
        """How far the bounds are apart."""
        with computing(namespace(self.lower)):
            return self.upper - self.lower


def measured(measures: Any, compute: Callable[..., Any], options: dict[str, Any]) -> Any:
    """``compute(measure, options)`` of one measure with options, or of each in a mapping."""
    if not isinstance(measures, Mapping):
        return compute(measures, options)
    if options:
        raise TypeError(
            f"{next(iter(options))} would go to all of several measures; give it to one by "
            "functools.partial"
        )
    return {name: compute(measure, {}) for name, measure in measures.items()}


def bounds_of(
    measure: Callable[..., Any], options: dict[str, Any], worst: Ranking, best: Ranking
) -> Bounds:
    """The values at both ends of what is known, for a measure that grows from one to the other."""
    plain: Any = measure
    own = options
    while isinstance(plain, functools.partial):
        own = {**plain.keywords, **own}
        plain = plain.func
    if not bounded_by_ties(plain, own):
        name = getattr(plain, "__name__", repr(plain))
        raise ValueError(
            f"{name} has no certified bounds, since better rankings need not have more of it; "
            "keep the scores in a ScoreBuffer, or take it of ranking(), in which the scores of "
            "one bin are tied"
        )
    lower, upper = measure(worst, **options), measure(best, **options)
    xp = namespace(lower)
    with computing(xp):
        return Bounds(*_outwards(xp, lower, upper, plain.most))


def _outwards(xp: Namespace, lower: Array, upper: Array, most: float | None) -> tuple[Array, Array]:
    """Bounds moved apart by what rounding may have moved either of them, but not out of range."""
    step = 4 * xp.finfo(lower.dtype).eps
    least, highest = lower - step * xp.abs(lower), upper + step * xp.abs(upper)
    if most is None:
        return least, highest
    least, highest = (ops.clip(xp, x, -most, most) for x in (least, highest))
    return xp.minimum(lower, least), xp.maximum(upper, highest)
