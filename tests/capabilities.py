"""What each public function can do, beside what it computes: said here, for the tests and the docs.

`docs/tools/capabilities.py` makes the page docs/capabilities.md of this.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from public_names import PUBLIC

import quotakernels as qk

FORMS = ("jax.jit", "jax.vmap", "torch.func.vmap", "torch.compile", "shapes alone")
"""How a function is run where values cannot be read; test_lazy and test_lowering run its cases so.

"shapes alone" are meta tensors, fake tensors and `jax.eval_shape`.
"""

OF_FILES = ("load_state", "save_state", "state_info")
"""A file holds values, so that these never meet arrays without."""
ON_HOST = ("compare", "compare_selections", "compare_tables", "evaluate", "sample_size", "vote")
ON_HOST += ("measure_correlations", "table_interval")
"""Their results depend on values, names in order, so that these refuse arrays without."""
OF_DRAWS = ("bootstrap", "curve_band", "best_cut_interval")
"""Tensors without values have no random numbers; test_bootstrap and test_bands run these in a JAX
program."""
OF_FOLDS = ("fold_summary", "fold_test")
"""Folds are sorted out by NumPy, which torch.compile does not follow."""
OF_POINTS = ("interpolate_pr", "pr_to_roc", "roc_to_pr")
OF_AREAS = ("auc_covariance", "auc_interval", "average_precision_interval", "delong_test")
UNTRACED = (*OF_FOLDS, *OF_POINTS, *OF_AREAS, "delong_test_unpaired", "hit_rate_interval")
UNTRACED += ("one_vs_rest", "qrecall_interval")
"""What no test runs in torch.compile, which takes long for each function."""

WITHOUT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*OF_FILES, *ON_HOST), FORMS),
    **dict.fromkeys(OF_DRAWS, FORMS[1:]),
    **dict.fromkeys(UNTRACED, ("torch.compile",)),
}
"""The forms in which a function does not work, or in which no test runs it."""

ARGUMENTS = {
    "batch axes": {"y_score"},
    "weights": {"sample_weight"},
    "masks": {"where"},
    "ties": {"ties"},
}
"""What a function of scores may take, and the parameters that it is given by."""

BY_DOUBLING = ("achievable_pr_auc", "achievable_pr_curve", "best_operating_point", "emp_churn")
BY_DOUBLING += (
    "brier_curve",
    "cost_curve",
    "emp_credit",
    "h_measure",
    "roc_hull",
    "roc_hull_auc",
    "selection_by_group",
)
"""Their programs find hulls, or scan groups, in steps that double: each serves all lengths up to a
power of two.
"""

PROGRAM_MODES = (
    ("jax", '`numpy_dtype_promotion("strict")`', "all", "", "test_relations"),
    (
        "jax",
        "`debug_nans`, `debug_infs`",
        "all",
        "stop at undefined results, and at infinite ones",
        "test_debugging_stops_at_undefined_results_alone",
    ),
    (
        "jax",
        '`check_tracer_leaks`, `disable_jit`, `numpy_rank_promotion("raise")`',
        "one measure of each kind, states",
        "",
        "test_every_mode_has_the_same_results",
    ),
    (
        "jax",
        '`transfer_guard("disallow")`',
        "programs",
        "single calls: their plain numbers are moved to the device",
        "test_programs_transfer_nothing",
    ),
    (
        "jax",
        "`jax.export`, any n",
        "all in `jax.jit`",
        f"{', '.join((*OF_DRAWS, *OF_FOLDS))}: an error",
        "test_programs_take_any_number_of_examples",
    ),
    (
        "torch",
        "`torch.compile(dynamic=True)`",
        "all in `torch.compile`, with one graph",
        f"{', '.join(BY_DOUBLING)}: a graph for each power of two",
        "test_one_graph_serves_all_lengths",
    ),
    (
        "torch",
        "`torch.export`, any length",
        "six were tried",
        "`roc_hull`: an error of PyTorch",
        "test_an_exported_program_takes_other_lengths",
    ),
    (
        "torch",
        "`torch.jit.trace`",
        "",
        "all: an error",
        "test_a_trace_that_keeps_values_is_refused",
    ),
    ("torch", "DTensor", "", "all: an error", "test_distributed_tensors_are_refused"),
    (
        "torch",
        "`use_deterministic_algorithms`",
        "all",
        "",
        "test_deterministic_algorithms_are_enough",
    ),
    (
        "torch",
        "CUDA graphs",
        "13 were tried",
        "",
        "test_a_captured_graph_measures_what_it_is_given",
    ),
    (
        "torch",
        "wrappers of torchmetrics, DDP, `copy.deepcopy`, `.to()`",
        "`RankingMetric`",
        "replicas of `DataParallel`: an error",
        "test_torchmetrics_wrappers",
    ),
)
"""Modes that programs set: what works in them, what does not, and the test that shows it."""

LISTS = ("dcg", "ndcg", "reciprocal_rank", "success")
OF_ITEMS = ("expected_average_precision", *LISTS, "work_saved_over_sampling")
OF_POSITIONS = "are refused: positions are examples"
ONE_BY_ONE = "are refused: the variance assumes examples drawn one by one"
REFUSED: dict[str, dict[str, str]] = {
    "average_precision_interval": {"weights": ONE_BY_ONE},
    **{name: {"weights": OF_POSITIONS} for name in OF_ITEMS},
    "normalized_marks": {"weights": 'with `method="minmax"` only'},
    "pem_areas": {"weights": 'with `method="area"` only'},
}
"""What a function does not take by default, although it has the parameter."""


def functions() -> dict[str, Callable[..., Any]]:
    """The public functions by name."""
    named = {name: PUBLIC[name] for name in PUBLIC}
    return {name: x for name, x in named.items() if not isinstance(x, type)}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Those that a function takes, also those that it hands on to `rank`."""
    own = inspect.signature(functions()[name]).parameters
    handed: Mapping[str, inspect.Parameter] = {}
    if name not in OF_TABLES and any(x.kind is x.VAR_KEYWORD for x in own.values()):
        ranked = inspect.signature(qk.rank).parameters
        handed = {k: x for k, x in ranked.items() if x.kind is x.KEYWORD_ONLY or name in OF_DATA}
    return {**handed, **own}


def has(name: str, argument: str) -> bool:
    """Whether a function has parameters for batch axes, weights, masks or a tie policy."""
    if argument == "batch axes" and name in OF_PAIRS:
        return True
    return not ARGUMENTS[argument].isdisjoint(parameters(name))


OF_PAIRS = ("delong_test", "fold_test")
"""Their two models may have batch axes."""
OF_TABLES = ("compare_tables", "table_interval")
"""What they hand on are a measure's own numbers."""
OF_DATA = ("best_cut", "table_curve")
"""They take labels and scores by position only."""
Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.9, 0.8, 0.8, 0.6, 0.5, 0.5, 0.3, 0.1])
LABELS = {"y_true": Y, "y_pred": Y[::-1], "folds": [0, 0, 1, 1, 1, 1, 0, 0]}
SCORES = dict.fromkeys(("y_score", "gain"), S)
NUMBERS = {"impacts": (1, -1, 0, 0), "cost_fp": 1, "cost_fn": 2, "kind": "roc"}
NUMBERS["threshold_probability"] = 0.25
NUMBERS |= dict.fromkeys(("fpr", "tpr", "recall", "precision"), 0.5)
GIVEN = {**LABELS, **SCORES, **NUMBERS, "models": {"a": S, "b": S[::-1]}}
"""What parameters without a default are given."""
DRAWN = {"n_resamples": 9, "random_state": 1}
GROUPS = [0, 0, 1, 1, 0, 1, 0, 1]
TABLE = qk.tables.ConfusionTable(tp=4, fp=1, fn=2, tn=8)
OF_DECISIONS = ("net_benefit", "net_interventions_avoided", "standardized_net_benefit")
MORE: dict[str, dict[str, Any]] = {
    "table_curve": {"measure": qk.recall},
    "best_cut": {"measure": qk.recall},
    "curve_band": {"curve": "roc", **DRAWN},
    "bootstrap": {"measure": qk.roc_auc, **DRAWN},
    "compare": {"measure": qk.roc_auc, **DRAWN},
    "vote": {"measure": qk.roc_auc},
    "table_interval": {"measure": qk.recall, "table": TABLE},
    "compare_tables": {"measure": qk.recall, "first": TABLE, "second": TABLE},
    "measure_correlations": {"measures": {"a": qk.roc_auc, "b": qk.pem}},
    "sample_size": {"measure": "roc_auc", "y_true": Y, "models": [S, S[::-1]], "difference": 0.1},
    "best_cut_interval": {"best": qk.best_boundary, "impacts": (1, -1, 0, 0), **DRAWN},
    "fold_summary": {"measure": qk.roc_auc},
    "fold_test": {"measure": qk.roc_auc},
    "one_vs_rest": {"measure": qk.roc_auc},
    "mean_hit_rate": {"quota": [1, 2]},
    "group_mean": {"measure": qk.roc_auc, "y_true": Y, "y_score": S, "groups": GROUPS},
    "selection_by_group": {"groups": GROUPS},
    "evaluate": {"models": {"a": S, "b": S[::-1]}},
    **{name: {"cost": S} for name in ("budget_curve", "cost_at_quota", "positives_per_cost")},
    "gain_per_cost": {"cost": S, "gain": S},
    **{name: {"treatment": Y[::-1]} for name in qk.uplift.__all__},
    **{name: {"gain": S} for name in ("best_quota", "cell_impacts", "impact_at_quota")},
    "value_found": {"gain": S},
    "entities": {"groups": GROUPS},
    **{name: {"threshold_probability": 0.25} for name in OF_DECISIONS},
}
"""What else some functions need."""
BATCHED = ("y_score", "gain")
OTHERWISE = {
    "batch axes": {name: np.stack([GIVEN[name]] * 2) for name in BATCHED},
    "weights": {"sample_weight": np.arange(1.0, 9)},
    "masks": {"where": S > 0.2},
    "ties": {"ties": "pessimistic"},
}
"""What shows that a function takes each of them."""


def called(name: str, argument: str = "", moved: Callable[[Any], Any] | None = None) -> Any:
    """A public function of scores, with all that it needs and one thing more."""
    positional, named = arguments(name, argument, moved)
    return functions()[name](*positional, **named)


def arguments(
    name: str, argument: str = "", moved: Callable[[Any], Any] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """What `called` gives the function, by position and by name: NumPy's arrays, or what they are
    `moved` to.
    """
    taken = parameters(name)
    needs = {x: GIVEN[x] for x, p in taken.items() if p.default is p.empty and x in GIVEN}
    needs |= {"quota": 2} if "quota" in taken and name != "curve_band" else {}
    needs |= MORE.get(name, {})
    other = {x: value for x, value in OTHERWISE.get(argument, {}).items() if x in taken}
    needs |= {x: value for x, value in other.items() if x != "gain" or x in needs}
    if name == "auc_covariance":
        needs["y_score"] = np.stack([needs["y_score"], needs["y_score"]])
    if name == "one_vs_rest":
        needs["y_score"] = np.stack([needs["y_score"], needs["y_score"]], axis=-1)
    if argument == "batch axes" and name in OF_PAIRS:
        needs["models"] = {model: np.stack([x, x]) for model, x in needs["models"].items()}
    if moved is not None:
        needs = {x: _moved(moved, value) for x, value in needs.items()}
    by_position = ("measure", "y_true", "y_score") if name in OF_DATA else ()
    return [needs.pop(x) for x in by_position if x in needs], needs


def _moved(moved: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _moved(moved, x) for name, x in value.items()}
    return moved(value) if isinstance(value, np.ndarray) else value


class Watch:
    """The library, and its names in `PUBLIC`, and which of its functions were asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name not in PUBLIC:
            return self  # a family
        return self[name]

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return PUBLIC[name]
