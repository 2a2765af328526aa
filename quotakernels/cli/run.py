"""From a file to a printed evaluation or to a page: `evaluate` and `report` from end to end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from quotakernels._replacing import is_stdout
from quotakernels.cli.columns import columns_read, sample_of
from quotakernels.cli.conditions import of_rows
from quotakernels.cli.engine import groups_first, streams
from quotakernels.cli.errors import InputError
from quotakernels.cli.exact import read_with_scores
from quotakernels.cli.example import ATTRIBUTION
from quotakernels.cli.missing import without_missing
from quotakernels.cli.options import Format
from quotakernels.cli.progress import Share, progress_bar
from quotakernels.cli.rendering import points_first, print_bounded, print_evaluation, table_console
from quotakernels.cli.streams import name_of
from quotakernels.cli.task import Task
from quotakernels.cli.writing import output_file
from quotakernels.evaluation.compute import OnPoints, evaluate_sample
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.settings import Settings, UnfitError
from quotakernels.evaluation.words import command_line


def print_file(
    path: Path, settings: Settings, output: Format, engine: str, memory_limit: str | None
) -> None:
    """Evaluate the columns of a file, or of several, and print the result."""
    settings = replace(settings, brief=output == "answer")
    if streams(path, settings, engine, memory_limit, brief=output == "answer"):
        _print(_evaluate_stream(path, settings), output, print_bounded)
    elif groups_first(path, settings, engine):
        _print(_evaluate_grouped(path, settings, memory_limit), output)
    else:
        _print(_evaluate_points_first(path, settings, output), output)


def print_example(path: Path, settings: Settings, output: Format) -> None:
    """Evaluate scores that come with the package, and say where they are from."""
    settings = replace(settings, brief=output == "answer")
    _print(_evaluate_points_first(path, settings, output), output)
    if output != "json":
        table_console().print(f"\n{ATTRIBUTION}", style="dim")


def write_page(task: Task, output: Path) -> None:
    """Evaluate the columns of a file and write the page."""
    from quotakernels.report.page import Origin, page_of

    if not output.parent.is_dir():  # said before the evaluation, which takes its time
        raise InputError(f"{output} cannot be written: {output.parent} is no directory")
    origin = Origin(task.words, command_line(["quotakernels", *sys.argv[1:]]), task.attribution)
    evaluation = evaluate_file(task.path, task.settings)
    with progress_bar(1) as step:
        step("drawing the page")
        content = page_of(evaluation, origin).encode()
    with output_file(output) as page_file:
        page_file.write(content)
    size = f"{len(content) / 1000:.0f} kB"
    click.echo(f"{output}: {size}, open it in a browser", err=is_stdout(output))


def _evaluate_points_first(path: Path, settings: Settings, output: Format) -> Evaluation:
    """Evaluate a file; a reader at a terminal sees what is known while intervals are drawn."""
    if output == "json" or not sys.stdout.isatty():
        return evaluate_file(path, settings)
    with points_first(table_console()) as on_points:
        return evaluate_file(path, settings, on_points)


def evaluate_file(
    path: Path, settings: Settings, on_points: OnPoints = lambda _: None
) -> Evaluation:
    """Evaluate the columns of a file, and tell the progress on stderr."""
    share = Share()
    with progress_bar(settings.steps, share) as step:
        step(f"reading {name_of(path)}")
        given = read_with_scores(path, columns_read(settings), settings.models)
        table = without_missing(given)
        tuning = None
        if settings.tune:
            tuning = of_rows(table, settings.tune, lambda x: sample_of(settings, x))
        evaluation = of_rows(
            table,
            settings.where,
            lambda x: evaluate_sample(
                settings, sample_of(settings, x), tuning, step, share.tell, on_points
            ),
        )
        missing = given.num_rows - table.num_rows
        return replace(evaluation, rows_read=given.num_rows, rows_missing=missing)


def _evaluate_grouped(path: Path, settings: Settings, memory_limit: str | None) -> Evaluation:
    from quotakernels.cli.grouped import evaluate_source, opened

    queries = 1 if settings.grouped_by is None else 2
    with (
        opened(path, settings, memory_limit) as source,
        progress_bar(1 + queries * len(settings.models), source.share_done) as step,
    ):
        step(f"reading {settings.source}")
        return evaluate_source(source, settings, step)


def _evaluate_stream(path: Path, settings: Settings) -> Evaluation:
    from quotakernels.cli.batches import Rows
    from quotakernels.evaluation.batches import evaluate_stream

    amounts = [x for x in (settings.weight, settings.cost, settings.gain) if x is not None]
    rows = Rows(settings.source, path, settings.where, settings.models, amounts)
    column = settings.grouped_by
    try:
        with progress_bar(2 if column is None else 3) as step:
            names = None
            if column is not None:
                step(f"finding the groups of {column}")
                names = rows.groups(column)
            found = None if names is None else np.asarray(names)
            return evaluate_stream(settings, lambda: rows.batches(settings, names), step, found)
    except UnfitError as error:
        raise InputError(str(error)) from error


def _print(
    evaluation: Evaluation,
    output: Format,
    printing: Callable[[Evaluation, Console, bool], None] = print_evaluation,
) -> None:
    if output == "json":
        click.echo(evaluation.to_json())
    else:
        printing(evaluation, table_console(), output == "all")
