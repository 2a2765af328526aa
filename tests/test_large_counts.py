"""Tables of more examples than fit a float, or memory: exact counts, and measures near exact."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters
from expected import as_floats, ulps

import quotakernels as qk

make = qk.Ranking.from_counts

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


def large(t: Any, c: Any, p: Any) -> dict[str, Any]:
    ranking = make(t, c, p)
    names = ("roc_auc", "gini", "pem", "average_qrecall", "average_hit_rate")
    found = {name: getattr(qk, name)(ranking) for name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.lift):
        found[measure.__name__] = measure(ranking, fraction=[0.25, 0.5, 1])
    curve = qk.qrecall_curve(ranking)
    return found | {"ends": curve.quota, "recalls": curve.value}


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
    for index, (counts, positives) in enumerate(tables):
        assert found["ends"][index].tolist() == ends_of(counts)
        for name, value in exact_large(counts, positives).items():
            got = found[name][index]
            if name in ("gini", "pem"):  # differences of shares near 1/2: in units of 1
                assert abs(got - value) <= 4 * np.finfo(got.dtype).eps, (name, counts, positives)
            else:
                assert ulps(got, value) <= 4, (name, counts, positives, got, value)


def columns_of(tables: Any) -> tuple[np.ndarray, ...]:
    counts, positives = (np.asarray(x) for x in zip(*tables, strict=True))
    return np.broadcast_to([4.0, 3, 2, 1], counts.shape), counts, positives


WIDE = [m for m in MODES if not m.float32 and m.name not in ("strictest", "jax64", "torch-compile")]


@pytest.mark.parametrize("mode", parameters(WIDE))
def test_any_number_of_examples(mode: Mode):
    check_large(mode.run(large, *columns_of(large_tables())), large_tables())


NARROW = [mode for mode in MODES if mode.float32]


@pytest.mark.parametrize("mode", parameters(NARROW[1:]))
def test_counts_whose_sums_leave_32_bits(mode: Mode):
    small = [table for table in large_tables() if max(table[0]) < 2**31]
    small.append(([2**31 - 1] * 4, [2**31 - 1, 5, 2**30, 0]))
    check_large(mode.run(large, *columns_of(small)), small)


@pytest.mark.parametrize("mode", parameters(NARROW[:1]))
def test_64_bit_counts_from_the_host_beside_32_bit_arrays(mode: Mode):
    thresholds, counts, positives = columns_of(large_tables())
    found = mode.run(lambda t: large(t, counts, positives), thresholds)
    check_large(found, large_tables())


def test_counts_are_exact():
    for counts, positives in large_tables():
        ranking = make([4, 3, 2, 1], counts, positives)
        assert ranking.counts.tolist() == counts
        assert ranking.positives.tolist() == positives
        assert int(ranking.counts.sum()) == sum(counts)
    limit = 2**63 - 1
    assert int(make([1, 0], [limit - 5, 5], [1, 1]).counts.sum()) == limit
    for counts in ([limit, 1], [2**62, 2**62], [limit - 1024, 500, 500, 25]):
        with pytest.raises(ValueError, match=r"^counts is \d+ at position \d; expected fewer than"):
            make(np.arange(len(counts)), counts, [0] * len(counts))
    with pytest.raises(
        ValueError, match=rf"^counts is {2**63} at position 1; expected a count, from"
    ):
        make([1, 0], np.asarray([1, 2**63], dtype=np.uint64), [0, 0])
    with pytest.raises(TypeError, match=r"^counts must hold integers; got dtype object"):
        make([1], [2**70], [0])
