"""Measures of tables at all cuts, and the best cut."""

from __future__ import annotations

import functools
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import Mode
from everything import main_modes
from expected import compact
from public_names import PUBLIC
from table_formulas import NAMES, OWN

import quotakernels as qk
from measures.test_table_measures import S, Y


def test_curves_have_the_measure_at_every_cut():
    for name in NAMES:
        measure, more = PUBLIC[name], OWN.get(name, {})
        for data in ((Y[0], S[0]), (qk.rank(Y[0], S[0]),)):
            curve = qk.tables.table_curve(measure, *data, **more)
            wanted = measure(*data, threshold=curve.threshold, **more)
            np.testing.assert_array_equal(curve.value, wanted, err_msg=name)
        np.testing.assert_array_equal(curve.quota, qk.qrecall_curve(Y[0], S[0]).quota)


def best_of(y: Any, s: Any) -> Any:
    ranking = qk.rank(y, s)
    return (
        qk.best_cut(qk.informedness, ranking),
        qk.best_cut(qk.f_score, ranking, beta=0.5),
        qk.best_cut(qk.expected_cost, y, s, cost_fp=1, cost_fn=0.5),
        qk.best_cut(qk.tables.positive_likelihood_ratio, ranking),
    )


def test_the_measure_says_what_is_best():
    y, s, own = [1, 0, 1, 0, 0], [5, 4, 3, 2, 1], {"cost_fp": 1, "cost_fn": 4}
    cheapest, dearest = (
        qk.best_cut(qk.expected_cost, y, s, greater_is_better=x, **own) for x in (None, True)
    )
    curve = qk.tables.table_curve(qk.expected_cost, y, s, **own)
    assert (cheapest.value, dearest.value) == (min(curve.value), max(curve.value))
    with pytest.warns(UserWarning, match="^only 2 positives: intervals are too narrow"):
        found = qk.inference.best_cut_interval(
            qk.best_cut, y, s, measure=qk.expected_cost, n_resamples=20, random_state=1, **own
        )
    assert found.value.estimate == cheapest.value
    least = qk.best_cut(qk.tables.bias, y, s, greater_is_better=False)
    assert (least.value, least.quota) == (0, 0)


@main_modes
def test_cuts_near_the_best(mode: Mode):
    found = mode.run(_near, Y, S)
    for row, (labels, scores) in enumerate(zip(Y, S, strict=True)):
        curve = qk.best_boundary(labels, scores, impacts=(5, -4, 0, 0)).curve
        earned = [float(x) for x in curve.value]
        first = last = earned.index(max(earned))
        while first > 0 and earned[first - 1] >= max(earned) - 1.1:
            first -= 1
        while last + 1 < len(earned) and earned[last + 1] >= max(earned) - 1.1:
            last += 1
        wanted = [curve.quota[first], curve.quota[last]]
        assert [float(x[row]) for x in found] == wanted


def _near(y: Any, s: Any) -> Any:
    return qk.best_boundary(y, s, impacts=(5, -4, 0, 0)).near(1.1)


@pytest.mark.long_program
@main_modes
def test_best_cuts(mode: Mode):
    found = mode.run(best_of, Y, S)
    for row in range(len(Y)):
        data = Y[row], S[row]
        curves = [
            qk.tables.table_curve(qk.informedness, *data),
            qk.tables.table_curve(qk.f_score, *data, beta=0.5),
            qk.tables.table_curve(qk.expected_cost, *data, cost_fp=1, cost_fn=0.5),
            qk.tables.table_curve(qk.tables.positive_likelihood_ratio, *data),
        ]
        for k, (best, curve) in enumerate(zip(found, curves, strict=True)):
            top = np.nanmin(curve.value) if k == 2 else np.nanmax(curve.value)
            same = np.isclose(curve.value, top, 1e-13, 1e-13)
            first = int(np.argmax(same))
            np.testing.assert_allclose(best.value[row], top, 1e-6)
            np.testing.assert_allclose(best.threshold[row], curve.threshold[first], 1e-6)
            assert best.quota[row] == curve.quota[first]
            assert best.optima[row].sum() == compact(curve.quota, same)[0].sum()


def test_measures_with_options_are_taken():
    """As `with_options` and `functools.partial` give them; later options go before theirs."""
    y, s = [1, 0, 1, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    costs = {"cost_fp": 1, "cost_fn": 3}
    wanted = qk.best_cut(qk.expected_cost, y, s, **costs)
    for measure in (
        qk.expected_cost.with_options(**costs),
        functools.partial(qk.expected_cost.with_options(cost_fp=1), cost_fn=3),
    ):
        assert qk.best_cut(measure, y, s).value == wanted.value
        assert qk.best_cut(measure, y, s).threshold == wanted.threshold
        again = qk.tables.table_curve(measure, y, s, cost_fn=7).value
        np.testing.assert_array_equal(
            again, qk.tables.table_curve(qk.expected_cost, y, s, cost_fp=1, cost_fn=7).value
        )


def test_all_optima_are_found():
    best = qk.best_cut(qk.informedness, [1, 0, 1, 0], [4, 3, 2, 1])
    np.testing.assert_array_equal(best.optima, [False, True, False, True, False])
    assert (best.value, best.threshold, best.quota) == (0.5, 4, 1)
    random = np.random.default_rng(2)
    for _ in range(50):
        labels, scores = random.integers(0, 2, 30), random.integers(0, 12, 30)
        best = qk.best_cut(qk.matthews_corrcoef, labels, scores)
        groups = ex.groups(labels.tolist(), scores.tolist())
        exact = ex.confusion.best_cut(groups, ex.confusion.matthews_signed_square)
        np.testing.assert_array_equal(best.optima, exact.optima)


def test_no_optimum():
    best = qk.best_cut(qk.informedness, [1, 1], [0.2, 0.1])
    assert np.isnan([best.value, best.threshold, best.quota]).all()
    assert not best.optima.any()


def test_every_unit_and_no_unit():
    y, s = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]

    def optima(best: Any) -> list[bool]:
        (found,) = compact(quota, best.optima)
        assert found.sum() == best.optima.sum()
        return found.tolist()

    quota = qk.qrecall_curve(y, s).quota
    for k in range(-60, 61):
        unit = 2.0**k
        best = qk.best_boundary(y, s, impacts=(5 * unit, -4 * unit, 0, 0))
        assert (best.value, best.quota) == (2.2 * unit, 4)
        assert optima(best) == [False, False, False, True, False]
        even = qk.best_boundary(y, s, impacts=(0.1 * unit, -0.3 * unit, 0, 0))
        assert optima(even) == [False, True, False, False, False]
        cheap = {"cost_fp": 0.1 * unit, "cost_fn": 0.05 * unit}
        found = qk.best_cut(qk.expected_cost, y, s, **cheap)
        assert optima(found) == [False, True, False, True, False]
    free = qk.best_cut(qk.expected_cost, y, s, cost_fp=0, cost_fn=0)
    assert all(optima(free))


def test_measures_of_ones_own():
    """As those of the library that compute the same, also with numbers and in other directions."""
    y, s = [1, 0, 1, 1, 0, 0, 1], [0.9, 0.8, 0.8, 0.6, 0.5, 0.2, 0.1]

    def weighed(table: qk.tables.ConfusionTable, *, beta: Any) -> Any:
        square = beta * beta
        found = (1 + square) * table.tp
        return found / (found + square * table.fn + table.fp)

    known = qk.best_cut(qk.f_score, y, s, beta=2)
    own = qk.best_cut(weighed, y, s, beta=2, greater_is_better=True)
    assert (own.threshold, own.quota) == (known.threshold, known.quota)
    fixed = functools.partial(weighed, beta=2)
    curve = qk.tables.table_curve(fixed, qk.rank(y, s))
    np.testing.assert_allclose(curve.value, qk.tables.table_curve(qk.f_score, y, s, beta=2).value)
    wrong = qk.best_cut(lambda table: table.fp + table.fn, y, s, greater_is_better=False)
    assert wrong.threshold == qk.best_cut(qk.accuracy, y, s).threshold
