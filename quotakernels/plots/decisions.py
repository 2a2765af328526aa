"""Displays of what cuts are worth: impacts, and net benefit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._text import formatted, plain
from quotakernels.inputs.keywords import check_choice, keywords_of, show_value
from quotakernels.plots._display import (
    MARKERS,
    MOST_MARKED,
    OPTIMAL,
    REFERENCE,
    Display,
    QuotaAxis,
    colour_of,
    label_of,
    marked,
    marks,
    named,
    of_models,
    written,
)
from quotakernels.results import BestBoundary

# impact

_AXIS_OF_IMPACT = {
    "impact": ("Impact", "Impact per example"),
    "outcome": ("Outcome impact", "Outcome impact (classes of equal mass)"),
    "all": ("Impact", "Impact of all decisions"),
}
"""The title and the label of the axis."""


class ImpactDisplay(Display):
    """What the decisions bring at every cut, and the best cut B* ([EL]).

    `from_predictions` and `from_ranking` take ``impacts``, what a true positive, false positive,
    false negative and true negative brings, ``kind`` and ``ratio``, as `best_boundary` does, and
    draw the impact per example; of several class ratios, a curve for each.  `from_gains` takes what
    each example brings, as `best_quota` does, and draws the impact of all.

    Parameters
    ----------
    best : BestBoundary, or mapping from names to them
        What `best_boundary` or `best_quota` has found, of one list of scores each.
    in_all : bool
        Whether the impact is the total, as from `best_quota`, and not per example.
    kind : {"impact", "outcome"}
        Which impact it is, as `best_boundary` was told.

    Attributes
    ----------
    best : dict from str to BestBoundary
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model.
    markers_ : list of Line2D
        Its best cut; if several are equally good, the first, and the others have hollow markers.

    See Also
    --------
    quotakernels.best_boundary, quotakernels.best_quota : the curves and the best cut.

    References
    ----------
    [EL] section 7.2, figures 1 and 2, the impact over the boundary; section 7.4, over class ratios.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import ImpactDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = ImpactDisplay.from_predictions(y_true, y_score, impacts=(5, -4, 0, 0), ax=ax)
    >>> print(*display.markers_[0].get_xdata(), *display.markers_[0].get_ydata())
    4.0 2.2

    How sensitive the best cut is to the class ratio:

    >>> options = {"impacts": (5, -4, 0, 0), "ratio": [0.25, 1, 4], "ax": Figure().subplots()}
    >>> ImpactDisplay.from_predictions(y_true, y_score, **options).lines_[0].get_label()
    'ratio 0.25, B* at quota 1: 0.3333'
    """

    _own = ("impacts", "kind", "ratio")
    markers_: list[Line2D]

    def __init__(
        self,
        best: BestBoundary | Mapping[str, BestBoundary],
        *,
        in_all: bool = False,
        kind: Literal["impact", "outcome"] = "impact",
    ):
        if kind not in ("impact", "outcome") or (in_all and kind == "outcome"):
            raise ValueError(
                'kind must be "impact" or "outcome", and "impact" if it is that of all examples; '
                f"got {show_value(kind)}"
            )
        self.best: dict[str, BestBoundary] = named(BestBoundary, "best", best)
        self.in_all, self.kind = in_all, kind

    @classmethod
    def _made(cls, rankings: dict[str, Ranking], **own: Any) -> Self:
        best: dict[str, BestBoundary] = {}
        ratios = own.pop("ratio", None)
        for name, ranking in rankings.items():
            for ratio in [ratios] if np.ndim(ratios) == 0 else np.asarray(ratios):
                label = f"ratio {plain(ratio)}" if np.ndim(ratios) else ""
                best[label_of(name, label)] = qk.best_boundary(ranking, ratio=ratio, **own)
        return cls(best, kind=own.get("kind", "impact"))

    @classmethod
    def from_gains(
        cls, y_score: Any, gain: Any, *, name: Any = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Rank the scores, add up the gains and draw.

        Parameters
        ----------
        y_score : array of shape (n,) or (models, n), or mapping from names to arrays
            Scores.
        gain : array
            What each example brings if it is selected, as in `quotakernels.best_quota`.
        name : str, or a sequence of them
            The name of the model, or one for each.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            What `quotakernels.best_quota` takes, such as `gain_rejected`, `sample_weight` and
            `where`; and what `plot` takes.

        Returns
        -------
        ImpactDisplay
        """
        given = {x: options.pop(x) for x in keywords_of(qk.best_quota) or () if x in options}
        best = of_models(y_score, lambda x: qk.best_quota(None, x, gain=gain, **given))
        return cls(named(BestBoundary, "best", best, name), in_all=True).plot(ax=ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        against: Literal["quota", "threshold"] = "quota",
        unit: str | None = None,
        percent: bool = False,
        legend: bool = True,
        **line_options: Any,
    ) -> Self:
        """Draw the curves and their best cuts.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        against : {"quota", "threshold"}
            The x axis: the number of selected examples, or the lowest selected score.
        unit : str, optional
            Unit of the impact, for the label of the axis.
        percent : bool
            With True the quota is in per cent of the examples, and their number on the second
            scale; with False the other way round.
        legend : bool
            Whether to draw a legend.
        **line_options : optional
            What Matplotlib's `Line2D` takes, for the curves of all models.

        Returns
        -------
        ImpactDisplay
        """
        check_choice("against", against, "quota", "threshold")
        ax = self._begin(ax)
        self.markers_ = []
        axis = None
        if against == "quota":
            axis = QuotaAxis(ax, [best.curve.quota[-1] for best in self.best.values()], percent)
        else:
            ax.set_xlabel("Boundary (lowest score that is selected)")
        for name, best in self.best.items():
            self._draw(axis, name, best, line_options)
        low, high = ax.get_ylim()
        if low < 0 < high and not marked(ax, "zero"):
            marks(ax.axhline(0, color=REFERENCE, linewidth=0.8, zorder=1.5), "zero")
        title, label = _AXIS_OF_IMPACT["all" if self.in_all else self.kind]
        title = f"{title} at every {'quota' if axis else 'boundary'}"
        self._named(title, label + (written(f" ({unit})") if unit else ""), legend)
        return self

    def _draw(
        self, axis: QuotaAxis | None, name: str, best: BestBoundary, options: dict[str, Any]
    ) -> None:
        """A curve and the markers of its best cuts."""
        quota, value, threshold = best.curve
        tied = np.flatnonzero(best.optima)[1:]  # the one reported is the first
        label = _label(name, best, len(tied))
        if axis is None:  # between two scores nothing changes
            x, at = threshold, best.threshold
            look = {"drawstyle": "steps-pre", **options}
            self._line(x[:0:-1], value[:0:-1], label, look)
        else:
            size = float(quota[-1])
            x, at = axis.of(quota.astype(float), size), axis.of(best.quota, size)
            self._line(x, value, label, options)
        model = self._before + len(self.markers_)
        marker, style = MARKERS[model % len(MARKERS)], {"markersize": 7, "color": colour_of(model)}
        if 0 < len(tied) <= MOST_MARKED:
            look = {"markerfacecolor": "white", "zorder": 2.9, **style}
            self.ax_.plot(x[tied], value[tied], marker, **look)
        self.ax_.axvline(float(at), color=style["color"], linewidth=0.8, linestyle=":", zorder=1.4)
        look = {"markeredgecolor": "white", "zorder": 3, **style}
        self.markers_ += self.ax_.plot([at], [best.value], marker, **look)


def _label(name: str, best: BestBoundary, others: int) -> str:
    """The name, and the best cut with what it brings."""
    also = f" and {others} other{'s' * (others > 1)}" if others else ""
    number = formatted(best.value, ".4g").replace("-", "−")  # as the axis writes it
    return label_of(name, f"B* at quota {plain(best.quota)}{also}: {number}")


# decision curves


class DecisionCurveDisplay(Display):
    """Net benefit over the threshold probability, beside treating everybody and nobody.

    The scores are calibrated probabilities.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What is drawn: each ranking is of one list of scores.
    prevalence : number, optional
        The share of positives among those whom the model is for, as in `decision_curve`.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model.

    See Also
    --------
    quotakernels.decisions.decision_curve : the curve.

    References
    ----------
    [Vickers 2006].

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import DecisionCurveDisplay
    >>> sick, risk = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = DecisionCurveDisplay.from_predictions(sick, risk, ax=ax)
    >>> display.lines_[0].get_ydata()[49].round(2)
    np.float64(0.4)
    """

    _own = ("prevalence",)

    def __init__(
        self, rankings: Ranking | Mapping[str, Ranking], *, prevalence: float | None = None
    ):
        super().__init__(rankings)
        self.prevalence = prevalence

    def plot(
        self,
        ax: Axes | None = None,
        *,
        threshold_probability: Any = None,
        legend: bool = True,
        **line_options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        threshold_probability : array, optional
            Where the curves have points; by default at 0.01, 0.02, …, 0.99.
        legend : bool
            Whether to draw a legend.
        **line_options : optional
            What Matplotlib's `Line2D` takes, for the curves of all models.

        Returns
        -------
        DecisionCurveDisplay
        """
        ax, everybody, ends = self._begin(ax), [], [0, 1]
        given = {"threshold_probability": threshold_probability, "prevalence": self.prevalence}
        for name, ranking in self.rankings.items():
            curve = qk.decisions.decision_curve(ranking, **given)
            at = curve.threshold_probability
            self._line(at, curve.net_benefit, name, line_options)
            everybody.append((at, curve.treat_all.round(12) + 0.0))  # equal lines are drawn once
            ends = [at[0], at[-1]]
        self._references(everybody, "treat all")
        self._references([(ends, [0, 0])], "treat none", OPTIMAL)
        top = np.nanmax(np.concatenate([x.get_ydata() for x in ax.lines]))
        ax.set(xlabel="Threshold probability", ylim=(-0.2 * top, 1.1 * top) if top > 0 else None)
        self._named("Decision curve", "Net benefit", legend)
        return self


# cost curves


class CostCurveDisplay(Display):
    """Cost curves, or Brier curves, beside what selecting nobody or everybody costs.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What is drawn: each ranking is of one list of scores.
    kind : {"cost", "brier"}
        The cost of the best cuts over the probability cost, or the loss at thresholds that are the
        cost proportion, for scores that are probabilities.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model.

    See Also
    --------
    quotakernels.decisions.cost_curve, quotakernels.decisions.brier_curve

    References
    ----------
    [Drummond 2006]; [Hernández 2011].

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import CostCurveDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = CostCurveDisplay.from_predictions(y_true, y_score, ax=ax)
    >>> print(display.lines_[0].get_xdata().round(2), display.lines_[0].get_ydata().round(2))
    [0.   0.43 1.  ] [0.   0.29 0.  ]
    """

    _own = ("kind",)

    def __init__(
        self,
        rankings: Ranking | Mapping[str, Ranking],
        *,
        kind: Literal["cost", "brier"] = "cost",
    ):
        check_choice("kind", kind, "cost", "brier")
        super().__init__(rankings)
        self.kind = kind

    def plot(self, ax: Axes | None = None, *, legend: bool = True, **line_options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        legend : bool
            Whether to draw a legend.
        **line_options : optional
            What Matplotlib's `Line2D` takes, for the curves of all models.

        Returns
        -------
        CostCurveDisplay
        """
        ax, trivial = self._begin(ax), []
        for name, ranking in self.rankings.items():
            if self.kind == "cost":  # straight between the slopes of the hull
                slopes = qk.roc_hull(ranking).slope_min
                at = np.unique([0.0, *(1 / (1 + slopes[np.isfinite(slopes)])), 1.0])
                curve: Any = qk.decisions.cost_curve(ranking, probability_cost=at)
            else:
                curve = qk.decisions.brier_curve(ranking)
            self._line(curve[0], curve[1], name, line_options)
            costs = qk.decisions.cost_curve(ranking) if self.kind == "cost" else curve
            trivial.append((costs[0], costs.trivial.round(12) + 0.0))  # equal lines are drawn once
        self._references(trivial, "nobody or all", OPTIMAL)
        label, title = _COST_AXES[self.kind]
        ax.set(xlabel=label, xlim=(0, 1))
        self._named(title, "Normalized expected cost" if self.kind == "cost" else "Loss", legend)
        return self


_COST_AXES = {
    "cost": ("Probability cost of the positives", "Cost curve"),
    "brier": ("Cost proportion", "Brier curve"),
}
"""The label of the axis, and the title."""
