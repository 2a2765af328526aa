"""Displays of the measures, drawn by Matplotlib, one class for each kind of curve."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "quotakernels.plots needs Matplotlib: pip install 'quotakernels[plots]'", name=error.name
    ) from error

from quotakernels.plots.charts import PowersChartDisplay, PrecisionRecallDisplay, RocDisplay
from quotakernels.plots.dominance import DominanceDisplay
from quotakernels.plots.impact import ImpactDisplay
from quotakernels.plots.lift_table import LiftTableDisplay
from quotakernels.plots.quota import HitRateDisplay, LiftDisplay, QrecallDisplay
from quotakernels.plots.uplift import UpliftDisplay

__all__ = [
    "DominanceDisplay",
    "HitRateDisplay",
    "ImpactDisplay",
    "LiftDisplay",
    "LiftTableDisplay",
    "PowersChartDisplay",
    "PrecisionRecallDisplay",
    "QrecallDisplay",
    "RocDisplay",
    "UpliftDisplay",
]
