"""Measures of confusion tables, against the plain formulas in rational numbers."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from everything import main_modes

import quotakernels as qk
from quotakernels import ClassTable, ConfusionTable

mode = mode_fixture(QUICK)

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


def measured(table: Any) -> dict[str, Any]:
    """Every measure of tables by its public function."""
    own = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
    found = {name: getattr(qk, name)(table, **own.get(name, {})) for name in NAMES}
    found["f_score_2"] = qk.f_score(table, beta=2)
    found["mutual_information_bits"] = qk.mutual_information(table, base=2)
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


@main_modes
def test_all_small_tables(mode: Mode):
    assert_near(mode.run(each, *SMALL), wanted_of_small(), 4)


def test_floats_are_as_good_as_integers():
    found, same = each(*SMALL.astype(float)), each(*SMALL)
    for name, value in found.items():
        np.testing.assert_array_equal(value, same[name])


def large_tables() -> np.ndarray:
    """Cells up to 2**62, of one size and of very different sizes."""
    random = np.random.default_rng(5)
    powers = random.integers(0, 62, (4, 60))
    powers[:, :30] = random.integers(30, 62, 30)
    cells = 2**powers + random.integers(0, 2**powers)
    edges = np.asarray([[2**53 - 1, 2**53 + 1, 2**31, 2**62], [2**62] * 4, [2**31 + 1] * 4]).T
    return np.concatenate([cells, edges], axis=-1)


@main_modes
def test_large_counts(mode: Mode):
    if mode.float32:
        pytest.skip("no int64 can be passed")
    cells = large_tables()
    found, exact = mode.run(each, *cells), wanted(cells)
    del found["base_ratio"], exact["base_ratio"]  # its denominator is a difference
    assert_near(found, exact, 4)


def test_nearly_independent_labels_have_information():
    """Where the sum of c/n·log(c·n/(t·p)) itself would have lost every digit."""
    cells = (2**24 + 1, 2**24, 2**24, 2**24)
    with localcontext(prec=60):
        exact = of_information([[cells[3], cells[1]], [cells[2], cells[0]]])[0]
    assert abs(F(float(qk.mutual_information(ConfusionTable(*cells)))) / exact - 1) < 1e-14


# of labels and scores

Y = np.asarray([[1, 0, 1, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 1, 0, 1]])
S = np.asarray(
    [[0.875, 0.75, 0.75, 0.625, 0.125, 0.625, 0.625, 0.25], [3, 3, 1, 7, 6, -0.0, 0.0, np.inf]]
)


def test_every_measure_takes_labels_scores_and_a_cut():
    table = qk.confusion_table(Y, S, threshold=[0.625, 0.25])
    own = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
    for name in NAMES:
        function, more = getattr(qk, name), own.get(name, {})
        value = function(table, **more)
        np.testing.assert_array_equal(function(Y, S, threshold=[0.625, 0.25], **more), value)
        ranking = qk.rank(Y, S)
        np.testing.assert_array_equal(function(ranking, threshold=[0.625, 0.25], **more), value)
        assert value.shape == (2, 2)


def test_a_measure_of_each_class():
    scores = np.stack([S[0], S[0][::-1], 1 - S[0]], axis=-1)
    labels = np.asarray([0, 1, 2, 2, 0, 1, 1, 0])
    found = qk.one_vs_rest(qk.f_score, labels, scores, threshold=0.5, average=None)
    each = [qk.f_score(labels == k, scores[:, k], threshold=0.5) for k in range(3)]
    np.testing.assert_array_equal(found.value, each)


# own numbers


@main_modes
def test_own_numbers_may_be_arrays(mode: Mode):
    cells = [np.asarray([3.0, 1]), np.asarray([1.0, 2]), np.asarray([2.0, 0]), np.asarray([4.0, 1])]
    betas, cost = np.asarray([0.0, 2.0]), np.asarray([1.0, 5.0])

    def measures(tp: Any, fp: Any, fn: Any, tn: Any, beta: Any, cost: Any) -> Any:
        table = ConfusionTable(tp, fp, fn, tn)
        return (
            qk.f_score(table, beta=beta),
            qk.expected_cost(table, cost_fp=cost, cost_fn=1),
            qk.base_ratio(table, impacts=(cost, 1, 1, 0)),
            qk.mutual_information(table, base=cost + 1),
        )

    found = mode.run(measures, *cells, betas, cost)
    for k in range(2):
        one = ConfusionTable(*(x[k] for x in cells))
        alone = measures(*one, betas[k], cost[k])
        np.testing.assert_allclose([x[k] for x in found], alone, 1e-6 if mode.float32 else 1e-15)


def test_extreme_betas():
    table = ConfusionTable(3, 1, 2, 4)
    np.testing.assert_allclose(
        qk.f_score(table, beta=[0, 1e-200, 1e200, math.inf]), [0.75] * 2 + [0.6] * 2
    )


# several classes


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
    return {
        "accuracy": ratio(right, n),
        "misclassification_rate": ratio(n - right, n),
        "informedness": edge(cells, rows, columns),
        "markedness": edge(cells.T, columns, rows),
        "matthews_corrcoef": (n * right - chance) / root(F(spread)) if spread else None,
        "cohen_kappa": ratio(n * right - chance, n * n - chance),
        "mutual_information": information,
        "information_coefficient": information / entropy if entropy else None,
    }


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
def test_tables_of_three_classes(mode: Mode):
    def measures(cells: Any) -> dict[str, Any]:
        return {name: getattr(qk, name)(ClassTable(cells)) for name in SEVERAL}

    cells = class_tables()
    with localcontext(prec=40):
        exact = [of_several(table) for table in cells]
    found = mode.run(measures, cells)
    assert_near(found, {name: as_pair([x[name] for x in exact]) for name in SEVERAL}, 8)


def test_two_classes_are_a_special_case():
    tp, fp, fn, tn = SMALL
    square = ClassTable(np.moveaxis(np.asarray([[tn, fp], [fn, tp]]), -1, 0))
    for name in SEVERAL:
        found, wanted = getattr(qk, name)(square), getattr(qk, name)(ConfusionTable(*SMALL))
        np.testing.assert_allclose(found, wanted, 0, 2e-15, err_msg=name)


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
    table = qk.confusion_table_from_predictions(labels, predictions, num_classes=4)
    given = labels, predictions
    np.testing.assert_array_equal(table.cells, metrics.confusion_matrix(*given))
    pairs = {
        qk.accuracy: metrics.accuracy_score(*given),
        qk.cohen_kappa: metrics.cohen_kappa_score(*given),
        qk.matthews_corrcoef: metrics.matthews_corrcoef(*given),
        qk.mutual_information: metrics.mutual_info_score(*given),
    }
    for measure, wanted in pairs.items():
        np.testing.assert_allclose(measure(table), wanted, 1e-12)
    by_class = table.by_class()
    np.testing.assert_allclose(qk.f_score(by_class), metrics.f1_score(*given, average=None), 1e-15)
    beta = metrics.fbeta_score(*given, average=None, beta=2)
    np.testing.assert_allclose(qk.f_score(by_class, beta=2), beta, 1e-15)


# all cuts


def test_curves_have_the_measure_at_every_cut():
    own = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
    for name in NAMES:
        measure, more = getattr(qk, name), own.get(name, {})
        for data in ((Y[0], S[0]), (qk.rank(Y[0], S[0]),)):
            curve = qk.table_curve(*data, measure, **more)
            wanted = measure(*data, threshold=curve.threshold, **more)
            np.testing.assert_array_equal(curve.value, wanted, err_msg=name)
        np.testing.assert_array_equal(curve.quota, qk.qrecall_curve(Y[0], S[0]).quota)


def best_of(y: Any, s: Any) -> Any:
    ranking = qk.rank(y, s)
    return (
        qk.optimal_cut(ranking, qk.informedness),
        qk.optimal_cut(ranking, qk.f_score, beta=0.5),
        qk.optimal_cut(y, s, measure=qk.expected_cost, cost_fp=1, cost_fn=0.5, maximize=False),
        qk.optimal_cut(ranking, qk.positive_likelihood_ratio),
    )


@main_modes
def test_optimal_cuts(mode: Mode):
    found = mode.run(best_of, Y, S)
    for row in range(len(Y)):
        data = Y[row], S[row]
        curves = [
            qk.table_curve(*data, qk.informedness),
            qk.table_curve(*data, qk.f_score, beta=0.5),
            qk.table_curve(*data, qk.expected_cost, cost_fp=1, cost_fn=0.5),
            qk.table_curve(*data, qk.positive_likelihood_ratio),
        ]
        for k, (best, curve) in enumerate(zip(found, curves, strict=True)):
            top = np.nanmin(curve.value) if k == 2 else np.nanmax(curve.value)
            same = np.isclose(curve.value, top, 1e-13, 1e-13)
            first = int(np.argmax(same))
            np.testing.assert_allclose(best.value[row], top, 1e-6)
            np.testing.assert_allclose(best.threshold[row], curve.threshold[first], 1e-6)
            assert best.quota[row] == curve.quota[first]
            assert best.optima[row].sum() == same.sum()


def test_all_optima_are_found():
    best = qk.optimal_cut([1, 0, 1, 0], [4, 3, 2, 1], qk.informedness)
    np.testing.assert_array_equal(best.optima, [False, True, False, True, False])
    assert (best.value, best.threshold, best.quota) == (0.5, 4, 1)
    random = np.random.default_rng(2)
    for _ in range(50):
        labels, scores = random.integers(0, 2, 30), random.integers(0, 12, 30)
        best = qk.optimal_cut(labels, scores, qk.matthews_corrcoef)
        curve = qk.table_curve(labels, scores, qk.matthews_corrcoef)
        cells = qk.confusion_table(labels, scores, threshold=curve.threshold)
        with localcontext(prec=40):
            exact = [of_two(*map(int, x))["matthews_corrcoef"] for x in zip(*cells, strict=True)]
        top = max(x for x in exact if x is not None)
        same = [x is not None and abs(x - top) < F(1, 10**30) for x in exact]
        np.testing.assert_array_equal(best.optima, same)


def test_no_optimum():
    best = qk.optimal_cut([1, 1], [0.2, 0.1], qk.informedness)
    assert np.isnan([best.value, best.threshold, best.quota]).all()
    assert not best.optima.any()


# bad input


def test_bad_calls():
    table = ConfusionTable(1, 2, 3, 4)
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: qk.accuracy(table, threshold=1), TypeError, "^accuracy of a table takes its own"),
        (lambda: qk.accuracy(table, [0, 1]), TypeError, "^accuracy of a table takes its own"),
        (lambda: qk.accuracy(), TypeError, "^accuracy needs y_true and y_score"),
        (lambda: qk.precision(ClassTable([[1, 0], [0, 1]])), TypeError, "by_class"),
        (lambda: qk.expected_cost(table, cost_fp=1), TypeError, "^expected_cost needs cost_fn"),
        (lambda: qk.expected_cost(table, cost_fp=-1, cost_fn=1), ValueError, "^cost_fp is -1"),
        (lambda: qk.f_score(table, beta=None), TypeError, "^beta must be an array; got None"),
        (lambda: qk.f_score(table, beta=-1), ValueError, "^beta is -1"),
        (lambda: qk.f_score(table, beta="1"), TypeError, "^beta must be a number"),
        (lambda: qk.mutual_information(table, base=1), ValueError, "^base is 1"),
        (lambda: qk.base_ratio(table, impacts=(1, 2, 3)), TypeError, "^impacts must be four"),
        (lambda: qk.base_ratio(table, impacts=(1, 2, 3, math.inf)), ValueError, "^i_tn is inf"),
        (lambda: qk.confusion_table([0, 1], [1, 2], threshold="a"), TypeError, "^threshold must"),
        (lambda: qk.confusion_table([0, 1], [1, 2], quota=3), ValueError, "^quota is 3"),
        (lambda: qk.confusion_table([0, 1], [1, 2], quota=1, inclusive=False), TypeError, "^incl"),
        (lambda: qk.confusion_table([0, 1], [1, 2], threshold=1, inclusive=1), TypeError, "^incl"),
        (lambda: qk.optimal_cut([0, 1], [1, 2], qk.roc_auc), TypeError, "^optimal_cut needs"),
        (lambda: qk.table_curve([0, 1], [1, 2]), TypeError, "^table_curve needs"),
        (lambda: qk.optimal_cut([0, 1], [1, 2], qk.recall, maximize=0), TypeError, "^maximize"),
    ]
    for call, error, match in calls:
        with pytest.raises(error, match=match):
            call()


def test_bad_tables():
    for bad, error in (
        (-1, ValueError),
        (math.inf, ValueError),
        ("a", TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match=r"^fn "):
            qk.accuracy(ConfusionTable(1, 2, bad, 4))
    with pytest.raises(ValueError, match=r"^cells is -1.0 at position \(0, 1\)"):
        qk.accuracy(ClassTable([[1, -1], [0, 1]]))
    with pytest.raises(ValueError, match=r"^cells must have shape"):
        qk.accuracy(ClassTable([[1, 1]]))
    with pytest.raises(ValueError, match=r"one shape"):
        qk.accuracy(ConfusionTable([1, 2], [1, 2, 3], 0, 1))
    assert np.isnan(qk.accuracy(ConfusionTable(np.nan, 1, 1, 1)))
