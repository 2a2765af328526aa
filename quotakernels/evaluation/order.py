"""How sure the order of the models is, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from quotakernels._text import fixed, formatted, percent
from quotakernels.evaluation.choice import Choice, no_best_cut, same
from quotakernels.evaluation.intervals import Differences
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.settings import Resampling
from quotakernels.evaluation.words import (
    MINUS,
    amount,
    at_most_three,
    listed,
    places_found,
    places_of,
    sentence,
)
from quotakernels.inference.comparison.compare import holm
from quotakernels.inference.comparison.paired import PairTest

Said = tuple[str, tuple[str, ...]]
_WHAT = {"roc_auc": "AUC", "hit_rate": "The hit rate", "brings": "What models bring"}


def how_sure(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the first model is ahead by more than chance, by what made it the first."""
    resampling = evaluation.settings.resampling
    if len(evaluation.models) == 1:
        return "There is one model, and so no order", tuple(_interval(evaluation, choice))
    if choice is not None and not choice.defined:
        return "That cannot be said", ("The models cannot be compared.",)
    gains = evaluation.gains
    if choice is None and gains is not None and evaluation.total and no_best_cut(gains):
        return "No model is the first", ("None brings more than selecting nobody.",)
    if resampling is not None and gains is not None and gains.ends is not None:
        return _by_gain(evaluation, gains, resampling, choice)
    if not evaluation.positive_total:
        return "That cannot be said", ("The test is of positives found, and no row is positive.",)
    quota = None if choice is None else choice.quota
    tests = [x for x in evaluation.differences if x.quota == quota]
    if gains is not None:  # whose tests also come without intervals
        tests = [x for x in tests if x.measure == "brings"]
    if resampling is None or not tests:
        asked = "--compare" if evaluation.settings.command else "compare=True"
        return "That cannot be said", (f"The models were not tested; {asked} tests them.",)
    return _of_test(evaluation, choice, tests[0], resampling)


def _interval(evaluation: Results, choice: Choice | None) -> Iterator[str]:
    """How far the hit rate of the only model may be off."""
    found, resampling = evaluation.intervals, evaluation.settings.resampling
    if choice is None or found is None or resampling is None:
        return
    lower, upper = found.at_quota[choice.quota].of("hit_rate", 0)
    by = f"of {resampling.resamples} resamples" if evaluation.weighted else "interval, Wilson's"
    by = f"interval {by}" if evaluation.weighted else by
    if math.isnan(lower):
        yield "Its hit rate is undefined."
    elif same(lower, upper):
        yield "Its hit rate is the same in all resamples, which so do not tell how sure it is."
    else:
        ends = f"{percent(lower)} to {percent(upper)}"
        yield f"Its hit rate may be anything from {ends} ({resampling.percent} {by})."


def _verdict(first: str, alike: list[str], less: list[str]) -> str:
    """Whether the first is sure to be that, some others being like it and the rest not."""
    if not alike:
        return f"sure that {first} is the first"
    if not less:
        return "not sure: the models cannot be told apart"
    return f"not sure: {at_most_three(alike, 'or')} may be as good"


def _with_interval(
    said: str, ends: tuple[float, float], form: Callable[[float], str], p: str, percent: str
) -> str:
    """A difference, its interval, and p."""
    if ends[0] == ends[1]:
        return f"{said}, the same in all resamples."
    return f"{said} ({percent} interval {' to '.join(map(form, ends))}, {p})."


# by what the models find


def _of_test(
    evaluation: Results, choice: Choice | None, test: Differences, resampling: Resampling
) -> Said:
    found = test.found
    if any(math.isnan(x) for x in found.estimate):
        return "That cannot be said", (f"{_WHAT[test.measure]} is undefined.",)
    first = found.names[0] if choice is None else evaluation.models[choice.order[0]]
    said = _found_more(evaluation, choice, test, first, resampling)
    if test.too_few:
        return "Too few resamples to tell", (said, *(f"{sentence(x)}." for x in test.notes))
    letters = {name: set(x) for name, x in zip(found.names, found.letters, strict=True)}
    rivals = [x for x in found.names if x != first and letters[x] & letters[first]]
    others = [x for x in found.names if x != first and x not in rivals]
    by = "By AUC, " if test.measure == "roc_auc" else ""
    verdict = sentence(f"{by}{_verdict(first, rivals, others)}")
    return verdict, (said, *_told_apart(test, first, others))


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
    evaluation: Results,
    choice: Choice | None,
    test: Differences,
    first: str,
    resampling: Resampling,
) -> str:
    """How much more the first model finds than the next, or less, with the interval."""
    found = test.found
    i = found.names.index(first)
    j = 1 if i == 0 else 0
    by, *ends = (float(x[i, j]) for x in (found.difference, found.lower, found.upper))
    if test.measure == "brings":
        pair = (first, found.names[j])
        pair = pair if choice else (f"The best cut of {first}", f"that of {found.names[j]}")
        tested = PairTest(ends[0], ends[1], float(found.p_adjusted[i, j]))
        return _brought_more(pair, by, tested, 1, resampling)
    places = math.nan if choice is None else choice.places

    def form(x: float) -> str:
        return places_found(places * x) if choice else fixed(3)(x).replace("-", MINUS)

    if choice is None:
        said = f"{first} has an AUC that is {form(by)} above that of {found.names[j]}"
    else:
        more = f"{form(by)} more than" if by > 0 else "as many as"
        more = f"{form(-by)} fewer than" if by < 0 else more
        where = places_of(places, evaluation.weighted)
        said = f"{first} finds {more} {found.names[j]} in {where}"
    p = f"p = {formatted(found.p_adjusted[i, j], '.2g')}"
    return _with_interval(said, (ends[0], ends[1]), form, p, resampling.percent)


# by what the models bring


def _by_gain(
    evaluation: Results, gains: GainResults, resampling: Resampling, choice: Choice | None
) -> Said:
    """By what they bring at the quota; without one, by what the best cuts bring."""
    names = evaluation.models
    values = gains.at_best_cut.of("brings") if choice is None else choice.compared
    first = gains.best_model if choice is None else choice.order[0]
    others = [int(k) for k in np.argsort(-values, kind="stable") if k != first]
    quota = None if choice is None else choice.quota
    assert gains.ends is not None
    level = resampling.tested_level
    tests = {k: gains.ends.difference(quota, first, k, level) for k in others}
    corrected = dict(
        zip(others, holm(np.asarray([x.p_value for x in tests.values()])), strict=True)
    )
    pair = (names[first], names[others[0]])
    if choice is None:
        pair = (f"The best cut of {pair[0]}", f"that of {pair[1]}")
    by = float(values[first] - values[others[0]])
    p = f"{'p' if len(others) == 1 else 'corrected p'} = {formatted(corrected[others[0]], '.2g')}"
    said = _brought_more(pair, by, tests[others[0]], p, resampling)
    needed = math.ceil(round(2 * len(others) / (1 - level) - 1, 6))
    if needed > resampling.resamples:
        few = f"Give {evaluation.settings.option('resamples')} {needed} or more."
        return "Too few resamples to tell", (said, few)
    most = resampling.significance
    sure = [names[k] for k, x in tests.items() if corrected[k] <= most and x.lower >= 0]
    alike = [names[k] for k in others if names[k] not in sure]
    told = (f"It brings more than {at_most_three(sure)}.",) if sure and alike else ()
    return sentence(_verdict(names[first], alike, sure)), (said, *told)


def _brought_more(
    pair: tuple[str, str], by: float, found: PairTest, p: str, resampling: Resampling
) -> str:
    """How much more the first brings than the next, with the interval."""
    more = "as much as" if amount(by) == amount(0.0) else f"{amount(by)} more than"
    said = f"{pair[0]} brings {more} {pair[1]}"
    if math.isnan(found.lower):
        return f"{said}."
    return _with_interval(said, (found.lower, found.upper), amount, p, resampling.percent)
