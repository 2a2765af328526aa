"""How to apply a model: the commands, or lines of Python, that select rows, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quotakernels._text import counted, number, plain
from quotakernels.evaluation.answers import fewer_to_fill
from quotakernels.evaluation.choice import (
    choice_at,
    end_of,
    first_choice,
    how_filled,
    how_filled_each,
    same,
)
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import command_line, whole

_OF_SELECT = {"sample_weight": "sample_weight", "where": "where", "per": "groups", "cost": "cost"}
"""What `select` takes, too, and how it calls that."""


class Step(NamedTuple):
    """What to do, the command that does it, and what it does."""

    what: str
    command: str
    remark: str


def steps(evaluation: Results, file: Sequence[str]) -> Iterator[Step]:
    """How each quota is filled, and how the best cut is made."""
    for quota in evaluation.settings.quotas:
        choice = choice_at(evaluation, quota)
        if choice.places and evaluation.total:
            yield _fill(evaluation, file, choice.order[0], quota)
    if evaluation.gains is not None and evaluation.total:
        yield from _fewer(evaluation, file)
        yield from _best_cut(evaluation, file)


def _fill(evaluation: Results, file: Sequence[str], model: int, quota: Quota) -> Step:
    command, per = evaluation.settings.command, evaluation.settings.per
    if per is not None:
        return _fill_each(evaluation, file, model, quota, per)
    end = end_of(evaluation, model, quota)
    places = float(evaluation.places(quota)[model])
    what = f"{'Spend' if quota.is_budget else 'Fill'} {quota.named} by {evaluation.models[model]}"
    if not evaluation.weighted:
        remark = how_filled(places, end.threshold, round(end.above), round(end.tied)) + "."
        if quota.is_budget:
            taker = "The command" if command else "With whole=True it"
            remark += "" if whole(places) else f" {taker} takes each row or none of it."
        return Step(what, _of_quota(evaluation, file, model, quota), remark)
    remark = (
        f"A weight of {number(end.above)} lies above the score {end.threshold}, "
        f"{number(end.tied)} at it."
    )
    if not command:
        return Step(what, _of_quota(evaluation, file, model, quota), remark)
    taken = end.above + end.tied
    remark += " The command counts rows and not weights, so it takes the score"
    more = taken > places and not same(taken, places)
    limit = "budget pays for" if quota.is_budget else "quota"
    remark += f" and selects a weight of {number(taken)}, more than the {limit}." if more else "."
    return Step(what, _of_threshold(evaluation, file, model, end.threshold), remark)


def _fill_each(
    evaluation: Results, file: Sequence[str], model: int, quota: Quota, per: str
) -> Step:
    """A quota of each group, which `select` counts in rows."""
    assert evaluation.groups is not None
    does = "Spend" if quota.is_budget else "Fill"
    what = f"{does} {quota.named} of each {per} by {evaluation.models[model]}"
    places, groups = float(evaluation.places(quota)[model]), evaluation.groups
    sizes = groups.costs if quota.is_budget else groups.masses
    remark = f"{how_filled_each(places, quota, per, sizes)}."
    if evaluation.weighted:
        remark = "The command counts rows and not weights." if evaluation.settings.command else ""
    return Step(what, _of_quota(evaluation, file, model, quota), remark)


def _fewer(evaluation: Results, file: Sequence[str]) -> Iterator[Step]:
    """Fewer places than the first quota has, where these are the answer; a budget has no number."""
    settings, choice = evaluation.settings, first_choice(evaluation)
    if choice is None or not choice.places or settings.cost is not None or evaluation.weighted:
        return
    if fewer := fewer_to_fill(evaluation, choice):
        quota = Quota(fewer.places)
        places = f"{quota} of {evaluation.size(choice.places).the}"
        what = f"Fill {places} by {evaluation.models[fewer.model]}, which bring more than all"
        yield _fill(evaluation, file, fewer.model, quota)._replace(what=what)


def _best_cut(evaluation: Results, file: Sequence[str]) -> Iterator[Step]:
    """The cut that brings the most, unless that is nobody."""
    assert evaluation.gains is not None
    model = evaluation.gains.best_model
    found, name = evaluation.gains.at_best_cut.of_model(model), evaluation.models[model]
    if found["quota"]:
        size = f"a weight of {number(found['quota'])}" if evaluation.weighted else ""
        remark = f"That is {size or counted(found['quota'], 'row', 'rows')} here."
        command = _of_threshold(evaluation, file, model, str(found["threshold"]))
        yield Step(f"Select what brings the most, by {name}", command, remark)


def _of_quota(evaluation: Results, file: Sequence[str], model: int, quota: Quota) -> str:
    settings = evaluation.settings
    if settings.command:
        per = [] if settings.per is None else ["--per", settings.per]
        # a share of the rows with every value is a smaller one of the rows with a score
        fewer = evaluation.rows_missing > 0 and quota.percent and per == []
        asked = ["--quota", plain(evaluation.places_at_random(quota)) if fewer else str(quota)]
        if settings.cost is not None:
            asked = ["--budget", str(quota), "--cost", settings.cost]
        return _command(evaluation, file, model, *asked, *per)
    share = quota.percent and not quota.whole
    name = "budget" if quota.is_budget else "fraction" if share else "quota"
    places = evaluation.places_at_random(quota) if quota.whole else quota.amount
    argument = f"{name}={plain(places / 100 if share else places)}"
    known = settings.lines.beside.items()
    beside = [f"{_OF_SELECT[x]}={said}" for x, said in known if x in _OF_SELECT]
    return f"quotakernels.select({', '.join([settings.lines.models[model], argument, *beside])})"


def _of_threshold(evaluation: Results, file: Sequence[str], model: int, threshold: str) -> str:
    lines = evaluation.settings.lines
    if evaluation.settings.command:
        return _command(evaluation, file, model, "--threshold", threshold)
    above = f"{lines.models[model]} >= {threshold}"
    return f"({above}) & {lines.beside['where']}" if "where" in lines.beside else above


def _command(evaluation: Results, file: Sequence[str], model: int, *options: str) -> str:
    chosen = [x for each in evaluation.settings.where for x in ("--where", each.option)]
    score = ["--score", evaluation.models[model]]
    words = ["quotakernels", "select", *file, *score, *options, *chosen]
    return command_line([*words, "-o", "selected.csv"])
