"""The lift of each part of the ranking as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

import quotakernels as qk
from quotakernels import LiftTable, Ranking
from quotakernels.plots._axes import titled, with_legend
from quotakernels.plots._display import Display
from quotakernels.plots._style import COLOURS, HATCHES
from quotakernels.plots.quota import quota_axis

__all__ = ["LiftTableDisplay"]


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
    AR section 2.2.5: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

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
            The quota in per cent of the examples, their number on the second scale; or the other
            way round.
        random : bool
            Also draw what a random ranking has, 1.
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
        canvas, axis = self._begin(ax), quota_axis(self.rankings, percent)
        axis.drawn(canvas.ax)
        self.bars_ = []
        for name, table in self.tables.items():
            size = float(table.stop[-1])
            places = table._replace(
                start=axis.of(table.start, size), stop=axis.of(table.stop, size)
            )
            look = _pale(len(self.bars_)) | bar_options if cumulative else bar_options
            self._bars(canvas.ax, name, places, look)
            if cumulative:
                label = f"{name}, cumulative" if name else "cumulative"
                canvas.line(
                    places.stop, table.cumulative_lift, label, {"marker": "o", "markersize": 3}
                )
        if random:
            canvas.references([([0, axis.end], [1, 1])], "random")
        canvas.ax.margins(y=0.2)  # room for the legend above the bars
        canvas.ax.set_ylabel("Lift of the bin (hit rate / prevalence)")
        titled(canvas.ax, "Lift of each part of the ranking, best first")
        if legend:
            with_legend(canvas.ax)
        return self

    def _bars(self, ax: Axes, name: str, table: LiftTable, options: dict[str, Any]) -> None:
        """The bars of a model, beside those of the others in each bin."""
        model, width = len(self.bars_), (table.stop - table.start) * 0.84 / len(self.tables)
        left = table.start + (table.stop - table.start) * 0.08 + model * width
        look = {
            "color": COLOURS[model % len(COLOURS)],
            "hatch": HATCHES[model % len(HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.5,
            **options,
        }
        self.bars_.append(ax.bar(left, table.lift, width, align="edge", label=name or None, **look))


def _pale(model: int) -> dict[str, Any]:
    """Bars in front of which a line of the same colour stands out."""
    colour = COLOURS[model % len(COLOURS)]
    return {"color": to_rgba(colour, 0.25), "edgecolor": colour}
