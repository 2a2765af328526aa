"""Tables of K classes: agreement, correlation and information, from the sums over their cells.

Rows are the truth, columns the output. ``PW`` is Powers, "Visualization of Tradeoff in
Evaluation: from Precision-Recall & PN to LIFT, ROC & BIRD", 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

from .at_quota import ratio, signed_root
from .pr import DIGITS, decimal
from .table import Number

Cells: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""K rows of K masses: ``cells[truth][output]``."""


def cells(rows: Sequence[Sequence[Number]]) -> Cells:
    """A square table of masses that are not negative."""
    table = tuple(tuple(Fraction(value) for value in row) for row in rows)
    if any(len(row) != len(table) or min(row) < 0 for row in table):
        raise ValueError(f"no table of masses: {rows}")
    return table


def class_table(
    y_true: Sequence[int],
    y_pred: Sequence[int],
    num_classes: int,
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> Cells:
    """The mass of each (truth, output) among the rows that take part; classes are 0 to K - 1."""
    weights = [1] * len(y_true) if sample_weight is None else sample_weight
    present = [True] * len(y_true) if where is None else where
    table = [[Fraction(0)] * num_classes for _ in range(num_classes)]
    for truth, output, weight, valid in zip(y_true, y_pred, weights, present, strict=True):
        if not valid or weight == 0:
            continue
        classes = range(num_classes)
        if truth not in classes or output not in classes or not weight > 0:
            raise ValueError(f"bad row: label {truth}, output {output}, weight {weight}")
        table[int(truth)][int(output)] += Fraction(weight)
    return cells(table)


def transposed(table: Cells) -> Cells:
    """The table with truth and output exchanged."""
    return tuple(zip(*table, strict=True))


def row_sums(table: Cells) -> list[Fraction]:
    """The mass of each true class."""
    return [sum(row, Fraction(0)) for row in table]


def column_sums(table: Cells) -> list[Fraction]:
    """The mass of each output."""
    return row_sums(transposed(table))


def mass(table: Cells) -> Fraction:
    """n."""
    return sum(row_sums(table), Fraction(0))


# Agreement


def accuracy(table: Cells) -> Fraction | None:
    """Σ_l cells[l][l]/n."""
    return ratio(sum((row[i] for i, row in enumerate(table)), Fraction(0)), mass(table))


def misclassification_rate(table: Cells) -> Fraction | None:
    """1 - accuracy."""
    share = accuracy(table)
    return None if share is None else 1 - share


def cohen_kappa(table: Cells) -> Fraction | None:
    """(a - e)/(1 - e), e = Σ_l (share of truth l)·(share of output l)."""
    return _beyond_chance(table, lambda truth, output: truth * output)


def scott_pi(table: Cells) -> Fraction | None:
    """(a - e)/(1 - e), e = Σ_l (mean share of l)²."""
    return _beyond_chance(table, lambda truth, output: ((truth + output) / 2) ** 2)


def bennett_s(table: Cells) -> Fraction | None:
    """(a - 1/K)/(1 - 1/K)."""
    agreement, chance = accuracy(table), Fraction(1, len(table))
    return None if agreement is None else ratio(agreement - chance, 1 - chance)


def _beyond_chance(
    table: Cells, chance: Callable[[Fraction, Fraction], Fraction]
) -> Fraction | None:
    """The agreement above that of chance, as a share of what is left."""
    n, agreement = mass(table), accuracy(table)
    if agreement is None:
        return None
    pairs = zip(row_sums(table), column_sums(table), strict=True)
    expected = sum((chance(truth / n, output / n) for truth, output in pairs), Fraction(0))
    return ratio(agreement - expected, 1 - expected)


def fleiss_kappa(table: Cells) -> Fraction | None:
    """Fleiss' kappa of two raters, item by item: (P̄ - P̄_e)/(1 - P̄_e).

    An item's agreement is Σ_l r_l·(r_l - 1)/(2·1) for r_l raters who chose l.
    """
    n, agreement = mass(table), Fraction(0)
    if n == 0:
        return None
    chosen = [Fraction(0)] * len(table)
    for truth, row in enumerate(table):
        for output, weight in enumerate(row):
            votes = [(label == truth) + (label == output) for label in range(len(table))]
            agreement += weight * sum(r * (r - 1) for r in votes) / 2
            chosen = [total + weight * r for total, r in zip(chosen, votes, strict=True)]
    expected = sum(((total / (2 * n)) ** 2 for total in chosen), Fraction(0))
    return ratio(agreement / n - expected, 1 - expected)


# Correlation


def matthews_signed_square(table: Cells) -> Fraction | None:
    """sign(R_K)·R_K² (Gorodkin): the correlation of the indicator columns of truth and output.

    Undefined when either is constant.
    """
    truth, output, n = row_sums(table), column_sums(table), mass(table)
    labels = range(len(table))

    def covariance(
        joint: Callable[[int], Fraction], x: list[Fraction], y: list[Fraction]
    ) -> Fraction:
        return sum((n * joint(i) - x[i] * y[i] for i in labels), Fraction(0))

    both = covariance(lambda i: table[i][i], truth, output)
    own = covariance(lambda i: truth[i], truth, truth)
    own *= covariance(lambda i: output[i], output, output)
    return ratio(both * abs(both), own)


def matthews_corrcoef(table: Cells) -> float | None:
    """R_K, as the nearest float."""
    return root(matthews_signed_square(table))


def informedness(table: Cells) -> Fraction | None:
    """B = Σ_l bias_l·(TPR_l - FPR_l) (PW).

    A class that is never the output has no weight; any other needs examples inside and outside.
    """
    truth, output, n = row_sums(table), column_sums(table), mass(table)
    total = Fraction(0)
    for label in range(len(table)):
        if output[label] == 0:
            continue
        hits = ratio(table[label][label], truth[label])
        false = ratio(output[label] - table[label][label], n - truth[label])
        if hits is None or false is None:
            return None
        total += output[label] / n * (hits - false)
    return total if n else None


def markedness(table: Cells) -> Fraction | None:
    """M = Σ_l prevalence_l·(precision_l + inverse precision_l - 1) (PW).

    It is informedness with truth and output exchanged.
    """
    truth, output, n = row_sums(table), column_sums(table), mass(table)
    total = Fraction(0)
    for label in range(len(table)):
        if truth[label] == 0:
            continue
        precision = ratio(table[label][label], output[label])
        missed = ratio(truth[label] - table[label][label], n - output[label])
        if precision is None or missed is None:
            return None
        total += truth[label] / n * (precision + (1 - missed) - 1)
    return total if n else None


def bookmaker_signed_square(table: Cells) -> Fraction | None:
    """±B·M with the sign of B; undefined when B·M < 0."""
    b, m = informedness(table), markedness(table)
    if b is None or m is None or b * m < 0:
        return None
    return b * m if b > 0 else -b * m


def bookmaker_correlation(table: Cells) -> float | None:
    """±√(B·M), as the nearest float."""
    return root(bookmaker_signed_square(table))


def root(signed_square: Fraction | None) -> float | None:
    """sign(x)·√|x| as the nearest float."""
    return None if signed_square is None else signed_root(signed_square)


# Information


def mutual_information(table: Cells, base: Number | None = None) -> float | None:
    """I(truth; output), in nats or to a base, as the nearest float."""
    if mass(table) == 0:
        return None
    with localcontext() as context:
        context.prec = 2 * DIGITS
        unit = Decimal(1) if base is None else decimal(Fraction(base)).ln()
        return float(_mutual_information(table) / unit)


def information_coefficient(table: Cells) -> float | None:
    """I(truth; output)/H(truth), as the nearest float; undefined when the truth is constant."""
    n, truth = mass(table), row_sums(table)
    if n in truth:
        return None
    with localcontext() as context:
        context.prec = 2 * DIGITS
        entropy = sum(decimal(x / n) * decimal(n / x).ln() for x in truth if x)
        return float(_mutual_information(table) / entropy)


def _mutual_information(table: Cells) -> Decimal:
    """Σ p·ln(p/(p_truth·p_output)) over the cells that are not empty."""
    truth, output, n = row_sums(table), column_sums(table), mass(table)
    total = Decimal(0)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            if value:
                total += decimal(value / n) * decimal(value * n / (truth[i] * output[j])).ln()
    return total
