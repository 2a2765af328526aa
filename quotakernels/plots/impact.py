"""Impact against the quota or the boundary, with the best cut B*."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._array import of_kind
from quotakernels._text import formatted, plain
from quotakernels.inputs.keywords import show_value
from quotakernels.plots._axes import QuotaAxis
from quotakernels.plots._display import Canvas, Display
from quotakernels.plots._host import Numbers
from quotakernels.plots._models import apart, label_of, model_axes, models_of, written
from quotakernels.plots._shared import marked, marks
from quotakernels.plots._style import COLOURS, MARKERS, REFERENCE
from quotakernels.results import BestBoundary

MARKED = 60
"""More cuts that are as good as the best one are counted, not marked."""
_WORDS = {
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
        self.best: dict[str, BestBoundary] = {}
        self.in_all, self.kind = in_all, kind
        for name, found in models_of(best, "models", None).items():
            if not isinstance(found, BestBoundary):
                raise TypeError(
                    "best must be a BestBoundary, or a mapping from names to them; "
                    f"got {type(found).__name__}"
                )
            shape = tuple(found.value.shape)
            self.best |= apart(name, found, shape, model_axes(shape, None))

    @classmethod
    def _made(cls, rankings: dict[str, Ranking], **own: Any) -> Self:
        if "impacts" not in own:
            raise TypeError("ImpactDisplay needs impacts")
        best: dict[str, BestBoundary] = {}
        for name, ranking in rankings.items():
            found = qk.best_boundary(ranking, **own)
            shape = tuple(found.value.shape)
            ratios = [f"ratio {plain(r)}" for r in np.asarray(own["ratio"])] if shape else []
            best |= apart(name, found, shape, [ratios] if shape else [])
        return cls(best, kind=own.get("kind", "impact"))

    @classmethod
    def from_gains(
        cls,
        y_score: Any,
        gain: Any,
        *,
        gain_rejected: Any = 0,
        name: Any = None,
        sample_weight: Any = None,
        where: Any = None,
        validate: bool = True,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Rank the scores, add up the gains and draw.

        Parameters
        ----------
        y_score : array of shape (n,) or (models, n), or mapping from names to arrays
            Scores.
        gain, gain_rejected, sample_weight, where, validate : optional but `gain`
            As in `quotakernels.best_quota`.
        name : str, or a sequence of them
            The name of the model, or one for each.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            As in `plot`.

        Returns
        -------
        ImpactDisplay
        """
        keywords = {"sample_weight": sample_weight, "where": where, "validate": validate}
        found: dict[str, BestBoundary] = {}
        for key, scores in models_of(y_score, "models", name).items():
            best = qk.best_quota(None, scores, gain=gain, gain_rejected=gain_rejected, **keywords)
            shape = tuple(best.value.shape)
            found |= apart(key, best, shape, model_axes(shape, name if key == "" else None))
        return cls(found, in_all=True).plot(ax=ax, **options)

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
        if against not in ("quota", "threshold"):
            raise ValueError(f'against must be "quota" or "threshold"; got {show_value(against)}')
        canvas = self._begin(ax, line_options)
        self.markers_ = []
        axis = self._axis(canvas, percent) if against == "quota" else None
        for name, best in self.best.items():
            self._draw(canvas, axis, name, best, line_options)
        _zero(canvas.ax)
        if axis is None:
            canvas.ax.set_xlabel("Boundary (lowest score that is selected)")
        title, label = _WORDS["all" if self.in_all else self.kind]
        title = f"{title} at every {'quota' if axis else 'boundary'}"
        canvas.named(title, label + (written(f" ({unit})") if unit else ""), legend)
        return self

    def _axis(self, canvas: Canvas, percent: bool) -> QuotaAxis:
        quotas = [best.curve.quota for best in self.best.values()]
        weighted = any(not of_kind(np, quota.dtype, "integral") for quota in quotas)
        axis = QuotaAxis([float(quota[-1]) for quota in quotas], weighted, percent)
        axis.drawn(canvas.ax)
        return axis

    def _draw(
        self,
        canvas: Canvas,
        axis: QuotaAxis | None,
        name: str,
        best: BestBoundary,
        options: dict[str, Any],
    ) -> None:
        """A curve and the markers of its best cuts."""
        quota, value, threshold = best.curve
        if axis is None:  # between two scores nothing changes
            x, at = threshold, best.threshold
            look = {"drawstyle": "steps-pre", **options}
            canvas.line(x[:0:-1], value[:0:-1], _label(name, best), look)
        else:
            size = float(quota[-1])
            x, at = axis.of(quota.astype(float), size), axis.of(best.quota, size)
            canvas.line(x, value, _label(name, best), options)
        model, tied = canvas.first + len(self.markers_), _tied(best)
        if 0 < len(tied) <= MARKED:
            _mark(canvas.ax, model, x[tied], value[tied], markerfacecolor="white")
        canvas.ax.axvline(float(at), color=_colour(model), linewidth=0.8, linestyle=":", zorder=1.4)
        look = {"markeredgecolor": "white", "zorder": 3}
        self.markers_.append(_mark(canvas.ax, model, [at], [best.value], **look))


def _tied(best: BestBoundary) -> Numbers:
    """The cuts that are as good as the one reported, which is the first of them."""
    return np.flatnonzero(best.optima)[1:]


def _label(name: str, best: BestBoundary) -> str:
    """The name, and the best cut with what it brings."""
    others = len(_tied(best))
    also = f" and {others} other{'s' * (others > 1)}" if others else ""
    number = formatted(best.value, ".4g").replace("-", "−")  # as the axis writes it
    return label_of(name, f"B* at quota {plain(best.quota)}{also}: {number}")


def _colour(model: int) -> str:
    return COLOURS[model % len(COLOURS)]


def _mark(ax: Axes, model: int, x: Any, y: Any, **look: Any) -> Line2D:
    """Markers of cuts of a model."""
    options: dict[str, Any] = {"markersize": 7, "color": _colour(model), "zorder": 2.9, **look}
    return ax.plot(x, y, MARKERS[model % len(MARKERS)], **options)[0]


def _zero(ax: Axes) -> None:
    """A line between what is lost and what is won, once, where both are seen."""
    low, high = ax.get_ylim()
    if low < 0 < high and not marked(ax, "zero"):
        marks(ax.axhline(0, color=REFERENCE, linewidth=0.8, zorder=1.5), "zero")
