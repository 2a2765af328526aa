"""How sure the order of the models is, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from quotakernels._text import fixed, formatted, percent, plain
from quotakernels.evaluation.choice import Choice, same
from quotakernels.evaluation.intervals import Differences
from quotakernels.evaluation.order_by_gain import how_sure_by_gain
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import MINUS, at_most_three, listed, places_found, places_of

__all__ = ["how_sure"]

Said = tuple[str, tuple[str, ...]]
_WHAT = {"roc_auc": "AUC", "hit_rate": "The hit rate"}


def how_sure(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the first model is ahead by more than chance, by what made it the first."""
    names = evaluation.models
    if len(names) == 1:
        return "There is one model, and so no order", tuple(_interval(evaluation, choice))
    if choice is not None and not choice.defined:
        return "That cannot be said", ("The models cannot be compared.",)
    if evaluation.gains is not None and evaluation.gains.ends is not None:
        return how_sure_by_gain(evaluation, evaluation.gains, choice)
    if not evaluation.positive_total:
        return "That cannot be said", ("The test is of positives found, and no row is positive.",)
    quota = None if choice is None else choice.quota
    tests = [x for x in evaluation.differences if x.quota == quota]
    if not tests:
        return "That cannot be said", ("The models were not tested; compare=True tests them.",)
    return _of_test(evaluation, choice, tests[0])


def _interval(evaluation: Results, choice: Choice | None) -> list[str]:
    """How far the hit rate of the only model may be off."""
    found, resampling = evaluation.intervals, evaluation.settings.resampling
    if choice is None or found is None or resampling is None:
        return []
    ends = found.at_quota[choice.quota]
    k = [m.name for m in ends.measures].index("hit_rate")
    lower, upper = float(ends.lower[0, k]), float(ends.upper[0, k])
    if math.isnan(lower):
        return ["Its hit rate is undefined."]
    if same(lower, upper):
        return ["Its hit rate is the same in all resamples, which so do not tell how sure it is."]
    level = f"{plain(100 * resampling.tested_level)}% interval"
    by = f"{level}, Wilson's"
    if evaluation.weighted:
        by = f"{level} of {resampling.resamples} resamples"
    return [f"Its hit rate may be anything from {percent(lower)} to {percent(upper)} ({by})."]


def _of_test(evaluation: Results, choice: Choice | None, test: Differences) -> Said:
    names, found = evaluation.models, test.found
    if any(math.isnan(x) for x in found.estimate):
        return "That cannot be said", (f"{_WHAT[test.measure]} is undefined.",)
    first = found.names[0] if choice is None else names[choice.order[0]]
    lead = _lead(evaluation, choice, test, first)
    if test.too_few:
        return "Too few resamples to tell", (lead, *(f"{_sentence(x)}." for x in test.notes))
    letters = {name: set(x) for name, x in zip(found.names, found.letters, strict=True)}
    rivals = [x for x in found.names if x != first and letters[x] & letters[first]]
    others = [x for x in found.names if x != first and x not in rivals]
    by = "By AUC, " if choice is None else ""
    if not rivals:
        verdict = f"{by}sure that {first} is the first"
    elif not others:
        verdict = f"{by}not sure: the models cannot be told apart"
    else:
        verdict = f"{by}not sure: {at_most_three(rivals, 'or')} may be as good"
    told = _told_apart(test, first, others)
    return _sentence(verdict), (lead, *told)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _told_apart(test: Differences, first: str, others: list[str]) -> Iterator[str]:
    """Which models differ from the first."""
    place = test.found.names.index
    worse = [x for x in others if place(x) > place(first)]
    better = [x for x in others if place(x) < place(first)]
    said = [f"better than {at_most_three(worse)}"] if worse else []
    said += [f"worse than {at_most_three(better)}"] if better else []
    if said:
        yield f"It is {listed(said)}."


def _lead(evaluation: Results, choice: Choice | None, test: Differences, first: str) -> str:
    """The lead over the next model, or how far the first one lags behind, with its interval."""
    found, resampling = test.found, evaluation.settings.resampling
    assert resampling is not None
    i = found.names.index(first)
    j = 1 if i == 0 else 0
    ends = [float(x[i, j]) for x in (found.difference, found.lower, found.upper)]
    if choice is None:
        by, low, high = (fixed(3)(x).replace("-", MINUS) for x in ends)
        lead = f"{first} has an AUC that is {by} above that of {found.names[j]}"
    else:
        by, low, high = (places_found(choice.places * x) for x in ends)
        more = f"{by} more than" if ends[0] > 0 else "as many as"
        if ends[0] < 0:
            more = f"{places_found(-choice.places * ends[0])} fewer than"
        where = places_of(choice.places, evaluation.weighted)
        lead = f"{first} finds {more} {found.names[j]} in {where}"
    if ends[1] == ends[2]:
        return f"{lead}, the same in all resamples."
    level = f"{plain(100 * resampling.tested_level)}%"
    p = formatted(found.p_adjusted[i, j], ".2g")
    return f"{lead} ({level} interval {low} to {high}, p = {p})."
