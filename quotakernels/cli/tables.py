"""Tables that fit the console: texts by model and measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from quotakernels.evaluation.intervals import Limits
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.results import Values

UNLIMITED = 100_000
_FOLDED_NAME = 20
_UNDEFINED = Text("undefined ", style="dim")


@dataclass(frozen=True)
class Grid:
    """What the tables show: of each model (row) and measure (column) a text."""

    models: tuple[str, ...]
    headings: tuple[str, ...]
    cells: list[list[Text]]

    def fitting(self, console: Console) -> Group:
        """Return the first layout that the console is wide enough for."""
        for table in (self._models_as_rows(range(len(self.headings))), self._measures_as_rows()):
            if _fits(table, console):
                return Group(table)
        first, *others = self._several(console)
        return Group(first, *(x for table in others for x in ("", table)))

    def _models_as_rows(self, columns: Sequence[int], name_width: int | None = None) -> Table:
        table = new_table("model", name_width)
        for column in columns:
            heading = Text(self.headings[column])
            table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
        for name, cells in zip(self.models, self.cells, strict=True):
            table.add_row(Text(name), *(cells[column] for column in columns))
        return table

    def _measures_as_rows(self) -> Table:
        table = new_table("measure")
        for name in self.models:
            table.add_column(Text(name), justify="right", no_wrap=True)
        for heading, cells in zip(self.headings, zip(*self.cells, strict=True), strict=True):
            table.add_row(Text(heading.replace("\n", " ")), *cells)
        return table

    def _several(self, console: Console) -> list[Table]:
        """Fold the models' names, and begin another table for each measure that has no room."""
        parts: list[list[int]] = [[]]
        for column in range(len(self.headings)):
            wider = self._models_as_rows([*parts[-1], column], _FOLDED_NAME)
            if parts[-1] and not _fits(wider, console):
                parts.append([])
            parts[-1].append(column)
        return [self._models_as_rows(part, _FOLDED_NAME) for part in parts]


def grid(models: tuple[str, ...], values: Values, rows: int) -> Grid:
    """Return what to show of the values of models that were evaluated on a number of rows."""
    best = values.best(rows)

    def cell(row: int, k: int, measure: Column) -> Text:
        value = values.array[row, k]
        # The space keeps the digits of a column in line with those of the marked value.
        if math.isnan(value):
            return _UNDEFINED
        return (
            Text(f"{measure.form(value)}*", style="bold")
            if best[row, k]
            else Text(f"{measure.form(value)} ")
        )

    return _grid(models, values.measures, cell)


def grid_of_limits(models: tuple[str, ...], limits: Limits) -> Grid:
    """Return what to show of intervals."""

    def cell(row: int, k: int, measure: Column) -> Text:
        ends = limits.lower[row, k], limits.upper[row, k]
        undefined = math.isnan(ends[0])
        return _UNDEFINED if undefined else Text(f"[{', '.join(map(measure.end_form, ends))}]")

    return _grid(models, limits.measures, cell)


def _grid(
    models: tuple[str, ...], measures: tuple[Column, ...], cell: Callable[[int, int, Column], Text]
) -> Grid:
    shown = [(k, measure) for k, measure in enumerate(measures) if measure.heading]
    cells = [[cell(row, k, measure) for k, measure in shown] for row in range(len(models))]
    return Grid(models, tuple(measure.heading for _, measure in shown), cells)


def new_table(first_heading: str, name_width: int | None = None) -> Table:
    """A table without lines but the one under its headings."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column(first_heading, overflow="fold", vertical="bottom", max_width=name_width)
    return table


def _fits(table: Table, console: Console) -> bool:
    options = console.options.update(max_width=UNLIMITED)
    return table.__rich_measure__(console, options).maximum <= console.width
