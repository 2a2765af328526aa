"""Evaluation of probabilistic classifiers that must fill a limited quota."""

import typing as _typing

from quotakernels._version import __version__ as __version__
from quotakernels.inference.comparison.compare import Comparison, compare
from quotakernels.inference.comparison.selections import SelectionComparison, compare_selections
from quotakernels.inference.delong.covariance import AucCovariance, auc_covariance
from quotakernels.inference.delong.difference import DelongTest, delong_test, delong_test_unpaired
from quotakernels.inference.delong.interval import AucInterval, auc_interval
from quotakernels.inference.folds.cross_validation import (
    FoldSummary,
    FoldTest,
    fold_summary,
    fold_test,
)
from quotakernels.inference.proportions.hit_rate import HitRateInterval, hit_rate_interval
from quotakernels.inference.resampling.bands import CurveBand, curve_band
from quotakernels.inference.resampling.bootstrap import BootstrapResult, bootstrap
from quotakernels.inference.resampling.optimum import OptimumInterval, optimum_interval
from quotakernels.measures.at_quota.curves import Curve, hit_rate_curve, lift_curve, qrecall_curve
from quotakernels.measures.at_quota.hit_rate import LiftTable, hit_rate, lift, lift_table, qrecall
from quotakernels.measures.at_quota.pearson import pearson, pearson_curve
from quotakernels.measures.at_quota.selection import QuotaThreshold, quota_threshold, select
from quotakernels.measures.at_quota.shards import rank_at_quota
from quotakernels.measures.charts.auk import auk
from quotakernels.measures.charts.lines import ChartLine, iso_line
from quotakernels.measures.charts.powers import (
    Chart,
    ChartPoints,
    chart_area,
    chart_points,
    powers_chart,
)
from quotakernels.measures.gains.impact_at_quota import (
    QuotaImpact,
    best_quota,
    cell_impacts,
    impact_at_quota,
)
from quotakernels.measures.multiclass import OneVsRest, one_vs_rest
from quotakernels.measures.over_quotas.areas import PemAreas, gini, pem, pem_areas, roc_auc
from quotakernels.measures.over_quotas.averages import average_hit_rate, average_qrecall
from quotakernels.measures.over_quotas.marks import Marks, normalized_marks
from quotakernels.measures.over_quotas.summary import Summary, summary
from quotakernels.measures.roc_pr.costs import (
    OperatingPoint,
    best_operating_point,
    h_measure,
    iso_performance_slope,
)
from quotakernels.measures.roc_pr.dominance import Regions, compare_curves, dominates
from quotakernels.measures.roc_pr.family import Mixture, family_hull, mixture
from quotakernels.measures.roc_pr.hull import (
    RocHull,
    achievable_pr_auc,
    achievable_pr_curve,
    roc_hull,
    roc_hull_auc,
)
from quotakernels.measures.roc_pr.points import (
    PrPoints,
    RocPoints,
    interpolate_pr,
    pr_to_roc,
    roc_to_pr,
)
from quotakernels.measures.roc_pr.precision_recall import (
    PrCurve,
    average_precision,
    expected_average_precision,
    pr_auc,
    pr_curve,
)
from quotakernels.measures.roc_pr.roc import RocCurve, roc_curve
from quotakernels.measures.tables.accuracy import (
    accuracy,
    base_ratio,
    expected_cost,
    f_score,
    g_measure,
    misclassification_rate,
)
from quotakernels.measures.tables.boundary import (
    BestBoundary,
    CutTables,
    best_boundary,
    cut_tables,
)
from quotakernels.measures.tables.confusion import (
    ClassTable,
    ConfusionTable,
    confusion_table,
    confusion_table_from_predictions,
    confusion_table_from_rates,
)
from quotakernels.measures.tables.impact import (
    ClassImpact,
    Impact,
    OutcomeImpact,
    conditional_impact,
    impact,
    outcome_impact,
    total_impact,
)
from quotakernels.measures.tables.information import information_coefficient, mutual_information
from quotakernels.measures.tables.informedness import informedness, markedness, matthews_corrcoef
from quotakernels.measures.tables.kappas import bennett_s, cohen_kappa, fleiss_kappa, scott_pi
from quotakernels.measures.tables.odds import (
    diagnostic_odds_ratio,
    discriminant_power,
    negative_likelihood_ratio,
    positive_likelihood_ratio,
)
from quotakernels.measures.tables.optimal import (
    OptimalCut,
    optimal_cut,
    table_curve,
)
from quotakernels.measures.tables.rates import (
    bias,
    false_negative_rate,
    false_positive_rate,
    inverse_precision,
    precision,
    prevalence,
    recall,
    true_negative_rate,
)
from quotakernels.measures.tables.tuning import normalize_table, tune_prevalence
from quotakernels.ranking import Ranking, rank
from quotakernels.states._compute import Bounds
from quotakernels.states._container import DamagedFileError
from quotakernels.states.buffer import ScoreBuffer
from quotakernels.states.files import StateInfo, load_state, save_state, state_info
from quotakernels.states.fixed_buffer import FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram

if not _typing.TYPE_CHECKING:  # to a type checker every name would exist

    def __getattr__(name: str) -> _typing.NoReturn:
        from quotakernels._elsewhere import absent

        raise absent(name)


__all__ = [
    "AucCovariance",
    "AucInterval",
    "BestBoundary",
    "BootstrapResult",
    "Bounds",
    "Chart",
    "ChartLine",
    "ChartPoints",
    "ClassImpact",
    "ClassTable",
    "Comparison",
    "ConfusionTable",
    "Curve",
    "CurveBand",
    "CutTables",
    "DamagedFileError",
    "DelongTest",
    "FixedScoreBuffer",
    "FoldSummary",
    "FoldTest",
    "HitRateInterval",
    "Impact",
    "LiftTable",
    "Marks",
    "Mixture",
    "OneVsRest",
    "OperatingPoint",
    "OptimalCut",
    "OptimumInterval",
    "OutcomeImpact",
    "PemAreas",
    "PrCurve",
    "PrPoints",
    "QuotaImpact",
    "QuotaThreshold",
    "Ranking",
    "Regions",
    "RocCurve",
    "RocHull",
    "RocPoints",
    "ScoreBuffer",
    "ScoreHistogram",
    "SelectionComparison",
    "StateInfo",
    "Summary",
    "accuracy",
    "achievable_pr_auc",
    "achievable_pr_curve",
    "auc_covariance",
    "auc_interval",
    "auk",
    "average_hit_rate",
    "average_precision",
    "average_qrecall",
    "base_ratio",
    "bennett_s",
    "best_boundary",
    "best_operating_point",
    "best_quota",
    "bias",
    "bootstrap",
    "cell_impacts",
    "chart_area",
    "chart_points",
    "cohen_kappa",
    "compare",
    "compare_curves",
    "compare_selections",
    "conditional_impact",
    "confusion_table",
    "confusion_table_from_predictions",
    "confusion_table_from_rates",
    "curve_band",
    "cut_tables",
    "delong_test",
    "delong_test_unpaired",
    "diagnostic_odds_ratio",
    "discriminant_power",
    "dominates",
    "expected_average_precision",
    "expected_cost",
    "f_score",
    "false_negative_rate",
    "false_positive_rate",
    "family_hull",
    "fleiss_kappa",
    "fold_summary",
    "fold_test",
    "g_measure",
    "gini",
    "h_measure",
    "hit_rate",
    "hit_rate_curve",
    "hit_rate_interval",
    "impact",
    "impact_at_quota",
    "information_coefficient",
    "informedness",
    "interpolate_pr",
    "inverse_precision",
    "iso_line",
    "iso_performance_slope",
    "lift",
    "lift_curve",
    "lift_table",
    "load_state",
    "markedness",
    "matthews_corrcoef",
    "misclassification_rate",
    "mixture",
    "mutual_information",
    "negative_likelihood_ratio",
    "normalize_table",
    "normalized_marks",
    "one_vs_rest",
    "optimal_cut",
    "optimum_interval",
    "outcome_impact",
    "pearson",
    "pearson_curve",
    "pem",
    "pem_areas",
    "positive_likelihood_ratio",
    "powers_chart",
    "pr_auc",
    "pr_curve",
    "pr_to_roc",
    "precision",
    "prevalence",
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
    "save_state",
    "scott_pi",
    "select",
    "state_info",
    "summary",
    "table_curve",
    "total_impact",
    "true_negative_rate",
    "tune_prevalence",
]
