"""What selecting brings in the user's unit, for the questions that a page answers first."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from quotakernels._text import number, percent, plain
from quotakernels.evaluation.choice import (
    Choice,
    Fewer,
    expected_elsewhere,
    fewer_places,
    no_best_cut,
    nothing_matters,
    same,
)
from quotakernels.evaluation.conditions import in_words
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.words import Said, at_most_three, sentence, signed


def how_many_by_gain(evaluation: Results, choice: Choice | None) -> Said:
    """How many to select: within the quota, and with free choice."""
    gains = evaluation.gains
    assert gains is not None
    if nothing_matters(gains):
        return "It makes no difference", (f"Any number brings {evaluation.amount(gains.nobody)}.",)
    if evaluation.settings.tune:
        return _tuned(evaluation, gains, choice)
    if no_row_is_a_loss(evaluation, gains):
        return _free(evaluation, choice)
    verdict, said = _best_cut(evaluation, gains)
    if choice is not None and choice.places:
        verdict, within = _within(evaluation, gains, choice)
        if _reaches_best_cut(evaluation, gains, choice):
            said = within
        else:
            said = (*within, *(x.replace("The most", "Without a limit the most", 1) for x in said))
    return verdict, said


def no_row_is_a_loss(evaluation: Results, gains: GainResults) -> bool:
    """Whether more places never bring less, so that no cut is to be chosen."""
    unit = evaluation.settings.unit
    assert unit is not None
    return unit.column is not None and not unit.place_cost and not gains.losses


def _free(evaluation: Results, choice: Choice | None) -> Said:
    """Where no row is a loss there is no reason to select fewer."""
    give = f"; give {evaluation.settings.option('place-cost')} if places cost something"
    give = give if evaluation.settings.cost is None else ""
    said = (f"No row is a loss, so more places never bring less{give}.",)
    if choice is None or not choice.places:
        return "All", said
    return sentence(_all_of(evaluation, choice)), said


def _all_of(evaluation: Results, choice: Choice) -> str:
    """All places of a quota, or all that a budget pays for."""
    paid = " that the budget pays for" if choice.quota.is_budget else ""
    return f"{evaluation.size(choice.places).all}{paid}"


def _reaches_best_cut(evaluation: Results, gains: GainResults, choice: Choice) -> bool:
    """Whether the quota leaves room for the best of all cuts."""
    fewer = fewer_places(evaluation, gains.at_quota[choice.quota])
    model = gains.best_model
    return fewer is not None and same(fewer.brings, float(gains.at_best_cut.of("brings")[model]))


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
    quota = evaluation.settings.option("quota")
    return names[first], (said, f"Give {quota} to learn it for the places that you have.")


def _best_cut(evaluation: Results, gains: GainResults) -> Said:
    """The cut that brings the most of all cuts of all models."""
    model = gains.best_model
    found = gains.at_best_cut.of_model(model)
    name, quota = evaluation.models[model], found["quota"]
    brings = evaluation.amount(found["brings"])
    if not quota:
        return "Nobody", (f"The most comes from selecting nobody: {brings}.",)
    if quota == evaluation.total:
        return "All", (f"The most comes from selecting all: {brings}.",)
    size, share = evaluation.size(quota), percent(found["fraction"])
    said = f"The most comes from the {size.first()} of {name} ({share} of all): {brings}."
    expected = found.get("expected")
    if expected is None:
        return f"{number(quota)}, by {name}", (said,)
    also, doubt = _on_other_rows(evaluation, expected, gains.nobody, gains.everybody, "all")
    return doubt or f"{number(quota)}, by {name}", (said, also)


def _on_other_rows(
    evaluation: Results, expected: float, nobody: float, whole: float, all_of_it: str
) -> tuple[str, str]:
    """What to expect of a cut that was chosen here, and the doubt whether it is worth choosing."""
    said = f"Expect {evaluation.amount(expected)} on as many other rows"
    if expected <= nobody and nobody >= whole:
        less = f"{said}: not more than selecting nobody brings ({evaluation.amount(nobody)})."
        return less, "Not clear that any number pays"
    if expected <= whole:
        less = f"On other rows expect no more from them than from {all_of_it}."
        return less, f"{sentence(all_of_it)}: not clear that fewer are better"
    return f"{said}.", ""


def _within(evaluation: Results, gains: GainResults, choice: Choice) -> Said:
    """Whether all places of the quota are worth filling."""
    size = evaluation.size(choice.places)
    fewer = fewer_places(evaluation, gains.at_quota[choice.quota])
    if fewer is None:
        return sentence(_all_of(evaluation, choice)), ("No smaller number brings more.",)
    if not fewer.places:
        limit = "budget" if choice.quota.is_budget else "quota"
        said = f"No number of places within the {limit} brings more than selecting nobody."
        return "Nobody", (said,)
    name, best = evaluation.models[fewer.model], evaluation.size(fewer.places)
    bring, do = "brings" if best.is_one else "bring", "does" if size.weighted else "do"
    more = f"{bring} {evaluation.amount(fewer.brings)}, more than {size.all} {do}"
    said = f"The {best.first()} of {name} {more}."
    verdict = f"{number(fewer.places)} of {size.the}"
    if choice.quota not in gains.expected_within:
        return verdict, (said,)
    also, doubt = _of_fewer(evaluation, gains, choice, fewer)
    return doubt or verdict, (said, also)


def _of_fewer(
    evaluation: Results, gains: GainResults, choice: Choice, fewer: Fewer
) -> tuple[str, str]:
    """What to expect of fewer places on other rows, and the doubt whether they are better."""
    expected = float(gains.expected_within[choice.quota][fewer.model])
    whole = float(np.nanmax(gains.at_quota[choice.quota].of("brings")))
    size = evaluation.size(choice.places)
    return _on_other_rows(evaluation, expected, gains.nobody, whole, size.all)


def fewer_to_fill(evaluation: Results, choice: Choice) -> Fewer | None:
    """The fewer places that are the answer, unless the best of all cuts is the same."""
    gains = evaluation.gains
    assert gains is not None
    fewer = _fewer(evaluation, gains, choice)
    if fewer is None or not fewer.places or _reaches_best_cut(evaluation, gains, choice):
        return None
    return fewer


def _fewer(evaluation: Results, gains: GainResults, choice: Choice) -> Fewer | None:
    """The fewer places, or none at all, that bring more than all without a doubt."""
    fewer = fewer_places(evaluation, gains.at_quota[choice.quota])
    if fewer is None or choice.quota not in gains.expected_within or not fewer.places:
        return fewer
    return None if _of_fewer(evaluation, gains, choice, fewer)[1] else fewer


def _leaves_places(evaluation: Results, gains: GainResults, choice: Choice) -> bool:
    """Whether the answer to how many is fewer than the quota has, so that not all are meant."""
    if not gains.cuts or nothing_matters(gains):
        return False
    if evaluation.settings.tune:
        return float(gains.at_best_cut.of_model(choice.order[0])["quota"]) < choice.places
    return _fewer(evaluation, gains, choice) is not None


def _tuned(evaluation: Results, gains: GainResults, choice: Choice | None) -> Said:
    """Those that reach the threshold that was chosen on other rows, if the quota has room."""
    model = gains.best_model if choice is None or not choice.defined else choice.order[0]
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
    size = evaluation.size(choice.places)
    if found["quota"] < choice.places:
        why = "Rows below that cut brought less there, so the other places stay empty."
        return f"{reached} of {size.the}", (said, why)
    if choice.quota.is_budget:
        enough = "That is no less than the budget pays for, so all of it is spent."
    else:
        enough = "That is no less than the quota, so all of it is filled."
    return sentence(_all_of(evaluation, choice)), (said, enough)


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
    total = float(choice.brings[choice.order[0]])
    brings, expected = evaluation.amount(total), expected_elsewhere(evaluation, choice)
    elsewhere = "" if math.isnan(expected) else evaluation.amount(expected)
    if elsewhere not in ("", brings):
        brings = f"{brings} here, {elsewhere} expected on other rows"
    per_place = (total - gains.nobody) / choice.places
    size = evaluation.size(choice.places)
    if _leaves_places(evaluation, gains, choice):
        brings = f"{sentence(_all_of(evaluation, choice))}: {brings}"
    return f"{brings}, at random {evaluation.amount(choice.random_brings)}", (
        f"With {size}{_interval(evaluation, choice)}. Selecting nobody brings {nobody}, selecting "
        f"all {everybody}; each place adds {evaluation.amount(per_place)} on average.",
        *_may_not_pay(evaluation, choice),
        _unit(evaluation),
    )


def _may_not_pay(evaluation: Results, choice: Choice) -> Iterator[str]:
    """That the places bring more than selecting nobody here, and perhaps not on other rows."""
    gains = evaluation.gains
    assert gains is not None
    assert choice.brings is not None
    lower, _ = gains.at_quota[choice.quota].interval("brings", choice.order[0])
    if evaluation.has_intervals and lower < gains.nobody < choice.brings[choice.order[0]]:
        size = evaluation.size(choice.places)
        yield f"On other rows {size} may bring less than selecting nobody."


def _interval(evaluation: Results, choice: Choice) -> str:
    """How far that may be off."""
    gains, resampling = evaluation.gains, evaluation.settings.resampling
    if resampling is None or gains is None or not evaluation.has_intervals:
        return ""
    if gains.cuts and nothing_matters(gains):
        return ""
    ends = gains.at_quota[choice.quota].interval("brings", choice.order[0])
    lower, upper = map(evaluation.amount, ends)
    if lower == upper and gains.cuts:
        return ", the same in all resamples, so they do not show how sure it is"
    return f" ({plain(100 * resampling.tested_level)}% interval {lower} to {upper})"


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
    each = [f"{cell} {signed(x)}" for cell, x in zip(cells, unit.impacts, strict=True)]
    tuned = f", tuned to {unit.tuned_to}; quotas are of the rows as they are" if unit.ratio else ""
    counted = settings.in_currency("Counted")
    return f"{counted}{' for each row' if called else ''}: {', '.join(each)}{tuned}.{spent}"
