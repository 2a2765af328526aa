"""From a file to a page: the command `report` from end to end."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from quotakernels._replacing import is_stdout
from quotakernels.cli.errors import InputError
from quotakernels.cli.evaluation import Task
from quotakernels.cli.example import ATTRIBUTION, example_file
from quotakernels.cli.files import output_file
from quotakernels.cli.report import evaluate_file, task_of_example
from quotakernels.cli.streams import path_given
from quotakernels.report.page import Origin, page_of

__all__ = ["write_example", "write_report"]


def write_report(path: Path, task: Task, output: Path) -> None:
    """Evaluate the columns of a file and write the page."""
    _write(path, task, output, (str(path_given(path)),), ())


def write_example(name: str, chosen: dict[str, Any], output: Path) -> None:
    """Write the page of scores that come with the package."""
    task = task_of_example(name, chosen)
    with example_file(task) as path:
        _write(path, task, output, ("--example", name), tuple(ATTRIBUTION.splitlines()))


def _write(
    path: Path, task: Task, output: Path, file: tuple[str, ...], attribution: tuple[str, ...]
) -> None:
    if not output.parent.is_dir():  # said before the evaluation, which takes its time
        raise InputError(f"{output} cannot be written: {output.parent} is no directory")
    evaluation = evaluate_file(path, task)
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    command = shlex.join(["quotakernels", *sys.argv[1:]])
    page = page_of(evaluation, Origin(file, command, made, attribution))
    content = page.encode()
    with output_file(output) as page_file:
        page_file.write(content)
    size = f"{len(content) / 1000:.0f} kB"
    click.echo(f"{output}: {size}, open it in a browser", err=is_stdout(output))
