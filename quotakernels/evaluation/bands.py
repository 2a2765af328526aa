"""How sure a curve is along its whole length."""

from __future__ import annotations

import numpy as np

from quotakernels.evaluation.results import Results
from quotakernels.inference.bands import CurveBand
from quotakernels.inference.hit_rates import hit_rate_interval

_PLACES = 120


def hit_rate_band(evaluation: Results, model: int) -> CurveBand | None:
    """The score interval of a model's hit rate at each of many quotas.

    None without a confidence, without positives, and of rows with weights, for which there is no
    such formula.
    """
    resampling = evaluation.settings.resampling
    if resampling is None or not evaluation.has_intervals or evaluation.weighted:
        return None
    if not evaluation.positives:
        return None
    at = np.unique(np.geomspace(1, evaluation.rows, _PLACES).round())
    found = hit_rate_interval(
        evaluation.rankings[model], quota=at, confidence_level=resampling.tested_level
    )
    undefined = np.zeros(at.shape, dtype=np.int64)
    nothing = np.full(at.shape, np.nan)
    return CurveBand(at, found.estimate, found.lower, found.upper, nothing, undefined)
