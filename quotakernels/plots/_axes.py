"""Axes of displays: new ones, the quota axis with its second scale, titles, legends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from quotakernels._text import number
from quotakernels.plots._host import Numbers
from quotakernels.plots._shared import is_of_model

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
