"""The questions that a page answers first, each in a few plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from quotakernels._text import counted, fixed, formatted, number, percent, plain
from quotakernels.evaluation.certainty import (
    USUAL_LEVEL,
    at_quota,
    how_sure,
    is_unsure,
    no_better_than_chance,
    rivals_of,
)
from quotakernels.evaluation.results import (
    Choice,
    ChosenCut,
    GainResults,
    Results,
    best_by_model,
    first_choice,
    no_best_cut,
    nothing_matters,
    places_for,
    same,
    undefined_or,
)
from quotakernels.evaluation.words import (
    Said,
    at_most_three,
    in_words,
    listed,
    say,
    sentence,
    signed,
    whole,
)

# what the models find or bring


NAMED = 3
"""How many models behind the first are named."""


def what_is_found(choice: Choice) -> Iterator[str]:
    """What the best model finds, and the others."""
    evaluation, settings = choice.evaluation, choice.evaluation.settings
    if not evaluation.positive_total:
        return
    found = float(choice.found[choice.first])
    called = settings.many(found)
    one = evaluation.weighted or number(found) == "1"
    yield say(
        "which.found_called" if called else "which.found_one" if one else "which.found",
        selected=_selected(choice),
        model=choice.name,
        found=f"{number(found)}{_of_places(choice, choice.first)}",
        interval=_found_from_to(choice),
        positives=called,
        positive=settings.positive,
        rate=percent(found / choice.places),
        luck="" if choice.brings is not None else _by_choice(choice, _finding(evaluation)),
    )
    # where models are compared by what they bring, the others' positives do not count
    rest = _each(choice, "which.finds", number) if choice.brings is None else []
    at_random = {"found": number(choice.random_found), "places": _of_places(choice)}
    if not rest:
        yield say("which.random_finds", **at_random)
        return
    yield f"{listed([*rest, say('which.random_too', **at_random)])}."


def _selected(choice: Choice) -> str:
    """Which rows the best model selects, as advice to take them where it is better than chance."""
    per, quota = choice.evaluation.settings.per, choice.quota
    if quota.is_budget:
        spending = "which.spending" if per is None else "which.spending_each"
        return say(spending, budget=number(quota.amount), group=per)
    take = choice.brings is None and choice.beside_chance > 0
    rows = choice.size.first("row")
    rows = rows if per is None else say("which.of_each", quota=quota, group=per)
    return say("which.take" if take else "which.rows", rows=rows)


def _of_places(choice: Choice, model: int | None = None) -> str:
    """Of how many places a model, or a random choice, finds what it does, where that differs."""
    filled = choice.random_places if model is None else choice.filled[model]
    return say("which.of_places", places=number(filled)) if choice.quota.is_budget else ""


def _finding(evaluation: Results) -> Callable[[float], str]:
    """How a hit rate is written, or of a budget a Qrecall: as how many positives that is."""
    if evaluation.settings.cost is None:
        return percent
    of_all, positives = evaluation.positive_total, evaluation.settings.positives
    return lambda share: f"{number(share * of_all)} {positives}"


def _found_from_to(choice: Choice) -> str:
    """Between what numbers the best of several models finds, where that decides; of one the hit
    rate is told, and the places of a budget are not fixed.
    """
    if len(choice.order) == 1 or choice.quota.is_budget or choice.brings is not None:
        return ""
    known = not same(*choice.interval("hit_rate"))
    said = choice.in_words("hit_rate", lambda share: number(choice.places * share))
    return f" ({said})" if said and known else ""


def _by_choice(choice: Choice, form: Callable[[float], str]) -> str:
    """A warning that the model ahead was chosen on the rows that judge it.

    It is empty if none was, or if that makes no difference to the digits shown.
    """
    if len(choice.best) == len(choice.order):
        return ""
    expected, test = choice.elsewhere, choice.evaluation.test_at(choice.quota)
    if test is None or math.isnan(expected):
        return say("which.best_here", models=len(choice.order))
    if form(expected) == form(float(test.found.estimate[0])):
        return ""
    return say("which.best_here_expect", models=len(choice.order), expected=form(expected))


def _each(choice: Choice, name: str, form: Callable[[float], str]) -> list[str]:
    """What the models behind the first have of that by which they are compared."""
    others, names = choice.order[1:], choice.evaluation.models
    said = [
        say(name, model=names[k], amount=form(choice.compared[k]), places=_of_places(choice, k))
        for k in others[:NAMED]
    ]
    more = len(others) - NAMED
    return (
        [*said, counted(more, "other no more than that", "others no more than that")]
        if more > 0
        else said
    )


def what_is_brought(choice: Choice) -> Iterator[str]:
    """What the models bring, where that decides."""
    if choice.brings is None:
        return
    amount = choice.evaluation.amount  # what to expect on new data is an answer of its own
    luck = _by_choice(choice, amount) if math.isnan(choice.elsewhere) else ""
    brought = amount(choice.brings[choice.first])
    first = say("which.brings", model=choice.name, amount=brought, luck=luck)
    yield f"{listed([first, *_each(choice, 'which.has', amount)])}."
    finds = max(choice.order, key=lambda k: choice.found[k])
    if choice.found[finds] > choice.found[choice.first]:
        yield say("which.finds_most", model=choice.evaluation.models[finds])


# what selecting brings in the user's unit


def how_many_by_gain(evaluation: Results, choice: Choice | None) -> Said:
    """How many to select: within the quota, and with free choice."""
    gains = evaluation.gains
    assert gains is not None
    if nothing_matters(gains):
        said = say("many.any_number", amount=evaluation.amount(gains.nobody))
        return say("many.no_difference"), (said,)
    if evaluation.settings.tune:
        return _tuned(evaluation, gains, choice)
    if no_row_is_a_loss(evaluation, gains):
        give = evaluation.settings.cost is None
        verdict = say("many.all") if choice is None or not choice.places else _all_of(choice)
        return verdict, (say("many.no_loss_give_cost" if give else "many.no_loss"),)
    verdict, (said, *more) = _best_cut(evaluation, gains)
    if choice is None or not choice.places:
        return verdict, (sentence(said), *more)
    verdict, within = _within(choice)
    if not _reaches_best_cut(gains, choice.fewer):
        more = [] if _doubt(evaluation, gains.best_cut) else more
        within = (*within, say("many.without_limit", said=said), *more)
    return verdict, within


def no_row_is_a_loss(evaluation: Results, gains: GainResults) -> bool:
    """Whether more places never bring less, so that no cut is to be chosen."""
    unit = evaluation.settings.unit
    assert unit is not None
    return unit.column is not None and not unit.place_cost and not gains.losses


def _all_of(choice: Choice) -> str:
    """All places of a quota, or all that a budget pays for."""
    paid = "many.all_paid" if choice.quota.is_budget else "many.all_places"
    return say(paid, Places=sentence(choice.size.all))


def _reaches_best_cut(gains: GainResults, fewer: ChosenCut | None) -> bool:
    """Whether the quota leaves room for the best of all cuts."""
    best = gains.at_best_cut.of("brings")[gains.best_model]
    return fewer is not None and same(fewer.brings, float(best))


def at_best_cuts(evaluation: Results, gains: GainResults) -> Said:
    """The model whose best cut brings the most."""
    names, brings = evaluation.models, gains.at_best_cut.of("brings")
    nobody = evaluation.amount(gains.nobody)
    if nothing_matters(gains):
        return say("which.nothing_matters"), (say("which.that_is", amount=nobody),)
    if no_best_cut(gains):
        return say("which.nobody_is_best"), (say("which.no_cut_brings_more", nobody=nobody),)
    first = gains.best_model
    others = sorted((k for k in range(len(names)) if k != first), key=lambda k: -brings[k])
    each = [say("which.has", model=names[k], amount=evaluation.amount(brings[k])) for k in others]
    amount = evaluation.amount(brings[first])
    said = say("which.best_cut_brings", amount=amount, others=at_most_three(each))
    unsure = is_unsure(evaluation, None, names[first])
    verdict = say("which.unsure", models=names[first]) if unsure else names[first]
    return verdict, (said, say("which.give_quota"))


def _best_cut(evaluation: Results, gains: GainResults) -> Said:
    """The cut that brings the most of all cuts of all models, in words that begin small."""
    found = gains.best_cut
    name, quota = evaluation.models[found.model], found.places
    brings = evaluation.amount(found.brings)
    if not quota:
        return say("many.nobody"), (say("many.nobody_is_best", amount=brings),)
    if quota == evaluation.total:
        return say("many.all"), (say("many.all_is_best", amount=brings),)
    first, share = evaluation.size(quota).first(), percent(quota / evaluation.total)
    said = say("many.best_cut", first=first, model=name, share=share, amount=brings)
    verdict = say("many.number_by", number=number(quota), model=name)
    return _on_other_rows(evaluation, (verdict, (said,)), found, "all", evaluation.total)


_LITTLE = 0.05
"""The share of its lead over selecting nobody that a cut may lose."""


def _how_far(evaluation: Results, cut: ChosenCut, most: float) -> Iterator[str]:
    """Between which numbers of rows, up to the most, a cut may move and lose little ([EL] section
    4); nothing where that is any number, or no other, and of weights.
    """
    gains = evaluation.gains
    assert gains is not None
    best = gains.cuts[cut.model]._replace(value=cut.brings, quota=cut.places)
    ends = best.near(_LITTLE * (cut.brings - gains.nobody))
    first, last = float(ends[0]), min(float(ends[1]), most)
    any_number = first <= best.curve.quota[1] and last >= most
    if not evaluation.weighted and first < last and not any_number:
        near = "many.near" if gains.nobody == 0 else "many.near_lead"
        model = evaluation.models[cut.model]
        yield say(near, first=number(first), last=number(last), model=model)


def _on_other_rows(
    evaluation: Results, here: Said, cut: ChosenCut, all_of_it: str, most: float
) -> Said:
    """What is said of a cut that was chosen here among `most` rows, with how far it may move and
    what to expect of it on new data, or the doubt whether it is worth choosing.
    """
    verdict, said = here
    amount, expected = evaluation.amount, cut.expected
    doubt = _doubt(evaluation, cut)
    if not doubt:
        said = (*said, *_how_far(evaluation, cut, most))
    if not math.isnan(expected.lower):
        interval = evaluation.interval(expected[1:3], amount)
        rows, models = counted(cut.few, "row", "rows"), len(evaluation.models)
        parts = {"rows": rows, "of": say("many.expect_of", models=models) if models > 1 else ""}
        how = "many.expect_of_few" if cut.few else "many.expect"
        said = (*said, say(how, amount=amount(expected.value), interval=interval, **parts))
    if doubt == "nobody":
        assert evaluation.gains is not None
        nobody, said_p = amount(evaluation.gains.nobody), _by_chance(evaluation, cut.by_chance[0])
        chance = say("many.chance_nobody", nobody=nobody, p=said_p)
        return say("many.perhaps_none"), (*said, chance)
    if doubt:
        perhaps, p = say("many.perhaps_all", All=sentence(all_of_it)), cut.by_chance[1]
        chance = say("many.chance_all", p=_by_chance(evaluation, p))
        return perhaps, (*said, chance)
    return verdict, said


def _by_chance(evaluation: Results, p: float) -> str:
    """The p-value of a cut, if that is why it is doubted, and not the interval beside it."""
    return say("many.chance_p", p=formatted(p, ".2g")) if p > _alpha(evaluation) else ""


def _alpha(evaluation: Results) -> float:
    """The p-value up to which a cut is worth choosing."""
    return round(1 - (evaluation.level if evaluation.has_intervals else USUAL_LEVEL), 12)


def _doubt(evaluation: Results, cut: ChosenCut) -> Literal["nobody", "all", ""]:
    """Beside what a cut may be no better, if beside anything."""
    assert evaluation.gains is not None
    by_chance, expected = [p > _alpha(evaluation) for p in cut.by_chance], cut.expected
    if by_chance[0] or expected.lower <= evaluation.gains.nobody:
        return "nobody"
    return "all" if by_chance[1] or expected.value <= cut.whole else ""


def _within(choice: Choice) -> Said:
    """Whether all places of the quota are worth filling."""
    evaluation, size, fewer = choice.evaluation, choice.size, choice.fewer
    if fewer is None:
        return _all_of(choice), (say("many.no_smaller"),)
    if not fewer.places:
        budget = choice.quota.is_budget
        return say("many.nobody"), (
            say("many.nobody_in_budget" if budget else "many.nobody_in_quota"),
        )
    name, best = evaluation.models[fewer.model], evaluation.size(fewer.places)
    brought = "many.fewer_one" if best.is_one else "many.fewer"
    brought = "many.fewer_weight" if size.weighted else brought
    amount = evaluation.amount(fewer.brings)
    said = say(brought, first=best.first(), model=name, amount=amount, all=size.all)
    here = say("many.part_of", number=number(fewer.places), the=size.the), (said,)
    return _on_other_rows(evaluation, here, fewer, size.all, choice.places)


def fewer_to_fill(choice: Choice) -> ChosenCut | None:
    """The fewer places that are the answer, unless the best of all cuts is the same."""
    gains, fewer = choice.evaluation.gains, choice.fewer
    if gains is None or fewer is None or not fewer.places or _reaches_best_cut(gains, fewer):
        return None
    return None if _doubt(choice.evaluation, fewer) else fewer


def _tuned(evaluation: Results, gains: GainResults, choice: Choice | None) -> Said:
    """How many rows reach the threshold that was tuned on other data, as far as the quota goes."""
    model = gains.best_model if choice is None or not choice.defined else choice.first
    tune = in_words(evaluation.settings.tune)
    found, name = gains.at_best_cut.of_model(model), evaluation.models[model]
    reached, brings = number(found["quota"]), evaluation.amount(found["brings"])
    if not found["quota"]:
        return say("many.nobody"), (say("many.nobody_there", tune=tune, amount=brings),)
    said = say("many.reached", model=name, tune=tune, number=reached, amount=brings)
    if choice is None or not choice.places:
        return say("many.number_by", number=reached, model=name), (said,)
    if found["quota"] < choice.places:
        part = say("many.part_of", number=reached, the=choice.size.the)
        return part, (said, say("many.others_empty"))
    enough = say("many.no_less_paid" if choice.quota.is_budget else "many.no_less")
    return _all_of(choice), (said, enough)


def what_it_brings(evaluation: Results, choice: Choice | None) -> Said:
    """What the quota brings, or else the best cut, beside a random choice, nobody and all."""
    gains = evaluation.gains
    assert gains is not None
    amount, unit = evaluation.amount, _unit(evaluation)
    ends = {"nobody": amount(gains.nobody), "everybody": amount(gains.everybody)}
    if choice is None or not choice.places or choice.brings is None:
        beside = say("brings.nobody_and_all", **ends)
        if not gains.cuts:  # as passes over the rows do not find the best cut
            return ends["nobody"], (beside, unit)
        best = gains.at_best_cut.of_model(gains.best_model)
        return say("brings.best_cut", amount=amount(best["brings"])), (beside, unit)
    total = float(choice.brings[choice.first])
    brings, expected = amount(total), choice.elsewhere
    if not math.isnan(expected) and amount(expected) != brings:
        brings = say("brings.here_and_elsewhere", amount=brings, expected=amount(expected))
    said = say(
        "brings.with_places",
        size=choice.size,
        interval=_interval(gains, choice),
        per_place=amount((total - gains.nobody) / choice.places),
        **ends,
    )
    verdict = say("brings.beside_random", brings=brings, random=amount(choice.random_brings))
    return verdict, (said, *_may_not_pay(gains, choice), unit)


def _may_not_pay(gains: GainResults, choice: Choice) -> Iterator[str]:
    """A warning that a quota which pays here may pay less than selecting nobody on new data."""
    lower, _ = choice.interval("brings")
    if lower < gains.nobody < choice.compared[choice.first]:
        yield say("brings.may_not_pay", size=choice.size)


def _interval(gains: GainResults, choice: Choice) -> str:
    """How far that may be off."""
    ends, evaluation = choice.interval("brings"), choice.evaluation
    said = choice.in_words("brings", evaluation.amount)
    if not said or (gains.cuts and nothing_matters(gains)):
        return ""
    if gains.cuts and evaluation.amount(ends[0]) == evaluation.amount(ends[1]):
        return say("brings.no_width")
    return f" ({said})"


def _unit(evaluation: Results) -> str:
    """What is added up."""
    unit, settings = evaluation.settings.unit, evaluation.settings
    assert unit is not None
    spent = "" if settings.cost is None else say("brings.not_spent", cost=settings.cost)
    if unit.impacts is None:
        return say("brings.counted", unit=unit, spent=spent)
    called = settings.called
    both = (called, say("brings.others"))
    both = both if called else (say("brings.positive"), say("brings.negative"))
    what = [(name, x) for name in ("brings.selected", "brings.left") for x in both]
    cells = [
        say(name, what=who, amount=signed(plain(x)))
        for (name, who), x in zip(what, unit.impacts, strict=True)
    ]
    return say(
        "brings.impacts_each" if called else "brings.impacts",
        Counted=settings.in_currency(say("brings.counted_in")),
        cells=", ".join(cells),
        tuned=say("brings.tuned", ratio=unit.tuned_to) if unit.ratio else "",
        spent=spent,
    )


# what a treatment adds


def what_is_added(choice: Choice) -> Said:
    """What the treatment adds to the positives of those whom the models select."""
    evaluation, names = choice.evaluation, choice.evaluation.models
    values, settings = evaluation.at_quota[choice.quota], evaluation.settings
    added = values.of("uplift_at_quota")
    if np.isnan(added).all():
        return say("treatment.unknown"), (say("treatment.no_arms"),)
    first, *others = np.argsort(-added, kind="stable").tolist()
    most = {"added": _of_100(added[first]), "model": names[first]}
    *ends, among = evaluation.as_best(values, "uplift_at_quota", first)
    said = evaluation.interval(ends, _of_100, among)
    positive = settings.called or say("treatment.positive")
    sure = f" ({said})" if said else ""
    told = say("treatment.than_controls", positive=positive, interval=sure)
    if ends[0] <= 0 <= ends[1]:
        told += f" {say('treatment.may_add_nothing')}"
    beside = [told]
    if others:
        rest = [say("treatment.by", added=_of_100(added[k]), model=names[k]) for k in others]
        beside += [say("treatment.others", models=listed(rest[:NAMED]))]
        beside += _adds_most(choice, names[first])
    verdict = say("treatment.most", positives=settings.positives, **most)
    return verdict, (*beside, say("treatment.beside"))


def _adds_most(choice: Choice, first: str) -> Iterator[str]:
    """What to expect of the model that adds the most on other rows, and how sure it is that."""
    best = {"model": first, "models": len(choice.order)}
    test = choice.evaluation.test_at(choice.quota, "uplift_at_quota")
    if test is None or math.isnan(test.found.expected):
        yield say("treatment.best_here", **best)
        return
    yield say("treatment.best_here_expect", expected=_of_100(test.found.expected), **best)
    rivals = rivals_of(test.found, first, choice.evaluation.level)
    yield say("treatment.not_sure" if rivals else "treatment.sure", model=first)


def _of_100(share: float) -> str:
    return undefined_or(lambda x: signed(fixed(1)(100 * x)), share)


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
    """Answer the four questions, for the first quota if there is one; one of a treatment; and which
    model is the best at each further quota.

    A stream, without whole rankings, does not say how many and how sure, and asks for a quota.
    """
    choice = first_choice(evaluation)
    if choice is None and not evaluation.exact:
        return []

    def asked(question: str, answer: Said) -> Answer:
        return Answer(say(question), *answer)

    budget, several = evaluation.settings.cost is not None, len(evaluation.models) > 1
    does = "questions.which_for_budget" if budget else "questions.which"
    which = asked(does, _which(evaluation, choice))
    what = asked("questions.what", _what(evaluation, choice))
    found = [which, what]
    if evaluation.exact:
        many = asked("questions.how_many", _how_many(evaluation, choice))
        order = "questions.how_sure" if several else "questions.how_sure_of_one"
        found = [which, many, what, asked(order, how_sure(evaluation, choice))]
    if choice is not None and evaluation.settings.treatment is not None:
        found.append(asked("questions.treatment", what_is_added(choice)))
    others = [Choice(evaluation, x) for x in evaluation.settings.quotas[1:]]
    if others := [x for x in others if x.defined]:
        kind = "others.budgets" if budget else "others.quotas"
        named = say(kind) if len(others) > 1 else others[0].quota.named
        found.append(Answer(say("others.which", quotas=named), *_at_others(others)))
    return found


def _nothing(evaluation: Results, choice: Choice | None) -> str:
    """Why models cannot be compared, or nothing."""
    if not evaluation.total:
        return say("nothing.no_weight" if evaluation.rows else "nothing.no_rows")
    if choice is not None and not choice.filled.any():
        quota = choice.quota
        kind = "nothing.share" if quota.percent else "nothing.quota"
        kind = "nothing.budget" if quota.is_budget else kind
        return say(kind, quota=quota, amount=number(quota.amount))
    if not evaluation.positive_total:
        only = "nothing.only_row" if evaluation.rows == 1 else "nothing.no_positive"
        return say(only, rows=number(evaluation.rows), positive=evaluation.settings.positive)
    return ""


# which model


def _which(evaluation: Results, choice: Choice | None) -> Said:
    if (nothing := _nothing(evaluation, choice)) and (choice is None or not choice.defined):
        return say("which.unknown"), (say("which.none_finds_more", nothing=nothing),)
    if choice is None:
        return _without_quota(evaluation)
    said = (*what_is_found(choice), *what_is_brought(choice), *_part_of_a_place(choice))
    return _which_at(choice), (*said, *_odd_scores(evaluation))


def _which_at(choice: Choice) -> str:
    """The model that is the best at a quota, with the doubt whether it is, or none."""
    evaluation, names = choice.evaluation, choice.evaluation.models
    if choice.beside_chance <= 0:
        return say(no_better_than_chance(choice))
    if len(names) == 1:
        return say("which.only", model=names[0])
    winners, gains = listed([names[k] for k in choice.best], "or"), evaluation.gains
    if gains is not None and choice.compared[choice.first] < gains.nobody:
        return say("which.loses", models=winners)
    unsure = is_unsure(evaluation, choice.quota, choice.name)
    return say("which.unsure", models=winners) if unsure else winners


def _odd_scores(evaluation: Results) -> Iterator[str]:
    """Which scores look like a mistake: those that are all the same, or the wrong way round."""
    if evaluation.rows > 1 and evaluation.positive_total == evaluation.total:
        yield say("which.all_positive")
        return
    areas = evaluation.over_all.of("roc_auc")
    # a stream has no rankings
    for name, ranking, area in zip(evaluation.models, evaluation.rankings, areas, strict=False):
        if evaluation.rows > 1 and np.count_nonzero(ranking.counts) == 1:
            yield say("which.one_score", model=name)
        elif area < 0.5 - _CLEARLY * _deviation_by_chance(evaluation):
            has, turned = (formatted(x, ".3f") for x in (area, 1 - area))
            yield say("which.wrong_way", model=name, area=has, turned=turned)


def _deviation_by_chance(evaluation: Results) -> float:
    """The standard deviation of AUC if scores tell nothing of the labels (Mann and Whitney)."""
    pairs = evaluation.positives * (evaluation.rows - evaluation.positives)
    return math.sqrt((evaluation.rows + 1) / (12 * pairs)) if pairs else math.inf


def _part_of_a_place(choice: Choice) -> Iterator[str]:
    """What a quota means that is of each group, or no whole number of rows."""
    groups, rows = choice.evaluation.groups, choice.evaluation.rows
    if choice.evaluation.settings.per is not None:
        short = 0 if groups is None or choice.quota.is_budget else groups.short(choice.quota)
        said = "which.in_all_short_one" if short == 1 else "which.in_all_short"
        said, parts = said if short else "which.in_all", {"short": number(short)}
        if groups is not None and choice.quota.percent and not choice.evaluation.weighted:
            filled = replace(choice.quota, whole=True).of_each(groups.whole).sum()
            parts = {"filled": number(filled), "group": choice.evaluation.settings.per}
            said = said if same(filled, choice.places) else "which.in_all_parts"
        yield say(said, size=choice.size, **parts)
    elif choice.quota.whole:
        asked = choice.quota.unrounded.places(rows)
        if not whole(asked):
            of_all, places = counted(rows, "row", "rows"), counted(choice.places, "place", "places")
            parts = {"rows": of_all, "asked": number(asked), "places": places}
            yield say("which.rounded_down", quota=choice.quota, **parts)


def _without_quota(evaluation: Results) -> Said:
    """Which model brings the most, or else finds the most over all quotas."""
    names = evaluation.models
    gains = evaluation.gains
    if gains is not None and (len(names) > 1 or no_best_cut(gains)):
        return at_best_cuts(evaluation, gains)
    if len(names) == 1:
        return say("which.only", model=names[0]), (say("which.no_quota"),)
    shares = best_by_model(evaluation.best, len(names))
    if not any(shares):
        return say("which.unknown"), (say("which.all_the_same"),)
    order = [k for k in sorted(range(len(names)), key=lambda k: -shares[k]) if shares[k]]
    each = [say("which.at_share", model=names[k], share=percent(shares[k])) for k in order]
    first, *others = each
    # models that find as many share quotas, so that the others need not have the rest
    more = [say("which.others_at_no_more")] if len(others) >= NAMED else []
    models = [say("which.of_all_quotas", first=first), *others[: NAMED - 1], *more]
    best = names[order[0]]
    alone = say("which.unsure", models=best) if is_unsure(evaluation, None, best) else best
    verdict = alone if shares[order[0]] == 1 else say("which.mostly", model=best)
    where = "which.where_most_shared" if sum(shares) > 1 + 1e-9 else "which.where_most"
    return verdict, (say(where, models=listed(models)), say("which.give_quota"))


def _at_others(choices: list[Choice]) -> Said:
    """Which model is the best at each further quota, in a sentence for each."""
    verdicts = [_which_at(x) for x in choices]
    same_everywhere = len({*verdicts}) == 1
    return verdicts[0] if same_everywhere else say("others.depends"), tuple(map(_at, choices))


def _at(choice: Choice) -> str:
    """What the best model at a quota finds or brings, what a random choice, and how sure it is."""
    evaluation, sure = choice.evaluation, ""
    if choice.beside_chance <= 0:
        sure = f" {_which_at(choice)}."
    elif evaluation.test_at(choice.quota) is not None:
        sure = f" {how_sure(evaluation, choice)[0]}."
    said = {"At": sentence(at_quota(evaluation, choice.quota)), "model": choice.name}
    if choice.brings is not None:
        amount, interval = evaluation.amount, choice.in_words("brings", evaluation.amount)
        said["interval"] = f" ({interval})" if interval else ""
        said |= {"amount": amount(float(choice.brings[choice.first])), "sure": sure}
        return say("others.brings", random=amount(choice.random_brings), **said)
    found = f"{number(choice.found[choice.first])}{_of_places(choice, choice.first)}"
    said |= {"found": found, "interval": _found_from_to(choice)}
    random = f"{number(choice.random_found)}{_of_places(choice)}"
    return say("others.finds", random=random, sure=sure, **said)


# how many


def _how_many(evaluation: Results, choice: Choice | None) -> Said:
    if evaluation.gains is not None and evaluation.total:
        verdict, said = how_many_by_gain(evaluation, choice)
        return verdict, (*said, *_flattered(evaluation, evaluation.gains))
    if nothing := _nothing(evaluation, None):
        return say("which.unknown"), (nothing,)
    model, per = _model_in_question(evaluation, choice), evaluation.settings.per
    parts = {"model": evaluation.models[model], "needed": _needed(evaluation, model)}
    head = say("many.needed_weight" if evaluation.weighted else "many.needed", **parts)
    if choice is not None and choice.places:
        one = choice.size.is_one
        find = "many.find_one_and" if one else "many.find_and"
        find = find if per is None else "many.find_one" if one else "many.find"
        parts["share"] = percent(choice.found[model] / evaluation.positive_total)
        parts["positives"] = evaluation.settings.positives
        head = say(find, Size=sentence(str(choice.size)), **parts)
    if choice is not None and choice.quota.is_budget:
        return say("many.paid_for", places=number(choice.places)), (head,)
    if per is not None:
        return say("many.depends"), (head,)
    return say("many.depends"), (head, Advice(say("many.give_gain")))


def _needed(evaluation: Results, model: int) -> str:
    """How many places it takes to find half and most of the positives."""
    shares, rounded = (0.5, 0.9), float if evaluation.weighted else math.ceil
    needed = zip(shares, places_for(evaluation.rankings[model], shares), strict=True)
    return listed(
        [say("many.takes", share=plain(100 * x), places=number(rounded(y))) for x, y in needed]
    )


def _flattered(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """A warning that a cut was chosen on the rows that judge it, if nothing else says so."""
    settings, quota = evaluation.settings, gains.at_best_cut.of("quota")[gains.best_model]
    chosen_here = not settings.tune and not evaluation.has_intervals
    chosen_here = chosen_here and not no_row_is_a_loss(evaluation, gains)
    if chosen_here and 0 < quota < evaluation.total and not nothing_matters(gains):
        yield say("many.chosen_here")


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
        return say("brings.nothing"), (nothing,)
    if choice is None:
        return say("brings.depends"), (Advice(say("brings.give_gain")),)
    found, random = float(choice.found[choice.first]), choice.random_found
    weighted, several = evaluation.weighted, evaluation.settings.positives
    verdict = say(
        "brings.weight" if weighted else "brings.found",
        Positives=sentence(several),
        found=number(found) if weighted else counted(found, "positive", several),
        random=number(random),
    )
    per, is_budget = evaluation.settings.per, choice.quota.is_budget
    whom = "brings.of_places" if per is None else "brings.of_groups"
    whom = "brings.of_budget" if is_budget else whom
    parts = {"random": say(whom, size=choice.size, quota=choice.quota, group=per)}
    if choice.beside_chance <= 0:
        more = say("brings.no_more", **parts)
    else:
        times = "brings.times_as_much" if weighted else "brings.times_as_many"
        parts["times"] = formatted(found / random, ".3g") if random else ""
        more = say(times if random else "brings.more", more=number(found - random), **parts)
    if is_budget or per is not None:
        return verdict, (more,)
    return verdict, (more, Advice(say("brings.give_gain_for_that")))
