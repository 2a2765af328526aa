"""Measures at a quota: T, hit rate, Qrecall, lift, Pearson, and who fills the quota."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .table import Group, Number, groups, total_positive_weight, total_weight


class Portion(NamedTuple):
    """What a quota takes of one tie group."""

    score: Number
    weight: Fraction
    label: Fraction


class LiftBin(NamedTuple):
    """One row of the lift table."""

    start: Fraction
    stop: Fraction
    positives: Fraction
    hit_rate: Fraction | None
    lift: Fraction | None
    cumulative_hit_rate: Fraction | None
    cumulative_lift: Fraction | None
    qrecall: Fraction | None
    capture: Fraction | None
    fpr: Fraction | None
    ks: Fraction | None


class QuotaThreshold(NamedTuple):
    """Score of the group that owns the quota's last position, the mass above it and at it."""

    threshold: Number | None
    above: Fraction
    tied: Fraction


def ratio(numerator: Fraction, denominator: Fraction) -> Fraction | None:
    """numerator / denominator, undefined when the denominator is 0."""
    return None if denominator == 0 else numerator / denominator


def expected_labels(ranking: Sequence[Group]) -> list[Fraction]:
    """t[1], …, t[n] (AR eq 5): each position's expected label, W⁺/W (p/m) of its tie group."""
    return [group.positive_weight / group.weight for group in ranking for _ in range(group.count)]


def cuts(ranking: Sequence[Group]) -> list[Fraction]:
    """The quotas at which no group is divided: 0, then every group end."""
    ends = [Fraction(0)]
    for group in ranking:
        ends.append(ends[-1] + group.weight)
    return ends


def portions(ranking: Sequence[Group], quota: Number) -> list[Portion]:
    """What the best examples of total mass ``quota`` are made of; a divided group gives a share."""
    rest = Fraction(quota)
    if not 0 <= rest <= total_weight(ranking):
        raise ValueError(f"quota {quota} outside [0, {total_weight(ranking)}]")
    taken = []
    for group in ranking:
        weight = min(rest, group.weight)
        rest -= weight
        if weight > 0:
            taken.append(Portion(group.score, weight, group.positive_weight / group.weight))
    return taken


def positives_within(ranking: Sequence[Group], quota: Number) -> Fraction:
    """T(q) = Σ_{k≤q} t[k], linear inside a tie group."""
    taken = portions(ranking, quota)
    return sum((portion.weight * portion.label for portion in taken), Fraction(0))


T = positives_within


def hit_rate(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """HitRate(j) = T(j)/j (AR eq 4)."""
    return ratio(T(ranking, quota), Fraction(quota))


def qrecall(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """Q(j) = T(j)/P (AR eq 6)."""
    return ratio(T(ranking, quota), total_positive_weight(ranking))


def lift(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """Cumulative lift, HitRate(j)/π with π = P/n."""
    rate = hit_rate(ranking, quota)
    return None if rate is None else over_prevalence(ranking, rate)


def over_prevalence(ranking: Sequence[Group], rate: Fraction) -> Fraction | None:
    """rate/π."""
    return ratio(rate * total_weight(ranking), total_positive_weight(ranking))


def lift_table(ranking: Sequence[Group], bins: int = 10) -> list[LiftBin]:
    """Lift of each bin (AR 2.2.5) between the fractional edges i·n/bins."""
    whole = total_weight(ranking)
    edges = [whole * i / bins for i in range(bins + 1)]
    return [_lift_bin(ranking, start, stop) for start, stop in pairwise(edges)]


def _lift_bin(ranking: Sequence[Group], start: Fraction, stop: Fraction) -> LiftBin:
    """The mean t between two edges, and the cumulative measures at the second."""
    positives = T(ranking, stop) - T(ranking, start)
    rate = ratio(positives, stop - start)
    found, wrong = qrecall(ranking, stop), _fpr(ranking, stop)
    return LiftBin(
        start=start,
        stop=stop,
        positives=positives,
        hit_rate=rate,
        lift=None if rate is None else over_prevalence(ranking, rate),
        cumulative_hit_rate=hit_rate(ranking, stop),
        cumulative_lift=lift(ranking, stop),
        qrecall=found,
        capture=ratio(positives, total_positive_weight(ranking)),
        fpr=wrong,
        ks=None if found is None or wrong is None else found - wrong,
    )


def _fpr(ranking: Sequence[Group], quota: Fraction) -> Fraction | None:
    """The share of the negatives within a quota."""
    negatives = total_weight(ranking) - total_positive_weight(ranking)
    return ratio(quota - T(ranking, quota), negatives)


def pearson(ranking: Sequence[Group], quota: Number, labels: str = "expected") -> float | None:
    """Correlation of the j best scores with their t (AR eq 8-11) or labels, correctly rounded."""
    signed_square = pearson_signed_square(ranking, quota, labels)
    return None if signed_square is None else signed_root(signed_square)


def pearson_signed_square(
    ranking: Sequence[Group], quota: Number, labels: str = "expected"
) -> Fraction | None:
    """sign(r)·r², r = cov(x, t)/√(var(x)·var(t)) over what the quota takes.

    With observed labels, t is 1 for the positives of each portion and 0 for its negatives.

    Undefined when either variance is 0 or a score that the quota takes is not finite.
    """
    taken = portions(ranking, quota)
    if not taken or any(isinstance(p.score, float) and math.isinf(p.score) for p in taken):
        return None
    if labels == "observed":
        taken = [each for portion in taken for each in by_label(portion)]
    weights = _in_units([portion.weight for portion in taken])
    x = _centred(_in_units([Fraction(portion.score) for portion in taken]), weights)
    t = _centred(_in_units([portion.label for portion in taken]), weights)
    variances = _moment(x, x, weights) * _moment(t, t, weights)
    covariance = _moment(x, t, weights)
    return ratio(Fraction(covariance * abs(covariance)), Fraction(variances))


def by_label(portion: Portion) -> list[Portion]:
    """The positives and the negatives of a portion, each with their own label."""
    score, weight, label = portion
    return [
        Portion(score, weight * label, Fraction(1)),
        Portion(score, weight * (1 - label), Fraction(0)),
    ]


def _in_units(values: Sequence[Fraction]) -> list[int]:
    """Multiples of the values that are whole numbers; a correlation knows no units."""
    unit = math.lcm(*(x.denominator for x in values))
    return [x.numerator * (unit // x.denominator) for x in values]


def _centred(values: Sequence[int], weights: Sequence[int]) -> list[int]:
    """The values minus their weighted mean, times Σ w."""
    mean = sum(w * x for w, x in zip(weights, values, strict=True))
    return [sum(weights) * x - mean for x in values]


def _moment(x: Sequence[int], y: Sequence[int], weights: Sequence[int]) -> int:
    """Σ w·x·y."""
    return sum(w * a * b for w, a, b in zip(weights, x, y, strict=True))


def signed_root(signed_square: Fraction) -> float:
    """sign(x)·√|x| as the nearest float."""
    square = abs(signed_square)
    above, below = square.numerator, square.denominator
    exact = Fraction(math.isqrt(above), math.isqrt(below))
    if exact * exact == square:
        root = exact
    else:
        shift = max(0, below.bit_length() - above.bit_length()) // 2 + 128
        # An irrational root is no midpoint of two floats: the extra odd bit stands for what the
        # integer root cut off, so that the last rounding goes the right way.
        root = Fraction(2 * math.isqrt((above << 2 * shift) // below) + 1, 1 << shift + 1)
    return math.copysign(float(root), signed_square)


def quota_threshold(
    y_score: Sequence[Number],
    quota: Number,
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> QuotaThreshold:
    """The tie group with S < quota ≤ S + m: its score, S and m. Quota 0 has no threshold."""
    ranking = groups([0] * len(y_score), y_score, sample_weight, where)
    taken = portions(ranking, quota)
    if not taken:
        return QuotaThreshold(None, Fraction(0), Fraction(0))
    last = ranking[len(taken) - 1]
    return QuotaThreshold(last.score, total_weight(ranking[: len(taken) - 1]), last.weight)


def select(
    y_score: Sequence[Number],
    quota: Number,
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> list[Fraction]:
    """Each example's probability of being among the best: 1 above the threshold, the tied group's
    share (quota - S)/m at it, 0 below; 0 also for a row that does not take part.
    """
    threshold, above, tied = quota_threshold(y_score, quota, sample_weight, where)
    weights = [1] * len(y_score) if sample_weight is None else sample_weight
    present = [True] * len(y_score) if where is None else where
    chosen = []
    for score, weight, valid in zip(y_score, weights, present, strict=True):
        if threshold is None or not valid or weight == 0 or score < threshold:
            chosen.append(Fraction(0))
        elif score > threshold:
            chosen.append(Fraction(1))
        else:
            chosen.append((Fraction(quota) - above) / tied)
    return chosen


class SelectionByGroup(NamedTuple):
    """What each group gets of one quota over all: a list of groups, or one number of them."""

    selected: list[Fraction]
    found: list[Fraction]
    selection_rate: list[Fraction | None]
    hit_rate: list[Fraction | None]
    qrecall: list[Fraction | None]
    demographic_parity_ratio: Fraction | None
    equal_opportunity_difference: Fraction | None
    found_by_split: list[Fraction]
    split_cost: Fraction


def selection_by_group(
    rows: Sequence[tuple[int, Number, int, Number]], size: int, quota: Number, ties: str
) -> SelectionByGroup:
    """Of rows of label, score, group and weight; `select` says what of each tie group is taken, and
    the policy which examples of the group of examples that is.
    """
    shares = select([row[1] for row in rows], quota, [row[3] for row in rows])
    selected = [Fraction(0)] * size
    for (_, _, group, weight), share in zip(rows, shares, strict=True):
        selected[group] += share * Fraction(weight)
    own = [[row for row in rows if row[2] == group] for group in range(size)]
    tables = [groups(*([row[k] for row in part] for k in (0, 1, 3)), ties=ties) for part in own]
    masses, positives = (
        [f(table) for table in tables] for f in (total_weight, total_positive_weight)
    )
    whole = sum(masses, Fraction(0))
    found = [T(*x) for x in zip(tables, selected, strict=True)]
    split = [T(table, Fraction(quota) * m / whole) for table, m in zip(tables, masses, strict=True)]
    rate, hits, recall = (
        [ratio(*x) for x in zip(a, b, strict=True)]
        for a, b in ((selected, masses), (found, selected), (found, positives))
    )
    rates, recalls = ([x for x in values if x is not None] for values in (rate, recall))
    return SelectionByGroup(
        selected,
        found,
        rate,
        hits,
        recall,
        ratio(min(rates), max(rates)) if rates else None,
        max(recalls) - min(recalls) if recalls else None,
        split,
        sum(found, Fraction(0)) - sum(split, Fraction(0)),
    )
