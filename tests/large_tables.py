"""Tables of more examples than fit a float, or memory, and their exact measures."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
from expected import as_floats, ulps

SIZES = [2**24, 2**31, 2**32, 2**53]


def large_tables() -> list[tuple[list[int], list[int]]]:
    """Counts and positives of four rows around each size, from few positives to nearly all."""
    tables = []
    for n in SIZES:
        tables += [
            ([n - 1, n, n + 1, 3], [n // 3, n // 5, n // 7, 2]),
            ([n + 1, 1, n - 1, 1], [1, 1, 1, 0]),
            ([1, n + 3, 1, n], [1, n + 1, 0, n - 1]),
            ([n // 2, n // 2 + 1, n, n - 1], [n // 2, n // 2, 1, 0]),
        ]
    return tables


def exact_large(counts: list[int], positives: list[int]) -> dict[str, np.ndarray]:
    rows = ex.groups_from_counts([4, 3, 2, 1], counts, positives)
    whole, hits = sum(counts), sum(positives)
    wanted: dict[str, Any] = {
        "roc_auc": ex.large_roc_auc(rows),
        "gini": ex.large_pem(rows),
        "pem": ex.large_pem(rows),
        "average_qrecall": ex.large_average_qrecall(rows),
        "average_hit_rate": average_hit_rate(counts, positives),
    }
    quotas = [Fraction(float(whole) * share) for share in (0.25, 0.5)] + [Fraction(whole)]
    wanted["hit_rate"] = [ex.large_hit_rate(rows, q) for q in quotas]
    wanted["qrecall"] = [ex.large_qrecall(rows, q) for q in quotas]
    ends = [Fraction(x) for x in ends_of(counts)]
    wanted["recalls"] = [ex.large_qrecall(rows, q) for q in ends]
    wanted["lift"] = [rate * Fraction(whole, hits) for rate in wanted["hit_rate"]]
    if whole >= 2**53:  # positions are no floats
        wanted["average_qrecall"] = None
    return {name: as_floats(value) for name, value in wanted.items()}


def ends_of(counts: list[int]) -> list[int]:
    return [sum(counts[:g]) for g in range(len(counts) + 1)]


def average_hit_rate(counts: list[int], positives: list[int]) -> Fraction:
    """AR eq 12 by harmonic numbers in 120 digits."""
    with localcontext() as context:
        context.prec = 120
        before = found = 0
        total = Decimal(0)
        for m, p in zip(counts, positives, strict=True):
            reciprocals = harmonic(before + m) - harmonic(before)
            ramps = m - before * reciprocals
            total += Decimal(p) / m * (found * reciprocals + Decimal(p) / m * ramps)
            before, found = before + m, found + p
        return Fraction(total / found)


def harmonic(n: int) -> Decimal:
    """H(n) - γ: by the asymptotic series beyond the first thousand terms, which are added up."""
    if n < 1000:
        gamma = Decimal(0)
        gamma = harmonic(1000) - sum((1 / Decimal(k) for k in range(1, 1001)), Decimal(0))
        return gamma + sum((1 / Decimal(k) for k in range(1, n + 1)), Decimal(0))
    bernoulli = [
        Fraction(1, 6),
        Fraction(-1, 30),
        Fraction(1, 42),
        Fraction(-1, 30),
        Fraction(5, 66),
    ]
    bernoulli += [Fraction(-691, 2730), Fraction(7, 6), Fraction(-3617, 510)]
    x = Decimal(n)
    value = x.ln() + 1 / (2 * x)
    for k, b in enumerate(bernoulli, start=1):
        value -= Decimal(b.numerator) / b.denominator / (2 * k * x ** (2 * k))
    return value


def check_large(found: dict[str, np.ndarray], tables: Any) -> None:
    """Of each table the ends of its groups, and all measures."""
    for index, (counts, _) in enumerate(tables):
        ends = np.asarray(ends_of(counts)).astype(found["ends"].dtype)  # floats in programs
        assert found["ends"][index].tolist() == ends.tolist()
    check_measures(found, tables, exact_large(*tables[0]))


def check_measures(found: dict[str, np.ndarray], tables: Any, names: Iterable[str]) -> None:
    for index, (counts, positives) in enumerate(tables):
        exact = exact_large(counts, positives)
        for name in names:
            got, value = found[name][index], exact[name]
            if name in ("gini", "pem"):  # differences of shares near 1/2: in units of 1
                assert abs(got - value) <= 4 * np.finfo(got.dtype).eps, (name, counts, positives)
            else:
                assert ulps(got, value) <= 4, (name, counts, positives, got, value)
