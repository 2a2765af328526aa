"""Confusion tables and all their measures.

A measure takes a table, or a ranking (or labels and scores) with a cut: ``threshold=``, ``quota=``,
``fraction=`` or ``budget=``.
"""

from quotakernels.measures.public import (
    accuracy as accuracy,
    base_ratio as base_ratio,
    bennett_s as bennett_s,
    best_boundary as best_boundary,
    best_cut as best_cut,
    bias as bias,
    bookmaker_correlation as bookmaker_correlation,
    cell_impacts as cell_impacts,
    cohen_kappa as cohen_kappa,
    conditional_impact as conditional_impact,
    confusion_table as confusion_table,
    confusion_table_from_predictions as confusion_table_from_predictions,
    confusion_table_from_rates as confusion_table_from_rates,
    cut_tables as cut_tables,
    diagnostic_odds_ratio as diagnostic_odds_ratio,
    discriminant_power as discriminant_power,
    expected_cost as expected_cost,
    f_score as f_score,
    false_negative_rate as false_negative_rate,
    false_positive_rate as false_positive_rate,
    fleiss_kappa as fleiss_kappa,
    g_measure as g_measure,
    impact as impact,
    information_coefficient as information_coefficient,
    informedness as informedness,
    inverse_precision as inverse_precision,
    markedness as markedness,
    matthews_corrcoef as matthews_corrcoef,
    misclassification_rate as misclassification_rate,
    mutual_information as mutual_information,
    negative_likelihood_ratio as negative_likelihood_ratio,
    normalize_table as normalize_table,
    outcome_impact as outcome_impact,
    positive_likelihood_ratio as positive_likelihood_ratio,
    precision as precision,
    prevalence as prevalence,
    recall as recall,
    scott_pi as scott_pi,
    table_curve as table_curve,
    total_impact as total_impact,
    true_negative_rate as true_negative_rate,
    tune_ratio as tune_ratio,
    weighted_relative_accuracy as weighted_relative_accuracy,
)
from quotakernels.measures.tables.confusion import (
    ClassTable as ClassTable,
    ConfusionTable as ConfusionTable,
)

__all__ = [name for name in dir() if not name.startswith("_")]
