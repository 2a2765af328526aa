"""Every measure of every model: the result table behind the command `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._text import plain
from quotakernels.cli.best import Stretch, best_by_quota
from quotakernels.cli.certain_gains import BROUGHT_AT_QUOTA, BroughtEnds, brought_ends
from quotakernels.cli.certain_impacts import ends_of_impacts
from quotakernels.cli.certainty import (
    Certainty,
    Differences,
    Intervals,
    Resampled,
    Tell,
    differences_of,
    intervals_of,
)
from quotakernels.cli.columns import label_column, of_rows, score_column, weight_column
from quotakernels.cli.gains import AT_BEST_CUT, BROUGHT, Gains, Unit, gains_of
from quotakernels.cli.measures import (
    AREAS,
    AT_QUOTA,
    OVER_ALL,
    Measure,
    areas,
    at_quota,
    over_all,
)
from quotakernels.cli.quota import Quota

__all__ = [
    "Brought",
    "Evaluation",
    "Task",
    "Totals",
    "Values",
    "evaluate_models",
    "evaluate_rankings",
]


@dataclass(frozen=True)
class Task:
    """What to evaluate: the columns of a file and their meaning."""

    source: str
    label: str
    scores: tuple[str, ...]
    quotas: tuple[Quota, ...] = ()
    weight: str | None = None
    pos_label: str | None = None
    unit: Unit | None = None
    where: tuple[str, str] | None = None
    tune: tuple[str, str] | None = None
    certainty: Certainty | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        optional = (
            self.weight,
            None if self.unit is None else self.unit.column,
            None if self.where is None else self.where[0],
            None if self.tune is None else self.tune[0],
        )
        return (self.label, *self.scores, *(name for name in optional if name is not None))

    @property
    def steps(self) -> int:
        """How many steps there are: reading, and each model's evaluation and resampling."""
        models = len(self.scores)
        more = (
            0
            if self.certainty is None
            else self.certainty.steps(models, len(self.quotas), self.unit is not None)
        )
        return 1 + models + more

    def check_quotas(self, totals: Totals) -> None:
        """Refuse a quota of more than there is."""
        if self.weight is None:
            what = f"the {totals.rows} rows"
        else:
            what = f"the total weight, {plain(totals.total)}"
        for quota in self.quotas:
            quota.check(totals.total, what, of_rows=self.weight is None)


@dataclass(frozen=True)
class Totals:
    """How many rows and positives there are, and their weights (without any, their numbers)."""

    rows: int
    positives: int
    total: float
    positive_total: float


@dataclass(frozen=True)
class Values:
    """One value per model (row) and measure (column), NaN where undefined."""

    measures: tuple[Measure, ...]
    array: NDArray[np.float64]

    def of(self, name: str) -> NDArray[np.float64]:
        """Return what each model has of a measure."""
        column: NDArray[np.float64] = self.array[:, [m.name for m in self.measures].index(name)]
        return column


@dataclass(frozen=True)
class Brought:
    """What every model brings at its best cut and at each quota, in the user's unit.

    `cuts` are all cuts of each model, and what they bring.
    """

    gains: Gains
    at_best_cut: Values
    at_quota: dict[Quota, Values]
    cuts: list[qk.BestBoundary]
    ends: BroughtEnds | None = None


@dataclass(frozen=True)
class Evaluation:
    """The data in numbers, and the measures of every model over all quotas and at each.

    `rows_read` are those of the file, of which `rows` were chosen.
    """

    task: Task
    rows: int
    positives: int
    total: float
    positive_total: float
    over_all: Values
    areas: Values
    at_quota: dict[Quota, Values]
    best: list[Stretch]
    rankings: list[qk.Ranking]
    rows_read: int = 0
    brought: Brought | None = None
    intervals: Intervals | None = None
    differences: tuple[Differences, ...] = ()

    @property
    def prevalence(self) -> float:
        """The share of positives, by weight if there are weights; NaN without any."""
        return self.positive_total / self.total if self.total else float("nan")

    @property
    def weights_and_quotas(self) -> tuple[bool, bool]:
        """Whether rows have weights, and whether there is a quota."""
        return self.task.weight is not None, bool(self.task.quotas)

    def places(self, quota: Quota) -> float:
        """Return how many examples (or how much weight) a quota selects."""
        return quota.places(self.total)


def evaluate_models(
    task: Task,
    table: pa.Table,
    on_step: Callable[[str], object] = lambda _: None,
    tell: Tell = lambda _done, _whole: None,
) -> Evaluation:
    """Evaluate each score column of a table against its labels.

    `on_step` hears about each model before its turn, and `tell` how much of a step is done.
    """
    cuts = None if task.tune is None else of_rows(table, task.tune, lambda x: _best_cuts(task, x))

    def evaluated(rows: pa.Table) -> Evaluation:
        evaluation = _evaluate(task, rows, cuts, on_step)
        return _with_certainty(evaluation, rows, on_step, tell)

    return replace(of_rows(table, task.where, evaluated), rows_read=table.num_rows)


def _with_certainty(
    evaluation: Evaluation, table: pa.Table, on_step: Callable[[str], object], tell: Tell
) -> Evaluation:
    task, certainty = evaluation.task, evaluation.task.certainty
    if certainty is None:
        return evaluation
    labels, weights = _labels_and_weights(task, table)

    def examples(name: str) -> dict[str, Any]:
        return {
            "y_true": labels,
            "y_score": score_column(table, name),
            "sample_weight": weights,
        }

    quotas = {quota: quota.argument(evaluation.total) for quota in task.quotas}
    data = Resampled(task.scores, quotas, examples, on_step, tell)
    if certainty.level is not None:
        evaluation = replace(evaluation, intervals=intervals_of(data, certainty))
        evaluation = _with_brought_ends(evaluation, data, certainty)
    differences = tuple(differences_of(data, certainty)) if certainty.compare else ()
    return replace(evaluation, differences=differences)


def _with_brought_ends(evaluation: Evaluation, data: Resampled, certainty: Certainty) -> Evaluation:
    brought = evaluation.brought
    if brought is None or not evaluation.total:
        return evaluation
    fixed = None
    if evaluation.task.tune is not None:
        fixed = [float(x) for x in brought.at_best_cut.of("threshold")]
    ends = brought_ends(data, certainty, brought.gains, fixed)
    unit = evaluation.task.unit
    if unit is not None and unit.impacts is not None and evaluation.task.weight is None:
        ends = replace(
            ends, at_quota=ends_of_impacts(data, certainty, unit.impacts, BROUGHT_AT_QUOTA)
        )
    return replace(evaluation, brought=replace(brought, ends=ends))


def _best_cuts(task: Task, table: pa.Table) -> list[float]:
    """The threshold of every model's best cut; of none, where nobody should be selected, NaN."""
    labels, weights = _labels_and_weights(task, table)
    assert task.unit is not None
    gains = gains_of(task.unit, table, labels, weights)
    columns = (score_column(table, name) for name in task.scores)
    return [gains.best(gains.every_cut(scores)).threshold for scores in columns]


def _labels_and_weights(
    task: Task, table: pa.Table
) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
    labels = label_column(table, task.label, task.pos_label)
    return labels, None if task.weight is None else weight_column(table, task.weight)


def _evaluate(
    task: Task, table: pa.Table, cuts: list[float] | None, on_step: Callable[[str], object]
) -> Evaluation:
    labels, weights = _labels_and_weights(task, table)
    totals = _totals(labels, weights)
    task.check_quotas(totals)
    gains = None if task.unit is None else gains_of(task.unit, table, labels, weights)

    def ranked(name: str) -> qk.Ranking:
        return qk.rank(labels, score_column(table, name), sample_weight=weights)

    evaluation = evaluate_rankings(task, totals, ranked, on_step)
    if gains is None:
        return evaluation
    models = len(task.scores)
    at_quota = {quota: _no_values(BROUGHT, models) for quota in task.quotas}
    brought = Brought(gains, _no_values(AT_BEST_CUT, models), at_quota, [])
    evaluation = replace(evaluation, brought=brought)
    for row, name in enumerate(task.scores):
        _bring(evaluation, row, score_column(table, name), None if cuts is None else cuts[row])
    return evaluation


def evaluate_rankings(
    task: Task,
    totals: Totals,
    ranked: Callable[[str], qk.Ranking],
    on_step: Callable[[str], object],
) -> Evaluation:
    """Evaluate each model by its ranking, which `ranked` makes when its turn has come."""
    models = len(task.scores)
    evaluation = Evaluation(
        **asdict(totals),
        task=task,
        over_all=_no_values(OVER_ALL, models),
        areas=_no_values(AREAS, models),
        at_quota={quota: _no_values(AT_QUOTA, models) for quota in task.quotas},
        best=[],
        rankings=[],
    )
    for row, name in enumerate(task.scores):
        on_step(f"evaluating {name}")
        evaluation.rankings.append(ranked(name))
        _evaluate_model(evaluation, row, evaluation.rankings[-1])
    evaluation.best.extend(best_by_quota(evaluation.rankings))
    return evaluation


def _totals(labels: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> Totals:
    return Totals(
        rows=len(labels),
        positives=int(labels.sum()),
        total=float(len(labels)) if weights is None else math.fsum(weights),
        positive_total=float(labels.sum()) if weights is None else math.fsum(weights[labels]),
    )


def _evaluate_model(evaluation: Evaluation, row: int, ranking: qk.Ranking) -> None:
    evaluation.over_all.array[row] = over_all(ranking)
    evaluation.areas.array[row] = areas(ranking)
    for quota, values in evaluation.at_quota.items():
        values.array[row] = at_quota(ranking, quota.argument(evaluation.total))


def _bring(evaluation: Evaluation, row: int, scores: NDArray[Any], threshold: float | None) -> None:
    """What a model brings at its best cut, or at one that was chosen elsewhere, and at quotas."""
    if evaluation.brought is None or not evaluation.total:
        return
    gains = evaluation.brought.gains
    cuts = gains.every_cut(scores)
    evaluation.brought.cuts.append(cuts)
    chosen = gains.best(cuts) if threshold is None else gains.from_threshold(scores, threshold)
    evaluation.brought.at_best_cut.array[row] = gains.at_best_cut(chosen)
    for quota, values in evaluation.brought.at_quota.items():
        values.array[row] = gains.brought(scores, cuts, quota.argument(evaluation.total))


def _no_values(measures: tuple[Measure, ...], models: int) -> Values:
    return Values(measures, np.full((models, len(measures)), np.nan))
