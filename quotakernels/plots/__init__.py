"""Displays of the measures, drawn by Matplotlib, one class for each kind of curve."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "quotakernels.plots needs Matplotlib: pip install 'quotakernels[plots]'", name=error.name
    ) from error

from quotakernels.plots.decisions import CostCurveDisplay, DecisionCurveDisplay, ImpactDisplay
from quotakernels.plots.displays import (
    DominanceDisplay,
    HitRateDisplay,
    LiftDisplay,
    LiftTableDisplay,
    PowersChartDisplay,
    PrecisionRecallDisplay,
    PrecisionRecallGainDisplay,
    QrecallDisplay,
    RocDisplay,
    ScoreDistributionDisplay,
    UpliftDisplay,
)

__all__ = [
    "CostCurveDisplay",
    "DecisionCurveDisplay",
    "DominanceDisplay",
    "HitRateDisplay",
    "ImpactDisplay",
    "LiftDisplay",
    "LiftTableDisplay",
    "PowersChartDisplay",
    "PrecisionRecallDisplay",
    "PrecisionRecallGainDisplay",
    "QrecallDisplay",
    "RocDisplay",
    "ScoreDistributionDisplay",
    "UpliftDisplay",
]
