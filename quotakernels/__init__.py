"""Evaluation of probabilistic classifiers that must fill a limited quota.

Families are modules: `tables`, `charts`, `points`, `groups`, `budgets`, `retrieval`, `screening`,
`decisions`, `uplift`, `inference`, `states`, `results`, `adapters` and `plots`.  They, and the
functions beside them, load when they are first used; to type checkers `__init__.pyi` tells what
they are.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from quotakernels._version import __version__ as __version__

_OF_MEASURES = (
    *("budgets", "charts", "decisions", "groups", "inference", "points"),
    *("results", "retrieval", "screening", "states", "tables", "uplift"),
)
_FAMILIES = (*_OF_MEASURES, "adapters", "plots")
_ROOMS = ("cli", "evaluation", "inputs", "measures", "ops", "ranking", "report")
_MEASURES = """
accuracy achievable_pr_auc achievable_pr_curve average_hit_rate average_precision
average_qrecall best_boundary best_cut best_operating_point best_quota compare_curves
confusion_table dominates expected_average_precision expected_cost f_score family_hull gini
group_counts group_mean h_measure hit_rate hit_rate_curve impact_at_quota informedness
interpolate_pr lift lift_curve lift_table matthews_corrcoef mean_hit_rate mixture
normalized_marks one_vs_rest pearson pearson_curve pem pem_areas pr_auc pr_curve pr_to_roc
precision qrecall qrecall_curve quota_threshold rank_at_quota recall roc_auc roc_curve
roc_hull roc_hull_auc roc_to_pr select summary
"""
_HOMES = {
    **dict.fromkeys(_MEASURES.split(), "measures.public"),
    **dict.fromkeys(("Ranking", "rank"), "ranking"),
    **dict.fromkeys(("bootstrap", "compare"), "inference"),
    "evaluate": "evaluation.evaluate",
}
"""The modules of the names at the top."""

__all__ = sorted(_HOMES)  # noqa: PLE0605  names load when they are first used


def __getattr__(name: str) -> _typing.Any:
    if name in _FAMILIES or name in _ROOMS or name in _HOMES:
        try:
            module = _importlib.import_module(f"quotakernels.{_HOMES.get(name, name)}")
        except ImportError as error:  # such as displays without Matplotlib
            raise AttributeError(str(error)) from error
        globals()[name] = found = getattr(module, name) if name in _HOMES else module
        return found
    if name.startswith("_"):
        raise AttributeError(f"module 'quotakernels' has no attribute {name!r}")
    from quotakernels._elsewhere import absent

    importing = _sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
    raise absent(name, {x: __getattr__(x).__all__ for x in _OF_MEASURES}, importing)


def __dir__() -> list[str]:
    return sorted([*__all__, *_FAMILIES])
