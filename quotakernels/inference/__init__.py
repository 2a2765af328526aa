"""How sure a measure is: intervals, tests, and which of several models is better."""

from quotakernels.inference.areas import (
    auc_covariance,
    auc_interval,
    average_precision_interval,
    delong_test,
    delong_test_unpaired,
)
from quotakernels.inference.bands import best_cut_interval, curve_band
from quotakernels.inference.bootstrapping import bootstrap
from quotakernels.inference.comparing import compare, vote
from quotakernels.inference.folds import fold_summary, fold_test
from quotakernels.inference.hit_rates import compare_selections, hit_rate_interval

__all__ = [
    "auc_covariance",
    "auc_interval",
    "average_precision_interval",
    "best_cut_interval",
    "bootstrap",
    "compare",
    "compare_selections",
    "curve_band",
    "delong_test",
    "delong_test_unpaired",
    "fold_summary",
    "fold_test",
    "hit_rate_interval",
    "vote",
]
