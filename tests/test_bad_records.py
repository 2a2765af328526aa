"""Named tuples of this library in the place of a column: refused, and not read as a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import quotakernels as qk

Y, S = [0, 1, 1], [1.0, 2.0, 3.0]
RANKING = qk.rank(Y, S)
TABLE = qk.tables.ConfusionTable(1.0, 2.0, 3.0, 4.0)

CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "y_score": [
        lambda x: qk.rank(Y, x),
        lambda x: qk.roc_auc(Y, x),
        lambda x: qk.select(x, quota=1),
        lambda x: qk.quota_threshold(x, quota=1),
        lambda x: qk.best_quota(None, x, gain=[1, 2]),
        lambda x: qk.one_vs_rest(qk.roc_auc, Y, x),
        lambda x: qk.best_boundary(Y, x, impacts=(1, 0, 0, 0)),
    ],
    "y_true": [lambda x: qk.rank(x, S), lambda x: qk.tables.confusion_table_from_predictions(x, Y)],
    "y_pred": [lambda x: qk.tables.confusion_table_from_predictions(Y, x)],
    "sample_weight": [
        lambda x: qk.roc_auc(Y, S, sample_weight=x),
        lambda x: qk.select(S, quota=1, sample_weight=x),
    ],
    "where": [lambda x: qk.roc_auc(Y, S, where=x)],
    "gain": [lambda x: qk.best_quota(None, S, gain=x)],
    "gain_rejected": [lambda x: qk.best_quota(None, S, gain=S, gain_rejected=x)],
    "quota": [
        lambda x: qk.hit_rate(Y, S, quota=x),
        lambda x: qk.quota_threshold(S, quota=x),
    ],
    "fraction": [lambda x: qk.hit_rate(RANKING, fraction=x)],
    "threshold": [lambda x: qk.confusion_table(Y, S, threshold=x)],
    "thresholds": [
        lambda x: RANKING.at_thresholds(x),
        lambda x: qk.Ranking.from_points(S, S, thresholds=x),
    ],
    "counts": [lambda x: qk.Ranking.from_counts(S, x, [1, 1, 1])],
    "fp": [
        lambda x: qk.Ranking.from_points(x, S),
        lambda x: qk.charts.chart_points(x, S, positives=3, negatives=9, kind="roc"),
    ],
    "cost_fp": [
        lambda x: qk.charts.iso_performance_slope(x, 1, 0.5),
        lambda x: qk.best_operating_point(RANKING, cost_fp=x, cost_fn=1),
        lambda x: qk.expected_cost(TABLE, cost_fp=x, cost_fn=1),
    ],
    "beta": [lambda x: qk.f_score(TABLE, beta=x)],
    "i_tp": [lambda x: qk.tables.impact(TABLE, impacts=(x, 1, 1, 1))],
    "impacts": [lambda x: qk.tables.impact(qk.tables.ClassTable([[1, 2], [3, 4]]), impacts=x)],
    "ratio": [lambda x: qk.tables.tune_ratio(TABLE, x)],
    "fn": [lambda x: qk.accuracy(qk.tables.ConfusionTable(1, 2, x, 4))],
    "cells": [lambda x: qk.accuracy(qk.tables.ClassTable(x))],
    "classes": [lambda x: qk.one_vs_rest(qk.roc_auc, Y, [[1.0] * 4] * 3, classes=x)],
}
EACH = [(name, k) for name, calls in CALLS.items() for k in range(len(calls))]


@pytest.mark.parametrize(("name", "which"), EACH)
def test_named_tuples_are_no_columns(name: str, which: int):
    call = CALLS[name][which]
    with pytest.raises(TypeError, match=rf"^{name} must be an array; got a Ranking: .* scores"):
        call(RANKING)
    with pytest.raises(TypeError, match=rf"^{name} .*must be an array.*; got a? ?ConfusionT"):
        call(TABLE)


def test_other_tuples_still_are():
    assert qk.roc_auc((0, 1), (1.0, 2.0)) == 1
    assert qk.hit_rate(Y, S, quota=(1, 2)).shape == (2,)
    assert qk.tables.impact(TABLE, impacts=qk.tables.ConfusionTable(1, 0, 0, 0)).whole == 0.1
