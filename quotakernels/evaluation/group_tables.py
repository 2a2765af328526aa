"""Tables of groups of rows: how a measure varies over them, and what each of them has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from quotakernels._text import between, number
from quotakernels.evaluation.groups import APART, GroupResults, GroupValues, most
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.notes import heading_of
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.tables import Cell, Table, signed
from quotakernels.evaluation.words import MINUS

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


def _caption(evaluation: Results, quota: Quota | None) -> str:
    return "Over all quotas" if quota is None else heading_of(evaluation, quota)


def _spread(evaluation: Results, groups: GroupResults, quota: Quota | None) -> Table:
    """The mean of each measure and its quartiles; of means the best is marked."""
    head = ("model", "measure", "mean", "groups", "lowest", "quartile", "median", "quartile")
    rows = []
    for values, measure in columns_at(groups, quota):
        if not measure.compared:
            continue
        means = [values.mean(measure.name, model) for model in range(len(evaluation.models))]
        best = most(np.asarray(means)) & (measure.name not in values.bounds)
        for model, name in enumerate(evaluation.models):
            defined = number(len(values.defined(measure.name, model)))
            middle, *spread = _texts(values, measure, partial(_mean_and_spread, measure, model))
            ends = _ends(measure, *values.mean_interval(measure.name, model))
            mean = Cell(middle, ends, bool(best[model]))
            words = (Cell(name, words=True), Cell(measure.title, words=True))
            rows.append((*words, mean, Cell(defined), *map(Cell, spread)))
    column = evaluation.settings.grouped_by
    caption = f"{_caption(evaluation, quota)}: means over {column} ({number(len(groups.names))})"
    return Table(caption, (*head, "highest"), tuple(rows), tuple(_notes(evaluation, groups, quota)))


def _notes(evaluation: Results, groups: GroupResults, quota: Quota | None) -> Iterator[str]:
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
    rows = []
    for model, name in enumerate(evaluation.models):
        values = groups.apart[quota][model].tolist()
        cells = (
            Cell(signed(x.text(value)), _ends(x, *groups.apart_interval(quota, model, k)))
            for k, (x, value) in enumerate(zip(APART, values, strict=True))
        )
        rows.append((Cell(name, words=True), *cells))
    column = evaluation.settings.grouped_by
    caption = f"{_caption(evaluation, quota)}: how far the groups of {column} are apart"
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
            *(_cell(*x, model, k) for x in columns),
        )
        for k in shown
    ]
    all_of_them = len(shown) == len(groups.names)
    half = number(len(shown) // 2)
    which = "" if all_of_them else f", the {half} lowest and the {half} highest by {measure.title}"
    caption = f"{_caption(evaluation, quota)} by {evaluation.models[model]}{which}"
    return Table(caption, (*head, *(x.heading for _, x in columns)), tuple(rows))


def _cell(values: GroupValues, measure: Column, model: int, group: int) -> Cell:
    (text,) = _texts(values, measure, lambda x: [float(x.of(measure.name)[model, group])])
    ends = _ends(measure, *values.interval(measure.name, model, group))
    return Cell(text, ends, bool(values.best(measure)[model, group]))


def _mean_and_spread(measure: Column, model: int, values: GroupValues) -> list[float]:
    return [values.mean(measure.name, model), *values.spread(measure.name, model)]


def _texts(
    values: GroupValues, measure: Column, found: Callable[[GroupValues], list[float]]
) -> list[str]:
    """What is found in the values of a measure, or between its bounds."""
    if measure.name not in values.bounds:
        return [signed(measure.text(x)) for x in found(values)]
    both = zip(found(values.at_bound(0)), found(values.at_bound(1)), strict=True)
    return [between(*x).replace("-", MINUS) for x in both]


def _ends(measure: Column, lower: float, upper: float) -> tuple[str, ...]:
    """Both ends as they are written, of what has some."""
    if math.isnan(lower) or math.isnan(upper):
        return ()
    return signed(measure.end_form(lower)), signed(measure.end_form(upper))
