"""From a file to a printed evaluation: the command `evaluate` from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from quotakernels.cli.engine import groups_first, parquet_files
from quotakernels.cli.evaluation import Evaluation, Task, evaluate_models
from quotakernels.cli.exact import read_with_scores
from quotakernels.cli.example import ATTRIBUTION, EXAMPLES, example_file, loans_repaid
from quotakernels.cli.progress import Share, progress_bar
from quotakernels.cli.rendering import as_json, print_evaluation, table_console
from quotakernels.cli.streams import name_of

__all__ = ["Task", "evaluate_file", "report_example", "report_file", "task_of_example"]


def report_file(
    path: Path, task: Task, json: bool, engine: str = "auto", memory_limit: str | None = None
) -> None:
    """Evaluate the columns of a file, or of several, and print the result."""
    if groups_first(path, task, engine):
        evaluation = _evaluate_grouped(path, task, memory_limit)
    else:
        evaluation = evaluate_file(path, task)
    if json:
        click.echo(as_json(evaluation))
    else:
        print_evaluation(evaluation, table_console())


def report_example(name: str, chosen: dict[str, Any], json: bool) -> None:
    """Evaluate scores that come with the package, and say what the numbers mean."""
    task = task_of_example(name, chosen)
    with example_file(task) as path:
        evaluation = evaluate_file(path, task)
    if json:
        click.echo(as_json(evaluation))
        return
    console = table_console()
    print_evaluation(evaluation, console)
    for quota in task.quotas:
        console.print(f"\n{loans_repaid(evaluation, quota)}")
    console.print(f"\n{ATTRIBUTION}", style="dim")


def task_of_example(name: str, chosen: dict[str, Any]) -> Task:
    """The example's own settings, with what is chosen in their place."""
    return replace(EXAMPLES[name], **{key: value for key, value in chosen.items() if value})


def evaluate_file(path: Path, task: Task) -> Evaluation:
    """Evaluate the columns of a file, and tell the progress on stderr."""
    share = Share()
    with progress_bar(task.steps, share) as step:
        step(f"reading {name_of(path)}")
        table = read_with_scores(path, task.columns, task.scores)
        return evaluate_models(task, table, step, share.tell)


def _evaluate_grouped(path: Path, task: Task, memory_limit: str | None) -> Evaluation:
    from quotakernels.cli.grouped import evaluate_source, opened

    with (
        opened(parquet_files(path), task, memory_limit) as source,
        progress_bar(1 + len(task.scores), source.share_done) as step,
    ):
        step(f"reading {task.source}")
        return evaluate_source(source, task, step)
