"""Values as tables that fit the console, the best of each measure marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from quotakernels.evaluation.intervals import Limits
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.results import Values

__all__ = ["UNLIMITED", "Grid", "grid", "grid_of_limits"]

UNLIMITED = 100_000
_FOLDED_NAME = 20


@dataclass(frozen=True)
class Grid:
    """What the tables show: of each model (row) and shown measure (column) a value and a mark."""

    models: tuple[str, ...]
    measures: tuple[Column, ...]
    values: NDArray[np.float64]
    marked: NDArray[np.bool_]
    upper: NDArray[np.float64] | None = None  # beside values that are lower ends

    def tables(self, console: Console) -> list[Table]:
        """Return the first layout that the console is wide enough for."""
        every = range(len(self.measures))
        for table in (self._models_as_rows(every), self._measures_as_rows()):
            if _fits(table, console):
                return [table]
        return self._several(console)

    def _models_as_rows(self, columns: Sequence[int], name_width: int | None = None) -> Table:
        table = _new_table("model", name_width)
        for column in columns:
            heading = Text(self.measures[column].heading)
            table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
        for row, name in enumerate(self.models):
            table.add_row(Text(name), *(self._cell(row, column) for column in columns))
        return table

    def _measures_as_rows(self) -> Table:
        table = _new_table("measure")
        for name in self.models:
            table.add_column(Text(name), justify="right", no_wrap=True)
        for column, measure in enumerate(self.measures):
            heading = Text(measure.heading.replace("\n", " "))
            table.add_row(heading, *(self._cell(row, column) for row in range(len(self.models))))
        return table

    def _several(self, console: Console) -> list[Table]:
        """Fold the models' names, and begin another table for each measure that has no room."""
        parts: list[list[int]] = [[]]
        for column in range(len(self.measures)):
            wider = self._models_as_rows([*parts[-1], column], _FOLDED_NAME)
            if parts[-1] and not _fits(wider, console):
                parts.append([])
            parts[-1].append(column)
        return [self._models_as_rows(part, _FOLDED_NAME) for part in parts]

    def _cell(self, row: int, column: int) -> Text:
        value, measure = self.values[row, column], self.measures[column]
        # The space keeps the digits of a column in line with those of the marked value.
        if math.isnan(value):
            return Text("undefined ", style="dim")
        if self.upper is not None:
            ends = value, self.upper[row, column]
            return Text(f"[{', '.join(map(measure.end_form, ends))}]")
        if self.marked[row, column]:
            return Text(f"{measure.form(value)}*", style="bold")
        return Text(f"{measure.form(value)} ")


def grid(models: tuple[str, ...], values: Values, rows: int) -> Grid:
    """Return what to show of the values of models that were evaluated on a number of rows."""
    shown = [column for column, measure in enumerate(values.measures) if measure.heading]
    measures = tuple(values.measures[column] for column in shown)
    array = values.array[:, shown]
    return Grid(models, measures, array, Values(measures, array).best(rows))


def grid_of_limits(models: tuple[str, ...], ends: Limits) -> Grid:
    """Return what to show of intervals: those of the measures that tables show and compare."""
    shown = [k for k, measure in enumerate(ends.measures) if measure.heading]
    measures = tuple(ends.measures[k] for k in shown)
    lower, upper = ends.lower[:, shown], ends.upper[:, shown]
    return Grid(models, measures, lower, np.zeros(lower.shape, dtype=bool), upper)


def _new_table(first_heading: str, name_width: int | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column(first_heading, overflow="fold", vertical="bottom", max_width=name_width)
    return table


def _fits(table: Table, console: Console) -> bool:
    options = console.options.update(max_width=UNLIMITED)
    return table.__rich_measure__(console, options).maximum <= console.width
