"""Batches of rows, and the passes over them: what `cells` count.

A pass goes once over all rows; there may be several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Key: TypeAlias = str | tuple[str, int]
"""A model, or a model and one of the groups of rows."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, the scores of each model, always of one type, and the
    weights, the groups, the costs and the gains, if rows have some.
    """

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    costs: NDArray[np.float64] | None = None
    gains: NDArray[np.float64] | None = None

    def of(self, keys: Iterable[Key]) -> Iterator[tuple[Key, Examples]]:
        """The rows of each key in turn; those of weight 0 count for nothing."""
        kept = slice(None) if self.weights is None else self.weights > 0
        whole: dict[str, Examples] = {}
        parted: dict[str, Examples] = {}
        for key in keys:
            model, group = (key, None) if isinstance(key, str) else key
            if model not in whole:
                amounts = self.weights, self.costs, self.gains
                examples = Examples(self.labels, self.scores[model], *amounts)
                whole[model] = examples.where(kept)
            if group is None or self.groups is None:
                yield key, whole[model]
                continue
            if not parted:
                groups = self.groups[kept]
                order = np.argsort(groups, kind="stable")
                starts = np.searchsorted(groups[order], np.arange(groups.max(initial=0) + 2))
            if model not in parted:
                parted[model] = whole[model].where(order)
            if group + 1 < len(starts) and starts[group] < starts[group + 1]:
                yield key, parted[model].where(slice(starts[group], starts[group + 1]))


class Examples(NamedTuple):
    """The rows with the scores of one model."""

    labels: NDArray[np.bool_]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None
    costs: NDArray[np.float64] | None
    gains: NDArray[np.float64] | None

    def where(self, rows: Any) -> Examples:
        """Some of the rows."""
        return Examples._make(None if x is None else x[rows] for x in self)

    @classmethod
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """The rows of several."""
        columns = zip(*parts, strict=True)
        return cls._make(None if x[0] is None else np.concatenate(x) for x in columns)


Passes = Callable[[], Iterable[Batch]]
"""Goes once over all rows whenever it is called."""


class ChangedError(ValueError):
    """Rows that were not the same in two passes."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the rows changed between two passes over them")
