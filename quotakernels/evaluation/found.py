"""What the models find or bring at the first quota, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from quotakernels._text import counted, number, percent
from quotakernels.evaluation.choice import Choice, expected_elsewhere, same
from quotakernels.evaluation.order import too_few_groups
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import listed

OTHERS = 3
"""How many models behind the first are named."""


def what_is_found(evaluation: Results, choice: Choice) -> Iterator[str]:
    """What the best model finds, and the others."""
    if not evaluation.positive_total:
        return
    if choice.quota.is_budget:
        yield from _found_for_money(evaluation, choice)
        return
    first, *others = choice.order
    settings, found = evaluation.settings, choice.found
    per = settings.per
    selected = evaluation.size(choice.places).first("row")
    selected = selected if per is None else f"first {choice.quota} of each {per}"
    selected = f"{selected} by {settings.models[first]}"
    flattered = _by_choice(evaluation, choice, percent) if choice.brings is None else ""
    several = settings.many(found[first])
    are = settings.are_positive(1 if evaluation.weighted and not several else found[first])
    between = _found_from_to(evaluation, choice)
    number_found = number(found[first])
    number_found += f" {several}{between}" if several else f"{between} {are}"
    rate = f"a hit rate of {percent(found[first] / choice.places)}{flattered}"
    if choice.brings is None and choice.beats_chance:
        yield f"Take the {selected}: {number_found}, {rate}."
    else:
        of_them = f"The {selected} hold" if several else f"Of the {selected},"
        yield f"{of_them} {number_found}: {rate}."
    # where models are compared by what they bring, the others' positives do not count
    rest = _each(evaluation, choice, "finds ", number) if choice.brings is None and others else []
    a_random = "a random choice" if rest else "A random choice finds"
    yield f"{listed([*rest, f'{a_random} {number(choice.random_found)}'])}."


def _found_from_to(evaluation: Results, choice: Choice) -> str:
    """Between what numbers the best of several models finds; of one the hit rate is told."""
    resampling = evaluation.settings.resampling
    if len(evaluation.models) == 1 or resampling is None or not evaluation.has_intervals:
        return ""
    ends = evaluation.at_quota[choice.quota].interval("hit_rate", choice.order[0])
    lower, upper = (choice.places * x for x in ends)
    if math.isnan(lower) or same(lower, upper) or too_few_groups(evaluation):
        return ""
    return f" ({resampling.percent} interval {number(lower)} to {number(upper)})"


def _found_for_money(evaluation: Results, choice: Choice) -> Iterator[str]:
    """What the best model finds, and the others, each in as many places as the budget pays for."""
    first, *others = choice.order
    names = evaluation.models
    are_positive = evaluation.settings.are_positive(choice.found[first])

    def form(share: float) -> str:
        return number(share * evaluation.positive_total)

    def of_places(model: int) -> str:
        return f"{number(choice.found[model])} of {number(choice.filled[model])}"

    # where models are compared by what they bring, the others' positives do not count
    others = others if choice.brings is None else []
    rest = [f"by {names[k]} {of_places(k)}" for k in others[:OTHERS]]
    rest += _the_others(choice.found[first], [choice.found[k] for k in others[OTHERS:]])
    rest.append(f"at random {number(choice.random_found)} of {number(choice.random_places)}")
    per = evaluation.settings.per
    where = "" if per is None else f" in each {per}"
    yield (
        f"With {number(choice.quota.amount)} to spend{where}, choosing by {names[first]}: "
        f"{of_places(first)} selected {are_positive}; {', '.join(rest)}."
    )
    if choice.brings is None and (luck := _luck(evaluation, choice, form)):
        yield f"{names[first]} is {luck.replace('so probably', 'so it probably finds')}."


def _by_choice(evaluation: Results, choice: Choice, form: Callable[[float], str]) -> str:
    """The same in brackets."""
    luck = _luck(evaluation, choice, form)
    return f" ({luck})" if luck else ""


def _luck(evaluation: Results, choice: Choice, form: Callable[[float], str]) -> str:
    """That the first is the best of several on the rows that judge it, and what to expect of it."""
    if len(choice.best) == len(choice.order):
        return ""
    best, expected = f"the best of {len(choice.order)} here", expected_elsewhere(evaluation, choice)
    if math.isnan(expected):
        return f"{best}, so probably less on other rows"
    return f"{best}; expect {form(expected)} on other rows"


def _each(
    evaluation: Results, choice: Choice, verb: str, form: Callable[[float], str]
) -> list[str]:
    """What the models behind the first have of that by which they are compared."""
    first, *others = choice.order
    values = choice.compared
    said = [f"{evaluation.models[k]} {verb}{form(values[k])}" for k in others[:OTHERS]]
    return [*said, *_the_others(values[first], [values[k] for k in others[OTHERS:]])]


def _the_others(first: float, others: list[float]) -> Iterator[str]:
    """How many models have more than the first, as much, and less."""
    alike = [same(first, x) for x in others]
    more = sum(x > first and not y for x, y in zip(others, alike, strict=True))
    for several, said in ((more, "more"), (sum(alike), "as much")):
        if several:
            yield counted(several, f"other model {said}", f"other models {said}")
    if less := len(others) - more - sum(alike):
        yield counted(less, "other model less", "other models less")


def what_is_brought(evaluation: Results, choice: Choice) -> Iterator[str]:
    """What the models bring, where that decides."""
    if choice.brings is None:
        return
    first, *others = choice.order
    names = evaluation.models
    rest = _each(evaluation, choice, "", evaluation.amount)
    brings = f"{names[first]} brings {evaluation.amount(choice.brings[first])}"
    yield f"{listed([f'{brings}{_by_choice(evaluation, choice, evaluation.amount)}', *rest])}."
    finds = max(others, key=lambda k: choice.found[k], default=first)
    if choice.found[finds] > choice.found[first]:
        yield f"By positives found {names[finds]} would be the first."
