"""The normal distribution and Student's t for arrays of any library, SciPy for counts, what a test
asks of a difference, and p-values of many tests.

Student's t has any degrees of freedom from 1 on.  With t = √(ν·expm1(2v²/ν)) its density is a
smooth function of v that falls like exp(-v²): one rule of double exponential type gives the tail
beyond any v to rounding, in relation to exp(-v²).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quotakernels._array import Array, Namespace, device
from quotakernels.inputs.keywords import check_choice, show_value
from quotakernels.inputs.models import host_floats
from quotakernels.inputs.numbers import plain_number
from quotakernels.ops import namespace


def scipy() -> Any:
    """The package; it imports its parts when they are used."""
    try:
        import scipy as package
    except ImportError as error:
        raise ImportError(
            'this needs SciPy; install it by pip install "quotakernels[inference]"', name=error.name
        ) from error
    return package


_NORMAL = NormalDist()


def check_level(confidence_level: float) -> None:
    """Raise unless a confidence level is above 0 and below 1."""
    number = isinstance(confidence_level, (float, np.floating))  # no whole number is between
    if not (number and 0 < confidence_level < 1):
        raise ValueError(
            "confidence_level must be a number above 0 and below 1; "
            f"got {show_value(confidence_level)}"
        )


Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


class Side(NamedTuple):
    """What a test asks of a difference: whether it is not 0 (sign 0), above -margin (1) or below
    the margin (-1); and the level of the two-sided interval that ends at the bounds.
    """

    sign: int = 0
    margin: float = 0.0
    level: float = 0.95

    @classmethod
    def of(cls, alternative: Alternative, margin: float, confidence_level: float) -> Side:
        """The arguments of a test, checked."""
        check_level(confidence_level)
        check_choice("alternative", alternative, *get_args(Alternative))
        sign = {"two-sided": 0, "greater": 1, "less": -1}[alternative]
        if not math.isfinite(plain_number("margin", margin)):
            raise ValueError(f"margin must be finite; got {show_value(margin)}")
        if margin and not sign:
            raise ValueError('margin needs alternative="greater" or "less"')
        if sign and confidence_level <= 0.5:
            raise ValueError(f"confidence_level of a bound is above 0.5; got {confidence_level}")
        return cls(sign, float(margin), 2 * confidence_level - 1 if sign else confidence_level)

    def p_value(self, xp: Namespace, statistic: Array, two_sided: Array) -> Array:
        """Of a symmetrical statistic, from that of the two-sided test."""
        if not self.sign:
            return two_sided
        return xp.where(self.sign * statistic > 0, two_sided / 2, 1 - two_sided / 2)

    def ends(self, lower: Any, upper: Any) -> tuple[Any, Any]:
        """Both ends, or a bound and infinity; NaN where they are undefined."""
        if not self.sign:
            return lower, upper
        return (lower, upper + math.inf) if self.sign > 0 else (lower - math.inf, upper)


def normal_width(confidence_level: float) -> float:
    """How many standard deviations around the mean contain a share of a normal distribution."""
    z = -_NORMAL.inv_cdf((1 - confidence_level) / 2)
    if confidence_level > 0.5:
        return z
    away = confidence_level - math.erf(z / math.sqrt(2))  # the tail has rounded a small level
    return z + away / (2 * _NORMAL.pdf(z))


def normal_p_value(xp: Namespace, z: Array) -> Array:
    """The probability of a normal number at least as far from 0; precise for tiny ones too."""
    return _special(xp, "erfc", math.erfc, xp.abs(z) / math.sqrt(2))


def normal_tail(distance: float, error: float) -> float:
    """The probability of a normal number that is further up than the distance, also a tiny one."""
    if error:
        return math.erfc(distance / error / math.sqrt(2)) / 2
    return 0.5 * (distance <= 0) + 0.5 * (distance < 0)


def chi_square_p_value(statistic: float, freedom: int) -> float:
    """The probability of a larger sum of squares of so many normal numbers.

    The tail with two more degrees of freedom has one more term of a series.
    """
    if not statistic > 0:
        return 1.0 + 0 * statistic
    half, odd = statistic / 2, freedom % 2
    orders = (k - odd / 2 for k in range(odd, freedom // 2 + odd))
    terms = [math.exp(k * math.log(half) - half - math.lgamma(k + 1)) for k in orders]
    return min(1.0, sum(terms, odd * math.erfc(math.sqrt(half))))


def normal_cdf(xp: Namespace, x: Array) -> Array:
    """The share of the normal distribution below a point, precise in both tails."""
    beyond = normal_p_value(xp, x) / 2
    return xp.where(x > 0, 1 - beyond, beyond)


def normal_quantile(xp: Namespace, share: Array) -> Array:
    """The point below which a share of the normal distribution lies; infinite for 0 and 1."""
    return _special(xp, "ndtri", _quantile_of_one, share)


def logit_ends(
    xp: Namespace, confidence_level: float, freedom: Array, share: Array, rest: Array, error: Array
) -> tuple[Array, Array]:
    """Both ends around a share with this error, by Student's t for its log odds."""
    half = student_t(xp, confidence_level, freedom) * error
    wide = half > 0
    room = xp.where(wide, share * rest, xp.ones_like(share))
    odds = xp.exp(-half / room)  # not its inverse, which may be infinite
    return share * odds / (share * odds + rest), share / (share + rest * odds)


def wilson(
    xp: Namespace,
    found: Array,
    missed: Array,
    z: Array | float,
    variance: Array,
    cut: Array | float = 0.0,
    moves: Array | float = 0.0,
) -> tuple[Array, Array]:
    """The shares p for which `found` is z standard errors from p·n, n = found + missed.

    The variance is the given multiple of [p(1 - p) + moves·(p - cut)²]n; with `moves` 0 the cut was
    fixed beforehand.
    """
    trials = found + missed
    scale = z * z * variance / trials

    def lower(found: Array, cut: Array | float) -> Array:
        slope, bend = scale * (1 - 2 * moves * cut), scale * (moves - 1)
        return least_root(xp, found / trials, scale * moves * cut**2, slope, bend)

    return lower(found, cut), 1 - lower(missed, 1 - cut)


def least_root(xp: Namespace, share: Array, constant: Array, slope: Array, bend: Array) -> Array:
    """The least x from 0 on for which (share - x)² is at most constant + slope·x + bend·x²;
    it is divided by the other root, not subtracted.
    """
    square = share * (slope + bend * share) + slope**2 / 4 + (1 - bend) * constant
    below = share + slope / 2 + xp.sqrt(xp.clip(square, 0.0))
    end = share**2 - constant
    inside = (end > 0) & (below > 0)
    end = xp.where(inside, end / xp.where(inside, below, xp.ones_like(below)), 0 * share)
    return xp.where(xp.isnan(below), below, end)  # NaN of no trials


def least_share(xp: Namespace, tail: float, number: Array) -> Array:
    """The success rate at which all of so many trials succeed with the probability `tail`.

    It is the lower bound of Clopper and Pearson if all trials succeed.
    """
    return xp.exp(math.log(tail) / number)


def _special(xp: Namespace, name: str, of_number: Callable[[float], float], x: Array) -> Array:
    """A special function of the library, or one of numbers: these are the few of a result."""
    function = xp.special(name)
    if function is not None:
        return function(x)
    found = np.vectorize(of_number, otypes=[np.float64])(host_floats(x))
    return xp.asarray(found, dtype=x.dtype, device=device(x))


def _quantile_of_one(share: float) -> float:
    if 0 < share < 1:
        return _NORMAL.inv_cdf(share)
    return {0.0: -math.inf, 1.0: math.inf}.get(share, math.nan)


_NODES, _STEP = 128, 0.05
_END = 40.0
"""Beyond a factor of exp(-40) the density no longer matters."""
_NEWTON_STEPS, _DEGREE = 6, 32


def student_p_value(xp: Namespace, t: Array, freedom: Array) -> Array:
    """The probability of a value beyond ±t, precise if tiny; NaN below 1 degree of freedom."""
    known = freedom >= 1
    number = xp.where(known, freedom, xp.ones_like(freedom))
    place = xp.sqrt(number / 2 * xp.log1p(t / number * t))
    tail = _tail(xp, place, number) / _tail(xp, xp.zeros_like(place), number)
    return xp.nan_unless(known, xp.exp(-place * place) * tail)


def student_t(xp: Namespace, confidence_level: float, freedom: Array) -> Array:
    """The t such that a share of the distribution is within ±t; NaN below 1 degree of freedom."""
    known, freedom = freedom >= 1, xp.wide(freedom)
    number = xp.where(known, freedom, xp.ones_like(freedom))
    dtype, dev = number.dtype, device(number)
    degree = xp.arange(_DEGREE + 1, dtype=dtype, device=dev)
    polynomials = xp.cos(degree * xp.expand_dims(xp.acos(2 / number - 1), axis=-1))
    place = xp.total(polynomials * xp.constant(_places(confidence_level), dtype, dev))
    t = xp.sqrt(number * xp.expm1(2 * place * place / number))
    return xp.nan_unless(known, t)


@functools.lru_cache(maxsize=64)
def _places(confidence_level: float) -> list[float]:
    """Chebyshev coefficients of the v of a quantile by 2/ν - 1."""
    normal, outside = normal_width(confidence_level) / math.sqrt(2), math.log1p(-confidence_level)

    def place(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        xp, freedom = namespace(at), 2 / (at + 1)
        wanted = np.log(_tail(xp, np.zeros_like(at), freedom)) + outside
        found = np.full_like(at, normal)
        for _ in range(
            _NEWTON_STEPS
        ):  # of Newton in the logarithm of the tail, which is concave in v
            tail = _tail(xp, found, freedom)
            away = np.log(tail) - found * found - wanted
            found = found + away * tail / _slope(xp, found, freedom)
        return found

    interpolate: Any = np.polynomial.chebyshev.chebinterpolate
    coefficients: list[float] = interpolate(place, _DEGREE).tolist()
    return coefficients


def _tail(xp: Namespace, place: Array, freedom: Array) -> Array:
    """The integral of the density from v on, over exp(-v²), but for a factor of ν."""
    half = xp.expand_dims(_END / (place + xp.sqrt(place * place + _END)) / 2, axis=-1)
    place, freedom = (xp.expand_dims(x, axis=-1) for x in (place, freedom))
    step = xp.arange(_NODES, dtype=place.dtype, device=device(place)) - (_NODES - 1) / 2
    bent = math.pi / 2 * xp.sinh(_STEP * step)  # the nodes are 1 + tanh(bent), from 0 to 2
    weight = _STEP * math.pi / 2 * xp.cosh(_STEP * step) / xp.cosh(bent) ** 2
    on = half * (2 / (1 + xp.exp(-2 * bent)))
    height = xp.exp(-on * (2 * place + on)) * _slope(xp, place + on, freedom)
    return xp.total(height * weight * half)


def _slope(xp: Namespace, place: Array, freedom: Array) -> Array:
    """The density at v over exp(-v²), but for the same factor."""
    square = -freedom * xp.expm1(-2 * place * place / freedom)
    there = square > 0
    at_0 = xp.full_like(square, math.sqrt(2))
    return xp.where(there, 2 * place / xp.sqrt(xp.where(there, square, at_0)), at_0)


# p-values of many tests


def holm(p_values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """P-values adjusted for their number by Holm's step-down method; NaN do not count."""
    adjusted = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values, kind="stable")  # NaN last
    number = np.count_nonzero(~np.isnan(p_values))
    order = order[:number]
    factors = np.arange(number, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


def as_best(p_values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A table of p-values, each row corrected for the choice of its model as the best.

    In a row the k-th largest counts k(k + 1)/2 times: for all pairs of the model and the k that it
    leaves behind the least.  None then counts for more than a larger one (step-up).  NaN is no
    evidence.
    """
    number = p_values.shape[0]
    row = np.nan_to_num(p_values, nan=1.0)
    np.fill_diagonal(row, np.inf)  # the model itself, which is first in order
    order = np.argsort(-row, axis=1, kind="stable")
    pairs = np.maximum(np.arange(number) * np.arange(1, number + 1) / 2, 1)
    adjusted = np.minimum.accumulate(np.take_along_axis(row, order, 1) * pairs, axis=1)
    np.put_along_axis(row, order, np.minimum(adjusted, 1.0), 1)
    return np.where(np.isnan(p_values), np.nan, row)
