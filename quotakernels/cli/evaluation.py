"""Every measure of every model: the result table behind the command `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.best import Stretch, best_by_quota
from quotakernels.cli.columns import label_column, score_column, weight_column
from quotakernels.cli.measures import (
    AREAS,
    AT_QUOTA,
    OVER_ALL,
    Measure,
    areas,
    at_quota,
    over_all,
)
from quotakernels.cli.quota import Quota, plain

__all__ = ["Evaluation", "Task", "Values", "evaluate_models"]


@dataclass(frozen=True)
class Task:
    """What to evaluate: the columns of a file and their meaning."""

    source: str
    label: str
    scores: tuple[str, ...]
    quotas: tuple[Quota, ...] = ()
    weight: str | None = None
    pos_label: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        return (self.label, *self.scores, *([] if self.weight is None else [self.weight]))


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
class Evaluation:
    """The data in numbers, and the measures of every model over all quotas and at each."""

    task: Task
    rows: int
    positives: int
    total: float
    positive_total: float
    over_all: Values
    areas: Values
    at_quota: dict[Quota, Values]
    best: list[Stretch]

    @property
    def prevalence(self) -> float:
        """The share of positives, by weight if there are weights; NaN without any."""
        return self.positive_total / self.total if self.total else float("nan")

    def places(self, quota: Quota) -> float:
        """Return how many examples (or how much weight) a quota selects."""
        return quota.places(self.total)

    def check_quotas(self) -> None:
        """Refuse a quota of more than there is."""
        if self.task.weight is None:
            what = f"the {self.rows} rows"
        else:
            what = f"the total weight, {plain(self.total)}"
        for quota in self.task.quotas:
            quota.check(self.total, what)


def evaluate_models(
    task: Task, table: pa.Table, on_step: Callable[[str], object] = lambda _: None
) -> Evaluation:
    """Evaluate each score column of a table against its labels.

    `on_step` hears about each model before its turn.
    """
    labels = label_column(table, task.label, task.pos_label)
    weights = None if task.weight is None else weight_column(table, task.weight)
    models = len(task.scores)
    evaluation = Evaluation(
        task=task,
        rows=len(labels),
        positives=int(labels.sum()),
        total=float(len(labels)) if weights is None else math.fsum(weights),
        positive_total=float(labels.sum()) if weights is None else math.fsum(weights[labels]),
        over_all=_no_values(OVER_ALL, models),
        areas=_no_values(AREAS, models),
        at_quota={quota: _no_values(AT_QUOTA, models) for quota in task.quotas},
        best=[],
    )
    evaluation.check_quotas()
    rankings = []
    for row, name in enumerate(task.scores):
        on_step(f"evaluating {name}")
        ranking = qk.rank(labels, score_column(table, name), sample_weight=weights)
        rankings.append(ranking)
        evaluation.over_all.array[row] = over_all(ranking)
        evaluation.areas.array[row] = areas(ranking)
        for quota, values in evaluation.at_quota.items():
            values.array[row] = at_quota(ranking, quota.argument(evaluation.total))
    evaluation.best.extend(best_by_quota(rankings))
    return evaluation


def _no_values(measures: tuple[Measure, ...], models: int) -> Values:
    return Values(measures, np.full((models, len(measures)), np.nan))
