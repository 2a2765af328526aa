"""Evaluation of probabilistic classifiers that must fill a limited quota.

Families are modules: `tables`, `charts`, `points`, `groups`, `budgets`, `retrieval`, `uplift`,
`inference`, `states`, `results`, `adapters` and `plots`.  They load when they are first used.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from quotakernels._version import __version__ as __version__
from quotakernels.measures.public import (
    accuracy,
    achievable_pr_auc,
    achievable_pr_curve,
    average_hit_rate,
    average_precision,
    average_qrecall,
    best_boundary,
    best_cut,
    best_operating_point,
    best_quota,
    compare_curves,
    confusion_table,
    dominates,
    expected_average_precision,
    expected_cost,
    f_score,
    family_hull,
    gini,
    group_counts,
    group_mean,
    h_measure,
    hit_rate,
    hit_rate_curve,
    impact_at_quota,
    informedness,
    interpolate_pr,
    lift,
    lift_curve,
    lift_table,
    matthews_corrcoef,
    mean_hit_rate,
    mixture,
    normalized_marks,
    one_vs_rest,
    pearson,
    pearson_curve,
    pem,
    pem_areas,
    pr_auc,
    pr_curve,
    pr_to_roc,
    precision,
    qrecall,
    qrecall_curve,
    quota_threshold,
    rank_at_quota,
    recall,
    roc_auc,
    roc_curve,
    roc_hull,
    roc_hull_auc,
    roc_to_pr,
    select,
    summary,
)
from quotakernels.ranking import Ranking, rank

if _typing.TYPE_CHECKING:
    from quotakernels import adapters as adapters
    from quotakernels import budgets as budgets
    from quotakernels import charts as charts
    from quotakernels import groups as groups
    from quotakernels import inference as inference
    from quotakernels import plots as plots
    from quotakernels import points as points
    from quotakernels import results as results
    from quotakernels import retrieval as retrieval
    from quotakernels import states as states
    from quotakernels import tables as tables
    from quotakernels import uplift as uplift
    from quotakernels.evaluation.evaluate import evaluate
    from quotakernels.inference import bootstrap, compare

else:  # to a type checker every name would exist

    def __getattr__(name: str) -> _typing.Any:
        if name in _FAMILIES or name in _LATE:
            try:
                module = _importlib.import_module(f"quotakernels.{_LATE.get(name, name)}")
            except ImportError as error:  # such as displays without Matplotlib
                raise AttributeError(str(error)) from error
            globals()[name] = found = getattr(module, name) if name in _LATE else module
            return found
        if name.startswith("_"):
            raise AttributeError(f"module 'quotakernels' has no attribute {name!r}")
        from quotakernels._elsewhere import absent

        importing = _sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
        raise absent(name, {x: __getattr__(x).__all__ for x in _OF_MEASURES}, importing)


def __dir__() -> list[str]:
    return sorted([*__all__, *_FAMILIES])


_OF_MEASURES = (
    *("budgets", "charts", "groups", "inference", "points"),
    *("results", "retrieval", "states", "tables", "uplift"),
)
_FAMILIES = (*_OF_MEASURES, "adapters", "plots")
_LATE = {
    "bootstrap": "inference",
    "compare": "inference",
    "evaluate": "evaluation.evaluate",
}

__all__ = [
    "Ranking",
    "accuracy",
    "achievable_pr_auc",
    "achievable_pr_curve",
    "average_hit_rate",
    "average_precision",
    "average_qrecall",
    "best_boundary",
    "best_cut",
    "best_operating_point",
    "best_quota",
    "bootstrap",
    "compare",
    "compare_curves",
    "confusion_table",
    "dominates",
    "evaluate",
    "expected_average_precision",
    "expected_cost",
    "f_score",
    "family_hull",
    "gini",
    "group_counts",
    "group_mean",
    "h_measure",
    "hit_rate",
    "hit_rate_curve",
    "impact_at_quota",
    "informedness",
    "interpolate_pr",
    "lift",
    "lift_curve",
    "lift_table",
    "matthews_corrcoef",
    "mean_hit_rate",
    "mixture",
    "normalized_marks",
    "one_vs_rest",
    "pearson",
    "pearson_curve",
    "pem",
    "pem_areas",
    "pr_auc",
    "pr_curve",
    "pr_to_roc",
    "precision",
    "qrecall",
    "qrecall_curve",
    "quota_threshold",
    "rank",
    "rank_at_quota",
    "recall",
    "roc_auc",
    "roc_curve",
    "roc_hull",
    "roc_hull_auc",
    "roc_to_pr",
    "select",
    "summary",
]
