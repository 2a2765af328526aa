"""Colours, dashes and hatches that tell models apart in print and for the colour-blind."""

from __future__ import annotations

from typing import Any

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
