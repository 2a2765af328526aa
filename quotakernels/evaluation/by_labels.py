"""What quotas bring where labels alone decide it: the intervals and tests are of hit rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quotakernels.evaluation.quota import Quota, QuotaArgument
from quotakernels.evaluation.results import Ends, Results, certain_ends
from quotakernels.inference.comparing import PairTest, Tests
from quotakernels.inference.hit_rates import impact_ends
from quotakernels.inference.selections import selections
from quotakernels.inputs.models import stacked
from quotakernels.ranking import Ranking


def by_labels(quota: Quota, results: Results) -> bool:
    """Whether it is so: by impacts, of rows without weights, in a fixed number of places."""
    unit = results.settings.unit
    impacts = unit is not None and unit.impacts is not None
    return impacts and not (results.weighted or quota.is_budget)


def _impacts(results: Results) -> tuple[float, ...]:
    unit = results.settings.unit
    assert unit is not None
    impacts = unit.tuned(results.total, results.positive_total)
    assert impacts is not None
    return impacts


def impact_ends_at(quota: Quota, results: Results, rankings: Sequence[Ranking]) -> Ends:
    """The intervals of what a quota brings."""
    assert results.settings.resampling is not None
    at, level = results.places_at_random(quota), results.settings.resampling.tested_level
    impacts = _impacts(results)
    return certain_ends(np.stack([impact_ends(x, impacts, at, level) for x in rankings]))


def worth_of_rates(quota: Quota, results: Results) -> float:
    """How much more a quota brings with a hit rate that is 1 more; 0 where it is not so."""
    if not by_labels(quota, results):
        return 0.0
    tp, fp, fn, tn = _impacts(results)
    return (tp - fp - fn + tn) * results.places_at_random(quota)


def tests_by_rates(
    y_true: Any, models: dict[str, Any], at: QuotaArgument, worth: float, level: float
) -> Tests:
    """The tests of what a quota brings: those of hit rates, times what these are worth."""
    given = {"sample_weight": None, "where": None, "pos_label": None, "validate": True}
    both = selections(y_true, stacked(models, y_true), given, dict(at))

    def tested(first: int, second: int) -> PairTest:
        found, error = both.by_score(first, second, level)
        lower, upper = np.sort([worth * found.lower, worth * found.upper]).tolist()
        return PairTest(lower, upper, found.p_value, abs(worth) * error)

    return Tests(tested, "score")
