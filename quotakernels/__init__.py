"""Evaluation of probabilistic classifiers that must fill a limited quota.

Families are modules: `tables`, `charts`, `points`, `groups`, `budgets`, `retrieval`, `uplift`,
`inference`, `states`, `results`, `adapters` and `plots`.  They load when they are first used.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from quotakernels._version import __version__ as __version__
from quotakernels.measures.public import (
    accuracy as accuracy,
    achievable_pr_auc as achievable_pr_auc,
    achievable_pr_curve as achievable_pr_curve,
    average_hit_rate as average_hit_rate,
    average_precision as average_precision,
    average_qrecall as average_qrecall,
    best_boundary as best_boundary,
    best_cut as best_cut,
    best_operating_point as best_operating_point,
    best_quota as best_quota,
    compare_curves as compare_curves,
    confusion_table as confusion_table,
    dominates as dominates,
    expected_average_precision as expected_average_precision,
    expected_cost as expected_cost,
    f_score as f_score,
    family_hull as family_hull,
    gini as gini,
    group_counts as group_counts,
    group_mean as group_mean,
    h_measure as h_measure,
    hit_rate as hit_rate,
    hit_rate_curve as hit_rate_curve,
    impact_at_quota as impact_at_quota,
    informedness as informedness,
    interpolate_pr as interpolate_pr,
    lift as lift,
    lift_curve as lift_curve,
    lift_table as lift_table,
    matthews_corrcoef as matthews_corrcoef,
    mean_hit_rate as mean_hit_rate,
    mixture as mixture,
    normalized_marks as normalized_marks,
    one_vs_rest as one_vs_rest,
    pearson as pearson,
    pearson_curve as pearson_curve,
    pem as pem,
    pem_areas as pem_areas,
    pr_auc as pr_auc,
    pr_curve as pr_curve,
    pr_to_roc as pr_to_roc,
    precision as precision,
    qrecall as qrecall,
    qrecall_curve as qrecall_curve,
    quota_threshold as quota_threshold,
    rank_at_quota as rank_at_quota,
    recall as recall,
    roc_auc as roc_auc,
    roc_curve as roc_curve,
    roc_hull as roc_hull,
    roc_hull_auc as roc_hull_auc,
    roc_to_pr as roc_to_pr,
    select as select,
    summary as summary,
)
from quotakernels.ranking import Ranking as Ranking, rank as rank

if _typing.TYPE_CHECKING:
    from quotakernels import (
        adapters as adapters,
        budgets as budgets,
        charts as charts,
        groups as groups,
        inference as inference,
        plots as plots,
        points as points,
        results as results,
        retrieval as retrieval,
        states as states,
        tables as tables,
        uplift as uplift,
    )
    from quotakernels.evaluation.evaluate import evaluate as evaluate
    from quotakernels.inference import bootstrap as bootstrap, compare as compare

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

_NAMES = (x for x in sorted({*dir(), *_LATE}) if not x.startswith("_"))
__all__ = [x for x in _NAMES if f"{__name__}.{x}" not in _sys.modules]
