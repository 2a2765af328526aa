"""What selecting brings in the user's unit, for the questions that a page answers first."""

from __future__ import annotations

from collections.abc import Iterator

from quotakernels.cli.advice import fewer_places, first_best
from quotakernels.cli.evaluation import Brought, Evaluation
from quotakernels.report.choice import Choice, best_values
from quotakernels.report.words import amount, listed, number, percent, signed

__all__ = ["at_best_cuts", "how_many_by_gain", "what_it_brings"]

Said = tuple[str, tuple[str, ...]]


def how_many_by_gain(evaluation: Evaluation, choice: Choice | None) -> Said:
    """How many to select: within the quota, and with free choice."""
    assert evaluation.brought is not None
    if evaluation.task.tune is not None:
        return _tuned(evaluation, evaluation.brought, choice)
    verdict, said = _best_cut(evaluation, evaluation.brought)
    if choice is not None and choice.places:
        verdict, within = _within(evaluation, choice)
        said = (*within, *(x.replace("The most", "Without a limit the most", 1) for x in said))
    return verdict, (*said, *_mind(evaluation))


def at_best_cuts(evaluation: Evaluation, brought: Brought) -> Said:
    """The model whose best cut brings the most."""
    names, brings = evaluation.task.scores, brought.at_best_cut.of("brings")
    first = first_best(brought.at_best_cut)
    others = sorted((k for k in range(len(names)) if k != first), key=lambda k: -brings[k])
    each = listed([f"{names[k]} {amount(brings[k])}" for k in others])
    said = f"Its best cut brings {amount(brings[first])}, that of {each}."
    return names[first], (said, "Give --quota to learn it for the places that you have.")


def _mind(evaluation: Evaluation) -> Iterator[str]:
    """What makes the best number doubtful."""
    unit, brought = evaluation.task.unit, evaluation.brought
    assert unit is not None
    assert brought is not None
    if unit.column is not None and not unit.cost and not (brought.gains.selected < 0).any():
        yield "No place costs anything here (--cost), so that each one pays."
    elif brought.ends is not None and brought.ends.expected is not None:
        expected = amount(float(brought.ends.expected[first_best(brought.at_best_cut)]))
        yield f"Expect {expected} of it on as many other rows, which did not choose it."


def _best_cut(evaluation: Evaluation, brought: Brought) -> Said:
    """The cut that brings the most of all cuts of all models."""
    model = first_best(brought.at_best_cut)
    found = best_values(brought.at_best_cut, model)
    name, quota = evaluation.task.scores[model], found["quota"]
    if not quota:
        return "Nobody", (f"The most is brought by selecting nobody: {amount(found['brings'])}.",)
    if quota == evaluation.total:
        return "All", (f"The most is brought by selecting all: {amount(found['brings'])}.",)
    return f"{number(quota)}, by {name}", (
        f"The most is brought by the first {number(quota)} of {name} ({percent(found['fraction'])} "
        f"of all): {amount(found['brings'])}.",
    )


def _within(evaluation: Evaluation, choice: Choice) -> Said:
    """Whether all places of the quota are worth filling."""
    assert evaluation.brought is not None
    places = number(choice.places)
    fewer = fewer_places(evaluation, evaluation.brought.at_quota[choice.quota])
    if fewer is None:
        return f"All {places} places", ("No smaller number brings more.",)
    if not fewer.places:
        said = f"Each of the {places} places would cost more than it brings."
        return "Nobody", (said,)
    name = evaluation.task.scores[fewer.model]
    return f"{number(fewer.places)} of the {places} places", (
        f"The first {number(fewer.places)} of {name} bring {amount(fewer.brings)}, "
        f"more than all {places} places do.",
    )


def _tuned(evaluation: Evaluation, brought: Brought, choice: Choice | None) -> Said:
    """Those that reach the threshold that was chosen on other rows, if the quota has room."""
    assert evaluation.task.tune is not None
    model, (column, value) = first_best(brought.at_best_cut), evaluation.task.tune
    found, name = best_values(brought.at_best_cut, model), evaluation.task.scores[model]
    reached, brings = number(found["quota"]), amount(found["brings"])
    if not found["quota"]:
        said = f"On the rows with {column} = {value} it was best to select nobody: {brings} here."
        return "Nobody", (said,)
    said = (
        f"The best cut of {name}, chosen on the rows with {column} = {value}, is reached by "
        f"{reached} of these rows and brings {brings}."
    )
    if choice is None or not choice.places:
        return f"{reached}, by {name}", (said,)
    places = number(choice.places)
    room = found["quota"] < choice.places
    return f"{reached} of the {places} places" if room else f"All {places} places", (said,)


def what_it_brings(evaluation: Evaluation, choice: Choice | None) -> Said:
    """What the quota brings, or else the best cut, beside a random choice, nobody and all."""
    brought = evaluation.brought
    assert brought is not None
    nobody, everybody = amount(brought.gains.nobody), amount(brought.gains.everybody)
    if choice is None or not choice.places or choice.brings is None:
        best = best_values(brought.at_best_cut, first_best(brought.at_best_cut))
        beside = f"To select nobody brings {nobody}, to select all {everybody}."
        return f"{amount(best['brings'])} at the best cut", (beside, _unit(evaluation))
    total = float(choice.brings[choice.order[0]])
    per_place = (total - brought.gains.nobody) / choice.places
    return f"{amount(total)}, at random {amount(choice.random_brings)}", (
        f"With all {number(choice.places)} places{_interval(evaluation, choice)}. To select nobody "
        f"brings {nobody}, and each place adds {amount(per_place)} on average. To select all "
        f"brings {everybody}.",
        _unit(evaluation),
    )


def _interval(evaluation: Evaluation, choice: Choice) -> str:
    """How far that may be off."""
    brought, certainty = evaluation.brought, evaluation.task.certainty
    if certainty is None or brought is None or brought.ends is None:
        return ""
    ends, model = brought.ends.at_quota[choice.quota], choice.order[0]
    lower, upper = (amount(float(x[model, 0])) for x in (ends.lower, ends.upper))
    return f" ({100 * certainty.tested_level:g}% interval {lower} to {upper})"


def _unit(evaluation: Evaluation) -> str:
    """What is added up."""
    unit = evaluation.task.unit
    assert unit is not None
    if unit.impacts is None:
        return f"Counted: {unit}."
    cells = ("a positive selected", "a negative selected", "a positive left", "a negative left")
    each = [f"{cell} {signed(x)}" for cell, x in zip(cells, unit.impacts, strict=True)]
    return f"Counted: {', '.join(each)}."
