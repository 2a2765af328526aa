"""The plain formulas of measures of confusion tables, in rational numbers."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from public_names import PUBLIC

import quotakernels as qk
from quotakernels.tables import ConfusionTable

F = Fraction
UNIT = 2.0**-53
SMALL = np.asarray(list(itertools.product(range(7), repeat=4))).T
"""The cells of all tables with cells from 0 to 6."""
COSTS = {"cost_fp": 2, "cost_fn": 5}
IMPACTS = (3, -1, -2, 1)
INFINITE = math.inf


def ratio(numerator: Any, denominator: Any) -> Fraction | None:
    return None if denominator == 0 else F(numerator, denominator)


def above(numerator: int, denominator: int) -> Any:
    """A ratio that is infinite where only the denominator is 0."""
    return INFINITE if numerator and not denominator else ratio(numerator, denominator)


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / x.denominator


def rational(x: Decimal) -> Fraction:
    return F(*x.as_integer_ratio())


def root(x: Fraction | None) -> Fraction | None:
    return None if x is None else rational(decimal(x).sqrt())


def log(x: Fraction) -> Fraction:
    return rational(decimal(F(x)).ln())


def agreement(tp: int, fp: int, fn: int, tn: int, chance: Fraction | None) -> Fraction | None:
    n = tp + fp + fn + tn
    return None if n == 0 else ratio(F(tp + tn, n) - chance, 1 - chance)


def of_two(tp: int, fp: int, fn: int, tn: int) -> dict[str, Any]:
    """The plain formulas: Fractions, None for 0/0, infinities."""
    pos, neg, sel, rej, n = tp + fn, fp + tn, tp + fp, fn + tn, tp + fp + fn + tn
    tpr, fpr, tnr, fnr = ratio(tp, pos), ratio(fp, neg), ratio(tn, neg), ratio(fn, pos)
    ppv, npv = ratio(tp, sel), ratio(tn, rej)
    pi, b = ratio(pos, n), ratio(sel, n)
    i_tp, i_fp, i_fn, i_tn = IMPACTS
    spread = pos * neg * sel * rej
    mean = None if n == 0 else (pi + b) / 2
    odds = above(tp * tn, fp * fn)
    power = {None: None, INFINITE: INFINITE, 0: -INFINITE}
    information, entropy = of_information([[tn, fp], [fn, tp]])
    return {
        "accuracy": ratio(tp + tn, n),
        "misclassification_rate": ratio(fp + fn, n),
        "precision": ppv,
        "recall": tpr,
        "false_positive_rate": fpr,
        "true_negative_rate": tnr,
        "false_negative_rate": fnr,
        "inverse_precision": npv,
        "prevalence": pi,
        "bias": b,
        "f_score": ratio(2 * tp, 2 * tp + fn + fp),
        "f_score_2": ratio(5 * tp, 5 * tp + 4 * fn + fp),
        "g_measure": None if None in (ppv, tpr) else root(ppv * tpr),
        "informedness": None if None in (tpr, fpr) else tpr - fpr,
        "markedness": None if None in (ppv, npv) else ppv + npv - 1,
        "matthews_corrcoef": None if spread == 0 else F(tp * tn - fp * fn) / root(F(spread)),
        "bookmaker_correlation": None if spread == 0 else F(tp * tn - fp * fn) / root(F(spread)),
        "cohen_kappa": agreement(tp, fp, fn, tn, n and F(pos * sel + neg * rej, n * n)),
        "scott_pi": agreement(tp, fp, fn, tn, n and mean**2 + (1 - mean) ** 2),
        "fleiss_kappa": agreement(tp, fp, fn, tn, n and mean**2 + (1 - mean) ** 2),
        "bennett_s": agreement(tp, fp, fn, tn, F(1, 2)),
        "positive_likelihood_ratio": None if None in (tpr, fpr) else above(tpr, fpr),
        "negative_likelihood_ratio": None if None in (fnr, tnr) else above(fnr, tnr),
        "expected_cost": ratio(COSTS["cost_fp"] * fp + COSTS["cost_fn"] * fn, n),
        "base_ratio": ratio(i_tp * tp + i_tn * tn, i_tp * tp + i_fp * fp + i_fn * fn + i_tn * tn),
        "diagnostic_odds_ratio": odds,
        "discriminant_power": power[odds] if odds in power else log(odds) * DISCRIMINANT,
        "mutual_information": information,
        "mutual_information_bits": None if information is None else information / log(F(2)),
        "information_coefficient": None if not entropy else information / entropy,
    }


with localcontext(prec=40):
    PI = Decimal("3.1415926535897932384626433832795028841972")
    DISCRIMINANT = rational(Decimal(3).sqrt() / PI)


def of_information(cells: list[list[int]]) -> tuple[Any, Any]:
    """Mutual information and the entropy of the labels."""
    rows, columns = [sum(row) for row in cells], [sum(x) for x in zip(*cells, strict=True)]
    n = sum(rows)
    if n == 0:
        return None, None
    found = [
        F(c, n) * log(F(c * n, rows[i] * columns[j]))
        for i, row in enumerate(cells)
        for j, c in enumerate(row)
        if c
    ]
    return sum(found), -sum(F(r, n) * log(F(r, n)) for r in rows if r)


NAMES = sorted(of_two(1, 1, 1, 1).keys() - {"f_score_2", "mutual_information_bits"})
OWN: dict[str, dict[str, Any]] = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
PLAIN = [name for name in NAMES if name not in OWN]
"""The measures without numbers of their own."""


def measured(table: Any) -> dict[str, Any]:
    """Every measure of tables by its public function."""
    found = {name: PUBLIC[name](table, **OWN.get(name, {})) for name in NAMES}
    found["f_score_2"] = qk.f_score(table, beta=2)
    found["mutual_information_bits"] = qk.tables.mutual_information(table, base=2)
    return found


def each(*cells: Any) -> dict[str, Any]:
    return measured(ConfusionTable(*cells))


def wanted(cells: np.ndarray) -> dict[str, Any]:
    with localcontext(prec=40):
        rows = [of_two(*(int(x) for x in table)) for table in cells.T]
    return {name: as_pair([row[name] for row in rows]) for name in rows[0]}


def as_pair(exact: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values as floats, NaN for None, and what these leave of them."""
    known = [isinstance(x, (F, int)) for x in exact]
    near = [float(x) if is_known else x for x, is_known in zip(exact, known, strict=True)]
    near = np.asarray([np.nan if x is None else x for x in near])
    rest = [
        float(x - F(y)) if k else 0.0 for x, y, k in zip(exact, near.tolist(), known, strict=True)
    ]
    return near, np.asarray(rest)


@cache
def wanted_of_small() -> dict[str, Any]:
    return wanted(SMALL)


def gaps(actual: Any, exact: tuple[np.ndarray, np.ndarray]) -> float:
    """The largest distance in units of 2**-53·max(1, |value|); NaN and infinities must agree."""
    near, rest = exact
    found, special = (np.where(np.isfinite(x), 0, x) for x in (actual, near))
    np.testing.assert_array_equal(found, special)
    finite = np.isfinite(near)
    distance = np.abs((np.asarray(actual, dtype=float)[finite] - near[finite]) - rest[finite])
    return float(np.max(distance / np.maximum(1, np.abs(near[finite])), initial=0)) / UNIT


def assert_near(found: dict[str, Any], exact: dict[str, Any], units: float) -> None:
    assert found.keys() == exact.keys()
    for name, value in found.items():
        double = np.asarray(value).dtype == np.float64
        distance = gaps(value, exact[name])
        assert distance <= (units if double else 2.0**30), (name, distance)
