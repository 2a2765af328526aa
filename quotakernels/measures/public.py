"""Every public function of measures and their tables, from its chapter.

``docs/tools/stubs.py`` writes this list, and the types into the stub beside it.
"""

# ruff: noqa: F401

from quotakernels.measures.at_quota import (
    hit_rate,
    hit_rate_curve,
    lift,
    lift_curve,
    lift_table,
    pearson,
    pearson_curve,
    qrecall,
    qrecall_curve,
)
from quotakernels.measures.by_group import group_counts, group_mean, selection_by_group
from quotakernels.measures.charts import auk, chart_area, chart_points, iso_line, powers_chart
from quotakernels.measures.dominance import compare_curves, dominates
from quotakernels.measures.gains import (
    best_quota,
    budget_curve,
    cell_impacts,
    cost_at_quota,
    gain_per_cost,
    impact_at_quota,
    positives_per_cost,
)
from quotakernels.measures.hull import (
    achievable_pr_auc,
    achievable_pr_curve,
    best_operating_point,
    family_hull,
    h_measure,
    iso_performance_slope,
    mixture,
    roc_hull,
    roc_hull_auc,
)
from quotakernels.measures.multiclass import one_vs_rest
from quotakernels.measures.operating import (
    break_even_point,
    det_curve,
    equal_error_rate,
    fpr_at,
    kolmogorov_smirnov,
    precision_at,
    recall_at,
    tpr_at,
)
from quotakernels.measures.over_quotas import (
    average_hit_rate,
    average_qrecall,
    gini,
    mean_hit_rate,
    normalized_marks,
    pem,
    pem_areas,
    roc_auc,
    summary,
)
from quotakernels.measures.retrieval import dcg, ndcg, reciprocal_rank, success
from quotakernels.measures.roc_pr import (
    average_precision,
    expected_average_precision,
    interpolate_pr,
    pr_auc,
    pr_curve,
    pr_to_roc,
    roc_curve,
    roc_to_pr,
)
from quotakernels.measures.selection import quota_threshold, rank_at_quota, select
from quotakernels.measures.tables.best_cut import best_boundary, best_cut, cut_tables, table_curve
from quotakernels.measures.tables.confusion import (
    confusion_table,
    confusion_table_from_predictions,
    confusion_table_from_rates,
)
from quotakernels.measures.tables.rates import (
    accuracy,
    base_ratio,
    bennett_s,
    bias,
    bookmaker_correlation,
    cohen_kappa,
    conditional_impact,
    diagnostic_odds_ratio,
    discriminant_power,
    expected_cost,
    f_score,
    false_negative_rate,
    false_positive_rate,
    fleiss_kappa,
    g_measure,
    impact,
    information_coefficient,
    informedness,
    inverse_precision,
    markedness,
    matthews_corrcoef,
    misclassification_rate,
    mutual_information,
    negative_likelihood_ratio,
    normalize_table,
    outcome_impact,
    positive_likelihood_ratio,
    precision,
    prevalence,
    recall,
    scott_pi,
    total_impact,
    true_negative_rate,
    tune_ratio,
)
from quotakernels.measures.uplift import (
    auuc,
    qini_coefficient,
    qini_curve,
    uplift_at_quota,
    uplift_curve,
)
