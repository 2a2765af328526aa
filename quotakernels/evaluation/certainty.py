"""How sure the order of the models is, in plain sentences, and what to mind of intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from quotakernels._text import counted, fixed, formatted, number, percent
from quotakernels.evaluation.intervals import with_closed_forms
from quotakernels.evaluation.results import (
    EXPECTED,
    Choice,
    Differences,
    GainResults,
    Results,
    no_best_cut,
    nothing_matters,
    same,
)
from quotakernels.evaluation.settings import MANY_ROWS, Quota, Resampling
from quotakernels.evaluation.words import Said, at_most_three, listed, say, sentence, signed
from quotakernels.inference._call import (
    ENOUGH_CLUSTERS,
    ENOUGH_SCORES,
    INTERVALS,
    NEAR_ONE,
    PRECISION,
    enough_near_one,
)
from quotakernels.inference.comparing import groups_needed
from quotakernels.inference.planning import examples_to_tell
from quotakernels.results import Comparison

# the order of the models


USUAL_LEVEL = 0.95
"""The level of intervals and doubts where none was given."""
_DATE = re.compile(r"\d{4}-\d\d(-\d\d\b.*)?|\d\d?\.\d\d?\.\d{4}")
_ONE_ERROR = 2 * NormalDist().cdf(-1.0)
"""The p-value of a difference as large as its standard error: smaller differences are too uncertain
to plan with.
"""


def how_sure(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the first model is ahead by more than chance, by what made it the first."""
    if len(evaluation.models) == 1:
        return _of_one(evaluation, choice)
    if choice is not None and not choice.defined:
        return _unknown("sure.not_comparable")
    gains = evaluation.gains
    if choice is None and gains is not None and evaluation.total and no_best_cut(gains):
        return say("sure.nobody_is_best"), (say("sure.none_brings_more"),)
    if gains is None and not evaluation.positive_total:
        return _unknown("sure.no_positive")
    test = evaluation.test_at(None if choice is None else choice.quota)
    if test is None:
        return _unknown("sure.untested")
    return _of_test(evaluation, choice, test)


def _unknown(why: str, **parts: str) -> Said:
    return say("sure.unknown"), (say(why, **parts),)


def is_unsure(evaluation: Results, quota: Quota | None, first: str) -> bool:
    """Whether the models were tested at a quota, or without one, and the first may be that by
    chance.
    """
    test = evaluation.test_at(quota)
    if test is None or any(map(math.isnan, test.found.estimate)):
        return False
    rivals = rivals_of(test.found, first, evaluation.level)
    return bool(rivals or _few_earn_half(evaluation, test, first))


_BESIDE_CHANCE = {
    "sure.chance_below": "sure.better",
    "sure.chance_above": "sure.random_is_better",
    "sure.chance_within": "sure.perhaps_chance",
}
"""By where a random choice is beside the interval of the only model."""


def _of_one(evaluation: Results, choice: Choice | None) -> Said:
    """Whether the only model differs from a random choice by more than chance."""
    resampling = evaluation.settings.resampling
    if choice is None:
        return say("sure.without_quota"), (say("sure.give_quota"),)
    by_rate = evaluation.gains is None
    what = say("sure.hit_rate" if by_rate else "sure.brings")
    if resampling is None or not evaluation.has_intervals:
        return _unknown("sure.untested_interval", what=what)
    if not choice.defined:
        return _unknown("sure.nothing_to_compare")
    (lower, upper), by_chance = _compared(choice)
    if math.isnan(lower):
        return _unknown("sure.no_interval", what=what)
    if same(lower, upper):
        return _unknown("sure.no_width", What=sentence(what))
    side = "sure.chance_above" if by_chance > upper else "sure.chance_within"
    side = "sure.chance_below" if by_chance < lower else side
    form = percent if by_rate else evaluation.amount
    ends = {"lower": form(lower), "upper": form(upper), "chance": form(by_chance)}
    names = {"what": what, "What": sentence(what), "level": resampling.percent}
    said = say("sure.rate_and_chance" if by_rate else side, **ends, **names)
    return say(_BESIDE_CHANCE[side]), (said,)


def _compared(choice: Choice) -> tuple[tuple[float, float], float]:
    """The interval of what made a model the first, and what a random choice has of the same."""
    if choice.brings is not None:
        return choice.interval("brings"), choice.random_brings
    return choice.interval("hit_rate"), choice.random_found / choice.random_places


def no_better_than_chance(choice: Choice) -> str:
    """The name of what is said of models that are no better than a random choice on these rows:
    that it is better if it surely is, as good if nothing is chosen, and else that it may be.
    """
    evaluation, gains = choice.evaluation, choice.evaluation.gains
    nothing_chosen = same(choice.places, evaluation.total) or same(evaluation.prevalence, 1)
    nothing_chosen |= all(np.count_nonzero(x.counts) == 1 for x in evaluation.worst)
    if nothing_chosen or (gains is not None and gains.cuts and nothing_matters(gains)):
        return "which.random_is_as_good"
    if _all_below_chance(choice):
        return "which.random_is_better"
    several = len(evaluation.models) > 1
    return "which.perhaps_chance" if several else "which.perhaps_chance_of_one"


def _all_below_chance(choice: Choice) -> bool:
    """Whether the intervals of all models lie below a random choice; where none were asked for,
    those of formulas.
    """
    evaluation, settings = choice.evaluation, choice.evaluation.settings
    measure, chance = "hit_rate", choice.random_found / choice.random_places
    if choice.quota.is_budget:  # whose models fill different numbers of places
        measure, chance = "qrecall", choice.random_found / evaluation.positive_total
    if choice.brings is not None:
        measure, chance = "brings", choice.random_brings
    if not evaluation.has_intervals and settings.one_by_one:
        asked = replace(settings, resampling=Resampling.asked(USUAL_LEVEL))
        choice = replace(choice, evaluation=with_closed_forms(replace(evaluation, settings=asked)))
    ends = choice.values(measure).ends.get(measure)
    below = ends is not None and bool(np.all((ends.upper < chance) & (ends.lower < ends.upper)))
    return below and not too_few_groups(evaluation)


def _verdict(
    choice: Choice | None, test: Differences, first: str, alike: list[str], less: list[str]
) -> str:
    """Whether the first is sure to be that, some others being like it and the rest not."""
    said = say("sure.best", model=first)
    if alike:
        some = say("sure.some_alike", models=at_most_three(alike, "or"))
        budget = choice is not None and choice.quota.is_budget
        at = "" if choice is None else say("sure.at_budget" if budget else "sure.at_quota")
        said = some if less else say("sure.all_alike", at=at)
    return say("sure.by_auc", verdict=said) if test.measure == "roc_auc" else sentence(said)


def rivals_of(found: Comparison, first: str, level: float) -> list[str]:
    """The models that may be as good as the first, which is sure to be the best without any."""
    i = found.names.index(first)
    behind = (found.difference[i] > 0) & (found.p_as_best[i] <= round(1 - level, 12))
    return [x for k, x in enumerate(found.names) if k != i and not behind[k]]


def _of_test(evaluation: Results, choice: Choice | None, test: Differences) -> Said:
    found = test.found
    if any(math.isnan(x) for x in found.estimate):
        return _unknown("sure.undefined", What=sentence(say(_COMPARED[test.measure])))
    first = found.names[0] if choice is None else choice.name
    said, *needed = _found_more(evaluation, choice, test, first)
    rivals = rivals_of(found, first, evaluation.level)
    at_least = [test.is_least(found.names.index(first), found.names.index(x)) for x in rivals]
    if test.too_few and rivals and all(at_least):
        return say("sure.few_resamples"), (said, *(f"{sentence(x)}." for x in test.notes))
    if groups := too_few_groups(evaluation):
        return say("sure.few_for_test", groups=groups), (said,)
    rows = _few_earn_half(evaluation, test, first)
    known = bool(rivals and not rows)
    others = [x for x in found.names if x not in (first, *rivals)] if known else []
    doubt = []
    if choice is not None and choice.beside_chance > 0 and evaluation.has_intervals:
        ends, by_chance = _compared(choice)
        doubt = [say("sure.doubt")] if ends[0] <= by_chance else []
    if rows and not rivals:
        return say("sure.few_earn_half", rows=rows), (said, *doubt)
    better = [say("sure.better_than", models=at_most_three(others))] if others else []
    return _verdict(choice, test, first, rivals, others), (said, *better, *doubt, *needed)


def _few_earn_half(evaluation: Results, test: Differences, first: str) -> str:
    """How many rows earn half of what the first model brings, if these are too few for a test."""
    if evaluation.gains is None or test.measure != "brings":
        return ""
    few = evaluation.gains.few_rows(test.quota, "brings")[evaluation.models.index(first)]
    return counted(int(few), "row", "rows") if few else ""


def too_few_groups(evaluation: Results) -> str:
    """How many groups were drawn whole, if no exchange of so few can be sure."""
    if not evaluation.settings.draws_groups or evaluation.groups is None:
        return ""
    groups = len(evaluation.groups.names)
    few = groups < groups_needed(evaluation.level)
    return counted(groups, "group", "groups") if few else ""


def _found_more(
    evaluation: Results, choice: Choice | None, test: Differences, first: str
) -> Iterator[str]:
    """How much more the first model finds or brings than that which is the hardest to tell from it,
    or less, with the interval and p, which so takes no correction; and what would tell them apart.
    """
    found = test.found
    i = found.names.index(first)
    j = int(np.argmax(np.where(np.arange(len(found.names)) == i, -1.0, found.p_value[i])))
    by, lower, upper = (float(x[i, j]) for x in (found.difference, found.lower, found.upper))
    by = 0.0 if same(float(found.estimate[i]), float(found.estimate[j])) else by
    form = _form(evaluation, choice, test)
    more, at = _ahead(choice, test, by, alike=form(by) == form(0.0)), ""
    if choice is not None:
        budget, places = number(choice.quota.amount), choice.size
        for_budget = choice.quota.is_budget
        at = say(
            "sure.for_budget" if for_budget else "sure.in_places", budget=budget, places=places
        )
    pair = {"first": first, "next": found.names[j], "at": at}
    ahead = say(more, more=form(by), fewer=form(-by), **pair)
    if math.isnan(lower):
        yield say("sure.ahead", ahead=ahead)
        return
    if lower == upper:
        yield say("sure.ahead_always", ahead=ahead)
        return
    interval = evaluation.interval((lower, upper), form)
    p = float(found.p_value[i, j])
    said = f"= {formatted(p, '.2g')}"
    said = f"< {formatted(limit_of(p), 'g')}" if test.is_least(i, j) else said
    yield say("sure.ahead_surely", ahead=ahead, interval=interval, p=said)
    needed = examples_to_tell(p, evaluation.rows, evaluation.level)
    if round(1 - evaluation.level, 12) < p <= _ONE_ERROR and not math.isnan(needed):
        yield say("sure.needed", rows=number(float(formatted(needed, ".1e"))))


def _form(evaluation: Results, choice: Choice | None, test: Differences) -> Callable[[float], str]:
    """How a difference is written: as an amount, in AUC, or in positives."""
    if test.measure == "brings":
        return evaluation.amount
    if choice is None:
        return lambda x: signed(fixed(3)(x))
    share_of = evaluation.positive_total if choice.quota.is_budget else choice.places
    return lambda x: signed(number(share_of * x))


def _ahead(choice: Choice | None, test: Differences, by: float, alike: bool) -> str:
    """The name of the sentence that tells by how much the first model is ahead."""
    if test.measure == "brings":
        if choice is None:
            return "sure.cut_brings_as_much" if alike else "sure.cut_brings_more"
        return "sure.brings_as_much" if alike else "sure.brings_more"
    if choice is None:
        return "sure.has_auc"
    return "sure.finds_more" if by > 0 else "sure.finds_fewer" if by < 0 else "sure.finds_as_many"


def limit_of(p: float) -> float:
    """A p-value of four decimals, rounded up."""
    return math.ceil(1e4 * p) / 1e4


# notes


_COMPARED = {
    "roc_auc": "tests.of_roc_auc",
    "hit_rate": "tests.of_hit_rate",
    "qrecall": "tests.of_qrecall",
    "brings": "tests.of_brings",
    "uplift_at_quota": "tests.of_uplift_at_quota",
}


def compared_by(evaluation: Results, differences: Differences) -> str:
    """What a table of differences is of."""
    quota, what = differences.quota, say(_COMPARED[differences.measure])
    if differences.measure == "brings":
        what = what if quota is not None else say("tests.of_best_cuts")
        what = evaluation.settings.in_currency(what)
    at = "" if quota is None else f" {at_quota(evaluation, quota)}"
    return say("tests.differences", what=what) + at


def at_quota(evaluation: Results, quota: Quota) -> str:
    """What a quota is, with the places that a share of all has."""
    per = evaluation.settings.per
    each = "" if per is None else say("quota.of_each", group=per)
    if quota.is_budget:
        return say("quota.at_budget", quota=quota.named, each=each)
    if not (quota.percent or each):
        return say("quota.at_quota", quota=quota)
    places = evaluation.places_at_random(quota)
    many = counted(places, "row", "rows")
    many = say("quota.weight", places=number(places)) if evaluation.weighted else many
    return say("quota.at_places", quota=quota, each=each, places=many)


def heading_of(evaluation: Results, quota: Quota | None) -> str:
    """What the heading of a table of a quota is, or of one over all quotas."""
    return sentence(say("quota.over_all") if quota is None else at_quota(evaluation, quota))


def in_sentences(evaluation: Results, differences: Differences) -> Iterator[str]:
    """Which models may be as good as the first, and which are not."""
    found = differences.found
    first, *others = found.names
    rivals = rivals_of(found, first, evaluation.level)
    if differences.too_few and rivals:
        yield say("tests.few_resamples")
        return
    if rivals:
        yield say("tests.alike", model=first, others=listed(rivals))
    behind = [x for x in others if x not in rivals]
    if behind and (rows := _few_earn_half(evaluation, differences, first)):
        yield say("tests.few_earn_half", rows=rows, model=first, others=listed(behind))
    elif behind:
        yield say("tests.better", model=first, others=listed(behind))


def notes_of_intervals(evaluation: Results) -> Iterator[str]:
    """Say of which measures there are no intervals, and which of them say less than they seem to.

    Where all resamples are undefined, so is the interval that is shown.
    """
    resampling = evaluation.settings.resampling
    if resampling is None or not evaluation.has_intervals:
        return
    if evaluation.gains is not None:
        yield from _of_gains(evaluation, evaluation.gains)
    if evaluation.groups is not None and evaluation.settings.draws_groups:
        yield say("notes.of_groups")
        yield from notes_of_few_groups(evaluation)
    yield from _of_rows(evaluation)
    yield say("notes.no_intervals")
    shown = [
        values.ends[measure.name]
        for part, _, values in evaluation.sections
        for measure in (values.measures if part != "gains" else ())
        if measure.heading and measure.name in values.ends
    ]
    yield from _too_narrow(evaluation)
    yield from notes_of_quotas(evaluation)
    yield from [*notes_of_drift(evaluation)] or [say("notes.same_population")]
    if any(np.any(np.isnan(x.lower) & (x.undefined < resampling.resamples)) for x in shown):
        yield say("notes.no_width")
    if evaluation.rows > MANY_ROWS and resampling.resamples:
        yield say("notes.rounded", rows=MANY_ROWS)
    for row, name in enumerate(evaluation.models):
        counts = (int(x.undefined[row]) for x in shown)
        if undefined := max((x for x in counts if x < resampling.resamples), default=0):
            yield say("notes.undefined", model=name, resamples=undefined)


def notes_of_clusters(evaluation: Results) -> Iterator[str]:
    """Say that few clusters tell little of others, or that there seem to be some."""
    if 0 < evaluation.clusters < ENOUGH_CLUSTERS:
        clusters = counted(evaluation.clusters, "cluster", "clusters")
        yield say("notes.few_clusters", clusters=clusters, enough=ENOUGH_CLUSTERS)
    if evaluation.repeated_ids:
        yield say("notes.repeated_ids", column=evaluation.repeated_ids)


def notes_of_few_groups(evaluation: Results) -> Iterator[str]:
    """Say that few groups tell little of others."""
    if evaluation.has_intervals and (groups := too_few_groups(evaluation)):
        yield say("notes.few_groups", groups=groups)


def notes_of_drift(evaluation: Results) -> Iterator[str]:
    """Say that drift is not seen, where rows were chosen or grouped by date."""
    settings, groups = evaluation.settings, evaluation.groups
    found = [(x.column, x.value) for x in (*settings.where, *settings.tune)]
    if groups is not None:
        found += [(str(settings.grouped_by), str(x)) for x in groups.names[:1]]
    dated = [column for column, value in found if _DATE.fullmatch(value)]
    if dated and settings.resampling is not None:
        yield say("notes.drift", column=dated[0])


def notes_of_quotas(evaluation: Results) -> Iterator[str]:
    """Say which intervals at quotas cover less often than they say."""
    settings = evaluation.settings
    if not evaluation.has_intervals:
        return
    yield from _of_few_rows(evaluation, settings.quotas or (None,))
    quotas = evaluation.at_quota.items()
    rates = [x.of("hit_rate") for quota, x in quotas if not quota.is_budget]
    drawn = settings.cluster is not None or settings.per is not None
    if drawn and any(np.any(x > NEAR_ONE) for x in rates):
        yield say("notes.rates_near_one")
    if (paid := settings.cost is not None) and quotas:
        yield say("notes.at_budget")
    if settings.treatment and (paid or not settings.one_by_one):
        yield say("notes.uplift_drawn")


def _of_few_rows(evaluation: Results, quotas: Sequence[Quota | None]) -> Iterator[str]:
    """How many rows earn half of what quotas or, under None, best cuts bring, if too few do."""
    gains, tuned = evaluation.gains, bool(evaluation.settings.tune)
    if gains is None:
        return
    for quota in quotas:
        few = gains.few_rows(quota, "brings" if quota or tuned else EXPECTED.name).tolist()
        named = zip(evaluation.models, few, strict=True)
        if rows := [f"{counted(x, 'row', 'rows')} by {name}" for name, x in named if x]:
            where = say("notes.best_cuts") if quota is None else quota.named
            yield say("notes.few_carry", rows=listed(rows), where=where)


def _of_gains(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """What the intervals of best cuts and of quotas are, and where the expected is too low."""
    settings = evaluation.settings
    yield say("notes.chosen_elsewhere" if settings.tune else "notes.chosen_here")
    impacts = settings.unit is not None and settings.unit.impacts is not None
    if impacts and settings.quotas and settings.one_by_one and settings.cost is None:
        yield say("notes.of_two_rates")
    yield say("notes.of_a_sum" if settings.cost is None else "notes.uncorrected")
    yield from _of_few_rows(evaluation, (None,) if settings.quotas else ())
    named = zip(evaluation.models, evaluation.rankings, strict=True)
    coarse = [name for name, x in named if np.count_nonzero(x.counts) < ENOUGH_SCORES]
    if coarse and "expected" in gains.at_best_cut.ends:
        yield say("notes.coarse", models=", ".join(coarse))


def _of_rows(evaluation: Results) -> Iterator[str]:
    """How much rows with weights tell; of which measures too few rows tell nothing."""
    if evaluation.weighted:
        rows, effective = counted(evaluation.rows, "row", "rows"), number(evaluation.effective_rows)
        kish = "notes.kish_of_a_row" if evaluation.rows == 1 else "notes.kish"
        yield say(kish, rows=rows, effective=effective)
    elif evaluation.settings.one_by_one and evaluation.positives in (1, evaluation.rows - 1):
        yield say("notes.one_positive" if evaluation.positives == 1 else "notes.one_negative")


def _too_narrow(evaluation: Results) -> Iterator[str]:
    """Which intervals cover less often than they say, of what, and how often."""
    drawn = evaluation.settings.cluster is not None
    fewer: float = min(evaluation.positives, evaluation.rows - evaluation.positives)
    fewer *= evaluation.effective_rows / evaluation.rows if evaluation.weighted else 1.0
    if fewer < PRECISION.examples:
        alone = fewer <= 1 and not evaluation.weighted  # then the others have no intervals
        few = "notes.one_of_a_class" if alone else "notes.few_of_a_class"
        yield say("notes.few_of_a_class_drawn" if drawn else few)
    if fewer < INTERVALS.examples:
        yield say("notes.few_resampled", enough=INTERVALS.examples)
    named = zip(evaluation.models, evaluation.over_all.of("roc_auc"), strict=True)
    if near := [name for name, area in named if fewer < enough_near_one(area)]:
        of_weights = "notes.near_one_weighted" if evaluation.weighted else "notes.near_one"
        yield say("notes.near_one_drawn" if drawn else of_weights, models=listed(near))
