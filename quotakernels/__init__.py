"""Evaluation of probabilistic classifiers that must fill a limited quota."""

from quotakernels.measures.areas import PemAreas, pem_areas
from quotakernels.measures.average import average_hit_rate, average_qrecall
from quotakernels.measures.correlation import pearson, pearson_curve
from quotakernels.measures.curves import Curve, hit_rate_curve, lift_curve, qrecall_curve
from quotakernels.measures.discrimination import gini, pem, roc_auc
from quotakernels.measures.dominance import Regions, compare_curves, dominates
from quotakernels.measures.family import Mixture, family_hull, mixture
from quotakernels.measures.h_measure import h_measure
from quotakernels.measures.hull import (
    RocHull,
    achievable_pr_auc,
    achievable_pr_curve,
    roc_hull,
    roc_hull_auc,
)
from quotakernels.measures.marks import Marks, normalized_marks
from quotakernels.measures.multiclass import OneVsRest, one_vs_rest
from quotakernels.measures.operating_point import (
    OperatingPoint,
    best_operating_point,
    iso_performance_slope,
)
from quotakernels.measures.points import (
    PrPoints,
    RocPoints,
    interpolate_pr,
    pr_to_roc,
    roc_to_pr,
)
from quotakernels.measures.precision_recall import (
    PrCurve,
    average_precision,
    expected_average_precision,
    pr_auc,
    pr_curve,
)
from quotakernels.measures.quota import LiftTable, hit_rate, lift, lift_table, qrecall
from quotakernels.measures.roc import RocCurve, roc_curve
from quotakernels.measures.selection import QuotaThreshold, quota_threshold, select
from quotakernels.measures.summary import Summary, summary
from quotakernels.ranking import Ranking, rank

__version__ = "0.1.0"

__all__ = [
    "Curve",
    "LiftTable",
    "Marks",
    "Mixture",
    "OneVsRest",
    "OperatingPoint",
    "PemAreas",
    "PrCurve",
    "PrPoints",
    "QuotaThreshold",
    "Ranking",
    "Regions",
    "RocCurve",
    "RocHull",
    "RocPoints",
    "Summary",
    "achievable_pr_auc",
    "achievable_pr_curve",
    "average_hit_rate",
    "average_precision",
    "average_qrecall",
    "best_operating_point",
    "compare_curves",
    "dominates",
    "expected_average_precision",
    "family_hull",
    "gini",
    "h_measure",
    "hit_rate",
    "hit_rate_curve",
    "interpolate_pr",
    "iso_performance_slope",
    "lift",
    "lift_curve",
    "lift_table",
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
    "qrecall",
    "qrecall_curve",
    "quota_threshold",
    "rank",
    "roc_auc",
    "roc_curve",
    "roc_hull",
    "roc_hull_auc",
    "roc_to_pr",
    "select",
    "summary",
]
