"""How sure a measure is: intervals, tests, and which of several models is better."""

import sys as _sys

from quotakernels.inference.areas import (
    auc_covariance as auc_covariance,
    auc_interval as auc_interval,
    average_precision_interval as average_precision_interval,
    delong_test as delong_test,
    delong_test_unpaired as delong_test_unpaired,
)
from quotakernels.inference.bands import (
    best_cut_interval as best_cut_interval,
    curve_band as curve_band,
)
from quotakernels.inference.bootstrapping import bootstrap as bootstrap
from quotakernels.inference.comparing import compare as compare
from quotakernels.inference.folds import fold_summary as fold_summary, fold_test as fold_test
from quotakernels.inference.hit_rates import (
    compare_selections as compare_selections,
    hit_rate_interval as hit_rate_interval,
    qrecall_interval as qrecall_interval,
)
from quotakernels.inference.planning import sample_size as sample_size
from quotakernels.inference.published import (
    compare_tables as compare_tables,
    table_interval as table_interval,
)
from quotakernels.inference.voting import (
    measure_correlations as measure_correlations,
    vote as vote,
)

_NAMES = (x for x in dir() if not x.startswith("_"))
__all__ = [x for x in _NAMES if f"{__name__}.{x}" not in _sys.modules]
