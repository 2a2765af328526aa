"""Axes: how lines look, which points are drawn, and what displays on the same axes share."""

from __future__ import annotations

from collections.abc import Callable
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


MANY = 8
"""Entries of a legend that find no room inside the axes."""
LARGE = 10_000
"""A quota from which on ticks are abbreviated."""
_SECOND = "second quota axis"


def axes_for(ax: Any, size: tuple[float, float] | None = None) -> Axes:
    """The axes to draw on: those given, or new ones, in a figure of that size in inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        new: Axes = plt.figure(figsize=size, layout="constrained").add_subplot()
        return new
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a Matplotlib Axes; got {type(ax).__name__}")
    return ax


def position_on(ax: Axes) -> Callable[[Numbers], Numbers]:
    """Where on the scale of the x axis numbers are; not finite where it has no place for them."""
    transform, has_zero = ax.xaxis.get_transform(), ax.get_xscale() != "log"

    def position(x: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((x > 0) | has_zero, transform.transform(x), np.nan)

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
        """Limits, labels and the second scale; thousands and millions as 20k and 3M."""
        whole = "examples" if self.unit == "examples" else "all weight"
        labels = [f"Quota ({self.unit})", f"Quota (% of {whole})"]
        below, above = reversed(labels) if self.percent else labels
        ax.set_xlabel(below)
        if ax.get_xscale() == "linear":
            ax.set_xlim(0, self.end)
        for other in [x for x in ax.child_axes if x.get_gid() == _SECOND]:
            other.remove()
        scales: list[Any] = [ax]
        beside = ax.get_shared_x_axes().get_siblings(ax)
        if self.same and not any(x.get_gid() == _SECOND for y in beside for x in y.child_axes):
            factor = self.size / 100 if self.percent else 100 / self.size
            ways = (lambda x: x * factor, lambda x: x / factor)
            scales.append(ax.secondary_xaxis("top", functions=ways))
            scales[-1].set(xlabel=above, gid=_SECOND)
        for scale in scales[1:] if self.percent else [ax]:
            if self.size >= LARGE:
                scale.xaxis.set_major_formatter(EngFormatter(sep=""))


def rate_limits(ax: Axes, *axes: str) -> None:
    """From 0 to 1, with room for the lines along the edges."""
    for axis in axes:
        ax.set(**{f"{axis}lim": (-0.02, 1.02)})


def titled(ax: Axes, title: str) -> None:
    """Give the axes a title unless they have one."""
    if not ax.get_title():
        ax.set_title(title)


def with_legend(ax: Axes, place: str = "best", columns: int = 1) -> None:
    """A legend of what has a label, models first; beside the axes if there is much of it."""
    entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
    entries.sort(key=lambda entry: mark_of(entry[0]).role not in ("model", "bars"))
    if not entries:
        return
    handles, labels = zip(*entries, strict=True)
    where: dict[str, Any] = {"loc": place, "ncols": columns}
    if len(labels) > MANY:
        where = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)}
    look = {"fontsize": "small", "framealpha": 0.9, "handlelength": 2.8, "columnspacing": 1.0}
    ax.legend(handles, labels, **look, **where)


# points of curves


Place = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
"""The coordinates of false and true positives."""
STEPS = 200
"""A piece of a curve that is drawn straight has at most this part of the axis."""
HALVINGS = 24


def curved(
    x: Numbers,
    y: Numbers,
    counts: tuple[Numbers, Numbers, Place],
    position: Callable[[Numbers], Numbers],
) -> tuple[Numbers, Numbers]:
    """The points (x, y) of cuts, with more between any two of them that are far apart.

    On the way from one cut to the next false and true positives grow in proportion.  Their middle
    is added until no two points are further apart along the axis than a 200th of it.  `position`
    is where on the axis an x is.
    """
    fp, tp, place = counts
    along = position(x)
    seen = along[np.isfinite(along)]
    farthest = np.ptp(seen) / STEPS if len(seen) else np.inf
    start, stop = (np.stack([fp, tp, along])[:, k] for k in (slice(-1), slice(1, None)))
    points = [np.stack([fp + tp, x, y])]
    for _ in range(HALVINGS):
        with np.errstate(invalid="ignore"):
            wide = np.abs(stop[2] - start[2]) > farthest
        wide &= np.isfinite(start[2]) & np.isfinite(stop[2])
        if not wide.any():
            break
        start, stop = start[:, wide], stop[:, wide]
        fp, tp = (start[:2] + stop[:2]) / 2
        x, y = place(fp, tp)
        points.append(np.stack([fp + tp, x, y]))
        middle = np.stack([fp, tp, position(x)])
        start, stop = np.hstack([start, middle]), np.hstack([middle, stop])
    every = np.hstack(points)
    _, x, y = every[:, np.argsort(every[0], kind="stable")]
    return x, y
