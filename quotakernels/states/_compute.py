"""Any measures of the examples in a state, and guaranteed bounds of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, NamedTuple

from quotakernels._array import Array, Namespace, concrete, library, tolerance
from quotakernels._records import plainly
from quotakernels.inputs.keywords import show_value, silently
from quotakernels.measures._facts import bounded_by_ties, check_value, refusal
from quotakernels.measures.by_group import mean_over_groups, without_options
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking

BOUNDS = ("midpoint", "lower", "upper", "both")
"""What metrics can report for two bounds."""
_KEEP = (
    "for its exact value keep the scores in a ScoreBuffer, for an approximate one measure "
    "ranking(), in which the scores of one bin are tied"
)


@plainly
class Bounds(NamedTuple):
    """Two numbers between which the exact value of a measure certainly lies.

    Attributes
    ----------
    lower, upper : arrays
        The measure if in each bin all positives came last, or all came first; NaN where the measure
        is undefined.
    """

    lower: Array
    upper: Array

    def reported(self, bound: str) -> Any:
        """The bound of that name, or the midpoint, or both."""
        if bound == "both":
            return self
        with namespace(self.lower).computing():
            middle = (self.lower + self.upper) / 2 if bound == "midpoint" else None
        return middle if bound == "midpoint" else getattr(self, bound)

    @property
    def width(self) -> Array:
        """The difference of the bounds."""
        with namespace(self.lower).computing():
            return self.upper - self.lower


def check_measures(
    measures: Any, scores: Array, options: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Raise unless each is a function of rankings of such scores.

    Python's own functions, and those of the array library, would accept any tuple of arrays.
    """
    for measure in measures.values() if isinstance(measures, Mapping) else [measures]:
        fits = _may_measure(measure, library(scores))
        # torch.compile cannot read signatures
        wrong = refusal(measure, options) if fits and concrete(scores) else None
        if not fits or wrong:
            raise TypeError(
                "expected a measure, which is a function of a Ranking, or a mapping from names to "
                f"measures; {wrong or f'got {show_value(measure)}'}"
            )


def _may_measure(function: Any, array_library: str) -> bool:
    """Whether a function is one that was written for rankings, as far as can be seen."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    home = str(getattr(function, "__module__", "")).partition(".")[0]
    written = (function, type(function).__call__)
    return home != array_library and any(isinstance(x, (FunctionType, MethodType)) for x in written)


def measured(measures: Any, compute: Callable[..., Any], options: dict[str, Any]) -> Any:
    """``compute(measure, options)`` of one measure with options, or of each in a mapping."""
    several = isinstance(measures, Mapping)
    if several and options:
        raise TypeError(
            f"{next(iter(options))} would go to all of several measures; give it to one by "
            "with_options or functools.partial"
        )
    named = measures.items() if several else [("", measures)]
    found = {name: compute(measure, options) for name, measure in named}
    for name, measure in named:
        check_value(measure, found[name])
    return found if several else found[""]


def computed(state: Any, measures: Any, options: dict[str, Any]) -> Any:
    """The value of a measure with options, or of each in a mapping, for the ranking of a state."""
    check_measures(measures, state.like, options)
    ranking = state.ranking()
    return measured(measures, lambda f, own: f(ranking, **own), options)


def check_bounded(
    measure: Callable[..., Any], options: dict[str, Any], instead: str = _KEEP
) -> Any:
    """The measure without options; raise if no order of ties bounds it, and say what to do."""
    plain, own = without_options(measure, **options)
    if not bounded_by_ties(plain, own) or own.get("budget") is not None:
        name = getattr(plain, "__name__", repr(plain))
        given = " with these options" if own else ""
        raise ValueError(f"{name} has no guaranteed bounds{given}; {instead}")
    return plain


def bounds_of(
    measure: Callable[..., Any], options: dict[str, Any], worst: Ranking, best: Ranking
) -> Bounds:
    """The bounds of a measure that does not fall from the worst ranking to the best."""
    plain, mean = check_bounded(measure, options), mean_over_groups(measure)
    lower = measure(worst, **options)
    with silently():
        upper = measure(best, **options)
    if mean is not None:  # of weights that no order of ties changes
        lower, upper = lower.value, upper.value
    xp = namespace(lower)
    with xp.computing():  # only measures of weights may leave their range, by as little
        step = _rounding(xp, best, lower, plain.drifting, mean is not None)
        sizes = (plain.most, plain.most) if plain.signed else (xp.abs(lower), xp.abs(upper))
        least, highest = lower - step * sizes[0], upper + step * sizes[1]
        if plain.most is None or _weighted(best):
            return Bounds(least, highest)
        least, highest = (xp.clip(x, -plain.most, plain.most) for x in (least, highest))
        return Bounds(xp.minimum(lower, least), xp.maximum(upper, highest))


def _weighted(ranking: Ranking) -> bool:
    return namespace(ranking.counts).of_kind(ranking.positive_weights.dtype, "real floating")


def _rounding(xp: Namespace, ranking: Ranking, value: Array, drifting: bool, mean: bool) -> Any:
    """How far rounding may have moved a measure, as a share of it."""
    last = xp.finfo(value.dtype).eps
    if not _weighted(ranking):
        return (64 if mean else 4) * last
    if not drifting:
        return 64 * last
    examples = xp.cast(xp.sum(ranking.counts, axis=-1), value.dtype)
    examples = xp.reshape(examples, (*examples.shape, *(1,) * (value.ndim - examples.ndim)))
    return 64 * last + 256 * tolerance(ranking.positive_weights, 2.0**-52) * examples
