"""How sure it is what selecting brings: the rows are drawn again and again, in the user's unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import digits, money, number
from quotakernels.evaluation.intervals import Limits, Resampled
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.settings import Resampling
from quotakernels.inference.comparison.paired import PairTest, tests_of
from quotakernels.inference.proportions.impact import impact_ends
from quotakernels.inference.resampling.bootstrap import BootstrapResult, bootstrap
from quotakernels.inference.resampling.optimum import ValueAt, optima
from quotakernels.inputs.models import stacked
from quotakernels.measures.gains.impact_at_quota import best_quota, impact_at_quota
from quotakernels.ranking import Ranking

Floats = NDArray[np.float64]
_CHOSEN = (
    Column("threshold", "score\nfrom", end_form=digits),
    Column("quota", "quota", end_form=number),
    Column("expected", "brings on\nother rows", end_form=money),
)
TOTAL_AT_QUOTA = (Column("brings", "brings", end_form=money),)


@dataclass(frozen=True)
class GainIntervals:
    """Intervals of the best cuts and of what they and the quotas bring.

    `expected` is what each model's best cut will bring on other rows, and `expected_within` that
    of each quota's best use of its places or of fewer; None if they were not chosen on these rows.
    `drawn` has what each quota brings by the models on the resamples, which are the same for all
    models, and under None what the best cuts do.
    """

    at_best_cut: Limits
    at_quota: dict[Quota, Limits]
    expected: Floats | None
    expected_within: dict[Quota, Floats] | None
    drawn: dict[Quota | None, BootstrapResult]

    def difference(self, quota: Quota | None, model: int, other: int, level: float) -> PairTest:
        """The interval of how much more a model brings than another, and how sure that is."""
        found = self.drawn[quota]
        return tests_of(found.estimate, found.resamples, level)(model, other)


def gain_intervals(
    data: Resampled, resampling: Resampling, brings: dict[str, Any], thresholds: list[float] | None
) -> GainIntervals:
    """The intervals of all models; of cuts that were chosen elsewhere, if thresholds are given."""
    scores = stacked({name: data.examples(name)["y_score"] for name in data.scores}, None, **brings)
    data.on_step("resampling what they bring")
    given: dict[str, Any] = {
        **brings,
        "n_resamples": resampling.resamples,
        "confidence_level": resampling.tested_level,
        "random_state": resampling.seed,
        "progress": data.tell,
    }
    drawn: dict[Quota | None, BootstrapResult]
    if thresholds is not None:
        chosen: dict[Any, Any] = {None: ValueAt(best_quota, thresholds)}
        chosen |= {quota: partial(impact_at_quota, **x) for quota, x in data.quotas.items()}
        found = bootstrap(chosen, None, scores, **given)
        own = np.arange(len(thresholds))  # each with the cut that was chosen for it
        best_cut = BootstrapResult(*(x[own, own] for x in found.pop(None)))
        drawn = {None: best_cut, **{quota: x.whole for quota, x in found.items()}}
        ends = _limits(TOTAL_AT_QUOTA, best_cut)
        return GainIntervals(ends, _at_quotas(drawn), None, None, drawn)
    (best, _), *within = optima(best_quota, {}, [*data.quotas.values()], None, scores, **given)
    drawn = {None: best.value}
    drawn.update((quota, x) for quota, (_, x) in zip(data.quotas, within, strict=True))
    # chance in the resamples is no reason to expect more than there was
    most = np.minimum(best.expected.estimate, best.value.estimate)
    return GainIntervals(
        _limits(_CHOSEN, best.threshold, best.quota, best.expected),
        _at_quotas(drawn),
        most,
        {quota: x.expected.estimate for quota, (x, _) in zip(data.quotas, within, strict=True)},
        drawn,
    )


def _at_quotas(drawn: dict[Quota | None, BootstrapResult]) -> dict[Quota, Limits]:
    return {quota: _limits(TOTAL_AT_QUOTA, x) for quota, x in drawn.items() if quota is not None}


def _limits(measures: tuple[Column, ...], *found: BootstrapResult) -> Limits:
    """The intervals of measures (columns) of each model (row)."""
    columns = ([getattr(x, end) for x in found] for end in ("lower", "upper", "undefined"))
    return Limits(measures, *(np.stack(x, axis=-1) for x in columns))


def impact_intervals(
    rankings: Sequence[Ranking], data: Resampled, level: float, impacts: tuple[float, ...]
) -> dict[Quota, Limits]:
    """The interval of what each quota brings, from Wilson's of two hit rates."""
    none, total = np.zeros((len(rankings), 1), dtype=np.int64), float(rankings[0].counts.sum())
    ends = {}
    for quota in data.quotas:
        both = np.stack([impact_ends(x, impacts, quota.places(total), level) for x in rankings])
        ends[quota] = Limits(TOTAL_AT_QUOTA, both[:, :1], both[:, 1:], none)
    return ends
