"""From the options on the line to what is printed or written: `evaluate`, `report` and `tables`."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa

import quotakernels as qk
from quotakernels._replacing import is_stdout
from quotakernels._text import number
from quotakernels.cli.batches import Rows, streams
from quotakernels.cli.columns import columns_read, of_rows, sample_of
from quotakernels.cli.errors import InputError, in_options, listed
from quotakernels.cli.files import column_names, read_table, without_missing
from quotakernels.cli.given import command_line, given, on_the_line
from quotakernels.cli.options import Format
from quotakernels.cli.paths import file_format, files_of, name_of, path_given
from quotakernels.cli.rendering import print_evaluation, progress_bar, table_console
from quotakernels.cli.writing import output_file, write_table
from quotakernels.evaluation.evaluate import evaluate_sample
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.settings import Quota, Resampling, Settings, UnfitError, Unit

_CREDIT = {"label": "repaid", "score": ("tree", "naive_bayes", "neural_net")}
_ATTRIBUTION = (
    "Data: Hofmann (1994), Statlog (German Credit Data), UCI repository,",
    "https://doi.org/10.24432/C5NC77, licence CC BY 4.0; scores computed with Weka.",
)


@contextmanager
def example_file() -> Iterator[Path]:
    """Yield the path of the shipped file, which may have to be unpacked for the time being."""
    with as_file(files("quotakernels") / "data" / "german_credit_scores.csv") as path:
        yield path


# what is asked


_TYPES = {"csv": "CSV", "excel": ".xlsx"}
_OF_TYPES = {
    **dict.fromkeys(("sep", "encoding"), "CSV"),
    **dict.fromkeys(("decimal", "header_row"), "CSV and .xlsx"),
    "sheet": ".xlsx",
}
"""The types of files that options are for."""
_OF_FILES = ("label", "weight", "pos_label")
"""Options that an example has values of its own for."""


class Task(NamedTuple):
    """What to evaluate; the words for its data in commands, and whose the data are."""

    path: Path
    settings: Settings
    words: tuple[str, ...]
    attribution: tuple[str, ...] = ()


@contextmanager
def task_of(
    file: Path | None, example: str | None, compare: bool, options: dict[str, Any]
) -> Iterator[Task]:
    """The data and what is asked of them; an example's file is there for the time being."""
    if example is None:
        path, settings = _of_columns(file, _chosen(compare=compare, **options))
        yield Task(path, settings, (str(path_given(path)), *on_the_line()))
        return
    of_its_own = {"FILE": file, **{f"--{x.replace('_', '-')}": options[x] for x in _OF_FILES}}
    if unfit := [name for name, value in of_its_own.items() if value is not None]:
        raise click.UsageError(f"--example cannot be combined with {' and '.join(unfit)}.")
    asked = {**options, **_CREDIT, "score": options["score"] or _CREDIT["score"]}
    asked["quota"] = options["quota"] or (() if options["budget"] else (Quota(100.0),))
    with example_file() as path:
        _, settings = _of_columns(path, _chosen(compare=compare, **asked))
        yield Task(path, settings, ("--example", example), _ATTRIBUTION)


def _chosen(
    score: tuple[str, ...],
    quota: tuple[Quota, ...],
    budget: tuple[float, ...],
    gain: str | None,
    place_cost: float | None,
    impact: tuple[float, ...] | None,
    ratio: float | None,
    confidence: float | None,
    compare: bool,
    resamples: int | None,
    seed: int | None,
    **columns: Any,
) -> dict[str, Any]:
    """The settings that options ask for; columns keep their names."""
    models = tuple(dict.fromkeys(score))
    try:
        tune = columns["tune"] or None
        unit = Unit.asked(gain, place_cost, impact, tune, ratio)
        how = confidence, compare, resamples, seed, len(models)
        resampling = Resampling.asked(*how, gains=unit is not None)
    except UnfitError as error:
        raise click.UsageError(f"{in_options(error)}.") from error
    quotas = (*quota, *(Quota(x, "budget") for x in budget))
    chosen = {"models": models, "quotas": tuple(dict.fromkeys(quotas)), "unit": unit}
    return {**columns, **chosen, "resampling": resampling}


def _of_columns(file: Path | None, chosen: dict[str, Any]) -> tuple[Path, Settings]:
    """The file, and what is evaluated of it."""
    if file is None or chosen["label"] is None or not chosen["models"]:
        names = [] if file is None else column_names(file)
        known = f" {name_of(file)} has the columns {listed(names)}." if file and names else ""
        needed = "FILE, --label and --score are needed, or --example credit."
        select = " Rows without labels are for quotakernels select." if names else ""
        raise click.UsageError(needed + known + select)
    _refuse_label_as_score(chosen["label"], chosen["models"])
    refuse_unread_options(file)
    try:
        return file, Settings(name_of(file) if file.exists() else str(file), **chosen)
    except UnfitError as error:
        raise click.UsageError(f"{in_options(error)}.") from error


def _refuse_label_as_score(label: str, scores: tuple[str, ...]) -> None:
    """Raise for a column that would be both."""
    if label in scores:
        raise click.UsageError(f"{label!r} is given as --label and as --score.")


def refuse_unread_options(file: Path) -> None:
    """Raise for an option that says how files of another type are read."""
    kind = _TYPES.get(file_format(file), "other")
    for name, types in _OF_TYPES.items():
        if given().get(name) is not None and kind not in types:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for {types} files; {name_of(file)} is none")


def refuse_to_overwrite(file: Path, output: Path) -> None:
    """Raise for an output that is the input, or would be part of it."""
    if output.exists() and any(output.samefile(x) for x in files_of(file)):
        raise InputError(f"{output.name} is the input; choose another name for the output")
    if file.is_dir() and output.resolve().is_relative_to(file.resolve()):
        raise InputError(f"{output.name} would be part of the input; write it to another directory")


# how it is answered


def print_evaluated(task: Task, output: Format, engine: str, memory_limit: float | None) -> None:
    """Evaluate the columns of a file, or of several, and print the result."""
    path, settings = task.path, replace(task.settings, brief=output == "answer")
    as_stream = streams(path, settings, engine, memory_limit)
    evaluation = (_evaluate_stream if as_stream else evaluate_file)(path, settings)
    with progress_bar() as step:  # measures are computed when they are asked for
        step("computing the measures")
        record = "" if output == "answer" else evaluation.to_json()
    if output == "json":
        click.echo(record)
        return
    print_evaluation(evaluation, table_console(), output == "all")
    if task.attribution:
        table_console().print("\n" + "\n".join(task.attribution), style="dim")


def write_page(task: Task, output: Path) -> None:
    """Evaluate the columns of a file and write the page."""
    from quotakernels.report.page import Origin, page_of

    refuse_to_overwrite(task.path, output)
    if not output.parent.is_dir():  # said before the evaluation, which takes its time
        raise InputError(f"{output} cannot be written: {output.parent} is no directory")
    command = command_line(["quotakernels", *sys.argv[1:]])

    def select(model: str, asked: dict[str, str]) -> str:
        options = [x for name, value in asked.items() for x in (f"--{name}", value)]
        chosen = [x for each in task.settings.where for x in ("--where", each.short)]
        words = [*task.words, "--score", model, *options, *chosen, "-o", "selected.csv"]
        return command_line(["quotakernels", "select", *words])

    origin = Origin(command, select, task.attribution, in_options)
    evaluation = evaluate_file(task.path, task.settings)
    with progress_bar() as step:
        step("drawing the page")
        content = page_of(evaluation, origin).encode()
    with output_file(output) as page_file:
        page_file.write(content)
    size = f"{len(content) / 1000:.0f} kB"
    click.echo(f"{output}: {size}, open it in a browser", err=is_stdout(output))


def evaluate_file(path: Path, settings: Settings) -> Evaluation:
    """Evaluate the columns of a file, and tell the progress on stderr."""
    with progress_bar() as step:
        step(f"reading {name_of(path)}")
        given = read_table(path, columns_read(settings))
        table = without_missing(given)
        tuning = None
        if settings.tune:
            tuning = of_rows(table, settings.tune, lambda x: sample_of(settings, x))
        evaluation = of_rows(
            table,
            settings.where,
            lambda x: evaluate_sample(settings, sample_of(settings, x), tuning, step, step.tell),
        )
        missing = given.num_rows - table.num_rows
        return replace(evaluation, rows_read=given.num_rows, rows_missing=missing)


def _evaluate_stream(path: Path, settings: Settings) -> Evaluation:
    from quotakernels.evaluation.batches import evaluate_stream

    rows = Rows(path, settings.where)
    column = settings.grouped_by
    try:
        with progress_bar() as step:
            names = None
            if column is not None:
                step(f"finding the groups of {column}")
                names = rows.groups(column)
            found = None if names is None else np.asarray(names)
            return evaluate_stream(settings, lambda: rows.batches(settings, names), step, found)
    except UnfitError as error:
        raise InputError(in_options(error)) from error


# the confusion table at every cut


def write_cuts(
    file: Path, output: Path, label: str, score: str, ratio: float | None, columns: dict[str, Any]
) -> None:
    """Write the confusion table of every cut of the scores, and say how many there are."""
    _refuse_label_as_score(label, (score,))
    refuse_unread_options(file)
    refuse_to_overwrite(file, output)
    settings = Settings("", label, (score,), **columns)
    with progress_bar() as step:
        step(f"reading {name_of(file)}")
        table = without_missing(read_table(file, columns_read(settings)))
        cuts = of_rows(table, settings.where, lambda rows: _rows_of_cuts(rows, settings, ratio))
    write_table(output, cuts)
    count = number(cuts.num_rows)
    click.echo(f"{output.name}: {count} cuts, the empty one first", err=is_stdout(output))


def _rows_of_cuts(rows: pa.Table, settings: Settings, ratio: float | None) -> pa.Table:
    """Return one row per cut of the only model, the empty one first; that has no threshold."""
    ranking = qk.rank(**sample_of(settings, rows).of(*settings.models))
    if not ranking.counts.any():
        raise InputError("no row has any weight")
    if ratio is not None:
        if not 0 < ratio < math.inf:
            raise InputError(f"--ratio {ratio} is not a finite number above 0")
        if not (ranking.positive_weights.any() and ranking.negative_weights.any()):
            raise InputError("--ratio needs both classes")
    cuts = qk.tables.cut_tables(ranking, ratio=ratio)
    thresholds = pa.array(ranking.thresholds)
    columns = {"threshold": pa.concat_arrays([pa.nulls(1, thresholds.type), thresholds])}
    columns |= {"quota": pa.array(cuts.quota)}
    columns |= {name: pa.array(x) for name, x in cuts.table._asdict().items()}
    real = np.append(True, ranking.counts > 0)  # the others are padding
    return pa.table(columns).filter(pa.array(real))
