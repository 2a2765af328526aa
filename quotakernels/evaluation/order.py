"""How sure the order of the models is, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from quotakernels._text import counted, fixed, formatted, number, percent
from quotakernels.evaluation.choice import Choice, no_best_cut, same
from quotakernels.evaluation.results import Differences, Results
from quotakernels.evaluation.settings import Resampling
from quotakernels.evaluation.words import (
    MINUS,
    Said,
    at_most_three,
    listed,
    places_found,
    sentence,
)
from quotakernels.inference._few import ENOUGH_GROUPS
from quotakernels.inference.comparing import Comparison

_WHAT = {
    "roc_auc": "AUC",
    "hit_rate": "The hit rate",
    "qrecall": "Qrecall",
    "brings": "What models bring",
}
_BESIDE_CHANCE = {
    "below": "Sure that it is better than a random choice",
    "above": "Sure that a random choice is better",
    "within": "Not sure that it is better than a random choice",
}
"""By where a random choice is beside the interval of the only model."""


def how_sure(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the first model is ahead by more than chance, by what made it the first."""
    resampling = evaluation.settings.resampling
    if len(evaluation.models) == 1:
        return _of_one(evaluation, choice)
    if choice is not None and not choice.defined:
        return "That cannot be said", ("The models cannot be compared.",)
    gains = evaluation.gains
    if choice is None and gains is not None and evaluation.total and no_best_cut(gains):
        return "No model is the first", ("None brings more than selecting nobody.",)
    if gains is None and not evaluation.positive_total:
        return "That cannot be said", (
            "The test compares positives found, and no row is positive.",
        )
    test = _test_of(evaluation, choice)
    if resampling is None or test is None:
        asked = "--compare" if evaluation.settings.command else "compare=True"
        return "That cannot be said", (f"The models were not tested; {asked} tests them.",)
    return _of_test(evaluation, choice, test, resampling)


def is_unsure(evaluation: Results, choice: Choice) -> bool:
    """Whether the models were tested, and the first may be that by chance."""
    resampling, test = evaluation.settings.resampling, _test_of(evaluation, choice)
    if resampling is None or test is None or any(map(math.isnan, test.found.estimate)):
        return False
    first = evaluation.models[choice.order[0]]
    sure = is_first(test.found, first, resampling.tested_level)
    return not sure or bool(too_few_groups(evaluation))


def _test_of(evaluation: Results, choice: Choice | None) -> Differences | None:
    """The test by what made a model the first."""
    quota = None if choice is None else choice.quota
    tested = evaluation.differences if evaluation.gains is None else evaluation.gains.tests
    return next((x for x in tested if x.quota == quota), None)


def _of_one(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the only model differs from a random choice by more than chance."""
    settings, resampling = evaluation.settings, evaluation.settings.resampling
    if choice is None:
        return "That depends on the quota", (f"Give {settings.option('quota')} to learn it.",)
    what = "its hit rate" if evaluation.gains is None else "what it brings"
    if resampling is None or not evaluation.has_intervals:
        asked = "--confidence 95%" if settings.command else "confidence_level=0.95"
        return "That cannot be said", (f"{asked} tells how far {what} may be off.",)
    if not choice.defined:
        return "That cannot be said", ("There is nothing to compare.",)
    (lower, upper), by_chance = _compared(evaluation, choice)
    if math.isnan(lower):
        return "That cannot be said", (f"{sentence(what)} is undefined.",)
    if same(lower, upper):
        said = f"{what} is the same in all resamples, so they do not show how sure it is."
        return "That cannot be said", (sentence(said),)
    side = "below" if by_chance < lower else "above" if by_chance > upper else "within"
    if evaluation.gains is None:
        between = f"{percent(lower)} to {percent(upper)} ({resampling.percent} interval)"
        said = f"{what} may be anything from {between}; a random choice has {percent(by_chance)}."
    else:
        interval = f"the {resampling.percent} interval of {what}"
        said = f"what a random choice brings ({evaluation.amount(by_chance)}) is {side} {interval}."
    if side != "within" and (groups := too_few_groups(evaluation)):
        return f"Not sure: {groups} are too few for the interval", (sentence(said),)
    return _BESIDE_CHANCE[side], (sentence(said),)


def _compared(evaluation: Results, choice: Choice) -> tuple[tuple[float, float], float]:
    """The interval of what made a model the first, and what a random choice has of the same."""
    first, gains = choice.order[0], evaluation.gains
    if gains is not None:
        return gains.at_quota[choice.quota].interval("brings", first), choice.random_brings
    rate = evaluation.at_quota[choice.quota].interval("hit_rate", first)
    return rate, choice.random_found / choice.random_places


def _verdict(first: str, alike: list[str], less: list[str]) -> str:
    """Whether the first is sure to be that, some others being like it and the rest not."""
    if not alike:
        return f"sure that {first} is the first"
    if not less:
        return "not sure: the models cannot be told apart"
    return f"not sure: {at_most_three(alike, 'or')} may be as good"


def is_first(found: Comparison, first: str, level: float) -> bool:
    """Whether a model is better than each of the others.

    It is not the best if any one of them is better, so each must be ruled out by a test of its own
    and none needs a correction (intersection and union).
    """
    i = found.names.index(first)
    others = np.arange(len(found.names)) != i
    ahead = (found.difference[i] > 0) & (found.p_value[i] <= round(1 - level, 12))
    return bool(ahead[others].all())


def _of_test(
    evaluation: Results, choice: Choice | None, test: Differences, resampling: Resampling
) -> Said:
    found = test.found
    if any(math.isnan(x) for x in found.estimate):
        return "That cannot be said", (f"{_WHAT[test.measure]} is undefined.",)
    first = found.names[0] if choice is None else evaluation.models[choice.order[0]]
    said = _found_more(evaluation, choice, test, first, resampling.percent)
    sure = is_first(found, first, resampling.tested_level)
    if test.too_few and not sure:
        return "Too few resamples to tell", (said, *(f"{sentence(x)}." for x in test.notes))
    if sure and (groups := too_few_groups(evaluation)):
        return f"Not sure: {groups} are too few for the test", (said,)
    letters = {name: set(x) for name, x in zip(found.names, found.letters, strict=True)}
    others = [] if sure else [x for x in found.names if not letters[x] & letters[first]]
    rivals = [] if sure else [x for x in found.names if x != first and x not in others]
    by = "By AUC, " if test.measure == "roc_auc" else ""
    verdict = sentence(f"{by}{_verdict(first, rivals, others)}")
    doubt = []
    if choice is not None and choice.beats_chance and evaluation.has_intervals:
        ends, by_chance = _compared(evaluation, choice)
        doubt = ["It may be no better than a random choice."] if ends[0] <= by_chance else []
    return verdict, (said, *_told_apart(test, first, others), *doubt)


def too_few_groups(evaluation: Results) -> str:
    """How many groups were resampled, if that makes p-values too small."""
    if evaluation.settings.per is None or evaluation.groups is None:
        return ""
    groups = len(evaluation.groups.names)
    return counted(groups, "group", "groups") if groups < ENOUGH_GROUPS else ""


def _told_apart(test: Differences, first: str, others: list[str]) -> Iterator[str]:
    """Which models differ from the first."""
    place = test.found.names.index
    worse = [x for x in others if place(x) > place(first)]
    better = [x for x in others if place(x) < place(first)]
    said = [f"better than {at_most_three(worse)}"] if worse else []
    said += [f"worse than {at_most_three(better)}"] if better else []
    if said:
        yield f"It is {listed(said)}."


def _found_more(
    evaluation: Results, choice: Choice | None, test: Differences, first: str, level: str
) -> str:
    """How much more the first model finds or brings than the next, or less, with the interval."""
    found = test.found
    i = found.names.index(first)
    j = 1 if i == 0 else 0
    by, lower, upper = (float(x[i, j]) for x in (found.difference, found.lower, found.upper))
    next_one = found.names[j]

    def form(x: float) -> str:
        if test.measure == "brings":
            return evaluation.amount(x)
        if choice is None:
            return fixed(3)(x).replace("-", MINUS)
        budget = choice.quota.is_budget
        return places_found((evaluation.positive_total if budget else choice.places) * x)

    if test.measure == "brings":
        more = "as much as" if form(by) == form(0.0) else f"{form(by)} more than"
        pair = (first, next_one) if choice else (f"The best cut of {first}", f"that of {next_one}")
        said = f"{pair[0]} brings {more} {pair[1]}"
    elif choice is None:
        said = f"{first} has an AUC that is {form(by)} above that of {next_one}"
    else:
        more = f"{form(by)} more than" if by > 0 else "as many as"
        more = f"{form(-by)} fewer than" if by < 0 else more
        at = f"in {evaluation.size(choice.places)}"
        at = f"for {number(choice.quota.amount)}" if choice.quota.is_budget else at
        said = f"{first} finds {more} {next_one} {at}"
    if math.isnan(lower):
        return f"{said}."
    if lower == upper:
        return f"{said}, the same in all resamples."
    p = f"p = {formatted(found.p_value[i, j], '.2g')}"
    return f"{said} ({level} interval {form(lower)} to {form(upper)}, {p})."
