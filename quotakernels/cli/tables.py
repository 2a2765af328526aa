"""The tables of an evaluation in a terminal, in the first layout that it is wide enough for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from quotakernels.evaluation.tables import Cell, Table
from quotakernels.evaluation.words import MINUS

UNLIMITED = 100_000
_FOLDED_NAME = 20
_UNDEFINED = "undefined"


def print_table(table: Table, console: Console) -> None:
    """Print a table, the intervals of its values as another one below, and its notes."""
    console.print(f"\n{table.caption}", style="bold")
    intervals = _intervals(table)
    first, *others = _fitting(table, console) + (_fitting(intervals, console) if intervals else [])
    console.print(Group(first, *(x for part in others for x in ("", part))))
    if table.notes:
        console.print("\n" + "\n".join(table.notes).replace(MINUS, "-"))


def _intervals(table: Table) -> Table | None:
    """The intervals of the columns and rows in which values have some."""
    columns = [
        k
        for k in range(len(table.head))
        if any(row[k].text and row[k].interval for row in table.rows)
    ]
    if not columns:
        return None
    undefined = (_UNDEFINED,)
    words = [k for k in range(len(table.head)) if table.holds_words(k)]
    rows = [
        (*(row[k] for k in words), *(Cell("", row[k].interval or undefined) for k in columns))
        for row in table.rows
        if any(row[k].interval for k in columns)
    ]
    return replace(table, head=tuple(table.head[k] for k in (*words, *columns)), rows=tuple(rows))


def _turned(table: Table) -> Table:
    """The columns as rows."""
    names = (row[0].text for row in table.rows)
    columns = zip(table.head, *table.rows, strict=True)
    rows = ((Cell(" ".join(head.split()), words=True), *cells) for head, *cells in columns)
    return replace(table, head=("measure", *names), rows=tuple(rows)[1:])


def _fitting(table: Table, console: Console) -> list[RichTable]:
    """The table as it is, with rows for columns, or else in parts with folded names."""
    words = [k for k in range(len(table.head)) if table.holds_words(k)]
    layouts = [_rich(table), *([_rich(_turned(table))] if len(words) == 1 else [])]
    for layout in layouts:
        if _fits(layout, console):
            return [layout]
    parts = [words]
    for column in range(len(words), len(table.head)):
        wider = _rich(table, [*parts[-1], column], _FOLDED_NAME)
        if parts[-1] != words and not _fits(wider, console):
            parts.append(words)
        parts[-1] = [*parts[-1], column]
    return [_rich(table, part, _FOLDED_NAME) for part in parts]


def _rich(
    table: Table, columns: Sequence[int] | None = None, name_width: int | None = None
) -> RichTable:
    """Some columns of a table, without lines but the one under the headings."""
    rich = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    columns = range(len(table.head)) if columns is None else columns
    for k in columns:
        if table.holds_words(k):
            look: dict[str, Any] = {"overflow": "fold", "max_width": name_width}
        else:
            look = {"justify": "right", "no_wrap": True}
        rich.add_column(Text(table.head[k]), vertical="bottom", **look)
    starred = table.starred
    for row in table.rows:
        rich.add_row(*(_text(row[k], starred) for k in columns))
    return rich


def _text(cell: Cell, starred: bool) -> Text:
    if cell.words:
        return Text(cell.text)
    ends = ", ".join(cell.interval)
    bracketed = f"[{ends}]" if len(cell.interval) > 1 else ends
    shown = (cell.text or bracketed).replace(MINUS, "-")
    if cell.best:
        return Text(f"{shown}*", style="bold")
    # The space keeps the digits of a column in line with those of the marked value.
    return Text(shown + " " * starred, style="dim" if shown == _UNDEFINED else "")


def _fits(table: RichTable, console: Console) -> bool:
    options = console.options.update(max_width=UNLIMITED)
    return table.__rich_measure__(console, options).maximum <= console.width
