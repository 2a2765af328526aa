"""Calls of measures of tables that cannot be answered, and cells that are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.tables import ClassTable, ConfusionTable


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
        (lambda: qk.tables.mutual_information(table, base=1), ValueError, "^base is 1"),
        (
            lambda: qk.tables.base_ratio(table, impacts=(1, 2, 3)),
            TypeError,
            "^impacts must be four",
        ),
        (
            lambda: qk.tables.base_ratio(table, impacts=(1, 2, 3, math.inf)),
            ValueError,
            "^i_tn is inf",
        ),
        (lambda: qk.confusion_table([0, 1], [1, 2], threshold="a"), TypeError, "^threshold must"),
        (lambda: qk.confusion_table([0, 1], [1, 2], quota=3), ValueError, "^quota is 3"),
        (lambda: qk.confusion_table([0, 1], [1, 2], quota=1, inclusive=False), TypeError, "^incl"),
        (lambda: qk.confusion_table([0, 1], [1, 2], threshold=1, inclusive=1), TypeError, "^incl"),
        (lambda: qk.best_cut(qk.roc_auc, [0, 1], [1, 2]), TypeError, "^best_cut needs"),
        (
            lambda: qk.best_cut(qk.tables.bias, [0, 1], [1, 2]),
            TypeError,
            "^bias does not say whether",
        ),
        (lambda: qk.tables.table_curve([1, 2], [0, 1]), TypeError, "^table_curve needs"),
        (
            lambda: qk.best_cut(qk.recall, [0, 1], [1, 2], greater_is_better=0),
            TypeError,
            "^greater_is_better",
        ),
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
