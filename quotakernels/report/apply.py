"""How to apply a model: the commands that select rows, and what to mind."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quotakernels._text import number
from quotakernels.evaluation.advice import first_best
from quotakernels.evaluation.choice import choice_at, end_of, how_filled, same
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import counted, whole

__all__ = ["Step", "steps"]


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
        yield from _best_cut(evaluation, file)


def _fill(evaluation: Results, file: Sequence[str], model: int, quota: Quota) -> Step:
    name, settings = evaluation.models[model], evaluation.settings
    end = end_of(evaluation.rankings[model], evaluation, quota)
    places = evaluation.places(quota)
    what = f"Fill quota {quota} by {name}"
    if settings.weight is None:
        remark = how_filled(places, end.threshold, round(end.above), round(end.tied)) + "."
        if not whole(places) and places > 1:
            remark += f" The last row is in by chance; --quota {int(places)} fills whole places."
        return Step(what, _command(evaluation, file, name, "--quota", str(quota)), remark)
    remark = (
        f"A weight of {number(end.above)} lies above the score {end.threshold}, "
        f"{number(end.tied)} at it. The command counts rows and not weights, so it takes the score"
    )
    taken = end.above + end.tied
    more = taken > places and not same(taken, places)
    remark += f" and selects a weight of {number(taken)}, more than the quota." if more else "."
    return Step(what, _command(evaluation, file, name, "--threshold", end.threshold), remark)


def _best_cut(evaluation: Results, file: Sequence[str]) -> Iterator[Step]:
    """The cut that brings the most, unless that is nobody."""
    assert evaluation.gains is not None
    values = evaluation.gains.at_best_cut
    model = first_best(values)
    found, name = values.of_model(model), evaluation.models[model]
    if found["quota"]:
        threshold = str(found["threshold"])
        unit = "weight" if evaluation.weighted else ""
        size = unit and f"a weight of {number(found['quota'])}"
        remark = f"That is {size or counted(found['quota'], 'row', 'rows')} here."
        command = _command(evaluation, file, name, "--threshold", threshold)
        yield Step(f"Select what brings the most, by {name}", command, remark)


def _command(evaluation: Results, file: Sequence[str], name: str, option: str, value: str) -> str:
    where = evaluation.settings.where
    chosen = [] if where is None else ["--where", f"{where[0]}={where[1]}"]
    words = ["quotakernels", "select", *file, "--score", name, option, value, *chosen]
    return shlex.join([*words, "-o", "selected.csv"])
