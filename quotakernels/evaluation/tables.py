"""Tables as texts: every value, with its interval, and which is the best.

The terminal, the page and notebooks show the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

import quotakernels as qk
from quotakernels._text import between, digits, fixed, formatted, money, number, percent, plain
from quotakernels.evaluation.certainty import compared_by, heading_of, in_sentences, limit_of
from quotakernels.evaluation.results import (
    Choice,
    Column,
    Differences,
    GroupResults,
    GroupValues,
    Known,
    Results,
    Section,
    Values,
    end_of,
    undefined_or,
)
from quotakernels.evaluation.settings import Quota, Settings
from quotakernels.evaluation.words import MINUS, in_words, say, signed


@dataclass(frozen=True)
class Cell:
    """A value, the ends of its interval, whether it is the best of its column, and whether only its
    bounds are known.
    """

    text: str
    interval: tuple[str, ...] = ()
    best: bool = False
    words: bool = False  # rather than a number
    bounded: bool = False

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
            yield say("tables.more_rows", more=len(self.rows) - most)

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


# columns of cells


_Columns: TypeAlias = Iterable[tuple[str, Iterable[Cell]]]


def _table(caption: str, columns: _Columns, notes: Iterable[str] = ()) -> Table:
    """A table of columns below their headings."""
    head, cells = zip(*columns, strict=True)
    return Table(caption, head, tuple(zip(*cells, strict=True)), tuple(notes))


def _words(texts: Iterable[Any]) -> list[Cell]:
    return [Cell(str(x), words=True) for x in texts]


def _numbers(form: Callable[[float], str], values: Iterable[float]) -> list[Cell]:
    return [Cell(signed(undefined_or(form, float(x)))) for x in values]


def _measures(values: Values, rows: int, places: Sequence[tuple[int, ...]]) -> _Columns:
    """A column for each measure, with the values of some models, or of one in some groups."""
    best = values.best(rows)
    for k, x in enumerate(values.measures):
        if x.heading:
            yield x.heading, [cell_of(x, values.known(x.name, *at), best[*at, k]) for at in places]


def cell_of(measure: Column, known: Known, best: Any = False) -> Cell:
    """A value with its interval, or its bounds."""
    if known.bounded:
        text = between(known.lower, known.upper).replace("-", MINUS)
        return Cell(text, best=bool(best), bounded=known.lower < known.upper)
    ends = tuple(signed(measure.end_form(x)) for x in known.ends)
    return Cell(signed(undefined_or(measure.form, known.value)), ends, bool(best))


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


_ROUNDING = 1e-12
"""Of the largest impact, so much of a mean is none."""


def decision_tables(evaluation: Results) -> Iterator[Table]:
    """What a decision earns if it counts by itself, ι_σ, beside ι_I: at each quota and at the best
    cut by ι_σ; of impacts, where both classes and all cuts are known.
    """
    settings, unit = evaluation.settings, evaluation.settings.unit
    both = 0 < evaluation.positive_total < evaluation.total
    if unit is None or unit.impacts is None or not (both and evaluation.exact):
        return
    rows, impacts = [], unit.impacts
    for name, ranking in zip(evaluation.models, evaluation.rankings, strict=True):
        best = qk.best_boundary(ranking, impacts=impacts, kind="outcome")
        at = {x.named: x.argument(evaluation.most) for x in settings.quotas_over_all}
        at[say("tables.best_decision", quota=number(best.quota))] = {"threshold": best.threshold}
        for said, cut in at.items():
            cells = qk.confusion_table(ranking, **cut)
            tuned = qk.tables.tune_ratio(cells, ratio=unit.ratio) if unit.ratio else cells
            per_row = qk.tables.impact(tuned, impacts=impacts).whole
            values = np.stack([per_row, *qk.tables.outcome_impact(cells, impacts=impacts)])
            rounding = _ROUNDING * np.abs(impacts).max()
            values = np.where(np.abs(values) <= rounding, 0.0, values)
            rows.append((*_words([name, said]), *_numbers(digits, values)))
    caption = settings.in_currency(say("tables.decisions", unit=unit))
    head = ("model", "cut", "per row\n(ι_I)", "selected", "rejected", "mean\n(ι_σ)")
    yield Table(caption, head, tuple(rows), (say("tables.decisions_note"),))


def values_table(evaluation: Results, section: Section) -> Table:
    """The measures of a section: a row for each model, stars where one is the best."""
    caption, notes = _caption(evaluation, section), _notes(evaluation, section)
    return _of_models(evaluation, caption, section.values, notes)


def _of_models(
    evaluation: Results, caption: str, values: Values, notes: Iterable[str] = ()
) -> Table:
    places = [(model,) for model in range(len(evaluation.models))]
    columns = _measures(values, evaluation.rows, places)
    return _table(caption, [("model", _words(evaluation.models)), *columns], notes)


def _caption(evaluation: Results, section: Section) -> str:
    """What the values are; S3 is told there, as it is the same for all models."""
    part, quota, values = section
    if part == "over_all":
        s3 = values.of_model(0).get("s3", math.nan)
        known = plain(formatted(s3, ".4f")) if not math.isnan(s3) else ""
        return say("tables.over_all", s3=known) if known else heading_of(evaluation, None)
    if part == "areas":
        return say("tables.areas")
    if quota is None:
        settings = evaluation.settings
        brings = settings.in_currency(say("tables.best_cut"))
        parts = {"unit": settings.unit, "chosen_on": chosen_on(settings)}
        return say("tables.of_unit", brings=brings, **parts)
    if part == "at_quota":
        return heading_of(evaluation, quota)
    return evaluation.settings.in_currency(say("tables.brings", quota=quota.named))


def _notes(evaluation: Results, section: Section) -> Iterator[str]:
    if (gains := evaluation.gains) is not None and section.values is gains.at_best_cut:
        nobody, everybody = evaluation.amount(gains.nobody), evaluation.amount(gains.everybody)
        yield say("brings.nobody_and_all", nobody=nobody, everybody=everybody)


def chosen_on(settings: Settings) -> str:
    """On which rows best cuts were chosen, if on others."""
    return say("tables.chosen_on", tune=in_words(settings.tune)) if settings.tune else ""


# pairs of models


def pair_tables(evaluation: Results) -> Iterator[Table]:
    """The tests of the first model against each of the others, and what they say in sentences."""
    for differences in evaluation.differences:
        notes = (*in_sentences(evaluation, differences), *differences.notes)
        both = ("p", "corrected") if len(evaluation.models) > 2 else ("p",)
        head = ("better", "than", "by", "interval", *both)
        caption = compared_by(evaluation, differences)
        yield Table(caption, head, tuple(_pairs(differences)), notes)


def _pairs(differences: Differences) -> Iterator[tuple[Cell, ...]]:
    """The first model, another one, the difference, its interval, and p, of several others also
    corrected.
    """
    found = differences.found
    form, end_form = (money, money) if differences.measure == "brings" else (fixed(4), fixed(3))
    for j in range(1, len(found.names)):
        models = (Cell(found.names[k], words=True) for k in (0, j))
        by = Cell(signed(undefined_or(form, found.difference[0, j])))
        ends = [found.lower[0, j], found.upper[0, j]]
        interval = tuple(signed(end_form(x)) for x in ends if not math.isnan(x))
        both = (found.p_value, found.p_as_best)[: 1 if len(found.names) == 2 else 2]
        written = partial(_p_value, less=differences.is_least(0, j))
        p_values = (Cell(undefined_or(written, x[0, j])) for x in both)
        yield (*models, by, Cell("", interval), *p_values)


def _p_value(p: float, less: bool) -> str:
    return f"<{fixed(4)(limit_of(p))}" if less or p < 0.00005 else fixed(4)(p)


# deciles


_DECILES = 10


def decile_tables(evaluation: Results) -> Iterator[Table]:
    """How each tenth of every ranking does, as scorecards and campaigns report it, if asked for."""
    asked = evaluation.settings.deciles
    for model, ranking in zip(evaluation.models, evaluation.rankings, strict=True) if asked else ():
        found = qk.lift_table(ranking, bins=_DECILES)
        largest = int(np.nanargmax(np.abs(found.ks))) if np.isfinite(found.ks).any() else 0
        ks = signed(percent(float(found.ks[largest])))
        columns = [("decile", _words(range(1, _DECILES + 1))), *_of_deciles(ranking, found)]
        yield _table(say("tables.deciles", model=model, ks=ks, decile=largest + 1), columns)


def _of_deciles(ranking: qk.Ranking, found: qk.results.LiftTable) -> _Columns:
    size = found.stop - found.start
    yield "lowest\nscore", [Cell(x) for x in _scores_at(ranking, _DECILES)]
    yield "rows", _numbers(number, size)
    yield "positive", _numbers(number, found.positives)
    yield "negative", _numbers(number, size - found.positives)
    yield "hit rate", _numbers(percent, found.hit_rate)
    yield "lift", _numbers(fixed(2), found.lift)
    yield "captured", _numbers(percent, found.capture)
    yield "positive\nso far", _numbers(percent, found.qrecall)
    yield "negative\nso far", _numbers(percent, found.fpr)
    yield "KS", _numbers(percent, found.ks)


def _scores_at(ranking: qk.Ranking, bins: int) -> list[str]:
    """The score with which each of so many parts of a ranking ends."""
    thresholds = np.asarray(ranking.thresholds)
    weights = np.asarray(ranking.weights, dtype=np.float64)
    shares = np.arange(1, bins + 1) / bins
    end = qk.quota_threshold(thresholds, sample_weight=weights, fraction=shares)
    return [str(thresholds.dtype.type(x)) for x in end.threshold]


# where quotas end


def ends_of_quotas(evaluation: Results) -> Iterator[Table]:
    """For each quota the score at which each model's places end."""
    models = range(len(evaluation.models))
    for quota in evaluation.settings.quotas_over_all:
        filled = evaluation.places(quota)
        if not filled.any() or not evaluation.total:
            continue
        ends = [end_of(evaluation, model, quota) for model in models]
        columns = [
            ("model", _words(evaluation.models)),
            ("threshold", [Cell(x.threshold) for x in ends]),
            ("above it", _numbers(number, [x.above for x in ends])),
            ("tied at it", _numbers(number, [x.tied for x in ends])),
            ("places left", _numbers(number, filled - [x.above for x in ends])),
        ]
        yield _table(say("tables.ends", quota=quota.named), columns)


# the table that a decision needs


_THREE = fixed(3)
_AREA_COLUMN = Column("roc_auc", form=_THREE)


def brief_tables(evaluation: Results) -> Iterator[Table]:
    """What each model finds at each quota or budget; without any, what its best cut brings, or
    else the measures over all quotas.
    """
    for quota in evaluation.settings.quotas:
        yield _brief_at_quota(Choice(evaluation, quota))
    if not evaluation.settings.quotas:
        over_all = evaluation.sections[0]
        yield next(gain_tables(evaluation), None) or values_table(evaluation, over_all)


def _brief_at_quota(choice: Choice) -> Table:
    """Positives found, hit rate with its interval, lift or what that brings, and AUC."""
    table = _table(heading_of(choice.evaluation, choice.quota), _brief_columns(choice))
    return replace(table, rows=tuple(table.rows[k] for k in choice.order))


def _brief_columns(choice: Choice) -> _Columns:
    evaluation, settings = choice.evaluation, choice.evaluation.settings
    values = evaluation.at_quota[choice.quota]
    yield "model", _words(evaluation.models)
    if choice.quota.is_budget:
        yield "places", _numbers(number, choice.filled)
    yield "found", _numbers(number, choice.found)
    yield "hit rate", _numbers(percent, values.of("hit_rate"))
    models = range(len(evaluation.models))
    if settings.resampling is not None and evaluation.has_intervals:
        ends = (map(percent, values.known("hit_rate", model).ends) for model in models)
        texts = (" to ".join(x) or "undefined" for x in ends)
        yield f"{settings.resampling.percent} interval", map(Cell, texts)
    if choice.brings is not None:
        yield settings.in_currency("brings"), _numbers(money, choice.brings)
    elif "lift" in (x.name for x in values.measures):  # groups and budgets have none
        yield "lift", _numbers(partial(formatted, form=".3g"), values.of("lift"))
    if settings.treatment is not None:
        yield "uplift", _numbers(_THREE, values.of("uplift_at_quota"))
    areas = (evaluation.over_all.known("roc_auc", model) for model in models)
    yield "AUC", (cell_of(_AREA_COLUMN, x if x.bounded else Known(x.value)) for x in areas)


# groups


GROUPS_SHOWN = 30
"""Groups, of which a table or a drawing has all."""
_EXTREMES = 5
_QUARTILES = ("lowest", "quartile", "median", "quartile", "highest")


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


def _spread(evaluation: Results, groups: GroupResults, quota: Quota | None) -> Table:
    """The mean of each measure and its quartiles; of means the best is marked."""
    rows = []
    for values, measure in columns_at(groups, quota):
        means, spread, name = values.means, values.spread, measure.name
        best = means.best(evaluation.rows)[:, values.measures.index(measure)]
        for model in range(len(evaluation.models)) if measure.compared else ():
            words = _words([evaluation.models[model], measure.title])
            mean = cell_of(measure, means.known(name, model), best[model])
            defined = Cell(number(np.count_nonzero(~np.isnan(values.of(name)[model]))))
            each = (cell_of(measure, spread.known(name, model, k)) for k in range(len(_QUARTILES)))
            rows.append((*words, mean, defined, *each))
    heading, column = heading_of(evaluation, quota), evaluation.settings.grouped_by
    number_of_groups = number(len(groups.names))
    caption = say("tables.means", heading=heading, group=column, groups=number_of_groups)
    notes = tuple(_notes_of_groups(evaluation, groups, quota))
    head = ("model", "measure", "mean", "groups", *_QUARTILES)
    return Table(caption, head, tuple(rows), notes)


def _notes_of_groups(
    evaluation: Results, groups: GroupResults, quota: Quota | None
) -> Iterator[str]:
    if quota is not None and evaluation.settings.per is not None and (n := groups.short(quota)):
        budget = quota.is_budget
        short = "tables.short_one" if n == 1 else "tables.short"
        if budget:
            short = "tables.short_one_cost" if n == 1 else "tables.short_cost"
        yield say(short, short=number(n), amount=number(quota.amount) if budget else quota)
    yield say("tables.undefined")


def _apart(evaluation: Results, groups: GroupResults, quota: Quota) -> Table:
    """How far the groups are apart by each model, and what a quota of each would cost."""
    heading, values = heading_of(evaluation, quota), groups.apart[quota]
    caption = say("tables.apart", heading=heading, group=evaluation.settings.grouped_by)
    notes = [say("tables.apart_means")]
    notes += [say("tables.apart_intervals")] if values.ends else []
    return _of_models(evaluation, caption, values, notes)


def shown_groups(values: GroupValues, measure: Column, model: int) -> list[int]:
    """The groups that are shown: all of few, and of many those with the lowest and the highest
    values.
    """
    column = values.of(measure.name)[model]
    if len(column) <= GROUPS_SHOWN:
        return list(range(len(column)))
    defined = np.flatnonzero(~np.isnan(column))
    ordered: list[int] = defined[np.argsort(column[defined], kind="stable")].tolist()
    if len(ordered) <= 2 * _EXTREMES:
        return ordered
    return [*ordered[:_EXTREMES], *ordered[-_EXTREMES:]]


def _groups(evaluation: Results, groups: GroupResults, quota: Quota | None, model: int) -> Table:
    """What each group has by a model; a star where no other model has more there."""
    values, measure = next(x for x in columns_at(groups, quota) if x[1].compared)
    shown = shown_groups(values, measure, model)
    places = [(model, k) for k in shown]
    heading, name = heading_of(evaluation, quota), evaluation.models[model]
    extremes = {"half": number(len(shown) // 2), "measure": measure.title}
    which = "tables.of_model_extremes" if len(shown) < len(groups.names) else "tables.of_model"
    caption = say(which, heading=heading, model=name, **extremes)
    columns = [
        (str(evaluation.settings.grouped_by), _words(groups.names[k] for k in shown)),
        ("rows", _numbers(number, groups.rows[shown])),
        (evaluation.settings.positives, _numbers(number, groups.positives[shown])),
        *_measures(values, evaluation.rows, places),
    ]
    if quota is not None:
        columns += islice(_measures(groups.values[None], evaluation.rows, places), 1)
    return _table(caption, columns)
