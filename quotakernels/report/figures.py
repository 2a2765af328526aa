"""The curves of a page, drawn by `quotakernels.plots`, each with a legend of HTML beside it."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from quotakernels import plots
from quotakernels._text import formatted, percent
from quotakernels.evaluation.certainty import at_quota
from quotakernels.evaluation.results import Choice, Column, GroupResults, GroupValues, Results
from quotakernels.evaluation.tables import GROUPS_SHOWN, columns_at
from quotakernels.evaluation.words import listed, say, sentence
from quotakernels.inference import hit_rate_interval
from quotakernels.plots._display import (
    BREAK_EVEN,
    COLOURS,
    MARKERS,
    OPTIMAL,
    RANDOM,
    REFERENCE,
    colour_of,
    line_style,
    marked,
    written,
)
from quotakernels.results import CurveBand

_STYLE = {
    "svg.fonttype": "none",
    "font.size": 11.0,
    "axes.labelsize": 11.0,
    "axes.spines.right": False,
    "path.simplify_threshold": 0.5,
    "axes.formatter.use_mathtext": False,
}

_INCHES = (5.0, 3.7)

_ROW, _ROW_OF_GROUP, _ROW_OF_DOT = 0.5, 0.25, 0.08

_THICK, _THIN = 2.6, 1.2

_DPI = 72

_NAME = 16
"""Letters of a name in a line, which leave room for the drawing."""

_HULLS = 3

_QUOTAS = 120
"""Of the band of a hit rate."""

_QUOTA: dict[str, Any] = {
    "color": "#1b1f24",
    "linewidth": 1.0,
    "linestyle": (0, (4, 2)),
    "zorder": 1.6,
}


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


# keys of legends


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


@dataclass(frozen=True)
class Figure:
    """A drawing, what its lines stand for beside those of the legend, and how to read it."""

    name: str
    title: str
    reading: str
    keys: tuple[Key, ...]
    drawing: Markup
    folded: bool


@dataclass(frozen=True)
class _Shown:
    """What the drawings of a page are of."""

    evaluation: Results
    choice: Choice | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.evaluation.models

    @property
    def rankings(self) -> dict[str, Any]:
        return dict(zip(self.names, self.evaluation.rankings, strict=True))

    @property
    def model(self) -> int:
        """The model that fills the quota, or the first one."""
        return 0 if self.choice is None or not self.choice.defined else self.choice.first

    @property
    def ranking(self) -> Any:
        """Its ranking."""
        return self.evaluation.rankings[self.model]

    @property
    def by_positives(self) -> bool:
        """Whether the models are in order of the positives that they find at the quota."""
        choice, settings = self.choice, self.evaluation.settings
        one = settings.per is None and settings.cost is None
        return choice is not None and choice.defined and choice.brings is None and one

    @property
    def hull(self) -> bool:
        """Whether hulls can be told apart: of few models."""
        return len(self.names) <= _HULLS

    @property
    def winner(self) -> int | None:
        """The model that fills the quota, if one of several does."""
        return self.model if self.choice and self.choice.defined and self.names[1:] else None

    def models(self) -> list[Key]:
        return [
            key_of_line(_weighted(line_style(k), k, self.winner), name, k == self.winner)
            for k, name in enumerate(self.names)
        ]

    @property
    def marked(self) -> Choice | None:
        """The quota or budget that is marked in the drawings."""
        choice = self.choice
        filled = choice is not None and choice.filled.any() and not self.evaluation.settings.per
        return choice if filled else None

    def mark(self, ax: Axes) -> None:
        """Draw the quota, or how many each model takes for the budget."""
        if self.marked is None:
            return
        if self.marked.quota.is_budget:
            for k, places in enumerate(self.marked.filled):
                style = {**_QUOTA, "color": line_style(k)["color"]}
                ax.axvline(places, gid=f"{MOVED}{k}", **style)
        else:
            ax.axvline(self.marked.places, gid=f"{MOVED}0", **_QUOTA)


def _weighted(style: dict[str, Any], model: int, winner: int | None) -> dict[str, Any]:
    """The style of a line, wider if the model is the first of several, and else narrower."""
    if winner is None:
        return style
    return {**style, "linewidth": _THICK if model == winner else _THIN}


Said = tuple[str, str, str, Sequence[Key]]
"""The name of a figure, its title, how to read it, and what the legend of all does not tell."""


def legend(evaluation: Results, choice: Choice | None) -> list[Key]:
    """What the lines are that most of the figures have."""
    if not evaluation.total:
        return []
    shown = _Shown(evaluation, choice)
    keys = shown.models()
    if shown.marked is not None:
        is_budget = shown.marked.quota.is_budget  # which moves, so that no number names it
        marked = say("figures.budget" if is_budget else "figures.quota")
        keys.append(key_of_line(_QUOTA, marked))
    random = key_of_line(RANDOM, say("figures.random"))
    return [*keys, random] if evaluation.positive_total else keys


def figures(evaluation: Results, choice: Choice | None) -> Iterator[Figure]:
    """Draw every curve that is defined, in Matplotlib's own style, whatever the user has set."""
    shown = _Shown(evaluation, choice)
    with matplotlib.style.context(["default", _STYLE]):
        for draw in _defined(shown):
            drawing = Drawing(figsize=(_INCHES[0], _height(draw, shown)), layout="constrained")
            ax = drawing.subplots()
            name, title, reading, keys = draw(shown, ax)
            ax.set_title("")
            _in_rows(ax)
            _emphasise(ax, shown.winner)
            of_one = draw is _scores
            label = title if of_one else f"{title}: {listed(shown.names)}"
            svg = _svg(drawing, ax, name, label)
            yield Figure(name, title, reading, tuple(keys), svg, folded=of_one)


def _height(draw: Any, shown: _Shown) -> float:
    """The height of a drawing in inches; rows of models and of groups need their room."""
    groups = shown.evaluation.groups
    if draw is _groups and groups is not None:
        row = _ROW_OF_GROUP + _ROW_OF_DOT * (len(shown.names) - 1)
        return max(_INCHES[1], row * (len(groups.names) + 2))
    return max(_INCHES[1], _ROW * (len(shown.names) + 1)) if draw is _dominance else _INCHES[1]


def _defined(shown: _Shown) -> Iterator[Callable[[_Shown, Axes], Said]]:
    """What can be drawn."""
    evaluation = shown.evaluation
    both = 0 < evaluation.positive_total < evaluation.total
    if evaluation.positive_total:
        yield from (_hit_rate, _qrecall)
    if both:
        yield _lift
    if evaluation.gains is not None and evaluation.total:
        yield _impact
    if evaluation.groups is not None and 0 < len(evaluation.groups.names) <= GROUPS_SHOWN:
        yield _groups
    if both and len(shown.names) > 1:
        yield _dominance
    if both:
        yield from (_roc, _precision_recall)
        scores = shown.ranking.thresholds
        if scores.size > 1 and np.isfinite(scores).all():
            yield _scores


def _in_rows(ax: Axes) -> None:
    """Call the examples of the axes rows, as the page does."""
    for each in (ax, *ax.child_axes):
        each.set_xlabel(each.get_xlabel().replace("examples", "rows"))


def _emphasise(ax: Axes, winner: int | None) -> None:
    """Draw the line of the winner wide and over the others."""
    lines = [x for x in marked(ax, "model") if isinstance(x, Line2D)]
    for model, line in enumerate(lines if len(lines) > 1 and winner is not None else ()):
        line.set_linewidth(_THICK if model == winner else _THIN)
        line.set_zorder(3 if model == winner else 2)


def _svg(drawing: Drawing, ax: Axes, name: str, label: str) -> Markup:
    written = io.StringIO()
    # Names are unlike those of other drawings of the page.
    with matplotlib.rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        # of letters that browsers have in fonts of their own
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawing.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    start, stop = ax.get_xlim()
    points = _DPI * drawing.get_size_inches()[0] * ax.get_position().width
    return Markup(inlined(written.getvalue(), label, points / (stop - start)))


# the curves


def _hit_rate(shown: _Shown, ax: Axes) -> Said:
    band = _hit_rate_band(shown.evaluation, shown.model)
    bands = {} if band is None else {shown.names[shown.model]: band}
    display = plots.HitRateDisplay.from_ranking(shown.rankings, ax=ax, legend=False, band=bands)
    cut = _without_the_first(display)
    ax.set_ylabel("hit rate")
    wins = say("figures.highest_wins") if shown.by_positives else ""
    reading = say("figures.hit_rate_reading", wins=wins, cut=cut)
    shown.mark(ax)
    return "hit-rate", say("figures.hit_rate"), reading, list(_band(shown)) if bands else ()


def _hit_rate_band(evaluation: Results, model: int) -> CurveBand | None:
    """The score interval of a model's hit rate at each of many quotas.

    None without a confidence, without positives, and of rows with weights or clusters, for which
    there is no such formula.
    """
    one_by_one = evaluation.settings.one_by_one
    if not (evaluation.has_intervals and one_by_one and evaluation.positives):
        return None
    at = np.unique(np.geomspace(1, evaluation.rows, _QUOTAS).round())
    found = hit_rate_interval(
        evaluation.rankings[model], quota=at, confidence_level=evaluation.level
    )
    undefined = np.zeros(at.shape, dtype=np.int64)
    nothing = np.full(at.shape, np.nan)
    return CurveBand(at, found.estimate, found.lower, found.upper, nothing, undefined)


def _band(shown: _Shown) -> Iterator[Key]:
    resampling = shown.evaluation.settings.resampling
    assert resampling is not None
    text = say("figures.band", level=resampling.percent, model=shown.names[shown.model])
    colour = painted(line_style(shown.model)["color"])
    yield key_of(text, _SHADED_KEY, colour)


def _qrecall(shown: _Shown, ax: Axes) -> Said:
    plots.QrecallDisplay.from_ranking(shown.rankings, ax=ax, legend=False, areas=False)
    ax.set_ylabel("Qrecall")
    optimal = key_of_line(OPTIMAL, say("figures.optimal"))
    shown.mark(ax)
    return "qrecall", say("figures.qrecall"), say("figures.qrecall_reading"), (optimal,)


def _lift(shown: _Shown, ax: Axes) -> Said:
    display = plots.LiftDisplay.from_ranking(shown.rankings, ax=ax, legend=False)
    cut = _without_the_first(display)
    ax.set_ylabel("lift")
    shown.mark(ax)
    return "lift", say("figures.lift"), say("figures.lift_reading", cut=cut), ()


def _impact(shown: _Shown, ax: Axes) -> Said:
    assert shown.evaluation.gains is not None
    cuts = dict(zip(shown.names, shown.evaluation.gains.cuts, strict=True))
    plots.ImpactDisplay(cuts, in_all=True).plot(ax=ax, legend=False)
    ax.set_ylabel(shown.evaluation.settings.in_currency("brought in all"))
    point = key_of(
        say("figures.best_cut"),
        '<circle cx="17" cy="6" r="4.5" style="fill:{}"/>',
        painted(REFERENCE),
    )
    shown.mark(ax)
    return "brought", say("figures.brought"), say("figures.brought_reading"), (point,)


def _dominance(shown: _Shown, ax: Axes) -> Said:
    display = plots.DominanceDisplay.from_ranking(shown.rankings, ax=ax)
    shares = [percent(share) for share in display.shares.values()]
    names = [fill(x, _NAME, max_lines=2, placeholder="…") for x in shown.names]
    labels = [f"{written(x)}\n{y}" for x, y in zip(names, shares, strict=True)]
    ax.set_yticks(range(len(labels)), labels)
    shown.mark(ax)
    return "dominance", say("figures.dominance"), say("figures.dominance_reading"), ()


def _groups(shown: _Shown, ax: Axes) -> Said:
    evaluation = shown.evaluation
    groups, column = evaluation.groups, str(evaluation.settings.grouped_by)
    assert groups is not None
    quota = None if shown.choice is None else shown.choice.quota
    values, measure = next(x for x in columns_at(groups, quota) if x[1].compared)
    draw_dots(ax, groups, values, measure)
    heading = say("quota.over_all") if quota is None else at_quota(evaluation, quota)
    parts = {"measure": sentence(measure.title), "group": column, "quota": heading}
    reading = say("figures.groups_reading", **parts)
    reading += say("figures.intervals") if values.ends else ""
    dot = '<circle cx="17" cy="6" r="4" style="fill:{}"/>'
    models = [key_of(name, dot, painted(colour_of(k))) for k, name in enumerate(shown.names)]
    tick = '<line x1="17" y1="1" x2="17" y2="11" style="stroke:{}" stroke-width="1.5"/>'
    keys = (*models, key_of(say("figures.random"), tick, painted(REFERENCE)))
    return "groups", say("figures.groups", **parts), reading, keys


def _roc(shown: _Shown, ax: Axes) -> Said:
    plots.RocDisplay.from_ranking(shown.rankings, ax=ax, legend=False, hull=shown.hull)
    ax.spines["top"].set_visible(False)
    ax.set(xlabel="share of the negatives selected", ylabel="share of the positives selected")
    hull = [key_of_line(_HULL, say("figures.hull"))] if shown.hull else []
    title = say("figures.roc_and_hull" if shown.hull else "figures.roc")
    return "roc", title, say("figures.roc_reading"), hull


def _precision_recall(shown: _Shown, ax: Axes) -> Said:
    display = plots.PrecisionRecallDisplay.from_ranking(
        shown.rankings, ax=ax, legend=False, hull=shown.hull
    )
    cut = _without_the_first(display, _RECALL_FROM) if ax.get_ylim()[0] < _LOW else ""
    ax.spines["top"].set_visible(False)
    ax.set(xlabel="recall (share of the positives selected)", ylabel="precision")
    reading = say("figures.precision_recall_reading", cut=cut)
    hull = [key_of_line(_HULL, say("figures.achievable"))] if shown.hull else []
    return "precision-recall", say("figures.precision_recall"), reading, hull


def _scores(shown: _Shown, ax: Axes) -> Said:
    model, at = shown.model, shown.marked
    name, colour = shown.names[model], line_style(model)["color"]
    cut = {} if at is None or not at.filled[model] else {"quota": at.filled[model]}
    plots.ScoreDistributionDisplay.from_ranking({name: shown.ranking}, ax=ax, legend=False, **cut)
    ax.set(xlabel="score", ylabel="share of the class")
    keys = [key_of(say("figures.positives"), _SHADED_KEY, painted(colour))]
    line = {"color": colour, "linewidth": 1.6, "linestyle": "-"}
    keys.append(key_of_line(line, say("figures.negatives")))
    keys += [key_of_line(BREAK_EVEN, say("figures.cut"))] if cut else []
    return "scores", say("figures.scores", model=name), say("figures.scores_reading"), keys


_SHADED_KEY = '<rect width="34" height="12" style="fill:{}" fill-opacity="0.25"/>'

_HULL: dict[str, Any] = {"color": REFERENCE, "linewidth": 0.8, "linestyle": "-"}

_DRAWN_FROM, _RECALL_FROM = 0.005, 0.05

_HEADROOM = 1.15

_LOW = 0.3


def _without_the_first(display: Any, start: float = _DRAWN_FROM) -> str:
    """Let the axis end above what the curves are from a share of the lower axis on.

    Says so where that cuts something off.

    The first few selected make hit rates that are high or low by chance, beside which the rest of
    the curves would be flat.
    """
    ax, tops, highest = display.ax_, [], 0.0
    for line in display.lines_:
        x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data())
        tops.append(np.nanmax(y[x >= start * x.max()], initial=0.0))
        highest = max(highest, float(np.nanmax(y, initial=0.0)))
    top = min(ax.get_ylim()[1], _HEADROOM * max(tops))
    ax.set_ylim(0.0, top or None)
    return say("figures.cut_off") if 0 < top < highest else ""


_DOTS = 0.6
"""Of the room of a group, what the dots of its models take."""


# dots of groups


def draw_dots(ax: Axes, groups: GroupResults, values: GroupValues, measure: Column) -> None:
    """Draw what each model has in each group; groups are in order from above."""
    column = values.of(measure.name)
    models, size = column.shape
    rows = np.arange(size)
    for model in range(models):
        heights = rows + _DOTS * ((model + 0.5) / models - 0.5)
        colour = colour_of(model)
        if measure.name in values.ends:
            lower, upper = (x[model] for x in values.ends[measure.name][:2])
            ax.hlines(heights, lower, upper, color=colour, linewidth=1.4)
        marker = MARKERS[model % len(MARKERS)]
        ax.plot(column[model], heights, marker, color=colour, markersize=4.5)
    if measure.name == "hit_rate":
        with np.errstate(invalid="ignore"):
            at_random = groups.positive_masses / groups.masses
        ax.vlines(at_random, rows - _DOTS / 2, rows + _DOTS / 2, color=REFERENCE, linewidth=1.2)
    else:
        ax.axvline(0.5, color=REFERENCE, linewidth=1.2)
    ax.set_yticks(rows, [written(str(x)) for x in groups.names])
    ax.set(xlim=(-0.02, 1.02), ylim=(size - 0.5, -0.5), xlabel=measure.title)


# a drawing as a part of the page


MOVED = "moved-"
"""With the number of a model behind it the name of a line that follows its places."""
_LEFT_OUT = re.compile(
    r"""<(metadata|title)>.*?</\1>|<!--.*?-->|(?<=>)\s+(?=<)|font-family: [^;"]*;?""", re.DOTALL
)
_FONT = re.compile(r"""font: ([\d.]+px) [^;"]*""")
_COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}(?![\w-])")
_ID = re.compile(r' id="([^"]*)"')


def inlined(drawing: str, label: str, per_place: float) -> str:
    """The <svg> element of a drawing for a page that holds several of them.

    The label is what is read to those who do not see the drawing. Fonts and colours are left to the
    page, and so are names that nothing refers to. Lines that a script moves keep the number of
    their model, and the drawing says how many points a place is.
    """
    _, size, content = re.split(r'<svg[^>]*? (viewBox="[^"]*")[^>]*>', drawing, maxsplit=1)
    content = _FONT.sub(r"font-size:\1", _LEFT_OUT.sub("", content))
    content = _COLOUR.sub(lambda found: painted(found[0]), content)
    used = set(re.findall(r"#([\w-]+)", content))
    content = _ID.sub(lambda found: _kept(found[1], used), content)
    said = Markup('<svg {} role="img" aria-label="{}" data-per-place="{}">')
    opened = said.format(Markup(size), label, formatted(per_place, ".6g"))
    return str(opened) + content.strip()


def _kept(name: str, used: set[str]) -> str:
    """The name of an element that is referred to, or the number of a line that is moved."""
    if name.startswith(MOVED):
        return f' data-at="{name.removeprefix(MOVED)}"'
    return f' id="{name}"' if name in used else ""
