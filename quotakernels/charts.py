"""Powers' charts of ROC space, lines in them, and the area under kappa."""

from quotakernels.measures.public import (
    auk,
    chart_area,
    chart_points,
    iso_line,
    iso_performance_slope,
    powers_chart,
)

__all__ = ["auk", "chart_area", "chart_points", "iso_line", "iso_performance_slope", "powers_chart"]
