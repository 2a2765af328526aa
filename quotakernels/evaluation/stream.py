"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

The first pass counts the scores of each model in cells of neighbouring ones, whose best and worst
order bound the measures that never fall where the ROC curve rises.  Further passes find the ties in
the cells in which quotas end, so that the measures at these are exact, and divide all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels._array import namespace
from quotakernels.evaluation.by_labels import impact_ends_at
from quotakernels.evaluation.cells import Cells, rankings_of_groups
from quotakernels.evaluation.compute import with_groups
from quotakernels.evaluation.counting import counted, opened
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.gains import gains_at_quotas
from quotakernels.evaluation.groups import bounded_in_groups, ends
from quotakernels.evaluation.measures import AREAS, AT_BUDGET, AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.passes import Batch, Key, Passes
from quotakernels.evaluation.quota import Quota, UnfitError
from quotakernels.evaluation.results import Values, certain_ends
from quotakernels.evaluation.settings import Counts, Settings
from quotakernels.inference.hit_rates import around_cut, hit_rate_interval
from quotakernels.measures._facts import bounded_by_ties
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

    `names` are those of the groups, if the rows have some.  There are intervals at quotas where
    these are closed forms, and no tests, no best cuts and no rankings.
    """
    if settings.resampling is not None:
        drawn = replace(settings.resampling, resamples=0, test_resamples=0)
        settings = replace(settings, resampling=drawn)
    on_step("counting scores")
    rows = _Rows(passes)
    groups = 0 if names is None else len(names)
    keys: list[Key] = [*settings.models, *((x, k) for x in settings.models for k in range(groups))]
    cells = counted(rows, keys, groups)
    counts = rows.counts(cells[settings.models[0]])
    if settings.per is None:
        settings.check_quotas(counts.most)
    ends_of = _Ends(settings, counts, names is not None)
    cells = _narrowed(cells, keys[len(settings.models) :], ends_of, passes, groups, on_step)
    both = [cells[x].rankings() for x in settings.models]
    worst_first = [worst for worst, _ in both]
    found = Evaluation(
        settings,
        *counts,
        _bounded(_OVER_ALL, both),
        _bounded(_AREAS, both),
        {x: _exact(settings, x, worst_first, counts) for x in settings.quotas_over_all},
        best=[],
        rankings=[],
        rows_read=counts.rows,
    )
    found = _with_gains(found, worst_first, counts)
    return found if names is None else _with_groups(found, cells, names)


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
        with np.errstate(invalid="ignore"):
            cost = float(cells.costs.sum()) if cells.costs.size else math.nan
            brings = float(np.abs(cells.gains).sum())
        for sums, what in ((cost, "costs"), (brings, "gains")):
            if math.isinf(sums):
                raise UnfitError(f"the sum of the {what} is too large for a number")
        return Counts(self.rows, self.positives, float(total), float(positive), cost)


class _Ends:
    """In which cells quotas end, of those that passes over the rows have to open."""

    def __init__(self, settings: Settings, counts: Counts, grouped: bool) -> None:
        self.quotas = settings.quotas if counts.total else ()
        self.per, self.counts = settings.per is not None, counts
        self.over_all = () if self.per else self.quotas
        self.of_costs = settings.cost is not None
        self.amounts = self.of_costs or settings.gain is not None
        self.shared = grouped and not self.per
        self.sure = settings.resampling is not None

    def wanted(self, cells: Mapping[Key, Cells]) -> dict[Key, set[int]]:
        """The cells of every key that are to be opened, if there are any."""
        found: dict[Key, set[int]] = {}
        for key, x in cells.items():
            if isinstance(key, str):
                found[key] = self._of_all(x)
            elif x.masses.any():
                found[key] = self._of_group(x, cells[key[0]])
        return {key: places for key, places in found.items() if places}

    def _at_ends(self, x: Cells, quotas: Iterable[float]) -> set[int]:
        """Where quotas end in the order of a cell that matters: of one class alone only if rows
        cost or bring something, or groups share the quota.
        """
        ends = set().union(*(x.ends(quota, self.of_costs) for quota in quotas))
        open_ones = x.loose if self.amounts or self.shared else x.unknown
        return {k for k in ends if open_ones[k]}

    def _of_all(self, x: Cells) -> set[int]:
        places = np.asarray([quota.places(self.counts.most) for quota in self.over_all])
        if not self.sure:
            return self._at_ends(x, places)
        around = around_cut(namespace(places), places, np.asarray(self.counts.total))
        return self._at_ends(x, np.concatenate([places, *around]))

    def _of_group(self, x: Cells, whole: Cells) -> set[int]:
        """Those of a group: where its own quota ends, or its share of one over all, and where its
        scores are on both sides of the end of that.
        """
        most = (x.costs if self.of_costs else x.masses).sum()
        if self.per:
            return self._at_ends(x, (float(quota.of_each(most)) for quota in self.quotas))
        share = most / self.counts.most if self.counts.most else 0.0
        over_all = [quota.places(self.counts.most) for quota in self.over_all]
        found = self._at_ends(x, (share * quota for quota in over_all))
        for end in set().union(*(whole.ends(quota, self.of_costs) for quota in over_all)):
            across = (x.least <= whole.greatest[end]) & (x.greatest >= whole.least[end])
            found |= set(np.flatnonzero(across & x.loose).tolist())
        return found


def _narrowed(
    cells: dict[Key, Cells],
    of_groups: Sequence[Key],
    ends_of: _Ends,
    passes: Passes,
    groups: int,
    on_step: Callable[[str], object],
) -> dict[Key, Cells]:
    """The cells, opened until it is known where the quotas end and what the groups have."""
    narrowed = not any(cells[key].unknown.any() for key in of_groups)
    while (wanted := ends_of.wanted(cells)) or not narrowed:
        on_step("opening the cells in which quotas end")
        cells, narrowed = opened(passes, cells, wanted, groups), True
    return cells


def _with_gains(found: Evaluation, rankings: Sequence[Ranking], counts: Counts) -> Evaluation:
    """With what the quotas bring and, where intervals are asked for, its ends."""
    settings, unit = found.settings, found.settings.unit
    if unit is None:
        return found
    gains = gains_at_quotas(found, rankings, counts, unit)
    if settings.resampling is not None:
        sure = {
            q: replace(x, ends={"brings": impact_ends_at(q, found, rankings)})
            for q, x in gains.at_quota.items()
        }
        gains = replace(gains, at_quota=sure)
    return replace(found, gains=gains)


def _with_groups(found: Evaluation, cells: Mapping[Key, Cells], names: NDArray[Any]) -> Evaluation:
    """With what each group has."""
    of_each = ([cells[x, k] for k in range(len(names))] for x in found.settings.models)
    by_group = [rankings_of_groups(x) for x in of_each]
    return with_groups(found, bounded_in_groups(found.settings, by_group, names))


def _exact(settings: Settings, quota: Quota, rankings: Sequence[Ranking], counts: Counts) -> Values:
    """What each model has at a quota, with the intervals that are closed forms."""
    measures = AT_BUDGET if quota.is_budget else AT_QUOTA[:3]
    argument, resampling = quota.argument(counts.most), settings.resampling
    rows = [[x.value(ranking, **argument) for x in measures] for ranking in rankings]
    if resampling is None:
        return Values(measures, np.asarray(rows))
    level = resampling.tested_level
    found = [hit_rate_interval(x, confidence_level=level, **argument) for x in rankings]
    both = np.asarray([[float(x.lower), float(x.upper)] for x in found])
    return Values(measures, np.asarray(rows), {"hit_rate": certain_ends(both)})


def _bounded(measures: tuple[Column, ...], both: Sequence[tuple[Ranking, Ranking]]) -> Values:
    """Both bounds of each measure, which are equal where nothing is unknown, and the lower ones."""
    both_ends = np.asarray([[ends(x.function, *two) for x in measures] for two in both])
    bounds = {x.name: (both_ends[:, k, 0], both_ends[:, k, 1]) for k, x in enumerate(measures)}
    return Values(measures, both_ends[..., 0], bounds=bounds)
