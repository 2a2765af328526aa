"""What to select, and what it brings, in sentences that somebody can act on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quotakernels._text import money, number
from quotakernels.evaluation.results import GainResults, Results, Values

_ROUNDING = 1e-9
_FLATTERED = (
    "The best cuts were chosen on the rows that judge them, so that others will probably bring "
    "less; {} chooses them on rows of their own."
)


def advice(evaluation: Results) -> Iterator[str]:
    """Say how many to select by which model, with free choice and at each quota."""
    gains = evaluation.gains
    if gains is None or not evaluation.total:
        return
    yield _most(evaluation, gains)
    for quota, values in gains.at_quota.items():
        if places := evaluation.places(quota):
            yield _at_quota(evaluation, gains, places, values)
    if evaluation.settings.tune is None and _chosen(gains):
        tune = "--tune COL=VALUE" if evaluation.settings.command else "tune="
        yield _FLATTERED.format(tune) + _expected(evaluation, gains)


def _most(evaluation: Results, gains: GainResults) -> str:
    model = gains.best_model
    found = gains.at_best_cut.of_model(model)
    total = found["brings"]
    if not found["quota"]:
        return f"Best: select nobody, which brings {money(gains.nobody)}."
    if found["quota"] == evaluation.total:
        return f"Best: select all, which brings {money(total)}."
    return (
        f"Best: select {_amount(evaluation, found['quota'])} that {evaluation.models[model]} "
        f"puts first (score >= {found['threshold']}). That brings {money(total)}: "
        f"{_compared(total, gains.everybody)} to select all, "
        f"{_compared(total, gains.nobody)} to select nobody."
    )


def _chosen(gains: GainResults) -> bool:
    """Whether the best cut selects any: what nobody brings is no luck of a model's."""
    return bool(gains.at_best_cut.of("quota")[gains.best_model])


def _expected(evaluation: Results, gains: GainResults) -> str:
    if gains.ends is None or gains.ends.expected is None:
        return ""
    model = gains.best_model
    amount = money(float(gains.ends.expected[model]))
    return f" Expect {amount} of {evaluation.models[model]} on as many others."


def _at_quota(evaluation: Results, gains: GainResults, places: float, values: Values) -> str:
    model = values.first_best
    name, total = evaluation.models[model], float(values.of("brings")[model])
    random = at_random(evaluation, gains, places)
    versus = (
        f"{name} brings {money(total)}, and a random choice {money(random)}."
        if total >= random
        else f"no model is better than a random choice, which brings {money(random)} "
        f"({name} {money(total)})."
    )
    return f"With {_places(evaluation, places)}, {versus}{_fewer(evaluation, values)}"


def at_random(evaluation: Results, gains: GainResults, places: float) -> float:
    """What the expected random choice for so many places brings."""
    share = places / evaluation.total
    return share * gains.everybody + (1 - share) * gains.nobody


class Fewer(NamedTuple):
    """A model that brings more with fewer places than any does with all of them."""

    model: int
    places: float
    brings: float


def fewer_places(evaluation: Results, values: Values) -> Fewer | None:
    """The best use of fewer places than a quota's, if that is better than to fill them all.

    None if the cuts may not be chosen on these rows.
    """
    if evaluation.settings.tune is not None:
        return None
    model = int(np.nanargmax(values.of("best_places_bring")))
    best, total = (float(values.of(x)[model]) for x in ("best_places_bring", "brings"))
    most = float(np.nanmax(values.of("brings")))
    if best - most <= _ROUNDING * max(abs(best), abs(most)) or best <= total:
        return None
    return Fewer(model, float(values.of("best_places")[model]), best)


def _fewer(evaluation: Results, values: Values) -> str:
    """Say so where it pays to leave places empty."""
    fewer = fewer_places(evaluation, values)
    if fewer is None:
        return ""
    if not fewer.places:
        return f" Better leave all of them empty: {money(fewer.brings)}."
    amount, name = _amount(evaluation, fewer.places), evaluation.models[fewer.model]
    return f" Better fill only {amount} by {name}: {money(fewer.brings)}."


def _amount(evaluation: Results, quota: float) -> str:
    if not evaluation.weighted:
        return f"the {number(quota)}" if quota != 1 else "the one"
    return f"a weight of {number(quota)} (of {number(evaluation.total)})"


def _places(evaluation: Results, places: float) -> str:
    if not evaluation.weighted:
        return f"{number(places)} place{'' if places == 1 else 's'}"
    return f"places for a weight of {number(places)}"


def _compared(total: float, other: float) -> str:
    difference = total - other
    if abs(difference) <= _ROUNDING * abs(total):
        return "as much as"
    return f"{money(abs(difference))} {'less' if difference < 0 else 'more'} than"
