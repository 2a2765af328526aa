"""The models at one quota, best first: what each finds and brings there, and at any other."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels import Ranking, qrecall_curve, quota_threshold
from quotakernels._text import counted, formatted, number
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import Size

_SAME = 1e-9


@dataclass(frozen=True)
class Choice:
    """The models at a quota, those first that bring or, without gains, find the most.

    `filled` are the places that each model fills, and `random_places` those of a random choice.
    `found` are the expected positives of each model, and `brings` what it brings; `random_found`
    and `random_brings` are those of a random choice.  `defined` is false where nothing can be
    compared: of no places, of no rows, of no positives.
    """

    quota: Quota
    filled: NDArray[np.float64]
    random_places: float
    order: tuple[int, ...]
    found: NDArray[np.float64]
    random_found: float
    brings: NDArray[np.float64] | None
    random_brings: float
    defined: bool

    @property
    def places(self) -> float:
        """The places that the first model fills; only of a budget others fill another number."""
        return float(self.filled[self.order[0]])

    @property
    def best(self) -> tuple[int, ...]:
        """The best model, and those that are equal to it."""
        top = self.order[0]
        return tuple(k for k in self.order if same(self.compared[k], self.compared[top]))

    @property
    def compared(self) -> NDArray[np.float64]:
        """By what the models are compared: what they bring, or else what they find."""
        return self.found if self.brings is None else self.brings

    @property
    def chance(self) -> float:
        """What a random choice has of the same."""
        return self.random_found if self.brings is None else self.random_brings

    @property
    def beats_chance(self) -> bool:
        """Whether the best model is better than a random choice."""
        top = float(self.compared[self.order[0]])
        return top > self.chance and not same(top, self.chance)

    @property
    def below_chance(self) -> bool:
        """Whether all models are worse than a random choice."""
        top = float(self.compared[self.order[0]])
        return top < self.chance and not same(top, self.chance)


def same(a: float, b: float) -> bool:
    """Whether two numbers are equal but for rounding."""
    return math.isclose(a, b, rel_tol=_SAME, abs_tol=_SAME)


def at_random(evaluation: Results, gains: GainResults, places: float) -> float:
    """What the expected random choice for so many places brings."""
    share = places / evaluation.total
    return share * gains.everybody + (1 - share) * gains.nobody


class Fewer(NamedTuple):
    """A model that brings more with fewer places than any does with the `whole` quota; and what to
    expect of these places on other rows, NaN where that is not known.
    """

    model: int
    places: float
    brings: float
    whole: float
    expected: float


def fewer_places(evaluation: Results, quota: Quota) -> Fewer | None:
    """The best use of fewer places than a quota's, if that is better than to fill them all.

    None if the cuts may not be chosen on these rows.
    """
    gains = evaluation.gains
    if evaluation.settings.tune or gains is None:
        return None
    values = gains.at_quota[quota]
    model = int(np.nanargmax(values.of("best_places_bring")))
    best, total = (float(values.of(x)[model]) for x in ("best_places_bring", "brings"))
    most = float(np.nanmax(values.of("brings")))
    if best - most <= _SAME * max(abs(best), abs(most)) or best <= total:
        return None
    expected = gains.expected_within.get(quota)
    elsewhere = math.nan if expected is None else float(expected[model])
    return Fewer(model, float(values.of("best_places")[model]), best, most, elsewhere)


def choice_at(evaluation: Results, quota: Quota) -> Choice:
    """Put the models in order at a quota."""
    filled = evaluation.places(quota)
    rates = evaluation.at_quota[quota].of("hit_rate")
    found = filled * (np.where(filled == 0, 0.0, rates) if quota.is_budget else rates)
    gains = evaluation.gains
    brings = None if gains is None else gains.at_quota[quota].of("brings")
    at_random_places = evaluation.places_at_random(quota)
    compared = found if brings is None else brings
    defined = bool(filled.any() and evaluation.total and not np.isnan(compared).any())
    return Choice(
        quota,
        filled,
        at_random_places,
        tuple(int(k) for k in np.argsort(-compared, kind="stable")),
        found,
        evaluation.found_at_random(quota),
        brings,
        math.nan
        if gains is None or not defined
        else at_random(evaluation, gains, at_random_places),
        defined and (brings is not None or evaluation.positive_total > 0),
    )


def expected_elsewhere(evaluation: Results, choice: Choice) -> float:
    """What the first model will have on other rows of that by which models are compared.

    NaN without resamples of all models.
    """
    test = evaluation.test_at(choice.quota)
    if test is None or test.found.names[0] != evaluation.models[choice.order[0]]:
        return math.nan
    # chance in the resamples is no reason to expect more than there was
    return min(test.found.expected, float(test.found.estimate[0]))


def first_choice(evaluation: Results) -> Choice | None:
    """The models at the first quota, if there is one."""
    quotas = evaluation.settings.quotas
    return choice_at(evaluation, quotas[0]) if quotas else None


class End(NamedTuple):
    """Where a quota ends: the score, and how much lies above it and at it."""

    threshold: str
    above: float
    tied: float


def end_of(evaluation: Results, model: int, quota: Quota) -> End:
    """Where a model's quota ends; its distinct scores stand for the rows that have them."""
    ranking, places = evaluation.rankings[model], float(evaluation.places(quota)[model])
    argument = {"quota": places} if quota.is_budget else quota.argument(evaluation.total)
    thresholds, weights = np.asarray(ranking.thresholds), np.asarray(ranking.weights)
    end = quota_threshold(thresholds, sample_weight=weights.astype(np.float64), **argument)
    score = thresholds.dtype.type(end.threshold) if places else math.nan
    return End(str(score), float(end.above), float(end.tied))


def places_for(ranking: Ranking, share: float) -> float:
    """How many places it takes to find a share of all positives."""
    curve = qrecall_curve(ranking)
    # the first cut that reaches the share; the curve is a straight line to it from the cut before
    reached = int(np.argmax(curve.value >= share - _SAME))
    ends = slice(max(reached - 1, 0), reached + 1)
    return float(np.interp(share, curve.value[ends], curve.quota[ends]))


def no_best_cut(gains: GainResults) -> bool:
    """Whether no model's best cut brings more than selecting nobody."""
    top, nobody = float(np.nanmax(gains.at_best_cut.of("brings"))), gains.nobody
    return top <= nobody or same(top, nobody)


def nothing_matters(gains: GainResults) -> bool:
    """Whether every cut of every model brings the same."""
    nobody = gains.nobody
    values = np.concatenate([np.asarray(x.curve.value, dtype=np.float64) for x in gains.cuts])
    return bool(np.allclose(values, nobody, rtol=_SAME, atol=_SAME * np.abs(values).max(initial=0)))


def how_filled(places: float, threshold: str, above: int, tied: int) -> str:
    """Say who is in: those above a threshold, and all or some of those at it."""
    head, remaining = f"{Size(places, False)}: ", places - above
    if places == 0:
        return head + "nobody is in"
    tie = f"the {number(tied)} tied at it" if tied > 1 else "the one at it"
    whole = math.isclose(tied, remaining)
    at_it = f"{number(tied)} at it" if whole else f"{number(remaining)} of {tie}"
    return head + f"{number(above)} above the threshold {threshold}, {at_it}"


def how_filled_each(places: float, quota: Quota, column: str, sizes: NDArray[Any]) -> str:
    """Say how many places there are of each group, and how many groups have fewer rows."""
    short = 0 if quota.percent else int(np.count_nonzero(sizes < quota.amount))
    smaller = "that cost less" if quota.is_budget else "with fewer rows"
    fewer = f", {short} of them {smaller}" if short else ""
    groups = f"{counted(len(sizes), 'group', 'groups')}{fewer}"
    what = f"{number(quota.amount)} for" if quota.is_budget else f"{quota} of"
    return f"{Size(places, False)}: {what} each {column} ({groups})"


# what every quota finds and brings


_Columns = dict[str, NDArray[np.float64]]
_LESS = 0.95
"""Of the points that the size of the last text has room for, as some take more of it."""
_START = 0.1
"""The share of all at which to begin where nobody has asked for a quota."""


@dataclass(frozen=True)
class AnyQuota:
    """The cuts of each model between which all is a straight line.

    Each model has its selected, `places`, the positives `found` and, where there are any, what they
    `cost` and `brings`, at each of its cuts.  `axis` is what is chosen, "places" or "cost", up to
    `end` and first at `start`.  `errors` say how far off values between the cuts may be.
    """

    axis: str
    end: float
    start: float
    models: dict[str, _Columns]
    errors: dict[str, float]

    def to_json(self) -> str:
        """As JSON: of every column the first value, and what each further one is more."""
        models = [
            {"name": name, **{key: _steps(column) for key, column in columns.items()}}
            for name, columns in self.models.items()
        ]
        record = {"axis": self.axis, "end": self.end, "start": self.start, "models": models}
        return json.dumps(record, separators=(",", ":"))


def at_any_quota(evaluation: Results, size: int) -> AnyQuota | None:
    """The lines of all models in a text of at most so many bytes: exactly, or as near as fits.

    None where one quota is not all there is to choose, and where there is nothing to find.
    """
    if evaluation.settings.per is not None or not evaluation.positive_total:
        return None
    of_cost = evaluation.settings.cost is not None
    axis, end = ("cost", evaluation.total_cost) if of_cost else ("places", evaluation.total)
    choice, start = first_choice(evaluation), float(np.ceil(_START * end))
    if choice is not None:
        quota = choice.quota
        start = quota.places(evaluation.total_cost) if quota.is_budget else choice.places
    whole = [_columns(evaluation, model) for model in range(len(evaluation.models))]
    points = size // (2 * len(whole[0]) * len(whole))  # a digit and a comma in each column
    while True:
        kept = [_thinned(columns, axis, start, points) for columns in whole]
        lines = dict(zip(evaluation.models, (x for x, _ in kept), strict=True))
        errors = {name: max(off[name] for _, off in kept) for name in whole[0]}
        found = AnyQuota(axis, float(end), float(start), lines, errors)
        length = len(found.to_json().encode())
        if length <= size or not points:
            return found
        points = min(points - 1, int(_LESS * size / length * points))


def _columns(evaluation: Results, model: int) -> _Columns:
    """What a model has selected, found, spent and brought at every cut."""
    ranking = evaluation.rankings[model]
    steps = {"places": ranking.weights, "found": ranking.positive_weights}
    if evaluation.settings.cost is not None:
        steps["cost"] = np.asarray(ranking.columns["cost"].whole)
    columns = {
        key: np.concatenate([[0.0], np.cumsum(np.asarray(step, dtype=np.float64))])
        for key, step in steps.items()
    }
    if evaluation.gains is not None:
        columns["brings"] = np.asarray(evaluation.gains.cuts[model].curve.value, dtype=np.float64)
    return columns


def _thinned(
    columns: _Columns, axis: str, start: float, points: int
) -> tuple[_Columns, dict[str, float]]:
    """So many of the cuts, and both beside the start; and how far off lines between them are."""
    along = columns[axis]
    every, last = np.arange(len(along)), len(along) - 1
    after = int(np.searchsorted(along, start, side="right"))
    among = np.linspace(0, last, min(points, len(along))).round().astype(int)
    kept = np.unique([0, max(after - 1, 0), min(after, last), last, *among])
    piece = np.minimum(np.searchsorted(kept, every, side="right") - 1, len(kept) - 2)
    low, high = kept[piece], kept[piece + 1]
    extent = along[high] - along[low]
    between = (extent > 0) & ~np.isin(every, kept)
    part = np.divide(along - along[low], extent, where=between, out=np.zeros(len(along)))
    errors = {
        name: float(np.abs(x[low] + part * (x[high] - x[low]) - x).max(where=between, initial=0.0))
        for name, x in columns.items()
    }
    return {name: x[kept] for name, x in columns.items()}, errors


def _steps(column: NDArray[np.float64]) -> list[Any]:
    """The first value and the differences, whole numbers as such."""
    steps = np.diff(column, prepend=0.0).tolist()
    return [int(x) if x.is_integer() else float(formatted(x, ".10g")) for x in steps]
