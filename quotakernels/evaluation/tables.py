"""Tables as texts: every value, with its interval, and which is the best.

The terminal, the page and notebooks show the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from quotakernels._text import between, fixed, formatted, money, number, percent, plain
from quotakernels.evaluation.certainty import compared_by, heading_of, in_sentences, pairs_of
from quotakernels.evaluation.choice import Choice, choice_at, end_of
from quotakernels.evaluation.results import (
    APART,
    Column,
    Differences,
    GroupResults,
    GroupValues,
    Known,
    Results,
    Section,
    Values,
    most,
    undefined_or,
)
from quotakernels.evaluation.settings import Quota, Settings
from quotakernels.evaluation.words import MINUS, amount, in_words


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


def cell_of(measure: Column, known: Known, best: Any = False) -> Cell:
    """A value with its interval, or its bounds."""
    if known.bounded:
        return Cell(between(known.lower, known.upper).replace("-", MINUS), best=bool(best))
    ends = tuple(signed(measure.end_form(x)) for x in known.ends)
    return Cell(signed(measure.text(known.value)), ends, bool(best))


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

    shown = [(k, measure) for k, measure in enumerate(values.measures) if measure.heading]
    rows = tuple(
        (
            Cell(name, words=True),
            *(cell_of(x, values.known(x.name, model), best[model, k]) for k, x in shown),
        )
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


# the table that a decision needs


_THREE = fixed(3)


def brief_tables(evaluation: Results) -> Iterator[Table]:
    """What each model finds at each quota or budget; without any, what its best cut brings, or
    else the measures over all quotas.
    """
    for quota in evaluation.settings.quotas:
        yield _brief_at_quota(evaluation, choice_at(evaluation, quota))
    if not evaluation.settings.quotas:
        yield next(gain_tables(evaluation), None) or values_table(
            evaluation, evaluation.sections[0]
        )


def _brief_at_quota(evaluation: Results, choice: Choice) -> Table:
    """Positives found, hit rate with its interval, lift or what that brings, and AUC."""
    values = evaluation.at_quota[choice.quota]
    resampling = evaluation.settings.resampling
    columns = {"model": evaluation.models}
    if choice.quota.is_budget:
        columns["places"] = _each(number, choice.filled)
    columns["found"] = _each(number, choice.found)
    columns["hit rate"] = _each(percent, values.of("hit_rate"))
    if resampling is not None and evaluation.has_intervals:
        columns[f"{resampling.percent} interval"] = _intervals(values, len(evaluation.models))
    if choice.brings is not None:
        columns[evaluation.settings.in_currency("brings")] = _each(amount, choice.brings)
    elif "lift" in (x.name for x in values.measures):  # groups and budgets have none
        columns["lift"] = _each(lambda x: formatted(x, ".3g"), values.of("lift"))
    if evaluation.settings.treatment is not None:
        columns["uplift"] = _each(_THREE, values.of("uplift_at_quota"))
    columns["AUC"] = _areas(evaluation.over_all, "roc_auc")
    return _brief_table(heading_of(evaluation, choice.quota), columns, choice.order)


def _each(form: Callable[[float], str], values: Iterable[float]) -> tuple[str, ...]:
    return tuple(undefined_or(form, float(x)) for x in values)


def _areas(values: Values, name: str) -> tuple[str, ...]:
    """The values, or the bounds of what is not known exactly, rounded outwards."""
    if name not in values.bounds:
        return _each(_THREE, values.of(name))
    return tuple(between(*map(float, x)) for x in zip(*values.bounds[name], strict=True))


def _intervals(values: Values, models: int) -> tuple[str, ...]:
    ends = (values.interval("hit_rate", model) for model in range(models))
    return tuple(
        "undefined" if math.isnan(lower) else f"{percent(lower)} to {percent(upper)}"
        for lower, upper in ends
    )


def _brief_table(
    caption: str, columns: Mapping[str, tuple[str, ...]], order: Sequence[int]
) -> Table:
    rows = tuple(
        tuple(Cell(texts[k], words=head == "model") for head, texts in columns.items())
        for k in order
    )
    return Table(caption, tuple(columns), rows)


# groups


MANY = 30
"""Groups, of which a table or a drawing has all."""
_EXTREMES = 5
_OF_APART = (
    "Parity ratio: the smallest selection rate over the largest. Equal opportunity difference: the "
    "largest Qrecall less the smallest. Split cost: how many fewer positives are found if each "
    "group has a quota in proportion to its size, or a budget in proportion to what it costs."
)
_ENDS_APART = (
    "The ratio and the difference compare the extreme groups. So their intervals exclude 1 and 0 "
    "even for groups that are alike."
)


def group_tables(evaluation: Results) -> Iterator[Table]:
    """At each quota, or without one over all quotas, the spread over groups and the groups."""
    groups = evaluation.groups
    if groups is None or not groups.names:
        return
    for quota in evaluation.settings.quotas or (None,):
        yield _spread(evaluation, groups, quota)
        if quota is not None and quota in groups.apart:
            yield _apart(evaluation, groups, quota)
        for model in range(len(evaluation.models)):
            yield _groups(evaluation, groups, quota, model)


def columns_at(groups: GroupResults, quota: Quota | None) -> list[tuple[GroupValues, Column]]:
    """The measures that tables of groups have at a quota, the one that orders them first; of those
    over all quotas the area stands beside them.
    """
    over_all = [(groups.values[None], x) for x in groups.values[None].measures]
    if quota is None:
        return over_all
    at_quota = groups.values[quota]
    return [*((at_quota, x) for x in at_quota.measures), over_all[0]]


def _caption_of_groups(evaluation: Results, quota: Quota | None) -> str:
    return "Over all quotas" if quota is None else heading_of(evaluation, quota)


def _spread(evaluation: Results, groups: GroupResults, quota: Quota | None) -> Table:
    """The mean of each measure and its quartiles; of means the best is marked."""
    head = ("model", "measure", "mean", "groups", "lowest", "quartile", "median", "quartile")
    rows = []
    for values, measure in columns_at(groups, quota):
        if not measure.compared:
            continue
        means = [values.mean(measure.name, model) for model in range(len(evaluation.models))]
        best = most(np.asarray([x.value for x in means])) & (measure.name not in values.bounds)
        for model, name in enumerate(evaluation.models):
            defined = number(len(values.defined(measure.name, model)))
            spread = (cell_of(measure, x) for x in values.spread(measure.name, model))
            words = (Cell(name, words=True), Cell(measure.title, words=True))
            mean = cell_of(measure, means[model], best[model])
            rows.append((*words, mean, Cell(defined), *spread))
    column = evaluation.settings.grouped_by
    where = _caption_of_groups(evaluation, quota)
    caption = f"{where}: means over {column} ({number(len(groups.names))})"
    return Table(
        caption, (*head, "highest"), tuple(rows), tuple(_notes_of_groups(evaluation, groups, quota))
    )


def _notes_of_groups(
    evaluation: Results, groups: GroupResults, quota: Quota | None
) -> Iterator[str]:
    if quota is not None and evaluation.settings.per is not None and (n := groups.short(quota)):
        verbs = ("costs", "has", "is") if n == 1 else ("cost", "have", "are")
        cost, have, are = verbs
        short = f"{have} less than {quota}"
        if quota.is_budget:
            short = f"{cost} less than {number(quota.amount)}"
        yield f"{number(n)} of them {short} and {are} selected whole."
    yield "A group without a value, such as the AUC of one class alone, is left out of the mean."


def _apart(evaluation: Results, groups: GroupResults, quota: Quota) -> Table:
    """How far the groups are apart by each model, and what a quota of each would cost."""
    rows = [
        (Cell(name, words=True), *(cell_of(*x) for x in groups.apart_by(quota, model)))
        for model, name in enumerate(evaluation.models)
    ]
    column = evaluation.settings.grouped_by
    caption = f"{_caption_of_groups(evaluation, quota)}: how far the groups of {column} are apart"
    notes = (_OF_APART, _ENDS_APART) if groups.apart_ends else (_OF_APART,)
    return Table(caption, ("model", *(x.heading for x in APART)), tuple(rows), notes)


def shown_groups(values: GroupValues, measure: Column, model: int) -> list[int]:
    """The groups that are shown: all of few, and of many those with the lowest and the highest
    values.
    """
    column = values.of(measure.name)[model]
    if len(column) <= MANY:
        return list(range(len(column)))
    defined = np.flatnonzero(~np.isnan(column))
    ordered: list[int] = defined[np.argsort(column[defined], kind="stable")].tolist()
    if len(ordered) <= 2 * _EXTREMES:
        return ordered
    return [*ordered[:_EXTREMES], *ordered[-_EXTREMES:]]


def _groups(evaluation: Results, groups: GroupResults, quota: Quota | None, model: int) -> Table:
    """What each group has by a model; a star where no other model has more there."""
    columns = columns_at(groups, quota)
    values, measure = next(x for x in columns if x[1].compared)
    shown = shown_groups(values, measure, model)
    head = (str(evaluation.settings.grouped_by), "rows", evaluation.settings.positives)
    rows = [
        (
            Cell(str(groups.names[k]), words=True),
            Cell(number(groups.rows[k])),
            Cell(number(groups.positives[k])),
            *(
                cell_of(x, found.known(x.name, model, k), found.best_of(x)[model, k])
                for found, x in columns
            ),
        )
        for k in shown
    ]
    all_of_them = len(shown) == len(groups.names)
    half = number(len(shown) // 2)
    which = "" if all_of_them else f", the {half} lowest and the {half} highest by {measure.title}"
    caption = f"{_caption_of_groups(evaluation, quota)} by {evaluation.models[model]}{which}"
    return Table(caption, (*head, *(x.heading for _, x in columns)), tuple(rows))
