"""What every quota or budget finds and brings: lines that are straight between a few cuts."""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import formatted
from quotakernels.evaluation.choice import first_choice
from quotakernels.evaluation.results import Results

_Columns = dict[str, NDArray[np.float64]]
_ROUNDING = 1e-12
_LESS = 0.95
"""Of the pieces that the size of the last text has room for, as some take more of it."""
_START = 0.1
"""The share of all at which to begin where nobody has asked for a quota."""


@dataclass(frozen=True)
class AnyQuota:
    """The cuts of each model between which all is a straight line.

    Each model has its selected, `places`, the positives `found` and, where there are any, what they
    `cost` and `brings`, at each of its cuts.  `axis` is what is chosen, "places" or "cost", up to
    `end` and first at `start`.  `errors` say how far off values between the cuts may be.
    """

    axis: str
    end: float
    start: float
    models: dict[str, _Columns]
    errors: dict[str, float]

    def to_json(self) -> str:
        """As JSON: of every column the first value, and what each further one is more."""
        models = [
            {"name": name, **{key: _steps(column) for key, column in columns.items()}}
            for name, columns in self.models.items()
        ]
        record = {"axis": self.axis, "end": self.end, "start": self.start, "models": models}
        return json.dumps(record, separators=(",", ":"))


def at_any_quota(evaluation: Results, size: int) -> AnyQuota | None:
    """The lines of all models in a text of at most so many bytes: exactly, or as near as fits.

    None where one quota is not all there is to choose, and where there is nothing to find.
    """
    if evaluation.settings.per is not None or not evaluation.positive_total:
        return None
    of_cost = evaluation.settings.cost is not None
    axis, end = ("cost", evaluation.total_cost) if of_cost else ("places", evaluation.total)
    choice, start = first_choice(evaluation), float(np.ceil(_START * end))
    if choice is not None:
        quota = choice.quota
        start = quota.places(evaluation.total_cost) if quota.is_budget else choice.places
    whole = [_columns(evaluation, model) for model in range(len(evaluation.models))]
    most = size // (2 * len(whole[0]))  # a digit and a comma in each column
    while True:
        kept, errors = _thinned(whole, axis, start, most)
        lines = dict(zip(evaluation.models, kept, strict=True))
        found = AnyQuota(axis, float(end), float(start), lines, errors)
        length = len(found.to_json().encode())
        points = sum(len(columns[axis]) for columns in kept)
        if length <= size or not most:
            return found
        most = max(min(most - 1, int(_LESS * size / length * points) - len(kept)), 0)


def _columns(evaluation: Results, model: int) -> _Columns:
    """What a model has selected, found, spent and brought at every cut."""
    ranking = evaluation.rankings[model]
    steps = {"places": ranking.weights, "found": ranking.positive_weights}
    if evaluation.settings.cost is not None:
        steps["cost"] = np.asarray(ranking.costs.positive) + np.asarray(ranking.costs.negative)
    columns = {
        key: np.concatenate([[0.0], np.cumsum(np.asarray(step, dtype=np.float64))])
        for key, step in steps.items()
    }
    if evaluation.gains is not None:
        columns["brings"] = np.asarray(evaluation.gains.cuts[model].curve.value, dtype=np.float64)
    return columns


def _thinned(
    models: list[_Columns], axis: str, start: float, most: int
) -> tuple[list[_Columns], dict[str, float]]:
    """The ends, the cuts beside the start and the `most` of those that tell the most, of all models
    together, and the errors.
    """
    tables = [np.stack([columns[axis], *columns.values()]) for columns in models]
    scales = [np.maximum(np.ptp(table, axis=1, keepdims=True), _ROUNDING) for table in tables]
    kept = [_first_kept(table[0], start) for table in tables]
    pieces: list[tuple[float, int, int, int, int]] = []

    def add(model: int, low: int, high: int) -> None:
        off = _deviations(tables[model][:, low : high + 1]) / scales[model]
        worst = off.max(axis=0)
        cut = int(np.argmax(worst))
        if worst[cut] > _ROUNDING:
            heapq.heappush(pieces, (-float(worst[cut]), model, low, low + cut, high))

    for model, ends in enumerate(kept):
        for low, high in pairwise(sorted(ends)):
            add(model, low, high)
    while pieces and most > 0:
        _, model, low, cut, high = heapq.heappop(pieces)
        kept[model].add(cut)
        add(model, low, cut)
        add(model, cut, high)
        most -= 1
    rest = [_deviations(tables[k][:, low : high + 1]).max(axis=1) for _, k, low, _, high in pieces]
    errors = np.max([np.zeros(len(tables[0])), *rest], axis=0)[1:]
    cuts = [np.sort(list(x)) for x in kept]
    lines = [
        {key: column[x] for key, column in columns.items()}
        for columns, x in zip(models, cuts, strict=True)
    ]
    return lines, dict(zip(models[0], errors.tolist(), strict=True))


def _first_kept(axis: NDArray[np.float64], start: float) -> set[int]:
    """The first and the last cut, and those beside the start, where all is to be exact."""
    last = len(axis) - 1
    after = int(np.searchsorted(axis, start, side="right"))
    return {0, max(after - 1, 0), min(after, last), last}


def _deviations(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the columns are from the straight line between their ends, along the first."""
    along = table[0] - table[0, 0]
    if not along[-1]:
        return np.zeros_like(table)
    line = table[:, :1] + (table[:, -1:] - table[:, :1]) * (along / along[-1])
    off: NDArray[np.float64] = np.abs(table - line)
    return off


def _steps(column: NDArray[np.float64]) -> list[Any]:
    """The first value and the differences, whole numbers as such."""
    steps = np.diff(column, prepend=0.0).tolist()
    return [int(x) if x.is_integer() else float(formatted(x, ".10g")) for x in steps]
