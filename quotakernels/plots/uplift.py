"""What treating the best adds, against the quota."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes

import quotakernels as qk
from quotakernels import Ranking, ops
from quotakernels._array import namespace
from quotakernels.inputs.keywords import show_value
from quotakernels.measures.uplift import best_order, height
from quotakernels.plots._axes import QuotaAxis
from quotakernels.plots._host import Numbers
from quotakernels.plots._models import Value, by_columns, models_of, named_rankings
from quotakernels.plots.quota import QuotaDisplay

_CURVES = {"uplift": qk.uplift.uplift_curve, "qini": qk.uplift.qini_curve}
_LABELS = {"uplift": "Positives added", "qini": "Positives added among the treated"}
_AREAS: dict[str, Value] = {
    "uplift": ("AUUC", qk.uplift.auuc),
    "qini": ("Qini", qk.uplift.qini_coefficient),
}


class UpliftDisplay(QuotaDisplay):
    """Uplift or Qini curve against the quota, of one model or several.

    `from_predictions`, which takes ``treatment`` as `quotakernels.rank` does, and `from_ranking`
    make it and draw it.  Between the cuts it is straight.

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

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: Any,
        y_score: Any,
        *,
        treatment: Any,
        name: Any = None,
        sample_weight: Any = None,
        where: Any = None,
        pos_label: Any = None,
        ties: Any = "expected",
        validate: bool = True,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Rank the scores and draw.

        Parameters
        ----------
        y_true, sample_weight, where, pos_label, ties, validate, treatment : optional
            As in `quotakernels.rank`.
        y_score : array, data frame, or mapping from names to arrays
            Scores of shape (n,) or (models, n); of a data frame, a column for each model.
        name : str, or a sequence of them
            The name of the model, or one for each.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            `curve`, and what `plot` takes.

        Returns
        -------
        UpliftDisplay
        """
        beside = {"sample_weight": sample_weight, "where": where, "pos_label": pos_label}
        beside |= {"ties": ties, "validate": validate, "treatment": treatment}
        models = models_of(by_columns(y_score, None), "models", name)
        rankings = {key: qk.rank(y_true, scores, **beside) for key, scores in models.items()}
        alone = rankings[""] if list(rankings) == [""] else rankings
        return cls._drawn(named_rankings(alone, name), ax, options)

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
        whole = ranking.arms.map(lambda x: np.sum(x, dtype=np.float64))
        upto = np.cumsum([[0.0] * 4, *best_order(xp, whole, self.curve)], axis=0)
        quota = upto.sum(axis=-1)
        return axis.of(quota, quota[-1]), height(xp, ops.Arms(*upto.T), self.curve)
