"""From the options on the line to what is printed or written."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._replacing import is_stdout
from quotakernels._text import counted, fixed, formatted, number, percent, plain
from quotakernels.cli.columns import (
    BatchReader,
    columns_read,
    cost_column,
    filtered,
    fulfilling,
    group_column,
    group_values,
    looks_like_id,
    no_row_has,
    of_rows,
    row_numbers,
    sample_of,
    score_column,
    shared_by_few,
)
from quotakernels.cli.errors import (
    InputError,
    PlacedError,
    first_names,
    in_options,
    no_rows,
    printable,
)
from quotakernels.cli.files import (
    column_names,
    output_file,
    output_format,
    read_batches,
    read_rows,
    read_table,
    values_of,
    without_missing,
    write_table,
)
from quotakernels.cli.given import command_line, given, on_the_line
from quotakernels.cli.options import Format
from quotakernels.cli.paths import file_format, files_of, name_of, path_given, refusing
from quotakernels.cli.rendering import print_evaluation, progress_bar, table_console
from quotakernels.evaluation.evaluate import evaluate_sample
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.results import how_filled, how_filled_each
from quotakernels.evaluation.settings import (
    Groups,
    Quota,
    Resampling,
    Sample,
    Settings,
    UnfitError,
    Unit,
)
from quotakernels.evaluation.words import Conditions, listed, say

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


_FORMATS = {"csv": "CSV", "excel": ".xlsx"}
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
        known = f" {name_of(file)} has the columns {first_names(names)}." if file and names else ""
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
    kind = _FORMATS.get(file_format(file), "other")
    for name, types in _OF_TYPES.items():
        if given().get(name) is not None and kind not in types:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for {types} files; {name_of(file)} is not one")


def refuse_to_overwrite(file: Path, output: Path) -> None:
    """Raise for an output that is the input, or would be part of it."""
    if output.exists() and any(output.samefile(x) for x in files_of(file)):
        raise InputError(f"{output.name} is the input; choose another name for the output")
    if file.is_dir() and output.resolve().is_relative_to(file.resolve()):
        raise InputError(f"{output.name} would be part of the input; write it to another directory")


# in memory, or as a stream


_MEMORY_SHARE = 0.25
"""Of the available memory, for the columns as they are read; evaluating them takes more."""
_VALUE_BYTES = 8
_IN_MEMORY = "give --engine memory"


def streams(path: Path, settings: Settings, engine: str, memory_limit: float | None) -> bool:
    """Whether the data are read as a stream, which can do less, and says so unless asked to."""
    if engine == "memory":
        return False
    refusals = list(_refusals_of_stream(settings))
    if engine == "stream":
        if refusals:
            raise InputError(f"{settings.source}: --engine stream {refusals[0]}")
        return True
    names, limit = columns_read(settings), memory_limit
    if limit is None:
        limit = _MEMORY_SHARE * _available_bytes()
    needed = sum(_bytes_of_file(file, names) for file in files_of(path))
    if needed <= limit:
        return False
    size, large = formatted(needed / 1e9, ".2g"), formatted(limit / 1e9, ".2g")
    said = f"The columns of {settings.source} take about {size} GB, and the limit is {large} GB"
    if refusals:
        raise InputError(f"{said}: a stream {refusals[0]}")
    click.echo(f"{said}: read as a stream. --engine memory reads them all.", err=True)
    return True


def _bytes_of_file(path: Path, names: Collection[str]) -> int:
    """About what columns take as arrays: of a file that tells no number of rows, what all takes."""
    if file_format(path) != "parquet":
        return path.stat().st_size
    from pyarrow import parquet

    with refusing(path):
        return _VALUE_BYTES * len(set(names)) * int(parquet.read_metadata(path).num_rows)


def _available_bytes() -> float:
    """Memory that can be had without swapping, also in a container; no limit if nobody tells."""
    found = [int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if "Avail" in line]
    limit, used = (_lines(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit and used and limit[0].isdigit():
        found.append(int(limit[0]) - int(used[0]))
    return min(found, default=math.inf)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _refusals_of_stream(settings: Settings) -> Iterable[str]:
    """What a stream cannot do."""
    if settings.resampling is not None:
        yield from _needing_resamples(settings, settings.resampling)
    if settings.tune or (settings.unit is not None and not settings.quotas):
        yield say("refused.best_cut_in_stream")
    if settings.deciles:
        yield say("refused.deciles_in_stream")
    if asked := [f"--{x.replace('_', '-')}" for x in ("drop_missing", "missing") if given().get(x)]:
        yield say("refused.options_in_stream", options=listed(asked))


def _needing_resamples(settings: Settings, resampling: Resampling) -> Iterable[str]:
    """Which intervals and tests a stream does not take, as they are no closed forms."""
    if resampling.compare:
        yield say("refused.compare_in_stream")
    elif not settings.quotas:
        yield say("refused.confidence_without_quota")
    beside = {
        "--weight": settings.weight,
        "--cluster": settings.cluster,
        "--budget": settings.cost,
        "--gain": settings.gain,
        "--treatment": settings.treatment,
        "--per or --by": settings.grouped_by,
    }
    if names := [name for name, column in beside.items() if column is not None]:
        yield say("refused.confidence_beside", options=listed(names))


# rows in batches


_MAX_GROUPS = 1000


class Rows(NamedTuple):
    """The rows that fulfil conditions; those of a directory with what its folders tell."""

    path: Path
    where: Conditions

    def read(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Go over the named columns of all rows once, in batches."""
        some, values = False, values_of(self.path)
        for texts in read_batches(self.path, names):
            table = values(texts)
            kept = filtered(table, fulfilling(table, self.where)) if self.where else table
            if kept.num_rows:
                some = True
                yield kept
        if not some:
            raise no_row_has(self.where) if self.where else no_rows(name_of(self.path))

    def groups(self, name: str) -> list[Any]:
        """The names of the groups of rows, in order, of a pass over their column."""
        found: set[Any] = set()
        for table in self.read([name, *(x.column for x in self.where)]):
            found.update(pc.unique(group_values(table, name)).to_pylist())
            if len(found) > _MAX_GROUPS:
                raise InputError(
                    f"column {name!r} has more than {_MAX_GROUPS} groups, for which --engine "
                    f"stream does not count scores; {_IN_MEMORY}"
                )
        if len({isinstance(x, str) for x in found}) > 1:
            raise InputError(f"column {name!r} holds text in some rows and numbers in others")
        return sorted(found)

    def batches(self, settings: Settings, groups: list[Any] | None = None) -> Iterator[Sample]:
        """Go over the labels and scores once; with groups, by their names, over these too."""
        reader = BatchReader(settings, groups or [])
        yield from map(reader.sample, self.read(columns_read(settings)))
        reader.check()


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
        raise InputError(f"{output} cannot be written: {output.parent} is not a directory")
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
    written = say("select.page", file=output, size=formatted(len(content) / 1000, ".0f"))
    click.echo(written, err=is_stdout(output))


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
        asked = settings.resampling is not None and settings.cluster is None
        ids = _repeated_ids(path, columns_read(settings)) if asked else ""
        return replace(evaluation, rows_read=given.num_rows, rows_missing=missing, repeated_ids=ids)


def _repeated_ids(path: Path, used: Sequence[str]) -> str:
    """The first column that is not used and looks like an id that a few rows share, or nothing."""
    others = [x for x in column_names(path) if x not in used and looks_like_id(x)]
    table = read_table(path, others) if others else None
    return next((x for x in others if table and shared_by_few(table[x])), "")


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
    written = say("select.cuts", file=output.name, cuts=number(cuts.num_rows))
    click.echo(written, err=is_stdout(output))


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


# how many labelled rows a study needs


_CORRELATION = 0.5


def print_plan(
    file: Path | None, label: str | None, score: tuple[str, ...], quota: Quota | None, **asked: Any
) -> None:
    """Say how many labelled rows tell two models apart, and what that assumes."""
    read: dict[str, Any] = {"pos_label": asked.pop("pos_label"), "where": asked.pop("where")}
    plan = {name: x for name, x in asked.items() if x is not None}
    curves, models = {"auc", "prevalence", "correlation"} & {*plan}, tuple(dict.fromkeys(score))
    if file is None:
        if not {"auc", "prevalence"} <= curves:
            raise click.UsageError(say("plan.lacking"))
        of_rows_only = {"label": label, "score": score, **read, **given()}
        if unread := [x for x, value in of_rows_only.items() if value]:
            raise click.UsageError(say("plan.unread", option=f"--{unread[0].replace('_', '-')}"))
        if quota is not None and not quota.percent:
            raise click.UsageError(say("plan.share"))
        click.echo("\n".join(_plan_of_curves(quota, plan)))
        return
    if curves or label is None or len(models) != 2:
        raise click.UsageError(say("plan.odd" if curves else "plan.lacking"))
    refuse_unread_options(file)
    _refuse_label_as_score(label, models)
    settings = Settings(name_of(file), label, models, **read)
    with progress_bar() as step:
        step(f"reading {settings.source}")
        table = without_missing(read_table(file, columns_read(settings)))
        said = of_rows(table, settings.where, partial(_plan_of_rows, settings, quota, plan))
    click.echo(printable("\n".join(said)))


def _plan_of_curves(quota: Quota | None, given: dict[str, Any]) -> list[str]:
    at = {} if quota is None else quota.argument(math.nan)
    correlation = given.setdefault("correlation", _CORRELATION)
    more = (1 + correlation) / 2
    fewer = _needed(quota, {**given, **at, "correlation": more})[0].examples
    _, parts = _needed(quota, {**given, **at})
    parts |= {"correlation": plain(correlation), "more": plain(more), "fewer": _about(fewer)}
    return [say(x, **parts) for x in ("plan.needed", "plan.curves", "plan.more_alike")]


def _plan_of_rows(
    settings: Settings, quota: Quota | None, given: dict[str, Any], rows: pa.Table
) -> list[str]:
    sample, at = sample_of(settings, rows), {}
    many = counted(len(sample.labels), "row", "rows")
    if quota is not None:
        quota.check(len(sample.labels), f"the {many}", of_rows=True)
        at = quota.argument(len(sample.labels))
    pilot = {"y_true": sample.labels, "models": sample.scores}
    found, parts = _needed(quota, {**given, **pilot, **at})
    if math.isnan(found.examples):
        raise InputError(say("plan.unknown"))
    parts |= dict(zip(("a", "b"), settings.models, strict=True))
    parts |= {"source": settings.source, "rows": many, "pilot": number(sample.labels.sum())}
    return [say(x, **parts) for x in ("plan.needed", "plan.pilot", "plan.uncertain")]


def _needed(
    quota: Quota | None, given: dict[str, Any]
) -> tuple[qk.results.SampleSize, dict[str, str]]:
    """The number of rows, and what sentences say of it."""
    what, form, at = "AUC", fixed(3), ""
    if quota is not None:
        rows = 0 if quota.percent else len(given["y_true"])
        share = percent(quota.amount / rows) if rows else ""
        at = say(
            "plan.at_share" if rows else "plan.at", quota=quota, share=share, rows=number(rows)
        )
        what, form = "hit rate", percent
    try:
        found = qk.inference.sample_size(qk.roc_auc if quota is None else qk.hit_rate, **given)
    except ValueError as error:
        raise click.UsageError(f"{in_options(error)}.") from error
    shares = {"power": given["power"], "level": 1 - given["confidence_level"]}
    parts = {name: f"{plain(100 * x)}%" for name, x in shares.items()}
    parts |= {"first": form(found.first), "second": form(found.second), "what": what, "at": at}
    numbers = {"needed": found.examples, "positives": found.positives}
    parts |= {name: _about(x) for name, x in numbers.items()}
    return found, {**parts, "difference": plain(given["difference"])}


def _about(planned: float) -> str:
    """A planned number, rounded up to two digits, as it rests on assumptions."""
    unit = 10.0 ** max(0, len(f"{planned:.0f}") - 2) if math.isfinite(planned) else 1.0
    return number(math.ceil(planned / unit) * unit if unit > 1 else planned)


# who fills a quota, spends a budget or reaches a threshold


_PROBABILITY = "selection_probability"


class Asked(NamedTuple):
    """Which rows are to be selected, and what becomes of those that are tied at the edge."""

    score: str
    quota: Quota | None
    threshold: float | None
    budget: float | None
    cost: str | None
    over_cost: bool
    per: str | None
    where: Conditions
    all_ties: bool
    seed: int | None

    def check(self) -> None:
        """Refuse what does not go together."""
        paid, ends = self.budget is not None, (self.quota, self.threshold, self.budget)
        by_score = self.threshold is not None
        refusals = {
            "--all-ties and --seed go with --quota or --budget.": by_score
            and (self.all_ties or self.seed is not None),
            "--all-ties draws no rows, so it cannot be combined with --seed.": self.all_ties
            and self.seed is not None,
            "--budget needs --cost.": paid and self.cost is None,
            "--cost and --over-cost go with --budget.": not paid
            and (self.cost is not None or self.over_cost),
            "Give one of --quota and --threshold, or --budget with --cost.": ends.count(None) != 2,
            "--per goes with --quota or --budget.": by_score and self.per is not None,
        }
        for said, wrong in refusals.items():
            if wrong:
                raise click.UsageError(said)

    @property
    def ties(self) -> dict[str, Any]:
        """The keyword arguments of `qk.select` for ties: some rows are drawn, or all share."""
        return {} if self.all_ties else {"whole": True, "random_state": self.seed or 0}

    def quota_of(self, scores: NDArray[Any]) -> Quota:
        """The quota, or the one that selects all scores from the threshold on; only ties that share
        can fill a part of a place.
        """
        reached = np.count_nonzero(scores >= self.threshold) if self.quota is None else 0
        return replace(self.quota or Quota(float(reached)), whole=not self.all_ties)


class Candidates(NamedTuple):
    """The rows to select from: their places, what reads rows at places, and what decides."""

    places: NDArray[np.intp]
    read: Callable[[NDArray[np.intp]], pa.Table]
    scores: NDArray[Any]
    groups: Groups | None = None

    def best_first(self, parts: NDArray[Any]) -> NDArray[np.intp]:
        """The selected rows by falling score, group by group; equal ones as in the file."""
        # Sorting the reversed rows upwards and reversing again is stable for every type of score.
        backwards = np.flatnonzero(parts)[::-1]
        rows = backwards[np.argsort(self.scores[backwards], kind="stable")][::-1]
        if self.groups is None:
            return rows
        return rows[np.argsort(self.groups.codes[rows], kind="stable")]


class Selection(NamedTuple):
    """The selected rows, how it came about, their order, and what was drawn, if anything was."""

    table: pa.Table
    said: str
    order: str
    drawn: str = ""


def _fill(asked: Asked, rows: Candidates) -> Selection:
    """The rows that fill a quota."""
    quota, total = asked.quota_of(rows.scores), len(rows.scores)
    of_all = counted(total, "row", "rows")
    quota.check(total, f"the {of_all}", of_rows=True)
    places = quota.places(total)
    parts = qk.select(rows.scores, quota=places, **asked.ties)
    best = rows.best_first(parts)
    last = rows.scores[best[-1]] if len(best) else np.inf
    above, tied = (int(np.count_nonzero(x)) for x in (rows.scores > last, rows.scores == last))
    said = how_filled(places, str(last), above, tied)
    if places < (exact := quota.unrounded.places(total)) and number(exact) != number(places):
        rounded = "select.rounded_share" if quota.percent else "select.rounded"
        said = say(rounded, filled=said, quota=quota, rows=of_all, exact=number(exact))
    return _selection(asked, rows, parts, said, say("select.best_first"))


def _fill_each(asked: Asked, rows: Candidates, groups: Groups) -> Selection:
    """The rows that fill a quota of each group, group by group."""
    quota, column = asked.quota_of(rows.scores), str(asked.per)
    sizes = np.bincount(groups.codes)
    largest = int(sizes.max(initial=0))
    largest_group = f"the {counted(largest, 'row', 'rows')} of the largest group by {column!r}"
    quota.check(largest, largest_group, of_rows=True)
    places = quota.of_each(sizes)
    parts = qk.select(rows.scores, groups=groups.codes, quota=places[:, None], **asked.ties)
    said = how_filled_each(float(places.sum()), quota, column, sizes)
    if (places < (exact := quota.unrounded.of_each(sizes))).any():
        said = say("select.rounded_each", filled=said, exact=number(exact.sum()), group=column)
    order = say("select.of_each", order=say("select.best_first"), group=column)
    return _selection(asked, rows, parts, said, order)


def _spend(asked: Asked, rows: Candidates, budget: float, costs: NDArray[np.float64]) -> Selection:
    """The best rows that a budget, or one of each group, pays for."""
    if asked.over_cost:
        rows = rows._replace(scores=_over_cost(rows.scores, costs))
    codes = {} if rows.groups is None else {"groups": rows.groups.codes}
    limit = {"cost": costs, "budget": budget, "when_short": "all", **codes}
    parts = qk.select(rows.scores, **limit, **asked.ties)
    many = counted(float(parts.sum()), "row", "rows")
    parts_of = {"rows": many, "cost": number(float(parts @ costs)), "budget": number(budget)}
    order = say("select.by_score_over_cost" if asked.over_cost else "select.best_first")
    if rows.groups is None:
        return _selection(asked, rows, parts, say("select.spent", **parts_of), order)
    groups = counted(len(rows.groups.names), "group", "groups")
    said = say("select.spent_each", group=asked.per, groups=groups, **parts_of)
    order = say("select.of_each", order=order, group=asked.per)
    return _selection(asked, rows, parts, said, order)


def _over_cost(scores: NDArray[Any], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores over the costs; what is free comes first."""
    if (scores < 0).any():
        raise InputError("--over-cost divides the scores, which must not be negative")
    free = cost == 0
    return np.where(free, np.inf, scores / np.where(free, 1.0, cost))


def _selection(
    asked: Asked, rows: Candidates, parts: NDArray[Any], said: str, order: str
) -> Selection:
    """The selected rows of the table, where all ties share with the probability of each."""
    best = rows.best_first(parts)
    found = rows.read(rows.places[best])
    if asked.all_ties:
        if _PROBABILITY in found.column_names:
            raise PlacedError(f"the file has a column {_PROBABILITY!r} already")
        return Selection(found.append_column(_PROBABILITY, pa.array(parts[best])), said, order)
    codes = 0 if rows.groups is None else rows.groups.codes
    drawn, tied = _drawn(rows.scores, parts, codes)
    if not drawn:
        return Selection(found, said, order)
    told = "select.drawn_one" if drawn == 1 else "select.drawn"
    numbers = {"drawn": number(drawn), "tied": number(tied), "seed": asked.seed or 0}
    return Selection(found, said, order, say(told, **numbers))


def _drawn(scores: NDArray[Any], taken: NDArray[Any], codes: NDArray[Any] | int) -> tuple[int, int]:
    """How many rows are taken of those ties that are taken in part, and how many these have."""
    values, value = np.unique(scores, return_inverse=True)
    _, tie = np.unique(codes * len(values) + value, return_inverse=True)
    sizes, parts = np.bincount(tie), np.bincount(tie, taken)
    partly = (parts > 0) & (parts < sizes)
    return int(parts[partly].sum()), int(sizes[partly].sum())


def write_selected(file: Path, output: Path, asked: Asked) -> None:
    """Write the rows that fill a quota, spend a budget or reach a threshold, and say so."""
    asked.check()
    refuse_unread_options(file)
    refuse_to_overwrite(file, output)
    if given().get("escape_formulas") and output_format(output) != "csv":
        raise click.UsageError(f"--escape-formulas is for CSV; {output.name} keeps texts as texts.")
    with progress_bar() as step:
        step(f"selecting rows of {name_of(file)}")
        selection = _select(asked, file, output)
    write_table(output, selection.table, file)
    to_stderr = is_stdout(output)
    click.echo(printable(selection.said), err=to_stderr)
    if selection.drawn:
        click.echo(selection.drawn, err=True)
    rows = counted(selection.table.num_rows, "row", "rows")
    written = say("select.written", file=output.name, rows=rows, order=selection.order)
    click.echo(printable(written), err=to_stderr)


def _select(asked: Asked, file: Path, output: Path) -> Selection:
    """The rows, selected of all by the columns that decide, which are held in memory."""
    beside = [x for x in (asked.per, asked.cost) if x is not None]
    names = [asked.score, *beside, *(x.column for x in asked.where)]
    read = partial(read_rows, file, as_text=output_format(output) == "csv")

    def selected(table: pa.Table) -> Selection:
        places, scores = row_numbers(table) - 1, score_column(table, asked.score)
        groups = None if asked.per is None else group_column(table, asked.per)
        costs = None if asked.cost is None else cost_column(table, asked.cost)
        rows = Candidates(places, read, scores, groups)
        if asked.budget is not None and costs is not None:
            return _spend(asked, rows, asked.budget, costs)
        return _fill(asked, rows) if groups is None else _fill_each(asked, rows, groups)

    return of_rows(without_missing(read_table(file, names)), asked.where, selected)
