"""How many labelled rows a study of two models needs, in plain sentences."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import click
from pyarrow import Table

from quotakernels import hit_rate, roc_auc
from quotakernels._text import counted, fixed, number, percent, plain
from quotakernels.cli.columns import columns_read, of_rows, sample_of
from quotakernels.cli.errors import InputError, in_options, printable
from quotakernels.cli.files import read_table, without_missing
from quotakernels.cli.paths import name_of
from quotakernels.cli.rendering import progress_bar
from quotakernels.cli.run import refuse_label_as_score, refuse_unread_options
from quotakernels.evaluation.settings import Quota, Settings
from quotakernels.evaluation.words import say
from quotakernels.inference import sample_size
from quotakernels.results import SampleSize

_CORRELATION = 0.5


def print_plan(
    file: Path | None, label: str | None, score: tuple[str, ...], quota: Quota | None, **asked: Any
) -> None:
    """Say how many labelled rows tell two models apart, and what that assumes."""
    read: dict[str, Any] = {"pos_label": asked.pop("pos_label"), "where": asked.pop("where")}
    given = {name: x for name, x in asked.items() if x is not None}
    curves, models = {"auc", "prevalence", "correlation"} & {*given}, tuple(dict.fromkeys(score))
    if file is None:
        if label or models or not {"auc", "prevalence"} <= curves:
            raise click.UsageError(say("plan.lacking"))
        if quota is not None and not quota.percent:
            raise click.UsageError(say("plan.share"))
        click.echo("\n".join(_of_curves(quota, given)))
        return
    if curves or label is None or len(models) != 2:
        raise click.UsageError(say("plan.odd" if curves else "plan.lacking"))
    refuse_unread_options(file)
    refuse_label_as_score(label, models)
    settings = Settings(name_of(file), label, models, **read)
    with progress_bar() as step:
        step(f"reading {settings.source}")
        table = without_missing(read_table(file, columns_read(settings)))
        said = of_rows(table, settings.where, partial(_of_rows, settings, quota, given))
    click.echo(printable("\n".join(said)))


def _of_curves(quota: Quota | None, given: dict[str, Any]) -> list[str]:
    at = {} if quota is None else quota.argument(math.nan)
    correlation = given.setdefault("correlation", _CORRELATION)
    more = (1 + correlation) / 2
    fewer = _found(quota, {**given, **at, "correlation": more})[0].examples
    _, parts = _found(quota, {**given, **at})
    parts |= {"correlation": plain(correlation), "more": plain(more), "fewer": number(fewer)}
    return [say(x, **parts) for x in ("plan.needed", "plan.curves", "plan.more_alike")]


def _of_rows(
    settings: Settings, quota: Quota | None, given: dict[str, Any], rows: Table
) -> list[str]:
    sample, at = sample_of(settings, rows), {}
    many = counted(len(sample.labels), "row", "rows")
    if quota is not None:
        quota.check(len(sample.labels), f"the {many}", of_rows=True)
        at = quota.argument(len(sample.labels))
    pilot = {"y_true": sample.labels, "models": sample.scores}
    found, parts = _found(quota, {**given, **pilot, **at})
    if math.isnan(found.examples):
        raise InputError(say("plan.unknown"))
    parts |= dict(zip(("a", "b"), settings.models, strict=True))
    parts |= {"source": settings.source, "rows": many, "pilot": number(sample.labels.sum())}
    return [say(x, **parts) for x in ("plan.needed", "plan.pilot", "plan.uncertain")]


def _found(quota: Quota | None, given: dict[str, Any]) -> tuple[SampleSize, dict[str, str]]:
    """The number of rows, and what sentences say of it."""
    what, form, at = "AUC", fixed(3), ""
    if quota is not None:
        share = str(quota) if quota.percent else percent(quota.amount / len(given["y_true"]))
        what, form, at = "hit rate", percent, say("plan.at", share=share)
    try:
        found = sample_size(roc_auc if quota is None else hit_rate, **given)
    except ValueError as error:
        raise click.UsageError(f"{in_options(error)}.") from error
    shares = {"power": given["power"], "level": 1 - given["confidence_level"]}
    parts = {name: f"{plain(100 * x)}%" for name, x in shares.items()}
    parts |= {"first": form(found.first), "second": form(found.second), "what": what, "at": at}
    numbers = {"needed": found.examples, "positives": found.positives}
    parts |= {name: number(x) for name, x in numbers.items()}
    return found, {**parts, "difference": plain(given["difference"])}
