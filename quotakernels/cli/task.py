"""What a command is to evaluate, from the options on the line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from quotakernels.cli.errors import InputError, listed
from quotakernels.cli.example import ATTRIBUTION, EXAMPLES, example_file
from quotakernels.cli.files import column_names
from quotakernels.cli.formats import file_format, files_of
from quotakernels.cli.given import given, on_the_line
from quotakernels.cli.streams import name_of, path_given
from quotakernels.evaluation.settings import Quota, Resampling, Settings, UnfitError, Unit

_TYPES = {"csv": "CSV", "excel": ".xlsx"}
_OF_FORMATS = {
    **dict.fromkeys(("sep", "encoding"), ("csv",)),
    **dict.fromkeys(("decimal", "header_row"), ("csv", "excel")),
    "sheet": ("excel",),
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
    chosen = _chosen(compare=compare, **options)
    if example is None:
        path, settings = _of_columns(file, chosen)
        yield Task(path, settings, (str(path_given(path)), *on_the_line()))
        return
    of_its_own = {"FILE": file, **{f"--{x.replace('_', '-')}": chosen[x] for x in _OF_FILES}}
    if unfit := [name for name, value in of_its_own.items() if value is not None]:
        raise click.UsageError(f"--example cannot be combined with {' and '.join(unfit)}.")
    settings = _checked(replace(EXAMPLES[example], **{key: x for key, x in chosen.items() if x}))
    with example_file(settings) as path:
        yield Task(path, settings, ("--example", example), tuple(ATTRIBUTION.splitlines()))


def _chosen(
    score: tuple[str, ...],
    quota: tuple[Quota, ...],
    budget: tuple[float, ...],
    gain: str | None,
    place_cost: float | None,
    impact: tuple[float, ...] | None,
    ratio: float | None,
    prevalence: float | None,
    confidence: float | None,
    compare: bool,
    resamples: int | None,
    seed: int | None,
    **columns: Any,
) -> dict[str, Any]:
    """The settings that options ask for; columns keep their names."""
    models = tuple(dict.fromkeys(score))
    compared = len(models or EXAMPLES["credit"].models)
    try:
        tune = columns["tune"] or None
        unit = Unit.asked(True, gain, place_cost, impact, tune, ratio, prevalence)
        how = confidence, compare, resamples, seed, compared
        resampling = Resampling.asked(True, *how, gains=unit is not None)
    except UnfitError as error:
        raise click.UsageError(f"{error}.") from error
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
    refuse_label_as_score(chosen["label"], chosen["models"])
    refuse_unread_options(file)
    source = name_of(file) if file.exists() else str(file)
    return file, _checked(Settings(source, command=True, **chosen))


def _checked(settings: Settings) -> Settings:
    """The settings, unless they do not go together."""
    try:
        settings.check()
    except UnfitError as error:
        raise click.UsageError(f"{error}.") from error
    return settings


def refuse_label_as_score(label: str, scores: tuple[str, ...]) -> None:
    """Raise for a column that would be both."""
    if label in scores:
        raise click.UsageError(f"{label!r} is given as --label and as --score.")


def refuse_unread_options(file: Path) -> None:
    """Raise for an option that says how files of another type are read."""
    for name, kinds in _OF_FORMATS.items():
        if given().get(name) is not None and file_format(file) not in kinds:
            types = " and ".join(_TYPES[x] for x in kinds)
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for {types} files; {name_of(file)} is none")


def refuse_to_overwrite(file: Path, output: Path) -> None:
    """Raise for an output that is the input, or would be part of it."""
    if output.exists() and any(output.samefile(x) for x in files_of(file)):
        raise InputError(f"{output.name} is the input; choose another name for the output")
    if file.is_dir() and output.resolve().is_relative_to(file.resolve()):
        raise InputError(f"{output.name} would be part of the input; write it to another directory")
