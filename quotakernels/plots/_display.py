"""What all displays have in common: the ways in, and the lines of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D

from quotakernels import Ranking
from quotakernels.inputs.keywords import flagged
from quotakernels.plots._axes import (
    COLOURS,
    RANDOM,
    Place,
    axes_for,
    columns_of,
    curved,
    label_once,
    line_style,
    marked,
    marks,
    next_model,
    position_on,
    thinned,
    titled,
    with_legend,
)
from quotakernels.plots._models import (
    Numbers,
    has_classes,
    named_rankings,
    on_host,
    rankings_of_predictions,
    written,
)
from quotakernels.results import CurveBand

_OF_THE_CALL: dict[str, tuple[str, ...]] = {
    "Line2D": ("scalex", "scaley"),
    "PolyCollection": (),
    "Rectangle": ("bottom", "log"),
}
"""What the functions that draw these take beside properties, and displays pass on."""


def cuts(ranking: Ranking) -> tuple[Numbers, Numbers]:
    """False and true positives at every cut, as floats."""
    masses = (ranking.negative_weights, ranking.positive_weights)
    fp, tp = (np.concatenate([[0.0], np.cumsum(x, dtype=np.float64)]) for x in masses)
    return fp, tp


def totals(ranking: Ranking) -> tuple[float, float]:
    """P and N, or their masses."""
    masses = (ranking.positive_weights, ranking.negative_weights)
    positives, negatives = (float(x.sum(dtype=np.float64)) for x in masses)
    return positives, negatives


class Display:
    """Curves of rankings, and how they are drawn.

    Attributes
    ----------
    rankings : dict from str to Ranking
        What is drawn, in NumPy.
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : list of Line2D
        The curve of each model, in the order of the rankings.
    """

    _own: ClassVar[tuple[str, ...]] = ()
    """Keywords of the display itself; all others go to `plot`."""
    _needed: ClassVar[tuple[str, ...]] = ()
    """Keywords without which it cannot be drawn."""
    _of_rank: ClassVar[tuple[str, ...]] = ()
    """Keywords of `rank` beside those that all displays take."""
    _of_classes: ClassVar[str] = ""
    """Why scores of several classes cannot be drawn, if they cannot."""

    ax_: Axes
    figure_: Any
    lines_: list[Line2D]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "plot" in cls.__dict__:
            cls.plot = flagged(cls.plot)  # type: ignore[method-assign]

    def __init__(self, rankings: Ranking | Mapping[str, Ranking]):
        self.rankings = named_rankings(rankings)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        name: Any = None,
        classes: Any = None,
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
        y_true : array, shape (n,) or that of `y_score`
            Labels, as in `quotakernels.rank`; of several classes, as in `one_vs_rest`.
        y_score : array, data frame, or mapping from names to arrays
            Scores of shape (n,); (models, n); a data frame with a column for each model; or of K
            classes (n, K) or (models, n, K), of which each is drawn against the rest.
        name : str, or a sequence of them
            The name of the model, or one for each.
        classes : sequence of K labels, optional
            The classes in the order of the columns, if they are not 0 to K - 1.  With it the last
            axis holds the classes also where it is as long as the labels.  Needed for two columns,
            and for a data frame whose columns are classes.
        sample_weight, where, pos_label, ties, validate : optional
            As in `quotakernels.rank`.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            What the display takes beside rankings, and what its `plot` takes.

        Returns
        -------
        display
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        keywords = {"sample_weight": sample_weight, "where": where, "validate": validate}
        keywords |= {"pos_label": pos_label, "ties": ties, **cls._taken(cls._of_rank, options)}
        if cls._of_classes and has_classes(y_true, y_score, classes):
            raise ValueError(cls._of_classes)
        rankings = rankings_of_predictions(y_true, y_score, name, classes, keywords)
        return cls._drawn(rankings, ax, options)

    @classmethod
    def from_ranking(
        cls,
        ranking: Ranking | Mapping[str, Ranking],
        *,
        name: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw a ranking made by `quotakernels.rank`, or several.

        Parameters
        ----------
        ranking : Ranking, or mapping from names to Rankings
            A ranking may have one leading axis, of models.
        name : str, or a sequence of them
            The name of the model, or one for each.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            What the display takes beside rankings, and what its `plot` takes.

        Returns
        -------
        display
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        return cls._drawn(named_rankings(ranking, name), ax, options)

    @classmethod
    def _taken(cls, names: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Some of the options, which are no longer among them."""
        for name in names:
            if name in cls._needed and name not in options:
                raise TypeError(f"{cls.__name__} needs {name}")
        return {name: options.pop(name) for name in names if name in options}

    @classmethod
    def _drawn(cls, rankings: dict[str, Ranking], ax: Axes | None, options: dict[str, Any]) -> Self:
        return cls._made(rankings, **cls._taken(cls._own, options)).plot(ax=ax, **options)

    @classmethod
    def _made(cls, rankings: dict[str, Ranking], **own: Any) -> Self:
        return cls(rankings, **own)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw; see the display."""
        raise NotImplementedError

    def _begin(
        self,
        ax: Axes | None,
        options: dict[str, Any],
        artist: type[Artist] = Line2D,
        size: tuple[float, float] | None = None,
    ) -> Canvas:
        """Axes for curves, or for other artists that have these options."""
        _checked_options(self, options, artist)
        self.ax_ = axes_for(ax, size)
        self.figure_ = self.ax_.get_figure()
        self.lines_ = []
        return Canvas(self.ax_, self.lines_, next_model(self.ax_))


class Canvas:
    """Axes, and the lines of models that stand on them.

    Parameters
    ----------
    ax : Axes
    lines : list of Line2D
        Where those that are drawn are kept.
    first : int
        How many models there are on the axes already, from other displays.
    role : str
        What the lines are.
    """

    def __init__(self, ax: Axes, lines: list[Line2D], first: int, role: str = "model"):
        self.ax, self._lines, self.first, self._role = ax, lines, first, role
        self._position, self._columns = position_on(ax), columns_of(ax)

    def line(
        self,
        x: Numbers,
        y: Numbers,
        label: str,
        options: dict[str, Any],
        counts: tuple[Numbers, Numbers, Place] | None = None,
    ) -> tuple[Numbers, Numbers]:
        """Draw a model's curve, thinned, and curved between cuts if `counts` says how."""
        kept = thinned(self._position(x), y, self._columns)
        x, y = x[kept], y[kept]
        if counts is not None:
            fp, tp, place = counts
            x, y = curved(fp[kept], tp[kept], x, y, place, self._position)
        model = self.first + len(self._lines)
        style = line_style(model) | normalize_kwargs(options, Line2D)
        (line,) = self.ax.plot(x, y, **{"label": written(label) or None, **style})
        self._lines.append(marks(line, self._role, model))
        return x, y

    def references(
        self,
        lines: list[tuple[Any, Any]],
        label: str,
        style: Any = RANDOM,
        alone: str | None = None,
    ) -> list[Line2D]:
        """Draw lines that belong to no model, equal ones once, under one label.

        Those count that other displays have drawn on the axes.  `alone` is the label of a single
        one.  Limits that are fixed are so without these lines.
        """
        there = [x.get_data() for x in marked(self.ax, label)]
        limits, fixed = self.ax.dataLim.frozen(), not self.ax.get_autoscale_on()
        drawn: list[Line2D] = []
        for x, y in lines:
            points = (np.asarray(x, dtype=float), np.asarray(y, dtype=float))
            if not any(_alike(points, other) for other in there):
                there.append(points)
                shown = label_once(self.ax, label, alone or label, label)
                drawn += self.ax.plot(*points, **style, label=shown)
                marks(drawn[-1], label)
        if fixed:
            self.ax.dataLim.set(limits)
        return drawn

    def named(
        self, title: str, label: str, legend: bool, place: str = "best", columns: int = 1
    ) -> None:
        """Label the y axis; give the axes a title unless they have one, and a legend if asked."""
        self.ax.set_ylabel(label)
        titled(self.ax, title)
        if legend:
            with_legend(self.ax, place, columns)

    def bands(self, band: Any, names: list[str], place: Any) -> None:
        """Shade the band of each model; `place` puts its points on the x axis."""
        said = "confidence band"
        for model, each in enumerate(_bands_of(band, names)):
            if each is not None:
                shade = self.ax.fill_between(
                    place(np.asarray(each.at), names[model]),
                    each.lower,
                    each.upper,
                    color=COLOURS[(self.first + model) % len(COLOURS)],
                    alpha=0.18,
                    linewidth=0,
                    label=label_once(self.ax, said, said, said),
                )
                marks(shade, said)


def _alike(one: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]) -> bool:
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-9, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def _bands_of(band: Any, names: list[str]) -> list[CurveBand | None]:
    """The band of each model, or None."""
    if isinstance(band, Mapping):
        strangers = [key for key in band if key not in names]
        if strangers:
            raise ValueError(f"band has {strangers[0]!r}, which is none of {', '.join(names)}")
        given = [band.get(name) for name in names]
    else:
        given = [band]
    for each in given:
        if each is not None and not isinstance(each, CurveBand):
            raise TypeError(
                "band must be a CurveBand, or a mapping from names to CurveBands; "
                f"got {type(each).__name__}"
            )
    hosts = [None if each is None else on_host(each) for each in given]
    return hosts if isinstance(band, Mapping) else _per_model(hosts[0], len(names))


def _per_model(band: CurveBand | None, number: int) -> list[CurveBand | None]:
    """A band whose leading axis is that of the models, one by one."""
    if band is None:
        return [None] * number
    if band.estimate.ndim == 1 and number == 1:
        return [band]
    if band.estimate.shape[:-1] != (number,):
        raise ValueError(
            f"band must have a row for each of {number} models; got shape {band.estimate.shape}"
        )
    return [CurveBand(band.at, *(x[model] for x in band[1:])) for model in range(number)]


def _checked_options(display: object, options: dict[str, Any], artist: type[Artist]) -> None:
    """Raise TypeError for an option that neither the display nor what it draws has."""
    for name in normalize_kwargs(options, artist):
        if not hasattr(artist, f"set_{name}") and name not in _OF_THE_CALL[artist.__name__]:
            raise TypeError(
                f"{type(display).__name__} has no option {name!r}, "
                f"nor has Matplotlib's {artist.__name__} such a property"
            )
