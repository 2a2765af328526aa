"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

The first pass counts the scores of each model in cells of neighbouring ones, whose best and worst
order bound the measures that never fall where the ROC curve rises.  Further passes find the ties in
the cells in which quotas end, so that the measures at these are exact, and divide all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quotakernels.evaluation.cells import Batch, Cells, Passes, counted, opened
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.measures import AREAS, AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.quota import UnfitError
from quotakernels.evaluation.results import Values
from quotakernels.evaluation.settings import Counts, Settings
from quotakernels.measures._measure import bounded_by_ties
from quotakernels.measures.over_quotas.areas import gini, pem, roc_auc
from quotakernels.measures.over_quotas.averages import average_qrecall
from quotakernels.ranking import Ranking
from quotakernels.states._compute import Bounds, bounds_of


def evaluate_stream(
    settings: Settings, passes: Passes, on_step: Callable[[str], object] = lambda _: None
) -> Evaluation:
    """Evaluate models by passes over the rows: exactly at quotas, by bounds over all of them.

    There are no intervals and tests, no gains, costs and groups, and no rankings.
    """
    on_step("counting scores")
    rows = _Rows(passes)
    cells = counted(rows, settings.models)
    counts = rows.counts(cells[settings.models[0]])
    settings.check_quotas(counts.total)
    while wanted := _open_at_quotas(settings, cells, counts):
        on_step("opening the cells in which quotas end")
        cells = opened(passes, cells, wanted)
    both = [cells[name].rankings() for name in settings.models]
    at_quota = {
        quota: _exact(AT_QUOTA[:3], [worst for worst, _ in both], quota.argument(counts.total))
        for quota in settings.quotas
    }
    over_all, areas = _bounded(_OVER_ALL, both), _bounded(_AREAS, both)
    return Evaluation(
        settings, *counts, over_all, areas, at_quota, best=[], rankings=[], rows_read=counts.rows
    )


_FUNCTIONS = {"roc_auc": roc_auc, "gini": gini, "pem": pem, "average_qrecall": average_qrecall}
_OVER_ALL = tuple(replace(x, function=_FUNCTIONS[x.name]) for x in OVER_ALL if x.name in _FUNCTIONS)
_AREAS = tuple(x for x in AREAS if bounded_by_ties(x.function, {}))


class _Rows:
    """The batches of the first pass, and how many rows and positives they have."""

    def __init__(self, passes: Passes) -> None:
        self.passes, self.rows, self.positives = passes, 0, 0

    def __call__(self) -> Iterator[Batch]:
        for batch in self.passes():
            self.rows += len(batch.labels)
            self.positives += int(batch.labels.sum())
            yield batch

    def counts(self, cells: Cells) -> Counts:
        """All rows in numbers, those without weight too."""
        with np.errstate(over="ignore"):
            negative, positive = cells.masses.sum(axis=0).tolist()
        if math.isinf(total := negative + positive):
            raise UnfitError("the sum of the weights is too large for a number")
        return Counts(self.rows, self.positives, float(total), float(positive))


def _open_at_quotas(
    settings: Settings, cells: Mapping[str, Cells], counts: Counts
) -> dict[str, set[int]]:
    """The cells of each model in which a quota ends and that are no tie, if there are any."""
    places = [quota.places(counts.total) for quota in settings.quotas if counts.total]
    ends = {name: {x.last_for(k) for k in places} for name, x in cells.items()}
    found = {name: {k for k in ends[name] if x.unknown[k]} for name, x in cells.items()}
    return {name: x for name, x in found.items() if x}


def _exact(measures: Sequence[Column], rankings: Sequence[Ranking], quota: Any) -> Values:
    rows = [[x.value(ranking, **quota) for x in measures] for ranking in rankings]
    return Values(tuple(measures), np.asarray(rows))


def _bounded(measures: tuple[Column, ...], both: Sequence[tuple[Ranking, Ranking]]) -> Values:
    """Both bounds of each measure, which are equal where nothing is unknown, and the lower ones."""
    ends = np.asarray([[_ends(x.function, *two) for x in measures] for two in both])
    bounds = {x.name: (ends[:, k, 0], ends[:, k, 1]) for k, x in enumerate(measures)}
    return Values(measures, ends[..., 0], bounds=bounds)


def _ends(measure: Any, worst: Ranking, best: Ranking) -> Bounds:
    if worst is best:
        return Bounds(measure(worst), measure(worst))
    return bounds_of(measure, {}, worst, best)
