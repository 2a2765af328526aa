"""Powers' charts of ROC space, lines in them, and the area under kappa."""

from quotakernels.measures.public import (
    auk as auk,
    chart_area as chart_area,
    chart_points as chart_points,
    iso_line as iso_line,
    iso_performance_slope as iso_performance_slope,
    powers_chart as powers_chart,
)

__all__ = [name for name in dir() if not name.startswith("_")]
