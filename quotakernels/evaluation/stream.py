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
from numpy.typing import NDArray

from quotakernels.evaluation.cells import (
    Batch,
    Cells,
    Key,
    Passes,
    counted,
    opened,
    rankings_of_groups,
)
from quotakernels.evaluation.compute import with_groups
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.groups import bounded_in_groups, ends
from quotakernels.evaluation.measures import AREAS, AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.quota import UnfitError
from quotakernels.evaluation.results import Values
from quotakernels.evaluation.settings import Counts, Settings
from quotakernels.measures._measure import bounded_by_ties
from quotakernels.measures.over_quotas.areas import gini, pem, roc_auc
from quotakernels.measures.over_quotas.averages import average_qrecall
from quotakernels.ranking import Ranking


def evaluate_stream(
    settings: Settings,
    passes: Passes,
    on_step: Callable[[str], object] = lambda _: None,
    names: NDArray[Any] | None = None,
) -> Evaluation:
    """Evaluate models by passes over the rows: exactly at quotas, by bounds over all of them.

    `names` are those of the groups, if the rows have some.  There are no intervals and tests, no
    gains and costs, and no rankings.
    """
    on_step("counting scores")
    rows = _Rows(passes)
    groups = 0 if names is None else len(names)
    keys: list[Key] = [*settings.models, *((x, k) for x in settings.models for k in range(groups))]
    cells = counted(rows, keys, groups)
    counts = rows.counts(cells[settings.models[0]])
    if settings.per is None:
        settings.check_quotas(counts.total)
    ends_of = _Ends(settings, counts, names is not None)
    narrowed = not any(cells[key].unknown.any() for key in keys[len(settings.models) :])
    while (wanted := ends_of.wanted(cells)) or not narrowed:
        on_step("opening the cells in which quotas end")
        cells, narrowed = opened(passes, cells, wanted, groups), True
    both = [cells[name].rankings() for name in settings.models]
    at_quota = {
        quota: _exact(AT_QUOTA[:3], [worst for worst, _ in both], quota.argument(counts.total))
        for quota in settings.quotas_over_all
    }
    over_all, areas = _bounded(_OVER_ALL, both), _bounded(_AREAS, both)
    found = Evaluation(
        settings, *counts, over_all, areas, at_quota, best=[], rankings=[], rows_read=counts.rows
    )
    if names is None:
        return found
    by_group = [
        rankings_of_groups([cells[model, k] for k in range(groups)]) for model in settings.models
    ]
    return with_groups(found, bounded_in_groups(settings, by_group, names))


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


class _Ends:
    """In which cells quotas end, of those that passes over the rows have to open."""

    def __init__(self, settings: Settings, counts: Counts, grouped: bool) -> None:
        self.quotas, self.per = settings.quotas if counts.total else (), settings.per is not None
        self.over_all = () if self.per else self.quotas
        self.total, self.grouped = counts.total, grouped

    def wanted(self, cells: Mapping[Key, Cells]) -> dict[Key, set[int]]:
        """The cells of every key that are to be opened, if there are any."""
        found: dict[Key, set[int]] = {}
        for key, x in cells.items():
            if isinstance(key, str):
                found[key] = self._of_all(x)
            elif x.masses.any():
                found[key] = self._of_group(x, cells[key[0]])
        return {key: places for key, places in found.items() if places}

    def _of_all(self, x: Cells) -> set[int]:
        """Those of all rows; where groups share a quota, only a tie tells how much each has."""
        ends = {x.last_for(quota.places(self.total)) for quota in self.over_all}
        return _those(ends, x.loose if self.grouped else x.unknown)

    def _of_group(self, x: Cells, whole: Cells) -> set[int]:
        """Those of a group: where its own quota ends, or its share of one over all, and where its
        scores are on both sides of the end of that.
        """
        total = x.masses.sum()
        if self.per:
            own = [float(quota.of_each(total)) for quota in self.quotas]
        else:
            own = [quota.places(self.total) * total / self.total for quota in self.quotas]
        found = _those(set(map(x.last_for, own)), x.unknown)
        for quota in self.over_all:
            end = whole.last_for(quota.places(self.total))
            across = (x.least <= whole.greatest[end]) & (x.greatest >= whole.least[end])
            found |= set(np.flatnonzero(across & x.loose).tolist())
        return found


def _those(places: set[int], wanted: NDArray[np.bool_]) -> set[int]:
    return {k for k in places if wanted[k]}


def _exact(measures: Sequence[Column], rankings: Sequence[Ranking], quota: Any) -> Values:
    rows = [[x.value(ranking, **quota) for x in measures] for ranking in rankings]
    return Values(tuple(measures), np.asarray(rows))


def _bounded(measures: tuple[Column, ...], both: Sequence[tuple[Ranking, Ranking]]) -> Values:
    """Both bounds of each measure, which are equal where nothing is unknown, and the lower ones."""
    both_ends = np.asarray([[ends(x.function, *two) for x in measures] for two in both])
    bounds = {x.name: (both_ends[:, k, 0], both_ends[:, k, 1]) for k, x in enumerate(measures)}
    return Values(measures, both_ends[..., 0], bounds=bounds)
