"""Intervals of the hit rate at a quota, also of a finite list, of Qrecall and lift; two models."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, concrete, device, readable, to_numpy
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inference._call import OF_LABELS, IntervalMeasure, name_of
from quotakernels.inference._distributions import (
    Alternative,
    Side,
    check_level,
    least_root,
    normal_tail,
    normal_width,
    scipy,
    student_p_value,
    student_t,
    wilson,
)
from quotakernels.inputs.columns import first_bad
from quotakernels.inputs.cuts import wanted_masses, whole_if_close
from quotakernels.inputs.examples import validated
from quotakernels.inputs.keywords import check_choice, forwarding
from quotakernels.inputs.models import host_floats, stacked, two_models
from quotakernels.inputs.numbers import numbers_like
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota import hit_rate, hit_rate_at, lift, positives_at, qrecall
from quotakernels.measures.selection import select
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, rank, table_of

# a sample of a finite list


NDArray = np.ndarray[Any, Any]
ENDLESS = ops.EXACT_IN_FLOAT64
"""More places than any list has.  Infinity would stop JAX under `debug_infs`."""


def wanted_and_listed(
    xp: Namespace,
    table: ops.TieTable,
    *,
    quota: Any = None,
    fraction: Any = None,
    population: Any = None,
    when_short: Any = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The quotas, and the numbers of places on the whole list: `ENDLESS` without a population."""
    (wanted,), shape = wanted_masses(
        xp, table, quota=quota, fraction=fraction, when_short=when_short
    )
    if population is None:
        return (wanted, xp.full_like(wanted, ENDLESS)), shape
    if table.groups:
        raise TypeError("population is for one list, and cannot be combined with groups")
    if table.weighted:
        raise TypeError("population is for examples without weights")
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


class _Draws(NamedTuple):
    """A hit rate, and whole numbers for its interval: at least so many successes and failures, at
    most so many draws and places on the list.  NaN without draws.
    """

    estimate: Array
    found: Array
    missed: Array
    drawn: Array
    listed: Array


def _least_share(found: float, drawn: float, listed: float, tail: float) -> float:
    """The least share of successes at which `found` or more among those drawn have the probability
    `tail`: the bound of Clopper and Pearson or, for a finite list, of the hypergeometric draws.
    """
    if found == 0 or math.isnan(drawn):
        return 0 * drawn
    if listed == ENDLESS:
        return float(scipy().special.betaincinv(found, drawn - found + 1, tail))
    reached = scipy().stats.hypergeom.sf
    on_list = range(int(found), int(listed - drawn + found))
    few = bisect_left(on_list, True, key=lambda k: reached(found - 1, listed, k, drawn) >= tail)
    return (on_list.start + few) / listed


Method = Literal["score", "wilson", "exact"]


# the hit rate


@plainly
class Interval(NamedTuple, Generic[T]):
    """A measure with its confidence interval; all of one shape.

    Attributes
    ----------
    estimate : array
        The measure.
    lower, upper : array
        The ends of the interval.
    """

    estimate: T
    lower: T
    upper: T


class _IntervalMeasure(IntervalMeasure):
    """A measure; the ends of its exact interval are found by SciPy on the host."""

    def _computed(self, ranking: Ranking, numbers: dict[str, Any], options: dict[str, Any]) -> Any:
        draws = super()._computed(ranking, numbers, options)
        if options.get("method") != "exact":
            return draws
        if not concrete(draws.drawn):
            raise ValueError(
                'method="exact" runs on the host, but these values cannot be read; '
                'use method="wilson"'
            )
        tail = (1 - options.get("confidence_level", 0.95)) / 2
        least_share = np.vectorize(_least_share, otypes=[np.float64])
        found, missed, drawn, listed = map(host_floats, draws[1:])
        ends = (least_share(x, drawn, listed, tail) for x in (found, missed))
        xp, like = namespace(draws.estimate), draws.estimate
        ends = (xp.asarray(x, dtype=like.dtype, device=device(like)) for x in ends)
        lower, lost = (xp.finish(x, like.dtype) for x in ends)
        return Interval(like, lower, 1 - lost)


def _draws(xp: Namespace, table: ops.TieTable, wanted: Array, listed: Array) -> _Draws:
    """The whole numbers of a quota, rounded so that the interval grows, and the hit rate."""
    found = whole_if_close(xp, positives_at(xp, table, wanted))
    missed = whole_if_close(xp, wanted - found)
    listed = xp.ceil(whole_if_close(xp, listed))
    whole = (xp.floor(found), xp.floor(missed), xp.ceil(wanted), listed)
    whole_or_nan = (xp.nan_unless(wanted > 0, x) for x in whole)
    return _Draws(hit_rate_at(xp, table, wanted), *whole_or_nan)


@measure(_IntervalMeasure, numbers=wanted_and_listed, greater_is_better=None, by_group=True)
def hit_rate_interval(
    table: ops.TieTable,
    wanted: Array,
    listed: Array,
    *,
    confidence_level: float = 0.95,
    method: Method = "score",
) -> Interval:
    """Confidence interval of the hit rate at a quota: of T(j)/j, the share of positives.

    The examples count as independent draws, and the cut is their score at position j.  With
    `population` they are a random sample of a finite list.  The interval is then for the best of
    that list, at the same fraction: J = j·population/n places.

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota or fraction.

    Parameters
    ----------
    sample_weight : array, optional
        The quota is a mass, and the interval is for the share of the weight.  A ranking with
        weights is refused, as it lacks their squares, and so are `population` and "exact".
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
    Interval
        Arrays of shape (..., *Q), with `groups` (..., S, *Q).  The ends are between 0 and 1.  All
        NaN for quota 0 and where there are no examples.

    Raises
    ------
    ValueError
        A population that is not a whole number, or below n.  Where values cannot be read the result
        is NaN instead.  The exact interval is an error in a trace, because SciPy computes it on the
        host.
    ImportError
        The exact interval without SciPy, the extra `inference`.

    See Also
    --------
    hit_rate : the estimate.
    qrecall_interval : Qrecall and lift, which depend on how many positives there are.

    Notes
    -----
    The ends of the score interval are the shares p for which T(j) is z standard errors from p·j.
    The variance is f·j·[p(1 - p) + (1 - j/n)(p - m)²], with f = (J - j)/(J - 1) with a population
    and 1 without.  The second term is for the cut, which moves with the sample; m is the rate of
    positives there, (T(j + w) - T(j - w) + 1/2)/(number of places + 1) with w = max(5, j^0.8/2),
    within 0 and n; or that beyond the cut, from j to j + w, if it is further from the hit rate: it
    is where nearly all positives have just been found.  The term matters where the hit rate falls
    steeply at the quota, such as for a strong model with as many places as there are positives.
    Wilson's interval leaves it out.  Both take fractional T(j) and j as they are.  With a
    population both reach half a place further, 1/(2J), as its rates are multiples of 1/J.

    With weights p(1 - p) is multiplied by κ, examples by their squares, and z is the quantile of
    Student's t with j/κ - 1 degrees of freedom.  κ is Σw²/Σw of the selected (Kish), or as far as
    the mean weights of the classes differ by more than chance, (1 - h)·κ⁺ + h·κ⁻ with the hit rate
    h and Σw²/Σw of either class, to which two typical examples of the class are added.  Let d be
    the difference of the means, and s its standard error: the part is 1 - 4·s²/d², but not below 0.

    The exact ends are the shares for which at least as many positives, or at most as many, have a
    probability of α/2, with α = 1 - confidence_level.  They are quantiles of a beta distribution.
    With a population, the number of positives in the list's
    J places replaces the share, and the draws are hypergeometric.  The ends are then the smallest
    and the largest number with at least α/2.  If ties or the quota leave fractions, numbers are
    rounded so that the interval only grows.

    In simulations at such steep quotas the 95 % score interval covered the true value in 94 to
    99 %, and Wilson's in 67 to 81.  Elsewhere they covered it in 94 to 100 %, with
    samples that are most of a population in 96 to 99.  So did the score interval with weights,
    also of rows whose class or score has other weights.  If the quota ends in a large tie group,
    the score interval is rather too wide than too narrow.

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
    0.8 0.4527 0.9633
    >>> exact = hit_rate_interval(repaid, score, quota=10, method="exact")
    >>> print(exact.lower.round(4), exact.upper.round(4))
    0.4439 0.9748
    >>> listed = hit_rate_interval(repaid, score, quota=10, method="exact", population=60)
    >>> print(listed.lower.round(4), listed.upper.round(4))
    0.6 0.8667
    """
    check_level(confidence_level)
    check_choice("method", method, *get_args(Method))
    xp = namespace(wanted)
    if method == "exact":
        if table.weighted:
            raise TypeError('method="exact" counts examples, which must not have weights')
        return _draws(xp, table, wanted, listed)  # type: ignore[return-value]
    found = xp.minimum(positives_at(xp, table, wanted), wanted)
    z, variance, rate = normal_width(confidence_level), _unknown(xp, wanted, listed), found / wanted
    weighing = _weighing(xp, table, wanted) if table.weighted else None
    if weighing is not None:
        variance = weighing.of_rate(xp, wanted, rate)
        z = student_t(xp, confidence_level, xp.clip(wanted / variance - 1, 1.0))
    moving: tuple[Array, ...] = ()
    if method == "score":
        around, just_beyond, moves = moving_cut(xp, table, wanted, weighing)
        away = [xp.abs(x - rate) for x in (around, just_beyond)]
        moves = moves if weighing is None else moves / variance
        moving = xp.where(away[1] > away[0], just_beyond, around), moves
    lower, upper = wilson(xp, found, wanted - found, z, variance, *moving)
    some = (variance > 0) & (listed < ENDLESS)
    half = xp.where(some, 0.5 / listed, xp.zeros_like(listed))
    ends = xp.clip(lower - half, 0.0), xp.clip(upper + half, None, 1.0)
    lower, upper = (xp.nan_unless(wanted > 0, x) for x in ends)
    return Interval(hit_rate_at(xp, table, wanted), lower, upper)


def moving_cut(
    xp: Namespace, table: ops.TieTable, wanted: Array, weighing: _Weighing | None = None
) -> tuple[Array, Array, Array]:
    """The rates of positives around the cut and just beyond it, and how much it moves: the share of
    the examples beyond it, with weights their squares over the wanted mass.
    """
    whole = xp.cast(Totals(xp, table).whole[..., None], wanted.dtype)
    wanted = wanted + xp.zeros_like(whole)
    unit: Any = 1.0 if weighing is None else weighing.selected / wanted
    first, last = (unit * x for x in around_cut(xp, wanted / unit, whole / unit))
    counted = positives_at(xp, table, xp.concat([first, wanted, last], axis=-1))
    quotas = wanted.shape[-1]
    start, here, end = (counted[..., k * quotas : (k + 1) * quotas] for k in range(3))
    around = (end - start + unit / 2) / (last - first + unit)
    just_beyond = (end - here + unit / 2) / (last - wanted + unit)
    share = wanted / whole
    if weighing is None:
        return around, just_beyond, 1 - share
    squares = (1 - share) ** 2 * weighing.selected + share**2 * weighing.others
    return around, just_beyond, squares / wanted


# how much weights tell


_TYPICAL = 2.0
"""Rows as the mean of a class that are added to what is seen of it on one side of the cut."""


class _Rows(NamedTuple):
    """How many rows there are, what they weigh together, and the sum of the squares of weights."""

    number: Array
    mass: Array
    squares: Array

    def unit(self, xp: Namespace) -> Array:
        """What a row counts for in variances: the mean of weights, weighted by them."""
        return self.squares / divisor(xp, self.mass)


class _Weighing(NamedTuple):
    """The sums of the squares of weights of the selected and of the others; and rows of positives
    and of negatives: those selected and the others, with typical rows, and all.
    """

    selected: Array
    others: Array
    positives: tuple[_Rows, _Rows, _Rows]
    negatives: tuple[_Rows, _Rows, _Rows]

    def of_rate(self, xp: Namespace, wanted: Array, rate: Array) -> Array:
        """By what p(1 - p) is multiplied: Kish's mean weight of the selected or, as far as the mean
        weights of the classes differ by more than chance, that of each.
        """
        classes = good, bad = self.positives[0], self.negatives[0]
        numbers = [divisor(xp, x.number) for x in classes]
        means = [x.mass / n for x, n in zip(classes, numbers, strict=True)]
        within = [x.squares - x.mass * mean for x, mean in zip(classes, means, strict=True)]
        chance = sum(within) / (sum(numbers) - 2) * (1 / numbers[0] + 1 / numbers[1])
        square = (means[0] - means[1]) ** 2
        apart = xp.clip(1 - 4 * chance / divisor(xp, square), 0.0, 1.0)
        both = (good.number > 0) & (bad.number > 0) & (square > 0)
        apart = xp.where(both, apart, xp.zeros_like(apart))
        by_class = (1 - rate) * good.unit(xp) + rate * bad.unit(xp)
        return apart * by_class + (1 - apart) * self.selected / wanted

    def of_share(self, xp: Namespace, share: Array) -> tuple[Array, Array, Array, Array]:
        """By what the variance of a share of the positives is multiplied, and then negatives among
        the selected and the others; and the degrees of freedom.
        """
        here, there, whole = self.positives
        unit = (1 - share) * here.unit(xp) + share * there.unit(xp)
        negatives = (x.unit(xp) / divisor(xp, unit) for x in self.negatives[:2])
        freedom = xp.clip(whole.mass / divisor(xp, whole.unit(xp)) - 1, 1.0)
        freedom = xp.nan_unless(whole.number > 1, freedom)
        return unit, *(xp.clip(x, 1.0) for x in negatives), freedom


def _weighing(xp: Namespace, table: ops.TieTable, wanted: Array) -> _Weighing:
    squares = table.columns["square"]
    counts = [xp.cast(x, wanted.dtype) for x in (table.positives, table.counts - table.positives)]
    classes, of_all = [], xp.group_total(table, squares.whole)[..., None]
    (of_selected,) = xp.sums_within(table, wanted, squares.whole)
    for columns in zip(counts, (table.positive, table.negative), squares, strict=True):
        whole = [xp.group_total(table, x)[..., None] for x in columns]
        selected = xp.sums_within(table, wanted, *columns)
        others = [x - y for x, y in zip(whole, selected, strict=True)]
        typical = [_TYPICAL * x / xp.clip(whole[0], 1.0) for x in whole]
        sides = [[x + y for x, y in zip(side, typical, strict=True)] for side in (selected, others)]
        classes.append((_Rows(*sides[0]), _Rows(*sides[1]), _Rows(*whole)))
    return _Weighing(of_selected, of_all - of_selected, *classes)


def around_cut(xp: Namespace, wanted: Array, whole: Array) -> tuple[Array, Array]:
    """The places between which the rate of positives at the cut is counted."""
    away = xp.maximum(wanted**0.8 / 2, 5 * xp.ones_like(wanted))
    return xp.maximum(wanted - away, xp.zeros_like(wanted)), xp.minimum(wanted + away, whole)


def _unknown(xp: Namespace, wanted: Array, listed: Array) -> Array:
    """The factor of the variance if the examples are a sample of a finite list, (J - j)/(J - 1)."""
    one = xp.ones_like(wanted)
    finite = xp.where(listed < ENDLESS, listed, one)
    several = finite > 1
    factor = (finite - wanted) / xp.where(several, finite - 1, one)
    factor = xp.where(several, xp.minimum(factor, one), one)
    return xp.where(listed > wanted, xp.where(listed < ENDLESS, factor, one), xp.zeros_like(one))


NUMPY: Namespace = namespace(np.empty(0))
"""The operations for arrays of NumPy."""


# Qrecall and lift, whose number of positives varies with the sample too


_OF_POSITIVES: dict[Literal["qrecall", "lift"], Any] = {"qrecall": qrecall, "lift": lift}


@measure(IntervalMeasure, numbers=wanted_and_listed, greater_is_better=None, by_group=True)
def qrecall_interval(
    table: ops.TieTable,
    wanted: Array,
    listed: Array,
    *,
    measure: Literal["qrecall", "lift"] | Measure = "qrecall",
    confidence_level: float = 0.95,
) -> Interval:
    """Confidence interval of Qrecall or lift at a quota.

    The interval is for the population that the examples come from: the share of its positives that
    are among the best j/n.  The interval of lift is that of Qrecall divided by j/n, so the two
    always agree.

    Takes what `hit_rate` takes but a budget: labels and scores, or a `Ranking`, and a quota or
    fraction.

    Parameters
    ----------
    sample_weight : array, optional
        The quota is a mass.  A ranking with weights is refused, as it lacks their squares.
    population : number, optional
        The length of the list from which the n examples are a random sample without replacement: a
        whole number from n to below 2**53.  The interval is then for the best of that list.  It
        does not go with `groups` or weights.
    measure : {"qrecall", "lift"}, or the measure itself
        T(j)/P, or that over j/n.
    confidence_level : float
        Above 0 and below 1.

    Returns
    -------
    Interval
        Arrays of shape (..., *Q), with `groups` (..., S, *Q).  The ends are NaN where P < 2, but
        at quota 0 and n they are the estimate.

    Raises
    ------
    ValueError
        A population that is not a whole number, or below n.  Where values cannot be read the result
        is NaN instead.

    See Also
    --------
    hit_rate_interval : what share of the selected is positive.
    bootstrap : clusters and budgets.

    Notes
    -----
    The ends are the shares q for which T(j) is t·√V away from q·P.  Here t is the quantile of
    Student's t with P - 1 degrees of freedom, and V the sum of squares of what examples add to T(j)
    - q·P.  With the fraction f = j/n and the rate m of positives at the cut, as in
    `hit_rate_interval`, the selected positives, of which there are q·P, add 1 - q - m(1 - f) each,
    because they also move the cut, and the other positives m·f - q.  Selected negatives add -m(1 -
    f), and the others m·f.  On either side of the cut the negatives are as many as were seen, or as
    q leaves places for, whichever is more: a sample may have none there.  The upper end is at most
    f over the lower end of Wilson's interval of P/n, as if all selected were positive.  With a
    population V has the factor that it has in `hit_rate_interval`.

    With weights each of the four sums of squares is multiplied by Σw²/Σw of its examples, to which
    two typical ones are added; negatives by no less than positives.  P is their effective number.

    In simulations 95 % intervals covered the true value in 94 to 100 % of data sets with 200 to
    4000 rows, 1 to 40 % positives, and early to late quotas, and in 91 % of those where the quota
    takes in 99.9 % of the positives.

    References
    ----------
    [Wilson 1927], for a cut that was fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels.inference import qrecall_interval
    >>> score = np.arange(200, 0, -1)
    >>> repaid = (score > 185) | (score % 20 == 0)
    >>> found = qrecall_interval(repaid, score, quota=30)
    >>> print(found.estimate.round(4), found.lower.round(4), found.upper.round(4))
    0.6667 0.4623 0.8233
    >>> found = qrecall_interval(repaid, score, quota=30, measure="lift")
    >>> print(found.estimate.round(4), found.lower.round(4), found.upper.round(4))
    4.4444 3.082 5.4887
    """
    name = name_of(measure, _OF_POSITIVES)
    check_level(confidence_level)
    xp, total = namespace(wanted), Totals(namespace(wanted), table)
    positive, whole = (xp.cast(x[..., None], wanted.dtype) for x in (total.positive, total.whole))
    found = xp.minimum(positives_at(xp, table, wanted), positive)
    weighing = _weighing(xp, table, wanted) if table.weighted else None
    at_cut, beyond = moving_cut(xp, table, wanted, weighing)[0], 1 - wanted / whole
    variance, here, there, freedom = _unknown(xp, wanted, listed), 1.0, 1.0, positive - 1
    rarity: Any = 1.0 if weighing is None else (weighing.selected + weighing.others) / whole
    if weighing is not None:
        variance, here, there, freedom = weighing.of_share(xp, found / positive)
    square = student_t(xp, confidence_level, freedom) ** 2 * variance
    # places and negatives: those selected, and the others
    sides = here * wanted, here * (wanted - found)
    others = there * (whole - wanted), there * (whole - wanted - positive + found)
    given = xp, positive, square / positive, at_cut
    lower = _least_found(*given, found, sides[0], others[1], beyond)
    upper = 1 - _least_found(*given, positive - found, others[0], sides[1], 1 - beyond)
    rarest, _ = wilson(xp, positive, whole - positive, normal_width(confidence_level), rarity)
    rarest = xp.where(positive > 0, rarest, xp.ones_like(rarest))
    upper = xp.minimum(upper, wanted / (whole * rarest))  # as if all selected were positive
    certain = (wanted == 0) | (wanted >= whole)
    lower, upper = (xp.where(certain, found / positive, x) for x in (lower, upper))
    if name == "lift":
        lower, upper = (whole / wanted * x for x in (lower, upper))
    estimate = _OF_POSITIVES[name].__wrapped__(table, wanted)
    return Interval(estimate, xp.minimum(lower, estimate), xp.maximum(upper, estimate))


def _least_found(
    xp: Namespace, positive: Array, scale: Array, at_cut: Array, *side: Array
) -> Array:
    """The least share of the positives with which as many as were found may lie on one side of the
    cut: of that many, in so many places, with so many negatives and this share of all beyond them.

    It solves (found/P - q)² = scale·[(1 - 2m)q(1 - q) + b²(1 - q) + (a²·places + b²·negatives)/P],
    where m is the rate of positives at the cut, a = m·beyond and b = m - a.
    """
    found, places, negatives, beyond = side
    own, other = at_cut * beyond, at_cut * (1 - beyond)
    bend, free = scale * (1 - 2 * at_cut), scale * other**2
    fixed = free + scale * (own**2 * places + other**2 * negatives) / positive
    return least_root(xp, found / positive, fixed, bend - free, -bend)


# what a quota brings where all examples of a cell bring the same


def impact_ends(
    ranking: Ranking, impacts: Sequence[float], quota: float, confidence_level: float
) -> NDArray:
    """Both ends of the impact of a quota of one list; the impacts are (i_tp, i_fp, i_fn, i_tn).

    The impact is a sum over the positives among the selected, and among the others.  Each has
    Wilson's interval, which has a width even if all are positive, when resamples have none.  The
    cut moves with the sample, past cases with the rate of positives at the cut.  The squares of the
    distances of the ends add up, as for independent estimates, and the ends stay within what the
    numbers of places allow.
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


def uplift_ends(ranking: Ranking, quota: float, confidence_level: float) -> NDArray:
    """Both ends of the uplift at a quota of one list; NaN where an arm is not among the selected.

    The squares of the distances of the ends of Wilson's intervals of both arms add up, and that of
    how far the uplift moves with the cut.
    """
    table, total = table_of(NUMPY, ranking), float(np.sum(ranking.counts))
    first, last = around_cut(NUMPY, np.asarray([quota]), np.asarray(total))
    places = np.concatenate([first, [quota], last])
    ends, squares, moves = np.zeros(2), np.zeros(2), 0.0
    for sign, arm in ((1, "treated"), (-1, "control")):
        before, here, after = np.transpose(NUMPY.sums_within(table, places, *table.columns[arm]))
        found, size = float(here[0]), float(here.sum())
        if not size > 0:
            return np.full(2, math.nan)
        there = after - before
        rate = (there[0] + 0.5) / (there.sum() + 1)
        moves += sign * (rate - found / size) * float(there.sum() / (last - first)[0]) / size
        ends += sign * found / size
        squares += np.sort(sign * _away(found, size, confidence_level) / size) ** 2
    squares += (normal_width(confidence_level) * moves) ** 2 * quota * (1 - quota / total)
    return np.clip(ends + np.asarray([-1.0, 1.0]) * np.sqrt(squares), -1.0, 1.0)


def _rate_at_cut(ranking: Ranking, quota: float) -> float:
    return float(moving_cut(NUMPY, table_of(NUMPY, ranking), np.asarray([quota]))[0][0])


def _away(number: float, places: float, confidence_level: float) -> NDArray:
    """The distances of both ends of Wilson's interval from a number of positives in some places."""
    found, missed = np.asarray(number), np.asarray(places - number)
    ends = wilson(NUMPY, found, missed, normal_width(confidence_level), np.ones(()))
    return places * np.asarray(ends) - number


# two selections at one quota: is one of them right more often where they differ?


@plainly
class SelectionComparison(NamedTuple):
    """How two selections of equal size differ; plain numbers.

    Attributes
    ----------
    difference : float
        The first hit rate minus the second.
    lower, upper : float
        Ends of its confidence interval; of a one-sided test a bound and infinity.
    p_value : float
        P-value of the test that both hit rates are equal, or differ by the margin.
    discordant : float
        How many examples only the first selects; the second selects as many alone.
    positives_a, positives_b : float
        How many of these examples are positive, for each of the two selections.
    """

    difference: float
    lower: float
    upper: float
    p_value: float
    discordant: float
    positives_a: float
    positives_b: float


@forwarding(rank, without=OF_LABELS)
def compare_selections(
    y_true: Any,
    models: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    confidence_level: float = 0.95,
    **data: Any,
) -> SelectionComparison:
    """Whether one of two models fills a quota better, by the examples that only one selects.

    Examples that both models select, or neither, do not tell which is better.  Each model alone
    selects equally many others, D.  Let B be the positives among those of the first model, and C
    among those of the second: the hit rates differ by (B - C)/j.

    The score test asks whether both hit rates are equal in the population, where each model has a
    cut of its own.

    Labels and keywords are those of `rank`, without weights; the size of the selections is that of
    `select`.

    Parameters
    ----------
    y_true : array, shape (n,)
        One list for both models.
    models : mapping from names to arrays, shape (n,), a data frame, or an array, shape (2, n)
        Scores of two models: the first and the second.
    quota, fraction : number
        The size of the selections; one of the two.
    alternative : {"two-sided", "greater", "less"}
        What the test may show: that the hit rates differ, that the first is greater, or that it is
        less.
    margin : float
        A difference of hit rates, and only for a one-sided test: "greater" may show that the
        difference is above -margin (the first model is not inferior), "less" that it is below the
        margin.  A negative margin asks for more than any difference.
    confidence_level : float
        Of the interval, above 0 and below 1; of a one-sided bound, above 0.5.

    Returns
    -------
    SelectionComparison
        Python floats.  NaN for the quota 0, for no examples, and if a bad value could not be read.
        The p-value is 1 if no positive is selected by one model alone.

    Raises
    ------
    TypeError
        Scores without values, in a trace.
    ValueError
        A margin that is not finite, or of a two-sided test.

    See Also
    --------
    compare : more than two models, other measures, weights.
    select : who is selected.

    Notes
    -----
    If a quota ends in a tie group, each of its examples is selected with a probability s.  The
    first model alone selects it with max(s₁ - s₂, 0), so both select the same examples as far as
    possible.  The difference remains that of the expected hit rates.

    The interval is B - C ± z√V with V = B(1 - m₁)² + (D - B)m₁² + C(1 - m₂)² + (D - C)m₂² +
    (j - D)(m₁ - m₂)² - (B - C - j(m₁ - m₂))²/n, where ½ is added to B and C, and to the negatives
    beside them.  m₁ and m₂ are the rates of positives at the w places around each cut, as in
    `hit_rate_interval`.  V is 0 if all examples are selected.  With a margin the test uses this V
    too, so that it rejects where the bound leaves the margin out.  Without one, an interval that
    would contradict the test ends at 0.

    Without a margin the test has z = (B - C)/√V with the V to expect if both hit rates are equal.
    B and C are replaced by their mean.  m₁ - m₂ loses what it shares with B - C, because the same
    examples count in both: (B - C)·c/(2D), where c sums ±(a₁ - a₂)/(w + 1) over the examples that
    only the first (+) or only the second (-) selects; a₁ and a₂ are 1 for those around each cut.
    The square of the distance between the mean m of both rates and (B + C)/(2D) loses its noise,
    m(1 - m)/(2w), but does not fall below 0.

    In simulations of two equal hit rates this test rejected at the 5 % level in at most 6.4 % of
    data sets.  It has 94 to 100 % of the power of Fisher's with mid-p where that one holds its
    level.

    McNemar's test and Fisher's take the cuts as fixed, and are those of SciPy for the numbers of
    the result: ``binomtest(B, B + C)`` and ``fisher_exact([[B, D - B], [C, D - C]])``.  If most
    examples that only one model selects are positive, McNemar's finds hardly any difference.
    Fisher's rejects too often if the rates of positives at the cuts differ from the hit rates.

    References
    ----------
    [McNemar 1947], the test of fixed cuts.

    Examples
    --------
    >>> from quotakernels.inference import compare_selections
    >>> y_true = [1, 1, 1, 0, 1, 0, 0, 0, 0, 1]
    >>> models = {"a": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], "b": [1, 2, 3, 9, 8, 7, 6, 0, 4, 5]}
    >>> found = compare_selections(y_true, models, quota=4)
    >>> print(found.difference, found.positives_a, found.positives_b, round(found.p_value, 4))
    0.5 3.0 1.0 0.0939
    """
    side = Side.of(alternative, margin, confidence_level)
    scores = stacked(two_models(models, y_true), y_true, **data)
    both = selections(y_true, scores, data, {"quota": quota, "fraction": fraction})
    return both.by_score(0, 1, side)[0]


class PairTest(NamedTuple):
    """An interval for the difference of two models, and the p-values of the tests that it is 0, at
    most -margin, and at least the margin.

    There are two standard errors if there are any: as estimated, and if the models are equal.
    """

    lower: float
    upper: float
    p_value: float
    greater: float = math.nan
    less: float = math.nan
    error: float = math.nan
    if_equal: float = math.nan

    def p_value_of(self, side: Side) -> float:
        """The p-value that is asked for: of the whole test, or of one side."""
        return (self.p_value, self.greater, self.less)[side.sign]


def by_student(
    difference: float,
    error: float,
    freedom: float,
    level: float,
    rounding: float,
    margin: float = 0.0,
) -> PairTest:
    """The t test of a difference with a standard error; of units that are all alike, which tell
    nothing of others, it has no width.
    """
    if not error > rounding:
        end, p_value = 0.0 if abs(difference) <= rounding else math.nan, 1.0 + 0.0 * difference
        return PairTest(end, end, p_value, p_value, p_value, error, error)
    degrees = np.full(3, freedom)
    wide = float(student_t(NUMPY, level, degrees)[0]) * error
    above = np.asarray([abs(difference), difference + margin, margin - difference])
    tail = student_p_value(NUMPY, above / error, degrees) / 2
    either, greater, less = np.where(above > 0, tail, 1 - tail).tolist()
    ends = difference - wide, difference + wide
    return PairTest(*ends, min(1.0, 2 * either), greater, less, error, error)


class Selections(NamedTuple):
    """The selections of M models at one quota: the probability of each example, that it is around
    the cut, shape (M, n), and the number of places there.
    """

    chosen: Array
    around: Array
    labels: Array
    valid: Array | None
    places: float

    def by_score(self, first: int, second: int, side: Side) -> tuple[SelectionComparison, PairTest]:
        """The score test of two models, by their places."""
        counts = self._counts(first, second)
        alone, a, b, examples, selected, *_ = counts
        if not (examples > 0 and selected > 0):
            return SelectionComparison(*[math.nan] * 7), PairTest(*[math.nan] * 3)
        apart, if_equal = a - b, math.sqrt(counts.if_equal(self.places).variance())
        wide, margin = math.sqrt(counts.variance(0.5)), side.margin * selected
        wide = 0.0 if selected >= examples else wide  # all selections are then the same
        p_value = min(1.0, 2 * normal_tail(abs(apart), if_equal))
        used = wide if margin else if_equal
        greater, less = (normal_tail(x + margin, used) for x in (apart, -apart))
        z, error = normal_width(side.level), math.sqrt(counts.variance())
        near, far = abs(apart) - z * wide, abs(apart) + z * wide
        if not margin:  # the interval ends at 0 rather than gainsay the test
            near = (max if abs(apart) > z * if_equal else min)(near, 0.0)
        ends = (near, far) if apart > 0 else (-far, -near)
        lower, upper = (min(max(x / selected, -1.0), 1.0) + 0.0 for x in ends)  # no -0
        test = PairTest(lower, upper, p_value, greater, less, error / selected, if_equal / selected)
        said = (*side.ends(lower, upper), test.p_value_of(side))
        return SelectionComparison(apart / selected, *said, alone, a, b), test

    def _counts(self, first: int, second: int) -> Discordance:
        xp = namespace(self.chosen)
        with xp.computing():
            chosen, labels = self.chosen[first, ...], self.labels[first, ...]
            more = chosen - self.chosen[second, ...]
            around = [self.around[model, ...] for model in (first, second)]
            zero = xp.zeros_like(more)
            only = [xp.maximum(x, zero) for x in (more, -more)]
            positive = [xp.where(labels, x, zero) for x in (*only, *around)]
            there = xp.ones_like(labels)
            if self.valid is not None:
                there = self.valid[first, ...] & self.valid[second, ...]
            both = more * (around[0] - around[1])
            sums = [only[0], *positive[:2], xp.cast(there, more.dtype), chosen, *positive[2:], both]
            numbers = host_floats(xp.stack([xp.sum(x) for x in sums])).tolist()
        parts = zip(numbers[5:], (0.5, 0.5, 0.0), strict=True)
        rates = [(x + half) / (self.places + 1) for x, half in parts]
        return Discordance._make([*numbers[:5], *rates])


class Discordance(NamedTuple):
    """How many examples only the first selects; the positives among these, and among those of the
    second alone; the number of all examples, and of those that each selects; the rates of positives
    at the cuts; and the weight in their difference of the examples that one selects alone.
    """

    discordant: float
    first: float
    second: float
    examples: float
    selected: float
    first_cut: float
    second_cut: float
    weight: float

    def if_equal(self, places: float) -> Discordance:
        """What to expect if both hit rates are equal, as in `compare_selections`.

        The rates at the cuts lose what they share with the difference that is tested, so that the
        variance does not depend on it, and their mean loses the noise in its distance from the rate
        among the examples that one selects alone.
        """
        if not self.discordant:
            return self
        equal, middle = (self.first + self.second) / 2, (self.first_cut + self.second_cut) / 2
        rate, noise = equal / self.discordant, middle * (1 - middle) / (2 * places)
        away = math.sqrt(max((middle - rate) ** 2 - noise, 0.0))
        middle = rate + math.copysign(away, middle - rate)
        owed = self.weight * (self.first - self.second) / (2 * self.discordant)
        half = (self.first_cut - self.second_cut - owed) / 2
        cuts = {"first_cut": middle + half, "second_cut": middle - half}
        return self._replace(first=equal, second=equal, **cuts)

    def variance(self, more: float = 0.0) -> float:
        """The variance of B - C in `compare_selections`; `more` is added to the positives and to
        the negatives of each model.

        The difference of two hit rates is about the mean of (y - m₁)·[selected by the first]
        - (y - m₂)·[selected by the second], where m is the rate of positives at the cut: one more
        case moves the cut past another with that rate.
        """
        discordant, first, second, examples, selected, a, b, _ = self
        alone = discordant + 2 * more
        found = (first + more) * (1 - a) ** 2 + (alone - first - more) * a**2
        found += (second + more) * (1 - b) ** 2 + (alone - second - more) * b**2
        found += (selected - discordant) * (a - b) ** 2
        total = first - second - selected * (a - b)
        return max(found - total**2 / examples, 0.0)


def selections(y_true: Any, scores: Array, data: dict[str, Any], at: dict[str, Any]) -> Selections:
    """The selections of models with scores of shape (M, n), at one quota or fraction."""
    examples = validated({"y_true": y_true, "y_score": scores, **data}).examples
    given = {x: data[x] for x in ("where", "validate") if x in data}
    taken: Any = functools.partial(select, scores, **given)
    chosen, xp = taken(**at), namespace(scores)
    with xp.computing():
        there = xp.ones_like(examples.labels) if examples.valid is None else examples.valid
        sizes = (xp.sum(chosen, axis=-1), xp.count_nonzero(there, axis=-1))
        wanted, whole = (np.max(np.nan_to_num(host_floats(x)), keepdims=True) for x in sizes)
    first, last = (float(x[0]) for x in around_cut(NUMPY, wanted, whole))
    around = taken(quota=last) - taken(quota=first)
    return Selections(chosen, around, examples.labels, examples.valid, last - first)
