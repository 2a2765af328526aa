"""Points of the ROC and the precision-recall curve: at a rate, and those that stand out."""

from quotakernels.measures.public import (
    break_even_point as break_even_point,
    det_curve as det_curve,
    equal_error_rate as equal_error_rate,
    fpr_at as fpr_at,
    kolmogorov_smirnov as kolmogorov_smirnov,
    precision_at as precision_at,
    recall_at as recall_at,
    tpr_at as tpr_at,
)

__all__ = [name for name in dir() if not name.startswith("_")]
