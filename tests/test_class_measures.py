"""Measures of tables of several classes, against the plain formulas in rational numbers."""

from __future__ import annotations

from decimal import localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from backends import Mode
from everything import main_modes
from expected import as_floats
from public_names import PUBLIC
from table_formulas import F, as_pair, assert_near, of_information, ratio, root

import quotakernels as qk
from quotakernels.tables import ClassTable


def of_several(cells: np.ndarray) -> dict[str, Any]:
    """The plain formulas of the K-class measures, in rational numbers."""
    size, rows, columns, n = len(cells), cells.sum(1), cells.sum(0), int(cells.sum())
    rows, columns = ([int(x) for x in sums] for sums in (rows, columns))
    right = int(np.trace(cells))
    there = [k for k in range(size) if rows[k] or columns[k]]

    def edge(square: Any, own: list[int], given: list[int]) -> Any:
        terms = []
        for k in there:
            inside = ratio(int(square[k][k]), own[k])
            outside = ratio(given[k] - int(square[k][k]), n - own[k])
            if inside is None or outside is None:
                return None
            terms.append(F(given[k], n) * (inside - outside))
        return sum(terms) if n else None

    chance = sum(a * b for a, b in zip(rows, columns, strict=True))
    spread = (n * n - sum(a * a for a in rows)) * (n * n - sum(b * b for b in columns))
    information, entropy = of_information(cells.tolist())
    edges = edge(cells, rows, columns), edge(cells.T, columns, rows)
    return {
        "accuracy": ratio(right, n),
        "misclassification_rate": ratio(n - right, n),
        "informedness": edges[0],
        "markedness": edges[1],
        "bookmaker_correlation": None if None in edges else signed_root(*edges),
        "matthews_corrcoef": (n * right - chance) / root(F(spread)) if spread else None,
        "cohen_kappa": ratio(n * right - chance, n * n - chance),
        "mutual_information": information,
        "information_coefficient": information / entropy if entropy else None,
    }


def signed_root(one: Fraction, other: Fraction) -> Fraction | None:
    """±√(one·other), with their sign."""
    if one * other < 0:
        return None
    return root(one * other) * (1 if one > 0 else -1)


SEVERAL = sorted(of_several(np.eye(2, dtype=int)))


def class_tables() -> np.ndarray:
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

    cells = class_tables()
    with localcontext(prec=40):
        exact = [of_several(table) for table in cells]
    found = mode.run(measures, cells)
    assert_near(found, {name: as_pair([x[name] for x in exact]) for name in SEVERAL}, 8)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("most", [4, 10**12])
def test_sums_over_classes_cancel_without_rounding(size: int, most: int):
    """Also where informedness and markedness are nearly 0, or 0, and of opposite signs."""
    random = np.random.default_rng(size)
    cells = random.integers(0, most, (300, size, size))
    names = ("informedness", "markedness", "bookmaker_correlation")
    with localcontext(prec=60):
        exact = [of_several(table) for table in cells]
    for name in names:
        found = PUBLIC[name](ClassTable(cells))
        wanted = as_floats([x[name] for x in exact])
        zero = wanted == 0
        assert np.all(np.abs(found[zero]) < 2.0**-90)
        np.testing.assert_allclose(found[~zero], wanted[~zero], rtol=2.0**-50, err_msg=name)
    assert np.isnan(found).any()


def test_each_class_of_a_table():
    cells = class_tables()
    for given in (cells, cells.astype(float)):
        table = ClassTable(given).by_class()
        assert table.tp.dtype == given.dtype
        for k in range(3):
            tp, row, column = cells[:, k, k], cells[:, k].sum(-1), cells[:, :, k].sum(-1)
            wanted = (tp, column - tp, row - tp, cells.sum((1, 2)) - row - column + tp)
            np.testing.assert_array_equal([x[:, k] for x in table], wanted)


def test_the_same_as_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(8)
    labels = random.integers(0, 4, 200)
    predictions = np.where(random.random(200) < 0.5, labels, random.integers(0, 4, 200))
    table = qk.tables.confusion_table_from_predictions(labels, predictions, num_classes=4)
    given = labels, predictions
    np.testing.assert_array_equal(table.cells, metrics.confusion_matrix(*given))
    pairs = {
        qk.accuracy: metrics.accuracy_score(*given),
        qk.tables.cohen_kappa: metrics.cohen_kappa_score(*given),
        qk.matthews_corrcoef: metrics.matthews_corrcoef(*given),
        qk.tables.mutual_information: metrics.mutual_info_score(*given),
    }
    for measure, wanted in pairs.items():
        np.testing.assert_allclose(measure(table), wanted, 1e-12)
    by_class = table.by_class()
    np.testing.assert_allclose(qk.f_score(by_class), metrics.f1_score(*given, average=None), 1e-15)
    beta = metrics.fbeta_score(*given, average=None, beta=2)
    np.testing.assert_allclose(qk.f_score(by_class, beta=2), beta, 1e-15)


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
