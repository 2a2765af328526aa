"""Measures under their settings, small tables, and the table of docs/criteria.md as it is read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.tables import ConfusionTable

PAGE = Path(__file__).resolve().parents[1] / "docs" / "criteria.md"
HEADING = "| measure | function | 1 | 2 | 3 | 4 |"

LARGEST = 4
CELLS = np.asarray(list(itertools.product(range(LARGEST + 1), repeat=4)), dtype=float)
CELLS = CELLS[(CELLS[:, 0] + CELLS[:, 2] > 0) & (CELLS[:, 1] + CELLS[:, 3] > 0)].T
"""All tables with both classes and cells up to 4: rows tp, fp, fn, tn."""
TP, FP, FN, TN = range(4)
MOVES = ((FN, TP), (FP, TN))

LEVELS = (-2.0, -0.5, 0.0, 1.0, 3.0)
WEIGHTS = list(itertools.product(LEVELS, repeat=4))
"""Impacts of any sign."""
PAYING = [i for i in WEIGHTS if i[TP] > i[FN] and i[TN] > i[FP]]
"""Impacts under which the right decision brings more."""
BETAS = [(beta,) for beta in (0.25, 0.5, 1.0, 2.0, 4.0)]
COSTS = list(itertools.product((0.5, 1.0, 4.0), repeat=2))
NOTHING: list[tuple[float, ...]] = [()]
CLEAR = 1e-9
"""What lies further apart is different; equal values of small tables are far closer."""

Setting = tuple[float, ...]


class Measure(NamedTuple):
    """A measure of tables with its own numbers, of which it is seen under several settings."""

    value: Callable[..., Any]
    settings: list[Setting] = NOTHING
    sign: int = 1
    """-1 where less is better."""

    def __call__(self, cells: Any, setting: Setting) -> np.ndarray:
        return self.sign * np.asarray(self.value(ConfusionTable(*cells), *setting))


def auc(table: ConfusionTable) -> Any:
    """Of the ranking whose only cut is that of the table."""
    positives, negatives = table.tp + table.fn, table.fp + table.tn
    fp, tp = (np.stack(x, axis=-1) for x in ((table.fp, negatives), (table.tp, positives)))
    return qk.roc_auc(qk.Ranking.from_points(fp=fp, tp=tp))


def cost(table: ConfusionTable, fp: float, fn: float) -> Any:
    return qk.expected_cost(table, cost_fp=fp, cost_fn=fn)


def impact(table: ConfusionTable, *impacts: float) -> Any:
    return qk.tables.impact(table, impacts=impacts).whole


def outcome(field: str) -> Measure:
    def value(table: ConfusionTable, *impacts: float) -> Any:
        return getattr(qk.tables.outcome_impact(table, impacts=impacts), field)

    return Measure(value, PAYING)


def conditional(table: ConfusionTable, *impacts: float) -> Any:
    return qk.tables.conditional_impact(table, impacts=impacts).mean


def base_ratio(table: ConfusionTable, *weights: float) -> Any:
    return qk.tables.base_ratio(table, impacts=weights)


MEASURES: dict[str, list[Measure]] = {
    "accuracy": [Measure(qk.accuracy)],
    "F_β": [Measure(lambda table, beta: qk.f_score(table, beta=beta), BETAS)],
    "MCC": [Measure(qk.matthews_corrcoef)],
    "Cohen's κ": [Measure(qk.tables.cohen_kappa)],
    "informedness": [Measure(qk.informedness)],
    "markedness": [Measure(qk.tables.markedness)],
    "AUC": [Measure(auc)],
    "odds ratio, discriminant power": [
        Measure(qk.tables.diagnostic_odds_ratio),
        Measure(qk.tables.discriminant_power),
    ],
    "likelihood ratios": [
        Measure(qk.tables.positive_likelihood_ratio),
        Measure(qk.tables.negative_likelihood_ratio, sign=-1),
    ],
    "mutual information, IC": [
        Measure(qk.tables.mutual_information),
        Measure(qk.tables.information_coefficient),
    ],
    "expected cost": [Measure(cost, COSTS, sign=-1)],
    "base ratio": [Measure(base_ratio, WEIGHTS)],
    "ι_I": [Measure(impact, PAYING)],
    "ι_Z, ι_Z̄": [outcome("selected"), outcome("rejected")],
    "ι_σ": [outcome("mean")],
    "conditional impact": [Measure(conditional, PAYING)],
}


def entries(heading: str, first: int) -> dict[str, list[str]]:
    """The four entries of each measure, as the page has them from this column on."""
    rows = PAGE.read_text(encoding="utf-8").partition(heading)[2].split("\n\n")[0].splitlines()[2:]
    columns = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0]: row[first:] for row in columns}


ENTRIES = entries(HEADING, 2)


def of_kind(criterion: int, pattern: str) -> Any:
    """Parametrise by the measures whose entry for a criterion is of this kind."""
    names = [n for n, row in ENTRIES.items() if re.fullmatch(pattern, row[criterion - 1])]
    assert names
    return pytest.mark.parametrize("name", names)


def each(name: str) -> Iterator[tuple[Measure, Setting]]:
    for measure in MEASURES[name]:
        for setting in measure.settings:
            yield measure, setting


def near(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)
