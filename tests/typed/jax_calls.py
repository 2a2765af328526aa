"""Typical right and wrong calls with arrays of JAX, for type checkers; never run.

A wrong call is marked.  A checker must report each marked line and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels import inference, results, tables

if TYPE_CHECKING:
    from jax import Array


def calls(y: Array, s: Array, host: NDArray[np.float32]) -> None:
    ranking = qk.rank(y, s)
    assert_type(ranking, qk.Ranking[Array])
    assert_type(qk.roc_auc(y, s), Array)
    assert_type(qk.roc_auc(host, s), Array)
    assert_type(qk.roc_auc([1, 0, 1], s), Array)
    assert_type(qk.roc_auc(y, s, sample_weight=[1.0, 2.0, 0.5]), Array)
    assert_type(qk.roc_auc(ranking), Array)
    assert_type(qk.pr_auc(y, s, method="trapezoid"), Array)
    assert_type(qk.hit_rate(y, s, quota=3), Array)
    assert_type(qk.hit_rate(y, s, fraction=s), Array)
    assert_type(qk.hit_rate(ranking, quota=[1, 2]), Array)
    assert_type(qk.f_score(y, s, beta=2, threshold=0.5), Array)
    table = qk.confusion_table(y, s, quota=5)
    assert_type(table, tables.ConfusionTable[Array])
    assert_type(qk.precision(table), Array)
    assert_type(qk.recall(ranking, fraction=0.1), Array)
    assert_type(qk.roc_curve(y, s), results.RocCurve[Array])
    assert_type(qk.roc_curve(ranking).fpr, Array)
    assert_type(qk.select(s, quota=3), Array)
    assert_type(qk.quota_threshold(s, quota=3), results.QuotaThreshold[Array])
    assert_type(inference.hit_rate_interval(y, s, quota=3).lower, Array)
    qk.roc_auc(y, s, quta=3)  # wrong
    qk.hit_rate(y, s)  # wrong
    qk.hit_rate(y, s, quota=3, fraction=0.1)  # wrong
    qk.f_score(table, bta=2)  # wrong
    qk.roc_curve(y, s).x  # wrong
