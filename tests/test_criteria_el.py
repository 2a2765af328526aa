"""The table of Eiland & Liebrock's criteria in docs/criteria.md, entry by entry.

The criteria are those of their section 6.2; the table is read from the page.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from criteria import BETAS, CELLS, CLEAR, ENTRIES, MEASURES, NOTHING, Measure, entries, near

import quotakernels as qk
from quotakernels.tables import ConfusionTable

HEADING = "| measure | category importance | pdf sensitivity | output basis | appropriate value |"
OF_EL = entries(HEADING, 1)
INSIDE = CELLS[:, CELLS.min(axis=0) > 0]
TYPICAL: dict[int, tuple[float, ...]] = {0: (), 1: (2.0,), 2: (0.5, 4.0), 4: (3.0, 0.5, 1.0, 2.0)}
"""A setting by its length: β, two costs, four impacts."""


def names(column: int, pattern: str) -> Any:
    found = [name for name, row in OF_EL.items() if re.fullmatch(pattern, row[column - 1])]
    assert found
    return pytest.mark.parametrize("name", found)


def value(measure: Measure, cells: np.ndarray) -> np.ndarray:
    return measure(cells, TYPICAL[len(measure.settings[0])])


def test_the_table_has_our_measures_and_every_entry_is_tested():
    assert OF_EL.keys() == MEASURES.keys() - {"ι_Z, ι_Z̄"}
    kinds = [
        "yes|no|not ι_T₋|errors only",
        "yes|no|not t₋|not ratio₊",
        "yes|no|by parts|normalised",
        "yes|no|as a cost",
    ]
    for row in OF_EL.values():
        assert all(re.fullmatch(kind, entry) for kind, entry in zip(kinds, row, strict=True)), row


# category importance


@names(1, "yes")
def test_every_impact_counts(name: str):
    impacts = TYPICAL[4]
    for cell in range(4):
        changed = tuple(x + (k == cell) for k, x in enumerate(impacts))
        for measure in MEASURES[name]:
            assert (np.abs(measure(INSIDE, changed) - measure(INSIDE, impacts)) > CLEAR).all()


@names(1, "no")
def test_no_impact_is_taken(name: str):
    assert all(measure.settings is NOTHING for measure in MEASURES[name])


@names(1, "not ι_T₋")
def test_f_is_a_base_ratio_without_true_negatives(name: str):
    (measure,) = MEASURES[name]
    for (beta,) in BETAS:
        impacts = (1 + beta**2, 1, beta**2, 0)
        ratio = qk.tables.base_ratio(ConfusionTable(*INSIDE), impacts=impacts)
        assert near(measure(INSIDE, (beta,)), ratio)


@names(1, "errors only")
def test_costs_are_impacts_of_errors(name: str):
    (measure,) = MEASURES[name]
    fp, fn = TYPICAL[2]
    impacts = qk.tables.impact(ConfusionTable(*INSIDE), impacts=(0, -fp, -fn, 0))
    assert near(value(measure, INSIDE), impacts.whole)


# pdf sensitivity


def changes(measure: Measure, after: np.ndarray) -> float:
    """The share of tables at which the value changes."""
    return float((np.abs(value(measure, after) - value(measure, INSIDE)) > CLEAR).mean())


def of_cells(measure: Measure) -> list[float]:
    """How often it changes with one example more in each cell alone."""
    return [changes(measure, INSIDE + np.eye(4)[:, [cell]]) for cell in range(4)]


def of_ratio(measure: Measure) -> float:
    """How often it changes with twice as many negatives, at the same rates."""
    return changes(measure, INSIDE * np.asarray([1, 2, 1, 2])[:, None])


@names(2, "yes|not ratio₊|not t₋")
def test_value_moves_with_cells_and_the_class_ratio(name: str):
    entry = OF_EL[name][1]
    for measure in MEASURES[name]:
        *others, negatives = of_cells(measure)
        assert min(others) > 0.75
        assert negatives == 0 if entry == "not t₋" else negatives > 0.75
        ratio = of_ratio(measure)
        assert ratio == 0 if entry == "not ratio₊" else ratio > 0.75


@names(2, "no")
def test_auc_has_no_boundary(name: str):
    assert name == "AUC"


# output basis


def by_output(cells: np.ndarray) -> np.ndarray:
    """EL eq. 2: t₊/|Z|, f₊/|Z|, f₋/|Z̄|, t₋/|Z̄|."""
    tp, fp, fn, tn = cells
    return np.stack([tp / (tp + fp), fp / (tp + fp), fn / (fn + tn), tn / (fn + tn)])


def is_same_by_output(measure: Measure) -> bool:
    return near(value(measure, by_output(INSIDE)), value(measure, INSIDE))


def is_sum_of_parts(measure: Measure) -> bool:
    """EL eq. 6, with the values of the selected and of the rejected alone."""
    selected = INSIDE * np.asarray([1, 1, 0, 0])[:, None]
    bias = qk.tables.bias(ConfusionTable(*INSIDE))
    parts = value(measure, selected), value(measure, INSIDE - selected)
    return near(bias * parts[0] + (1 - bias) * parts[1], value(measure, INSIDE))


@names(3, ".*")
def test_output_basis(name: str):
    entry = OF_EL[name][2]
    for measure in MEASURES[name]:
        assert is_same_by_output(measure) == (entry == "yes")
        assert is_sum_of_parts(measure) == (entry == "by parts")


@names(3, "normalised")
def test_mean_of_outputs_is_conditional_on_normalised_cells(name: str):
    (measure,), (conditional,) = MEASURES[name], MEASURES["conditional impact"]
    cells = np.stack(qk.tables.normalize_table(ConfusionTable(*INSIDE)))
    assert near(value(measure, INSIDE), value(conditional, cells))
    assert near(value(measure, INSIDE), value(conditional, by_output(cells)))


def test_accuracy_is_an_impact():
    table = ConfusionTable(*INSIDE)
    assert near(qk.accuracy(table), qk.tables.impact(table, impacts=(1, 0, 0, 1)).whole)


# appropriate value


def test_appropriate_values_are_those_in_the_unit_of_the_impacts():
    """As tests/test_criteria.py shows them for the fourth of our own criteria."""
    same = {"yes": "yes", "no": "no", "as a cost": "by tuning"}
    for name, row in OF_EL.items():
        assert same[row[3]] == ENTRIES[name][3]
