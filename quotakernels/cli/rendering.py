"""An evaluation as tables for people and as JSON for programs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group
from rich.table import Table

from quotakernels._text import formatted, money, number, plain
from quotakernels.cli.advice import advice
from quotakernels.cli.best import dominant, in_words
from quotakernels.cli.certain import (
    DIFFERENCES,
    certainty_json,
    ends_json,
    in_sentences,
    notes_of_intervals,
    pairs_table,
)
from quotakernels.cli.certainty import Ends
from quotakernels.cli.evaluation import Brought, Evaluation, Values
from quotakernels.cli.quota import Quota
from quotakernels.cli.tables import UNLIMITED, grid, grid_of_ends
from quotakernels.cli.terminal import TextConsole, json_printable

__all__ = ["as_json", "print_evaluation", "table_console"]

_MARK = "* the best model by that measure (of S2, the area below chance, the smallest)"
_PEARSON = "Pearson: correlation of the selected scores with their own labels, 0 and 1"


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = TextConsole(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNLIMITED
    return console


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print what the data are and the measures of every model."""
    console.print(_data_line(evaluation))
    marks = False
    for heading, values, ends in _sections(evaluation):
        console.print(f"\n{heading}", style="bold")
        shown = grid(evaluation.task.scores, values, evaluation.rows)
        console.print(Group(*_spaced(shown.tables(console))))
        marks = marks or bool(shown.marked.any())
        if ends is not None:
            console.print("")
            intervals = grid_of_ends(evaluation.task.scores, ends)
            console.print(Group(*_spaced(intervals.tables(console))))
    notes = ([_MARK] if marks else []) + ([_PEARSON] if evaluation.at_quota else [])
    if notes:
        console.print("\n" + "\n".join(notes))
    _print_certainty(evaluation, console)
    for k, line in enumerate(in_words(evaluation.best, evaluation.task.scores)):
        console.print(line if k else f"\n{line}")
    for line in advice(evaluation):
        console.print(f"\n{line}")


def _print_certainty(evaluation: Evaluation, console: Console) -> None:
    """Say what the intervals are, and print the tests of differences."""
    for differences in evaluation.differences:
        quota = differences.quota
        where = "" if quota is None else f" {_quota_heading(evaluation, quota).lower()}"
        console.print(f"\n{DIFFERENCES[differences.measure]}{where}", style="bold")
        console.print(pairs_table(differences))
        console.print(f"\n{in_sentences(differences, evaluation.rows)}")
        for note in differences.notes:
            console.print(note)
    if (certainty := evaluation.task.certainty) is not None:
        console.print("")
        for line in certainty.in_words(*evaluation.weights_and_quotas):
            console.print(line)
    for note in notes_of_intervals(evaluation):
        console.print(note)


Section: TypeAlias = tuple[str, Values, Ends | None]


def _sections(evaluation: Evaluation) -> Iterator[Section]:
    found = evaluation.intervals
    over_all, areas = (None, None) if found is None else (found.over_all, found.areas)
    yield _over_all_heading(evaluation.over_all.of("s3")), evaluation.over_all, over_all
    yield "ROC and precision-recall space", evaluation.areas, areas
    for quota, values in evaluation.at_quota.items():
        ends = None if found is None else found.at_quota[quota]
        yield _quota_heading(evaluation, quota), values, ends
    if evaluation.brought is not None:
        yield from _gain_sections(evaluation, evaluation.brought)


def _gain_sections(evaluation: Evaluation, brought: Brought) -> Iterator[Section]:
    gains, tune, ends = brought.gains, evaluation.task.tune, brought.ends
    chosen = "" if tune is None else f", chosen on the rows with {tune[0]} = {tune[1]}"
    yield (
        f"What the best cut brings ({evaluation.task.unit}){chosen}\n"
        f"selecting nobody brings {money(gains.nobody)}, selecting all {money(gains.everybody)}",
        brought.at_best_cut,
        None if ends is None else ends.at_best_cut,
    )
    for quota, values in brought.at_quota.items():
        yield f"What quota {quota} brings", values, None if ends is None else ends.at_quota[quota]


def _spaced(tables: list[Table]) -> Iterator[Table | str]:
    for k, table in enumerate(tables):
        if k:
            yield ""
        yield table


def _over_all_heading(s3: NDArray[np.float64]) -> str:
    """Tell S3 here, as it is the same for all models."""
    known = "" if math.isnan(s3[0]) else f" (S3 = {plain(formatted(s3[0], '.4f'))})"
    return f"Over all quotas{known}"


def _quota_heading(evaluation: Evaluation, quota: Quota) -> str:
    if not quota.percent:
        return f"At quota {quota}"
    unit = "rows" if evaluation.task.weight is None else "of the total weight"
    return f"At quota {quota} ({number(evaluation.places(quota))} {unit})"


def as_json(evaluation: Evaluation) -> str:
    """Return the evaluation as JSON: full precision, null where a measure is undefined."""
    task = evaluation.task
    content = {
        "source": task.source,
        "label": task.label,
        "pos_label": task.pos_label,
        "weight": task.weight,
        "where": None if task.where is None else dict([task.where]),
        "tune": None if task.tune is None else dict([task.tune]),
        "unit": None if task.unit is None else asdict(task.unit),
        "rows": evaluation.rows,
        "positives": evaluation.positives,
        "total_weight": evaluation.total,
        "positive_weight": evaluation.positive_total,
        "prevalence": _defined(evaluation.prevalence),
        **certainty_json(evaluation),
        **_gains_json(evaluation.brought),
        "models": [
            {"score": name, **_model_json(evaluation, row)} for row, name in enumerate(task.scores)
        ],
        "dominant": [task.scores[model] for model in dominant(evaluation.best)],
        "best_by_quota": [
            {**stretch._asdict(), "models": [task.scores[model] for model in stretch.models]}
            for stretch in evaluation.best
        ],
    }
    return json_printable(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def _gains_json(brought: Brought | None) -> dict[str, float]:
    if brought is None:
        return {}
    return {"brought_by_nobody": brought.gains.nobody, "brought_by_all": brought.gains.everybody}


def _model_json(evaluation: Evaluation, row: int) -> dict[str, Any]:
    content: dict[str, Any] = {
        **_row_json(evaluation.over_all, row),
        **_row_json(evaluation.areas, row),
    }
    if (found := evaluation.intervals) is not None:
        content |= ends_json(row, found.over_all, found.areas)
    quotas: dict[str, dict[str, Any]] = {
        str(quota): {"places": evaluation.places(quota), **_row_json(values, row)}
        for quota, values in evaluation.at_quota.items()
    }
    tables = {} if found is None else {quota: [ends] for quota, ends in found.at_quota.items()}
    if (brought := evaluation.brought) is not None:
        content["best_cut"] = _best_cut_json(brought, row)
        for quota, values in brought.at_quota.items():
            quotas[str(quota)] |= _row_json(values, row)
            if brought.ends is not None:
                tables[quota].append(brought.ends.at_quota[quota])
    for quota, several in tables.items():
        quotas[str(quota)] |= ends_json(row, *several)
    return {**content, "quotas": quotas} if quotas else content


def _best_cut_json(brought: Brought, row: int) -> dict[str, Any]:
    content: dict[str, Any] = _row_json(brought.at_best_cut, row)
    if (ends := brought.ends) is None:
        return content
    expected = {} if ends.expected is None else {"expected": _defined(ends.expected[row])}
    return {**content, **expected, **ends_json(row, ends.at_best_cut)}


def _row_json(values: Values, row: int) -> dict[str, float | None]:
    return {
        measure.name: _defined(value)
        for measure, value in zip(values.measures, values.array[row], strict=True)
    }


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _data_line(evaluation: Evaluation) -> str:
    task = evaluation.task
    parts = [
        f"{number(evaluation.rows)} rows",
        f"{number(evaluation.positives)} positive ({task.label})",
    ]
    if task.weight is not None:
        parts.append(f"total weight {number(evaluation.total)} ({task.weight})")
    prevalence = _defined(evaluation.prevalence)
    parts.append(
        "prevalence " + ("undefined" if prevalence is None else formatted(prevalence, ".4g"))
    )
    chosen = "" if task.where is None else f", rows with {task.where[0]} = {task.where[1]}"
    return f"{task.source}{chosen}\n" + ", ".join(parts)
