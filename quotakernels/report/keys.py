"""Keys of legends: a sample of how something is drawn, and what it is."""

from __future__ import annotations

from typing import Any, NamedTuple

from markupsafe import Markup

from quotakernels._text import formatted
from quotakernels.plots._axes import COLOURS, REFERENCE

_PAINTS = {colour.lower(): f"model-{k + 1}" for k, colour in enumerate(COLOURS)}
_PAINTS |= {REFERENCE.lower(): "reference", "#000000": "ink", "#1b1f24": "ink"}
_PAINTS |= {"#bbbbbb": "grid", "#ffffff": "page"}
"""The names under which the style sheet has other colours for a dark page."""
_WIDER = 1.25
"""Pixels for a point, nearly."""


def painted(colour: str) -> str:
    """A colour as styles write it, which the style sheet may replace by that of a dark page."""
    name = _PAINTS.get(colour.lower())
    return colour if name is None else f"var(--{name},{colour.lower()})"


class Key(NamedTuple):
    """A sample of how something is drawn, and what it is; `strong` if it stands out."""

    sample: Markup
    text: str
    strong: bool = False


def key_of(text: str, sample: str, *values: Any, strong: bool = False) -> Key:
    """A key whose sample is an element of SVG, with values put into it."""
    drawn = Markup(sample).format(*values)
    sample = Markup('<svg viewBox="0 0 34 12" aria-hidden="true">{}</svg>').format(drawn)
    return Key(sample, text, strong)


def key_of_line(style: dict[str, Any], text: str, strong: bool = False) -> Key:
    """The key of a line that Matplotlib draws in this style."""
    width = _WIDER * style["linewidth"]
    lengths = () if style["linestyle"] == "-" else style["linestyle"][1]
    dashes = " ".join(formatted(width * x, ".3g") for x in lengths)
    line = '<path d="M1 6H33" style="stroke:{};stroke-width:{};stroke-dasharray:{}"/>'
    values = (painted(style["color"]), formatted(width, "g"), dashes or "none")
    return key_of(text, line, *values, strong=strong)
