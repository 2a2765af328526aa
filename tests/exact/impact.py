"""Impacts: what a table is worth, its best boundary, and impacts of every example.

``EL`` is Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
Users", 2016. Impacts are in the user's unit, in the order of the cells: tp, fp, fn, tn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from .at_quota import ratio, select
from .classes import Cells, cells, column_sums, mass, row_sums
from .confusion import BestCut, CurvePoint, Table, best_cut, table, table_curve
from .table import Group, Number


class Impacts(NamedTuple):
    """What one example of each cell brings; undefined for a cell without examples."""

    tp: Number | None
    fp: Number | None
    fn: Number | None
    tn: Number | None


class Impact(NamedTuple):
    """An impact and its two parts, which add up to it."""

    whole: Fraction | None
    selected: Fraction | None
    rejected: Fraction | None


class OutcomeImpact(NamedTuple):
    """ι_Z, ι_Z̄ and their mean ι_σ."""

    selected: Fraction | None
    rejected: Fraction | None
    mean: Fraction | None


class ClassImpact(NamedTuple):
    """The impact of K classes and its part, or value, for each output; None as in two classes."""

    whole: Fraction | None
    outputs: tuple[Fraction | None, ...]


class BestBoundary(NamedTuple):
    """The best cut, all cuts that are as good, and the value of every cut."""

    value: Fraction
    threshold: Number | None
    quota: Fraction
    optima: tuple[bool, ...]
    curve: list[CurvePoint]


# Of a table


def impact(t: Table, impacts: Sequence[Number], total: bool = False) -> Impact:
    """ι_I per example (EL eq 5, 12), or in total, and its parts by output."""
    tp, fp, fn, tn = (Fraction(i) * cell for i, cell in zip(impacts, t, strict=True))
    size = Fraction(1) if total else sum(t)
    return Impact(*(ratio(part, size) for part in (tp + fp + fn + tn, tp + fp, fn + tn)))


def normalize_table(t: Table) -> Table | None:
    """Each class with half of the mass: tp/(2P), fp/(2N), fn/(2P), tn/(2N)."""
    return tune_ratio(t, 1)


def tune_ratio(t: Table, class_ratio: Number) -> Table | None:
    """The positives with the mass r/(1 + r), the negatives with 1/(1 + r), r = P'/N'.

    Undefined when the table lacks a class.
    """
    r, positives, negatives = Fraction(class_ratio), t.tp + t.fn, t.fp + t.tn
    if positives == 0 or negatives == 0:
        return None
    p, q = r / (1 + r) / positives, 1 / (1 + r) / negatives
    return table(t.tp * p, t.fp * q, t.fn * p, t.tn * q)


def outcome_impact(t: Table, impacts: Sequence[Number], normalize: bool = True) -> OutcomeImpact:
    """ι_Z, ι_Z̄, ι_σ (EL eq 7-9), or without normalisation the conditional impacts (eq 6).

    Of an empty output the impact is undefined, and with it the mean.
    """
    chosen = normalize_table(t) if normalize else t
    if chosen is None:
        return OutcomeImpact(None, None, None)
    tp, fp, fn, tn = (Fraction(i) * cell for i, cell in zip(impacts, chosen, strict=True))
    selected = ratio(tp + fp, chosen.tp + chosen.fp)
    rejected = ratio(fn + tn, chosen.fn + chosen.tn)
    if selected is None or rejected is None:
        return OutcomeImpact(selected, rejected, None)
    return OutcomeImpact(selected, rejected, (selected + rejected) / 2)


# Of K classes


def class_impact(t: Cells, impacts: Sequence[Sequence[Number]], total: bool = False) -> ClassImpact:
    """The impact per example, or in total, and the part that each output brings."""
    size = Fraction(1) if total else mass(t)
    brought = _brought(t, impacts)
    whole = ratio(sum(brought, Fraction(0)), size)
    return ClassImpact(whole, tuple(ratio(part, size) for part in brought))


def class_outcome_impact(
    t: Cells, impacts: Sequence[Sequence[Number]], normalize: bool = True
) -> ClassImpact:
    """The impact of one example of each output, and their mean over the K outputs.

    Normalised, every class has the mass 1/K.
    """
    if normalize:
        classes = row_sums(t)
        if 0 in classes:
            return ClassImpact(None, (None,) * len(t))
        t = cells([[x / size / len(t) for x in row] for row, size in zip(t, classes, strict=True)])
    values = tuple(map(ratio, _brought(t, impacts), column_sums(t)))
    return ClassImpact(None if None in values else sum(values) / len(values), values)


def _brought(t: Cells, impacts: Sequence[Sequence[Number]]) -> list[Fraction]:
    """Σ impact·mass of each output."""
    labels = range(len(t))
    return [sum((Fraction(impacts[i][j]) * t[i][j] for i in labels), Fraction(0)) for j in labels]


# The best boundary


def best_boundary(
    ranking: Sequence[Group], impacts: Sequence[Number], kind: str = "impact"
) -> BestBoundary | None:
    """B*: the cut with the highest ι_I, or ι_σ with ``"outcome"``; undefined when no cut has one.

    The first of equal cuts has the smallest quota.
    """
    measure = {
        "impact": lambda t: impact(t, impacts).whole,
        "outcome": lambda t: outcome_impact(t, impacts).mean,
    }[kind]
    best = best_cut(ranking, measure)
    return None if best is None else BestBoundary(*best, table_curve(ranking, measure))


# Of every example


class GainGroup(NamedTuple):
    """A tie group: its mass, and what its examples bring if selected and if not."""

    score: Number
    weight: Fraction
    selected: Fraction
    rejected: Fraction


class ExampleImpact(NamedTuple):
    """Totals at a quota: the sum, its two parts, and what it is above that of quota 0."""

    whole: Fraction
    selected: Fraction
    rejected: Fraction
    net: Fraction


def gain_groups(
    y_score: Sequence[Number],
    gain_selected: Sequence[Number] | Number,
    gain_rejected: Sequence[Number] | Number = 0,
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> list[GainGroup]:
    """Tie groups of the examples that take part, best score first; one gain may serve all."""
    columns = _columns(y_score, gain_selected, gain_rejected, sample_weight, where)
    rows = [
        GainGroup(score, w, w * gain, w * other)
        for score, gain, other, w, valid in columns
        if valid and w != 0
    ]
    rows.sort(key=lambda row: row.score, reverse=True)
    tied = [list(same) for _, same in groupby(rows, key=lambda row: row.score)]
    return [GainGroup(g[0].score, *_sums(row[1:] for row in g)) for g in tied]


def _columns(
    y_score: Sequence[Number],
    gain_selected: Sequence[Number] | Number,
    gain_rejected: Sequence[Number] | Number,
    sample_weight: Sequence[Number] | None,
    where: Sequence[bool] | None,
) -> Iterator[tuple[Number, Fraction, Fraction, Fraction, bool]]:
    """One tuple per example: score, gains, weight, whether it takes part."""
    size = len(y_score)
    weights = 1 if sample_weight is None else sample_weight
    spread = [
        [Fraction(x) for x in (values if isinstance(values, Sequence) else [values] * size)]
        for values in (gain_selected, gain_rejected, weights)
    ]
    return zip(y_score, *spread, [True] * size if where is None else where, strict=True)


def _sums(rows: Iterable[Sequence[Fraction]]) -> list[Fraction]:
    """The sum of each column."""
    return [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]


def example_impact(rows: Sequence[GainGroup], quota: Number) -> ExampleImpact:
    """What the best examples of mass ``quota`` bring selected and all others rejected.

    A divided group brings its share of either.
    """
    rest, selected, rejected = Fraction(quota), Fraction(0), Fraction(0)
    nobody = sum((row.rejected for row in rows), Fraction(0))
    if not 0 <= rest <= sum(row.weight for row in rows):
        raise ValueError(f"quota {quota} outside the mass")
    for row in rows:
        share = min(rest / row.weight, Fraction(1))
        rest -= share * row.weight
        selected += share * row.selected
        rejected += (1 - share) * row.rejected
    return ExampleImpact(selected + rejected, selected, rejected, selected + rejected - nobody)


def example_impact_curve(rows: Sequence[GainGroup]) -> list[CurvePoint]:
    """The whole impact at every cut; between two cuts it is a straight line over the quota."""
    quotas = [Fraction(0)]
    for row in rows:
        quotas.append(quotas[-1] + row.weight)
    thresholds = [None, *(row.score for row in rows)]
    return [
        CurvePoint(quota, example_impact(rows, quota).whole, threshold)
        for quota, threshold in zip(quotas, thresholds, strict=True)
    ]


def best_example_quota(rows: Sequence[GainGroup]) -> BestCut:
    """The cut with the highest whole impact, which is that of the highest net impact.

    No quota between two cuts is better than both.
    """
    curve = example_impact_curve(rows)
    best = max(point.value for point in curve)
    optima = tuple(point.value == best for point in curve)
    first = curve[optima.index(True)]
    return BestCut(best, first.threshold, first.quota, optima)


def category_means(
    y_true: Sequence[int],
    y_score: Sequence[Number],
    gain_selected: Sequence[Number] | Number,
    gain_rejected: Sequence[Number] | Number,
    quota: Number,
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> Impacts:
    """EL eq 11: the mean of what the examples of each cell bring at this quota.

    An example counts in a cell with its probability of being there.
    """
    shares = select(y_score, quota, sample_weight, where)
    brought = dict.fromkeys(((1, 1), (0, 1), (1, 0), (0, 0)), Fraction(0))
    found = dict(brought)
    columns = _columns(y_score, gain_selected, gain_rejected, sample_weight, where)
    for label, share, (_, gain, other, weight, valid) in zip(y_true, shares, columns, strict=True):
        for output, part, value in ((1, share, gain), (0, 1 - share, other)):
            if valid:
                brought[label, output] += weight * part * value
                found[label, output] += weight * part
    return Impacts(*(ratio(brought[cell], found[cell]) for cell in found))
