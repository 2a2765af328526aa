"""No public function reads a value where it cannot: on fake and meta tensors, in any trace."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, available, parameters
from capabilities import WITHOUT, Watch, functions
from copies import host_copies
from exact.counterparts import DECISIONS
from public_names import MEASURES, OF_MEASURES, PUBLIC
from table_formulas import PLAIN

import quotakernels as qk

Y = np.asarray([[1, 0, 1, 1, 0], [0, 1, 0, 0, 1]])
S = np.asarray([[0.9, 0.5, 0.5, 0.2, 0.1], [0.3, 0.3, 0.1, 0.7, 0.6]])
W = np.asarray([[1.0, 2, 0, 3, 1], [1, 1, 1, 0.5, 0.5]])
M = np.asarray([[True, True, True, False, True], [True] * 5])
COUNTS = np.asarray([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
C = np.asarray([[2, 0, 1, 1, 0], [0, 1, 2, 2, 1]])
SC = np.stack([S, S[::-1], S[:, ::-1]], axis=-1)
COSTS = np.asarray([[0.5, 1], [2, 3]])
POLICIES = ("expected", "optimistic", "pessimistic", "given")


def weighted(y: Any, s: Any, w: Any, m: Any) -> dict[str, Any]:
    return every.everything(y, s, w, m)


def policies(y: Any, s: Any) -> dict[str, Any]:
    tables = {name: qk.rank(y, s, ties=name, pos_label=1) for name in POLICIES}
    near = POLICIES[:3]
    tables |= {f"{x} at 2": qk.rank_at_quota(y, s, quota=2, ties=x) for x in near}
    tables["summed"] = qk.rank_at_quota(y, y, fraction=0.5, across=lambda x: 3 * x)
    return flat(**tables)


def tables(t: Any, c: Any, p: Any, w: Any) -> dict[str, Any]:
    by_count = qk.Ranking.from_counts(t, c, p)
    gains = {"positive_gains": w * 0, "negative_gains": w}
    by_mass = qk.Ranking.from_counts(t, c, p * 0, weights=w, positive_weights=w * 0, **gains)
    best = qk.best_quota(by_mass).value
    return {"auc": qk.roc_auc(by_count), "gini": qk.gini(by_mass), "best": best}


def classes(y: Any, s: Any) -> dict[str, Any]:
    averages = {str(x): qk.one_vs_rest(qk.roc_auc, y, s, average=x) for x in ("macro", None)}
    averages["of a label"] = qk.one_vs_rest(qk.lift, y, s, fraction=0.5, classes=[0, 2, 1])
    pooled = qk.one_vs_rest(qk.hit_rate, y, s, quota=7, average="micro")
    marks = qk.one_vs_rest(qk.normalized_marks, y, s, average="weighted")
    results = {**averages, "pooled": pooled, **marks._asdict()}
    return {f"{k}.{field}": x for k, part in results.items() for field, x in part._asdict().items()}


def comparisons(y: Any, s: Any) -> dict[str, Any]:
    a, b = qk.rank(y, s), qk.rank(y, -s, ties="optimistic")
    found = {space: qk.dominates(a, b, space=space) for space in ("roc", "pr")}
    for axis in ("quota", "fpr", "recall"):
        found |= every.record(axis, qk.compare_curves({"a": a, "b": b}, axis=axis))
    return found


def costs(y: Any, s: Any, c: Any) -> dict[str, Any]:
    best = qk.best_operating_point(y, s, cost_fp=[1, 2], cost_fn=1.5, prevalence=0.25)
    h = qk.h_measure(y, s)
    profit = flat(churn=qk.decisions.emp_churn(y, s), credit=qk.decisions.emp_credit(y, s))
    given = {"probability_cost": [0.25, 0.5]}
    profit |= flat(
        cost=qk.decisions.cost_curve(y, s, **given), brier=qk.decisions.brier_curve(y, s)
    )
    return best._asdict() | profit | {"h": h, "slope": qk.charts.iso_performance_slope(c, 1, c / 8)}


def flat(**results: Any) -> dict[str, Any]:
    return {k: x for name, result in results.items() for k, x in every.record(name, result).items()}


def curves(y: Any, s: Any, w: Any) -> dict[str, Any]:
    """Curves and hulls, of counts and of masses."""
    found: dict[str, Any] = {}
    for name, ranking in (("counts", qk.rank(y, s)), ("masses", qk.rank(y, s, sample_weight=w))):
        found[f"{name} roc"], found[f"{name} hull"] = qk.roc_curve(ranking), qk.roc_hull(ranking)
        found[f"{name} achievable"] = qk.achievable_pr_curve(ranking)
        for start in ("roc", "horizontal"):
            found[f"{name} {start}"] = qk.pr_curve(ranking, start=start)
    return flat(**found)


def families(y: Any, s: Any, w: Any) -> dict[str, Any]:
    """Hulls of two models, mixtures on them, and their cuts on other data."""
    hull = qk.family_hull([qk.rank(y, s), qk.rank(y, w)])
    rates = {name: qk.mixture(hull, **{name: [0.0, 0.25, 1.0]}) for name in ("fpr", "tpr")}
    chosen = qk.rank(y, w).at_thresholds(hull.threshold)
    return flat(hull=hull, quota=qk.mixture(hull, quota=1.5), chosen=chosen, **rates)


def points(s: Any, w: Any, c: Any) -> dict[str, Any]:
    moved = {
        "pr": qk.roc_to_pr(s, s, positives=20, negatives=2000),
        "roc": qk.pr_to_roc(s, s, positives=20, negatives=2000),
        "way": qk.interpolate_pr((w, w), (w + 1, w + 2), positives=9, recall=s),
        "steps": qk.interpolate_pr((5, 5), (30, 10), positives=s[..., :1] * 0 + 20),
    }
    made = {
        "whole": qk.Ranking.from_points(c, c, thresholds=-c),
        "masses": qk.Ranking.from_points(s * 0 + w[..., :1], s * 0 + w[..., :1], thresholds=-s),
    }
    return flat(**moved, **made)


OF_IMPACT = ("impact", "total_impact", "outcome_impact", "conditional_impact")


def confusion(y: Any, s: Any, p: Any, w: Any) -> dict[str, Any]:
    ranking = qk.rank(y, s, sample_weight=w)
    table = qk.confusion_table(ranking, threshold=[0.5, 0.2], inclusive=False)
    named = {name: PUBLIC[name](table) for name in PLAIN}
    named["f_score at a quota"] = qk.f_score(ranking, quota=2, beta=w[..., :1])
    named["expected_cost"] = qk.expected_cost(table, cost_fp=w[..., :2], cost_fn=2)
    named["base_ratio"] = qk.tables.base_ratio(table, impacts=(w[..., :2], 1, 2, 0))
    benefit = {x: PUBLIC[x](table, threshold_probability=w[..., :2] / 4) for x in DECISIONS}
    named |= benefit | {"at 0.2": qk.decisions.net_benefit(ranking, threshold=0.2, prevalence=0.1)}
    best = qk.best_cut(qk.recall, ranking)
    curve = qk.tables.table_curve(qk.precision, ranking)
    predicted = qk.tables.confusion_table_from_predictions(y, p, sample_weight=w)
    classes = qk.tables.confusion_table_from_predictions(y, p, num_classes=3)
    named["kappa"] = qk.tables.cohen_kappa(classes)
    rates = qk.tables.confusion_table_from_rates(prevalence=s, tpr=s, fpr=0.5)
    ratios = qk.tables.confusion_table_from_rates(prevalence=s, lr_positive=1 + w, lr_negative=s)
    own = {"cost_fp": w[..., :1], "cost_fn": 2}
    cheap = qk.best_cut(qk.expected_cost, ranking, **own)
    parts = {"table": table, "best": best, "curve": curve, "predicted": predicted, "cheap": cheap}
    parts |= {"classes": classes.by_class(), "rates": rates, "ratios": ratios}
    for name, part in parts.items():
        named |= every.record(name, part)
    return named | impacts(ranking, table, w)


def impacts(ranking: qk.Ranking, table: qk.tables.ConfusionTable, w: Any) -> dict[str, Any]:
    units = (w[..., :2], -1, 0, 2)
    parts = {name: PUBLIC[name](table, impacts=units) for name in OF_IMPACT}
    classes = qk.tables.ClassTable(w[..., :4, None] * w[..., None, :4])
    parts |= {f"{x} of classes": PUBLIC[x](classes, impacts=classes.cells) for x in OF_IMPACT}
    parts |= {
        "tuned": qk.tables.tune_ratio(table, w[..., :2]),
        "even": qk.tables.normalize_table(table),
    }
    parts["even classes"] = qk.tables.normalize_table(classes)
    best = qk.best_boundary(ranking, impacts=(3, -1, 0, 2), kind="outcome")
    parts["decisions"] = qk.decisions.decision_curve(ranking, threshold_probability=[0.2, 0.5])
    return flat(**parts, curve=best.curve) | {"best": best.value, "optima": best.optima}


def gains(y: Any, s: Any, g: Any, w: Any) -> dict[str, Any]:
    """What single examples bring, of several quotas and of one list of gains for the batch."""
    at = qk.impact_at_quota(
        None, s, gain=g[..., :1] + s, gain_rejected=g, quota=[1, 2.5], sample_weight=w
    )
    best = qk.best_quota(None, s, gain=g, gain_rejected=-1)
    given: dict[str, Any] = {"gain_rejected": g, "sample_weight": w}
    at_quota = qk.tables.cell_impacts(y, s, gain=g, quota=2, **given)
    at_score = qk.tables.cell_impacts(y, s, gain=g, threshold=[0.5, 0.2], **given)
    found = qk.budgets.value_found(y, s, gain=w, quota=[1, 2.5])
    cuts = qk.tables.cut_tables(y, s, ratio=2)
    parts = {"at": at, "curve": best.curve, "at quota": at_quota, "at score": at_score}
    return flat(**parts, cuts=cuts.table, ends=cuts._replace(table=cuts.quota)) | {
        "found": found,
        "best": best.value,
        "optima": best.optima,
    }


def folds(y: Any, s: Any) -> dict[str, Any]:
    """Fold by fold; the folds are read, and so are values of the host."""
    of = [0, 0, 1, 1, 1]
    summary = qk.inference.fold_summary(qk.hit_rate, y, s, of, fraction=0.9, pooled=True)
    return flat(summary=summary, test=qk.inference.fold_test(qk.roc_auc, y, [s, s * s], of))


LINE = {"positives": 4, "negatives": 9}


NAMED = {
    x for file in (__file__, every.__file__) for x in re.findall(r"\w+", Path(file).read_text())
}
ALONE = [
    name
    for module in (qk, *OF_MEASURES)
    for name in module.__all__
    if name not in NAMED and (x := MEASURES.get(name)) and not x.is_array
    if not (x.needs or x.lacking({}))
]
"""Measures of labels and scores that give a record, and that no other case names."""


def drawn(y: Any, s: Any, w: Any) -> dict[str, Any]:
    """Charts and areas, of counts and of masses, and lines."""
    ranking = qk.rank(y, s, sample_weight=w)
    found: dict[str, Any] = {"counts": qk.charts.powers_chart(y, s, kind="bift")}
    found |= {kind: qk.charts.powers_chart(ranking, kind=kind) for kind in ("pr", "bprd", "bird")}
    sizes = {"positives": 9, "negatives": w[..., :1] + 9}
    found["points"] = qk.charts.chart_points(w, s, kind="pr_log", **sizes)
    costs = {"cost_fp": w[..., :2], "cost_fn": 1}
    found["cost"] = qk.charts.iso_line(0.2, of="cost", kind="bift", points=3, **costs, **LINE)
    for of in ("skew", "arithmetic_mean", "geometric_mean"):
        found[of] = qk.charts.iso_line(s[..., :2], of=of, kind="pr", points=4, **LINE)
    areas = {kind: qk.charts.chart_area(ranking, kind=kind) for kind in ("pn", "lift")}
    points = {x: PUBLIC[x](ranking) for x in ALONE}
    points["tpr_at"] = qk.points.tpr_at(ranking, fpr=[0.25, 0.5], interpolate=True)
    points["fpr_at"] = qk.points.fpr_at(ranking, tpr=0.5)
    points["recall_at"] = qk.points.recall_at(ranking, precision=0.5, interpolate=True)
    points["precision_at"] = qk.points.precision_at(ranking, recall=0.5)
    part = {"part": qk.roc_auc(ranking, max_fpr=0.5)}
    return flat(**found, **points) | areas | part | {"auk": qk.charts.auk(ranking, kappa="scott")}


def uncertain(y: Any, s: Any) -> dict[str, Any]:
    """Intervals and tests; the rows of the batch are models of the same examples."""
    ranking = qk.rank(y, s)
    found = {
        method: qk.inference.auc_interval(ranking, method=method) for method in ("score", "wald")
    }
    given: dict[str, Any] = {"quota": [1.5, 3], "confidence_level": 0.9}
    return flat(
        **found,
        precision=qk.inference.average_precision_interval(ranking, measure="average_hit_rate"),
        together=qk.inference.auc_covariance(y, s, measure="pem"),
        paired=qk.inference.delong_test(y, [s, -s]),
        unpaired=qk.inference.delong_test_unpaired(ranking, qk.rank(y, -s)),
        wilson=qk.inference.hit_rate_interval(y, s, population=9, **given),
        lift=qk.inference.qrecall_interval(y, s, measure="lift", **given),
    )


def grouped(y: Any, s: Any, codes: Any) -> dict[str, Any]:
    """What knows groups of examples."""
    ranking = qk.rank(y, s, groups=codes, num_groups=3)
    counts = qk.group_counts(ranking)
    mean = qk.group_mean(qk.roc_auc, y, s, groups=codes, num_groups=3, weights="examples")
    return {
        **flat(mean=mean, areas=qk.pem_areas(ranking)),
        **flat(shares=qk.groups.selection_by_group(ranking, quota=[1, 2.5])),
        **flat(entities=qk.groups.entities(ranking)),
        **{x: PUBLIC[x](ranking) for x in ("bedroc", "rie", "log_auc")},
        "examples": counts.examples,
        "hit_rate": qk.hit_rate(ranking, quota=[1.5, 3]),
        "mean_hit_rate": qk.mean_hit_rate(ranking, between=(1, 2)),
        "average_hit_rate": qk.average_hit_rate(ranking),
        "f_score": qk.f_score(ranking, threshold=0.5),
        "select": qk.select(s, quota=2, groups=codes, num_groups=3),
    }


def lists(y: Any, s: Any, codes: Any) -> dict[str, Any]:
    """Ranked lists, and their groups."""
    ranking, grouped = qk.rank(y, s), qk.rank(y, s, groups=codes, num_groups=3)
    found = {"dcg": qk.retrieval.dcg(ranking), "of gains": qk.retrieval.dcg(None, s, gain=s)}
    found |= {"success": qk.retrieval.success(grouped, quota=[1, 2.5], when_short="nan")}
    found |= {"rank": qk.retrieval.reciprocal_rank(grouped, fraction=0.5)}
    found |= {"saved": qk.screening.work_saved_over_sampling(grouped, recall=[0.5, 0.95])}
    found |= {"enrichment": qk.screening.roc_enrichment(grouped, fpr=[0.25, 0.5])}
    graded = qk.retrieval.ndcg(None, s, gain=s, quota=2)
    return found | {"ndcg": qk.retrieval.ndcg(ranking, quota=2), "graded": graded}


def budgets(y: Any, s: Any, cost: Any) -> dict[str, Any]:
    """What knows costs of examples."""
    ranking = qk.rank(y, s, cost=cost, gain=cost)
    per = {x: PUBLIC[x](ranking, budget=[0.5, 2]) for x in ("positives_per_cost", "gain_per_cost")}
    return {
        **per,
        **flat(curve=qk.budgets.budget_curve(ranking)),
        "cost": qk.budgets.cost_at_quota(y, s, cost=cost, quota=2),
        "hit_rate": qk.hit_rate(y, s, cost=cost, budget=[0.5, 2], when_short="nan"),
        "f_score": qk.f_score(ranking, budget=1.5, when_short="nan"),
        "select": qk.select(s, cost=cost, budget=2),
    }


def uplift(y: Any, s: Any, treated: Any) -> dict[str, Any]:
    """What knows who was treated."""
    ranking = qk.rank(y, s, treatment=treated)
    return {
        **flat(uplift=qk.uplift.uplift_curve(ranking), qini=qk.uplift.qini_curve(ranking)),
        **flat(toc=qk.uplift.toc_curve(ranking)),
        "autoc": qk.uplift.autoc(ranking),
        "at quota": qk.uplift.uplift_at_quota(y, s, treatment=treated, quota=[2, 3.5]),
        "area": qk.uplift.auuc(ranking, normalize="perfect"),
        "coefficient": qk.uplift.qini_coefficient(ranking),
    }


NAMED_CASES: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
    "batch": (every.everything, (Y, S)),
    "one list": (every.everything, (Y[0], S[0])),
    "weights and mask": (weighted, (Y, S, W, M)),
    "tie policies": (policies, (Y, S)),
    "curves": (curves, (Y, S, W)),
    "curves of one list": (curves, (Y[0], S[0], W[0])),
    "families": (families, (Y, S, W)),
    "points": (points, (S, W, np.cumsum(COUNTS, axis=-1))),
    "counted tables": (tables, (np.asarray([[0.9, 0.2, 0.5, 0.7, 0.1]]), COUNTS[:1], Y[:1], W[1:])),
    "classes": (classes, (C, SC)),
    "comparisons": (comparisons, (Y, S)),
    "costs": (costs, (Y, S, COSTS)),
    "confusion tables": (confusion, (Y, S, Y[::-1], W)),
    "gains of examples": (gains, (Y, S, W - 1, W)),
    "charts": (drawn, (Y, S, W)),
    "uncertainty": (uncertain, (Y[[0, 0]], S)),
    "folds": (folds, (Y, S)),
    "groups": (grouped, (Y, S, C % 3)),
    "ranked lists": (lists, (Y, S, C % 3)),
    "budgets": (budgets, (Y, S, W)),
    "uplift": (uplift, (Y, S, Y[..., ::-1])),
}
IDS, CASES = [*NAMED_CASES], [*NAMED_CASES.values()]
TRACED_BY_JAX = ("one list", "groups", "uncertainty")
"""Cases that the full matrix does not have alone."""
EVERY_CASE = pytest.mark.parametrize(("function", "arrays"), CASES, ids=IDS)


def used(monkeypatch: pytest.MonkeyPatch, cases: list[tuple[Any, Any]]) -> set[str]:
    """The public functions that the cases call."""
    watch = Watch()
    for module in (every, inspect.getmodule(every.computed), inspect.getmodule(used)):
        monkeypatch.setattr(module, "qk", watch)
        monkeypatch.setattr(module, "PUBLIC", watch)
    for function, arrays in cases:
        function(*arrays)
    return watch.asked & set(functions())


def running(form: str) -> set[str]:
    return {name for name in functions() if form not in WITHOUT.get(name, ())}


CALLED = "CASES call every function that WITHOUT of tests/capabilities.py does not exclude"


def test_every_public_function_is_among_the_cases(monkeypatch: pytest.MonkeyPatch):
    wanted = running("shapes alone")
    assert wanted == running("torch.func.vmap")
    assert used(monkeypatch, CASES) == wanted, CALLED


TRACED = [
    case
    for case in CASES
    if case[1][0] is Y and case[0] not in (weighted, folds)  # one trace is slow
]
"""The cases that torch.compile meets."""


def test_what_is_said_of_compile_is_what_is_traced(monkeypatch: pytest.MonkeyPatch):
    assert used(monkeypatch, TRACED) == running("torch.compile"), CALLED


def real_shapes(function: Any, arrays: Any) -> dict[str, tuple[int, ...]]:
    """Of padded tables, as a batch gives them."""
    stacked = [np.stack([x, x]) for x in arrays]
    return {name: x.shape[1:] for name, x in function(*stacked).items()}


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@EVERY_CASE
def test_meta_tensors(function: Any, arrays: Any):
    import torch

    moved = [torch.as_tensor(np.array(x), device="meta") for x in arrays]
    with host_copies() as copies:
        found = function(*moved)
    assert copies == [] or function is folds  # whose places go to the device
    wanted = real_shapes(function, arrays)
    for name, x in found.items():
        assert x.device.type == "meta"
        assert tuple(x.shape) == wanted[name], name
        assert not x.is_floating_point() or x.dtype == torch.float64


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@EVERY_CASE
def test_fake_tensors(function: Any, arrays: Any):
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode() as fakes:
        found = function(*(fakes.from_tensor(torch.as_tensor(np.array(x))) for x in arrays))
    wanted = real_shapes(function, arrays)
    for name, x in found.items():
        assert isinstance(x, FakeTensor), name
        assert tuple(x.shape) == wanted[name], name


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        pytest.param(*case, id=name, marks=[] if name in TRACED_BY_JAX else [pytest.mark.full])
        for name, case in zip(IDS, CASES, strict=True)
    ],
)
def test_shapes_alone_are_enough_for_jax(function: Any, arrays: Any):
    """Where they are mapped, in the trace of a program; test_jax_modes traces one of any length.

    And nothing is left to JAX that it may refuse: mixed ranks and types.
    """
    import jax

    twice = [jax.ShapeDtypeStruct((2, *x.shape), x.dtype) for x in arrays]
    strict = jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict")
    with jax.enable_x64(True), strict[0], strict[1]:
        mapped = jax.eval_shape(jax.vmap(function), *twice)
    wanted = real_shapes(function, arrays)
    assert {name: x.shape[1:] for name, x in mapped.items()} == wanted


UNREADABLE = ("strictest-device1", "torch-vmap", "torch-compile", "cupy")


@EVERY_CASE
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in UNREADABLE]))
def test_values_that_cannot_be_read(mode: Mode, function: Any, arrays: Any):
    """Without boolean or data-dependent indexing, and without a break of the graph."""
    if mode.name == "torch-compile" and not any(x[1] is arrays for x in TRACED):
        pytest.skip("one trace is slow, and the other kinds of input are traced elsewhere")
    found = mode.run(function, *arrays)
    wanted = function(*(np.stack([x, x]) for x in arrays))
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name][0], 1e-12, 1e-12, err_msg=name)


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_shapes_and_types_are_errors_at_once():
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as fakes:
        check_errors(*(fakes.from_tensor(torch.as_tensor(np.array(x))) for x in (Y, S)))
    check_errors(*(torch.as_tensor(x, device="meta") for x in (Y, S)))


def check_errors(labels: Any, scores: Any) -> None:
    with pytest.raises(ValueError, match=r"^y_true must have shape \(5,\) or \(2, 5\)"):
        qk.rank(labels[:, :3], scores)
    with pytest.raises(TypeError, match=r"^y_score must hold real numbers"):
        qk.roc_auc(labels, scores + 1j)
    with pytest.raises(TypeError, match=r"^quota must be a number"):
        qk.select(scores, quota=True)
    for quota in (-1, 2.5):
        chosen = qk.select(scores, quota=quota)
        assert tuple(chosen.shape) == S.shape
