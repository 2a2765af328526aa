"""Powers' charts of ROC space, lines in them, and the area under kappa."""

from quotakernels.measures.charts.auk import auk
from quotakernels.measures.charts.lines import iso_line
from quotakernels.measures.charts.powers import chart_area, chart_points, powers_chart
from quotakernels.measures.roc_pr.costs import iso_performance_slope

__all__ = [
    "auk",
    "chart_area",
    "chart_points",
    "iso_line",
    "iso_performance_slope",
    "powers_chart",
]
