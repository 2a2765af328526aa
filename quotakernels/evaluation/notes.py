"""What is said of how sure an evaluation is: sentences, and the pairs of models that are tested."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from quotakernels._text import counted, number
from quotakernels.evaluation.order import too_few_groups
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Differences, GainResults, Results
from quotakernels.evaluation.words import listed
from quotakernels.inference._few import ENOUGH_GROUPS, INTERVALS, NEAR_ONE, enough_near_one

_CHOSEN_HERE = (
    "Best cuts: each resample has its own. What they bring on other rows is the estimate minus the "
    "mean optimism over the resamples."
)
_PLAIN = "The percentiles of what models bring are not corrected."
_OF_TWO_RATES = (
    "What a quota brings: from score intervals of the hit rates of the selected and the other rows."
)
_TWO_OF_EACH = (
    "AUC, Gini, average hit rate and average precision have no intervals: their variances need two "
    "rows of each class."
)
_OF_GROUPS = (
    "What the quotas of groups find together, its tests and means over groups: resamples of whole "
    "groups. Only single groups have score and DeLong's intervals."
)
_FEW_GROUPS = (
    f"With fewer than {ENOUGH_GROUPS} groups intervals over them are too narrow: in simulations "
    "95% intervals covered the true value in 75 to 84% with 4 groups, in 86 to 96% with 6 to 15."
)
_RATES_NEAR_ONE = (
    "Intervals of hit rates near 1 are too narrow where they are from resamples: in simulations "
    "95% intervals covered the true value in 9 to 11%."
)
_FEW_SCORES, _FEW_OF_A_CLASS = 20, 30
_CHOSEN_ELSEWHERE = "What the best cuts bring: the cuts as they are, on resamples of these rows."
_COMPARED = {
    "roc_auc": "AUC",
    "hit_rate": "the hit rate",
    "qrecall": "Qrecall",
    "brings": "what models bring",
    "uplift_at_quota": "uplift",
}


def compared_by(evaluation: Results, differences: Differences) -> str:
    """What a table of differences is of."""
    quota = differences.quota
    if quota is None:
        best_cuts = differences.measure == "brings"
        what = "what the best cuts bring" if best_cuts else _COMPARED[differences.measure]
        return f"Differences of {evaluation.settings.in_currency(what) if best_cuts else what}"
    heading = heading_of(evaluation, quota)
    where = f"{heading[:1].lower()}{heading[1:]}"
    what = _COMPARED[differences.measure]
    what = evaluation.settings.in_currency(what) if differences.measure == "brings" else what
    return f"Differences of {what} {where}"


def heading_of(evaluation: Results, quota: Quota) -> str:
    """What a quota is, with the places that a share of all has."""
    per = evaluation.settings.per
    each = "" if per is None else f" of each {per}"
    if quota.is_budget:
        return f"At {quota.named}{each}"
    if not (quota.percent or each):
        return f"At quota {quota}"
    places = evaluation.places_at_random(quota)
    many = counted(places, "row", "rows")
    many = f"{number(places)} of the total weight" if evaluation.weighted else many
    return f"At quota {quota}{each} ({many})"


def pairs_of(differences: Differences) -> list[tuple[int, int]]:
    """All pairs, the better model first."""
    return list(combinations(range(len(differences.found.names)), 2))


def in_sentences(differences: Differences, rows: int) -> Iterator[str]:
    """Which models can be told apart, and which cannot."""
    found = differences.found
    if differences.too_few:
        yield "Too few resamples to tell any models apart."
        return
    for group in found.groups:
        if len(group) > 1:
            these = "this row" if rows == 1 else f"these {number(rows)} rows"
            yield f"{listed(group)} cannot be told apart by {these}."
    letters = [set(x) for x in found.letters]
    for k, name in enumerate(found.names):
        worse = [x for x, y in zip(found.names[k:], letters[k:], strict=True) if not y & letters[k]]
        if worse:
            yield f"{name} is better than {listed(worse)}."


def notes_of_intervals(evaluation: Results) -> Iterator[str]:
    """Say of which measures there are no intervals, and which of them say less than they seem to.

    Where all resamples are undefined, so is the interval that is shown.
    """
    resampling = evaluation.settings.resampling
    if resampling is None or not evaluation.has_intervals:
        return
    if evaluation.gains is not None:
        yield from _of_gains(evaluation, evaluation.gains)
    if evaluation.groups is not None and evaluation.settings.per is not None:
        yield _OF_GROUPS
        yield from notes_of_few_groups(evaluation)
    yield from _of_rows(evaluation)
    yield (
        "No intervals of hull AUC and achievable AUC-PR: as maxima over cuts they are higher in "
        "resamples."
    )
    shown = {
        measure.title + ("" if quota is None else f" at {quota.named}"): values.ends[measure.name]
        for part, quota, values in evaluation.sections
        for measure in (values.shown if part != "gains" else ())
        if measure.name in values.ends
    }
    yield from _of_averages(evaluation)
    drawn = evaluation.weighted or evaluation.settings.per is not None
    rates = [x.of("hit_rate") for q, x in evaluation.at_quota.items() if not q.is_budget]
    if drawn and any(np.any(x > NEAR_ONE) for x in rates):
        yield _RATES_NEAR_ONE
    yield from notes_of_hit_rates(evaluation)
    if any(np.any(ends.lower == ends.upper) for ends in shown.values()):
        yield "If an interval has no width, all resamples agree; that does not mean certainty."
    for row, name in enumerate(evaluation.models):
        counts = {what: int(ends.undefined[row]) for what, ends in shown.items()}
        if told := _counted({k: x for k, x in counts.items() if 0 < x < resampling.resamples}):
            yield f"Undefined resamples of {name}, left out of its intervals: {told}."


def notes_of_few_groups(evaluation: Results) -> Iterator[str]:
    """Say that few groups tell little of others."""
    if too_few_groups(evaluation) and evaluation.has_intervals:
        yield _FEW_GROUPS


def notes_of_hit_rates(evaluation: Results) -> Iterator[str]:
    """Say where score intervals of the hit rate cover less often than they say."""
    if not evaluation.has_intervals or evaluation.weighted:
        return
    positives, areas = evaluation.positives, evaluation.over_all
    area = areas.bounds["roc_auc"][1] if "roc_auc" in areas.bounds else areas.of("roc_auc")
    late = any(
        evaluation.places_at_random(q) > positives for q in evaluation.settings.quotas_over_all
    )
    if late and positives < _FEW_OF_A_CLASS and np.any(area > NEAR_ONE):
        yield (
            "Intervals of the hit rate are too narrow where a model has found nearly all of few "
            "positives: in simulations 95% intervals covered the true value in 88%."
        )


def _of_gains(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """What the intervals of best cuts and of quotas are, and where the expected is too low."""
    settings = evaluation.settings
    yield _CHOSEN_HERE if not settings.tune else _CHOSEN_ELSEWHERE
    yield _PLAIN
    impacts = settings.unit is not None and settings.unit.impacts is not None
    if impacts and settings.quotas and settings.weight is None and settings.cost is None:
        yield _OF_TWO_RATES
    if "expected" not in gains.at_best_cut.ends:
        return
    if coarse := list(_coarse(evaluation)):
        yield (
            f"Scores with few values ({', '.join(coarse)}): choosing a cut adds little optimism, "
            "so what is expected on other rows is too low."
        )


def _coarse(evaluation: Results) -> Iterator[str]:
    """The models with few different scores."""
    for name, ranking in zip(evaluation.models, evaluation.rankings, strict=True):
        if np.count_nonzero(ranking.counts) < _FEW_SCORES:
            yield name


def _of_rows(evaluation: Results) -> Iterator[str]:
    """How much rows with weights tell; of which measures too few rows tell nothing."""
    if evaluation.weighted:
        rows, effective = counted(evaluation.rows, "row", "rows"), number(evaluation.effective_rows)
        tell = "tells" if evaluation.rows == 1 else "tell"
        yield f"With their weights {rows} {tell} as much as {effective} of equal weight (Kish)."
    elif min(evaluation.positives, evaluation.rows - evaluation.positives) == 1:
        yield _TWO_OF_EACH


def _of_averages(evaluation: Results) -> Iterator[str]:
    """Say where intervals of averages over quotas cover less often than they say."""
    of_95 = "are too narrow for {}: in simulations 95% intervals covered {}."
    weight = evaluation.effective_rows / evaluation.rows if evaluation.weighted else 1.0
    fewer = min(evaluation.positives, evaluation.rows - evaluation.positives)
    if fewer * weight < _FEW_OF_A_CLASS:
        few = of_95.format("few rows of a class", "the true value in 89 to 91%")
        some = "hit rates, average" if evaluation.weighted else "average"
        yield f"Intervals of {some} hit rate, average precision and AUC-PR {few}"
    if fewer * weight < INTERVALS.examples:
        few = of_95.format(f"fewer than {INTERVALS.examples} rows of a class", "AUC in 17 to 84%")
        yield f"Intervals from resamples {few}"
    named = zip(evaluation.models, evaluation.over_all.of("roc_auc"), strict=True)
    if near := [name for name, area in named if fewer * weight < enough_near_one(area)]:
        high = of_95.format(
            f"the AUC of {listed(near)}, which is near 1", "the true value in 79 to 91%"
        )
        some = "average Qrecall, AUC-PR, and lift and Qrecall at quotas"
        yield f"Intervals of {'all measures' if evaluation.weighted else some} {high}"


def _counted(counts: dict[str, int]) -> str:
    """Each number once, and what it is the number of."""
    return "; ".join(
        f"{number} ({', '.join(what for what, x in counts.items() if x == number)})"
        for number in sorted(set(counts.values()))
    )
