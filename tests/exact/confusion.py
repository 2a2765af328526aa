"""Tables of two classes, where they come from, and the measures that are made of four cells.

``AR`` is Arbel & Rokach, "Classifier Evaluation under Limited Resources", ``EL`` is Eiland &
Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End Users", 2016.
``classes`` has the same measures for K classes, written for themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from . import classes
from .at_quota import positives_within, ratio
from .pr import DIGITS, decimal
from .table import Group, Number, total_positive_weight, total_weight

Value: TypeAlias = Fraction | float | None
"""A rational measure, an irrational one as the nearest float or an infinity; undefined."""

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862"
)


class Table(NamedTuple):
    """Masses; without weights, quotas and rates they are integers."""

    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction


class BestCut(NamedTuple):
    """The best of all cuts, the smallest quota among equal ones, and which cuts are equal."""

    value: Value
    threshold: Number | None
    quota: Fraction
    optima: tuple[bool, ...]


class CurvePoint(NamedTuple):
    """A measure at one cut."""

    quota: Fraction
    value: Value
    threshold: Number | None


# Where a table comes from


def table(tp: Number, fp: Number, fn: Number, tn: Number) -> Table:
    """The table with these cells."""
    cells = Table(*map(Fraction, (tp, fp, fn, tn)))
    if min(cells) < 0:
        raise ValueError(f"negative cell: {cells}")
    return cells


def table_at_threshold(
    ranking: Sequence[Group], threshold: Number | None, inclusive: bool = True
) -> Table:
    """``score >= threshold`` is selected, or ``score > threshold`` (AR eq 2).

    None and NaN select nothing.
    """
    chosen = []
    if threshold is not None:
        above = [group for group in ranking if group.score > threshold]
        tied = [group for group in ranking if group.score == threshold]
        chosen = above + tied if inclusive else above
    return _selecting(ranking, total_positive_weight(chosen), total_weight(chosen))


def table_at_quota(ranking: Sequence[Group], quota: Number) -> Table:
    """The best examples of mass ``quota`` are selected; tp = T(q), averaged over the ties."""
    return _selecting(ranking, positives_within(ranking, quota), Fraction(quota))


def table_at_fraction(ranking: Sequence[Group], fraction: Number) -> Table:
    """The quota is this fraction of the whole mass."""
    return table_at_quota(ranking, Fraction(fraction) * total_weight(ranking))


def _selecting(ranking: Sequence[Group], tp: Fraction, selected: Fraction) -> Table:
    """The table with so many selected, of which so many are positive."""
    positives, whole = total_positive_weight(ranking), total_weight(ranking)
    return table(tp, selected - tp, positives - tp, whole - positives - (selected - tp))


def tables_at_cuts(ranking: Sequence[Group]) -> list[Table]:
    """The table of each cut: the first g groups are selected, g = 0, …, G."""
    return [
        _selecting(ranking, total_positive_weight(ranking[:g]), total_weight(ranking[:g]))
        for g in range(len(ranking) + 1)
    ]


def table_from_rates(prevalence: Number, tpr: Number, fpr: Number, n: Number = 1) -> Table:
    """n·π positives and n·(1 - π) negatives, of which these shares are selected."""
    share, hits, false, whole = map(Fraction, (prevalence, tpr, fpr, n))
    if not all(0 <= rate <= 1 for rate in (share, hits, false)):
        raise ValueError(f"no rates: {prevalence}, {tpr}, {fpr}")
    p, q = whole * share, whole * (1 - share)
    return table(hits * p, false * q, (1 - hits) * p, (1 - false) * q)


def as_cells(t: Table) -> classes.Cells:
    """The table as one of the classes 0 and 1, rows truth, columns output."""
    return classes.cells(((t.tn, t.fp), (t.fn, t.tp)))


# Shares


def accuracy(t: Table) -> Fraction | None:
    """(tp + tn)/n."""
    return ratio(t.tp + t.tn, sum(t))


def misclassification_rate(t: Table) -> Fraction | None:
    """(fp + fn)/n."""
    return ratio(t.fp + t.fn, sum(t))


def prevalence(t: Table) -> Fraction | None:
    """P/n."""
    return ratio(t.tp + t.fn, sum(t))


def bias(t: Table) -> Fraction | None:
    """Share that is selected."""
    return ratio(t.tp + t.fp, sum(t))


def precision(t: Table) -> Fraction | None:
    """Positives among the selected."""
    return ratio(t.tp, t.tp + t.fp)


def inverse_precision(t: Table) -> Fraction | None:
    """Negatives among the rejected."""
    return ratio(t.tn, t.tn + t.fn)


def recall(t: Table) -> Fraction | None:
    """TPR: the selected among the positives."""
    return ratio(t.tp, t.tp + t.fn)


def false_negative_rate(t: Table) -> Fraction | None:
    """FNR: the rejected among the positives."""
    return ratio(t.fn, t.tp + t.fn)


def false_positive_rate(t: Table) -> Fraction | None:
    """FPR: the selected among the negatives."""
    return ratio(t.fp, t.fp + t.tn)


def true_negative_rate(t: Table) -> Fraction | None:
    """TNR: the rejected among the negatives."""
    return ratio(t.tn, t.fp + t.tn)


# Of precision and recall


def f_score(t: Table, beta: Number = 1) -> Fraction | None:
    """(1 + β²)·tp/((1 + β²)·tp + β²·fn + fp): 0 without hits, undefined without anything but tn."""
    b = Fraction(beta) ** 2
    return ratio((1 + b) * t.tp, (1 + b) * t.tp + b * t.fn + t.fp)


def g_measure_square(t: Table) -> Fraction | None:
    """precision·recall."""
    one, other = precision(t), recall(t)
    return None if one is None or other is None else one * other


def g_measure(t: Table) -> float | None:
    """√(precision·recall)."""
    return classes.root(g_measure_square(t))


# Of both classes


def informedness(t: Table) -> Fraction | None:
    """TPR - FPR; undefined without a class."""
    hits, false = recall(t), false_positive_rate(t)
    return None if hits is None or false is None else hits - false


def weighted_relative_accuracy(t: Table) -> Fraction | None:
    """(tp·tn - fp·fn)/n²."""
    return ratio(t.tp * t.tn - t.fp * t.fn, sum(t) ** 2)


def markedness(t: Table) -> Fraction | None:
    """precision + inverse precision - 1; undefined when an output is empty."""
    one, other = precision(t), inverse_precision(t)
    return None if one is None or other is None else one + other - 1


def matthews_signed_square(t: Table) -> Fraction | None:
    """sign(r)·r² of the correlation (tp·tn - fp·fn)/√(P·N·selected·rejected)."""
    cross = t.tp * t.tn - t.fp * t.fn
    margins = (t.tp + t.fn) * (t.fp + t.tn) * (t.tp + t.fp) * (t.fn + t.tn)
    return ratio(cross * abs(cross), margins)


def matthews_corrcoef(t: Table) -> float | None:
    """The correlation of truth and output."""
    return classes.root(matthews_signed_square(t))


def bookmaker_correlation(t: Table) -> float | None:
    """±√(informedness·markedness)."""
    return classes.bookmaker_correlation(as_cells(t))


def cohen_kappa(t: Table) -> Fraction | None:
    """2·(tp·tn - fp·fn)/(selected·N + P·rejected)."""
    chance = (t.tp + t.fp) * (t.fp + t.tn) + (t.tp + t.fn) * (t.fn + t.tn)
    return ratio(2 * (t.tp * t.tn - t.fp * t.fn), chance)


def scott_pi(t: Table) -> Fraction | None:
    """(4·(tp·tn - fp·fn) - (fp - fn)²)/((2·tp + fp + fn)·(2·tn + fp + fn))."""
    wrong = t.fp + t.fn
    above = 4 * (t.tp * t.tn - t.fp * t.fn) - (t.fp - t.fn) ** 2
    return ratio(above, (2 * t.tp + wrong) * (2 * t.tn + wrong))


def fleiss_kappa(t: Table) -> Fraction | None:
    """That of two raters is Scott's π."""
    return classes.fleiss_kappa(as_cells(t))


def bennett_s(t: Table) -> Fraction | None:
    """2·accuracy - 1."""
    return ratio(t.tp + t.tn - t.fp - t.fn, sum(t))


# Ratios that may be infinite


def positive_likelihood_ratio(t: Table) -> Value:
    """LR₊ = TPR/FPR."""
    return extended_ratio(recall(t), false_positive_rate(t))


def negative_likelihood_ratio(t: Table) -> Value:
    """LR₋ = FNR/TNR."""
    return extended_ratio(false_negative_rate(t), true_negative_rate(t))


def diagnostic_odds_ratio(t: Table) -> Value:
    """DOR = tp·tn/(fp·fn)."""
    return extended_ratio(t.tp * t.tn, t.fp * t.fn)


def extended_ratio(above: Fraction | None, below: Fraction | None) -> Value:
    """x/y of numbers that are not negative: 0/0 is undefined, x/0 is infinite."""
    if above is None or below is None or above == below == 0:
        return None
    return math.inf if below == 0 else above / below


def discriminant_power(t: Table) -> float | None:
    """DP = (√3/π)·ln DOR, as the nearest float."""
    odds = diagnostic_odds_ratio(t)
    if odds is None or odds == math.inf:
        return odds
    if odds == 0:
        return -math.inf
    with localcontext() as context:
        context.prec = 2 * DIGITS
        return float(Decimal(3).sqrt() / PI * decimal(odds).ln())


# Information, costs


def mutual_information(t: Table, base: Number | None = None) -> float | None:
    """I(truth; output), in nats or to a base."""
    return classes.mutual_information(as_cells(t), base)


def information_coefficient(t: Table) -> float | None:
    """IC = I(truth; output)/H(truth)."""
    return classes.information_coefficient(as_cells(t))


def expected_cost(t: Table, cost_fp: Number, cost_fn: Number) -> Fraction | None:
    """(cost_fp·fp + cost_fn·fn)/n."""
    return ratio(Fraction(cost_fp) * t.fp + Fraction(cost_fn) * t.fn, sum(t))


def base_ratio(t: Table, impacts: Sequence[Number]) -> Fraction | None:
    """EL eq 1, the impact of what is right over the impact of everything; x/0 is undefined too."""
    parts = [Fraction(i) * cell for i, cell in zip(impacts, t, strict=True)]
    return ratio(parts[0] + parts[3], sum(parts, Fraction(0)))


# Over all cuts


def table_curve(ranking: Sequence[Group], measure: Callable[[Table], Value]) -> list[CurvePoint]:
    """A measure of the table at every cut; cut 0 has no threshold."""
    thresholds = [None, *(group.score for group in ranking)]
    return [
        CurvePoint(t.tp + t.fp, measure(t), threshold)
        for t, threshold in zip(tables_at_cuts(ranking), thresholds, strict=True)
    ]


def best_cut(
    ranking: Sequence[Group], measure: Callable[[Table], Value], lowest: bool = False
) -> BestCut | None:
    """The cut with the highest (or lowest) defined value; undefined when there is none.

    Optima are equal exactly when the values are: of a root, ask for its signed square.
    """
    curve = table_curve(ranking, measure)
    defined = [point.value for point in curve if point.value is not None]
    if not defined:
        return None
    best = min(defined) if lowest else max(defined)
    optima = tuple(point.value == best for point in curve)
    first = curve[optima.index(True)]
    return BestCut(best, first.threshold, first.quota, optima)
