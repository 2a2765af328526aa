"""Measures of tables of several classes, against the plain formulas in rational numbers."""

from __future__ import annotations

from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import Mode, available
from everything import main_modes
from exact.small_tables import class_tables
from expected import as_floats, assert_within, compact
from public_names import PUBLIC
from table_formulas import as_pair, assert_near

import quotakernels as qk
from quotakernels.tables import ClassTable

SEVERAL = (
    *("accuracy", "misclassification_rate", "informedness", "markedness", "cohen_kappa"),
    *("bookmaker_correlation", "matthews_corrcoef", "mutual_information"),
    "information_coefficient",
)


def exact_values(name: str, tables: np.ndarray) -> list[Any]:
    """A measure of each table of classes, by its exact counterpart."""
    return [getattr(ex.classes, name)(ex.classes.cells(x)) for x in tables.tolist()]


def random_class_tables() -> np.ndarray:
    """Tables of three classes, many of them with empty rows, columns or cells."""
    random = np.random.default_rng(3)
    cells = random.integers(0, 7, (300, 3, 3)) * (random.random((300, 3, 3)) < 0.6)
    cells[:60, 0] = 0
    cells[30:90, :, 2] = 0
    cells[0] = 0
    return cells


@main_modes
@pytest.mark.long_program
def test_tables_of_three_classes(mode: Mode):
    def measures(cells: Any) -> dict[str, Any]:
        return {name: PUBLIC[name](ClassTable(cells)) for name in SEVERAL}

    cells = random_class_tables()
    exact = {name: as_pair(exact_values(name, cells)) for name in SEVERAL}
    assert_near(mode.run(measures, cells), exact, 8)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("most", [4, 10**12])
def test_sums_over_classes_cancel_without_rounding(size: int, most: int):
    """Also where informedness and markedness are nearly 0, or 0, and of opposite signs."""
    random = np.random.default_rng(size)
    cells = random.integers(0, most, (300, size, size))
    names = ("informedness", "markedness", "bookmaker_correlation")
    for name in names:
        found = PUBLIC[name](ClassTable(cells))
        wanted = as_floats(exact_values(name, cells))
        zero = wanted == 0
        assert np.all(np.abs(found[zero]) < 2.0**-90)
        np.testing.assert_allclose(found[~zero], wanted[~zero], rtol=2.0**-50, err_msg=name)
    assert np.isnan(found).any()


def test_each_class_of_a_table():
    cells = random_class_tables()
    for given in (cells, cells.astype(float)):
        table = ClassTable(given).by_class()
        assert table.tp.dtype == given.dtype
        for k in range(3):
            tp, row, column = cells[:, k, k], cells[:, k].sum(-1), cells[:, :, k].sum(-1)
            wanted = (tp, column - tp, row - tp, cells.sum((1, 2)) - row - column + tp)
            np.testing.assert_array_equal([x[:, k] for x in table], wanted)


@pytest.mark.parametrize(
    "cells",
    [
        [[8, 5, 8], [5, 4, 5], [7, 7, 7]],
        [[0, 1, 3], [3, 7, 4], [5, 4, 5]],
        [[7, 7, 5], [6, 5, 8], [2, 3, 3]],
    ],
)
def test_what_rounding_leaves_of_0_has_no_sign(cells: list[list[int]]):
    """The informedness of these tables is exactly 0."""
    table = ClassTable(np.asarray(cells))
    assert abs(qk.informedness(table)) < 2.0**-96
    assert qk.tables.bookmaker_correlation(table) == 0


def test_what_is_small_and_not_0():
    for n in (10**6, 10**8, 10**12):
        table = ClassTable(np.asarray([[n + 1, n], [n, n + 1]]))
        assert qk.tables.bookmaker_correlation(table) == pytest.approx(
            1 / (2 * n + 1), rel=1e-12, abs=0
        )


# impacts of K classes, totals, and the tables of all cuts, against the exact ones


K = 3
THREE = ((5.0, -2.0, -0.5), (-1.0, 3.0, 0.0), (-8.0, 0.25, 1.0))
TABLES = list(class_tables(60, K))
CELLS = np.asarray([[[float(x) for x in row] for row in table] for table in TABLES])
EXACT: dict[str, Any] = {
    "impact": lambda t, i: ex.impact.class_impact(t, i),
    "total_impact": lambda t, i: ex.impact.class_impact(t, i, total=True),
    "outcome_impact": lambda t, i: ex.impact.class_outcome_impact(t, i),
    "conditional_impact": lambda t, i: ex.impact.class_outcome_impact(t, i, normalize=False),
}


def near(name: str, found: Any, wanted: np.ndarray) -> None:
    unit = 2.0**-50 if np.asarray(found).dtype == np.float64 else 2.0**-21
    assert_within(found, wanted, unit * np.maximum(8, np.abs(wanted)), name)


def of_classes(cells: Any, impacts: Any) -> dict[str, Any]:
    table = qk.tables.ClassTable(cells)
    return {name: PUBLIC[name](table, impacts=impacts) for name in EXACT}


@every.main_modes
def test_small_tables_of_three_classes(mode: Mode):
    found = mode.run(of_classes, CELLS, np.asarray(THREE))
    for name, exact in EXACT.items():
        wanted = [exact(table, THREE) for table in TABLES]
        near(name, found[name].whole, as_floats([x.whole for x in wanted]))
        near(name, found[name].outputs, as_floats([x.outputs for x in wanted]))


@pytest.mark.long_program
@every.main_modes
def test_totals_of_cuts(mode: Mode):
    """n times the impact per example; 0 of no examples."""
    y, s = np.asarray([1, 0, 1, 1, 0]), np.asarray([0.9, 0.8, 0.8, 0.6, 0.1])
    impacts = (5.0, -4.0, -1.0, 0.5)

    def run(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s)
        given: dict[str, Any] = {"quota": [0, 2, 5], "impacts": impacts}
        return qk.tables.total_impact(ranking, **given), qk.tables.impact(ranking, **given)

    total, mean = mode.run(run, y, s)
    for field in total._fields:
        near(field, getattr(total, field), 5 * np.asarray(getattr(mean, field), dtype=float))
    np.testing.assert_array_equal(total.whole, [-2.0, 4.75, 7.0])
    empty = qk.tables.total_impact(qk.tables.ConfusionTable(0, 0, 0, 0), impacts=impacts)
    assert tuple(map(float, empty)) == (0.0, 0.0, 0.0)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_impacts_that_cannot_be_read_are_undefined():
    import jax
    import jax.numpy as jnp

    units = jnp.asarray(THREE).at[0, 1].set(jnp.inf)
    found = jax.jit(lambda i: qk.tables.impact(qk.tables.ClassTable(np.ones((3, 3))), impacts=i))(
        units
    )
    assert np.isnan(found.outputs).tolist() == [False, True, False]
    assert np.isnan(found.whole)


# the tables of all cuts

Y = np.asarray([[1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 1]])
S = np.asarray([[9, 8, 8, 6, 1, 1], [3, 3, 1, 7, 7, 5], [1, 2, 2, 3, 4, 4]], dtype=float)
W = np.asarray([0.5, 1, 2, 0, 3, 1])
IMPACTS = (5.0, -4.0, -1.0, 0.5)


@every.main_modes
@pytest.mark.long_program
def test_tables_of_all_cuts(mode: Mode):
    def run(y: Any, s: Any) -> Any:
        return (
            qk.tables.cut_tables(y, s),
            qk.tables.cut_tables(y, s, ratio=1),
            qk.best_boundary(y, s, impacts=IMPACTS).curve,
        )

    plain, even, curve = mode.run(run, Y, S)
    for index in range(3):
        groups = ex.groups(Y[index].tolist(), S[index].tolist())
        cuts = [ex.confusion.table_at_quota(groups, quota) for quota in ex.cuts(groups)]
        steps = np.flatnonzero(np.diff(plain.quota[index], prepend=-1))
        np.testing.assert_array_equal(plain.quota[index][steps], as_floats(ex.cuts(groups)))
        for k, field in enumerate(plain.table._fields):
            found = getattr(plain.table, field)
            assert found.dtype.kind == ("f" if mode.lazy else "i")  # NaN in rows that are invalid
            np.testing.assert_array_equal(found[index][steps], as_floats([t[k] for t in cuts]))
            size = as_floats([t.tp + t.fn if field in ("tp", "fn") else t.fp + t.tn for t in cuts])
            with np.errstate(invalid="ignore"):
                wanted = as_floats([t[k] for t in cuts]) / (2 * size)
            near(field, getattr(even.table, field)[index][steps], wanted)
    np.testing.assert_array_equal(plain.threshold, curve.threshold)
    np.testing.assert_array_equal(plain.quota, curve.quota)
    near(
        "impact",
        qk.tables.impact(plain.table, impacts=IMPACTS).whole,
        np.asarray(curve.value, float),
    )


def test_tables_of_all_cuts_with_weights_and_other_ratios():
    ranking = qk.rank(Y[0], S[0], sample_weight=W)
    found = qk.tables.cut_tables(ranking)
    columns = (found.quota, found.threshold, found.table.tp, found.table.fp)
    quota, threshold, tp, fp = compact(found.quota, *columns)
    assert tp.tolist() == [0, 0.5, 2.5, 3.5]
    assert fp.tolist() == [0, 0, 1, 4]
    assert quota.tolist() == [0, 0.5, 3.5, 7.5]
    np.testing.assert_array_equal(threshold, [np.nan, 9, 8, 1])
    tuned = qk.tables.cut_tables(ranking, ratio=0.25).table
    np.testing.assert_allclose(tuned, qk.tables.tune_ratio(found.table, 0.25), rtol=1e-15)
    np.testing.assert_allclose(sum(tuned), 1, rtol=1e-15)
    even = qk.tables.cut_tables(Y[0], S[0], ratio=1).table
    both = [
        qk.tables.outcome_impact(x, impacts=IMPACTS)
        for x in (even, qk.tables.cut_tables(Y[0], S[0]).table)
    ]
    np.testing.assert_allclose(*both, rtol=1e-14)
