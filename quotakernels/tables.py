"""Confusion tables and all their measures.

A measure takes a table, or a ranking (or labels and scores) with a cut: ``threshold=``, ``quota=``,
``fraction=`` or ``budget=``.
"""

from quotakernels.measures.gains.impact_at_quota import cell_impacts
from quotakernels.measures.tables.accuracy import (
    accuracy,
    base_ratio,
    expected_cost,
    f_score,
    g_measure,
    misclassification_rate,
)
from quotakernels.measures.tables.best_cut import best_cut, table_curve
from quotakernels.measures.tables.boundary import best_boundary, cut_tables
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable
from quotakernels.measures.tables.confusion import (
    confusion_table,
    confusion_table_from_predictions,
    confusion_table_from_rates,
)
from quotakernels.measures.tables.impact import (
    conditional_impact,
    impact,
    outcome_impact,
    total_impact,
)
from quotakernels.measures.tables.information import information_coefficient, mutual_information
from quotakernels.measures.tables.informedness import (
    bookmaker_correlation,
    informedness,
    markedness,
    matthews_corrcoef,
)
from quotakernels.measures.tables.kappas import bennett_s, cohen_kappa, fleiss_kappa, scott_pi
from quotakernels.measures.tables.odds import (
    diagnostic_odds_ratio,
    discriminant_power,
    negative_likelihood_ratio,
    positive_likelihood_ratio,
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
from quotakernels.measures.tables.tuning import normalize_table, tune_ratio

__all__ = [
    "ClassTable",
    "ConfusionTable",
    "accuracy",
    "base_ratio",
    "bennett_s",
    "best_boundary",
    "best_cut",
    "bias",
    "bookmaker_correlation",
    "cell_impacts",
    "cohen_kappa",
    "conditional_impact",
    "confusion_table",
    "confusion_table_from_predictions",
    "confusion_table_from_rates",
    "cut_tables",
    "diagnostic_odds_ratio",
    "discriminant_power",
    "expected_cost",
    "f_score",
    "false_negative_rate",
    "false_positive_rate",
    "fleiss_kappa",
    "g_measure",
    "impact",
    "information_coefficient",
    "informedness",
    "inverse_precision",
    "markedness",
    "matthews_corrcoef",
    "misclassification_rate",
    "mutual_information",
    "negative_likelihood_ratio",
    "normalize_table",
    "outcome_impact",
    "positive_likelihood_ratio",
    "precision",
    "prevalence",
    "recall",
    "scott_pi",
    "table_curve",
    "total_impact",
    "true_negative_rate",
    "tune_ratio",
]
