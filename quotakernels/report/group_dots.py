"""The dot plot of groups: a row for each, a dot and its interval for every model."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from quotakernels.evaluation.results import Column, GroupResults, GroupValues
from quotakernels.evaluation.tables import MANY
from quotakernels.plots._axes import COLOURS, MARKERS, REFERENCE
from quotakernels.plots._models import written

_APART = 0.6
"""Of the room of a group, what the dots of its models take."""


def few(groups: GroupResults | None) -> bool:
    """Whether there are groups, so few that each has its row."""
    return groups is not None and 0 < len(groups.names) <= MANY


def colour_of(model: int) -> str:
    """That of the dots of a model."""
    return COLOURS[model % len(COLOURS)]


def draw_dots(ax: Axes, groups: GroupResults, values: GroupValues, measure: Column) -> None:
    """Draw what each model has in each group; groups are in order from above."""
    column = values.of(measure.name)
    models, size = column.shape
    rows = np.arange(size)
    for model in range(models):
        heights = rows + _APART * ((model + 0.5) / models - 0.5)
        colour = colour_of(model)
        if measure.name in values.ends:
            lower, upper = values.ends[measure.name][:, model]
            ax.hlines(heights, lower, upper, color=colour, linewidth=1.4)
        marker = MARKERS[model % len(MARKERS)]
        ax.plot(column[model], heights, marker, color=colour, markersize=4.5)
    if measure.name == "hit_rate":
        with np.errstate(invalid="ignore"):
            at_random = groups.positive_masses / groups.masses
        ax.vlines(at_random, rows - _APART / 2, rows + _APART / 2, color=REFERENCE, linewidth=1.2)
    else:
        ax.axvline(0.5, color=REFERENCE, linewidth=1.2)
    ax.set_yticks(rows, [written(str(x)) for x in groups.names])
    ax.set(xlim=(-0.02, 1.02), ylim=(size - 0.5, -0.5), xlabel=measure.title)
