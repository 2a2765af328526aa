"""How sure the order of the models is by what they bring, in plain sentences."""

from __future__ import annotations

import math

import numpy as np

from quotakernels._text import formatted, plain
from quotakernels.evaluation.advice import first_best
from quotakernels.evaluation.choice import Choice, no_best_cut
from quotakernels.evaluation.gain_intervals import GainDifference
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.words import amount, at_most_three

__all__ = ["how_sure_by_gain"]

Said = tuple[str, tuple[str, ...]]


def how_sure_by_gain(evaluation: Results, gains: GainResults, choice: Choice | None) -> Said:
    """Whether the first model brings more than the others by more than chance.

    At the quota; without one, by what the best cuts bring.
    """
    assert evaluation.settings.resampling is not None
    if choice is None and no_best_cut(gains):
        return "No model is the first", ("None brings more than selecting nobody.",)
    values = gains.at_best_cut.of("brings") if choice is None else choice.compared
    first = first_best(gains.at_best_cut) if choice is None else choice.order[0]
    others = [int(k) for k in np.argsort(-values, kind="stable") if k != first]
    differences = {k: _difference(evaluation, gains, choice, first, k) for k in others}
    second = others[0]
    said = _more(
        evaluation, choice, (first, second), float(values[first] - values[second]), differences
    )
    if needed := _lacking(evaluation, len(others)):
        few = f"Give {evaluation.settings.option('resamples')} {needed} or more."
        return "Too few resamples to tell", (said, few)
    return _verdict(evaluation, first, differences, said)


def _difference(
    evaluation: Results, gains: GainResults, choice: Choice | None, first: int, other: int
) -> GainDifference:
    """How much more the first model brings, p being that of all others together."""
    resampling = evaluation.settings.resampling
    assert resampling is not None
    assert gains.ends is not None
    quota = None if choice is None else choice.quota
    found = gains.ends.difference(quota, first, other, resampling.tested_level)
    others = len(evaluation.models) - 1
    return found._replace(p_value=min(1.0, others * found.p_value))


def _lacking(evaluation: Results, others: int) -> int:
    """How many resamples it would take to tell so many models from the first, if there are less."""
    resampling = evaluation.settings.resampling
    assert resampling is not None
    needed = math.ceil(round(2 * others / (1 - resampling.tested_level) - 1, 6))
    return needed if needed > resampling.resamples else 0


def _more(
    evaluation: Results,
    choice: Choice | None,
    models: tuple[int, int],
    by: float,
    differences: dict[int, GainDifference],
) -> str:
    """How much more the first model brings than the second."""
    resampling = evaluation.settings.resampling
    assert resampling is not None
    first, second = (evaluation.models[k] for k in models)
    found = differences[models[1]]
    more = "as much as" if amount(by) == amount(0.0) else f"{amount(by)} more than"
    said = f"{first} brings {more} {second}"
    if choice is None:
        said = f"The best cut of {first} brings {more} that of {second}"
    if math.isnan(found.lower):
        return f"{said}."
    if found.lower == found.upper:
        return f"{said}, the same in all resamples."
    level = f"{plain(100 * resampling.tested_level)}%"
    ends = f"{amount(found.lower)} to {amount(found.upper)}"
    p = "p" if len(differences) == 1 else "corrected p"
    return f"{said} ({level} interval {ends}, {p} = {formatted(found.p_value, '.2g')})."


def _verdict(
    evaluation: Results, first: int, differences: dict[int, GainDifference], said: str
) -> Said:
    """Which of the others may bring as much."""
    names, resampling = evaluation.models, evaluation.settings.resampling
    assert resampling is not None
    level = round(1 - resampling.tested_level, 12)
    less = [names[k] for k, x in differences.items() if x.p_value <= level and x.lower >= 0]
    alike = [names[k] for k in differences if names[k] not in less]
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
