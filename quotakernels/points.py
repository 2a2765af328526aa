"""Points of the ROC and the precision-recall curve: at a rate, and those that stand out."""

from quotakernels.measures.public import (
    break_even_point,
    det_curve,
    equal_error_rate,
    fpr_at,
    kolmogorov_smirnov,
    precision_at,
    recall_at,
    tpr_at,
)

__all__ = [
    "break_even_point",
    "det_curve",
    "equal_error_rate",
    "fpr_at",
    "kolmogorov_smirnov",
    "precision_at",
    "recall_at",
    "tpr_at",
]
