"""Hit rate, Qrecall and lift against the quota."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._array import of_kind
from quotakernels._text import digits, formatted
from quotakernels.plots._axes import QuotaAxis, rate_limits
from quotakernels.plots._display import Canvas, Display, cuts, totals
from quotakernels.plots._host import Numbers
from quotakernels.plots._models import Value, with_value
from quotakernels.plots._shared import next_model
from quotakernels.plots._style import COLOURS, OPTIMAL

_Line = tuple[Numbers, Numbers]


def quota_axis(ax: Axes, rankings: dict[str, Ranking], percent: bool) -> QuotaAxis:
    """The quota axis that these rankings share, drawn."""
    weighted = any(
        not of_kind(np, ranking.positive_weights.dtype, "integral") for ranking in rankings.values()
    )
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
        canvas = self._begin(ax, line_options)
        axis = quota_axis(canvas.ax, self.rankings, percent)
        sizes = {name: sum(totals(ranking)) for name, ranking in self.rankings.items()}

        def place(at: Numbers, name: str) -> Numbers:
            quotas = at if at.max(initial=0) > 1 else at * sizes[name]
            return axis.of(quotas, sizes[name])

        canvas.bands(band, list(self.rankings), place)
        for name, ranking in self.rankings.items():
            x, y, counts = self._points(axis, ranking)
            label = with_value(name, self._area, ranking)
            self._shade(canvas, axis, ranking, *canvas.line(x, y, label, line_options, counts))
        rankings = self.rankings.values()
        if random:
            ends = np.asarray([0, axis.end])
            lines = [(ends, self._random(x)) for x in rankings]
            canvas.references(lines, "random", alone=self._random_alone)
        if optimal:
            canvas.references([self._optimal(axis, x) for x in rankings], "optimal", OPTIMAL)
        rate_limits(canvas.ax, *self._rates)
        canvas.named(self._title, self._label, legend, self._legend)
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

    def _shade(
        self, canvas: Canvas, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers
    ) -> None:
        """Shade what is between the curve of a model and chance."""

    def _unit(self, ranking: Ranking) -> float:
        """What hit rates are divided by."""
        raise NotImplementedError

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

    def _unit(self, _: Ranking) -> float:
        return 1.0


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

    def _unit(self, ranking: Ranking) -> float:
        return _prevalence(ranking)


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

    def _shade(
        self, canvas: Canvas, axis: QuotaAxis, ranking: Ranking, x: Numbers, y: Numbers
    ) -> None:
        if not self._shaded:
            return
        s1, s2, _ = qk.pem_areas(ranking, method="area")
        model = canvas.first + len(self.lines_) - 1
        chance, colour = x / axis.end, COLOURS[model % len(COLOURS)]
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
            self.areas_.append(canvas.ax.fill_between(x, y, chance, **look))

    def _random(self, _: Ranking) -> Numbers:
        return np.asarray([0.0, 1.0])

    def _optimal(self, axis: QuotaAxis, ranking: Ranking) -> _Line:
        positives, negatives = totals(ranking)
        size = positives + negatives
        return axis.of(np.asarray([0.0, positives, size]), size), np.asarray([0.0, 1.0, 1.0])
