"""The four questions that a page answers first, each in a few plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quotakernels._text import counted, formatted, number, percent, plain
from quotakernels.evaluation.choice import (
    Choice,
    first_choice,
    no_best_cut,
    nothing_matters,
    places_for,
)
from quotakernels.evaluation.found import OTHERS, what_is_brought, what_is_found
from quotakernels.evaluation.gain_answers import (
    at_best_cuts,
    how_many_by_gain,
    no_row_is_a_loss,
    what_it_brings,
)
from quotakernels.evaluation.order import how_sure, is_unsure
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.segments import best_by_model
from quotakernels.evaluation.uplift_answers import what_is_added
from quotakernels.evaluation.words import Said, listed, sentence, whole

_CLEARLY = 4
"""Standard deviations below chance, which a useless score is not by chance."""


class Advice(str):
    """A sentence that tells who asks for an evaluation what else to ask for."""


@dataclass(frozen=True)
class Answer:
    """A question, the answer in a few words, and what these words mean.

    Attributes
    ----------
    question, verdict : str
        Such as "Which model should fill my quota?" and the name of a model.
    sentences : tuple of str
        What the verdict means, and what else to ask for.
    """

    question: str
    verdict: str
    sentences: tuple[str, ...]

    @property
    def found(self) -> tuple[str, ...]:
        """The sentences without advice, for readers who cannot ask."""
        return tuple(x for x in self.sentences if not isinstance(x, Advice))


def answers(evaluation: Results) -> list[Answer]:
    """Answer the four questions, for the first quota if there is one; a fifth of a treatment."""
    choice = first_choice(evaluation)
    added: list[Answer] = []
    if choice is not None and evaluation.settings.treatment is not None:
        added = [Answer("What does the treatment add?", *what_is_added(evaluation, choice))]
    order = "the order of the models" if len(evaluation.models) > 1 else "it"
    return [
        which_model(evaluation),
        Answer("How many should I take?", *_how_many(evaluation, choice)),
        what_will_it_bring(evaluation),
        Answer(f"How sure is {order}?", *how_sure(evaluation, choice)),
        *added,
    ]


def which_model(evaluation: Results) -> Answer:
    """Answer the first of them."""
    does = "fill my quota" if evaluation.settings.cost is None else "spend my budget"
    return Answer(f"Which model should {does}?", *_which(evaluation, first_choice(evaluation)))


def what_will_it_bring(evaluation: Results) -> Answer:
    """Answer the third."""
    return Answer("What will it bring?", *_what(evaluation, first_choice(evaluation)))


def _unsaid(evaluation: Results, what: str) -> Advice:
    settings = evaluation.settings
    who = "the command" if settings.command else "evaluate"
    options = f"{settings.option('gain')} or {settings.option('impact')}"
    return Advice(f"With {options} {who} also says {what}.")


def _nothing(evaluation: Results, choice: Choice | None) -> str:
    """Why models cannot be compared, or nothing."""
    if not evaluation.total:
        return "There are no rows." if not evaluation.rows else "No row has any weight."
    if choice is not None and not choice.filled.any():
        what = f"quota of {choice.quota}{'' if choice.quota.percent else ' places'}"
        if choice.quota.is_budget:
            what = f"budget of {number(choice.quota.amount)}"
        return f"A {what} selects nobody."
    if not evaluation.positive_total:
        what = evaluation.settings.positive
        if evaluation.rows == 1:
            return f"The only row is not positive ({what})."
        return f"None of the {number(evaluation.rows)} rows is positive ({what})."
    return ""


# which model


def _which(evaluation: Results, choice: Choice | None) -> Said:
    if (nothing := _nothing(evaluation, choice)) and (choice is None or not choice.defined):
        return "That cannot be said", (f"{nothing} So no model finds more than another.",)
    if choice is None:
        return _without_quota(evaluation)
    names = evaluation.models
    winners = [names[k] for k in choice.best]
    if not choice.beats_chance:
        does = "does better" if choice.below_chance else "does as well"
        verdict = f"None: a random choice {does}"
    elif len(names) == 1:
        verdict = f"{names[0]}, the only model"
    else:
        doubt = ", but not for sure" if is_unsure(evaluation, choice) else ""
        verdict = f"{listed(winners, 'or')}{doubt}"
    said = (*what_is_found(evaluation, choice), *what_is_brought(evaluation, choice))
    return verdict, (*said, *_part_of_a_place(evaluation, choice), *_odd_scores(evaluation))


def _odd_scores(evaluation: Results) -> Iterator[str]:
    """Which scores look like a mistake: those that are all the same, or the wrong way round."""
    if evaluation.rows > 1 and evaluation.positive_total == evaluation.total:
        yield "All rows are positive."
        return
    areas = evaluation.over_all.of("roc_auc")
    # a stream has no rankings
    for name, ranking, area in zip(evaluation.models, evaluation.rankings, areas, strict=False):
        if evaluation.rows > 1 and np.count_nonzero(ranking.counts) == 1:
            yield f"{name} gives all rows the same score."
        elif area < 0.5 - _CLEARLY * _deviation_by_chance(evaluation):
            has, turned = (formatted(x, ".3f") for x in (area, 1 - area))
            yield (
                f"The low scores of {name} are the positive ones: it has an AUC of {has}, and of "
                f"{turned} with the sign of its scores changed."
            )


def _deviation_by_chance(evaluation: Results) -> float:
    """The standard deviation of AUC if scores tell nothing of the labels (Mann and Whitney)."""
    pairs = evaluation.positives * (evaluation.rows - evaluation.positives)
    return math.sqrt((evaluation.rows + 1) / (12 * pairs)) if pairs else math.inf


def _part_of_a_place(evaluation: Results, choice: Choice) -> Iterator[str]:
    """What a quota means that is of each group, or no whole number of rows."""
    if evaluation.settings.per is not None:
        short = 0 if evaluation.groups is None else evaluation.groups.short(choice.quota)
        have = "group has" if short == 1 else "groups have"
        fewer = f", as {number(short)} {have} fewer rows" if short else ""
        fewer = fewer if not choice.quota.is_budget else ""
        yield f"This is {evaluation.size(choice.places)} in all{fewer}."
    elif choice.quota.whole:
        asked = float(choice.quota.of_each(np.asarray(evaluation.rows)))
        if not whole(asked):
            rows = counted(evaluation.rows, "row", "rows")
            of_all = f"{choice.quota} of {rows} is {number(asked)}"
            yield f"{of_all}, rounded down to {counted(choice.places, 'place', 'places')}."


def _without_quota(evaluation: Results) -> Said:
    """Which model brings the most, or else finds the most over all quotas."""
    quota = evaluation.settings.option("quota")
    names = evaluation.models
    gains = evaluation.gains
    if gains is not None and (len(names) > 1 or no_best_cut(gains)):
        return at_best_cuts(evaluation, gains)
    if len(names) == 1:
        return f"{names[0]}, the only model", (f"No {quota} was given to judge it by.",)
    shares = best_by_model(evaluation.best, len(names))
    if not any(shares):
        return "That cannot be said", ("All rows are positive, so every model finds the same.",)
    order = sorted(range(len(names)), key=lambda k: -shares[k])
    first, *others = [f"{names[k]} at {percent(shares[k])}" for k in order if shares[k]]
    # models that find as many share quotas, so that the others need not have the rest
    others = others[: OTHERS - 1] + (["others at no more"] if len(others) >= OTHERS else [])
    verdict = names[order[0]] if shares[order[0]] == 1 else f"Mostly {names[order[0]]}"
    where = f"The most is found by {listed([f'{first} of all quotas', *others])}."
    return verdict, (where, f"Give {quota} to learn it for the places that you have.")


# how many


def _how_many(evaluation: Results, choice: Choice | None) -> Said:
    if evaluation.gains is not None and evaluation.total:
        verdict, said = how_many_by_gain(evaluation, choice)
        return verdict, (*said, *_flattered(evaluation, evaluation.gains))
    if nothing := _nothing(evaluation, None):
        return "That cannot be said", (nothing,)
    model = _model_in_question(evaluation, choice)
    name, settings = evaluation.models[model], evaluation.settings
    head = f"With {name}, to find {_needed(evaluation, model)}."
    if choice is not None and choice.places:
        share = percent(choice.found[model] / evaluation.positive_total)
        size = evaluation.size(choice.places)
        find = f"{sentence(str(size))} find{'s' if size.is_one else ''}"
        whom = settings.positives
        more = "" if settings.per else f"; to find {_needed(evaluation, model, bare=True)}"
        head = f"{find} {share} of all {whom} with {name}{more}."
    if choice is not None and choice.quota.is_budget:
        return f"{number(choice.places)}, which the budget pays for", (head,)
    if settings.per is not None:
        return "That depends on what a place costs", (head,)
    unsaid = _unsaid(evaluation, "which number pays")
    return "That depends on what a place costs", (head, unsaid)


def _needed(evaluation: Results, model: int, bare: bool = False) -> str:
    """How many places it takes to find half and most of the positives."""
    rounded = math.ceil if not evaluation.weighted else float
    ranking = evaluation.rankings[model]
    needed = [
        f"{plain(100 * share)}% takes {number(rounded(places_for(ranking, share)))}"
        for share in (0.5, 0.9)
    ]
    of_what = " of the weight" if evaluation.weighted else " places"
    return f"{listed(needed)}{'' if bare else of_what}"


def _flattered(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """That a cut was chosen on the rows that judge it, where nothing else tells what that does."""
    settings, quota = evaluation.settings, gains.at_best_cut.of("quota")[gains.best_model]
    chosen_here = not settings.tune and not evaluation.has_intervals
    chosen_here = chosen_here and not no_row_is_a_loss(evaluation, gains)
    if chosen_here and 0 < quota < evaluation.total and not nothing_matters(gains):
        yield (
            "Best cuts were chosen on the rows that judge them, so they will probably bring less "
            f"on others; {settings.option('tune')} chooses them on separate rows."
        )


def _model_in_question(evaluation: Results, choice: Choice | None) -> int:
    if choice is not None and choice.defined:
        return choice.order[0]
    shares = best_by_model(evaluation.best, len(evaluation.models))
    return max(range(len(shares)), key=lambda k: shares[k])


# what it brings


def _what(evaluation: Results, choice: Choice | None) -> Said:
    if evaluation.gains is not None and evaluation.total:
        return what_it_brings(evaluation, choice)
    if nothing := _nothing(evaluation, choice):
        return "Nothing that can be counted", (nothing,)
    if choice is None:
        return "That depends on the quota", (_unsaid(evaluation, "what a selection is worth"),)
    found, random = float(choice.found[choice.order[0]]), choice.random_found
    settings = evaluation.settings
    weighted = evaluation.weighted
    several = settings.positives
    verdict = counted(found, "positive", several)
    verdict = f"{sentence(several)} of weight {number(found)}" if weighted else verdict
    verdict += f", at random {number(random)}"
    if choice.quota.is_budget:
        return verdict, (_more_for_money(evaluation, choice),)
    per, size = evaluation.settings.per, str(evaluation.size(choice.places))
    size += "" if per is None else f", {choice.quota} of each {per},"
    more = (
        f"That is {number(found - random)} more than a random choice of {size} "
        f"would find: {formatted(found / random, '.3g')} times as {'much' if weighted else 'many'}."
        if choice.beats_chance
        else f"That is no more than a random choice of {size} would find."
    )
    if per is not None:
        return verdict, (more,)
    return verdict, (more, _unsaid(evaluation, "what that is worth"))


def _more_for_money(evaluation: Results, choice: Choice) -> str:
    """How many more the budget finds than a random choice that spends as much."""
    found, random = float(choice.found[choice.order[0]]), choice.random_found
    if not choice.beats_chance:
        return "That is no more than a random choice for the same money would find."
    many = "much" if evaluation.weighted else "many"
    times = f": {formatted(found / random, '.3g')} times as {many}" if random else ""
    more = f"That is {number(found - random)} more than a random choice for the same money"
    return f"{more} would find{times}."
