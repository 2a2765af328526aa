"""Keywords that go on to Matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib.artist import Artist
from matplotlib.cbook import normalize_kwargs

__all__ = ["checked_options"]

_OF_THE_CALL: dict[str, tuple[str, ...]] = {
    "Line2D": ("scalex", "scaley"),
    "PolyCollection": (),
    "Rectangle": ("bottom", "log"),
}
"""What the functions that draw these take beside properties, and displays pass on."""


def checked_options(display: object, options: dict[str, Any], artist: type[Artist]) -> None:
    """Raise TypeError for an option that neither the display nor what it draws has."""
    for name in normalize_kwargs(options, artist):
        if not hasattr(artist, f"set_{name}") and name not in _OF_THE_CALL[artist.__name__]:
            raise TypeError(
                f"{type(display).__name__} has no option {name!r}, "
                f"nor has Matplotlib's {artist.__name__} such a property"
            )
