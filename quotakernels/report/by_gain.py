"""How sure the order of the models is by what they bring, in plain sentences."""

from __future__ import annotations

import math

import numpy as np

from quotakernels._text import formatted, plain
from quotakernels.cli.advice import first_best
from quotakernels.cli.certain_gains import Lead
from quotakernels.cli.evaluation import Brought, Evaluation
from quotakernels.report.choice import Choice, no_best_cut
from quotakernels.report.words import amount, at_most_three

__all__ = ["how_sure_by_gain"]

Said = tuple[str, tuple[str, ...]]


def how_sure_by_gain(evaluation: Evaluation, brought: Brought, choice: Choice | None) -> Said:
    """Whether the first model brings more than the others by more than chance.

    At the quota; without one, by what the best cuts bring.
    """
    assert evaluation.task.certainty is not None
    if choice is None and no_best_cut(brought):
        return "No model is the first", ("None brings more than selecting nobody.",)
    values = brought.at_best_cut.of("brings") if choice is None else choice.compared
    first = first_best(brought.at_best_cut) if choice is None else choice.order[0]
    others = [int(k) for k in np.argsort(-values, kind="stable") if k != first]
    leads = {k: _lead(evaluation, brought, choice, first, k) for k in others}
    second = others[0]
    said = _more(evaluation, choice, (first, second), float(values[first] - values[second]), leads)
    if needed := _lacking(evaluation, len(others)):
        few = f"Give --resamples {needed} or more."
        return "Too few resamples to tell", (said, few)
    return _verdict(evaluation, first, leads, said)


def _lead(
    evaluation: Evaluation, brought: Brought, choice: Choice | None, first: int, other: int
) -> Lead:
    """How much more the first model brings, p being that of all others together."""
    certainty = evaluation.task.certainty
    assert certainty is not None
    assert brought.ends is not None
    quota = None if choice is None else choice.quota
    found = brought.ends.lead(quota, first, other, certainty.tested_level)
    others = len(evaluation.task.scores) - 1
    return found._replace(p_value=min(1.0, others * found.p_value))


def _lacking(evaluation: Evaluation, others: int) -> int:
    """How many resamples it would take to tell so many models from the first, if there are less."""
    certainty = evaluation.task.certainty
    assert certainty is not None
    needed = math.ceil(round(2 * others / (1 - certainty.tested_level) - 1, 6))
    return needed if needed > certainty.resamples else 0


def _more(
    evaluation: Evaluation,
    choice: Choice | None,
    models: tuple[int, int],
    lead: float,
    leads: dict[int, Lead],
) -> str:
    """How much more the first model brings than the second."""
    certainty = evaluation.task.certainty
    assert certainty is not None
    first, second = (evaluation.task.scores[k] for k in models)
    found = leads[models[1]]
    more = "as much as" if amount(lead) == amount(0.0) else f"{amount(lead)} more than"
    said = f"{first} brings {more} {second}"
    if choice is None:
        said = f"The best cut of {first} brings {more} that of {second}"
    if math.isnan(found.lower):
        return f"{said}."
    if found.lower == found.upper:
        return f"{said}, the same in all resamples."
    level = f"{plain(100 * certainty.tested_level)}%"
    ends = f"{amount(found.lower)} to {amount(found.upper)}"
    p = "p" if len(leads) == 1 else "corrected p"
    return f"{said} ({level} interval {ends}, {p} = {formatted(found.p_value, '.2g')})."


def _verdict(evaluation: Evaluation, first: int, leads: dict[int, Lead], said: str) -> Said:
    """Which of the others may bring as much."""
    names, certainty = evaluation.task.scores, evaluation.task.certainty
    assert certainty is not None
    level = round(1 - certainty.tested_level, 12)
    less = [names[k] for k, x in leads.items() if x.p_value <= level and x.lower >= 0]
    alike = [names[k] for k in leads if names[k] not in less]
    if not alike:
        return f"Sure that {names[first]} is the first", (said,)
    if not less:
        return "Not sure: the models cannot be told apart", (said,)
    rivals = at_most_three(alike, "or")
    return (
        f"Not sure: {rivals} may be as good",
        (
            said,
            f"It brings more than {at_most_three(less)}.",
        ),
    )
