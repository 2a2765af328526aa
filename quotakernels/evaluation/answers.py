"""The questions that a page answers first, each in a few plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from quotakernels._text import counted, fixed, formatted, number, percent, plain
from quotakernels.evaluation.certainty import how_sure, is_first, is_unsure, too_few_groups
from quotakernels.evaluation.results import (
    Choice,
    Fewer,
    GainResults,
    Results,
    best_by_model,
    first_choice,
    no_best_cut,
    nothing_matters,
    places_for,
    same,
)
from quotakernels.evaluation.words import (
    Said,
    at_most_three,
    in_words,
    listed,
    sentence,
    signed,
    whole,
)

# what the models find or bring


NAMED = 3
"""How many models behind the first are named."""
_GIVE_QUOTA = "Give quota= to learn it for your number of places."


def what_is_found(choice: Choice) -> Iterator[str]:
    """What the best model finds, and the others."""
    evaluation, settings = choice.evaluation, choice.evaluation.settings
    if not evaluation.positive_total:
        return
    found = float(choice.found[choice.first])
    several = settings.many(found)
    are = settings.are_positive(1 if evaluation.weighted and not several else found)
    many = f"{number(found)}{_of_places(choice, choice.first)}"
    between = _found_from_to(choice)
    told = f"{many} {several}{between}" if several else f"{many}{between} {are}"
    luck = "" if choice.brings is not None else _by_choice(choice, _finding(evaluation))
    rate = f"a hit rate of {percent(found / choice.places)}{luck}"
    yield f"{_selected(choice)} by {choice.name}: {told}, {rate}."
    # where models are compared by what they bring, the others' positives do not count
    rest = _each(choice, "finds ", number) if choice.brings is None else []
    a_random = "a random choice" if rest else "A random choice finds"
    at_random = f"{a_random} {number(choice.random_found)}{_of_places(choice)}"
    yield f"{listed([*rest, at_random])}."


def _selected(choice: Choice) -> str:
    """Which rows the best model selects, as advice to take them where it is better than chance."""
    per, quota = choice.evaluation.settings.per, choice.quota
    if quota.is_budget:
        where = "" if per is None else f" in each {per}"
        return f"With {number(quota.amount)} to spend{where}, choosing"
    take = choice.brings is None and choice.beside_chance > 0
    rows = choice.size.first("row") if per is None else f"first {quota} of each {per}"
    return f"{'Take the' if take else 'The'} {rows}"


def _of_places(choice: Choice, model: int | None = None) -> str:
    """Of how many places a model, or a random choice, finds what it does, where that differs."""
    filled = choice.random_places if model is None else choice.filled[model]
    return f" of {number(filled)}" if choice.quota.is_budget else ""


def _finding(evaluation: Results) -> Callable[[float], str]:
    """How a hit rate is written, or of a budget a Qrecall: as how many positives that is."""
    if evaluation.settings.cost is None:
        return percent
    of_all, positives = evaluation.positive_total, evaluation.settings.positives
    return lambda share: f"{number(share * of_all)} {positives}"


def _found_from_to(choice: Choice) -> str:
    """Between what numbers the best of several models finds; of one the hit rate is told."""
    if len(choice.order) == 1 or choice.quota.is_budget:  # whose places are not fixed
        return ""
    ends = [choice.places * x for x in choice.interval("hit_rate")]
    said = choice.evaluation.interval(ends, number)
    return f" ({said})" if said and not (same(*ends) or too_few_groups(choice.evaluation)) else ""


def _by_choice(choice: Choice, form: Callable[[float], str]) -> str:
    """That the first is the best of several on the rows that judge it, and what to expect of it."""
    if len(choice.best) == len(choice.order):
        return ""
    best, expected = f"the best of {len(choice.order)} here", choice.elsewhere
    if math.isnan(expected):
        return f" ({best}, so probably less on new data)"
    return f" ({best}; expect {form(expected)} on new data)"


def _each(choice: Choice, verb: str, form: Callable[[float], str]) -> list[str]:
    """What the models behind the first have of that by which they are compared."""
    others, names = choice.order[1:], choice.evaluation.models
    said = [
        f"{names[k]} {verb}{form(choice.compared[k])}{_of_places(choice, k) if verb else ''}"
        for k in others[:NAMED]
    ]
    more = len(others) - NAMED
    return [*said, counted(more, "other no more", "others no more")] if more > 0 else said


def what_is_brought(choice: Choice) -> Iterator[str]:
    """What the models bring, where that decides."""
    if choice.brings is None:
        return
    amount = choice.evaluation.amount
    brings = f"{choice.name} brings {amount(choice.brings[choice.first])}"
    rest = _each(choice, "", amount)
    yield f"{listed([f'{brings}{_by_choice(choice, amount)}', *rest])}."
    finds = max(choice.order, key=lambda k: choice.found[k])
    if choice.found[finds] > choice.found[choice.first]:
        yield f"{choice.evaluation.models[finds]} finds the most positives."


# what selecting brings in the user's unit


def how_many_by_gain(evaluation: Results, choice: Choice | None) -> Said:
    """How many to select: within the quota, and with free choice."""
    gains = evaluation.gains
    assert gains is not None
    if nothing_matters(gains):
        return "It makes no difference", (f"Any number brings {evaluation.amount(gains.nobody)}.",)
    if evaluation.settings.tune:
        return _tuned(evaluation, gains, choice)
    if no_row_is_a_loss(evaluation, gains):
        give = "; give place_cost= if places cost something"
        give = give if evaluation.settings.cost is None else ""
        verdict = "All" if choice is None or not choice.places else _all_of(choice)
        return verdict, (f"No row is a loss, so more places never bring less{give}.",)
    verdict, said = _best_cut(evaluation, gains)
    if choice is None or not choice.places:
        return verdict, said
    verdict, within = _within(choice)
    if not _reaches_best_cut(gains, choice.fewer):
        without = (x.replace("Selecting", "Without a limit, selecting", 1) for x in said)
        within = (*within, *without)
    return verdict, within


def no_row_is_a_loss(evaluation: Results, gains: GainResults) -> bool:
    """Whether more places never bring less, so that no cut is to be chosen."""
    unit = evaluation.settings.unit
    assert unit is not None
    return unit.column is not None and not unit.place_cost and not gains.losses


def _all_of(choice: Choice) -> str:
    """All places of a quota, or all that a budget pays for."""
    paid = " that the budget pays for" if choice.quota.is_budget else ""
    return sentence(f"{choice.size.all}{paid}")


def _reaches_best_cut(gains: GainResults, fewer: Fewer | None) -> bool:
    """Whether the quota leaves room for the best of all cuts."""
    best = gains.at_best_cut.of("brings")[gains.best_model]
    return fewer is not None and same(fewer.brings, float(best))


def at_best_cuts(evaluation: Results, gains: GainResults) -> Said:
    """The model whose best cut brings the most."""
    names, brings = evaluation.models, gains.at_best_cut.of("brings")
    nobody = evaluation.amount(gains.nobody)
    if nothing_matters(gains):
        return "None: every selection brings the same", (f"That is {nobody}.",)
    if no_best_cut(gains):
        said = f"It brings {nobody}, and no model's best cut more."
        return "None: selecting nobody brings the most", (said,)
    first = gains.best_model
    others = sorted((k for k in range(len(names)) if k != first), key=lambda k: -brings[k])
    each = at_most_three([f"{names[k]} {evaluation.amount(brings[k])}" for k in others])
    said = f"Its best cut brings {evaluation.amount(brings[first])}, that of {each}."
    return names[first], (said, _GIVE_QUOTA)


def _best_cut(evaluation: Results, gains: GainResults) -> Said:
    """The cut that brings the most of all cuts of all models."""
    model = gains.best_model
    found = gains.at_best_cut.of_model(model)
    name, quota = evaluation.models[model], found["quota"]
    brings = evaluation.amount(found["brings"])
    if not quota:
        return "Nobody", (f"Selecting nobody brings the most: {brings}.",)
    if quota == evaluation.total:
        return "All", (f"Selecting all brings the most: {brings}.",)
    size, share = evaluation.size(quota), percent(found["fraction"])
    said = f"Selecting the {size.first()} by {name} ({share} of all) brings the most: {brings}."
    expected, verdict = found.get("expected", math.nan), f"{number(quota)}, by {name}"
    return _on_other_rows(evaluation, (verdict, (said,)), expected, gains.everybody, "all")


def _on_other_rows(
    evaluation: Results, here: Said, expected: float, whole: float, all_of_it: str
) -> Said:
    """What is said of a cut that was chosen here, with what to expect of it elsewhere, or the doubt
    whether it is worth choosing.
    """
    verdict, said = here
    assert evaluation.gains is not None
    nobody, elsewhere = evaluation.gains.nobody, f"Expect {evaluation.amount(expected)} on as many"
    if math.isnan(expected):
        return here
    if expected <= nobody and nobody >= whole:
        less = f"not more than selecting nobody brings ({evaluation.amount(nobody)})."
        return "Not clear that any number pays", (*said, f"{elsewhere} new rows: {less}")
    if expected <= whole:
        less = f"On new data, expect no more from them than from {all_of_it}."
        return f"{sentence(all_of_it)}: not clear that fewer are better", (*said, less)
    return verdict, (*said, f"{elsewhere} new rows.")


def _within(choice: Choice) -> Said:
    """Whether all places of the quota are worth filling."""
    evaluation, size, fewer = choice.evaluation, choice.size, choice.fewer
    if fewer is None:
        return _all_of(choice), ("No smaller number brings more.",)
    if not fewer.places:
        limit = "budget" if choice.quota.is_budget else "quota"
        said = f"No number of places within the {limit} brings more than selecting nobody."
        return "Nobody", (said,)
    name, best = evaluation.models[fewer.model], evaluation.size(fewer.places)
    bring, do = "brings" if best.is_one else "bring", "does" if size.weighted else "do"
    more = f"{bring} {evaluation.amount(fewer.brings)}, more than {size.all} {do}"
    said = f"The {best.first()} by {name} {more}."
    here = f"{number(fewer.places)} of {size.the}", (said,)
    return _on_other_rows(evaluation, here, fewer.expected, fewer.whole, size.all)


def fewer_to_fill(choice: Choice) -> Fewer | None:
    """The fewer places that are the answer, unless the best of all cuts is the same."""
    gains, fewer = choice.evaluation.gains, choice.fewer
    if gains is None or fewer is None or not fewer.places or _reaches_best_cut(gains, fewer):
        return None
    doubted = fewer.expected <= max(gains.nobody, fewer.whole)
    return None if doubted else fewer


def _tuned(evaluation: Results, gains: GainResults, choice: Choice | None) -> Said:
    """Those that reach the threshold that was chosen on other rows, if the quota has room."""
    model = gains.best_model if choice is None or not choice.defined else choice.first
    chosen_on = in_words(evaluation.settings.tune)
    found, name = gains.at_best_cut.of_model(model), evaluation.models[model]
    reached, brings = number(found["quota"]), evaluation.amount(found["brings"])
    if not found["quota"]:
        said = f"On the rows with {chosen_on} it was best to select nobody: {brings} here."
        return "Nobody", (said,)
    said = (
        f"The best cut of {name}, chosen on the rows with {chosen_on}, is reached by "
        f"{reached} of these rows and brings {brings}."
    )
    if choice is None or not choice.places:
        return f"{reached}, by {name}", (said,)
    if found["quota"] < choice.places:
        why = "Rows below that cut brought less there, so the other places stay empty."
        return f"{reached} of {choice.size.the}", (said, why)
    budget = choice.quota.is_budget
    what, done = ("the budget pays for", "spent") if budget else ("the quota", "filled")
    enough = f"That is no less than {what}, so all of it is {done}."
    return _all_of(choice), (said, enough)


def what_it_brings(evaluation: Results, choice: Choice | None) -> Said:
    """What the quota brings, or else the best cut, beside a random choice, nobody and all."""
    gains = evaluation.gains
    assert gains is not None
    nobody, everybody = evaluation.amount(gains.nobody), evaluation.amount(gains.everybody)
    if choice is None or not choice.places or choice.brings is None:
        beside = f"Selecting nobody brings {nobody}, selecting all {everybody}."
        if not gains.cuts:  # as passes over the rows do not find the best cut
            return nobody, (beside, _unit(evaluation))
        best = gains.at_best_cut.of_model(gains.best_model)
        return f"{evaluation.amount(best['brings'])} at the best cut", (beside, _unit(evaluation))
    total = float(choice.brings[choice.first])
    brings, expected = evaluation.amount(total), choice.elsewhere
    elsewhere = "" if math.isnan(expected) else evaluation.amount(expected)
    if elsewhere not in ("", brings):
        brings = f"{brings} here, {elsewhere} expected on new data"
    per_place = (total - gains.nobody) / choice.places
    return f"{brings}, at random {evaluation.amount(choice.random_brings)}", (
        f"With {choice.size}{_interval(gains, choice)}. Selecting nobody brings {nobody}, "
        f"selecting all {everybody}; each place adds {evaluation.amount(per_place)} on average.",
        *_may_not_pay(gains, choice),
        _unit(evaluation),
    )


def _may_not_pay(gains: GainResults, choice: Choice) -> Iterator[str]:
    """That the places bring more than selecting nobody here, and perhaps not on other rows."""
    lower, _ = choice.interval("brings")
    if lower < gains.nobody < choice.compared[choice.first]:
        yield f"On new data, {choice.size} may bring less than selecting nobody."


def _interval(gains: GainResults, choice: Choice) -> str:
    """How far that may be off."""
    ends, evaluation = choice.interval("brings"), choice.evaluation
    said = evaluation.interval(ends, evaluation.amount)
    if not said or (gains.cuts and nothing_matters(gains)):
        return ""
    if gains.cuts and evaluation.amount(ends[0]) == evaluation.amount(ends[1]):
        return ", the same in all resamples, so they do not show how sure it is"
    return f" ({said})"


def _unit(evaluation: Results) -> str:
    """What is added up."""
    unit, settings = evaluation.settings.unit, evaluation.settings
    assert unit is not None
    spent = "" if settings.cost is None else f" What is spent ({settings.cost}) is not subtracted."
    if unit.impacts is None:
        return f"Counted: {unit}, which must be what selecting a row causes.{spent}"
    called = settings.called
    one, other = (called, "others") if called else ("a positive", "a negative")
    cells = (f"{one} selected", f"{other} selected", f"{one} left", f"{other} left")
    each = [f"{cell} {signed(plain(x))}" for cell, x in zip(cells, unit.impacts, strict=True)]
    tuned = f", tuned to {unit.tuned_to}; quotas are of the rows as they are" if unit.ratio else ""
    counted = settings.in_currency("Counted")
    return f"{counted}{' for each row' if called else ''}: {', '.join(each)}{tuned}.{spent}"


# what a treatment adds


_BESIDE = (
    "The answers above ignore what the treatment causes; to choose whom to treat, use this one."
)


def what_is_added(choice: Choice) -> Said:
    """What the treatment adds to the positives of those whom the models select."""
    evaluation, names = choice.evaluation, choice.evaluation.models
    values = evaluation.at_quota[choice.quota]
    added = values.of("uplift_at_quota")
    if np.isnan(added).all():
        return "Unknown", ("No model selects both treated rows and controls.",)
    first, *others = np.argsort(-added, kind="stable").tolist()
    settings = evaluation.settings
    most = f"{_of_100(added[first])} {settings.positives} per 100 selected by {names[first]}"
    ends = values.interval("uplift_at_quota", first)
    said = evaluation.interval(ends, _of_100)
    sure = f" ({said})" if said else ""
    doubt = " It may add nothing." if ends[0] <= 0 <= ends[1] else ""
    are = settings.called or "positive"
    told = [
        f"Of 100 treated rows among them, so many more are {are} than of 100 controls{sure}.{doubt}"
    ]
    if rest := [f"{_of_100(added[k])} by {names[k]}" for k in others[:NAMED]]:
        told += [f"Others: {listed(rest)}.", *_adds_most(choice, names[first])]
    return most, (*told, _BESIDE)


def _adds_most(choice: Choice, first: str) -> Iterator[str]:
    """What to expect of the model that adds the most on other rows, and how sure it is that."""
    best = f"{first} is the best of {len(choice.order)} here"
    test = choice.evaluation.test_at(choice.quota, "uplift_at_quota")
    if test is None or math.isnan(test.found.expected):
        yield f"{best}, so probably less on new data."
        return
    expected = min(test.found.expected, float(test.found.estimate[0]))
    yield f"{best}; expect {_of_100(expected)} on new data."
    sure = "Sure" if is_first(test.found, first, choice.evaluation.level) else "Not sure"
    yield f"{sure} that {first} adds the most."


def _of_100(share: float) -> str:
    return "undefined" if math.isnan(share) else signed(fixed(1)(100 * share))


# the questions


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
    """Answer the four questions, for the first quota if there is one; a fifth of a treatment.

    A stream, without whole rankings, answers the first and the third, and these only at a quota.
    """
    choice = first_choice(evaluation)
    if choice is None and not evaluation.exact:
        return []
    does = "fill my quota" if evaluation.settings.cost is None else "spend my budget"
    which = Answer(f"Which model should {does}?", *_which(evaluation, choice))
    what = Answer("What will it bring?", *_what(evaluation, choice))
    if not evaluation.exact:
        return [which, what]
    many = Answer("How many should I take?", *_how_many(evaluation, choice))
    order = "the order of the models" if len(evaluation.models) > 1 else "it"
    found = [which, many, what, Answer(f"How sure is {order}?", *how_sure(evaluation, choice))]
    if choice is not None and evaluation.settings.treatment is not None:
        found.append(Answer("What does the treatment add?", *what_is_added(choice)))
    return found


def _unsaid(what: str) -> Advice:
    return Advice(f"Give gain= or impacts= to learn {what}.")


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
        return "Unknown", (f"{nothing} So no model finds more than another.",)
    if choice is None:
        return _without_quota(evaluation)
    names = evaluation.models
    winners = [names[k] for k in choice.best]
    if choice.beside_chance <= 0:
        does = "does better" if choice.beside_chance else "does as well"
        verdict = f"None: a random choice {does}"
    elif len(names) == 1:
        verdict = f"{names[0]}, the only model"
    else:
        doubt = ", but not for sure" if is_unsure(choice) else ""
        verdict = f"{listed(winners, 'or')}{doubt}"
    said = (*what_is_found(choice), *what_is_brought(choice), *_part_of_a_place(choice))
    return verdict, (*said, *_odd_scores(evaluation))


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
                f"Positive rows have the low scores of {name}: its AUC is {has}, and would be "
                f"{turned} with the sign of the scores changed."
            )


def _deviation_by_chance(evaluation: Results) -> float:
    """The standard deviation of AUC if scores tell nothing of the labels (Mann and Whitney)."""
    pairs = evaluation.positives * (evaluation.rows - evaluation.positives)
    return math.sqrt((evaluation.rows + 1) / (12 * pairs)) if pairs else math.inf


def _part_of_a_place(choice: Choice) -> Iterator[str]:
    """What a quota means that is of each group, or no whole number of rows."""
    groups, rows = choice.evaluation.groups, choice.evaluation.rows
    if choice.evaluation.settings.per is not None:
        short = 0 if groups is None or choice.quota.is_budget else groups.short(choice.quota)
        have = "group has" if short == 1 else "groups have"
        fewer = f", as {number(short)} {have} fewer rows" if short else ""
        yield f"This is {choice.size} in all{fewer}."
    elif choice.quota.whole:
        asked = choice.quota.unrounded.places(rows)
        if not whole(asked):
            of_all = f"{choice.quota} of {counted(rows, 'row', 'rows')} is {number(asked)}"
            yield f"{of_all}, rounded down to {counted(choice.places, 'place', 'places')}."


def _without_quota(evaluation: Results) -> Said:
    """Which model brings the most, or else finds the most over all quotas."""
    names = evaluation.models
    gains = evaluation.gains
    if gains is not None and (len(names) > 1 or no_best_cut(gains)):
        return at_best_cuts(evaluation, gains)
    if len(names) == 1:
        return f"{names[0]}, the only model", ("No quota= was given to judge it by.",)
    shares = best_by_model(evaluation.best, len(names))
    if not any(shares):
        return "Unknown", ("All rows are positive, so every model finds the same.",)
    order = sorted(range(len(names)), key=lambda k: -shares[k])
    first, *others = [f"{names[k]} at {percent(shares[k])}" for k in order if shares[k]]
    # models that find as many share quotas, so that the others need not have the rest
    others = others[: NAMED - 1] + (["others at no more"] if len(others) >= NAMED else [])
    verdict = names[order[0]] if shares[order[0]] == 1 else f"Mostly {names[order[0]]}"
    where = f"Where each finds the most: {listed([f'{first} of all quotas', *others])}."
    return verdict, (where, _GIVE_QUOTA)


# how many


def _how_many(evaluation: Results, choice: Choice | None) -> Said:
    if evaluation.gains is not None and evaluation.total:
        verdict, said = how_many_by_gain(evaluation, choice)
        return verdict, (*said, *_flattered(evaluation, evaluation.gains))
    if nothing := _nothing(evaluation, None):
        return "Unknown", (nothing,)
    model = _model_in_question(evaluation, choice)
    name, settings = evaluation.models[model], evaluation.settings
    needed = _needed(evaluation, model)
    head = f"With {name}, finding {needed} {'of the weight' if evaluation.weighted else 'places'}."
    if choice is not None and choice.places:
        share = percent(choice.found[model] / evaluation.positive_total)
        find = f"{sentence(str(choice.size))} find{'s' if choice.size.is_one else ''}"
        whom = settings.positives
        more = "" if settings.per else f"; finding {needed}"
        head = f"{find} {share} of all {whom} with {name}{more}."
    if choice is not None and choice.quota.is_budget:
        return f"{number(choice.places)}, which the budget pays for", (head,)
    if settings.per is not None:
        return "That depends on what a place costs", (head,)
    return "That depends on what a place costs", (head, _unsaid("which number pays"))


def _needed(evaluation: Results, model: int) -> str:
    """How many places it takes to find half and most of the positives."""
    shares, rounded = (0.5, 0.9), float if evaluation.weighted else math.ceil
    needed = zip(shares, places_for(evaluation.rankings[model], shares), strict=True)
    return listed([f"{plain(100 * x)}% takes {number(rounded(places))}" for x, places in needed])


def _flattered(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """That a cut was chosen on the rows that judge it, where nothing else tells what that does."""
    settings, quota = evaluation.settings, gains.at_best_cut.of("quota")[gains.best_model]
    chosen_here = not settings.tune and not evaluation.has_intervals
    chosen_here = chosen_here and not no_row_is_a_loss(evaluation, gains)
    if chosen_here and 0 < quota < evaluation.total and not nothing_matters(gains):
        yield (
            "Best cuts were chosen on the rows that judge them, so they will probably bring less "
            "on new data; tune= chooses them on separate rows."
        )


def _model_in_question(evaluation: Results, choice: Choice | None) -> int:
    if choice is not None and choice.defined:
        return choice.first
    shares = best_by_model(evaluation.best, len(evaluation.models))
    return max(range(len(shares)), key=lambda k: shares[k])


# what it brings


def _what(evaluation: Results, choice: Choice | None) -> Said:
    if evaluation.gains is not None and evaluation.total:
        return what_it_brings(evaluation, choice)
    if nothing := _nothing(evaluation, choice):
        return "Nothing that can be counted", (nothing,)
    if choice is None:
        return "That depends on the quota", (_unsaid("what a selection is worth"),)
    found, random = float(choice.found[choice.first]), choice.random_found
    settings = evaluation.settings
    weighted = evaluation.weighted
    several = settings.positives
    verdict = counted(found, "positive", several)
    verdict = f"{sentence(several)} of weight {number(found)}" if weighted else verdict
    verdict += f", at random {number(random)}"
    per, is_budget = settings.per, choice.quota.is_budget
    size = "" if per is None else f", {choice.quota} of each {per},"
    whom = f"of {choice.size}{size}"
    whom = f"a random choice {'for the same money' if is_budget else whom} would find"
    if choice.beside_chance <= 0:
        more = f"That is no more than {whom}."
    else:
        many = "much" if weighted else "many"
        times = f": {formatted(found / random, '.3g')} times as {many}" if random else ""
        more = f"That is {number(found - random)} more than {whom}{times}."
    if is_budget or per is not None:
        return verdict, (more,)
    return verdict, (more, _unsaid("what that is worth"))
