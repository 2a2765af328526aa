"""What all displays share: looks, names of models, the quota axis, and the ways in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

from quotakernels import Ranking, rank
from quotakernels._array import tree_map
from quotakernels._bits import host_array
from quotakernels._text import formatted, number
from quotakernels.inputs.keywords import flagged, keywords_of, show_value
from quotakernels.results import CurveBand

Numbers = np.ndarray[Any, Any]

# colours, dashes and hatches that tell models apart in print and for the colour-blind


COLOURS = ("#0072B2", "#D55E00", "#007E5A", "#A0508A", "#000000")
"""Of Okabe and Ito, the green and the purple darker, so that all stand out from white."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (9, 2.5)),
    (0, (3, 1, 3, 1, 1, 1)),
)
"""Their number has no divisor in common with that of the colours, so that 35 lines differ."""
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
MOST_MARKED = 60
"""More cuts that are as good as the best one are counted, not marked, and so many vertices of a
hull have no markers.
"""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFERENCE = "#595959"
"""The colour of lines that belong to no model."""
RANDOM = {"color": REFERENCE, "linewidth": 1.0, "linestyle": (0, (2, 3)), "zorder": 1.5}
OPTIMAL = {"color": REFERENCE, "linewidth": 1.0, "linestyle": "-", "zorder": 1.5}
BREAK_EVEN = {"color": REFERENCE, "linewidth": 1.0, "linestyle": (0, (8, 3, 1, 3)), "zorder": 1.5}
ISO = {"color": "#767676", "linewidth": 0.7, "linestyle": "-", "zorder": 1.4}


def colour_of(model: int) -> str:
    """The colour of the model with this number."""
    return COLOURS[model % len(COLOURS)]


def line_style(model: int) -> dict[str, Any]:
    """How the line of the model with this number looks."""
    dashes = DASHES[model % len(DASHES)]
    return {"color": colour_of(model), "linestyle": dashes, "linewidth": 1.6}


# what displays on the same axes share


_MARK = "_quotakernels_mark"


class _Mark(NamedTuple):
    """What something is, the number of its model on the axes, and what it was drawn from."""

    role: str = ""
    model: int = -1
    source: Any = None


def marks(artist: Any, role: str, model: int = -1, source: Any = None) -> Any:
    """The artist, from now on known as what it is."""
    setattr(artist, _MARK, _Mark(role, model, source))
    return artist


def mark_of(artist: Any) -> _Mark:
    """What is known of an artist."""
    mark: _Mark = getattr(artist, _MARK, _Mark())
    return mark


def marked(ax: Axes, role: str) -> list[Any]:
    """The artists on the axes that are known as this."""
    return [x for x in (*ax.get_children(), *ax.containers) if mark_of(x).role == role]


def next_model(ax: Axes) -> int:
    """The number of the next model on the axes: one more than that of any before."""
    return 1 + max((mark_of(x).model for x in (*ax.get_children(), *ax.containers)), default=-1)


def label_once(ax: Axes, role: str, alone: str, together: str) -> str | None:
    """The label of the next artist with this role, about to be drawn.

    The first is labelled as one alone.  That label becomes one for all as soon as there is another,
    which gets none.
    """
    for artist in marked(ax, role):
        if not str(artist.get_label()).startswith("_"):
            artist.set_label(together)
            return None
    return alone


# axes


LEGEND_INSIDE = 8
"""Entries of a legend for which there is room inside the axes."""
ABBREVIATED_FROM = 10_000
"""Quota from which on ticks are abbreviated."""
_SECOND = "second quota axis"


class QuotaAxis:
    """The x axis of quotas, drawn: examples or per cent of them, the other on a second scale.

    Parameters
    ----------
    ax : Axes
        Whose axis it is.
    sizes : list of numbers of NumPy
        All examples of each ranking; a float is the mass of all.
    percent : bool
        Per cent below and examples above.  Rankings of different sizes need it.
    """

    def __init__(self, ax: Axes, sizes: list[Any], percent: bool):
        unit = "sample weight" if any(x.dtype.kind == "f" for x in sizes) else "examples"
        sizes = [float(size) for size in sizes if size > 0]
        same = not sizes or np.ptp(sizes) <= 2.0**-40 * max(sizes)
        if not (same or percent):
            raise ValueError(
                "rankings of different numbers of examples need percent=True; "
                f"got {number(min(sizes))} and {number(max(sizes))} examples"
            )
        self.size, self.percent = max(sizes, default=1.0), percent
        self.end = 100.0 if percent else self.size
        """The place of the quota of all examples."""
        self._draw(ax, unit, same)

    def of(self, quota: Any, size: float) -> Any:
        """Places of quotas of so many examples on the axis."""
        return 100 * quota / size if self.percent and size > 0 else quota

    def _draw(self, ax: Axes, unit: str, same: bool) -> None:
        """Limits, labels and the second scale; thousands and millions as 20k and 3M."""
        whole = "examples" if unit == "examples" else "all weight"
        labels = [f"Quota ({unit})", f"Quota (% of {whole})"]
        below, above = reversed(labels) if self.percent else labels
        ax.set_xlabel(below)
        if ax.get_xscale() == "linear":
            ax.set_xlim(0, self.end)
        for other in [x for x in ax.child_axes if x.get_gid() == _SECOND]:
            other.remove()
        scales: list[Any] = [ax]
        beside = ax.get_shared_x_axes().get_siblings(ax)
        if same and not any(x.get_gid() == _SECOND for y in beside for x in y.child_axes):
            factor = self.size / 100 if self.percent else 100 / self.size
            ways = (lambda x: x * factor, lambda x: x / factor)
            scales.append(ax.secondary_xaxis("top", functions=ways))
            scales[-1].set(xlabel=above, gid=_SECOND)
        for scale in scales[1:] if self.percent else [ax]:
            if self.size >= ABBREVIATED_FROM:
                scale.xaxis.set_major_formatter(EngFormatter(sep=""))


def rate_limits(ax: Axes, *axes: str) -> None:
    """From 0 to 1, with room for the lines along the edges."""
    for axis in axes:
        ax.set(**{f"{axis}lim": (-0.02, 1.02)})


def with_legend(ax: Axes, place: str = "best", columns: int = 1) -> None:
    """A legend of what has a label, models first; beside the axes if there is much of it."""
    entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
    entries.sort(key=lambda entry: mark_of(entry[0]).role not in ("model", "bars"))
    if not entries:
        return
    handles, labels = zip(*entries, strict=True)
    where: dict[str, Any] = {"loc": place, "ncols": columns}
    if len(labels) > LEGEND_INSIDE:
        where = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)}
    look = {"fontsize": "small", "framealpha": 0.9, "handlelength": 2.8, "columnspacing": 1.0}
    ax.legend(handles, labels, **look, **where)


# arrays of any library as NumPy's


def on_host(result: Any) -> Any:
    """The arrays of a ranking or of any other named tuple, in NumPy.

    The thresholds of a ranking become floats that NumPy has, and rows without examples go.
    """
    if not isinstance(result, Ranking):
        return tree_map(host_array, result)
    found = result.map(host_array)
    found = found._replace(thresholds=found.thresholds.astype(np.float64))
    filled = found.counts > 0
    some = filled.ndim == 1 and filled.any() and not filled.all()
    return found.map(lambda x: x[filled]) if some else found


# models


def of_models(y_score: Any, function: Callable[[Any], Any]) -> Any:
    """What a function makes of scores, or of those of each model in a mapping or data frame."""
    names = y_score if isinstance(y_score, Mapping) else getattr(y_score, "columns", None)
    return function(y_score) if names is None else {x: function(y_score[x]) for x in names}


def named(kind: type[Any], what: str, given: Any, name: Any = None) -> dict[str, Any]:
    """Results of one kind in NumPy, each of one list of scores, by name; one alone may be ''."""
    several = isinstance(given, Mapping)
    if several and name is not None:
        raise TypeError("name cannot be combined with a mapping, whose keys name the models")
    if several and not given:
        raise ValueError("a mapping of models must hold at least one; got none")
    found: dict[str, Any] = {}
    for key, result in given.items() if several else [("", given)]:
        if not isinstance(result, kind):
            raise TypeError(
                f"{what}{f'[{key!r}]' if several else ''} must be a {kind.__name__}, or a mapping "
                f"from names to them; got {type(result).__name__}"
            )
        found |= apart(str(key), result, name)
    return found


def apart(key: str, result: Any, name: Any = None) -> dict[str, Any]:
    """What is known of models one by one, by their names, or numbers if there is an axis of them.

    There may be one leading axis.
    """
    found = on_host(result)
    shape = np.shape(found.counts)[:-1] if isinstance(found, Ranking) else np.shape(found.value)
    if len(shape) > 1:
        raise ValueError(f"models must be one leading axis; got axes of shape {shape}")
    number = shape[0] if shape else 1
    if name is None:
        name = [f"model {m}" for m in range(number)] if shape else ""
    names = [name] if isinstance(name, str) else name
    if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
        raise TypeError(f"name must be a string, or one for each model; got {show_value(name)}")
    if len(names) != number:
        raise ValueError(f"name must hold {number} names, one for each model; got {len(names)}")
    return {
        label_of(key, each): on_host(tree_map(itemgetter(index), found))
        for index, each in zip(np.ndindex(shape), names, strict=True)
    }


def label_of(*parts: str) -> str:
    """A name in the legend made of several."""
    return ", ".join(part for part in parts if part)


Value = tuple[str, Any]
"""A measure by the short name that legends have for it."""


def with_value(name: str, value: Value | None, ranking: Ranking) -> str:
    """A model's name with what it has of a measure."""
    if value is None or not name:
        return name
    short, measure = value
    return f"{name} ({short} = {formatted(measure(ranking), '.3f')})"


def written(text: str) -> str:
    """Text that Matplotlib shows as it is.

    Dollars would begin mathematics, and what begins with an underscore is left out of legends.
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


# lines


Place = Callable[[Numbers], tuple[Numbers, Numbers]]
"""The coordinates of sums of masses, of which each class has a row."""
AXIS_STEPS = 200
"""A piece of a curve that is drawn straight has at most this part of the axis."""
HALVINGS = 24


def sums_of(*masses: Numbers) -> Numbers:
    """The sum of each of the masses at every cut, from none to all, in a row each."""
    return np.stack([np.concatenate([[0.0], np.cumsum(x, dtype=np.float64)]) for x in masses])


def cuts(ranking: Ranking) -> Numbers:
    """False and true positives at every cut."""
    return sums_of(ranking.negative_weights, ranking.positive_weights)


def from_the_start(y: Numbers) -> Numbers:
    """Heights of cuts; if the empty one has none, that of the next."""
    return np.concatenate([y[1:2], y[1:]]) if len(y) > 1 and np.isnan(y[0]) else y


def curved(
    ax: Axes, x: Numbers, y: Numbers, between: tuple[Numbers, Place] | None
) -> list[Numbers]:
    """The points of cuts, with more between any two of them that are far apart.

    On the way from one cut to the next the masses grow in proportion.  Their middle is added until
    no two points are further apart along the axis than a 200th of it, whatever scale it has.
    Nothing is added unless the sums at the cuts are given, and the place of any sums.
    """
    points = [x, y]
    if between is None:
        return points
    sums, place = between
    scale, has_zero = ax.xaxis.get_transform(), ax.get_xscale() != "log"
    for _ in range(HALVINGS):
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where((points[0] > 0) | has_zero, scale.transform(points[0]), np.nan)
            step = np.abs(np.diff(along))
        seen = along[np.isfinite(along)]
        farthest = np.ptp(seen) / AXIS_STEPS if len(seen) else 0.0
        wide = 1 + np.flatnonzero(np.isfinite(step) & (step > farthest))
        if not len(wide):
            break
        middle = (sums[:, wide - 1] + sums[:, wide]) / 2
        sums = np.insert(sums, wide, middle, axis=1)
        points = [np.insert(a, wide, b) for a, b in zip(points, place(middle), strict=True)]
    return points


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

    ax_: Axes
    figure_: Any
    lines_: list[Line2D]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "plot" in cls.__dict__:
            cls.plot = flagged(cls.plot)  # type: ignore[method-assign]

    def __init__(self, rankings: Ranking | Mapping[str, Ranking]):
        self.rankings: dict[str, Ranking] = named(Ranking, "rankings", rankings)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, name: Any = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Rank the scores and draw.

        Parameters
        ----------
        y_true : array, shape (n,) or that of `y_score`
            Labels, as in `quotakernels.rank`.
        y_score : array, data frame, or mapping from names to arrays
            Scores of shape (n,) or (models, n), or a data frame with a column for each model.
        name : str, or a sequence of them
            The name of the model, or one for each.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options : optional
            What `quotakernels.rank` takes, such as `sample_weight`, `where`, `pos_label` and
            `ties`; what the display takes beside rankings; and what its `plot` takes.

        Returns
        -------
        display
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        keywords = {x: options.pop(x) for x in keywords_of(rank) or () if x in options}
        rankings = of_models(y_score, lambda x: rank(y_true, x, **keywords))
        return cls.from_ranking(rankings, name=name, ax=ax, **options)

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
        own = {x: options.pop(x) for x in cls._own if x in options}
        made = cls._made(named(Ranking, "rankings", ranking, name), **own)
        return made.plot(ax=ax, **options)

    @classmethod
    def _made(cls, rankings: dict[str, Ranking], **own: Any) -> Self:
        return cls(rankings, **own)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw; see the display."""
        raise NotImplementedError

    def _begin(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """Axes, and how many models there are on them already, from other displays."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=size, layout="constrained").add_subplot()
        if not isinstance(ax, Axes):
            raise TypeError(f"ax must be a Matplotlib Axes; got {type(ax).__name__}")
        self.ax_, self.figure_ = ax, ax.get_figure()
        self.lines_ = []
        self._before = next_model(self.ax_)
        return self.ax_

    def _line(
        self,
        x: Numbers,
        y: Numbers,
        label: str,
        options: dict[str, Any],
        between: tuple[Numbers, Place] | None = None,
        hulls: list[Line2D] | None = None,
    ) -> list[Numbers]:
        """Draw a model's curve, or its hull, curved `between` cuts if their sums and places are
        given.
        """
        points = curved(self.ax_, x, y, between)
        lines, role = (self.lines_, "model") if hulls is None else (hulls, "hull")
        model = self._before + len(lines)
        style = line_style(model) | normalize_kwargs(options, Line2D)
        (line,) = self.ax_.plot(*points, **{"label": written(label) or None, **style})
        lines.append(marks(line, role, model))
        return points

    def _references(
        self,
        lines: list[Any],
        label: str,
        style: Any = RANDOM,
        alone: str | None = None,
        limiting: bool = True,
    ) -> list[Line2D]:
        """Draw lines that belong to no model, equal ones once, under one label.

        Those count that other displays have drawn on the axes.  `alone` is the label of a single
        one.  The limits of the axes follow them if they are `limiting`.
        """
        there = {mark_of(x).source for x in marked(self.ax_, label)}
        drawn: list[Line2D] = []
        for x, y in lines:
            points = tuple(formatted(number, ".9g") for number in (*x, *y))
            if points not in there:
                there.add(points)
                shown = label_once(self.ax_, label, alone or label, label)
                line = Line2D(x, y, **style, label=shown)
                self.ax_.add_line(line) if limiting else self.ax_.add_artist(line)
                drawn.append(marks(line, label, source=points))
        if limiting:
            self.ax_.autoscale_view()
        return drawn

    def _named(
        self, title: str, label: str, legend: bool, place: str = "best", columns: int = 1
    ) -> None:
        """Label the y axis; give the axes a title unless they have one, and a legend if asked."""
        self.ax_.set(ylabel=label, title=self.ax_.get_title() or title)
        if legend:
            with_legend(self.ax_, place, columns)

    def _bands(self, band: Any, place: Any) -> None:
        """Shade the band of each model; `place` puts its points on the x axis."""
        said, names = "confidence band", list(self.rankings)
        for name, (at, lower, upper) in _bands_of(band, names).items():
            model = self._before + names.index(name)
            look: dict[str, Any] = {"color": colour_of(model), "alpha": 0.18, "linewidth": 0}
            look["label"] = label_once(self.ax_, said, said, said)
            marks(self.ax_.fill_between(place(at, name), lower, upper, **look), said)


def _bands_of(band: Any, names: list[str]) -> dict[str, Any]:
    """The places and both edges of each band; the leading axis of one alone is that of models."""
    bands = band if isinstance(band, Mapping) else {"": band}
    found = {}
    for name, each in bands.items():
        if not isinstance(each, CurveBand | None):
            raise TypeError(
                "band must be a CurveBand, or a mapping from names to CurveBands; "
                f"got {type(each).__name__}"
            )
        if bands is band and name not in names:
            raise ValueError(f"band has {name!r}, which is none of {', '.join(names)}")
        if each is not None:
            found[name] = [on_host(x) for x in (each.at, each.lower, each.upper)]
    if bands is band or not found:
        return found
    at, *edges = found[""]
    rows = [np.atleast_2d(x) for x in edges]
    if rows[0].shape[:-1] != (len(names),):
        raise ValueError(
            f"band must have a row for each of {len(names)} models; got shape {edges[0].shape}"
        )
    return {name: (at, *each) for name, *each in zip(names, *rows, strict=True)}
