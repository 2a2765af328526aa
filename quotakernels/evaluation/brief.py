"""The table that a decision needs: a row for each model, best first, and five columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from quotakernels._text import between, fixed, formatted, number, percent
from quotakernels.evaluation.choice import Choice, choice_at
from quotakernels.evaluation.measures import undefined_or
from quotakernels.evaluation.notes import heading_of
from quotakernels.evaluation.results import Results, Values
from quotakernels.evaluation.tables import Cell, Table, gain_tables
from quotakernels.evaluation.words import amount

_THREE = fixed(3)
_WITHOUT_QUOTA = ("roc_auc", "gini", "average_hit_rate", "average_qrecall")


def brief_tables(evaluation: Results) -> Iterator[Table]:
    """What each model finds at each quota or budget; without any, what its best cut brings, or
    else how it ranks over all quotas.
    """
    for quota in evaluation.settings.quotas:
        yield _at_quota(evaluation, choice_at(evaluation, quota))
    if not evaluation.settings.quotas:
        yield next(gain_tables(evaluation), None) or _over_all(evaluation)


def _at_quota(evaluation: Results, choice: Choice) -> Table:
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
    return _table(heading_of(evaluation, choice.quota), columns, choice.order)


def _over_all(evaluation: Results) -> Table:
    """The areas and the averages over all quotas."""
    found = evaluation.over_all
    columns = {"model": evaluation.models} | {
        x.title: _areas(found, x.name) for x in found.measures if x.name in _WITHOUT_QUOTA
    }
    area = found.of("roc_auc").tolist()
    best_first = sorted(range(len(area)), key=lambda k: (math.isnan(area[k]), -area[k]))
    return _table("Over all quotas", columns, best_first)


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


def _table(caption: str, columns: Mapping[str, tuple[str, ...]], order: Sequence[int]) -> Table:
    rows = tuple(
        tuple(Cell(texts[k], words=head == "model") for head, texts in columns.items())
        for k in order
    )
    return Table(caption, tuple(columns), rows)
