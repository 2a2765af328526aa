"""Cells counted by passes over batches of rows.

The first pass counts scores by their leading bits.  Further passes find the ties of single cells,
or divide them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels import ops
from quotakernels._array import namespace
from quotakernels.evaluation.cells import Cells, Inner, filled
from quotakernels.evaluation.passes import ChangedError, Examples, Key, Passes

_BITS = 20
_AT_ONCE = 2**22
"""Scores of one cell that are kept; cells of more are divided until they are few."""


class _Counter:
    """Counts examples in numbered cells, best first, and knows the ends of each."""

    def __init__(self, size: int, like: Examples) -> None:
        dtype = like.scores.dtype
        whole = np.iinfo(dtype if dtype.kind in "iu" else np.int8)
        ends = (np.inf, -np.inf) if dtype.kind == "f" else (whole.max, whole.min)
        self.counts = np.zeros((size, 2), dtype=np.int64)
        self.masses = self.counts if like.weights is None else np.zeros((size, 2))
        amounts = (like.costs, like.gains)
        self.costs, self.gains = (np.zeros((size, 0 if x is None else 2)) for x in amounts)
        self.least, self.greatest = (np.full(size, x, dtype=dtype) for x in ends)

    def add(self, cells: NDArray[Any], examples: Examples) -> None:
        """Count examples in their cells."""
        labels, scores, weights, costs, gains = examples
        codes = 2 * cells.astype(np.int64) + labels

        def summed(amounts: NDArray[Any] | None = None) -> NDArray[Any]:
            found = np.bincount(codes, amounts, minlength=self.counts.size)
            return found.reshape(self.counts.shape)

        self.counts += summed()
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused
            if weights is not None:
                self.masses += summed(weights)
            mass = 1.0 if weights is None else weights
            if costs is not None:
                self.costs += summed(costs * mass)
            if gains is not None:
                self.gains += summed(gains * mass)
        np.minimum.at(self.least, cells, scores)
        np.maximum.at(self.greatest, cells, scores)

    @property
    def cells(self) -> Cells:
        """The cells that hold examples."""
        sums = self.counts, self.masses, self.costs, self.gains
        found = Cells(self.least, self.greatest, *sums)
        return found.rows(self.there)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which cells these are."""
        return filled(self.counts)


def counted(passes: Passes, keys: Sequence[Key], groups: int = 1) -> dict[Key, Cells]:
    """The cells of every key, after one pass; one of a group has the fewer the more groups are."""
    counters: dict[Key, _Counter] = {}
    for batch in passes():
        for key, examples in batch.of(keys):
            bins, number = _bins(examples.scores, _bits(key, groups))
            if key not in counters:
                counters[key] = _Counter(number, examples)
            counters[key].add(bins, examples)
    found = {key: x.cells for key, x in counters.items()}
    for key in keys:
        if key not in found:  # a group of which no row has any weight
            found[key] = found[key[0]].rows(slice(1)).emptied()
    return found


def _bits(key: Key, groups: int) -> int:
    """How finely scores are counted: all groups together have as many cells as all rows."""
    return _BITS if isinstance(key, str) else max(_BITS - (groups - 1).bit_length(), 1)


def _bins(scores: NDArray[Any], bits: int) -> tuple[NDArray[Any], int]:
    """The cell of each score in the first pass, and how many there are."""
    xp = namespace(scores)
    bits = min(bits, ops.key_bits(xp, scores.dtype))
    return ops.bin_rows(xp, scores, bits), 2**bits


class _Kept:
    """The examples of one cell in a further pass."""

    def __init__(self, cells: Cells, place: int) -> None:
        self.place, self.ends = place, (cells.least[place], cells.greatest[place])
        self.examples: list[Examples] = []

    def add(self, examples: Examples) -> None:
        """Keep those examples of a batch that are of the cell."""
        scores = examples.scores
        self.examples.append(examples.where((scores >= self.ends[0]) & (scores <= self.ends[1])))

    def inner(self) -> Inner:
        """The ties of the cell."""
        if not self.examples:
            raise ChangedError
        examples = Examples.joined(self.examples)
        ties, rising = np.unique(examples.scores, return_inverse=True)
        counter = _Counter(max(len(ties), 1), examples)
        counter.add(len(ties) - 1 - rising, examples)
        found = counter.cells
        return Inner(np.array([self.place]), np.full(len(found.counts), self.place), found)


class _Divided:
    """The examples of several cells in a further pass, counted in finer cells.

    A cell is divided by the bits of its scores, into the more parts the more examples it has.
    """

    def __init__(self, cells: Cells, places: NDArray[np.intp], bits: int) -> None:
        chosen = cells.rows(places)
        self.places, self.find = places, _finder(cells, bits)
        self.number = np.full(len(cells.counts), -1)
        self.number[places] = np.arange(len(places))
        self.top = _keys(chosen.greatest)
        span = (self.top - _keys(chosen.least)).view(np.uint64)
        parts = 2**bits * chosen.sizes / chosen.sizes.sum()
        width = np.frexp(span.astype(np.float64))[1] - np.maximum(np.log2(parts), 1).astype(int)
        self.shift = np.maximum(width, 0).astype(np.uint64)
        self.sizes = (span >> self.shift).astype(np.int64) + 1
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.counter: _Counter | None = None

    def add(self, examples: Examples) -> None:
        """Count those examples of a batch that are of the cells."""
        number = self.number[self.find(examples.scores)]
        inside = np.flatnonzero(number >= 0)
        examples, number = examples.where(inside), number[inside]
        below = (self.top[number] - _keys(examples.scores)).view(np.uint64) >> self.shift[number]
        if (below >= self.sizes[number].view(np.uint64)).any():
            raise ChangedError
        if self.counter is None:
            self.counter = _Counter(int(self.sizes.sum()), examples)
        self.counter.add(self.starts[number] + below.astype(np.int64), examples)

    def inner(self) -> Inner:
        """The finer cells that hold examples."""
        if self.counter is None:
            raise ChangedError
        places = self.places.repeat(self.sizes)[self.counter.there]
        return Inner(self.places, places, self.counter.cells)


def _keys(scores: NDArray[Any]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = ops.order_key(namespace(scores), scores).astype(np.int64)
    return keys


def _finder(cells: Cells, bits: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """What tells the places of the cells of scores: by a table as long as each has its own bin."""
    bins, number = _bins(cells.least, bits)
    if (np.diff(bins) > 0).all():
        place = np.zeros(number, dtype=np.int32)
        place[bins] = np.arange(len(bins))
        return lambda scores: place[_bins(scores, bits)[0]]
    rising, last = cells.least[::-1].copy(), len(bins) - 1
    return lambda scores: last - np.maximum(np.searchsorted(rising, scores, side="right") - 1, 0)


def opened(
    passes: Passes, cells: Mapping[Key, Cells], ends: Mapping[Key, set[int]], groups: int = 1
) -> dict[Key, Cells]:
    """The cells of every key after one more pass: ties where these end, and finer cells."""
    openings: dict[Key, list[_Kept | _Divided]] = {}
    for key, x in cells.items():
        bits = _bits(key, groups)
        kept = [k for k in sorted(ends.get(key, ())) if x.sizes[k] <= _AT_ONCE >> (_BITS - bits)]
        openings[key] = [_Kept(x, k) for k in kept]
        wanted = x.unknown
        wanted[list(ends.get(key, ()))] = True
        wanted[kept] = False
        if wanted.any():
            openings[key].append(_Divided(x, np.flatnonzero(wanted), bits))
    for batch in passes():
        for key, examples in batch.of(key for key, of_key in openings.items() if of_key):
            for opening in openings[key]:
                opening.add(examples)
    inner = {key: [x.inner() for x in of_key] for key, of_key in openings.items()}
    return {key: x.replaced(inner[key]) if inner[key] else x for key, x in cells.items()}
