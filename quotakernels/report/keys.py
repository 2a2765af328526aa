"""What lines and areas of a drawing stand for, as lists of HTML that wrap on a narrow screen."""

from __future__ import annotations

from typing import Any, NamedTuple

from markupsafe import Markup

from quotakernels.plots._style import COLOURS, line_style

_SAMPLE = Markup('<svg viewBox="0 0 34 12" aria-hidden="true">{}</svg>')
_LINE = Markup(
    '<line x1="1" y1="6" x2="33" y2="6" stroke="{}" stroke-width="{}" stroke-dasharray="{}"/>'
)
_WIDER = 1.25
"""Pixels for a point, nearly."""


class Key(NamedTuple):
    """A sample of how something is drawn, and what it is."""

    sample: Markup
    text: str


def key_of_line(style: dict[str, Any], text: str) -> Key:
    """The key of a line that Matplotlib draws in this style."""
    width = _WIDER * style["linewidth"]
    lengths = () if style["linestyle"] == "-" else style["linestyle"][1]
    dashes = " ".join(f"{width * x:.3g}" for x in lengths)
    return Key(_SAMPLE.format(_LINE.format(style["color"], f"{width:g}", dashes)), text)


def key_of_model(model: int, text: str) -> Key:
    """The key of a model's curve."""
    return key_of_line(line_style(model), text)


def key_of_point(text: str) -> Key:
    """The key of the points that mark something on several curves."""
    point = Markup('<circle cx="17" cy="6" r="4.5" fill="#595959"/>')
    return Key(_SAMPLE.format(point), text)


def key_of_area(model: int, text: str) -> Key:
    """The key of an area in the colour of a model."""
    colour = COLOURS[model % len(COLOURS)]
    area = Markup('<rect width="34" height="12" fill="{}" fill-opacity="0.25"/>').format(colour)
    return Key(_SAMPLE.format(area), text)


def key_of_hatch(text: str) -> Key:
    """The key of a hatched area."""
    lines = Markup('<path d="M0 12L12 0M8 12L20 0M16 12L28 0M24 12L34 2" stroke="#595959"/>')
    return Key(_SAMPLE.format(lines), text)
