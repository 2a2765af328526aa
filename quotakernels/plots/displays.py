"""The displays: curves over the quota, bars, and charts of ROC space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._text import digits, formatted, plain
from quotakernels.inputs.keywords import check_choice
from quotakernels.measures.uplift import Arms, arms_of, best_order, effect_above_all, height
from quotakernels.ops import namespace
from quotakernels.plots._display import (
    BREAK_EVEN,
    HATCHES,
    ISO,
    MOST_MARKED,
    OPTIMAL,
    RANDOM,
    Display,
    Numbers,
    Place,
    QuotaAxis,
    Value,
    colour_of,
    curved,
    cuts,
    from_the_start,
    label_of,
    label_once,
    mark_of,
    marked,
    marks,
    next_model,
    rate_limits,
    sums_of,
    with_value,
    written,
)
from quotakernels.results import LiftTable

# hit rate, lift and Qrecall


MOST_SHADED = 4000
"""Points of the outline of a shade."""


class QuotaCurve(NamedTuple):
    """What is drawn over the quota.

    The measure gives the curve at the cuts.  The height is that of sums of masses, given the sums
    of all; by it random and perfect rankings are drawn and, unless the curve is straight between
    the cuts, what lies between them.  Legends show the area, and what is `alone` the random line.
    """

    title: str
    label: str
    measure: Callable[[Ranking], Any]
    height: Callable[[Numbers, Numbers], Numbers]
    area: Value | None = None
    straight: bool = True
    legend: str = "best"
    rates: str = ""
    alone: Callable[[Numbers], str] = lambda _: "random"


class QuotaDisplay(Display):
    """Curves over the quota axis, beside what a random and a perfect ranking have."""

    _curve: QuotaCurve

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
        axis, curve = quota_axis(self._begin(ax), self.rankings, percent), self._curve
        sizes = {name: float(x.weights.sum()) for name, x in self.rankings.items()}

        def placed(at: Numbers, name: str) -> Numbers:
            return axis.of(at if at.max(initial=0) > 1 else at * sizes[name], sizes[name])

        self._bands(band, placed)
        defined: list[tuple[Numbers, Place]] = []
        for name, ranking in self.rankings.items():
            found, sums = curve.measure(ranking), self._sums(ranking)
            x, y = axis.of(found.quota.astype(float), sizes[name]), from_the_start(found.value)
            place = self._place(axis, sums[:, -1:])
            between = None if curve.straight else (sums, place)
            label = with_value(name, curve.area, ranking)
            self._shade(axis, ranking, *self._line(x, y, label, line_options, between))
            defined += [(sums[:, -1], place)] if np.isfinite(y[-1]) else []
        if random and defined:
            lines = [place(np.outer(whole, [0, 1])) for whole, place in defined]
            self._references(lines, "random", alone=curve.alone(defined[0][0]))
        if optimal:
            self._references([self._optimal(*x) for x in defined], "optimal", OPTIMAL)
        rate_limits(self.ax_, *curve.rates)
        self._named(curve.title, curve.label, legend, curve.legend)
        return self

    def _sums(self, ranking: Ranking) -> Numbers:
        """The masses of each class at every cut."""
        return cuts(ranking)

    def _best(self, whole: Numbers) -> Numbers:
        """The masses of each class at the cuts of the best order."""
        negatives, positives = whole
        return np.asarray([[0.0, 0.0, negatives], [0.0, positives, positives]])

    def _optimal(self, whole: Numbers, place: Place) -> list[Numbers]:
        """The curve of the best order."""
        best = self._best(whole)
        return curved(self.ax_, *place(best), None if self._curve.straight else (best, place))

    def _place(self, axis: QuotaAxis, whole: Numbers) -> Place:
        """Where sums of masses are drawn, given those of all."""

        def place(sums: Numbers) -> tuple[Numbers, Numbers]:
            with np.errstate(invalid="ignore", divide="ignore"):
                y = self._curve.height(sums, whole)
            return axis.of(sums.sum(axis=0), float(whole.sum())), from_the_start(y)

        return place

    def _shade(self, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers) -> None:
        """Shade what is between the curve of a model and chance."""


def _hit_rate(sums: Numbers, _: Numbers) -> Numbers:
    rate: Numbers = sums[1] / sums.sum(axis=0)
    return rate


def quota_axis(ax: Axes, rankings: dict[str, Ranking], percent: bool) -> QuotaAxis:
    """The quota axis that these rankings share, drawn."""
    return QuotaAxis(ax, [ranking.weights.sum() for ranking in rankings.values()], percent)


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

    _curve = QuotaCurve(
        "Hit rate at every quota",
        "Hit rate (positives / selected)",
        qk.hit_rate_curve,
        _hit_rate,
        ("AHR", qk.average_hit_rate),
        straight=False,
        alone=lambda whole: f"random (prevalence {formatted(_hit_rate(whole, whole), '.3g')})",
    )


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

    _curve = QuotaCurve(
        "Lift at every quota",
        "Lift (hit rate / prevalence)",
        qk.lift_curve,
        lambda sums, whole: _hit_rate(sums, whole) / _hit_rate(whole, whole),
        straight=False,
    )


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

    _curve = QuotaCurve(
        "Qrecall at every quota",
        "Qrecall (positives found / all)",
        qk.qrecall_curve,
        lambda sums, whole: sums[1] / whole[1],
        ("PEM", qk.pem),
        legend="lower right",
        rates="y",
    )
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

    def _shade(self, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers) -> None:
        if not self._shaded:
            return
        s1, s2, _ = qk.pem_areas(ranking, method="area")
        colour = self.lines_[-1].get_color()
        if len(x) > MOST_SHADED:  # a shade is not simplified when it is drawn
            x, whole = np.linspace(0, axis.end, MOST_SHADED), (x, y)
            y = np.interp(x, *whole)
        chance = x / axis.end
        below = {"facecolor": "#F5C9AE", "edgecolor": "#8C3B00", "hatch": "//////", "linewidth": 0}
        for there, label, look in (
            (y >= chance, f"S1 = {digits(s1)}, above chance", {"facecolor": colour, "alpha": 0.2}),
            (y <= chance, f"S2 = {digits(s2)}, below chance", below),
        ):
            look |= {"where": there, "interpolate": True, "label": label}
            self.areas_.append(self.ax_.fill_between(x, y, chance, **look))


# uplift


def _added(curve: str, label: str, measure: Any, area: Value) -> QuotaCurve:
    """A curve of positives that a treatment adds."""

    def at(sums: Numbers, _: Numbers) -> Numbers:
        found: Numbers = height(namespace(sums), Arms(*sums), curve)
        return found

    return QuotaCurve("Uplift at every quota", label, measure, at, area)


def _toc(sums: Numbers, whole: Numbers) -> Numbers:
    found: Numbers = effect_above_all(Arms(*sums), Arms(*whole))
    return found


_UPLIFT, _QINI = ("AUUC", qk.uplift.auuc), ("Qini", qk.uplift.qini_coefficient)
_UPLIFT_CURVES = {
    "uplift": _added("uplift", "Positives added", qk.uplift.uplift_curve, _UPLIFT),
    "qini": _added("qini", "Positives added among the treated", qk.uplift.qini_curve, _QINI),
    "toc": QuotaCurve(
        "Effect among the best",
        "Effect above that on all",
        qk.uplift.toc_curve,
        _toc,
        ("AUTOC", qk.uplift.autoc),
        straight=False,
    ),
}


class UpliftDisplay(QuotaDisplay):
    """Uplift, Qini or TOC curve against the quota, of one model or several.

    `from_predictions`, which also needs ``treatment``, as in `quotakernels.rank`, and
    `from_ranking` make it and draw it.  Between the cuts uplift and Qini curves are straight.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw; made with `treatment`.
    curve : {"uplift", "qini", "toc"}
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
    quotakernels.uplift.uplift_curve, quotakernels.uplift.qini_curve, quotakernels.uplift.toc_curve

    References
    ----------
    [Radcliffe 2007]; [Gutierrez 2017] section 4.1; [Yadlowsky 2021].

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

    def __init__(
        self,
        rankings: Ranking | Mapping[str, Ranking],
        *,
        curve: Literal["uplift", "qini", "toc"] = "uplift",
    ):
        check_choice("curve", curve, *_UPLIFT_CURVES)
        super().__init__(rankings)
        self.curve, self._curve = curve, _UPLIFT_CURVES[curve]

    def plot(self, ax: Axes | None = None, *, optimal: bool = False, **options: Any) -> Self:
        """Draw the curves; see `HitRateDisplay.plot`.

        Parameters
        ----------
        ax, optimal, **options
            As there, without bands; a random ranking has the straight line to the end, and the best
            order is that of `quotakernels.uplift.auuc`, for a TOC that of the Qini curve.

        Returns
        -------
        UpliftDisplay
        """
        if options.get("band") is not None:
            raise TypeError("UpliftDisplay takes no band")
        return super().plot(ax, optimal=optimal, **options)

    def _sums(self, ranking: Ranking) -> Numbers:
        return sums_of(*arms_of(ranking, np.asarray))

    def _best(self, whole: Numbers) -> Numbers:
        return sums_of(*np.transpose([*best_order(namespace(whole), Arms(*whole), self.curve)]))


# the lift of each part


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
        colour = colour_of(model)
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
        self.bars_.append(marks(bars, "bars", model, (table.start, widths)))


class ScoreDistributionDisplay(Display):
    """How the scores of the positives and of the negatives are distributed, and where a cut is.

    `from_predictions` and `from_ranking` make it and draw it.  Positives below the cut are missed,
    negatives above it are false alarms.

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
    steps_ : list of StepPatch
        The histograms of the positives and of the negatives of each model.

    See Also
    --------
    quotakernels.quota_threshold : the score at which a quota ends.

    References
    ----------
    [AR] section 2.3.5, Figure 9.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import ScoreDistributionDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> display = ScoreDistributionDisplay.from_predictions(
    ...     y_true, y_score, bins=2, quota=3, ax=Figure().subplots()
    ... )
    >>> print(display.steps_[0].get_data().values, display.steps_[1].get_data().values)
    [0. 1.] [0.5 0.5]
    """

    steps_: list[StepPatch]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bins: Any = 30,
        quota: float | None = None,
        threshold: float | None = None,
        legend: bool = True,
        **patch_options: Any,
    ) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        bins : int, sequence of numbers or str
            What NumPy's `histogram_bin_edges` takes.
        quota, threshold : number, optional
            Mark the score at which the best so many of each model end; or this score.
        legend : bool
            Whether to draw a legend.
        **patch_options : optional
            What Matplotlib's `stairs` takes.

        Returns
        -------
        ScoreDistributionDisplay
        """
        if quota is not None and threshold is not None:
            raise TypeError("quota and threshold are two ways to say where the cut is; give one")
        ax = self._begin(ax)
        self.steps_, cut = [], [] if threshold is None else [threshold]
        for model, (name, ranking) in enumerate(self.rankings.items(), self._before):
            self._steps(model, name, ranking, bins, patch_options)
            if quota is not None:
                row = np.searchsorted(cuts(ranking).sum(axis=0)[1:-1], quota)
                cut.append(ranking.thresholds[row])
        top = ax.get_ylim()[1]
        self._references([([x, x], [0, top]) for x in cut], "cut", BREAK_EVEN, limiting=False)
        ax.set_xlabel("Score")
        self._named("Scores of both classes", "Share of the class", legend)
        return self

    def _steps(
        self, model: int, name: str, ranking: Ranking, bins: Any, options: dict[str, Any]
    ) -> None:
        """Both histograms of a model: a filled one of the positives, a line for the negatives."""
        edges = np.histogram_bin_edges(ranking.thresholds, bins)
        looks: dict[str, dict[str, Any]]
        looks = {"positives": {"fill": True, "alpha": 0.35}, "negatives": {"linewidth": 1.6}}
        masses = (ranking.positive_weights, ranking.negative_weights)
        for (part, look), mass in zip(looks.items(), masses, strict=True):
            heights = np.histogram(ranking.thresholds, edges, weights=mass)[0] / (mass.sum() or 1)
            look |= {"color": colour_of(model), "label": written(label_of(name, part)), **options}
            self.steps_.append(marks(self.ax_.stairs(heights, edges, **look), "model", model))


def _side_by_side(ax: Axes) -> None:
    """Let the bars of all models on the axes share the width of each bin."""
    models = marked(ax, "bars")
    for place, bars in enumerate(models):
        for bar, start, whole in zip(bars, *mark_of(bars).source, strict=True):
            width = 0.84 * whole / len(models)
            bar.set(x=start + 0.08 * whole + place * width, width=width)


# areas of dominance


_RATE_LABELS = {"fpr": "False positive rate", "recall": "Recall"}


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
    bars_: list[Any]

    def __init__(
        self,
        rankings: Ranking | Mapping[str, Ranking],
        *,
        axis: Literal["quota", "fpr", "recall"] = "quota",
    ):
        super().__init__(rankings)
        self.axis = axis
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
            look = {"facecolor": colour_of(row), "linewidth": 0, **bar_options}
            self.bars_.append(self.ax_.broken_barh(pieces, (row - 0.35, 0.7), **look))
        self.ax_.set_yticks(
            range(len(shares)),
            [label_of(written(name), formatted(share, ".1%")) for name, share in shares.items()],
        )
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(shares) - 0.5, -0.5)
        self.ax_.grid(axis="x", linewidth=0.4, color="#BBBBBB")
        self.ax_.set_axisbelow(True)
        self._named("Where each model is the best", "", legend=False)
        return self

    def _axis(self, percent: bool) -> float:
        """The x axis, and what a place on it is of the place in the regions."""
        if self.axis in _RATE_LABELS:
            self.ax_.set(xlim=(0, 1), xlabel=_RATE_LABELS[self.axis])
            return 1.0
        axis = quota_axis(self.ax_, self.rankings, percent)
        return axis.end / axis.size


def _joined(start: Any, stop: Any, best: Any) -> tuple[Any, Any]:
    """The stretches in which a model is best; those that touch are one."""
    there = best & (stop > start)
    before = np.concatenate([[False], there[:-1]])
    after = np.concatenate([there[1:], [False]])
    return start[there & ~before], stop[there & ~after]


# charts of ROC space


SQUARE = (5.2, 5.0)
"""Size of a new figure for a chart of equal axes, in inches."""
MOST_HULLS = 3
"""Up to so many models have their hulls drawn if hull= is not given."""
ABOVE, LEGEND_ROOM = "upper center", 0.35
"""A legend above all curves, and its room as a share of their height."""

_INFORMEDNESS = "Informedness (TPR − FPR)"
_FPR = "False positive rate"
_TPR = "True positive rate"
_BIAS = "Bias (share of examples selected)"
_DRIFT = "Drift: log₂[(s + selected)/(s + positives)] (bits)"


class ChartLook(NamedTuple):
    """Title and labels; which axes go from 0 to 1; whether cuts are joined by straight lines.

    The legend has a place, or above all curves two columns.
    """

    title: str
    x: str
    y: str
    rates: str = ""
    straight: bool = True
    legend: str = "best"


CHARTS = {
    "pn": ChartLook(
        "PN chart", "False positives (examples)", "True positives (examples)", legend="lower right"
    ),
    "roc": ChartLook("ROC curve", _FPR, _TPR, "xy", legend="lower right"),
    "boc": ChartLook("BOC chart", _FPR, _INFORMEDNESS, "x", legend=ABOVE),
    "boc_dual": ChartLook("Dual BOC chart", _TPR, _INFORMEDNESS, "x", legend=ABOVE),
    "pr": ChartLook("Precision–recall curve", "Recall", "Precision", "x", straight=False),
    "pr_reciprocal": ChartLook("Reciprocal precision–recall chart", "1 / recall", "1 / precision"),
    "pr_log": ChartLook(
        "Logarithmic precision–recall chart",
        "−log₂ recall (bits)",
        "−log₂ precision (bits)",
        straight=False,
    ),
    "lift": ChartLook("LIFT chart", _BIAS, "Recall", "xy", legend="lower right"),
    "bift": ChartLook("BIFT chart", _BIAS, _INFORMEDNESS, "x", legend=ABOVE),
    "bprd": ChartLook("BPRD chart", "Drift (bias / prevalence)", _INFORMEDNESS, legend=ABOVE),
    "bird": ChartLook("BIRD chart", _DRIFT, "log₂ sTPR − log₂ sFPR (bits)", straight=False),
    "bird_informedness": ChartLook(
        "BIRD chart of informedness",
        _DRIFT,
        "−log₂(1 − informedness) (bits)",
        straight=False,
        legend=ABOVE,
    ),
    "kappa": ChartLook("κ chart", _FPR, "Cohen’s κ", "x", False, ABOVE),
    "kappa_bias": ChartLook("κ chart of bias", _BIAS, "Cohen’s κ", "x", False, ABOVE),
    "scott": ChartLook("π chart", _FPR, "Scott’s π", "x", False, ABOVE),
    "scott_bias": ChartLook("π chart of bias", _BIAS, "Scott’s π", "x", False, ABOVE),
}
LEGEND_AREAS = {"roc": ("AUC", qk.roc_auc), "pr": ("AUC-PR", qk.pr_auc)}
"""Charts that are known by their areas, and those of their hulls."""
HULL_AREAS: dict[str, Any] = {"roc": qk.roc_hull_auc, "pr": qk.achievable_pr_auc}


class PowersChartDisplay(Display):
    """One of Powers' charts of one model or several, with hulls, chance and iso-lines.

    `from_predictions` and `from_ranking` make it and draw it.  Between two cuts the curve shows
    their mixtures: a straight line, or a curve in charts of precision and of logarithms.

    Parameters
    ----------
    rankings : Ranking, or mapping from names to Rankings
        What to draw.
    kind : str
        The chart: "pn", "roc", "boc", "boc_dual", "pr", "pr_reciprocal", "pr_log", "lift", "bift",
        "bprd", "bird", "bird_informedness", "kappa", "kappa_bias", "scott" or "scott_bias", as in
        `powers_chart`.
    smoothing : number
        s of the two BIRD charts, above 0.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model.
    hulls_ : list of Line2D
        Its hull, if hulls are drawn.

    See Also
    --------
    quotakernels.charts.powers_chart, quotakernels.charts.iso_line : the curves and the lines.

    References
    ----------
    [PW].

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import PowersChartDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = PowersChartDisplay.from_predictions(y_true, y_score, kind="bift", ax=ax)
    >>> print(display.lines_[0].get_ydata().round(3))
    [0.    0.333 0.167 0.5   0.   ]
    """

    _own: ClassVar[tuple[str, ...]] = ("kind", "smoothing")
    hulls_: list[Line2D]

    def __init__(
        self, rankings: Ranking | Mapping[str, Ranking], *, kind: Any, smoothing: float = 1.0
    ):
        super().__init__(rankings)
        check_choice("kind", kind, *CHARTS)
        self.kind, self.smoothing = kind, smoothing

    def plot(
        self,
        ax: Axes | None = None,
        *,
        hull: bool = False,
        chance: bool = True,
        break_even: bool = True,
        iso: str | None = None,
        levels: Sequence[float] = (),
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        band: Any = None,
        legend: bool = True,
        **line_options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        hull : bool
            Also draw the upper hull of the ROC curve, which mixtures of cuts reach.
        chance, break_even : bool
            Also draw the line of TPR = FPR, and that of bias = prevalence, on which recall and
            precision are equal.
        iso : str, optional
            Draw lines along which this is the same: "informedness", "cost", "skew",
            "arithmetic_mean", "harmonic_mean" or "geometric_mean", as in `iso_line`.
        levels : sequence of numbers
            The levels of these lines.
        cost_fp, cost_fn : number, optional
            Costs of a false positive and a false negative, for ``iso="cost"``.
        band : CurveBand, or mapping from names to CurveBands, optional
            Bands from `curve_band` with ``"roc"``, drawn as shades, for the ROC chart.
        legend : bool
            Whether to draw a legend.
        **line_options : optional
            What Matplotlib's `Line2D` takes, for the curves of all models.

        Returns
        -------
        display
        """
        look = CHARTS[self.kind]
        ax = self._begin(ax, SQUARE if look.rates == "xy" else None)
        if band is not None and self.kind != "roc":
            raise ValueError(f'band is of the chart "roc"; got kind={self.kind!r}')
        self._bands(band, lambda at, _: at)
        self.hulls_ = []
        for name, ranking in self.rankings.items():
            chart = qk.charts.powers_chart(ranking, kind=self.kind, smoothing=self.smoothing)
            label = with_value(name, LEGEND_AREAS.get(self.kind), ranking)
            between = None if look.straight else (cuts(ranking), self._place(ranking))
            self._line(chart.x, chart.y, label, line_options, between)
        for ranking in self.rankings.values() if hull else ():
            self._hull(ranking)
        self._limit(ax, room=legend and look.legend == ABOVE)
        if chance:
            self._references(self._lines("chance"), "chance", RANDOM, limiting=False)
        if break_even:
            self._references(self._lines("break_even"), "break-even", BREAK_EVEN, limiting=False)
        if iso is not None:
            costs = {"cost_fp": cost_fp, "cost_fn": cost_fn} if iso == "cost" else {}
            self._iso_lines(iso, levels, costs)
        ax.set_xlabel(look.x)
        self._named(look.title, look.y, legend, look.legend, 2 if look.legend == ABOVE else 1)
        return self

    def _known(self, ranking: Ranking) -> dict[str, Any]:
        """What tells a chart its scale."""
        negatives, positives = cuts(ranking)[:, -1].tolist()
        scale = {"positives": positives, "negatives": negatives}
        return {**scale, "kind": self.kind, "smoothing": self.smoothing}

    def _hull(self, ranking: Ranking) -> None:
        """The hull in the colour of its model, thin, with its vertices marked."""
        found, place = qk.roc_hull(ranking), self._place(ranking)
        sums = np.stack([found.fp, found.tp]).astype(float)
        of_hull = HULL_AREAS.get(self.kind)
        area = f" (area {formatted(of_hull(ranking), '.3f')})" if of_hull else ""
        label = label_once(self.ax_, "hull", f"hull{area}", "hulls")
        look = {"linewidth": 0.8, "linestyle": "-", "label": label}
        between = None if CHARTS[self.kind].straight else (sums, place)
        x, y = place(sums)
        y = from_the_start(y)
        self._line(x, y, "", look, between, self.hulls_)
        if len(x) <= MOST_MARKED:
            self.ax_.plot(x, y, ".", color=self.hulls_[-1].get_color(), markersize=4)

    def _place(self, ranking: Ranking) -> Place:
        known = self._known(ranking)
        return lambda sums: qk.charts.chart_points(*sums, **known)

    def _limit(self, ax: Axes, room: bool) -> None:
        """The range of the axes, with room for a legend above, before further lines are drawn."""
        if self.kind == "pr_reciprocal":
            ax.set(xlim=(0.9, 10))
            ax.set_ylim(0.9, None, auto=None)
        rate_limits(ax, *CHARTS[self.kind].rates)
        if self.kind == "pr":
            ax.set_ylim(None, 1.02, auto=None)
        if CHARTS[self.kind].rates == "xy":  # angles mean something only on equal scales
            ax.set_aspect("equal")
        if room:
            low, high = ax.get_ylim()
            ax.set_ylim(low, high + LEGEND_ROOM * (high - low), auto=None)

    def _lines(self, of: Any, level: Any = None, **costs: Any) -> list[tuple[Numbers, Numbers]]:
        """The line for each ranking that has it."""
        lines = (
            qk.charts.iso_line(level, of=of, **self._known(ranking), **costs)
            for ranking in self.rankings.values()
        )
        return [(x, y) for x, y in lines if np.isfinite(x + y).any()]

    def _iso_lines(self, of: str, levels: Any, costs: dict[str, Any]) -> None:
        label = f"equal {of.replace('_', ' ')}"
        for level in levels:
            lines = self._lines(of, level, **costs)
            for line in self._references(lines, label, ISO, limiting=False)[:1]:
                _name_line(self.ax_, *line.get_data(), plain(level))


def _name_line(ax: Axes, x: Any, y: Any, text: str) -> None:
    """Write on a line, in the middle of what is seen of it."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    seen = np.flatnonzero((x >= left) & (x <= right) & (y >= low) & (y <= high))
    if len(seen):
        middle = seen[len(seen) // 2]
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        style: dict[str, Any] = {"fontsize": 7, "ha": "center", "va": "center", "bbox": box}
        ax.text(float(x[middle]), float(y[middle]), text, clip_on=True, **style)


class RocDisplay(PowersChartDisplay):
    """ROC curves of one model or several, with their convex hulls.

    `from_predictions` and `from_ranking` make it and draw it.  `plot` is that of
    `PowersChartDisplay`, with the hulls of up to three models and without the break-even line
    unless asked otherwise.

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
    lines_, hulls_ : list of Line2D
        The curve of each model, and its hull.

    See Also
    --------
    quotakernels.roc_curve, quotakernels.roc_hull : the curves.

    References
    ----------
    [DG] section 2.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import RocDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1]
    >>> display = RocDisplay.from_predictions(y_true, y_score, name="a", ax=Figure().subplots())
    >>> print(display.lines_[0].get_label(), "|", display.hulls_[0].get_label())
    a (AUC = 0.778) | hull (area 0.889)
    """

    _own = ()
    _kind: ClassVar[str] = "roc"

    def __init__(self, rankings: Ranking | Mapping[str, Ranking]):
        super().__init__(rankings, kind=self._kind)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        hull: bool | None = None,
        break_even: bool = False,
        **options: Any,
    ) -> Self:
        """Draw the curves; see `PowersChartDisplay.plot`."""
        hull = len(self.rankings) <= MOST_HULLS if hull is None else hull
        return super().plot(ax, hull=hull, break_even=break_even, **options)


class PrecisionRecallDisplay(RocDisplay):
    """Precision-recall curves of one model or several, with what mixtures of cuts achieve.

    `from_predictions` and `from_ranking` make it and draw it.  Between two cuts precision is drawn
    as it is, a hyperbola and not a straight line.  `plot` is that of `PowersChartDisplay`, with the
    achievable curves of up to three models and without the break-even line unless asked otherwise;
    the chance line is at the prevalence.

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
    lines_, hulls_ : list of Line2D
        The curve of each model, and its achievable curve.

    See Also
    --------
    quotakernels.pr_curve, quotakernels.achievable_pr_curve : the curves.

    References
    ----------
    [DG] sections 3-4.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import PrecisionRecallDisplay
    >>> y_true, y_score = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> ax = Figure().subplots()
    >>> display = PrecisionRecallDisplay.from_predictions(y_true, y_score, name="a", ax=ax)
    >>> print(display.lines_[0].get_label(), "|", display.hulls_[0].get_label())
    a (AUC-PR = 0.451) | hull (area 0.667)
    """

    _kind = "pr"


class PrecisionRecallGainDisplay(Display):
    """Precision-recall-gain curves of one model or several, where F scores are straight lines.

    `from_predictions` and `from_ranking` make it and draw it.  Selecting everybody has a precision
    gain of 0; recalls below the prevalence, whose gains are negative, are left out.

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
    quotakernels.retrieval.pr_gain_curve, quotakernels.retrieval.pr_gain_auc

    References
    ----------
    [Flach 2015].

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from quotakernels.plots import PrecisionRecallGainDisplay
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> ax = Figure().subplots()
    >>> display = PrecisionRecallGainDisplay.from_predictions(y_true, y_score, name="a", ax=ax)
    >>> print(display.lines_[0].get_label(), display.lines_[0].get_ydata())
    a (AUPRG = 0.354) [1.   0.25 0.5  0.  ]
    """

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
        PrecisionRecallGainDisplay
        """
        ax = self._begin(ax, SQUARE)
        for name, ranking in self.rankings.items():
            recall, precision, _ = qk.retrieval.pr_gain_curve(ranking)
            there = ~np.isnan(recall)
            label = with_value(name, ("AUPRG", qk.retrieval.pr_gain_auc), ranking)
            self._line(recall[there], precision[there], label, line_options)
        ax.set(xlabel="Recall gain", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        self._named("Precision-recall-gain curve", "Precision gain", legend)
        return self
