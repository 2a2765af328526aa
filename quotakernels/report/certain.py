"""How sure the order of the models is, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from quotakernels.cli.certainty import Differences
from quotakernels.cli.evaluation import Evaluation
from quotakernels.report.choice import Choice
from quotakernels.report.words import MINUS, amount, listed, number, percent, places_found

__all__ = ["how_sure"]

Said = tuple[str, tuple[str, ...]]
_WHAT = {"roc_auc": "AUC", "hit_rate": "The hit rate"}


def how_sure(evaluation: Evaluation, choice: Choice | None) -> Said:
    """Whether the first model leads by more than chance, and which others can be told apart."""
    names = evaluation.task.scores
    if len(names) == 1:
        return "There is one model, and so no order", tuple(_interval(evaluation, choice))
    if not evaluation.positive_total:
        return "That cannot be said", ("The test is of positives found, and no row is positive.",)
    quota = None if choice is None else choice.quota
    tests = [x for x in evaluation.differences if x.quota == quota]
    if not tests or (choice is not None and not choice.defined):
        return "That cannot be said", ("The models were not tested.",)
    return _of_test(evaluation, choice, tests[0])


def _interval(evaluation: Evaluation, choice: Choice | None) -> list[str]:
    """How far the hit rate of the only model may be off."""
    found, certainty = evaluation.intervals, evaluation.task.certainty
    if choice is None or found is None or certainty is None:
        return []
    ends = found.at_quota[choice.quota]
    k = [m.name for m in ends.measures].index("hit_rate")
    lower, upper = float(ends.lower[0, k]), float(ends.upper[0, k])
    if math.isnan(lower):
        return ["Its hit rate is undefined."]
    level = f"{100 * certainty.tested_level:g}%"
    return [
        f"Its hit rate may be anything from {percent(lower)} to {percent(upper)} "
        f"({level} interval of {certainty.resamples} resamples)."
    ]


def _of_test(evaluation: Evaluation, choice: Choice | None, test: Differences) -> Said:
    names, found = evaluation.task.scores, test.found
    if any(math.isnan(x) for x in found.estimate):
        return "That cannot be said", (f"{_WHAT[test.measure]} is undefined.",)
    first = found.names[0] if choice is None else names[choice.order[0]]
    letters = {name: set(x) for name, x in zip(found.names, found.letters, strict=True)}
    gains = _gains_between(evaluation, choice)
    alike = {names[k] for k, (low, _) in gains.items() if not low > 0}
    if gains:  # who finds more and brings less is neither better nor worse
        alike |= set(found.names[: found.names.index(first)])
    rivals = [x for x in found.names if x != first and (letters[x] & letters[first] or x in alike)]
    others = [x for x in found.names if x != first and x not in rivals]
    if not rivals:
        verdict = f"Sure that {first} is the first"
    elif not others:
        verdict = "Not sure: the models cannot be told apart"
    else:
        verdict = f"Not sure: {listed(rivals, 'or')} may be as good"
    told = _told_apart(evaluation, test, first, rivals if others else [], others)
    both = " in both." if gains else "."
    brings = _brings_more(evaluation, choice, gains)
    told_apart = (f"{x}{both}" for x in told)
    return verdict, (_lead(evaluation, choice, test, first), *brings, *told_apart)


def _told_apart(
    evaluation: Evaluation, test: Differences, first: str, rivals: list[str], others: list[str]
) -> Iterator[str]:
    """Which models differ from the first, and which may not, in sentences without their end."""
    place = test.found.names.index
    worse = [x for x in others if place(x) > place(first)]
    better = [x for x in others if place(x) < place(first)]
    said = [f"better than {listed(worse)}"] if worse else []
    said += [f"worse than {listed(better)}"] if better else []
    if rivals:
        rows = number(evaluation.rows)
        yield f"These {rows} rows do not tell {first} apart from {listed(rivals, 'or')}"
    if said:
        yield f"It is {listed(said)}"


def _lead(evaluation: Evaluation, choice: Choice | None, test: Differences, first: str) -> str:
    """The lead over the next model, or how far the first one lags behind, with its interval."""
    found, certainty = test.found, evaluation.task.certainty
    assert certainty is not None
    i = found.names.index(first)
    j = 1 if i == 0 else 0
    ends = [float(x[i, j]) for x in (found.difference, found.lower, found.upper)]
    level = f"{100 * certainty.tested_level:g}%"
    if choice is None:
        by, low, high = (f"{x:z.3f}".replace("-", MINUS) for x in ends)
        lead = f"{first} has an AUC that is {by} above that of {found.names[j]}"
    else:
        by, low, high = (places_found(choice.places * x) for x in ends)
        more = f"{by} more than" if ends[0] > 0 else "as many as"
        if ends[0] < 0:
            more = f"{places_found(-choice.places * ends[0])} fewer than"
        lead = f"{first} finds {more} {found.names[j]} in {number(choice.places)} places"
    p = f"p = {found.p_adjusted[i, j]:.2g}"
    return f"{lead} ({level} interval {low} to {high}, {p})."


def _gains_between(evaluation: Evaluation, choice: Choice | None) -> dict[int, tuple[float, float]]:
    """Intervals of how much more the first model brings than each other, where rows differ in it.

    Where they differ by their label only, what models bring and what they find is the same order.
    """
    unit, brought = evaluation.task.unit, evaluation.brought
    certainty = evaluation.task.certainty
    if unit is None or unit.column is None or brought is None or brought.ends is None:
        return {}
    if choice is None or certainty is None:
        return {}
    first, *others = choice.order
    level, ends = certainty.tested_level, brought.ends
    return {k: ends.difference(choice.quota, first, k, level) for k in others}


def _brings_more(
    evaluation: Evaluation, choice: Choice | None, gains: dict[int, tuple[float, float]]
) -> Iterator[str]:
    """How much more the first model brings than the second, and the interval of that."""
    if choice is None or choice.brings is None or not gains:
        return
    first, second = choice.order[:2]
    more = amount(float(choice.brings[first] - choice.brings[second]))
    low, high = map(amount, gains[second])
    yield f"It brings {more} more than {evaluation.task.scores[second]} ({low} to {high})."
