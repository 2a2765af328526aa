"""How many labelled examples it takes to tell two models apart."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import to_numpy
from quotakernels._records import plainly
from quotakernels.inference._call import OF_LABELS, AreaMeasure, name_of
from quotakernels.inference._distributions import Alternative, Side, normal_width
from quotakernels.inference.areas import delong_test
from quotakernels.inference.hit_rates import Discordance, selections
from quotakernels.inputs.keywords import forwarding, show_value, silently
from quotakernels.inputs.models import host_floats, stacked, two_models
from quotakernels.inputs.numbers import plain_number
from quotakernels.measures.at_quota import hit_rate
from quotakernels.measures.over_quotas import roc_auc
from quotakernels.ranking import rank

_PLANNED: dict[Any, Any] = {"roc_auc": roc_auc, "hit_rate": hit_rate}
_NORMAL = NormalDist()
_CORRELATION = 0.5
_ANGLES, _STEPS_TO_RATE = 64, 40
_ROUNDED_DOWN = 1 - 1e-9
"""Times the difference: one that the pilot sample shows stays possible."""


@plainly
class SampleSize(NamedTuple):
    """How many examples a test of two models needs; plain numbers.

    Attributes
    ----------
    examples : float
        The number of labelled examples, a whole one.
    positives : float
        How many of them are positive on average, rounded up.
    standard_error : float
        The standard error of the difference with so many examples.
    first, second : float
        The measure of each model, as assumed or in the pilot sample.
    """

    examples: float
    positives: float
    standard_error: float
    first: float
    second: float


class _Known(NamedTuple):
    """What is known of two models before the study: the share of positives, the measure of each,
    and the standard errors of their difference with one example, as it is and if they are equal.
    """

    prevalence: float
    first: float
    second: float
    error: float
    if_equal: float


@forwarding(rank, without=OF_LABELS)
def sample_size(
    measure: AreaMeasure,
    y_true: Any = None,
    models: Any = None,
    *,
    difference: float,
    quota: Any = None,
    fraction: Any = None,
    auc: float | None = None,
    prevalence: float | None = None,
    correlation: float | None = None,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    confidence_level: float = 0.95,
    **data: Any,
) -> SampleSize:
    """How many labelled examples tell a difference of two models, with a given power.

    Both models score the same examples, and the test is `delong_test` for the AUC, and
    `compare_selections` for the hit rate at a quota.

    How much the difference varies is known from a pilot sample, or else from curves that are
    assumed.  Then the second model has the given AUC, and the first is better by the difference.

    Parameters
    ----------
    measure : {"roc_auc", "hit_rate"}, or the measure itself
        What the models shall differ in.
    y_true : array, shape (n,), optional
        The labels of a pilot sample.
    models : mapping from names to arrays, shape (n,), a data frame, or an array, shape (2, n)
        The scores of both models for the pilot sample.
    difference : float
        The difference to be found, the first model minus the second, in units of the measure.
    quota, fraction : number
        For the hit rate, one of the two.  A quota needs a pilot sample, and stands for its share of
        that.
    auc, prevalence : float, optional
        Without a pilot sample: the AUC of the second model, and the share of positives.
    correlation : float, optional
        Without a pilot sample: how the scores of both models correlate among the examples of a
        class, from 0 to below 1; 0.5 by default.  Two versions of one model often have more.
    power : float
        The probability that the test finds the difference; below 1, and above what it reaches by
        chance alone: 1 minus the confidence level, or half of that for a two-sided test.
    alternative, margin, confidence_level : optional
        What the test may show, the margin of a one-sided test, and 1 minus its level, as in
        `delong_test`.
    where, pos_label, validate : optional
        For the pilot sample, as in `rank`.

    Returns
    -------
    SampleSize
        Python floats.  The numbers of examples and positives and the standard error are NaN where
        the pilot sample does not tell how much the difference varies: for the AUC with fewer than
        two positives or negatives, for hit rates without a positive that only one of the models
        selects, and if both models rank all examples alike.

    Raises
    ------
    TypeError
        Neither a pilot sample nor an AUC and a prevalence, or arguments for both; a quota without a
        pilot sample.
    ValueError
        A difference that the test cannot show, such as 0; one that takes a model's measure out of
        its range; a share, a power or a correlation out of range; other than two models.

    See Also
    --------
    delong_test, compare_selections : the tests.

    Notes
    -----
    The number is (z_α·s₀ + z_β·s)²/d², where d is the difference (plus the margin), z_α and z_β are
    normal quantiles for the level of the test and for its power, and s and s₀ are the standard
    errors of the difference for one example: as it is, and if the models are equal.  `delong_test`
    uses s for both, as does `compare_selections` with a margin.

    The assumed scores are normal in each class, with one variance.  The more the models' scores
    correlate, the fewer examples it takes.

    In simulations of 30 settings with assumed curves the tests found the difference in 78 to 84 %
    of data sets, of 80 % asked for.  In 9 of 10 pilot samples with 40 to 50 positives the number
    was 0.5 to 1.6 times the true one, and with 200 to 300 positives 0.8 to 1.25 times.

    References
    ----------
    [DeLong 1988] section 3, the variance for pilot samples.

    Examples
    --------
    >>> from quotakernels.inference import sample_size
    >>> plan = sample_size("hit_rate", difference=0.02, fraction=0.05, auc=0.8, prevalence=0.03)
    >>> print(plan.examples, plan.positives, round(plan.first, 3), round(plan.second, 3))
    60744.0 1823.0 0.198 0.178
    >>> print(sample_size("roc_auc", difference=0.02, auc=0.8, prevalence=0.03).examples)
    33227.0
    """
    name = name_of(measure, _PLANNED)
    side, away = _test_of(difference, alternative, margin, confidence_level)
    _check_power(power, (1 - side.level) / 2)
    at = _cut_of(name, quota=quota, fraction=fraction)
    curves = {"auc": auc, "prevalence": prevalence}
    if models is not None:
        assumed = {**curves, "correlation": correlation}
        _refuse("is assumed without a pilot sample; pass it or models", assumed)
        known = _of_pilot(name, difference, y_true, models, at, data)
    else:
        known = _of_curves(name, difference, at, correlation, curves)
        pilot = {"y_true": y_true, "quota": quota, **data}
        _refuse("is for a pilot sample; pass y_true and models, or leave it out", pilot)
    if_equal = known.error if side.margin else known.if_equal
    number = examples_for(away, known.error, if_equal, side.level, power)
    error = known.error / math.sqrt(number) if number else math.nan
    return SampleSize(number, float(np.ceil(number * known.prevalence)), error, *known[1:3])


def examples_for(
    away: float, error: float, if_equal: float, level: float = 0.95, power: float = 0.8
) -> float:
    """How many examples find a difference, from its standard errors with one: as it is, and if the
    models are equal.  NaN without one.
    """
    widths = normal_width(level) * if_equal + _NORMAL.inv_cdf(power) * error
    return max(1.0, float(np.ceil((max(0.0, widths) / away) ** 2))) if error > 0 else math.nan


def examples_to_tell(p_value: float, examples: float, level: float) -> float:
    """How many examples like these find a difference as large as theirs, which has this p-value;
    NaN without a difference.
    """
    away, root = -_NORMAL.inv_cdf(p_value / 2), math.sqrt(examples)
    return examples_for(away, root, root, level) if away > 0 else math.nan


def _test_of(
    difference: Any, alternative: Alternative, margin: Any, level: Any
) -> tuple[Side, float]:
    """What the test asks, and how far the difference is from what it shall rule out."""
    side, by = Side.of(alternative, margin, level), plain_number("difference", difference)
    away = side.sign * by + side.margin if side.sign else abs(by)
    if not 0 < away < math.inf:
        shown = f"{'above' if side.sign > 0 else 'below'} {0 - side.sign * side.margin:g}"
        shown = shown if side.sign else "not 0"
        raise ValueError(f"difference must be finite and {shown}; got {show_value(difference)}")
    return side, away


def _cut_of(name: str, **given: Any) -> dict[str, Any]:
    """The quota or fraction of hit rates."""
    at = {x: value for x, value in given.items() if value is not None}
    if at and name == "roc_auc":
        raise TypeError(f"{next(iter(at))} is for hit_rate; roc_auc is over all quotas")
    return at


def _refuse(why: str, given: dict[str, Any]) -> None:
    """Raise for an argument that the plan would not read."""
    if unread := [x for x, value in given.items() if value is not None]:
        raise TypeError(f"{unread[0]}= {why}")


def _check_power(power: Any, by_chance: float) -> None:
    if not by_chance < plain_number("power", power) < 1:
        raise ValueError(
            f"power must be above {by_chance:.3g}, which this test reaches by chance alone, and "
            f"below 1; got {show_value(power)}"
        )


def _check_shares(**shares: Any) -> None:
    for name, share in shares.items():
        if not 0 < plain_number(name, share) < 1:
            raise ValueError(f"{name} must be above 0 and below 1; got {show_value(share)}")


# from a pilot sample


def _of_pilot(
    name: str, difference: float, y_true: Any, models: Any, at: Any, data: dict[str, Any]
) -> _Known:
    scores = stacked(two_models(models, y_true), y_true, **data)
    ranking = rank(y_true, scores, **data)
    first, second = host_floats(_PLANNED[name](ranking, **at)).tolist()
    if name == "roc_auc":
        with silently():  # only the error is read, not the p value
            error = if_equal = float(delong_test(y_true, scores, **data).standard_error)
    else:
        found, test = selections(y_true, scores, data, at).by_score(0, 1, Side())
        error, if_equal = test.error, test.if_equal
        if not found.positives_a + found.positives_b:
            error = math.nan
    total, positives = (float(np.sum(to_numpy(x[0, ...]))) for x in ranking[1:3])
    if error > 0:
        worse, what, ends = (min if difference >= 0 else max)(first, second), "AUC", (0.0, 1.0)
        if at:
            fraction = at["quota"] / total if "quota" in at else at["fraction"]
            what, ends = "hit rate", _possible_rates(positives / total, fraction)
        _better(worse, difference * _ROUNDED_DOWN, what, *ends)
    root = math.sqrt(total)
    return _Known(positives / total, first, second, root * error, root * if_equal)


# from curves of normal scores


def _of_curves(
    name: str, difference: float, at: Any, correlation: Any, curves: dict[str, Any]
) -> _Known:
    """What is known of scores that are normal in each class, with one variance."""
    correlation = _CORRELATION if correlation is None else correlation
    needed = {**curves, "fraction": at.get("fraction")} if name == "hit_rate" else curves
    if missing := [f"{x}=" for x, value in needed.items() if value is None]:
        raise TypeError(f"pass {' and '.join(missing)}, or y_true and models of a pilot sample")
    _check_shares(**needed)
    if not 0 <= plain_number("correlation", correlation) < 1:
        raise ValueError(f"correlation must be from 0 to below 1; got {show_value(correlation)}")
    of_curves = _hit_rates if name == "hit_rate" else _areas
    return of_curves(difference, correlation=correlation, **needed)


def _areas(difference: float, auc: float, prevalence: float, correlation: float) -> _Known:
    """By DeLong's variance, of what each positive beats and what beats each negative."""
    areas = _better(auc, difference, "AUC", 0.0, 1.0)
    first, second = map(_NORMAL.inv_cdf, areas)
    own = _in_common(first, first, 0.5) + _in_common(second, second, 0.5)
    square = own - 2 * _in_common(first, second, correlation / 2)
    error = math.sqrt(square / (prevalence * (1 - prevalence)))
    return _Known(prevalence, *areas, error, error)


def _hit_rates(
    difference: float, auc: float, prevalence: float, fraction: float, correlation: float
) -> _Known:
    """By the variance of `compare_selections`, of what only one of the models selects."""
    sizes = np.asarray([prevalence, 1 - prevalence]) / fraction
    ends = _possible_rates(prevalence, fraction)
    rates = _better(_rate_of(auc, sizes, *ends), difference, "hit rate", *ends)
    of_class = [*zip(*(_above(rate, sizes) for rate in rates), strict=True)]
    both = [
        size * (_in_common(a, b, correlation) + _NORMAL.cdf(a) * _NORMAL.cdf(b))
        for size, (a, b) in zip(sizes.tolist(), of_class, strict=True)
    ]
    density = sizes[:, None] * [[_NORMAL.pdf(x) for x in places] for places in of_class]
    at_cuts = (density[0] / density.sum(axis=0)).tolist()
    alone = [rate - both[0] for rate in rates]
    found = Discordance._make([1 - sum(both), *alone, 1 / fraction, 1.0, *at_cuts, 0.0])
    error, if_equal = (
        math.sqrt(x.variance() / fraction) for x in (found, found.if_equal(math.inf))
    )
    return _Known(prevalence, *rates, error, if_equal)


def _possible_rates(prevalence: float, fraction: float) -> tuple[float, float]:
    """The lowest and the highest hit rate of any model."""
    return max(0.0, 1 - (1 - prevalence) / fraction), min(1.0, prevalence / fraction)


def _above(rate: float, sizes: Any) -> list[float]:
    """How far the means of the positives and of the negatives are above the cut with a hit rate,
    for classes of these sizes, as multiples of the quota.
    """
    return [_NORMAL.inv_cdf(x) for x in (np.asarray([rate, 1 - rate]) / sizes).tolist()]


def _rate_of(auc: float, sizes: Any, low: float, high: float) -> float:
    """The hit rate of a model with this AUC, between two others."""
    apart = math.sqrt(2) * _NORMAL.inv_cdf(auc)
    for _ in range(_STEPS_TO_RATE):
        rate = (low + high) / 2
        positive, negative = _above(rate, sizes)
        low, high = (rate, high) if positive - negative < apart else (low, rate)
    return rate


def _better(
    second: float, difference: float, what: str, least: float, most: float
) -> tuple[float, float]:
    """The measure of both models; raise unless that of the first is possible."""
    first = second + difference
    if not least < first < most:
        raise ValueError(
            f"difference {difference:g} from {what} {second:.3g} gives {first:.3g}, which must be "
            f"above {least:.3g} and below {most:.3g}"
        )
    return first, second


def _in_common(first: float, second: float, correlation: float) -> float:
    """The covariance of being below either of two points, for two normal numbers that correlate.

    It is the integral of their density at these points over the correlation.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_ANGLES)
    half = math.asin(correlation) / 2
    sine = np.sin(half * (nodes + 1))
    heights = np.exp((first * second * sine - (first**2 + second**2) / 2) / (1 - sine**2))
    return half * float(weights @ heights) / (2 * math.pi)
