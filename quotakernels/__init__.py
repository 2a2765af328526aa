"""Evaluation of probabilistic classifiers that must fill a limited quota."""

from quotakernels.measures.areas import PemAreas, pem_areas
from quotakernels.measures.average import average_hit_rate, average_qrecall
from quotakernels.measures.correlation import pearson, pearson_curve
from quotakernels.measures.curves import Curve, hit_rate_curve, lift_curve, qrecall_curve
from quotakernels.measures.discrimination import gini, pem, roc_auc
from quotakernels.measures.marks import Marks, normalized_marks
from quotakernels.measures.multiclass import OneVsRest, one_vs_rest
from quotakernels.measures.quota import LiftTable, hit_rate, lift, lift_table, qrecall
from quotakernels.measures.selection import QuotaThreshold, quota_threshold, select
from quotakernels.measures.summary import Summary, summary
from quotakernels.ranking import Ranking, rank

__version__ = "0.1.0"

__all__ = [
    "Curve",
    "LiftTable",
    "Marks",
    "OneVsRest",
    "PemAreas",
    "QuotaThreshold",
    "Ranking",
    "Summary",
    "average_hit_rate",
    "average_qrecall",
    "gini",
    "hit_rate",
    "hit_rate_curve",
    "lift",
    "lift_curve",
    "lift_table",
    "normalized_marks",
    "one_vs_rest",
    "pearson",
    "pearson_curve",
    "pem",
    "pem_areas",
    "qrecall",
    "qrecall_curve",
    "quota_threshold",
    "rank",
    "roc_auc",
    "select",
    "summary",
]
