"""The calls whose cost is counted: those with marks, every public measure, peers and the sort."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import quotakernels as qk
from benchmarks.device.marks import N

Array = Any
FAMILIES = (qk.tables, qk.charts, qk.inference, qk.states, qk.results)
PUBLIC: dict[str, Any] = {
    name: getattr(module, name) for module in (qk, *FAMILIES) for name in module.__all__
}
UNCOUNTED = (
    *("compare", "compare_selections", "evaluate"),  # their results are made on the host
    *("bootstrap", "curve_band", "best_cut_interval"),  # their draws outweigh the rest
    *("fold_summary", "fold_test", "one_vs_rest"),  # other measures, several times
    *("auc_covariance", "delong_test"),  # of several models
)
OF_GAINS = ("best_quota", "cell_impacts", "impact_at_quota")
QUOTA, THRESHOLD, GROUPS = 1000, 0.5, 1000


class Examples(NamedTuple):
    """The arrays of which a call takes some."""

    labels: Array
    scores: Array
    weights: Array
    quota: Array
    state: qk.states.ScoreHistogram | None = None


class Call(NamedTuple):
    """A function of the examples; ``half`` scores have 16 bits."""

    function: Callable[[Examples], Any]
    half: bool = False
    n: int = N


def measured(name: str, examples: Examples, **options: Any) -> Any:
    """A public function of labels and scores, with what it needs beside them."""
    function = PUBLIC[name]
    data = {"y_true": examples.labels, "y_score": examples.scores, **options}
    data |= {"measure": qk.recall} if name in ("best_cut", "table_curve") else {}
    if name == "group_mean":
        return function(qk.roc_auc, **data, groups=examples.labels, num_groups=GROUPS)
    needed = {"impacts": (1, -1, 0, 0), "cost_fp": 1, "cost_fn": 2, "kind": "roc"}
    taken = inspect.signature(function).parameters
    own = {x: needed[x] for x, p in taken.items() if p.default is p.empty and x in needed}
    own |= {"gain": examples.scores} if name in OF_GAINS else {}
    own |= _cut(taken)
    if "data" in taken:
        return function(*(data.pop(x) for x in ("measure", *list(data)[:2]) if x in data), **own)
    return function(**{x: value for x, value in data.items() if x in taken}, **own)


def _cut(taken: Any) -> dict[str, Any]:
    """Measures of a table are counted at a threshold, others at a quota."""
    if "threshold" in taken:
        return {"threshold": THRESHOLD}
    return {"quota": QUOTA} if "quota" in taken else {}


def _four(examples: Examples) -> Any:
    ranking = qk.rank(examples.labels, examples.scores)
    measures = (qk.roc_auc, qk.pem, qk.average_hit_rate, qk.average_qrecall)
    return [measure(ranking) for measure in measures]


def _updated(examples: Examples) -> Any:
    assert examples.state is not None
    return examples.state.update(examples.labels, examples.scores)


def _weighted(name: str) -> Callable[[Examples], Any]:
    return lambda x: measured(name, x, sample_weight=x.weights)


def _grouped(name: str) -> Callable[[Examples], Any]:
    return lambda x: measured(name, x, groups=x.labels, num_groups=GROUPS)


def _traced_quota(examples: Examples) -> Any:
    return qk.hit_rate(examples.labels, examples.scores, quota=examples.quota)


def counted_functions() -> list[str]:
    """The public functions of labels and scores that are counted."""
    taken = {name: _parameters(x) for name, x in PUBLIC.items() if not isinstance(x, type)}
    with_scores = [x for x, names in taken.items() if "y_score" in names or "data" in names]
    return [name for name in with_scores if name not in UNCOUNTED]


def _parameters(function: Any) -> Any:
    return inspect.signature(function).parameters


CALLS: dict[str, Call] = {
    "roc_auc": Call(partial(measured, "roc_auc")),
    "four": Call(_four),
    "summary": Call(partial(measured, "summary")),
    "hit_rate": Call(partial(measured, "hit_rate")),
    "hit_rate, traced": Call(_traced_quota),
    "f_score": Call(partial(measured, "f_score")),
    "pr_auc": Call(partial(measured, "pr_auc")),
    "lift_table": Call(partial(measured, "lift_table")),
    "roc_hull_auc": Call(partial(measured, "roc_hull_auc")),
    "roc_hull_auc, long": Call(partial(measured, "roc_hull_auc"), n=10**8),
    "rank, weights": Call(_weighted("rank")),
    "roc_auc, weights": Call(_weighted("roc_auc")),
    "rank, groups": Call(_grouped("rank")),
    "roc_auc, groups": Call(_grouped("roc_auc")),
    "hit_rate, groups": Call(_grouped("hit_rate")),
    "update, bfloat16": Call(_updated, half=True),
    "roc_auc, bfloat16": Call(partial(measured, "roc_auc"), half=True),
    "roc_auc, bfloat16, long": Call(partial(measured, "roc_auc"), half=True, n=10**7),
    **{name: Call(partial(measured, name)) for name in counted_functions() if name != "roc_auc"},
}
