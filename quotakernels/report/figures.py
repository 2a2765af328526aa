"""The curves of a page, drawn by `quotakernels.plots`, each with a legend of HTML beside it.

Names of models come from the data: they stand in the legend, which the page escapes, and never in a
drawing, where they might be taken for mathematics or for names that begin with an underscore.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from quotakernels import plots
from quotakernels.cli.evaluation import Evaluation
from quotakernels.report.choice import Choice
from quotakernels.report.keys import Key, key_of_area, key_of_line, key_of_model, key_of_point
from quotakernels.report.svg import inlined
from quotakernels.report.words import listed, number

__all__ = ["Figure", "figures"]

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "quotakernels",
    "font.size": 10.5,
    "axes.labelsize": 10.5,
    "axes.spines.right": False,
    "path.simplify_threshold": 0.5,
    "axes.formatter.use_mathtext": False,
}
_SIZE = (5.0, 3.7)
_QUOTA = {"color": "#1b1f24", "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 1.6}


@dataclass(frozen=True)
class Figure:
    """A drawing, what its lines stand for, and how to read it."""

    name: str
    title: str
    reading: str
    keys: tuple[Key, ...]
    drawing: Markup


@dataclass(frozen=True)
class _Shown:
    """What the drawings of a page are of."""

    evaluation: Evaluation
    choice: Choice | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.evaluation.task.scores

    @property
    def rankings(self) -> dict[str, Any]:
        """By numbers in place of names."""
        return {f"model {k}": x for k, x in enumerate(self.evaluation.rankings)}

    @property
    def model(self) -> int:
        """The model that fills the quota, or the first one."""
        return 0 if self.choice is None or not self.choice.defined else self.choice.order[0]

    def models(self) -> list[Key]:
        return [key_of_model(k, name) for k, name in enumerate(self.names)]

    def mark(self, ax: Axes) -> list[Key]:
        """Draw the quota."""
        if self.choice is None or not self.choice.places:
            return []
        ax.axvline(self.choice.places, **_QUOTA)
        return [key_of_line(_QUOTA, f"quota {self.choice.quota}")]


def figures(evaluation: Evaluation, choice: Choice | None) -> Iterator[Figure]:
    """Draw every curve that is defined."""
    shown = _Shown(evaluation, choice)
    positives = evaluation.positive_total
    both = 0 < positives < evaluation.total
    if positives:
        yield from _each(shown, (_hit_rate, _qrecall))
    if both:
        yield from _each(shown, (_areas, _lift))
    if evaluation.brought is not None and evaluation.total:
        yield from _each(shown, (_brought,))
    if both and len(shown.names) > 1:
        yield from _each(shown, (_dominance,))
    if both:
        yield from _each(shown, (_roc, _precision_recall))


_Draw = Callable[[_Shown, Axes], tuple[str, str, str, Sequence[Key]]]


def _each(shown: _Shown, draws: Sequence[_Draw]) -> Iterator[Figure]:
    """Draw in Matplotlib's own style, whatever the user has set."""
    with matplotlib.style.context(["default", _STYLE]):
        for draw in draws:
            drawing = Drawing(figsize=_SIZE, layout="constrained")
            ax = drawing.subplots()
            name, title, reading, keys = draw(shown, ax)
            ax.set_title("")
            label = f"{title} of {listed(shown.names)}"
            yield Figure(name, title, reading, tuple(keys), _svg(drawing, name, label))


def _svg(drawing: Drawing, name: str, label: str) -> Markup:
    written = io.StringIO()
    drawing.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    return Markup(inlined(written.getvalue(), name, label))  # noqa: S704 -- built from elements


# the curves


def _hit_rate(shown: _Shown, ax: Axes) -> tuple[str, str, str, Sequence[Key]]:
    plots.HitRateDisplay.from_ranking(shown.rankings, ax=ax, legend=False)
    reading = "The share of positives among the selected: at your quota the highest line wins."
    keys = [*shown.models(), *shown.mark(ax), key_of_line(plots_style().RANDOM, "random choice")]
    return "hit-rate", "Hit rate at every quota", reading, keys
