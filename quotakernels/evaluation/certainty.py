"""How sure the order of the models is, in plain sentences, and what to mind of intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from quotakernels._text import counted, fixed, formatted, number, percent
from quotakernels.evaluation.results import (
    Choice,
    Differences,
    GainResults,
    Results,
    no_best_cut,
    same,
)
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import Said, at_most_three, listed, sentence, signed
from quotakernels.inference._call import ENOUGH_GROUPS, INTERVALS, NEAR_ONE, enough_near_one
from quotakernels.results import Comparison

# the order of the models


_BESIDE_CHANCE = {
    "below": "Sure that it is better than a random choice",
    "above": "Sure that a random choice is better",
    "within": "Not sure that it is better than a random choice",
}
"""By where a random choice is beside the interval of the only model."""


def how_sure(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the first model is ahead by more than chance, by what made it the first."""
    if len(evaluation.models) == 1:
        return _of_one(evaluation, choice)
    if choice is not None and not choice.defined:
        return "Unknown", ("The models cannot be compared.",)
    gains = evaluation.gains
    if choice is None and gains is not None and evaluation.total and no_best_cut(gains):
        return "No model is the first", ("None brings more than selecting nobody.",)
    if gains is None and not evaluation.positive_total:
        return "Unknown", ("The test compares positives found, and no row is positive.",)
    test = evaluation.test_at(None if choice is None else choice.quota)
    if test is None:
        return "Unknown", ("The models were not tested; compare=True tests them.",)
    return _of_test(evaluation, choice, test)


def is_unsure(choice: Choice) -> bool:
    """Whether the models were tested, and the first may be that by chance."""
    test = choice.evaluation.test_at(choice.quota)
    if test is None or any(map(math.isnan, test.found.estimate)):
        return False
    sure = is_first(test.found, choice.name, choice.evaluation.level)
    return not sure or bool(too_few_groups(choice.evaluation))


def _of_one(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the only model differs from a random choice by more than chance."""
    resampling = evaluation.settings.resampling
    if choice is None:
        return "That depends on the quota", ("Give quota= to learn it.",)
    what = "its hit rate" if evaluation.gains is None else "what it brings"
    if resampling is None or not evaluation.has_intervals:
        said = f"confidence_level=0.95 shows how far off {what} may be."
        return "Unknown", (said,)
    if not choice.defined:
        return "Unknown", ("There is nothing to compare.",)
    (lower, upper), by_chance = _compared(choice)
    if math.isnan(lower):
        return "Unknown", (f"{sentence(what)} is undefined.",)
    if same(lower, upper):
        said = f"{what} is the same in all resamples, so they do not show how sure it is."
        return "Unknown", (sentence(said),)
    side = "below" if by_chance < lower else "above" if by_chance > upper else "within"
    if evaluation.gains is None:
        between = f"{percent(lower)} to {percent(upper)} ({resampling.percent} interval)"
        said = f"{what} is {between}; a random choice has {percent(by_chance)}."
    else:
        interval = f"the {resampling.percent} interval of {what}"
        said = f"what a random choice brings ({evaluation.amount(by_chance)}) is {side} {interval}."
    if side != "within" and (groups := too_few_groups(evaluation)):
        return f"Not sure: {groups} are too few for the interval", (sentence(said),)
    return _BESIDE_CHANCE[side], (sentence(said),)


def _compared(choice: Choice) -> tuple[tuple[float, float], float]:
    """The interval of what made a model the first, and what a random choice has of the same."""
    if choice.brings is not None:
        return choice.interval("brings"), choice.random_brings
    return choice.interval("hit_rate"), choice.random_found / choice.random_places


def _verdict(first: str, alike: list[str], less: list[str]) -> str:
    """Whether the first is sure to be that, some others being like it and the rest not."""
    if not alike:
        return f"sure that {first} is the best"
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


def _of_test(evaluation: Results, choice: Choice | None, test: Differences) -> Said:
    found = test.found
    if any(math.isnan(x) for x in found.estimate):
        return "Unknown", (f"{sentence(_COMPARED[test.measure])} is undefined.",)
    first = found.names[0] if choice is None else choice.name
    said = _found_more(evaluation, choice, test, first)
    sure = is_first(found, first, evaluation.level)
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
    if choice is not None and choice.beside_chance > 0 and evaluation.has_intervals:
        ends, by_chance = _compared(choice)
        doubt = ["It may be no better than a random choice."] if ends[0] <= by_chance else []
    better = [f"It is better than {at_most_three(others)}."] if others else []
    return verdict, (said, *better, *doubt)


def too_few_groups(evaluation: Results) -> str:
    """How many groups were resampled, if that makes p-values too small."""
    if evaluation.settings.per is None or evaluation.groups is None:
        return ""
    groups = len(evaluation.groups.names)
    return counted(groups, "group", "groups") if groups < ENOUGH_GROUPS else ""


def _found_more(evaluation: Results, choice: Choice | None, test: Differences, first: str) -> str:
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
            return signed(fixed(3)(x))
        budget = choice.quota.is_budget
        return signed(number((evaluation.positive_total if budget else choice.places) * x))

    if test.measure == "brings":
        more = "as much as" if form(by) == form(0.0) else f"{form(by)} more than"
        pair = (first, next_one) if choice else (f"The best cut of {first}", f"that of {next_one}")
        said = f"{pair[0]} brings {more} {pair[1]}"
    elif choice is None:
        said = f"{first} has an AUC that is {form(by)} above that of {next_one}"
    else:
        more = f"{form(by)} more than" if by > 0 else "as many as"
        more = f"{form(-by)} fewer than" if by < 0 else more
        at = f"in {choice.size}"
        at = f"for {number(choice.quota.amount)}" if choice.quota.is_budget else at
        said = f"{first} finds {more} {next_one} {at}"
    if math.isnan(lower):
        return f"{said}."
    if lower == upper:
        return f"{said}, the same in all resamples."
    p = f"p = {formatted(found.p_value[i, j], '.2g')}"
    return f"{said} ({evaluation.interval((lower, upper), form)}, {p})."


# notes


_CHOSEN_HERE = (
    "Best cuts: each resample has its own. What they bring on new data is the estimate minus the "
    "mean optimism over the resamples."
)
_PLAIN = "The percentiles of what models bring are not corrected."
_OF_TWO_RATES = (
    "What a quota brings: from score intervals of the hit rates of the selected and the other rows."
)
_TWO_OF_EACH = (
    "AUC, Gini, average hit rate and average precision have no intervals: their variances need two "
    "rows of each class."
)
_OF_GROUPS = (
    "What the quotas of groups find together, its tests and means over groups: resamples of whole "
    "groups. Only single groups have score and DeLong's intervals."
)
_NO_INTERVALS = (
    "No intervals of hull AUC and achievable AUC-PR: as maxima over cuts they are higher in "
    "resamples."
)
_NO_WIDTH = "If an interval has no width, all resamples agree; that does not mean certainty."
_NARROW = "Intervals {} are too narrow for {}: in simulations 95% intervals covered {}."
_FEW_GROUPS = _NARROW.format(
    "over groups",
    f"fewer than {ENOUGH_GROUPS} of them",
    "the true value in 75 to 84% with 4 groups, in 86 to 96% with 6 to 15",
)
_LATE = _NARROW.format(
    "of the hit rate", "a model that has found nearly all of few positives", "the true value in 88%"
)
_FEW_SCORES, _FEW_OF_A_CLASS = 20, 30
_CHOSEN_ELSEWHERE = "What the best cuts bring: the cuts as they are, on resamples of these rows."
_COMPARED = {
    "roc_auc": "AUC",
    "hit_rate": "the hit rate",
    "qrecall": "Qrecall",
    "brings": "what models bring",
    "uplift_at_quota": "uplift",
}


def compared_by(evaluation: Results, differences: Differences) -> str:
    """What a table of differences is of."""
    quota, what = differences.quota, _COMPARED[differences.measure]
    if differences.measure == "brings":
        what = what if quota is not None else "what the best cuts bring"
        what = evaluation.settings.in_currency(what)
    at = "" if quota is None else f" a{heading_of(evaluation, quota)[1:]}"
    return f"Differences of {what}{at}"


def heading_of(evaluation: Results, quota: Quota) -> str:
    """What a quota is, with the places that a share of all has."""
    per = evaluation.settings.per
    each = "" if per is None else f" of each {per}"
    if quota.is_budget:
        return f"At {quota.named}{each}"
    if not (quota.percent or each):
        return f"At quota {quota}"
    places = evaluation.places_at_random(quota)
    many = counted(places, "row", "rows")
    many = f"{number(places)} of the total weight" if evaluation.weighted else many
    return f"At quota {quota}{each} ({many})"


def pairs_of(differences: Differences) -> list[tuple[int, int]]:
    """All pairs, the better model first."""
    return list(combinations(range(len(differences.found.names)), 2))


def in_sentences(differences: Differences, rows: int) -> Iterator[str]:
    """Which models can be told apart, and which cannot."""
    found = differences.found
    if differences.too_few:
        yield "Too few resamples to tell any models apart."
        return
    for group in found.groups:
        if len(group) > 1:
            these = "this row" if rows == 1 else f"these {number(rows)} rows"
            yield f"{listed(group)} cannot be told apart by {these}."
    letters = [set(x) for x in found.letters]
    for k, name in enumerate(found.names):
        worse = [x for x, y in zip(found.names[k:], letters[k:], strict=True) if not y & letters[k]]
        if worse:
            yield f"{name} is better than {listed(worse)}."


def notes_of_intervals(evaluation: Results) -> Iterator[str]:
    """Say of which measures there are no intervals, and which of them say less than they seem to.

    Where all resamples are undefined, so is the interval that is shown.
    """
    resampling = evaluation.settings.resampling
    if resampling is None or not evaluation.has_intervals:
        return
    if evaluation.gains is not None:
        yield from _of_gains(evaluation, evaluation.gains)
    if evaluation.groups is not None and evaluation.settings.per is not None:
        yield _OF_GROUPS
        yield from notes_of_few_groups(evaluation)
    yield from _of_rows(evaluation)
    yield _NO_INTERVALS
    shown = [
        values.ends[measure.name]
        for part, _, values in evaluation.sections
        for measure in (values.measures if part != "gains" else ())
        if measure.heading and measure.name in values.ends
    ]
    yield from (_NARROW.format(*x) for x in _too_narrow(evaluation))
    yield from notes_of_hit_rates(evaluation)
    if any(np.any(ends.lower == ends.upper) for ends in shown):
        yield _NO_WIDTH
    for row, name in enumerate(evaluation.models):
        counts = (int(x.undefined[row]) for x in shown)
        if undefined := max((x for x in counts if x < resampling.resamples), default=0):
            yield f"Intervals of {name} leave out up to {undefined} resamples that are undefined."


def notes_of_few_groups(evaluation: Results) -> Iterator[str]:
    """Say that few groups tell little of others."""
    if too_few_groups(evaluation) and evaluation.has_intervals:
        yield _FEW_GROUPS


def notes_of_hit_rates(evaluation: Results) -> Iterator[str]:
    """Say where score intervals of the hit rate cover less often than they say."""
    if not evaluation.has_intervals or evaluation.weighted:
        return
    positives, areas = evaluation.positives, evaluation.over_all
    area = areas.ends["roc_auc"].upper if areas.bounded else areas.of("roc_auc")
    late = any(
        evaluation.places_at_random(q) > positives for q in evaluation.settings.quotas_over_all
    )
    if late and positives < _FEW_OF_A_CLASS and np.any(area > NEAR_ONE):
        yield _LATE


def _of_gains(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """What the intervals of best cuts and of quotas are, and where the expected is too low."""
    settings = evaluation.settings
    yield _CHOSEN_HERE if not settings.tune else _CHOSEN_ELSEWHERE
    yield _PLAIN
    impacts = settings.unit is not None and settings.unit.impacts is not None
    if impacts and settings.quotas and settings.weight is None and settings.cost is None:
        yield _OF_TWO_RATES
    named = zip(evaluation.models, evaluation.rankings, strict=True)
    coarse = [name for name, x in named if np.count_nonzero(x.counts) < _FEW_SCORES]
    if coarse and "expected" in gains.at_best_cut.ends:
        yield (
            f"Scores with few values ({', '.join(coarse)}): choosing a cut adds little optimism, "
            "so what is expected on new data is too low."
        )


def _of_rows(evaluation: Results) -> Iterator[str]:
    """How much rows with weights tell; of which measures too few rows tell nothing."""
    if evaluation.weighted:
        rows, effective = counted(evaluation.rows, "row", "rows"), number(evaluation.effective_rows)
        tell = "tells" if evaluation.rows == 1 else "tell"
        yield f"With their weights, {rows} {tell} as much as {effective} of equal weight (Kish)."
    elif min(evaluation.positives, evaluation.rows - evaluation.positives) == 1:
        yield _TWO_OF_EACH


def _too_narrow(evaluation: Results) -> Iterator[tuple[str, str, str]]:
    """Which intervals cover less often than they say, of what, and how often."""
    weighted, quotas = evaluation.weighted, evaluation.at_quota.items()
    fewer: float = min(evaluation.positives, evaluation.rows - evaluation.positives)
    fewer *= evaluation.effective_rows / evaluation.rows if weighted else 1.0
    if fewer < _FEW_OF_A_CLASS:
        averages = "average hit rate, average precision and AUC-PR"
        some = f"of {'hit rates, ' if weighted else ''}{averages}"
        yield some, "few rows of a class", "the true value in 89 to 91%"
    if fewer < INTERVALS.examples:
        rows = f"fewer than {INTERVALS.examples} rows of a class"
        yield "from resamples", rows, "AUC in 17 to 84%"
    named = zip(evaluation.models, evaluation.over_all.of("roc_auc"), strict=True)
    if near := [name for name, area in named if fewer < enough_near_one(area)]:
        some = "average Qrecall, AUC-PR, and lift and Qrecall at quotas"
        high = f"the AUC of {listed(near)}, which is near 1"
        yield f"of {'all measures' if weighted else some}", high, "the true value in 79 to 91%"
    rates = [x.of("hit_rate") for quota, x in quotas if not quota.is_budget]
    drawn = weighted or evaluation.settings.per is not None
    if drawn and any(np.any(x > NEAR_ONE) for x in rates):
        yield "from resamples", "hit rates near 1", "the true value in 9 to 11%"
