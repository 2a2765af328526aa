"""The lift of each part of the ranking as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

import quotakernels as qk
from quotakernels import Ranking
from quotakernels.plots._display import Canvas, Display
from quotakernels.plots._models import label_of, written
from quotakernels.plots._shared import marked, marks, source_of
from quotakernels.plots._style import COLOURS, HATCHES
from quotakernels.plots.quota import quota_axis
from quotakernels.results import LiftTable

_BARS = "bars"


class LiftTableDisplay(Display):
    """The lift of each of `bins` parts of the ranking, best first, and the cumulative lift.

    `from_predictions` and `from_ranking` make it and draw it.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw.
    bins : int
        Number of bins, at least 1.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    tables : dict from str to LiftTable
        The bins of each.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    bars_ : list of BarContainer
        The bars of each model.
    lines_ : list of Line2D
        Its cumulative lift, if that is drawn.

    See Also
    --------
    quotakernels.lift_table : the bins.

    References
    ----------
    [AR] section 2.2.5.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import LiftTableDisplay
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1]
    >>> ax = Figure().subplots()
    >>> display = LiftTableDisplay.from_predictions(y_true, y_score, bins=3, ax=ax)
    >>> print([float(bar.get_height()) for bar in display.bars_[0]])
    [2.0, 1.0, 0.0]
    """

    _own: ClassVar[tuple[str, ...]] = ("bins",)
    bars_: list[Any]

    def __init__(self, rankings: Ranking | Mapping[str, Ranking], *, bins: int = 10):
        super().__init__(rankings)
        self.tables = {name: qk.lift_table(x, bins=bins) for name, x in self.rankings.items()}

    def plot(
        self,
        ax: Axes | None = None,
        *,
        percent: bool = True,
        random: bool = True,
        cumulative: bool = False,
        legend: bool = True,
        **bar_options: Any,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        percent : bool
            With True the quota is in per cent of the examples, and their number on the second
            scale; with False the other way round.
        random : bool
            Also draw the lift of a random ranking, 1.
        cumulative : bool
            Also draw the lift of all bins down to each, at its end.
        legend : bool
            Whether to draw a legend.
        **bar_options : optional
            What Matplotlib's `bar` takes.

        Returns
        -------
        LiftTableDisplay
        """
        canvas = self._begin(ax, bar_options, Rectangle)
        axis = quota_axis(canvas.ax, self.rankings, percent)
        options = normalize_kwargs(bar_options, Rectangle)
        self.bars_ = []
        for name, table in self.tables.items():
            size = float(table.stop[-1])
            places = table._replace(
                start=axis.of(table.start, size), stop=axis.of(table.stop, size)
            )
            self._bars(canvas, name, places, cumulative, options)
            if cumulative:
                label, dots = label_of(name, "cumulative"), {"marker": "o", "markersize": 3}
                canvas.line(places.stop, table.cumulative_lift, label, dots)
        _side_by_side(canvas.ax)
        if random:
            canvas.references([([0, axis.end], [1, 1])], "random")
        canvas.ax.margins(y=0.2)  # room for the legend above the bars
        title = "Lift of each part of the ranking, best first"
        canvas.named(title, "Lift of the bin (hit rate / prevalence)", legend)
        return self

    def _bars(
        self, canvas: Canvas, name: str, table: LiftTable, pale: bool, options: dict[str, Any]
    ) -> None:
        """The bars of a model; `pale` if a line of the same colour is to stand out from them."""
        model = canvas.first + len(self.bars_)
        colour = COLOURS[model % len(COLOURS)]
        look = {
            "color": to_rgba(colour, 0.25) if pale else colour,
            "edgecolor": colour if pale else "white",
            "hatch": HATCHES[model % len(HATCHES)],
            "linewidth": 0.5,
            "label": written(name) or None,
            **options,
        }
        height = np.where(np.isfinite(table.lift), table.lift, np.nan)
        widths = table.stop - table.start
        bars = canvas.ax.bar(table.start, height, widths, align="edge", **look)
        self.bars_.append(marks(bars, _BARS, model, (table.start, widths)))


def _side_by_side(ax: Axes) -> None:
    """Let the bars of all models on the axes share the width of each bin."""
    models = marked(ax, _BARS)
    for place, bars in enumerate(models):
        for bar, start, whole in zip(bars, *source_of(bars), strict=True):
            width = 0.84 * whole / len(models)
            bar.set(x=start + 0.08 * whole + place * width, width=width)
