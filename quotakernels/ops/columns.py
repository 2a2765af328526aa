"""Columns of a table, by row and by position, and sums over them."""

from __future__ import annotations

from typing import Any

from quotakernels._array import Array, Namespace, device
from quotakernels.ops._table import Cumulative, Summands, TieTable
from quotakernels.ops.tables import Tables


class Columns:
    """The columns of a table, each made when it is first read.

    By row: ``items`` counts examples; ``mass``, ``positive`` and ``negative`` are masses, which
    without weights are counts too; ``x_before`` and ``x_upto`` are sums over the rows before, and
    with the row, but those of items mean nothing in the empty rows of a table in place.  With
    ``_in_list`` they are counts that go on from one group of examples to the next.  By
    position, in such a table: ``position``, from 1 on, ``place`` within its group, ``group_x``,
    what the group has, 0 behind the last example, and ``group_size``, its items, at least 1.
    """

    def __init__(self, xp: Namespace, table: Any, wide: Any):
        self._xp, self._table, self._wide = xp, table, wide
        self._made: dict[str, Array] = {}

    def read(self, part: Summands) -> tuple[Array, ...]:
        """The columns of some summands, as floats unless they take whole numbers as they are."""
        names = part.columns if self._table.weighted else _by_items(part.columns)
        return tuple(self._whole(x) if part.whole else self._floating(x) for x in names)

    def _whole(self, name: str) -> Array:
        """Sums are wide, as products are made of them."""
        own, is_sum = self._own(name), name.endswith(("_before", "_upto", "_in_list"))
        whole = self._xp.of_kind(own.dtype, "integral")
        return self._xp.cast(own, self._xp.int64) if is_sum and whole else own

    def _floating(self, name: str) -> Array:
        key = f"floating {name}"
        if key not in self._made:
            self._made[key] = self._xp.cast(self._own(name), self._wide)
        return self._made[key]

    def _own(self, name: str) -> Array:
        if name not in self._made:
            self._made[name] = self._new(name)
        return self._made[name]

    def _new(self, name: str) -> Array:
        xp, counts = self._xp, self._table.counts
        if name == "place_in_list":
            return xp.arange(1, counts.shape[-1] + 1, dtype=xp.int64, device=device(counts))
        if name == "position":
            return self._position()
        if name == "row":
            return xp.rows_of_positions(counts, self._own("place_in_list"))
        if name == "place":
            return self._own("place_in_list") - self._own("row") + self._own("group_items") - 1
        if name.startswith("group_"):
            return self._of_group(name.removeprefix("group_"))
        base, _, part = name.partition("_")
        if part == "upto_in_list":
            return self._widened(xp.prefix_sum(self._column(base), xp.int64, whole=True))
        if part == "before_in_list":
            return self._own(f"{base}_upto_in_list") - self._own(base)
        if part == "before":
            return self._before(base, self._own(f"{base}_upto"))
        if part == "upto":
            in_place = base == "items" and self._table.in_place
            return self._own("position") if in_place else self._sums(base)
        return self._widened(self._column(base))

    def _position(self) -> Array:
        place, segments = self._own("place_in_list"), self._table.segments
        if not segments:
            return place
        return place - self._xp.repeat_per_row(self._table, segments.starts[..., :-1])

    def _column(self, base: str) -> Array:
        return self._table.counts if base == "items" else getattr(self._table, base)

    def _widened(self, x: Array) -> Array:
        return x if self._table.of_few else self._xp.cast(x, self._wide)

    def _of_group(self, name: str) -> Array:
        """What the group of each position has."""
        if name == "size":
            return self._xp.clip(self._own("group_items"), min=1)
        if name == "items_before":
            return self._own("position") - self._own("place")
        own = self._own(name)  # sums of masses before a row are those before its group
        return own if name.endswith("_before") else self._xp.take_last_axis(own, self._own("row"))

    def _counted(self, base: str) -> bool:
        """Whether a column holds whole numbers, in floats or not."""
        return base == "items" or not self._table.weighted

    def _sums(self, base: str) -> Array:
        if self._table.in_place and self._counted(base) and not self._table.segments:
            return self._xp.running_count(self._own(base))
        if self._counted(base):
            return self._widened(self._xp.running_total(self._table, self._column(base)))
        return self._xp.running_total(self._table, self._own(base))

    def _before(self, base: str, upto: Array) -> Array:
        """Differences of whole numbers are exact, and need no copy of the sums."""
        own = self._own(base)
        if self._xp.of_kind(own.dtype, "integral") or not upto.shape[-1]:
            return upto - own
        before = self._xp.shift_right(upto, 1, 0)
        if not self._table.segments:
            return before
        return self._xp.where(self._xp.first_rows(self._table), self._xp.zeros_like(before), before)


class CumulativeColumns:
    """The same columns of cumulative counts, which become floats before they are taken apart."""

    def __init__(self, xp: Namespace, table: Any, wide: Any):
        self._xp, self._table, self._wide = xp, table, wide
        self._made: dict[tuple[str, Any], Array] = {}

    def read(self, part: Summands) -> tuple[Array, ...]:
        """See `Columns.read`."""
        dtype = self._table.items.dtype if part.whole else self._wide
        return tuple(self._column(name, dtype) for name in _by_items(part.columns))

    def _column(self, name: str, dtype: Any) -> Array:
        if (name, dtype) not in self._made:
            self._made[name, dtype] = self._new(name, dtype)
        return self._made[name, dtype]

    def _new(self, name: str, dtype: Any) -> Array:
        xp, table = self._xp, self._table
        base, _, part = name.partition("_")
        if base in ("items", "positive", "negative"):
            return self._of_rows(base, part, dtype)
        if name == "position":
            return xp.arange(1, table.items.shape[-1], dtype=dtype, device=device(table.items))
        if name == "row":
            return xp.prefix_sum(table.begins, xp.int64) - 1
        if name == "place":
            return self._column("position", dtype) - self._column("group_items_before", dtype)
        if name == "group_size":
            return xp.clip(self._column("group_items", dtype), min=1)
        if name.startswith("group_"):
            row = self._column("row", xp.int64)
            return xp.take_last_axis(self._column(name.removeprefix("group_"), dtype), row)
        return xp.segment_of_row(table)

    def _of_rows(self, base: str, part: str, dtype: Any) -> Array:
        xp, table = self._xp, self._table
        if part == "sums":
            return self._sums(table, base, dtype)
        if part == "skipped":  # what stands before the group of examples of each row
            row = self._column("segment_of_row", xp.int64)
            return xp.take_last_axis(self._sums(table.segments, base, dtype), row)
        sums = self._column(f"{base}_sums", dtype)
        if not part:
            return sums[..., 1:] - sums[..., :-1]
        in_list = part.endswith("_in_list") or not table.segments
        sums = sums[..., :-1] if part.startswith("before") else sums[..., 1:]
        return sums if in_list else sums - self._column(f"{base}_skipped", dtype)

    def _sums(self, counted: Any, base: str, dtype: Any) -> Array:
        sums = counted.items
        if base != "items":
            found = self._xp.found_down_to(self._table, counted.items)
            sums = found if base == "positive" else sums - found
        return sums if dtype == self._table.items.dtype else self._xp.cast(sums, dtype)


class RowSums(Tables):
    """Columns of a table, by row and by position, and sums over them."""

    def rows_of_positions(self, counts: Array, places: Array) -> Array:
        """The row of the group of each of the places 1, 2, …, in a table in place.

        Behind all examples it is the last row.
        """
        last = counts.shape[-1] - 1
        behind = self.arange(last + 1, 0, -1, dtype=self.int64, device=device(counts))
        behind = self.where(counts > 0, behind, self.ones_like(behind))
        return last + 1 - self.flip(self.running_max(self.flip(behind, axis=-1)), axis=-1)

    def row_of_each(self, table: TieTable, ends: Array, numbers: Array) -> Array:
        """The row of each of the positions 1, 2, …, by the last position of each row.

        Behind all examples it is the last row.
        """
        counts = table.counts
        if table.in_place:
            return self.rows_of_positions(counts, numbers)
        found = self.bisect(
            ends, self.broadcast_to(numbers, (*counts.shape[:-1], numbers.shape[0]))
        )
        return self.clip(found, max=counts.shape[-1] - 1)

    def summed_by_position(self, table: TieTable | Cumulative) -> bool:
        """Whether that is fast: NumPy computes what only few rows need for these alone."""
        if isinstance(table, Cumulative):
            return not isinstance(table.begins, tuple)
        return table.in_place

    def sum_rows(self, table: TieTable | Cumulative, *parts: Summands) -> list[tuple[Array, ...]]:
        """The sums of all terms, in floating point, from one pass over the table.

        NumPy reads the rows in blocks that stay in the cache, all other libraries the whole
        columns.
        """
        wide = self.wide_float(device(table[0]))
        columns = (CumulativeColumns if isinstance(table, Cumulative) else Columns)(
            self, table, wide
        )
        return [
            tuple(
                self.cast(self.group_total(table, x), wide) for x in part.terms(*columns.read(part))
            )
            for part in parts
        ]


def _by_items(names: tuple[str, ...]) -> tuple[str, ...]:
    """Without weights masses are numbers of items."""
    return tuple(name.replace("mass", "items") for name in names)
