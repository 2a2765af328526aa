"""Impacts of tables and of cuts, against the exact ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, in_full, mode_fixture
from exact.confusion import tables_at_cuts
from exact.small_tables import tables
from expected import as_floats, assert_within, compact
from public_names import PUBLIC

import quotakernels as qk

mode = mode_fixture(QUICK)
IMPACTS = (3.0, -2.5, -1.0, 0.5)
TABLES = list(tables(4))
CELLS = np.asarray([[float(x) for x in table] for table in TABLES]).T
MEASURES: dict[str, Any] = {
    "impact": lambda t: ex.impact.impact(t, IMPACTS),
    "outcome_impact": lambda t: ex.impact.outcome_impact(t, IMPACTS),
    "conditional_impact": lambda t: ex.impact.outcome_impact(t, IMPACTS, normalize=False),
}
DOLLARS = (0, -7.9, -13, 0)


def near(name: str, found: Any, wanted: np.ndarray) -> None:
    unit = 2.0**-50 if np.asarray(found).dtype == np.float64 else 2.0**-21
    assert_within(found, wanted, unit * np.maximum(4, np.abs(wanted)), name)


@pytest.mark.long_program
def test_all_small_tables(mode: Mode):
    def run(*cells: Any) -> dict[str, Any]:
        table = qk.tables.ConfusionTable(*cells)
        found = {name: PUBLIC[name](table, impacts=IMPACTS) for name in MEASURES}
        return found | {
            "tuned": qk.tables.tune_ratio(table, 0.25),
            "even": qk.tables.normalize_table(table),
        }

    found = mode.run(run, *CELLS)
    for name, exact in MEASURES.items():
        wanted = as_floats([list(exact(t)) for t in TABLES])
        for field, column in zip(found[name]._fields, wanted.T, strict=True):
            near(f"{name}.{field}", getattr(found[name], field), column)
    for name, ratio in (("tuned", 0.25), ("even", 1)):
        for row, table in enumerate(TABLES):
            exact = ex.impact.tune_ratio(table, ratio)
            if exact is None:
                assert np.isnan(sum(x[row] for x in found[name]))
                continue
            for value, cell in zip(found[name], exact, strict=True):
                near(name, value[row], np.asarray(float(cell)))


def test_the_corrected_tables_6_and_8():
    cases = {(0.67, 0.05): (-0.549, -3.352, -1.950), (0.69, 0.15): (-1.411, -3.474, -2.442)}
    for (tpr, fpr), printed in cases.items():
        table = qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)
        found = qk.tables.outcome_impact(table, impacts=DOLLARS)
        np.testing.assert_allclose(found, printed, rtol=0, atol=6e-4)


@pytest.mark.long_program
@pytest.mark.parametrize("kind", ["impact", "outcome"])
def test_best_boundary_of_every_small_case(kind: Any):
    for y, s in ex.cases(4):
        groups = ex.groups(y, s)
        exact = ex.impact.best_boundary(groups, IMPACTS, kind)
        found = qk.best_boundary(y, s, impacts=IMPACTS, kind=kind)
        if exact is None:
            assert np.isnan(found.value)
            continue
        value, optima = compact(found.curve.quota, found.curve.value, found.optima)
        near("curve", value, as_floats([point.value for point in exact.curve]))
        near("value", found.value, np.asarray(float(exact.value)))
        np.testing.assert_array_equal(optima, exact.optima)
        assert found.optima.sum() == optima.sum()
        assert found.quota == exact.quota
        if exact.threshold is not None:
            assert found.threshold == exact.threshold


@pytest.mark.parametrize("ratio", [in_full(0.25), 2.1])
def test_best_boundary_at_another_class_ratio(ratio: float):
    """Exactly the best of the tuned tables of all cuts; ι_σ is the same at every ratio."""
    for y, s in ex.cases(4):
        groups = ex.groups(y, s)
        found = qk.best_boundary(y, s, impacts=IMPACTS, ratio=ratio)
        tuned = [ex.impact.tune_ratio(t, Fraction(ratio)) for t in tables_at_cuts(groups)]
        if None in tuned:
            assert np.isnan(found.value)
            continue
        exact = [ex.impact.impact(t, IMPACTS).whole for t in tuned]
        quota = found.curve.quota
        quota, value, optima = compact(quota, quota, found.curve.value, found.optima)
        near("curve", value, as_floats(exact))
        np.testing.assert_array_equal(optima, [x == max(exact) for x in exact])
        assert found.quota == quota[exact.index(max(exact))]
        outcomes = [
            qk.best_boundary(y, s, impacts=IMPACTS, kind="outcome", **own)
            for own in ({}, {"ratio": ratio})
        ]
        np.testing.assert_array_equal(outcomes[0].curve.value, outcomes[1].curve.value)


@pytest.mark.long_program
def test_best_boundary_at_another_class_ratio_elsewhere(mode: Mode):
    """With weights, on every library, and with data of one class."""
    y, s, w = [1, 0, 1, 1, 0, 1], [9, 8, 8, 6, 1, 1], [0.5, 1, 2, 0.25, 3, 1]

    def run(y: Any, s: Any, w: Any) -> Any:
        return qk.best_boundary(y, s, impacts=IMPACTS, ratio=2.1, sample_weight=w)

    found = mode.run(run, np.asarray(y), np.asarray(s, dtype=float), np.asarray(w))
    exact = [
        ex.impact.impact(ex.impact.tune_ratio(t, Fraction(2.1)), IMPACTS).whole
        for t in tables_at_cuts(ex.groups(y, s, w))
    ]
    real = np.diff(found.curve.quota, prepend=-1) > 0  # padded in programs
    near("curve", found.curve.value[real], as_floats(exact))
    near("value", found.value, np.asarray(float(max(exact))))
    assert np.isnan(qk.best_boundary([1, 1], [2, 1], impacts=IMPACTS, ratio=2).value)


def test_normalized_tables_of_classes(mode: Mode):
    """Of two they are those of the four cells; every class has the same mass."""
    tp, fp, fn, tn = CELLS[:, ::7]
    cells = np.stack([np.stack([tn, fp], axis=-1), np.stack([fn, tp], axis=-1)], axis=-2)
    found = mode.run(lambda x: qk.tables.normalize_table(qk.tables.ClassTable(x)), cells).cells
    wanted = qk.tables.normalize_table(qk.tables.ConfusionTable(tp, fp, fn, tn))
    for place, cell in (((1, 1), "tp"), ((0, 1), "fp"), ((1, 0), "fn"), ((0, 0), "tn")):
        near(cell, found[:, *place], getattr(wanted, cell))
    three = qk.tables.normalize_table(qk.tables.ClassTable([[1, 3, 0], [0, 0, 0], [0, 2, 2]])).cells
    expected = np.asarray([[1 / 12, 1 / 4, 0], [np.nan] * 3, [0, 1 / 6, 1 / 6]])
    np.testing.assert_array_equal(three, expected)
