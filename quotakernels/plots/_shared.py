"""What displays on the same axes share: the count of their models, and lines that belong to none.

Artists are marked by an attribute, which goes where they go: out of the axes, or into a pickle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.axes import Axes

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
