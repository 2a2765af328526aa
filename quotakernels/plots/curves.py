"""Curves over the quota: hit rate, Qrecall, lift, uplift, and impact with the best cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._text import digits, formatted, plain
from quotakernels.inputs.keywords import check_choice, show_value
from quotakernels.measures.uplift import Arms, arms_of, best_order, height
from quotakernels.ops import namespace
from quotakernels.plots._axes import (
    COLOURS,
    MARKERS,
    OPTIMAL,
    REFERENCE,
    QuotaAxis,
    marked,
    marks,
    next_model,
    rate_limits,
)
from quotakernels.plots._display import Display, cuts, totals
from quotakernels.plots._models import (
    Numbers,
    Value,
    apart,
    label_of,
    model_axes,
    models_of,
    with_value,
    written,
)
from quotakernels.results import BestBoundary

# hit rate, lift and Qrecall


_Line = tuple[Numbers, Numbers]
MOST_SHADED = 4000
"""Points of the outline of a shade."""


def quota_axis(ax: Axes, rankings: dict[str, Ranking], percent: bool) -> QuotaAxis:
    """The quota axis that these rankings share, drawn."""
    weighted = any(ranking.positive_weights.dtype.kind not in "iu" for ranking in rankings.values())
    axis = QuotaAxis([sum(totals(x)) for x in rankings.values()], weighted, percent)
    axis.drawn(ax)
    return axis


class QuotaDisplay(Display):
    """Curves over the quota axis, beside what a random and a perfect ranking have."""

    _title: ClassVar[str]
    _label: ClassVar[str]
    _legend: ClassVar[str] = "best"
    _rates: ClassVar[str] = ""
    _area: ClassVar[Value | None] = None
    _random_alone: str | None = None
    _relative: ClassVar[bool] = False
    """Whether hit rates are divided by the prevalence."""

    def plot(
        self,
        ax: Axes | None = None,
        *,
        percent: bool = False,
        random: bool = True,
        optimal: bool = False,
        band: Any = None,
        legend: bool = True,
        **line_options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        percent : bool
            With True the quota is in per cent of the examples, and their number on the second
            scale; with False the other way round.
        random, optimal : bool
            Also draw the curve of a random and of a perfect ranking: the prevalence and min(1, P/j)
            for hit rates, 1 and min(n/P, n/j) for lifts.
        band : CurveBand, or mapping from names to CurveBands, optional
            Bands from `curve_band`, drawn as shades.  Positions up to 1 are fractions.
        legend : bool
            Whether to draw a legend.
        **line_options : optional
            What Matplotlib's `Line2D` takes, for the curves of all models.

        Returns
        -------
        display
        """
        axis = quota_axis(self._begin(ax), self.rankings, percent)
        sizes = {name: sum(totals(ranking)) for name, ranking in self.rankings.items()}

        def place(at: Numbers, name: str) -> Numbers:
            quotas = at if at.max(initial=0) > 1 else at * sizes[name]
            return axis.of(quotas, sizes[name])

        self._bands(band, place)
        for name, ranking in self.rankings.items():
            x, y, counts = self._points(axis, ranking)
            label = with_value(name, self._area, ranking)
            self._shade(axis, ranking, *self._line(x, y, label, line_options, counts))
        rankings = self.rankings.values()
        if random:
            ends = np.asarray([0, axis.end])
            lines = [(ends, self._random(x)) for x in rankings]
            self._references(lines, "random", alone=self._random_alone)
        if optimal:
            self._references([self._optimal(axis, x) for x in rankings], "optimal", OPTIMAL)
        rate_limits(self.ax_, *self._rates)
        self._named(self._title, self._label, legend, self._legend)
        return self

    def _points(self, axis: QuotaAxis, ranking: Ranking) -> tuple[Numbers, Numbers, Any]:
        """T(j)/j in units, constant along the first tie group and a hyperbola along others."""
        fp, tp = cuts(ranking)
        size, unit = fp[-1] + tp[-1], self._unit(ranking)

        def place(fp: Numbers, tp: Numbers) -> _Line:
            with np.errstate(invalid="ignore", divide="ignore"):
                return axis.of(fp + tp, size), tp / (fp + tp) / unit

        x, y = place(fp, tp)
        y[:1] = y[1:2]
        return x, y, (fp, tp, place)

    def _unit(self, ranking: Ranking) -> float:
        """What hit rates are divided by."""
        return _prevalence(ranking) if self._relative else 1.0

    def _shade(self, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers) -> None:
        """Shade what is between the curve of a model and chance."""

    def _random(self, ranking: Ranking) -> Numbers:
        """What a random ranking has, at both ends of the axis."""
        return np.full(2, _prevalence(ranking) / self._unit(ranking))

    def _optimal(self, axis: QuotaAxis, ranking: Ranking) -> _Line:
        """min(1, P/j) in units."""
        positives, negatives = totals(ranking)
        size = positives + negatives
        rest = np.linspace(positives, size, 200)
        with np.errstate(invalid="ignore", divide="ignore"):
            y = np.concatenate([[1.0], positives / rest]) / self._unit(ranking)
        return axis.of(np.concatenate([[0.0], rest]), size), y


def _prevalence(ranking: Ranking) -> float:
    positives, negatives = totals(ranking)
    return positives / (positives + negatives) if positives + negatives else float("nan")


class HitRateDisplay(QuotaDisplay):
    """Hit rate against the quota, T(j)/j, of one model or several.

    `from_predictions` and `from_ranking` make it and draw it.  Within a tie group the curve is the
    expectation over the order of ties, so it passes through `hit_rate` at every quota.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw.

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
    quotakernels.hit_rate_curve : the same at the cuts between tie groups.

    References
    ----------
    [AR] eq. 4, Figure 4.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import HitRateDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = HitRateDisplay.from_predictions(y_true, y_score, name="model", ax=ax)
    >>> print(display.lines_[0].get_label(), display.ax_.get_xlabel())
    model (AHR = 0.819) Quota (examples)
    """

    _title, _label = "Hit rate at every quota", "Hit rate (positives / selected)"

    _area = "AHR", qk.average_hit_rate

    @property
    def _random_alone(self) -> str:  # type: ignore[override]
        first, *_ = self.rankings.values()
        return f"random (prevalence {formatted(_prevalence(first), '.3g')})"


class LiftDisplay(QuotaDisplay):
    """Cumulative lift against the quota, (T(j)/j)/(P/n), of one model or several.

    `from_predictions` and `from_ranking` make it and draw it.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw.

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
    LiftTableDisplay : the lift of each tenth of the ranking.
    quotakernels.lift_curve : the same at the cuts between tie groups.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import LiftDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> display = LiftDisplay.from_predictions(y_true, y_score, ax=Figure().subplots())
    >>> print(display.lines_[0].get_ydata()[-1], display.ax_.get_ylabel())
    1.0 Lift (hit rate / prevalence)
    """

    _title, _label = "Lift at every quota", "Lift (hit rate / prevalence)"
    _relative = True


class QrecallDisplay(QuotaDisplay):
    """Qrecall (cumulative gains) against the quota, T(j)/P, between chance and the optimum.

    `from_predictions` and `from_ranking` make it and draw it.  PEM is (S1 - S2)/S3, where S1 is the
    area between curve and chance where the curve is above it, S2 where it is below, and S3 is S1 of
    the optimal ranking.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model.
    areas_ : list of PolyCollection
        S1 and S2 of each model for which they are shaded.

    See Also
    --------
    quotakernels.qrecall_curve : the curve.
    quotakernels.pem_areas : the areas; those drawn are of ``method="area"``.

    References
    ----------
    [AR] eq. 6 and 14-15, Figures 5-8.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import QrecallDisplay
    >>> y_true, y_score = [1, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> display = QrecallDisplay.from_predictions(y_true, y_score, ax=Figure().subplots())
    >>> print([area.get_label() for area in display.areas_])
    ['S1 = 0.375, above chance', 'S2 = 0.375, below chance']
    """

    _title, _label = "Qrecall at every quota", "Qrecall (positives found / all)"
    _legend, _rates, _area = "lower right", "y", ("PEM", qk.pem)
    areas_: list[Any]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        optimal: bool = True,
        areas: bool | None = None,
        band: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curves; see `HitRateDisplay.plot`.

        Parameters
        ----------
        ax, optimal, band, **options
            As there; a random ranking has j/n, and a perfect one min(1, j/P).
        areas : bool, optional
            Shade S1 and S2; by default for a single model without a band, if it is the first on the
            axes.

        Returns
        -------
        QrecallDisplay
        """
        alone = len(self.rankings) == 1 and band is None and (ax is None or next_model(ax) == 0)
        self.areas_, self._shaded = [], alone if areas is None else areas
        super().plot(ax, optimal=optimal, band=band, **options)
        return self

    def _points(self, axis: QuotaAxis, ranking: Ranking) -> tuple[Numbers, Numbers, Any]:
        fp, tp = cuts(ranking)
        with np.errstate(invalid="ignore"):
            return axis.of(fp + tp, fp[-1] + tp[-1]), tp / tp[-1], None

    def _shade(self, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers) -> None:
        if not self._shaded:
            return
        s1, s2, _ = qk.pem_areas(ranking, method="area")
        colour = self.lines_[-1].get_color()
        if len(x) > MOST_SHADED:  # a shade is not simplified when it is drawn
            x, whole = np.linspace(0, axis.end, MOST_SHADED), (x, y)
            y = np.interp(x, *whole)
        chance = x / axis.end
        looks: tuple[tuple[Numbers, str, dict[str, Any]], ...] = (
            (y >= chance, f"S1 = {digits(s1)}, above chance", {"facecolor": colour, "alpha": 0.2}),
            (
                y <= chance,
                f"S2 = {digits(s2)}, below chance",
                {"facecolor": "#F5C9AE", "edgecolor": "#8C3B00", "hatch": "//////", "linewidth": 0},
            ),
        )
        for there, label, look in looks:
            look |= {"where": there, "interpolate": True, "label": label}
            self.areas_.append(self.ax_.fill_between(x, y, chance, **look))

    def _random(self, _: Ranking) -> Numbers:
        return np.asarray([0.0, 1.0])

    def _optimal(self, axis: QuotaAxis, ranking: Ranking) -> _Line:
        positives, negatives = totals(ranking)
        size = positives + negatives
        return axis.of(np.asarray([0.0, positives, size]), size), np.asarray([0.0, 1.0, 1.0])


# uplift


_CURVES = {"uplift": qk.uplift.uplift_curve, "qini": qk.uplift.qini_curve}
_LABELS = {"uplift": "Positives added", "qini": "Positives added among the treated"}
_AREAS: dict[str, Value] = {
    "uplift": ("AUUC", qk.uplift.auuc),
    "qini": ("Qini", qk.uplift.qini_coefficient),
}


class UpliftDisplay(QuotaDisplay):
    """Uplift or Qini curve against the quota, of one model or several.

    `from_predictions`, which also needs ``treatment``, as in `quotakernels.rank`, and
    `from_ranking` make it and draw it.  Between the cuts it is straight.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw; made with `treatment`.
    curve : {"uplift", "qini"}
        Which curve.

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
    quotakernels.uplift.uplift_curve, quotakernels.uplift.qini_curve : the curves.

    References
    ----------
    [Radcliffe 2007]; [Gutierrez 2017] section 4.1.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import UpliftDisplay
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> given = {"treatment": [1, 0, 1, 1, 0, 0], "ax": Figure().subplots(), "name": "model"}
    >>> display = UpliftDisplay.from_predictions(bought, score, **given)
    >>> print(display.lines_[0].get_label(), display.lines_[0].get_ydata()[-1])
    model (AUUC = 0.271) 2.0
    """

    _own = ("curve",)
    _of_rank = _needed = ("treatment",)
    _title = "Uplift at every quota"

    def __init__(
        self,
        rankings: Ranking | Mapping[str, Ranking],
        *,
        curve: Literal["uplift", "qini"] = "uplift",
    ):
        if curve not in _CURVES:
            raise ValueError(f'curve must be "uplift" or "qini"; got {show_value(curve)}')
        super().__init__(rankings)
        self.curve = curve
        self._label, self._area = _LABELS[curve], _AREAS[curve]  # type: ignore[misc]

    def plot(self, ax: Axes | None = None, *, optimal: bool = False, **options: Any) -> Self:
        """Draw the curves; see `HitRateDisplay.plot`.

        Parameters
        ----------
        ax, optimal, **options
            As there, without bands; a random ranking has the straight line to the end, and the best
            order is that of `quotakernels.uplift.auuc`.

        Returns
        -------
        UpliftDisplay
        """
        if options.get("band") is not None:
            raise TypeError("UpliftDisplay takes no band")
        return super().plot(ax, optimal=optimal, **options)

    def _points(self, axis: QuotaAxis, ranking: Ranking) -> tuple[Numbers, Numbers, Any]:
        found = _CURVES[self.curve](ranking)
        quota = np.asarray(found.quota, dtype=np.float64)
        return axis.of(quota, quota[-1]), found.value, None

    def _random(self, ranking: Ranking) -> Numbers:
        return np.asarray([0.0, _CURVES[self.curve](ranking).value[-1]])

    def _optimal(self, axis: QuotaAxis, ranking: Ranking) -> tuple[Numbers, Numbers]:
        xp = namespace(ranking.counts)
        whole = arms_of(ranking, lambda x: np.sum(x, dtype=np.float64))
        upto = np.cumsum([[0.0] * 4, *best_order(xp, whole, self.curve)], axis=0)
        quota = upto.sum(axis=-1)
        return axis.of(quota, quota[-1]), height(xp, Arms(*upto.T), self.curve)


# impact


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
    _needed = ("impacts",)
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
        check_choice("against", against, "quota", "threshold")
        ax = self._begin(ax)
        self.markers_ = []
        axis = self._axis(percent) if against == "quota" else None
        for name, best in self.best.items():
            self._draw(axis, name, best, line_options)
        _zero(ax)
        if axis is None:
            ax.set_xlabel("Boundary (lowest score that is selected)")
        title, label = _WORDS["all" if self.in_all else self.kind]
        title = f"{title} at every {'quota' if axis else 'boundary'}"
        self._named(title, label + (written(f" ({unit})") if unit else ""), legend)
        return self

    def _axis(self, percent: bool) -> QuotaAxis:
        quotas = [best.curve.quota for best in self.best.values()]
        weighted = any(quota.dtype.kind not in "iu" for quota in quotas)
        axis = QuotaAxis([float(quota[-1]) for quota in quotas], weighted, percent)
        axis.drawn(self.ax_)
        return axis

    def _draw(
        self,
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
            self._line(x[:0:-1], value[:0:-1], _label(name, best), look)
        else:
            size = float(quota[-1])
            x, at = axis.of(quota.astype(float), size), axis.of(best.quota, size)
            self._line(x, value, _label(name, best), options)
        model, tied = self._before + len(self.markers_), _tied(best)
        if 0 < len(tied) <= MARKED:
            _mark(self.ax_, model, x[tied], value[tied], markerfacecolor="white")
        self.ax_.axvline(float(at), color=_colour(model), linewidth=0.8, linestyle=":", zorder=1.4)
        look = {"markeredgecolor": "white", "zorder": 3}
        self.markers_.append(_mark(self.ax_, model, [at], [best.value], **look))


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
