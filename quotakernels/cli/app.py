"""The command line's commands and their options."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any, TypeVar

import click

from quotakernels import __version__
from quotakernels._replacing import is_stdout
from quotakernels.cli import manual
from quotakernels.cli.completion import SHELLS, columns_of, script
from quotakernels.cli.errors import InputError, listed
from quotakernels.cli.example import EXAMPLES
from quotakernels.cli.options import (
    COLUMN,
    CONDITION,
    ENGINES,
    DataPath,
    parse_impacts,
    parse_quota,
)
from quotakernels.cli.pages import CommandPage, GroupPage
from quotakernels.cli.streams import name_of
from quotakernels.evaluation.quota import Quota, UnfitError
from quotakernels.evaluation.settings import Resampling, Settings, Unit

_T = TypeVar("_T")
_QUOTA_HELP = "Places to fill, as in 200 or 5%"
_OF_FILES = "FILE, --label, --weight, --pos-label, --engine and --memory-limit"
_INPUT_FILE = DataPath(several=False)
_OUTPUT_FILE = click.Path(dir_okay=False, readable=False, path_type=Path)


@click.group(
    cls=GroupPage,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=manual.OVERVIEW,
)
@click.version_option(__version__)
def app() -> None:
    """Evaluate and use scores when only a limited number of cases can be selected.

    COMMAND --help tells what a command takes.
    """


@app.command(cls=CommandPage, **manual.EVALUATE)
@click.argument("file", type=DataPath(), required=False)
@click.option("--example", type=click.Choice(["credit"]), help="Evaluate scores that come along.")
@click.option("--label", type=COLUMN, help="Column of the labels.")
@click.option("--score", type=COLUMN, multiple=True, help="Column of a model's scores; repeat.")
@click.option(
    "--quota", metavar="Q", type=parse_quota, multiple=True, help=_QUOTA_HELP + "; repeat."
)
@click.option("--weight", type=COLUMN, help="Column of the weights.")
@click.option("--pos-label", metavar="VALUE", help="The positive label, if it is not 1.")
@click.option("--where", type=CONDITION, help="Use these rows only.")
@click.option("--tune", type=CONDITION, help="Choose the best cuts on these rows.")
@click.option("--gain", type=COLUMN, help="Column of what each row brings if it is selected.")
@click.option("--cost", metavar="C", type=float, help="What selecting a row costs; with --gain.")
@click.option(
    "--impact",
    metavar="TP,FP,FN,TN",
    type=parse_impacts,
    help="What a row of each cell of the confusion table brings.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    help="What reads FILE; auto lets DuckDB group large and several Parquet files.",
)
@click.option("--memory-limit", metavar="SIZE", help="What DuckDB may use of memory, as in 4GB.")
@click.option(
    "--confidence",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Print intervals of this level, as in 0.95.",
)
@click.option("--compare", is_flag=True, help="Tell which models differ by more than chance.")
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(min=1),
    help="How often --confidence and --compare draw the rows again; 1000, or as many more as tests "
    "of many models need.",
)
@click.option("--seed", metavar="S", type=click.IntRange(min=0), help="Other draws; 0 by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def evaluate(
    file: Path | None,
    example: str | None,
    compare: bool,
    engine: str,
    memory_limit: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare the models whose scores are columns of FILE.

    FILE is CSV (also compressed), Parquet, Arrow/Feather or NPZ, or a directory or pattern of
    Parquet files. One table has the measures over all quotas, and one for each --quota those at
    it; the best are marked with a star.

    With --gain or --impact it also tells each model's best cut, and what that and every quota
    bring; with --confidence and --compare, how sure the numbers are.
    """
    from quotakernels.cli.run import print_example, print_file

    chosen = _chosen(compare=compare, **options)
    if example is None:
        print_file(*_of_columns(file, chosen), as_json, engine, memory_limit)
        return
    if (memory_limit, engine) != (None, "auto") or _of_file(file, chosen):
        raise click.UsageError(f"--example goes without {_OF_FILES}.")
    print_example(example, chosen, as_json)


def _chosen(
    score: tuple[str, ...],
    quota: tuple[Quota, ...],
    gain: str | None,
    cost: float | None,
    impact: tuple[float, ...] | None,
    confidence: float | None,
    compare: bool,
    resamples: int | None,
    seed: int | None,
    **columns: Any,
) -> dict[str, Any]:
    """The settings that options ask for; columns keep their names."""
    models = _distinct(score)
    compared = len(models or EXAMPLES["credit"].models)
    try:
        resampling = Resampling.asked(True, confidence, compare, resamples, seed, compared)
        unit = Unit.asked(True, gain, cost, impact, columns["tune"])
    except UnfitError as error:
        raise click.UsageError(f"{error}.") from error
    chosen = {"models": models, "quotas": _distinct(quota), "unit": unit}
    return {**columns, **chosen, "resampling": resampling}


def _of_file(file: Path | None, chosen: dict[str, Any]) -> bool:
    """Whether something was given that an example has of its own."""
    return (file, *(chosen[x] for x in ("label", "weight", "pos_label"))) != (None,) * 4


def _of_columns(file: Path | None, chosen: dict[str, Any]) -> tuple[Path, Settings]:
    """The file, and what is evaluated of it."""
    if file is None or chosen["label"] is None or not chosen["models"]:
        raise _lacking(file)
    _refuse_label_as_score(chosen["label"], chosen["models"])
    source = name_of(file) if file.exists() else str(file)
    return file, Settings(source, command=True, **chosen)


def _lacking(file: Path | None) -> click.UsageError:
    names = columns_of(file)
    known = f" {name_of(file)} has the columns {listed(names)}." if file and names else ""
    return click.UsageError(f"FILE, --label and --score are needed, or --example credit.{known}")


_IN_BOTH = (
    *("example", "label", "score", "quota", "weight", "pos_label", "where", "tune"),
    *("gain", "cost", "impact", "confidence", "resamples", "seed"),
)
_OF_REPORT = {
    "example": "Report on scores that come along.",
    "confidence": "Level of the intervals and tests; 0.95.",
    "resamples": "How often they draw the rows again; 1000, or as many more as tests of many "
    "models need.",
}


def _of_report(option: click.Parameter) -> click.Parameter:
    """An option of `evaluate` with what it means to `report`."""
    own = copy(option)
    if isinstance(own, click.Option):
        own.help = _OF_REPORT.get(own.name or "", own.help)
    return own


@app.command(
    cls=CommandPage,
    params=[_of_report(x) for x in evaluate.params if x.name in _IN_BOTH],
    short_help="Write a page that tells which model should fill a quota.",
    **manual.REPORT,
)
@click.argument("file", type=_INPUT_FILE, required=False)
@click.option("-o", "--output", type=_OUTPUT_FILE, required=True, help="Page to write.")
def report(file: Path | None, example: str | None, output: Path, **options: Any) -> None:
    """Write a page that tells which model should fill a quota, with curves and tables.

    The page is one file of HTML that needs nothing else. Its first lines answer: which model, how
    many to select, what that brings, and how sure the order of the models is. The first --quota is
    the one that they are about.
    """
    from quotakernels.cli.run import write_example, write_file

    if options["confidence"] is None:  # intervals need no asking, nor do tests of several models
        options["confidence"] = 0.95
    chosen = _chosen(compare=len(_distinct(options["score"])) != 1, **options)
    if example is None:
        path, settings = _of_columns(file, chosen)
        _refuse_to_overwrite(path, output)
        write_file(path, settings, output)
        return
    if _of_file(file, chosen):
        raise click.UsageError("--example goes without FILE, --label, --weight and --pos-label.")
    write_example(example, chosen, output)


@app.command(
    cls=CommandPage, short_help="Write the rows that fill the quota, best first.", **manual.SELECT
)
@click.argument("file", type=_INPUT_FILE, required=False)
@click.option("--score", type=COLUMN, required=True, help="Column of the scores.")
@click.option("--quota", metavar="Q", type=parse_quota, help=_QUOTA_HELP + ".")
@click.option("--threshold", metavar="T", type=float, help="Lowest score to select, for a quota.")
@click.option("--where", type=CONDITION, help="Use these rows only.")
@click.option("--example", type=click.Choice(["credit"]), help="Select of scores that come along.")
@click.option("-o", "--output", type=_OUTPUT_FILE, required=True, help="File to write.")
def select(file: Path | None, example: str | None, output: Path, **chosen: Any) -> None:
    """Write the rows of FILE that fill the quota, or reach a threshold, best first.

    All columns are kept, and selection_probability is added: 1 above the threshold, and for the
    rows tied at it their equal chance of the places that remain. The name of the output tells its
    format: .csv, .tsv, .parquet, .arrow or .feather.
    """
    if (file is None) == (example is None):
        raise click.UsageError("Give FILE, or --example credit.")
    if file is not None:
        _write_selected(file, output, **chosen)
        return
    from quotakernels.cli.example import EXAMPLES, example_file

    with example_file(EXAMPLES[str(example)]) as path:
        _write_selected(path, output, **chosen)


def _write_selected(
    file: Path,
    output: Path,
    score: str,
    quota: Quota | None,
    threshold: float | None,
    where: tuple[str, str] | None,
) -> None:
    from quotakernels.cli.columns import of_rows, score_column, where_mask
    from quotakernels.cli.exact import read_with_scores
    from quotakernels.cli.files import output_format, read_table, write_table
    from quotakernels.cli.selection import reached, select_rows

    if (quota is None) == (threshold is None):
        raise click.UsageError("Give one of --quota and --threshold.")
    _refuse_to_overwrite(file, output)
    typed = read_with_scores(file, [score, *([] if where is None else [where[0]])], [score])
    scores = of_rows(typed, where, lambda rows: score_column(rows, score))
    table = read_table(file, as_text=output_format(output) == "csv")
    if where is not None:
        table = table.filter(where_mask(typed, *where))
    selection = select_rows(table, scores, quota or reached(scores, threshold))
    write_table(output, selection.table)
    to_stderr = is_stdout(output)
    click.echo(selection, err=to_stderr)
    click.echo(f"{output.name}: {selection.table.num_rows} rows, best first", err=to_stderr)


@app.command(cls=CommandPage, **manual.TABLES)
@click.argument("file", type=_INPUT_FILE)
@click.option("--label", type=COLUMN, required=True, help="Column of the labels.")
@click.option("--score", type=COLUMN, required=True, help="Column of the scores.")
@click.option("--weight", type=COLUMN, help="Column of the weights.")
@click.option("--pos-label", metavar="VALUE", help="The positive label, if it is not 1.")
@click.option("--where", type=CONDITION, help="Use these rows only.")
@click.option(
    "--ratio", metavar="R", type=float, help="Tune to R positives per negative; 1 is balanced."
)
@click.option("-o", "--output", type=_OUTPUT_FILE, required=True, help="File to write.")
def tables(
    file: Path, label: str, score: str, ratio: float | None, output: Path, **columns: Any
) -> None:
    """Write the confusion table of every cut of the scores.

    A row of the output is the cut that selects the rows with a score of threshold and more; the
    first one selects none. Its columns are threshold, quota (how many are selected), tp, fp, fn
    and tn. Publish it, and others can apply their own impacts and class ratio. The name of the
    output tells its format: .csv, .tsv, .parquet, .arrow or .feather.
    """
    from quotakernels.cli.columns import columns_read, of_rows
    from quotakernels.cli.cuts import rows_of_cuts
    from quotakernels.cli.exact import read_with_scores
    from quotakernels.cli.files import write_table

    _refuse_label_as_score(label, (score,))
    _refuse_to_overwrite(file, output)
    settings = Settings("", label, (score,), **columns)
    table = read_with_scores(file, columns_read(settings), [score])
    cuts = of_rows(table, settings.where, lambda rows: rows_of_cuts(rows, settings, ratio))
    write_table(output, cuts)
    click.echo(f"{output.name}: {cuts.num_rows} cuts, the empty one first", err=is_stdout(output))


@app.command(cls=CommandPage, **manual.COMPLETION)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what makes the Tab key of a shell complete this command.

    It completes commands, options, files, and the columns of a file that is on the line.
    """
    click.echo(script(app, shell), nl=False)


def _refuse_label_as_score(label: str, scores: tuple[str, ...]) -> None:
    if label in scores:
        raise click.UsageError(f"{label!r} is given as --label and as --score.")


def _refuse_to_overwrite(file: Path, output: Path) -> None:
    if output.exists() and output.samefile(file):
        raise InputError(f"{output.name} is the input; choose another name for the output")


def _distinct(values: tuple[_T, ...]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))
