"""How sure a measure is: intervals, tests, and which of several models is better.

It has five parts: resampling, delong, proportions, comparison and folds.
"""

from quotakernels.inference.comparison.compare import compare
from quotakernels.inference.comparison.selections import compare_selections
from quotakernels.inference.comparison.voting import vote
from quotakernels.inference.delong.average_precision import average_precision_interval
from quotakernels.inference.delong.covariance import auc_covariance
from quotakernels.inference.delong.difference import delong_test, delong_test_unpaired
from quotakernels.inference.delong.interval import auc_interval
from quotakernels.inference.folds.cross_validation import fold_summary, fold_test
from quotakernels.inference.proportions.hit_rate import hit_rate_interval
from quotakernels.inference.resampling.bands import curve_band
from quotakernels.inference.resampling.best_cut import best_cut_interval
from quotakernels.inference.resampling.bootstrap import bootstrap

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
