"""The exact counterpart of every public measure: one table, by name.

A measure with several kinds or parts has several counterparts.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import (
    at_quota,
    budgets,
    charts,
    confusion,
    costs,
    delong,
    draws,
    fields,
    impact,
    influence,
    operating,
    pr,
    profits,
    retrieval,
    roc,
    summary,
    uplift,
)

Counterparts = tuple[Callable[..., Any], ...]

AT_QUOTA: dict[str, Counterparts] = {
    "hit_rate": (at_quota.hit_rate,),
    "hit_rate_interval": (draws.binomial_tail, draws.listed_interval),
    "lift": (at_quota.lift,),
    "lift_table": (at_quota.lift_table,),
    "normalized_enrichment_factor": (fields.normalized_enrichment_factor,),
    "pearson": (at_quota.pearson,),
    "qrecall": (at_quota.qrecall,),
    "qrecall_interval": (draws.variance_of_found,),
    "selection_by_group": (at_quota.selection_by_group,),
    "confusion_table": (confusion.table_at_threshold, confusion.table_at_quota),
    "cut_tables": (confusion.table_at_quota,),
}

OVER_QUOTAS: dict[str, Counterparts] = {
    "average_hit_rate": (summary.average_hit_rate,),
    "average_qrecall": (summary.average_qrecall,),
    "hit_rate_curve": (at_quota.hit_rate,),
    "lift_curve": (at_quota.lift,),
    "mean_hit_rate": (summary.mean_hit_rate, summary.area_of_hit_rate),
    "normalized_marks": (
        summary.chance_average_hit_rate,
        summary.chance_average_qrecall,
        summary.normalized_mark,
        at_quota.pearson,
    ),
    "pearson_curve": (at_quota.pearson,),
    "pem": (summary.pem,),
    "pem_areas": (summary.pem_areas,),
    "qrecall_curve": (at_quota.qrecall,),
    "summary": (summary.average_hit_rate, summary.average_qrecall, summary.pem),
}

ROC_AND_PR: dict[str, Counterparts] = {
    "achievable_pr_auc": (pr.achievable_pr_auc,),
    "achievable_pr_curve": (pr.achievable_pr_curve,),
    "auc_interval": (delong.auc_covariance,),
    "average_precision_interval": (influence.value_and_variance,),
    "average_precision": (pr.average_precision,),
    "best_operating_point": (costs.best_operating_point,),
    "expected_average_precision": (pr.expected_average_precision, retrieval.average_precision_at),
    "gini": (summary.gini,),
    "h_measure": (costs.h_measure,),
    "pr_auc": (pr.pr_auc_exact, pr.pr_auc_trapezoid, pr.partial_pr_auc),
    "pr_curve": (pr.pr_curve,),
    "roc_auc": (summary.roc_auc, roc.partial_auc),
    "roc_curve": (roc.roc_curve,),
    "roc_hull": (roc.roc_hull,),
    "roc_hull_auc": (roc.roc_hull_auc,),
}


def by_name(module: ModuleType, *names: str) -> dict[str, Counterparts]:
    """Functions of one module that have the names of the measures."""
    return {name: (getattr(module, name),) for name in names}


OF_TABLES = by_name(
    confusion,
    *("accuracy", "base_ratio", "bennett_s", "bias", "bookmaker_correlation", "cohen_kappa"),
    *("diagnostic_odds_ratio", "discriminant_power", "expected_cost", "f_score"),
    *("false_negative_rate", "false_positive_rate", "fleiss_kappa", "g_measure"),
    *("information_coefficient", "informedness", "inverse_precision", "markedness"),
    *("matthews_corrcoef", "misclassification_rate", "mutual_information"),
    *("negative_likelihood_ratio", "positive_likelihood_ratio", "precision", "prevalence"),
    *("recall", "scott_pi", "true_negative_rate", "weighted_relative_accuracy"),
)
OF_POINTS = by_name(
    operating,
    *("break_even_point", "det_curve", "equal_error_rate", "fpr_at", "kolmogorov_smirnov"),
    *("precision_at", "recall_at", "tpr_at"),
)

OF_CHARTS: dict[str, Counterparts] = {
    "auk": (charts.auk,),
    "chart_area": (
        *(charts.area_under, charts.lift_area, charts.bift_area),
        *(charts.boc_area, charts.boc_dual_area, charts.bprd_area),
    ),
    "powers_chart": (charts.chart, charts.bird_points),
}

OF_IMPACTS: dict[str, Counterparts] = {
    "best_boundary": (impact.best_boundary,),
    "best_quota": (impact.best_example_quota,),
    "cell_impacts": (impact.category_means,),
    "conditional_impact": (impact.outcome_impact, impact.class_outcome_impact),
    "impact": (impact.impact, impact.class_impact),
    "impact_at_quota": (impact.example_impact,),
    "outcome_impact": (impact.outcome_impact, impact.class_outcome_impact),
    "total_impact": (impact.impact, impact.class_impact),
}

OF_LISTS = by_name(retrieval, "dcg", "ndcg", "reciprocal_rank", "success")

OF_COSTS: dict[str, Counterparts] = {
    "budget_curve": (budgets.budgets_of_cuts,),
    "cost_at_quota": (budgets.cost_of_quota,),
    "gain_per_cost": (budgets.gain_per_cost,),
    "positives_per_cost": (budgets.positives_per_cost,),
}

OF_UPLIFT: dict[str, Counterparts] = {
    "autoc": (uplift.autoc,),
    "auuc": (uplift.auuc,),
    "qini_coefficient": (uplift.auuc, uplift.qini_without_negative_effects),
    "qini_curve": (uplift.curve, uplift.qini),
    "toc_curve": (uplift.toc_curve,),
    "uplift_at_quota": (uplift.uplift, uplift.mean_over_orders),
    "uplift_curve": (uplift.curve, uplift.gain),
}

OF_FIELDS = by_name(
    fields,
    *("bedroc", "entities", "log_auc", "normalized_pr_auc", "pr_gain_auc", "pr_gain_curve"),
    *("rie", "roc_enrichment", "value_found", "work_saved_over_sampling"),
)
OF_FIELDS |= by_name(profits, "brier_curve", "cost_curve", "emp_churn", "emp_credit")
OF_FIELDS["decision_curve"] = (fields.net_benefit, fields.net_interventions_avoided)
DECISIONS = ("net_benefit", "net_interventions_avoided", "standardized_net_benefit")
OF_TABLES |= by_name(fields, *DECISIONS)

COUNTERPARTS = AT_QUOTA | OVER_QUOTAS | ROC_AND_PR | OF_TABLES | OF_CHARTS | OF_IMPACTS | OF_LISTS
COUNTERPARTS |= OF_COSTS | OF_FIELDS | OF_POINTS | OF_UPLIFT
