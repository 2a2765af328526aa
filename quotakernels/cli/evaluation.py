"""Every measure of every model: the result table behind the command `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.columns import label_column, score_column, weight_column
from quotakernels.cli.quota import Quota, plain

__all__ = ["Evaluation", "Measure", "Task", "evaluate_models"]

_OVERALL: dict[str, Callable[..., Any]] = {
    "roc_auc": qk.roc_auc,
    "pem": qk.pem,
    "average_hit_rate": qk.average_hit_rate,
    "average_qrecall": qk.average_qrecall,
}
_AT_QUOTA: dict[str, Callable[..., Any]] = {
    "hit_rate": qk.hit_rate,
    "qrecall": qk.qrecall,
    "lift": qk.lift,
}


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
class Measure:
    """A measure of the whole ranking, or one at a quota."""

    name: str
    quota: Quota | None = None

    def of(self, ranking: qk.Ranking, total: float) -> float:
        """Return the measure of a ranking of `total` examples or weight; NaN where undefined."""
        if self.quota is None:
            return float(_OVERALL[self.name](ranking))
        return float(_AT_QUOTA[self.name](ranking, **self.quota.argument(total)))


@dataclass(frozen=True)
class Evaluation:
    """The data in numbers, and one value per model (row) and measure (column)."""

    task: Task
    rows: int
    positives: int
    total: float
    positive_total: float
    measures: tuple[Measure, ...]
    values: NDArray[np.float64]

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
    evaluation = Evaluation(
        task=task,
        rows=len(labels),
        positives=int(labels.sum()),
        total=float(len(labels)) if weights is None else math.fsum(weights),
        positive_total=float(labels.sum()) if weights is None else math.fsum(weights[labels]),
        measures=_measures(task.quotas),
        values=np.empty((len(task.scores), len(_measures(task.quotas)))),
    )
    evaluation.check_quotas()
    for row, name in enumerate(task.scores):
        on_step(f"evaluating {name}")
        scores = score_column(table, name)
        ranking = qk.rank(labels, scores, sample_weight=weights)
        evaluation.values[row] = [
            measure.of(ranking, evaluation.total) for measure in evaluation.measures
        ]
    return evaluation


def _measures(quotas: Sequence[Quota]) -> tuple[Measure, ...]:
    overall = [Measure(name) for name in _OVERALL]
    return (*overall, *(Measure(name, quota) for quota in quotas for name in _AT_QUOTA))
