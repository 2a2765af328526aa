"""What all displays have in common: the ways in, and the lines of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
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
    curved,
    label_once,
    line_style,
    marked,
    marks,
    next_model,
    position_on,
    titled,
    with_legend,
)
from quotakernels.plots._models import (
    Numbers,
    named_rankings,
    on_host,
    rankings_of_predictions,
    written,
)
from quotakernels.results import CurveBand


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
        given = (y_true, y_score, name, classes, keywords, cls._of_classes)
        return cls._drawn(rankings_of_predictions(*given), ax, options)

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

    def _begin(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """Axes, and how many models there are on them already, from other displays."""
        self.ax_ = axes_for(ax, size)
        self.figure_ = self.ax_.get_figure()
        self.lines_ = []
        self._before = next_model(self.ax_)
        return self.ax_

    def _line(
        self,
        x: Numbers,
        y: Numbers,
        label: str,
        options: dict[str, Any],
        counts: tuple[Numbers, Numbers, Place] | None = None,
        hulls: list[Line2D] | None = None,
    ) -> tuple[Numbers, Numbers]:
        """Draw a model's curve, or its hull, curved between cuts if `counts` says how."""
        if counts is not None:
            x, y = curved(x, y, counts, position_on(self.ax_))
        lines, role = (self.lines_, "model") if hulls is None else (hulls, "hull")
        model = self._before + len(lines)
        style = line_style(model) | normalize_kwargs(options, Line2D)
        (line,) = self.ax_.plot(x, y, **{"label": written(label) or None, **style})
        lines.append(marks(line, role, model))
        return x, y

    def _references(
        self,
        lines: list[tuple[Any, Any]],
        label: str,
        style: Any = RANDOM,
        alone: str | None = None,
        limiting: bool = True,
    ) -> list[Line2D]:
        """Draw lines that belong to no model, equal ones once, under one label.

        Those count that other displays have drawn on the axes.  `alone` is the label of a single
        one.  The limits of the axes follow them if they are `limiting`.
        """
        there = [x.get_data() for x in marked(self.ax_, label)]
        drawn: list[Line2D] = []
        for x, y in lines:
            points = (np.asarray(x, dtype=float), np.asarray(y, dtype=float))
            if not any(_alike(points, other) for other in there):
                there.append(points)
                shown = label_once(self.ax_, label, alone or label, label)
                line = Line2D(*points, **style, label=shown)
                self.ax_.add_line(line) if limiting else self.ax_.add_artist(line)
                drawn.append(marks(line, label))
        if limiting:
            self.ax_.autoscale_view()
        return drawn

    def _named(
        self, title: str, label: str, legend: bool, place: str = "best", columns: int = 1
    ) -> None:
        """Label the y axis; give the axes a title unless they have one, and a legend if asked."""
        self.ax_.set_ylabel(label)
        titled(self.ax_, title)
        if legend:
            with_legend(self.ax_, place, columns)

    def _bands(self, band: Any, place: Any) -> None:
        """Shade the band of each model; `place` puts its points on the x axis."""
        said = "confidence band"
        for model, (name, each) in enumerate(_bands_of(band, list(self.rankings)).items()):
            if each is not None:
                shade = self.ax_.fill_between(
                    place(np.asarray(each.at), name),
                    each.lower,
                    each.upper,
                    color=COLOURS[(self._before + model) % len(COLOURS)],
                    alpha=0.18,
                    linewidth=0,
                    label=label_once(self.ax_, said, said, said),
                )
                marks(shade, said)


def _alike(one: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]) -> bool:
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-9, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def _bands_of(band: Any, names: list[str]) -> dict[str, CurveBand | None]:
    """The band of each model, or None; the leading axis of a single one is that of the models."""
    several = isinstance(band, Mapping)
    for each in band.values() if several else [band]:
        if each is not None and not isinstance(each, CurveBand):
            raise TypeError(
                "band must be a CurveBand, or a mapping from names to CurveBands; "
                f"got {type(each).__name__}"
            )
    if several:
        strangers = [key for key in band if key not in names]
        if strangers:
            raise ValueError(f"band has {strangers[0]!r}, which is none of {', '.join(names)}")
        return {x: None if band.get(x) is None else on_host(band[x]) for x in names}
    if band is None:
        return dict.fromkeys(names)
    at, *edges = on_host(band)
    if edges[0].ndim == 1 and len(names) == 1:
        return {names[0]: CurveBand(at, *edges)}
    if edges[0].shape[:-1] != (len(names),):
        raise ValueError(
            f"band must have a row for each of {len(names)} models; got shape {edges[0].shape}"
        )
    return {x: CurveBand(at, *each) for x, *each in zip(names, *edges, strict=True)}
