"""AUC and DeLong's covariances straight from their definition, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .table import Number


def placements(
    y_true: Sequence[Number], y_score: Sequence[Number]
) -> tuple[list[Fraction], list[Fraction]]:
    """For each positive the share of negatives that it beats, for each negative that of positives
    by which it is beaten; ties are half.
    """
    positives = [s for y, s in zip(y_true, y_score, strict=True) if y == 1]
    negatives = [s for y, s in zip(y_true, y_score, strict=True) if y == 0]
    won = [[Fraction((p > n) + (p >= n), 2) for n in negatives] for p in positives]
    of_positives = [sum(row, Fraction(0)) / len(negatives) for row in won if row]
    of_negatives = [sum(column, Fraction(0)) / len(positives) for column in zip(*won, strict=True)]
    return of_positives, of_negatives


def mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def sample_covariance(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction | None:
    """Over the number less 1."""
    mean_a, mean_b = mean(a), mean(b)
    if len(a) < 2 or mean_a is None or mean_b is None:
        return None
    products = [(x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)]
    return sum(products, Fraction(0)) / (len(a) - 1)


def auc_covariance(
    y_true: Sequence[Number], models: Sequence[Sequence[Number]]
) -> tuple[list[Fraction | None], list[list[Fraction | None]]]:
    """AUC of each model, and S⁺/P + S⁻/N of each two."""
    found = [placements(y_true, scores) for scores in models]
    covariance: list[list[Fraction | None]] = []
    for a in found:
        covariance.append([])
        for b in found:
            parts = [sample_covariance(x, y) for x, y in zip(a, b, strict=True)]
            whole = None
            if parts[0] is not None and parts[1] is not None:
                whole = parts[0] / len(a[0]) + parts[1] / len(a[1])
            covariance[-1].append(whole)
    return [mean(of_positives) for of_positives, _ in found], covariance


def difference(
    y_true: Sequence[Number], a: Sequence[Number], b: Sequence[Number]
) -> tuple[Fraction | None, Fraction | None]:
    """Of two AUC, and its variance."""
    (first, second), covariance = auc_covariance(y_true, [a, b])
    if first is None or second is None:
        return None, None
    parts = covariance[0][0], covariance[1][1], covariance[0][1]
    if parts[0] is None or parts[1] is None or parts[2] is None:
        return first - second, None
    return first - second, parts[0] + parts[1] - 2 * parts[2]


def from_counts(positives: Sequence[int], negatives: Sequence[int]) -> tuple[Fraction, Fraction]:
    """AUC and its variance, of groups of tied examples, best first."""
    sizes = sum(positives), sum(negatives)
    of_positives, of_negatives = [], []
    above = [0, 0]
    for p, n in zip(positives, negatives, strict=True):
        of_positives.append(1 - Fraction(2 * above[1] + n, 2 * sizes[1]))
        of_negatives.append(Fraction(2 * above[0] + p, 2 * sizes[0]))
        above = [above[0] + p, above[1] + n]
    variance = Fraction(0)
    for values, counts, size in zip(
        (of_positives, of_negatives), (positives, negatives), sizes, strict=True
    ):
        centre = sum(v * c for v, c in zip(values, counts, strict=True)) / size
        squares = sum((v - centre) ** 2 * c for v, c in zip(values, counts, strict=True))
        variance += squares / (size - 1) / size
    return Fraction(
        sum(v * p for v, p in zip(of_positives, positives, strict=True)), sizes[0]
    ), variance
