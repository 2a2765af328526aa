"""An evaluation as tables for people and as JSON for programs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from quotakernels.cli.evaluation import Evaluation, Measure
from quotakernels.cli.quota import Quota, plain

__all__ = ["as_json", "best", "print_evaluation", "table_console"]

_HEADINGS = {
    "roc_auc": "AUC",
    "pem": "PEM",
    "average_hit_rate": "average hit rate",
    "average_qrecall": "average Qrecall",
    "hit_rate": "hit rate",
    "qrecall": "Qrecall",
    "lift": "lift",
}
_UNLIMITED = 100_000
# Equal rankings whose weights are summed in another order may differ in the last bits.
_SAME = 1e-12


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _UNLIMITED
    return console


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print what the data are and the measures of every model."""
    console.print(_data_line(evaluation))
    for quota in evaluation.task.quotas:
        if quota.percent:
            console.print(f"@{quota} is {_places(evaluation, quota)}")
    for table in _fitting_tables(evaluation, console):
        console.print()
        console.print(table)
    if best(evaluation.values).any():
        console.print("\n* the best model by that measure")


def best(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which values (models x measures) are the best of their column; none for one model."""
    if len(values) < 2:
        return np.zeros(values.shape, dtype=bool)
    top = np.max(values, axis=0, initial=-math.inf, where=~np.isnan(values))
    marked: NDArray[np.bool_] = np.isclose(values, top, rtol=_SAME, atol=0.0)
    return marked


def as_json(evaluation: Evaluation) -> str:
    """Return the evaluation as JSON: full precision, null where a measure is undefined."""
    task = evaluation.task
    content = {
        "source": task.source,
        "label": task.label,
        "pos_label": task.pos_label,
        "weight": task.weight,
        "rows": evaluation.rows,
        "positives": evaluation.positives,
        "total_weight": evaluation.total,
        "positive_weight": evaluation.positive_total,
        "prevalence": _defined(evaluation.prevalence),
        "models": [
            {"score": name, **_model_json(evaluation, row)} for row, name in enumerate(task.scores)
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _model_json(evaluation: Evaluation, row: int) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for measure, value in zip(evaluation.measures, evaluation.values[row], strict=True):
        if measure.quota is None:
            content[measure.name] = _defined(value)
            continue
        text = str(measure.quota)
        content.setdefault("quotas", {}).setdefault(
            text, {"places": evaluation.places(measure.quota)}
        )[measure.name] = _defined(value)
    return content


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _data_line(evaluation: Evaluation) -> str:
    task = evaluation.task
    parts = [f"{evaluation.rows} rows", f"{evaluation.positives} positive ({task.label})"]
    if task.weight is not None:
        parts.append(f"total weight {plain(evaluation.total)} ({task.weight})")
    prevalence = _defined(evaluation.prevalence)
    parts.append("prevalence " + ("undefined" if prevalence is None else f"{prevalence:.4g}"))
    return f"{task.source}\n" + ", ".join(parts)


def _places(evaluation: Evaluation, quota: Quota) -> str:
    unit = "rows" if evaluation.task.weight is None else "of the total weight"
    return f"{plain(evaluation.places(quota))} {unit}"


def _heading(measure: Measure) -> str:
    heading = _HEADINGS[measure.name]
    return heading if measure.quota is None else f"{heading} @{measure.quota}"


def _two_lines(heading: str) -> str:
    """Break a heading at its quota, or else at its first space, to keep its column narrow."""
    cut = heading.find("@") if "@" in heading else heading.find(" ") + 1
    return f"{heading[:cut].rstrip()}\n{heading[cut:]}"


def _cells(evaluation: Evaluation) -> list[list[Text]]:
    marked = best(evaluation.values)
    return [
        [_cell(value, mark) for value, mark in zip(values, marks, strict=True)]
        for values, marks in zip(evaluation.values, marked, strict=True)
    ]


def _cell(value: float, marked: bool) -> Text:
    # The space keeps the digits of a column in line with those of the marked value.
    if math.isnan(value):
        return Text("undefined ", style="dim")
    return Text(f"{value:z.4f}*", style="bold") if marked else Text(f"{value:z.4f} ")


def _fitting_tables(evaluation: Evaluation, console: Console) -> list[Table]:
    """Return the first layout that the console is wide enough for."""
    every = range(len(evaluation.measures))
    for table in (_models_as_rows(evaluation, every), _measures_as_rows(evaluation)):
        if _natural_width(table, console) <= console.width:
            return [table]
    return [_models_as_rows(evaluation, columns) for columns in _by_quota(evaluation.measures)]


def _natural_width(table: Table, console: Console) -> int:
    options = console.options.update(max_width=_UNLIMITED)
    return table.__rich_measure__(console, options).maximum


def _by_quota(measures: Sequence[Measure]) -> Iterator[list[int]]:
    for _, group in groupby(range(len(measures)), key=lambda index: measures[index].quota):
        yield list(group)


def _new_table(first_heading: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column(first_heading, overflow="fold")
    return table


def _models_as_rows(evaluation: Evaluation, columns: Sequence[int]) -> Table:
    table = _new_table("\nmodel")
    for column in columns:
        heading = _two_lines(_heading(evaluation.measures[column]))
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for name, cells in zip(evaluation.task.scores, _cells(evaluation), strict=True):
        table.add_row(Text(name), *(cells[column] for column in columns))
    return table


def _measures_as_rows(evaluation: Evaluation) -> Table:
    table = _new_table("measure")
    for name in evaluation.task.scores:
        table.add_column(Text(name), justify="right", no_wrap=True)
    cells = _cells(evaluation)
    for column, measure in enumerate(evaluation.measures):
        table.add_row(Text(_heading(measure)), *(row[column] for row in cells))
    return table
