"""Bars over the quota: the lift of each part, and where each model is the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._text import formatted
from quotakernels.plots._axes import COLOURS, HATCHES, mark_of, marked, marks, titled
from quotakernels.plots._display import Display
from quotakernels.plots._models import label_of, named_rankings, written
from quotakernels.plots.curves import quota_axis
from quotakernels.results import LiftTable

# the lift of each part


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

    _own = ("bins",)
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
        axis = quota_axis(self._begin(ax), self.rankings, percent)
        options = normalize_kwargs(bar_options, Rectangle)
        self.bars_ = []
        for name, table in self.tables.items():
            size = float(table.stop[-1])
            places = table._replace(
                start=axis.of(table.start, size), stop=axis.of(table.stop, size)
            )
            self._bars(name, places, cumulative, options)
            if cumulative:
                label, dots = label_of(name, "cumulative"), {"marker": "o", "markersize": 3}
                self._line(places.stop, table.cumulative_lift, label, dots)
        _side_by_side(self.ax_)
        if random:
            self._references([([0, axis.end], [1, 1])], "random")
        self.ax_.margins(y=0.2)  # room for the legend above the bars
        title = "Lift of each part of the ranking, best first"
        self._named(title, "Lift of the bin (hit rate / prevalence)", legend)
        return self

    def _bars(self, name: str, table: LiftTable, pale: bool, options: dict[str, Any]) -> None:
        """The bars of a model; `pale` if a line of the same colour is to stand out from them."""
        model = self._before + len(self.bars_)
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
        bars = self.ax_.bar(table.start, height, widths, align="edge", **look)
        self.bars_.append(marks(bars, _BARS, model, (table.start, widths)))


def _side_by_side(ax: Axes) -> None:
    """Let the bars of all models on the axes share the width of each bin."""
    models = marked(ax, _BARS)
    for place, bars in enumerate(models):
        for bar, start, whole in zip(bars, *mark_of(bars).source, strict=True):
            width = 0.84 * whole / len(models)
            bar.set(x=start + 0.08 * whole + place * width, width=width)


# areas of dominance


_RATES = {"fpr": "False positive rate", "recall": "Recall"}


class DominanceDisplay(Display):
    """Areas of dominance: a row for each model, with a bar where no other model is better.

    `from_predictions` and `from_ranking` make it and draw it.

    Parameters
    ----------
    rankings : mapping from names to Rankings, or a Ranking of shape (models, groups)
        Rankings of the same examples.
    axis : {"quota", "fpr", "recall"}
        What to fix, as in `compare_curves`.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    regions : Regions
        What `compare_curves` has found.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list
        Empty.
    bars_ : list of PolyCollection
        The bars of each model.

    See Also
    --------
    quotakernels.compare_curves : the stretches.

    References
    ----------
    [AR] Figure 4.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import DominanceDisplay
    >>> y_true = [1, 0, 0, 1, 0]
    >>> scores = {"a": [0.9, 0.8, 0.7, 0.6, 0.5], "b": [0.7, 0.7, 0.1, 0.7, 0.1]}
    >>> display = DominanceDisplay.from_predictions(y_true, scores, ax=Figure().subplots())
    >>> print(display.shares)
    {'a': 0.5, 'b': 0.7}
    """

    _own = ("axis",)
    _of_classes = (
        "DominanceDisplay compares models of one class: draw one class at a time, with labels "
        "y_true == c, and scores y_score[:, c] of each named model"
    )
    bars_: list[Any]

    def __init__(
        self,
        rankings: Ranking | Mapping[str, Ranking],
        *,
        axis: Literal["quota", "fpr", "recall"] = "quota",
    ):
        self.rankings, self.axis = named_rankings(rankings), axis
        self.regions = qk.compare_curves(self.rankings, axis=axis)

    @property
    def shares(self) -> dict[str, float]:
        """The part of the axis on which each model is best, or equal to the best."""
        start, stop, best = self.regions
        whole = stop[-1] - start[0]
        lengths = ((stop - start)[:, np.newaxis] * best).sum(axis=0) / whole
        return dict(zip(self.rankings, lengths.tolist(), strict=True))

    def plot(self, ax: Axes | None = None, *, percent: bool = False, **bar_options: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        percent : bool
            With True the quota is in per cent of the examples, and their number on the second
            scale; with False the other way round.
        **bar_options : optional
            What Matplotlib's `broken_barh` takes.

        Returns
        -------
        DominanceDisplay
        """
        self._begin(ax, (6.4, 1.6 + 0.5 * len(self.rankings)))
        self.bars_ = []
        factor = self._axis(percent)
        shares = self.shares
        for row in range(len(shares)):
            start, stop = _joined(self.regions.start, self.regions.stop, self.regions.best[:, row])
            pieces = list(zip(start * factor, (stop - start) * factor, strict=True))
            look = {"facecolor": COLOURS[row % len(COLOURS)], "linewidth": 0, **bar_options}
            self.bars_.append(self.ax_.broken_barh(pieces, (row - 0.35, 0.7), **look))
        self.ax_.set_yticks(
            range(len(shares)),
            [label_of(written(name), formatted(share, ".1%")) for name, share in shares.items()],
        )
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(shares) - 0.5, -0.5)
        self.ax_.grid(axis="x", linewidth=0.4, color="#BBBBBB")
        self.ax_.set_axisbelow(True)
        titled(self.ax_, "Where each model is the best")
        return self

    def _axis(self, percent: bool) -> float:
        """The x axis, and what a place on it is of the place in the regions."""
        if self.axis in _RATES:
            self.ax_.set(xlim=(0, 1), xlabel=_RATES[self.axis])
            return 1.0
        axis = quota_axis(self.ax_, self.rankings, percent)
        return axis.end / axis.size


def _joined(start: Any, stop: Any, best: Any) -> tuple[Any, Any]:
    """The stretches in which a model is best; those that touch are one."""
    there = best & (stop > start)
    before = np.concatenate([[False], there[:-1]])
    after = np.concatenate([there[1:], [False]])
    return start[there & ~before], stop[there & ~after]
