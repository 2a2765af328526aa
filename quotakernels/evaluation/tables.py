"""Tables as texts: every value, with its interval, and which is the best.

The terminal, the page and notebooks show the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from quotakernels._text import between, fixed, formatted, money, number, percent, plain
from quotakernels.evaluation.choice import Choice, choice_at, end_of
from quotakernels.evaluation.conditions import in_words
from quotakernels.evaluation.measures import Column, undefined_or
from quotakernels.evaluation.notes import compared_by, heading_of, in_sentences, pairs_of
from quotakernels.evaluation.results import Differences, Results, Section
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.words import MINUS, amount, listed


@dataclass(frozen=True)
class Cell:
    """A value, the ends of its interval, and whether it is the best of its column."""

    text: str
    interval: tuple[str, ...] = ()
    best: bool = False
    words: bool = False  # rather than a number

    def marked(self, room: bool) -> str:
        """The text with a star if it is the best, or else with room for one if others have it."""
        return f"{self.text}{'*' if self.best else ' ' * (room and not self.words)}"


@dataclass(frozen=True)
class Table:
    """A table of texts, as the command and the page show it.

    Attributes
    ----------
    caption : str
        What the table shows.
    head : tuple of str
        The headings of the columns; line breaks keep these narrow.
    rows : tuple of tuples of cells
        Each row begins with its heading.  A cell has a `text`, the ends of an `interval`, and
        whether it is the `best` of its column.
    notes : tuple of str
        Remarks on the table.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def starred(self) -> bool:
        """Whether some value is the best of its column."""
        return any(cell.best for row in self.rows for cell in row)

    def holds_words(self, column: int) -> bool:
        """Whether a column holds words rather than numbers."""
        return any(row[column].words for row in self.rows if column < len(row))

    def lines(self, most: int) -> Iterator[str]:
        """The table as text, of many rows the first ones."""
        head = [" ".join(name.split()) for name in self.head]
        starred = self.starred
        texts = [head, *([x.marked(starred) for x in row] for row in self.rows[:most])]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        yield self.caption
        for first, *rest in texts:
            numbers = (x.rjust(width) for x, width in zip(rest, widths[1:], strict=True))
            yield "  ".join([first.ljust(widths[0]), *numbers]).rstrip()
        if len(self.rows) > most:
            yield f"and {len(self.rows) - most} more"

    @property
    def html(self) -> str:
        """The table as HTML, without its notes."""
        words = [' class="words"' if self.holds_words(k) else "" for k in range(len(self.head))]
        named = zip(words, self.head, strict=True)
        head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in named)
        body = "".join(
            f"<tr>{_row_header(x)}{''.join(map(_td, rest))}</tr>\n" for x, *rest in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>"
        return (
            f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
        )

    def _repr_html_(self) -> str:
        """The table with its notes, for notebooks."""
        return self.html + "".join(f'<p class="note">{escape(x)}</p>' for x in self.notes)


def _row_header(cell: Cell) -> str:
    return f'<th scope="row" class="words">{breakable(cell.text)}</th>'


def breakable(name: str) -> str:
    """A name as HTML, which a narrow column breaks behind an underscore rather than elsewhere."""
    return escape(name).replace("_", "_<wbr>")


def _td(cell: Cell) -> str:
    kind = "words" if cell.words else "best" if cell.best else ""
    interval = escape(" to ".join(cell.interval))
    below = f'<span class="interval">{interval}</span>' if interval and cell.text else ""
    text = breakable(cell.text) if cell.words else escape(cell.text)
    shown = f"{text}{'*' if cell.best else ''}{below}" if cell.text else interval
    return f'<td class="{kind}">{shown}</td>' if kind else f"<td>{shown}</td>"


def signed(text: str) -> str:
    """A number with a true minus sign."""
    return text.replace("-", MINUS, 1)


# values


def measure_tables(evaluation: Results) -> Iterator[Table]:
    """All measures of every model: at each quota, over all quotas, and of ROC and PR space."""
    over_all, areas, *others = evaluation.sections
    at_quotas = (section for section in others if section.part == "at_quota")
    for section in (*at_quotas, over_all, areas):
        yield values_table(evaluation, section)


def gain_tables(evaluation: Results) -> Iterator[Table]:
    """What each quota and the best cut bring, in the user's unit."""
    best_cut_first = [x for x in evaluation.sections if x.part == "gains"]
    for section in (*best_cut_first[1:], *best_cut_first[:1]):
        yield values_table(evaluation, section)


def values_table(evaluation: Results, section: Section) -> Table:
    """The measures of a section: a row for each model, stars where one is the best."""
    values = section.values
    best = values.best(evaluation.rows)

    def cell(model: int, k: int, measure: Column) -> Cell:
        ends = values.interval(measure.name, model)
        interval = () if any(map(math.isnan, ends)) else ends
        shown = tuple(signed(measure.end_form(x)) for x in interval)
        bounds = values.bounds_of_model(model).get(measure.name)
        text = signed(measure.text(values.array[model, k]))
        text = text if bounds is None else between(*bounds).replace("-", MINUS)
        return Cell(text, shown, bool(best[model, k]))

    shown = [(k, measure) for k, measure in enumerate(values.measures) if measure.heading]
    rows = tuple(
        (Cell(name, words=True), *(cell(model, *x) for x in shown))
        for model, name in enumerate(evaluation.models)
    )
    head = ("model", *(measure.heading for _, measure in shown))
    return Table(_caption(evaluation, section), head, rows, tuple(_notes(evaluation, section)))


def _caption(evaluation: Results, section: Section) -> str:
    """What the values are; S3 is told there, as it is the same for all models."""
    part, quota, values = section
    if part == "over_all":
        s3 = values.of_model(0).get("s3", math.nan)
        known = "" if math.isnan(s3) else f" (S3 = {plain(formatted(s3, '.4f'))})"
        return f"Over all quotas{known}"
    if part == "areas":
        return "ROC and precision-recall space"
    if quota is None:
        settings = evaluation.settings
        brings = settings.in_currency("What the best cut brings")
        return f"{brings} ({settings.unit}){chosen_on(settings)}"
    if part == "at_quota":
        return heading_of(evaluation, quota)
    return evaluation.settings.in_currency(f"What {quota.named} brings")


def _notes(evaluation: Results, section: Section) -> Iterator[str]:
    if (gains := evaluation.gains) is not None and section.values is gains.at_best_cut:
        nobody, everybody = evaluation.amount(gains.nobody), evaluation.amount(gains.everybody)
        yield f"Selecting nobody brings {nobody}, selecting all {everybody}."


def chosen_on(settings: Settings) -> str:
    """On which rows best cuts were chosen, if on others."""
    return f", chosen on the rows with {in_words(settings.tune)}" if settings.tune else ""


# pairs of models


def pair_tables(evaluation: Results) -> Iterator[Table]:
    """The tests of all pairs of models, and what they say in sentences."""
    for differences in evaluation.differences:
        notes = (*in_sentences(differences, evaluation.rows), *differences.notes)
        both = ("p", "p (Holm)") if len(evaluation.models) > 2 else ("p",)
        head = ("better", "than", "by", "interval", *both)
        caption = compared_by(evaluation, differences)
        yield Table(caption, head, tuple(_pairs(differences)), notes)


def _pairs(differences: Differences) -> Iterator[tuple[Cell, ...]]:
    """The better model, the other one, the difference, its interval, and p, of many pairs also
    corrected.
    """
    found = differences.found
    form, end_form = (money, money) if differences.measure == "brings" else (fixed(4), fixed(3))
    for i, j in pairs_of(differences):
        models = (Cell(found.names[k], words=True) for k in (i, j))
        by = Cell(signed(undefined_or(form, found.difference[i, j])))
        ends = (signed(undefined_or(end_form, x[i, j])) for x in (found.lower, found.upper))
        both = (found.p_value, found.p_adjusted)[: 1 if len(found.names) == 2 else 2]
        p_values = (Cell(undefined_or(_p_value, x[i, j])) for x in both)
        yield (*models, by, Cell("", tuple(ends)), *p_values)


def _p_value(p: float) -> str:
    return fixed(4)(p) if p >= 0.00005 else "<0.0001"


# where quotas end


def ends_of_quotas(evaluation: Results) -> Iterator[Table]:
    """For each quota the score at which each model's places end."""
    head = ("model", "threshold", "above it", "tied at it", "places for these")
    for quota in evaluation.settings.quotas_over_all:
        filled = evaluation.places(quota)
        if not filled.any() or not evaluation.total:
            continue
        rows = []
        for model, name in enumerate(evaluation.models):
            end = end_of(evaluation, model, quota)
            counts = map(number, (end.above, end.tied, filled[model] - end.above))
            rows.append(_row(name, (end.threshold, *counts)))
        yield Table(f"Where {quota.named} ends", head, tuple(rows))


def _row(heading: str, numbers: Sequence[str]) -> tuple[Cell, ...]:
    return (Cell(heading, words=True), *map(Cell, numbers))


# several quotas


def overview(evaluation: Results) -> Table | None:
    """Which model to take at each quota or budget, if there are several."""
    choices = [choice_at(evaluation, quota) for quota in evaluation.settings.quotas]
    if len(choices) < 2:
        return None
    brings = evaluation.settings.in_currency("it brings")
    gains = (brings, "at random") if evaluation.gains is not None else ()
    what = "quota" if evaluation.settings.cost is None else "budget"
    head = (what, "places", "best model", "it finds", "at random", "hit rate", *gains)
    return Table(f"At each {what}", head, tuple(_chosen(evaluation, x) for x in choices))


def _chosen(evaluation: Results, choice: Choice) -> tuple[Cell, ...]:
    asked = number(choice.quota.amount) if choice.quota.is_budget else str(choice.quota)
    head = _row(asked, [number(choice.places)])
    if not choice.defined:
        return (*head, Cell("none", words=True))
    first = choice.order[0]
    winners = [evaluation.models[k] for k in choice.best]
    found = [number(choice.found[first]), number(choice.random_found)]
    found.append(percent(choice.found[first] / choice.places))
    if choice.brings is not None:
        found += [amount(choice.brings[first]), amount(choice.random_brings)]
    return (*head, *_row(listed(winners, "or"), found))
