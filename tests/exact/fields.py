"""Measures by the names of fields: net benefit, early recognition, value found, gains of PR."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil

from .at_quota import T, expected_labels, ratio
from .confusion import Table, Value, extended_ratio
from .operating import tpr_at
from .pr import DIGITS, decimal, pr_auc_exact
from .retrieval import orders
from .roc import roc_curve
from .table import Group, Number, groups, total_count, total_positive_weight, total_weight

# decisions


def _scaled(t: Table, prevalence: Number | None) -> Table | None:
    """The cells, or shares of a population with that prevalence."""
    if prevalence is None:
        return t
    positives, negatives = t.tp + t.fn, t.fp + t.tn
    if not (positives and negatives):
        return None
    up, down = Fraction(prevalence) / positives, (1 - Fraction(prevalence)) / negatives
    return Table(t.tp * up, t.fp * down, t.fn * up, t.tn * down)


def _benefit(t: Table, threshold: Number) -> Fraction:
    return t.tp - t.fp * Fraction(threshold) / (1 - Fraction(threshold))


def net_benefit(
    table: Table, threshold_probability: Number, prevalence: Number | None = None
) -> Fraction | None:
    """(TP - FP·p/(1 - p))/n (Vickers & Elkin 2006)."""
    t = _scaled(table, prevalence)
    return t and ratio(_benefit(t, threshold_probability), sum(t, Fraction(0)))


def standardized_net_benefit(
    table: Table, threshold_probability: Number, prevalence: Number | None = None
) -> Fraction | None:
    """Net benefit over the prevalence."""
    t = _scaled(table, prevalence)
    return t and ratio(_benefit(t, threshold_probability), t.tp + t.fn)


def net_interventions_avoided(
    table: Table, threshold_probability: Number, prevalence: Number | None = None
) -> Value:
    """The difference to the net benefit of treating everybody, over p/(1 - p)."""
    t, p = _scaled(table, prevalence), Fraction(threshold_probability)
    if t is None or not sum(t):
        return None
    everybody = Table(t.tp + t.fn, t.fp + t.tn, Fraction(0), Fraction(0))
    more = _benefit(t, p) - _benefit(everybody, p)
    value = extended_ratio(abs(more) / sum(t), p / (1 - p))
    return -value if value is not None and more < 0 else value


# early recognition


def _in_order(labels: Sequence[Fraction], alpha: Number) -> Decimal:
    """Σ label·exp(-α·r/n) over the ranks r."""
    size = len(labels)
    weights = [(-decimal(Fraction(alpha) * k / size)).exp() for k in range(1, size + 1)]
    return sum((decimal(t) * w for t, w in zip(labels, weights, strict=True)), Decimal(0))


def rie(ranking: Sequence[Group], alpha: Number = 20) -> float | None:
    """The mean weight of the positives over that of all positions (Sheridan et al. 2001)."""
    labels = expected_labels(ranking)
    share = ratio(sum(labels, Fraction(0)), Fraction(len(labels)))
    with localcontext(prec=DIGITS):
        found, every = _in_order(labels, alpha), _in_order([Fraction(1)] * len(labels), alpha)
        return float(found / decimal(share) / every) if share else None


def bedroc(ranking: Sequence[Group], alpha: Number = 20) -> float | None:
    """Between the worst and the best order of the labels (Truchon & Bayly 2007)."""
    labels = expected_labels(ranking)
    positives = int(sum(labels))
    if positives in (0, len(labels)):
        return None
    best = [Fraction(k < positives) for k in range(len(labels))]
    with localcontext(prec=DIGITS):
        found, high, low = (_in_order(x, alpha) for x in (labels, best, best[::-1]))
        return float((found - low) / (high - low))


def log_auc(ranking: Sequence[Group], min_fpr: Number = 0.001, max_fpr: Number = 1) -> float | None:
    """∫ TPR d(ln FPR) over ln(max_fpr/min_fpr), line by line (Mysinger & Shoichet 2010)."""
    vertices = roc_curve(ranking)
    if vertices[-1].fpr is None or vertices[-1].tpr is None:
        return None
    low, high = Fraction(min_fpr), Fraction(max_fpr)
    with localcontext(prec=DIGITS):
        area = Decimal(0)
        for a, b in pairwise(vertices):
            start, stop = max(a.fpr, low), min(b.fpr, high)
            if start < stop:
                slope = (b.tpr - a.tpr) / (b.fpr - a.fpr)
                level = a.tpr - slope * a.fpr
                area += decimal(level) * decimal(stop / start).ln() + decimal(
                    slope * (stop - start)
                )
        return float(area / decimal(high / low).ln())


def roc_enrichment(ranking: Sequence[Group], fpr: Fraction) -> Value:
    """TPR/FPR at a false positive rate, the upper end where the curve rises."""
    tpr = tpr_at(ranking, fpr, interpolate=True).value
    return None if tpr is None else extended_ratio(Fraction(tpr), fpr)


def normalized_enrichment_factor(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """The lift over that of the best order."""
    positives = total_positive_weight(ranking)
    return ratio(T(ranking, quota), min(Fraction(quota), positives))


# reviews


def work_saved_over_sampling(
    ranking: Sequence[Group], recall: Fraction, normalized: bool = False
) -> Fraction | None:
    """(TN + FN)/n - (1 - r), or TN/N, where the recall is reached, expected over tied orders."""
    size, positives = total_count(ranking), int(total_positive_weight(ranking))
    if positives == 0 or (normalized and positives == size):
        return None
    needed = ceil(recall * positives)
    found = place = 0
    screened = Fraction(0)
    for _, m, p, *_ in ranking:
        if found < needed <= found + p:
            screened = place + (needed - found) * Fraction(m + 1, p + 1)
        found, place = found + p, place + m
    if normalized:
        return 1 - (screened - needed) / (size - positives)
    return recall - screened / size


def screened_over_orders(labels: Sequence[int], scores: Sequence[Number], needed: int) -> Fraction:
    """The mean position of the `needed`-th positive, over all orders of tied examples."""
    places = [
        [k for k, y in enumerate(order, 1) if y][needed - 1] if needed else 0
        for order in orders(labels, scores)
    ]
    return Fraction(sum(places), len(places))


def value_found(
    labels: Sequence[int], gains: Sequence[Number], selected: Sequence[Fraction]
) -> Fraction | None:
    """The share of the positives' gains, by the probability that each example is selected."""
    worth = [Fraction(x) * y for x, y in zip(gains, labels, strict=True)]
    found = sum((x * s for x, s in zip(worth, selected, strict=True)), Fraction(0))
    return ratio(found, sum(worth, Fraction(0)))


def entities(
    labels: Sequence[int], scores: Sequence[float], gains: Sequence[Number], ids: Sequence[int]
) -> list[tuple[int, float, Number]]:
    """Of each group whether it has a positive, its best score, and what its positives bring."""
    found = []
    for group in sorted(set(ids)):
        own = [k for k, x in enumerate(ids) if x == group]
        label, score = max(labels[k] for k in own), max(scores[k] for k in own)
        found.append((label, score, sum(gains[k] * labels[k] for k in own)))
    return found


# precision and recall above their floors


def normalized_pr_auc(ranking: Sequence[Group]) -> float | None:
    """The area between the worst order and 1 (Boyd et al. 2012)."""
    positive, whole = total_positive_weight(ranking), total_weight(ranking)
    if positive in (0, whole):
        return None
    halves = [(whole - positive, Fraction(0)), (positive, positive)]
    worst = [Group(-k, 1, int(p > 0), w, p) for k, (w, p) in enumerate(halves)]
    area, floor = pr_auc_exact(ranking), pr_auc_exact(worst)
    return (area - floor) / (1 - floor)


def _gain(share: Fraction, rate: Fraction) -> Fraction:
    return (rate - share) / ((1 - share) * rate)


def pr_gain_curve(ranking: Sequence[Group]) -> list[tuple[Fraction | None, Fraction | None]]:
    """(r - π)/((1 - π)·r) of recall and precision at every cut (Flach & Kull 2015)."""
    positive, whole = total_positive_weight(ranking), total_weight(ranking)
    if positive in (0, whole):
        return [(None, None)] * (len(ranking) + 1)
    rates = [(x.tp / positive, x.tp / (x.tp + x.fp)) if x.tp else None for x in roc_curve(ranking)]
    gain = functools.partial(_gain, positive / whole)
    return [(None, None) if x is None else (gain(x[0]), gain(x[1])) for x in rates]


def pr_gain_auc(ranking: Sequence[Group]) -> Fraction | None:
    """The area under the straight lines of the curve, from a recall gain of 0 on."""
    positive, whole = total_positive_weight(ranking), total_weight(ranking)
    if positive in (0, whole):
        return None
    gain, area = functools.partial(_gain, positive / whole), Fraction(0)
    for a, b in pairwise(roc_curve(ranking)):
        start = max(a.tp, positive**2 / whole)
        if b.tp > start:
            wrong = a.fp + (b.fp - a.fp) * (start - a.tp) / (b.tp - a.tp)
            width = gain(b.tp / positive) - gain(start / positive)
            area += width * (gain(start / (start + wrong)) + gain(b.tp / (b.tp + b.fp))) / 2
    return area


def tied_groups(
    labels: Sequence[int], scores: Sequence[Number], weights: Sequence[int]
) -> list[Group]:
    """The tie groups of examples that are repeated as often as their weights say."""
    rows = [(y, s) for y, s, w in zip(labels, scores, weights, strict=True) for _ in range(w)]
    return groups([y for y, _ in rows], [s for _, s in rows])
