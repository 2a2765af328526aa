"""Typical right and wrong calls with lists and arrays of NumPy, for type checkers; never run.

A wrong call is marked.  A checker must report each marked line and no other.
"""

from __future__ import annotations

import functools
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels import charts, inference, results, retrieval, tables

Floats = NDArray[np.float64]


def numbers(y: NDArray[np.int64], s: NDArray[np.float32], w: Floats) -> None:
    ranking = qk.rank(y, s, sample_weight=w, ties="optimistic")
    assert_type(ranking, qk.Ranking[Floats])
    assert_type(qk.rank([1, 0], [0.5, 0.2]), qk.Ranking[Floats])
    assert_type(qk.roc_auc(y, s), Floats)
    assert_type(qk.roc_auc([1, 0, 1], [0.9, 0.8, 0.7]), Floats)
    assert_type(qk.roc_auc(ranking), Floats)
    assert_type(qk.pem(y_true=y, y_score=s, validate=False), Floats)
    assert_type(qk.average_qrecall(y, s, start="P+1"), Floats)
    assert_type(qk.pr_auc(y, s, method="trapezoid", sample_weight=w), Floats)
    assert_type(qk.h_measure(ranking, cost_distribution=(2.0, 2.0)), Floats)
    print(float(qk.gini(y, s)) + 1, qk.roc_auc(y, s).round(3), f"{charts.auk(y, s):.3f}")
    qk.roc_auc(y, s, quta=3)  # wrong
    qk.roc_auc(y)  # wrong
    qk.roc_auc(y, s, w)  # wrong
    qk.roc_auc(y, "score")  # wrong
    qk.roc_auc(ranking, sample_weight=w)  # wrong
    qk.roc_auc(y, s, ties="best")  # wrong
    qk.roc_auc(y, s, validate="no")  # wrong
    qk.pr_auc(y, s, mehtod="exact")  # wrong
    qk.pr_auc(y, s, method="exat")  # wrong
    qk.average_qrecall(y, s, start=3)  # wrong
    qk.roc_curve(y, s, groups=y)  # wrong
    qk.rank(y)  # wrong
    qk.rank(3, 0.5)  # wrong
    ranking.labels  # wrong
    qk.roc_auc.greater  # wrong


def at_a_quota(y: NDArray[np.bool_], s: Floats, ranking: qk.Ranking[Floats]) -> None:
    assert_type(qk.hit_rate(y, s, quota=3), Floats)
    assert_type(qk.hit_rate(y, s, quota=[1, 2, 3]), Floats)
    assert_type(qk.qrecall(y, s, fraction=0.05, where=y), Floats)
    assert_type(qk.lift(ranking, fraction=0.05), Floats)
    at_quota = qk.rank_at_quota(y, s, quota=3)
    assert_type(at_quota, results.RankingAtQuota[Floats])
    assert_type(qk.hit_rate(at_quota), Floats)
    assert_type(qk.f_score(at_quota, beta=2), Floats)
    assert_type(qk.confusion_table(at_quota), tables.ConfusionTable[Floats])
    qk.hit_rate(at_quota, quota=3)  # wrong
    qk.roc_auc(at_quota)  # wrong
    qk.pearson(at_quota, quota=3)  # wrong
    assert_type(qk.pearson(y, s, quota=3, labels="observed"), Floats)
    assert_type(retrieval.success(y, s, quota=[1, 3], when_short="all"), Floats)
    assert_type(retrieval.reciprocal_rank(ranking), Floats)
    assert_type(retrieval.ndcg(None, s, gain=s, fraction=0.5), Floats)
    assert_type(qk.expected_average_precision(ranking, quota=3), Floats)
    retrieval.dcg(s, quota=3)  # wrong
    retrieval.success(y, s, gain=s)  # wrong
    assert_type(qk.hit_rate(y, s, cost=s, budget=3.5), Floats)
    assert_type(qk.qrecall(ranking, budget=[1.5, 3]), Floats)
    assert_type(qk.rank(y, s, cost=s), qk.Ranking[Floats])
    qk.hit_rate(y, s, budget=3)  # wrong
    qk.hit_rate(y, s, cost=s, budget=3, quota=2)  # wrong
    qk.hit_rate(ranking, cost=s, budget=3)  # wrong
    qk.roc_auc(y, s, cost=s)  # wrong
    qk.hit_rate(y, s)  # wrong
    qk.hit_rate(ranking)  # wrong
    qk.hit_rate(y, s, 3)  # wrong
    qk.hit_rate(y, s, quota="5%")  # wrong
    qk.hit_rate(y, s, quta=3)  # wrong
    qk.hit_rate(y, s, quota=3, fraction=0.1)  # wrong
    qk.qrecall(y, s, fraction=None)  # wrong
    qk.hit_rate(y, s, quota=3, threshold=0.5)  # wrong
    qk.pearson(y, s, quota=3, labels="obs")  # wrong
    assert_type(qk.quota_threshold(s, quota=5).threshold, Floats | Any)
    chosen = qk.select(s, fraction=0.2, where=y)
    assert_type(chosen, Floats)
    print(chosen.sum(), s[chosen > 0.5])
    assert_type(qk.select(s, cost=s, budget=3), Floats)
    qk.select(s, budget=3)  # wrong
    qk.select(s)  # wrong
    qk.select(y, s, quota=3)  # wrong


def of_tables(y: NDArray[np.int64], s: Floats, ranking: qk.Ranking[Floats]) -> None:
    table = qk.confusion_table(y, s, quota=5)
    assert_type(table, tables.ConfusionTable[Floats])
    assert_type(qk.precision(table), Floats)
    assert_type(qk.precision(tables.ConfusionTable(tp=3, fp=1, fn=2, tn=4)), Floats)
    assert_type(qk.recall(y, s, threshold=0.5, inclusive=False), Floats)
    assert_type(qk.f_score(table, beta=[1, 2]), Floats)
    assert_type(qk.f_score(ranking, fraction=0.1), Floats)
    assert_type(qk.expected_cost(table, cost_fp=1, cost_fn=5), Floats)
    assert_type(tables.mutual_information(table, base=2), Floats)
    assert_type(tables.confusion_table_from_predictions(y, y).tp, Floats)
    assert_type(tables.confusion_table_from_predictions(y, y, num_classes=3).cells, Floats)
    assert_type(tables.impact(y, s, quota=3, impacts=(2, -1, -1, 0)), results.Impact)
    tables.impact(table, impacts=(2, -1, -1, 0)).total  # wrong
    tables.impact(table)  # wrong
    qk.f_score(table, bta=2)  # wrong
    qk.f_score(table, beta="2")  # wrong
    qk.f_score(y, s)  # wrong
    qk.f_score(y, s, threshold=0.5, quota=3)  # wrong
    qk.f_score(table, quota=3)  # wrong
    qk.precision(table, beta=2)  # wrong
    qk.precision(ranking)  # wrong
    qk.recall(y, s, quota=3, inclusive=False)  # wrong
    qk.expected_cost(table)  # wrong
    tables.ConfusionTable(tp=3, fp=1, fn=2)  # wrong
    table.true_positives  # wrong


def curves(y: NDArray[np.int64], s: Floats, ranking: qk.Ranking[Floats]) -> None:
    roc = qk.roc_curve(y, s)
    assert_type(roc, results.RocCurve[Floats])
    assert_type(roc.fpr, Floats)
    assert_type(qk.pr_curve(ranking, start="horizontal").precision, Floats)
    assert_type(qk.lift_table(y, s, bins=20).hit_rate, Floats)
    assert_type(qk.summary(y, s).average_hit_rate, Floats)
    assert_type(qk.roc_hull(ranking).slope_min, Floats)
    assert_type(charts.powers_chart(y, s, kind="pn").x, Floats)
    assert_type(results.RocPoints([0.1], [0.2]), results.RocPoints[list[float]])
    print(y[roc.fp], roc.threshold.max())
    roc.fprs  # wrong
    qk.roc_curve(y, s, drop_intermediate=True)  # wrong
    qk.lift_table(y, s, bin=20)  # wrong
    qk.lift_table(y, s, bins="ten")  # wrong
    charts.powers_chart(y, s)  # wrong
    charts.powers_chart(y, s, kind="circle")  # wrong


def handed_on(y: NDArray[np.int64], s: Floats) -> None:
    best = qk.hit_rate.with_options(quota=2)
    print(best.__name__, best(y, s), qk.hit_rate.greater_is_better)
    found = qk.bootstrap(qk.hit_rate, y, s, quota=3)
    assert_type(found, results.BootstrapResult)
    print(found.lower, found.standard_error)
    print(qk.bootstrap(functools.partial(qk.hit_rate, quota=3), y, s).lower)
    print(qk.bootstrap({"auc": qk.roc_auc}, y, s)["auc"].lower, qk.bootstrap(qk.summary, y, s).pem)
    assert_type(qk.compare(qk.roc_auc, y, {"a": s, "b": s}), results.Comparison)
    assert_type(inference.fold_summary(qk.pr_auc, y, s, y), results.FoldSummary)
    every = qk.bootstrap(qk.summary, y, s)
    assert_type(every, results.Summary[results.BootstrapResult])
    assert_type(qk.bootstrap(qk.roc_curve, y, s).fpr, results.BootstrapResult)
    print(qk.bootstrap(qk.impact_at_quota, y, s, gain=s, quota=3).net.lower)
    print(qk.bootstrap(functools.partial(qk.hit_rate, budget=3), y, s, cost=s).lower)
    assert_type(inference.fold_summary(qk.qrecall, y, s, y, cost=s, budget=3), results.FoldSummary)
    print(qk.compare(qk.f_score, y, {"a": s, "b": s}, beta=2, threshold=0.5).names)
    every.auc  # wrong
    qk.compare(qk.f_score, y, {"a": s, "b": s}, bta=2, threshold=0.5)  # wrong
    qk.compare(qk.hit_rate, y, {"a": s, "b": s}, quota="5%")  # wrong
    qk.bootstrap(qk.hit_rate, y, s, quota=3, n_resample=20)  # wrong
    mean = qk.group_mean(qk.hit_rate, quota=3, weights="examples")
    assert_type(mean(qk.rank(y, s, groups=y)), results.GroupMean[Floats])
    assert_type(qk.group_mean(qk.roc_auc, y, s, groups=y), results.GroupMean[Floats])
    assert_type(qk.group_mean(qk.roc_auc, qk.rank(y, s)), results.GroupMean[Floats])
    assert_type(qk.bootstrap(mean, y, s, groups=y), results.GroupMean[results.BootstrapResult])
    assert_type(qk.bootstrap(qk.roc_auc, y, s, groups=y), results.BootstrapResult)
    assert_type(qk.compare(mean, y, {"a": s, "b": s}, groups=y), results.Comparison)
    print(inference.fold_summary(mean, y, s, y, groups=y).value)
    assert_type(qk.groups.selection_by_group(y, s, groups=y, quota=3).qrecall, Floats)
    apart = qk.bootstrap(qk.groups.selection_by_group, y, s, groups=y, quota=3)
    print(apart.equal_opportunity_difference.lower)
    qk.groups.selection_by_group(y, s, groups=y)  # wrong
    qk.groups.selection_by_group(y, s, groups=y, quota=3).recall  # wrong
    qk.group_mean(qk.roc_auc, y)  # wrong
    qk.group_mean(qk.roc_auc, y, s, groups=y, weights="users")  # wrong
    qk.bootstrap(functools.partial(qk.hit_rate, quota=3), y, s, confidence=0.9)  # wrong
    inference.fold_summary(qk.hit_rate, y, s, y, fractoin=0.1)  # wrong
    inference.fold_test(qk.roc_auc, y, {"a": s, "b": s}, y, maximise=True)  # wrong
    found.low  # wrong
    qk.compare(qk.roc_auc, y, {"a": s, "b": s}).best  # wrong
    qk.bootstrap(qk.roc_auc, y)  # wrong
    qk.bootstrap("roc_auc", y, s)  # wrong
    interval = inference.hit_rate_interval(y, s, quota=3, method="exact")
    assert_type(interval.lower, Floats)
    interval.lowest  # wrong
    inference.hit_rate_interval(y, s)  # wrong
    inference.hit_rate_interval(y, s, quota=3, method="exct")  # wrong
    qk.hit_rates(y, s)  # wrong
    qk.hit_rate.with_option(quota=2)  # wrong


def of_cuts(y: NDArray[np.int64], s: Floats, ranking: qk.Ranking[Floats]) -> None:
    assert_type(qk.best_cut(qk.f_score, y, s, beta=2), results.BestCut[Floats])
    assert_type(qk.best_cut(qk.f_score.with_options(beta=2), ranking).value, Floats)
    assert_type(tables.table_curve(qk.accuracy, ranking).value, Floats)
    tables.table_curve(lambda table: table.tp - table.fp, ranking)
    qk.best_cut(y, s, qk.f_score)  # wrong
    qk.best_cut(qk.roc_auc, y, s)  # wrong
    qk.best_cut(qk.f_score, y, s, greater_is_better="yes")  # wrong
    qk.best_cut(qk.f_score, y, s, bta=2)  # wrong
    tables.table_curve(qk.f_score, y, s, quota=3)  # wrong
    best = qk.best_boundary(ranking, impacts=(2, -1, 0, 0))
    assert_type(best, results.BestBoundary[Floats])
    assert_type(qk.best_boundary(y, s, impacts=(2, -1, 0, 0), kind="outcome").quota, Floats)
    print(qk.compare(qk.best_boundary, y, {"a": s, "b": s}, impacts=(2, -1, 0, 0)).letters)
    qk.best_boundary(ranking, impacts=(2, -1, 0, 0), ratio=2.1)
    qk.best_boundary(y, s)  # wrong
    qk.best_boundary(y, s, impacts=3)  # wrong
    qk.best_boundary(ranking, impacts=(2, -1, 0, 0), kind="outcomes")  # wrong
    tables.table_curve(qk.accuracy, y)  # wrong


def of_gains(y: NDArray[np.int64], s: Floats, gain: Floats) -> None:
    ranking = qk.rank(y, s, gain=gain)
    assert_type(qk.impact_at_quota(ranking, quota=3), results.QuotaImpact[Floats])
    print(qk.impact_at_quota(None, s, gain=gain, fraction=0.1).net)
    assert_type(qk.best_quota(y, s, gain=gain).quota, Floats)
    qk.impact_at_quota(y, s, gain=gain)  # wrong
    qk.best_quota(y, s, gain=gain).net  # wrong


def of_evaluations(y: NDArray[np.int64], s: Floats) -> None:
    found = qk.evaluate(y, {"a": s}, quota=[2, 3], impacts=(1, -1, 0, 0), confidence_level=0.9)
    assert_type(found, results.Evaluation)
    assert_type(found.to_json(), str)
    assert_type(found.over_all.of("roc_auc"), Floats)
    print(found.recommendation, found.answers[0].verdict, found.models, found.settings.quotas)
    found.plot("precision_recall")
    found.recomendation  # wrong
    found.over_all.roc_auc  # wrong
    found.plot("rocs")  # wrong
    found.to_frame("arrow")  # wrong
    qk.evaluate(y, {"a": s}, quta=3)  # wrong
    qk.evaluate(y, {"a": s}, compare="yes")  # wrong


def of_anything(y: Any, s: Any, ranking: qk.Ranking) -> None:
    qk.roc_auc(y, s)
    qk.hit_rate(y, s, quota=y)
    qk.hit_rate(ranking, quota=y)
    qk.f_score(y, s, quota=3)
    print(qk.roc_curve(ranking).tpr + 1)
