"""Typical right and wrong calls with arrays of PyTorch, for type checkers; never run.

A wrong call is marked.  A checker must report each marked line and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import quotakernels as qk
from quotakernels import inference, results, tables

if TYPE_CHECKING:
    from torch import Tensor


def calls(y: Tensor, s: Tensor) -> None:
    ranking = qk.rank(y, s)
    assert_type(ranking, qk.Ranking[Tensor])
    assert_type(qk.roc_auc(y, s), Tensor)
    assert_type(qk.roc_auc([1, 0, 1], s), Tensor)
    assert_type(qk.roc_auc(y, s, sample_weight=[1.0, 2.0, 0.5]), Tensor)
    assert_type(qk.roc_auc(ranking), Tensor)
    assert_type(qk.pr_auc(y, s, method="trapezoid"), Tensor)
    assert_type(qk.hit_rate(y, s, quota=3), Tensor)
    assert_type(qk.hit_rate(y, s, fraction=s), Tensor)
    assert_type(qk.hit_rate(ranking, quota=[1, 2]), Tensor)
    assert_type(qk.f_score(y, s, beta=2, threshold=0.5), Tensor)
    table = qk.confusion_table(y, s, quota=5)
    assert_type(table, tables.ConfusionTable[Tensor])
    assert_type(qk.precision(table), Tensor)
    assert_type(qk.recall(ranking, fraction=0.1), Tensor)
    assert_type(qk.roc_curve(y, s), results.RocCurve[Tensor])
    assert_type(qk.roc_curve(ranking).fpr, Tensor)
    assert_type(qk.select(s, quota=3), Tensor)
    assert_type(qk.quota_threshold(s, quota=3), results.QuotaThreshold[Tensor])
    assert_type(inference.hit_rate_interval(y, s, quota=3).lower, Tensor)
    qk.roc_auc(y, s, quta=3)  # wrong
    qk.hit_rate(y, s)  # wrong
    qk.hit_rate(y, s, quota=3, fraction=0.1)  # wrong
    qk.f_score(table, bta=2)  # wrong
    qk.roc_curve(y, s).x  # wrong
