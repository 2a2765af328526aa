"""Costs and prevalences that are no numbers, or bad ones."""

from __future__ import annotations

import math
from typing import Any

import everything as every
import numpy as np
import pytest
from backends import LAZY, available, parameters
from test_costs import S, Y

import quotakernels as qk

EAGER = parameters(every.EAGER)
LAZY_MODES = parameters(LAZY)


BAD = [
    ("cost_fp", -1, r"cost_fp is -1(\.0)?; expected a finite cost, not negative"),
    ("cost_fn", -1e-300, r"cost_fn is -1e-300; expected a finite cost"),
    ("cost_fp", math.nan, r"cost_fp is nan; expected a finite cost"),
    ("cost_fn", math.inf, r"cost_fn is inf; expected a finite cost"),
    ("cost_fn", [1, 2, -3.0, -4], r"cost_fn is -3\.0 at position 2; expected a finite cost"),
    ("prevalence", -0.1, r"prevalence is -0\.1; expected a share, from 0 to 1"),
    ("prevalence", 1.5, r"prevalence is 1\.5; expected a share"),
    ("prevalence", math.nan, r"prevalence is nan; expected a share"),
    ("prevalence", [[0.5], [20.0]], r"prevalence is 20\.0 at position \(1, 0\); expected a share"),
]
GOOD = {"cost_fp": 1.0, "cost_fn": 2.0, "prevalence": 0.5}


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_costs(name: str, value: Any, message: str):
    given = GOOD | {name: value}
    with pytest.raises(ValueError, match=f"^{message}"):
        qk.best_operating_point(Y, S, **given)
    with pytest.raises(ValueError, match=f"^{message}"):
        qk.charts.iso_performance_slope(**given)


@pytest.mark.parametrize("mode", EAGER)
def test_bad_costs_of_every_library(mode):
    with mode.context():
        y, s = mode.array(Y), mode.array(S)
        for name, bad in (("cost_fp", -3.0), ("cost_fn", np.nan), ("prevalence", 1.25)):
            given = GOOD | {name: mode.array(np.asarray([0.5, bad]))}
            message = rf"^{name} is {bad} at position 1; expected a "
            with pytest.raises(ValueError, match=message):
                qk.best_operating_point(y, s, **given)
            with pytest.raises(ValueError, match=message):
                qk.charts.iso_performance_slope(**given)


@pytest.mark.long_program
@pytest.mark.parametrize("mode", LAZY_MODES)
def test_bad_costs_are_nan_where_they_cannot_be_read(mode):
    bad = np.asarray([1.0, -1.0, np.nan, np.inf, 1.0, 1.0, 1.0, 1.0])
    shares = np.asarray([0.5, 0.5, 0.5, 0.5, -0.5, 1.5, np.nan, 0.25])
    wrong = np.asarray([0, 1, 1, 1, 1, 1, 1, 0], dtype=bool)

    def run(y: Any, s: Any, c: Any, p: Any) -> Any:
        first = qk.best_operating_point(y, s, cost_fp=c, cost_fn=1, prevalence=p)
        second = qk.best_operating_point(y, s, cost_fp=1, cost_fn=c, prevalence=p)
        return (
            first,
            second,
            qk.charts.iso_performance_slope(c, 1, p),
            qk.charts.iso_performance_slope(1, c, p),
        )

    first, second, *slopes = mode.run(run, Y, S, bad, shares)
    for values in (*first[1:], *second[1:], *slopes):
        np.testing.assert_array_equal(np.isnan(values), wrong)
    np.testing.assert_array_equal(slopes[0][[0, 7]], [1, 3])


NOT_NUMBERS = ["10", "5%", True, 1j, b"1", np.True_, [True], ["1"], {"a": 1}]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", GOOD)
def test_what_is_no_cost(name: str, value: Any):
    message = rf"^{name} must be a number or an array of numbers; got "
    with pytest.raises(TypeError, match=message):
        qk.best_operating_point(Y, S, **(GOOD | {name: value}))
    with pytest.raises(TypeError, match=message):
        qk.charts.iso_performance_slope(**(GOOD | {name: value}))


def test_what_is_missing():
    for name in ("cost_fp", "cost_fn"):
        given = {key: x for key, x in GOOD.items() if key != name}
        with pytest.raises(TypeError, match=rf"^best_operating_point needs {name}"):
            qk.best_operating_point(Y, S, **given)
        with pytest.raises(TypeError, match=rf"^{name} must be an array; got None"):
            qk.best_operating_point(Y, S, **given, **{name: None})
    for missing in ([1, None], np.ma.array([1, 2], mask=[0, 1])):
        with pytest.raises(ValueError, match=r"^cost_fn has missing values"):
            qk.best_operating_point(Y, S, cost_fp=1, cost_fn=missing)


def test_shapes_that_do_not_fit():
    message = r"^cost_fp, cost_fn must fit together; got the shapes \(2,\), \(3,\)$"
    with pytest.raises(ValueError, match=message):
        qk.best_operating_point(Y, S, cost_fp=[1, 2], cost_fn=[1, 2, 3], prevalence=0.5)
    two, three, rates = [0.5, 0.25], [0.5, 0.25, 1], {"fpr": 0.5, "prevalence": 0.25}
    sizes: dict[str, Any] = {"positives": 4, "negatives": 4}
    cost = {"of": "cost", "kind": "roc", "cost_fp": 1, "cost_fn": 1}
    calls: dict[str, Any] = {
        "cost_fp, prevalence": lambda: qk.charts.iso_performance_slope(two, 1, three),
        "fpr, tpr": lambda: qk.roc_to_pr(two, three, **sizes),
        "recall, precision": lambda: qk.pr_to_roc(two, three, **sizes),
        "n, tpr": lambda: qk.tables.confusion_table_from_rates(tpr=two, n=three, **rates),
        "positives, recall": lambda: qk.interpolate_pr((0, 1), (1, 2), positives=two, recall=three),
        "fp, tp": lambda: qk.charts.chart_points(two, three, kind="roc", **sizes),
        "positives, level": lambda: qk.charts.iso_line(three, positives=two, negatives=4, **cost),
    }
    for names, call in calls.items():
        with pytest.raises(ValueError, match=rf"^{names} must fit together; got the shapes "):
            call()


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_costs_of_another_library():
    import torch

    with pytest.raises(TypeError, match=r"^cost_fp is an array of torch and the scores are of num"):
        qk.best_operating_point(Y, S, cost_fp=torch.ones(2), cost_fn=1)
