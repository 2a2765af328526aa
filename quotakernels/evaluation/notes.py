"""What is said of how sure an evaluation is: sentences, and the pairs of models that are tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from quotakernels._text import fixed, money, number
from quotakernels.evaluation.intervals import Differences
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import GainResults, Results
from quotakernels.evaluation.words import listed

BETTER_INTERVALS = ": see auc_interval and hit_rate_interval"
_CHOSEN_HERE = (
    "Best cuts: each resample has its own. What they bring on other rows is the estimate less as "
    "much as the resamples' own best cuts bring more on them than on all rows."
)
_BY_WILSON = "What a quota brings: from Wilson's intervals of the hit rates of selected and others."
_TWO_OF_EACH = "AUC and Gini have no intervals: DeLong's variance needs two rows of each class."
_FEW_SCORES = 20
_CHOSEN_ELSEWHERE = "What the best cuts bring: the cuts as they are, on resamples of these rows."
_COMPARED = {
    "roc_auc": "AUC",
    "hit_rate": "the hit rate",
    "brings": "what models bring",
}


def compared_by(evaluation: Results, differences: Differences) -> str:
    """What a table of differences is of."""
    quota = differences.quota
    if quota is None:
        best_cuts = differences.measure == "brings"
        what = "what the best cuts bring" if best_cuts else _COMPARED[differences.measure]
        return f"Differences of {what}"
    where = heading_of(evaluation, quota).lower()
    return f"Differences of {_COMPARED[differences.measure]} {where}"


def heading_of(evaluation: Results, quota: Quota) -> str:
    """What a quota is, with the places that a share of all has."""
    if not quota.percent:
        return f"At quota {quota}"
    unit = "of the total weight" if evaluation.weighted else "rows"
    return f"At quota {quota} ({number(evaluation.places(quota))} {unit})"


def pair_rows(differences: Differences) -> Iterator[tuple[str, ...]]:
    """The better model, the other one, the difference, both ends of its interval, and p."""
    found = differences.found
    form, end_form = (money, money) if differences.measure == "brings" else (fixed(4), fixed(3))
    for i, j in pairs_of(differences):
        ends = (_text(x[i, j], end_form) for x in (found.lower, found.upper))
        by, p = _text(found.difference[i, j], form), _text(found.p_adjusted[i, j], fixed(4))
        yield (found.names[i], found.names[j], by, *ends, p)


def pairs_of(differences: Differences) -> list[tuple[int, int]]:
    """All pairs, the better model first."""
    return list(combinations(range(len(differences.found.names)), 2))


def _text(value: float, form: Callable[[float], str]) -> str:
    return "undefined" if math.isnan(value) else form(value)


def in_sentences(differences: Differences, rows: int) -> str:
    """Which models can be told apart, and which cannot."""
    found = differences.found
    if differences.too_few:
        return "Too few resamples to tell any models apart."
    alike = [group for group in found.groups if len(group) > 1]
    lines = [
        f"{listed(group)} cannot be told apart by these {number(rows)} rows." for group in alike
    ]
    for k, name in enumerate(found.names):
        rest = list(zip(found.names, found.letters, strict=True))[k + 1 :]
        worse = [other for other, letters in rest if not set(found.letters[k]) & set(letters)]
        if worse:
            lines.append(f"{name} is better than {listed(tuple(worse))}.")
    return "\n".join(lines)


def notes_of_intervals(evaluation: Results) -> Iterator[str]:
    """Say of which measures there are no intervals, and which of them say less than they seem to.

    Where all resamples are undefined, so is the interval that is shown.
    """
    found, resampling = evaluation.intervals, evaluation.settings.resampling
    if found is None or resampling is None:
        return
    if evaluation.gains is not None:
        yield from _of_gains(evaluation, evaluation.gains)
    if not evaluation.weighted:
        classes = evaluation.positives, evaluation.rows - evaluation.positives
        if min(classes) == 1:
            yield _TWO_OF_EACH
    yield (
        "No intervals of hull AUC and achievable AUC-PR: as maxima over cuts they are higher in "
        "resamples."
    )
    shown = [
        (measure.title + ("" if quota is None else f" at quota {quota}"), k, limits)
        for part, quota, _, limits in evaluation.sections
        if part != "gains" and limits is not None
        for k, measure in enumerate(limits.measures)
        if measure.heading
    ]
    if any(np.any(limits.lower[:, k] == limits.upper[:, k]) for _, k, limits in shown):
        yield (
            "Where an interval has no width all resamples agree, which does not mean certainty"
            f"{BETTER_INTERVALS}."
        )
    for row, name in enumerate(evaluation.models):
        counts = {what: int(limits.undefined[row, k]) for what, k, limits in shown}
        if told := _counted({k: x for k, x in counts.items() if 0 < x < resampling.resamples}):
            yield f"Undefined resamples of {name}, left out of its intervals: {told}."


def _of_gains(evaluation: Results, gains: GainResults) -> Iterator[str]:
    """What the intervals of best cuts and of quotas are, and where the expected is too low."""
    settings = evaluation.settings
    yield _CHOSEN_HERE if settings.tune is None else _CHOSEN_ELSEWHERE
    impacts = settings.unit is not None and settings.unit.impacts is not None
    if impacts and settings.quotas and settings.weight is None:
        yield _BY_WILSON
    if gains.ends is None or gains.ends.expected is None:
        return
    coarse = [
        name
        for name, ranking in zip(settings.models, evaluation.rankings, strict=True)
        if np.count_nonzero(ranking.counts) < _FEW_SCORES
    ]
    if coarse:
        yield (
            f"Scores with few values ({', '.join(coarse)}): there is little luck in the choice of "
            "a cut; what is expected on other rows is too low."
        )


def _counted(counts: dict[str, int]) -> str:
    """Each number once, and what it is the number of."""
    return "; ".join(
        f"{number} ({', '.join(what for what, x in counts.items() if x == number)})"
        for number in sorted(set(counts.values()))
    )
