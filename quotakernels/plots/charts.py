"""ROC, precision-recall and Powers' other charts, with hulls and iso-lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import quotakernels as qk
from quotakernels import Ranking
from quotakernels._text import formatted, plain
from quotakernels.inputs.keywords import check_choice
from quotakernels.measures.charts import ChartKind
from quotakernels.plots._axes import (
    BREAK_EVEN,
    ISO,
    RANDOM,
    label_once,
    rate_limits,
)
from quotakernels.plots._display import Display, cuts, totals
from quotakernels.plots._models import Numbers, with_value

SQUARE = (5.2, 5.0)
"""Size of a new figure for a chart of equal axes, in inches."""
FEW = 3
"""So many models have their hulls drawn if nothing else is said."""
MARKED = 60
"""A hull of more vertices is drawn without markers."""
ABOVE, ROOM = "upper center", 0.35
"""A legend above all curves, and its room as a share of their height."""

_INFORMEDNESS = "Informedness (TPR − FPR)"
_FPR = "False positive rate"
_TPR = "True positive rate"
_BITS = "Drift: log₂[(s + selected)/(s + positives)] (bits)"


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
    "lift": ChartLook(
        "LIFT chart", "Bias (share of examples selected)", "Recall", "xy", legend="lower right"
    ),
    "bift": ChartLook(
        "BIFT chart", "Bias (share of examples selected)", _INFORMEDNESS, "x", legend=ABOVE
    ),
    "bprd": ChartLook("BPRD chart", "Drift (bias / prevalence)", _INFORMEDNESS, legend=ABOVE),
    "bird": ChartLook("BIRD chart", _BITS, "log₂ sTPR − log₂ sFPR (bits)", straight=False),
    "bird_informedness": ChartLook(
        "BIRD chart of informedness",
        _BITS,
        "−log₂(1 − informedness) (bits)",
        straight=False,
        legend=ABOVE,
    ),
}
AREAS = {"roc": ("AUC", qk.roc_auc), "pr": ("AUC-PR", qk.pr_auc)}
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
        "bprd", "bird" or "bird_informedness", as in `powers_chart`.
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
    _needed: ClassVar[tuple[str, ...]] = ("kind",)
    hulls_: list[Line2D]

    def __init__(
        self, rankings: Ranking | Mapping[str, Ranking], *, kind: Any, smoothing: float = 1.0
    ):
        super().__init__(rankings)
        check_choice("kind", kind, *get_args(ChartKind))
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
        ax = self._begin(ax, SQUARE if self.kind == "roc" else None)
        if band is not None and self.kind != "roc":
            raise ValueError(f'band is of the chart "roc"; got kind={self.kind!r}')
        self._bands(band, lambda at, _: at)
        self.hulls_ = []
        for name, ranking in self.rankings.items():
            self._curve(name, ranking, line_options)
        for ranking in self.rankings.values() if hull else ():
            self._hull(ranking)
        self._limit(ax, room=legend and look.legend == ABOVE)
        for of, style in (("chance", RANDOM), ("break_even", BREAK_EVEN)):
            if {"chance": chance, "break_even": break_even}[of]:
                said = of.replace("_", "-")
                self._references(self._lines(of), said, style, limiting=False)
        if iso is not None:
            costs = {"cost_fp": cost_fp, "cost_fn": cost_fn} if iso == "cost" else {}
            self._iso_lines(iso, levels, costs)
        ax.set_xlabel(look.x)
        self._named(look.title, look.y, legend, look.legend, 2 if look.legend == ABOVE else 1)
        return self

    def _curve(self, name: str, ranking: Ranking, options: dict[str, Any]) -> None:
        chart = qk.charts.powers_chart(ranking, kind=self.kind, smoothing=self.smoothing)
        counts = None if CHARTS[self.kind].straight else (*cuts(ranking), self._place(ranking))
        label = with_value(name, AREAS.get(self.kind), ranking)
        self._line(chart.x, chart.y, label, options, counts)

    def _place(self, ranking: Ranking) -> Any:
        positives, negatives = totals(ranking)
        known = {"positives": positives, "negatives": negatives, "kind": self.kind}
        return lambda fp, tp: qk.charts.chart_points(fp, tp, smoothing=self.smoothing, **known)

    def _hull(self, ranking: Ranking) -> None:
        """The hull in the colour of its model, thin, with its vertices marked."""
        found, place = qk.roc_hull(ranking), self._place(ranking)
        x, y = place(found.fp, found.tp)
        if self.kind == "pr":
            x, y = qk.achievable_pr_curve(ranking)[:2]
        of_hull = HULL_AREAS.get(self.kind)
        area = f" (area {formatted(of_hull(ranking), '.3f')})" if of_hull else ""
        label = label_once(self.ax_, "hull", f"hull{area}", "hulls")
        look = {"linewidth": 0.8, "linestyle": "-", "label": label}
        counts = (np.asarray(found.fp, float), np.asarray(found.tp, float), place)
        straight = CHARTS[self.kind].straight
        self._line(x, y, "", look, None if straight else counts, self.hulls_)
        if len(x) <= MARKED:
            self.ax_.plot(x, y, ".", color=self.hulls_[-1].get_color(), markersize=4)

    def _limit(self, ax: Axes, room: bool) -> None:
        """The range of the axes, with room for a legend above, before further lines are drawn."""
        if self.kind == "pr_reciprocal":
            ax.set(xlim=(0.9, 10))
            ax.set_ylim(0.9, None, auto=None)
        rate_limits(ax, *CHARTS[self.kind].rates)
        if self.kind == "pr":
            ax.set_ylim(None, 1.02, auto=None)
        if self.kind == "roc":
            ax.set_aspect("equal")
        if room:
            low, high = ax.get_ylim()
            ax.set_ylim(low, high + ROOM * (high - low), auto=None)

    def _lines(self, of: str, level: Any = None, **costs: Any) -> list[tuple[Numbers, Numbers]]:
        """The line for each ranking that has it."""
        lines = []
        for ranking in self.rankings.values():
            positives, negatives = totals(ranking)
            known: Any = {"of": of, "kind": self.kind, "smoothing": self.smoothing, **costs}
            x, y = qk.charts.iso_line(level, positives=positives, negatives=negatives, **known)
            if np.isfinite(x + y).any():
                lines.append((x, y))
        return lines

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
        hull = len(self.rankings) <= FEW if hull is None else hull
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
