"""The exact values of measures of confusion tables, and how near to them others are."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import exact as ex
import numpy as np
from exact.counterparts import DECISIONS, OF_TABLES
from expected import as_floats
from public_names import PUBLIC

import quotakernels as qk
from quotakernels.tables import ConfusionTable

UNIT = 2.0**-53
SMALL = np.asarray(list(itertools.product(range(7), repeat=4))).T
"""The cells of all tables with cells from 0 to 6."""
COSTS = {"cost_fp": 2, "cost_fn": 5}
IMPACTS = (3, -1, -2, 1)


def of_two(tp: int, fp: int, fn: int, tn: int) -> dict[str, Any]:
    """The exact values of all measures of tables: None for 0/0, infinities."""
    table = ex.confusion.table(tp, fp, fn, tn)
    found = {name: OF_TABLES[name][0](table, **OWN.get(name, {})) for name in NAMES}
    found["f_score_2"] = ex.confusion.f_score(table, 2)
    found["mutual_information_bits"] = ex.confusion.mutual_information(table, 2)
    found["net_benefit_of_others"] = ex.fields.net_benefit(table, 0.25, 0.125)
    return found


NAMES = sorted(OF_TABLES)
OWN: dict[str, dict[str, Any]] = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
OWN |= {key: {"threshold_probability": 0.25} for key in DECISIONS}
PLAIN = [name for name in NAMES if name not in OWN]
"""The measures without numbers of their own."""


def measured(table: Any) -> dict[str, Any]:
    """Every measure of tables by its public function."""
    found = {name: PUBLIC[name](table, **OWN.get(name, {})) for name in NAMES}
    found["f_score_2"] = qk.f_score(table, beta=2)
    found["mutual_information_bits"] = qk.tables.mutual_information(table, base=2)
    others = {"threshold_probability": 0.25, "prevalence": 0.125}
    found["net_benefit_of_others"] = qk.decisions.net_benefit(table, **others)
    return found


def each(*cells: Any) -> dict[str, Any]:
    return measured(ConfusionTable(*cells))


def wanted(cells: np.ndarray) -> dict[str, Any]:
    rows = [of_two(*table) for table in cells.T.tolist()]
    return {name: as_pair([row[name] for row in rows]) for name in rows[0]}


def as_pair(exact: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values as floats, NaN for None, and what these leave of them."""
    near = as_floats(exact)
    pairs = zip(exact, near.tolist(), strict=True)
    rest = [float(x - Fraction(y)) if isinstance(x, (Fraction, int)) else 0.0 for x, y in pairs]
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
