"""Axes: how lines look, which points are drawn, and what displays on the same axes share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from quotakernels._text import number
from quotakernels.plots._models import Numbers

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
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFERENCE = "#595959"
"""The colour of lines that belong to no model."""
RANDOM = {"color": REFERENCE, "linewidth": 1.0, "linestyle": (0, (2, 3)), "zorder": 1.5}
OPTIMAL = {"color": REFERENCE, "linewidth": 1.0, "linestyle": "-", "zorder": 1.5}
BREAK_EVEN = {"color": REFERENCE, "linewidth": 1.0, "linestyle": (0, (8, 3, 1, 3)), "zorder": 1.5}
ISO = {"color": "#767676", "linewidth": 0.7, "linestyle": "-", "zorder": 1.4}


def line_style(model: int) -> dict[str, Any]:
    """How the line of the model with this number looks."""
    return {
        "color": COLOURS[model % len(COLOURS)],
        "linestyle": DASHES[model % len(DASHES)],
        "linewidth": 1.6,
    }


# what displays on the same axes share


_MARK, _FREE = "_quotakernels_mark", "_quotakernels_free"


class _Mark(NamedTuple):
    """What something is, the number of its model on the axes, and what it was drawn from."""

    role: str
    model: int
    source: Any


_NOTHING = _Mark("", -1, None)


def marks(artist: Any, role: str, model: int = -1, source: Any = None) -> Any:
    """The artist, from now on known as what it is."""
    setattr(artist, _MARK, _Mark(role, model, source))
    return artist


def is_of_model(artist: Any) -> bool:
    """Whether it is the curve or the bars of a model, not its hull or a line of reference."""
    return getattr(artist, _MARK, _NOTHING).role in ("model", "bars")


def source_of(artist: Any) -> Any:
    """What an artist was drawn from."""
    return getattr(artist, _MARK).source


def marked(ax: Axes, role: str) -> list[Any]:
    """The artists on the axes that are known as this."""
    return [x for x in _known(ax) if getattr(x, _MARK).role == role]


def next_model(ax: Axes) -> int:
    """The number of the next model on the axes: one more than that of any before."""
    return 1 + max((getattr(x, _MARK).model for x in _known(ax)), default=-1)


def _known(ax: Axes) -> list[Any]:
    return [x for x in (*ax.get_children(), *ax.containers) if hasattr(x, _MARK)]


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


def unlimited(ax: Axes) -> None:
    """Let those limits follow the curves again that an earlier display on the axes has fixed."""
    for axis in getattr(ax, _FREE, ()):
        ax.autoscale(axis=axis)
    followed = {"x": ax.get_autoscalex_on(), "y": ax.get_autoscaley_on()}
    setattr(ax, _FREE, [axis for axis, follows in followed.items() if follows])


# axes


COLUMNS_PER_INCH = 1200
"""Four for each dot of a printer with 300 dots per inch."""
MANY = 8
"""Entries of a legend that find no room inside the axes."""
LARGE = 10_000
"""A quota from which on ticks are abbreviated."""
_SECOND = "quotakernels: second quota axis"


def axes_for(ax: Any, size: tuple[float, float] | None = None) -> Axes:
    """The axes to draw on: those given, or new ones, in a figure of that size in inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        new: Axes = plt.figure(figsize=size, layout="constrained").add_subplot()
        return new
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a Matplotlib Axes; got {type(ax).__name__}")
    return ax


def columns_of(ax: Axes) -> int:
    """How many columns of the axes can be told apart."""
    extent = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return max(round(COLUMNS_PER_INCH * extent.width), 1)


def position_on(ax: Axes) -> Callable[[Numbers], Numbers]:
    """Where on the scale of the x axis numbers are; not finite where it has no place for them."""
    if ax.get_xscale() == "linear":
        return lambda x: x
    transform = ax.xaxis.get_transform()

    def position(x: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            place = transform.transform(x)
        return np.where(x > 0, place, np.nan) if ax.get_xscale() == "log" else place

    return position


class QuotaAxis:
    """The x axis of quotas: examples or per cent of them, and the other on a second scale.

    Parameters
    ----------
    sizes : list of numbers
        All examples of each ranking, or the mass of all.
    weighted : bool
        Whether they are masses.
    percent : bool
        Per cent below and examples above.  Rankings of different sizes need it.
    """

    def __init__(self, sizes: list[float], weighted: bool, percent: bool):
        sizes = [size for size in sizes if size > 0]
        self.same = not sizes or np.ptp(sizes) <= 2.0**-40 * max(sizes)
        if not (self.same or percent):
            raise ValueError(
                "rankings of different numbers of examples need percent=True; "
                f"got {number(min(sizes))} and {number(max(sizes))} examples"
            )
        self.size = max(sizes, default=1.0)
        self.percent = percent
        self.unit = "sample weight" if weighted else "examples"

    def of(self, quota: Numbers, size: float) -> Numbers:
        """Places of quotas on the axis."""
        return 100 * quota / size if self.percent and size > 0 else quota

    @property
    def end(self) -> float:
        """The place of the quota of all examples."""
        return 100.0 if self.percent else self.size

    def drawn(self, ax: Axes) -> None:
        """Limits, labels and the second scale."""
        labels = [f"Quota ({self.unit})", f"Quota (% of {self._whole})"]
        below, above = reversed(labels) if self.percent else labels
        ax.set_xlabel(below)
        if not self.percent:
            self._shorten(ax)
        if ax.get_xscale() == "linear":
            ax.set_xlim(0, self.end)
        before = [x for x in ax.child_axes if _is_second(x)]
        name = f"{_SECOND} {self.size} {self.percent}"
        if any(x.get_gid() == name for x in before):
            return
        for other in before:  # that of rankings of another size
            other.remove()
        beside = ax.get_shared_x_axes().get_siblings(ax)
        if self.same and not any(_has_second(other) for other in (ax, *beside)):
            self._second(ax, above).set_gid(name)

    @property
    def _whole(self) -> str:
        return "examples" if self.unit == "examples" else "all weight"

    def _second(self, ax: Axes, label: str) -> Any:
        factor = self.size / 100 if self.percent else 100 / self.size
        ways = (lambda x: x * factor, lambda x: x / factor)
        second = ax.secondary_xaxis("top", functions=ways)
        second.set_xlabel(label)
        if self.percent:
            self._shorten(second)
        return second

    def _shorten(self, ax: Any) -> None:
        """Thousands and millions as 20k and 3M."""
        if self.size >= LARGE:
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def _is_second(ax: Any) -> bool:
    return (ax.get_gid() or "").startswith(_SECOND)


def _has_second(ax: Axes) -> bool:
    return any(_is_second(x) for x in ax.child_axes)


def rate_limits(ax: Axes, *axes: str) -> None:
    """From 0 to 1, with room for the lines along the edges."""
    for axis in axes:
        ax.set(**{f"{axis}lim": (-0.02, 1.02)})


def titled(ax: Axes, title: str) -> None:
    """Give the axes a title unless they have one."""
    if not ax.get_title():
        ax.set_title(title)


def room_above(ax: Axes, share: float = 0.35) -> None:
    """Raise the upper end of the y axis, so that a legend has room there."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + share * (high - low))


def _after_models(entry: tuple[Any, str]) -> bool:
    return not is_of_model(entry[0])


def with_legend(ax: Axes, place: str = "best", columns: int = 1) -> None:
    """A legend of what has a label, models first; beside the axes if there is much of it."""
    entries = sorted(zip(*ax.get_legend_handles_labels(), strict=True), key=_after_models)
    if not entries:
        return
    handles, labels = zip(*entries, strict=True)
    options: dict[str, Any] = {
        "fontsize": "small",
        "framealpha": 0.9,
        "handlelength": 2.8,
        "columnspacing": 1.0,
    }
    if len(labels) > MANY:
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), **options)
    else:
        ax.legend(handles, labels, loc=place, ncols=columns, **options)


# points of curves


Place = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
"""The coordinates of false and true positives."""
STEPS = 200
"""A piece of a curve that is drawn straight has at most this part of the axis."""
HALVINGS = 24


def thinned(x: Numbers, y: Numbers, columns: int) -> Numbers:
    """Which points of a curve to draw: the first, last, lowest and highest in each column.

    The range of x is divided into columns of equal width.  A line through the points that are left
    enters and leaves each column where the whole curve does, and covers the same heights in it, so
    that the two are nowhere further apart than a column is wide.

    Parameters
    ----------
    x, y : arrays, shape (n,)
        The curve; x does not fall, or does not rise.  Where either is not finite it is broken.
    columns : int
        How many columns.

    Returns
    -------
    integer array
        Positions of the points, in order: at most four of each column, and one of each break.
    """
    if len(x) <= 4 * columns:
        return np.arange(len(x))
    if x[0] > x[-1]:
        return len(x) - 1 - thinned(x[::-1], y[::-1], columns)[::-1]
    finite = np.isfinite(x) & np.isfinite(y)
    changes = np.flatnonzero(finite[1:] != finite[:-1]) + 1
    runs = list(pairwise([0, *changes.tolist(), len(x)]))
    whole = [x[k] for start, stop in runs if finite[start] for k in (start, stop - 1)]
    if not whole:
        return np.arange(1)
    edges = np.linspace(min(whole), max(whole), columns + 1)[1:-1]
    kept: list[int] = []
    for start, stop in runs:
        kept += _of_run(x, y, start, stop, edges) if finite[start] else [start]
    return np.asarray(kept)


def _of_run(x: Numbers, y: Numbers, start: int, stop: int, edges: Numbers) -> list[int]:
    """The points to draw of a stretch in which all are finite."""
    ends = start + np.maximum.accumulate(np.searchsorted(x[start:stop], edges))
    kept: list[int] = []
    for first, end in pairwise(np.unique([start, *ends, stop]).tolist()):
        if end - first <= 4:
            kept += range(first, end)
        else:
            column = y[first:end]
            extremes = (first + int(column.argmin()), first + int(column.argmax()))
            kept += sorted({first, *extremes, end - 1})
    return kept


def curved(
    fp: Numbers,
    tp: Numbers,
    x: Numbers,
    y: Numbers,
    place: Place,
    position: Callable[[Numbers], Numbers],
) -> tuple[Numbers, Numbers]:
    """The points (x, y) of cuts, with more between any two of them that are far apart.

    On the way from one cut to the next false and true positives grow in proportion.  Their middle
    is added until no two points are further apart along the axis than a 200th of it.  `position`
    is where on the axis an x is.
    """
    for _ in range(HALVINGS):
        along = position(x)
        with np.errstate(invalid="ignore"):
            apart = np.abs(np.diff(along))
        range_ = np.ptp(along[np.isfinite(along)]) if np.isfinite(along).any() else 0
        wide = np.flatnonzero(np.isfinite(apart) & (apart > range_ / STEPS))
        if not len(wide):
            break
        middle = ((fp[wide] + fp[wide + 1]) / 2, (tp[wide] + tp[wide + 1]) / 2)
        added = (*middle, *place(*middle))
        after = wide + 1
        fp, tp, x, y = (np.insert(a, after, b) for a, b in zip((fp, tp, x, y), added, strict=True))
    return x, y
