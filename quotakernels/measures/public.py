"""Every public function of measures and their tables, from its chapter.

``docs/tools/stubs.py`` writes this list, and the types into the stub beside it.
"""

# ruff: noqa: F401

from quotakernels.measures.at_quota.budgets import (
    budget_curve,
    cost_at_quota,
    gain_per_cost,
    positives_per_cost,
)
from quotakernels.measures.at_quota.curves import hit_rate_curve, lift_curve, qrecall_curve
from quotakernels.measures.at_quota.hit_rate import hit_rate, lift, lift_table, qrecall
from quotakernels.measures.at_quota.pearson import pearson, pearson_curve
from quotakernels.measures.at_quota.selection import quota_threshold, rank_at_quota, select
from quotakernels.measures.by_group import group_counts, group_mean, selection_by_group
from quotakernels.measures.charts import auk, chart_area, chart_points, iso_line, powers_chart
from quotakernels.measures.gains import best_quota, cell_impacts, impact_at_quota
from quotakernels.measures.multiclass import one_vs_rest
from quotakernels.measures.over_quotas.areas import gini, pem, pem_areas, roc_auc
from quotakernels.measures.over_quotas.averages import (
    average_hit_rate,
    average_qrecall,
    mean_hit_rate,
)
from quotakernels.measures.over_quotas.summary import normalized_marks, summary
from quotakernels.measures.retrieval import dcg, ndcg, reciprocal_rank, success
from quotakernels.measures.roc_pr.costs import (
    best_operating_point,
    h_measure,
    iso_performance_slope,
)
from quotakernels.measures.roc_pr.curves import (
    average_precision,
    expected_average_precision,
    pr_auc,
    pr_curve,
    roc_curve,
)
from quotakernels.measures.roc_pr.dominance import compare_curves, dominates
from quotakernels.measures.roc_pr.hull import (
    achievable_pr_auc,
    achievable_pr_curve,
    family_hull,
    mixture,
    roc_hull,
    roc_hull_auc,
)
from quotakernels.measures.roc_pr.operating import (
    break_even_point,
    det_curve,
    equal_error_rate,
    fpr_at,
    kolmogorov_smirnov,
    precision_at,
    recall_at,
    tpr_at,
)
from quotakernels.measures.roc_pr.points import interpolate_pr, pr_to_roc, roc_to_pr
from quotakernels.measures.tables.accuracy import (
    accuracy,
    base_ratio,
    expected_cost,
    f_score,
    g_measure,
    information_coefficient,
    misclassification_rate,
    mutual_information,
)
from quotakernels.measures.tables.best_cut import best_boundary, best_cut, cut_tables, table_curve
from quotakernels.measures.tables.confusion import (
    confusion_table,
    confusion_table_from_predictions,
    confusion_table_from_rates,
)
from quotakernels.measures.tables.impact import (
    conditional_impact,
    impact,
    normalize_table,
    outcome_impact,
    total_impact,
    tune_ratio,
)
from quotakernels.measures.tables.informedness import (
    bennett_s,
    bookmaker_correlation,
    cohen_kappa,
    fleiss_kappa,
    informedness,
    markedness,
    matthews_corrcoef,
    scott_pi,
)
from quotakernels.measures.tables.rates import (
    bias,
    diagnostic_odds_ratio,
    discriminant_power,
    false_negative_rate,
    false_positive_rate,
    inverse_precision,
    negative_likelihood_ratio,
    positive_likelihood_ratio,
    precision,
    prevalence,
    recall,
    true_negative_rate,
)
from quotakernels.measures.uplift import (
    auuc,
    qini_coefficient,
    qini_curve,
    uplift_at_quota,
    uplift_curve,
)
