"""Every position of a ranking, one after the other, with the tie group that stands there."""

from __future__ import annotations

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, wide_float


class Positions:
    """The positions of each list, or of each group of examples, as rows of a table.

    ``rank`` counts them from 1 on; ``place`` is that within the tie group.  Both are floats.
    """

    def __init__(self, xp: Namespace, table: ops.Groups, numbers: Array):
        counts = table.counts
        ends = ops.prefix_sum(xp, counts, xp.int64)
        number = xp.broadcast_to(numbers, (*counts.shape[:-1], numbers.shape[0]))
        row = ops.row_of_each(xp, table, ends, numbers)
        self._xp, self._row, self._rows = xp, row, table
        self._wide = wide_float(xp, device(counts))
        items, end = ops.taken(xp, counts, row), ops.taken(xp, ends, row)
        self.there = (items > 0) & (number <= end)
        self.place = self._floating(number - end + items)
        self.items = self._floating(xp.where(self.there, items, xp.ones_like(items)))
        self._known, first = ends[..., -1:] <= numbers.shape[0], 0
        self.table = table
        if table.segments:
            self.table = self._with_segments(ends, items)
            before = self.table.segments.starts[..., :-1]
            first = ops.spread(xp, self.table, before)
        self.rank = self._floating(xp.where(self.there, number - first, xp.ones_like(number)))

    def _with_segments(self, ends: Array, items: Array) -> ops.Groups:
        """A table of as many rows as positions, of which only its segments are looked at."""
        xp, segments = self._xp, self._rows.segments
        none = xp.zeros((*ends.shape[:-1], 1), dtype=ends.dtype, device=device(ends))
        starts = ops.taken(xp, xp.concat([none, ends], axis=-1), segments.starts)
        of_row = ops.taken(xp, segments.of_row, self._row)
        segments = segments._replace(starts=starts, of_row=of_row)
        return ops.Groups(items, items, items, None, None, segments=segments)

    def _floating(self, x: Array) -> Array:
        return cast(self._xp, x, self._wide)

    def of_row(self, column: Array) -> Array:
        """What a column of the table has in the row of each position, as a float."""
        return self._floating(ops.taken(self._xp, column, self._row))

    def sums(self, wanted: Array, *terms: Array) -> list[Array]:
        """The sums of each of the terms within the wanted masses, shape (..., K).

        A fractional quota takes a part of the last position.
        """
        xp = self._xp
        terms = tuple(xp.where(self.there, x, xp.zeros_like(x)) for x in terms)
        found: list[list[Array]] = [[] for _ in terms]
        for k in range(wanted.shape[-1]):
            limit = wanted[..., k]
            taken = ops.clip(xp, ops.spread(xp, self.table, limit) - (self.rank - 1), 0.0, 1.0)
            inside = taken > 0  # not NaN
            defined = self._defined(limit)
            for sums, term in zip(found, terms, strict=True):
                part = xp.where(inside, taken * term, xp.zeros_like(taken))
                total = ops.group_total(xp, self.table, part)
                sums.append(ops.nan_unless(xp, defined, total))
        return [xp.stack(sums, axis=-1) for sums in found]

    def _defined(self, limit: Array) -> Array:
        """Where a wanted mass is a number, and all positions within it are known."""
        known = self._known if self.table.segments else self._known[..., 0]
        if not self.table.segments:
            known = known | (limit <= self.rank.shape[-1])
        return known & (limit == limit)


def refuse_weights(table: ops.Groups, name: str) -> None:
    """Raise for masses, of which there are no positions."""
    if table.weighted:
        raise ValueError(
            f"{name} takes no sample weights or other masses: positions are examples; to weigh "
            "lists, pass weights= to group_mean"
        )


def found_before(xp: Namespace, table: ops.Groups) -> Array:
    """How many positives stand above each row, in its list or group."""
    return ops.running_total(xp, table, table.positives) - table.positives
