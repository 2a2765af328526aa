"""Scores counted in cells of neighbouring ones.

A cell in which all scores are equal is a tie group.  Of others the order within is not known; the
best and the worst one are rankings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels import ops
from quotakernels.evaluation.passes import ChangedError
from quotakernels.ranking import Ranking, ranking_of


@dataclass(frozen=True)
class Cells:
    """How many negatives and positives have scores from the least to the greatest of each cell, and
    their masses, which are the counts if they have no weights; best first.

    `costs` and `gains` are sums of each class, by weight, or have no columns.
    """

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    masses: NDArray[Any]
    costs: NDArray[np.float64]
    gains: NDArray[np.float64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each cell has."""
        sizes: NDArray[np.int64] = self.counts.sum(axis=-1)
        return sizes

    @property
    def weighted(self) -> bool:
        """Whether examples have weights."""
        return bool(self.masses.dtype.kind == "f")

    @property
    def ties(self) -> NDArray[np.bool_]:
        """In which cells all scores are equal."""
        found: NDArray[np.bool_] = self.least == self.greatest
        return found

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Where the order within a cell matters."""
        return ~self.ties & (self.counts > 0).all(axis=-1)

    @property
    def loose(self) -> NDArray[np.bool_]:
        """In which cells some scores differ."""
        return ~self.ties & (self.sizes > 0)

    def ends(self, amount: float, of_costs: bool = False) -> set[int]:
        """The cells in which so many places, or so much weight, end, or a budget of so much; where
        that is between two, both are told of a budget, as sums are rounded.
        """
        reached = (self.costs if of_costs else self.masses).sum(axis=-1).cumsum()
        sides: tuple[Literal["left", "right"], ...] = ("left", "right")
        found = {int(np.searchsorted(reached, amount, side=x)) for x in sides[: 1 + of_costs]}
        return {min(k, len(reached) - 1) for k in found}

    def rankings(self) -> tuple[Ranking, Ranking]:
        """The worst and the best order of what is not known; one ranking if nothing is."""
        if not self.unknown.any():
            return (self._ranking(best=True),) * 2
        return self._ranking(best=False), self._ranking(best=True)

    def _ranking(self, best: bool) -> Ranking:
        found = self.in_order(best)
        masses = found.masses[:, ::-1].T if self.weighted else (None, None)
        table = ops.Groups(found.least, found.sizes, found.counts[:, 1], *masses)
        if found.costs.size:
            table = table._replace(costs=ops.Costs(found.costs[:, 1], found.costs[:, 0]))
        if found.gains.size:
            gains = found.gains[:, 1], found.gains[:, 0]
            size = ops.GAIN_SCALE * np.abs(found.gains).sum(axis=-1)
            table = table._replace(gains=ops.Gains(*gains, size))
        return ranking_of(table)

    def in_order(self, best: bool) -> Cells:
        """Two cells for each: what is not known as one class and the other, all else first.

        The ends of the two are equal, the greatest or the least score.
        """

        def rows(cells: NDArray[Any]) -> NDArray[Any]:
            first = cells.copy()
            if first.size:
                first[self.unknown, 0 if best else 1] = 0
            return np.stack([first, cells - first], axis=1).reshape(2 * len(cells), -1)

        there = filled(rows(self.counts))
        first = np.where(self.unknown, self.greatest, self.least)
        ends = np.stack([first, self.least], axis=1).reshape(-1)[there]
        sums = (self.counts, self.masses, self.costs, self.gains)
        return Cells(ends, ends, *(rows(x)[there] for x in sums))

    def replaced(self, inner: Sequence[Inner]) -> Cells:
        """The cells, those of which the inner ones are known replaced by them."""
        places = np.concatenate([x.places for x in inner])
        inside = np.concatenate([x.cells.sizes for x in inner])
        sums = np.bincount(places, inside, minlength=len(self.counts))
        gone = np.concatenate([x.of for x in inner])
        if (sums[gone] != self.sizes[gone]).any():
            raise ChangedError
        left = np.delete(np.arange(len(self.counts)), gone)
        every = [Inner(left, left, self.rows(left)), *inner]
        order = np.argsort(np.concatenate([x.places for x in every]), kind="stable")
        columns = zip(*(vars(x.cells).values() for x in every), strict=True)
        return Cells(*map(np.concatenate, columns)).rows(order)

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        return Cells(*(x[rows] for x in vars(self).values()))

    def emptied(self) -> Cells:
        """The cells without any examples."""
        least, greatest, *sums = vars(self).values()
        return Cells(least, greatest, *map(np.zeros_like, sums))


def rankings_of_groups(of_each: Sequence[Cells]) -> tuple[Ranking, Ranking]:
    """The worst and the best order of what is not known, of a ranking of groups."""
    worst = _ranking_of_groups([x.in_order(best=False) for x in of_each])
    if not any(x.unknown.any() for x in of_each):
        return worst, worst
    return worst, _ranking_of_groups([x.in_order(best=True) for x in of_each])


def _ranking_of_groups(of_each: Sequence[Cells]) -> Ranking:
    groups = np.repeat(np.arange(len(of_each)), [len(x.counts) for x in of_each])
    every = Cells(*map(np.concatenate, zip(*(vars(x).values() for x in of_each), strict=True)))
    masses: dict[str, Any] = {}
    if every.weighted:
        masses = {"weights": every.masses.sum(axis=-1), "positive_weights": every.masses[:, 1]}
    if every.costs.size:
        masses |= {"positive_costs": every.costs[:, 1], "negative_costs": every.costs[:, 0]}
    counts = every.sizes, every.counts[:, 1]
    beside = {"groups": groups, "num_groups": len(of_each), **masses}
    return Ranking.from_counts(every.least, *counts, **beside)


class Inner(NamedTuple):
    """Cells, the places of those that were divided, and of that of which each is a part."""

    of: NDArray[np.intp]
    places: NDArray[np.intp]
    cells: Cells


def filled(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells hold examples; where none does, the first, since no table is without rows."""
    there: NDArray[np.bool_] = np.asarray(counts.any(axis=-1))
    if not there.any():
        there[:1] = True
    return there
