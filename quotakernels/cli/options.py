"""Options of the command line: how they are read, and how help pages show them."""

from __future__ import annotations

import codecs
import glob
import inspect
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click import Argument, Option

from quotakernels.cli.given import keep
from quotakernels.cli.paths import as_file
from quotakernels.cli.query import DIALECTS
from quotakernels.evaluation.words import Condition

if TYPE_CHECKING:
    from quotakernels.evaluation.settings import Quota

_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DOUBTFUL = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def _parsed(text: str, *, counted: bool = False) -> float:
    """The number that a text is, or NaN.

    Of something `counted`, such as places or money, `1,250` is a number of thousands, as it is
    printed, and `1.250` may be one.
    """
    text = text.strip()
    if counted and _DOUBTFUL.fullmatch(text):
        either = f"{text.replace('.', '')} or {text}0"
        raise click.BadParameter(f"{text!r} may mean {either}: write one of these.")
    try:
        return float(text.replace(",", "") if counted and _THOUSANDS.fullmatch(text) else text)
    except ValueError:
        return math.nan


def _number(text: str) -> float:
    """Read `0.8`."""
    if math.isnan(number := _parsed(text)):
        raise click.BadParameter(f"{text!r} is not a number, as 0.8 is.")
    return number


def _amount(text: str) -> float:
    """Read an amount of money, which is not negative."""
    amount = _parsed(text, counted=True)
    if not 0 <= amount < math.inf:
        raise click.BadParameter(f"{text!r} is not a finite number of 0 or more.")
    return amount


_CONDITION = re.compile(r"(.+?)(?:=(?==))?(=|!=|<=|>=|<|>)(.*)", re.DOTALL)
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B", re.IGNORECASE)
_PREFIXES = ("", "K", "M", "G", "T")

Format = Literal["answer", "all", "json"]
"""What `evaluate` prints: the answer and its table, those and all others, or JSON."""


class DataPath(click.Path):
    """A file or a pipe, or else a directory or a pattern of files such as `scores/*.parquet`."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take what exists, and a pattern that something fits."""
        pattern = value = "/dev/stdin" if str(value) == "-" else str(value)
        if not Path(pattern).exists() and glob.glob(pattern, recursive=True):
            return Path(pattern)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return path if ctx is None else as_file(path, ctx)


def _impacts(text: str) -> tuple[float, ...]:
    """Read `5,-4,0,0` as the impacts of the four cells of a confusion table."""
    impacts = tuple(map(_parsed, text.split(",")))
    if len(impacts) != 4 or not all(map(math.isfinite, impacts)):
        raise click.BadParameter(f"{text!r} is not four finite numbers such as 5,-4,0,0.")
    return impacts


def _condition(text: str) -> Condition:
    """Read `train=0` or `age>=40` as what a column must hold."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise click.BadParameter(f'{text!r} is not a condition such as train=0 or "age>=40".')
    column, relation, value = found.groups()
    if column.endswith(" ") and value.startswith(" "):  # as in 'age >= 40'
        column, value = column.strip(), value.strip()
    return Condition(column, relation, value)


def _quota(text: str) -> Quota:
    """Read `200` as a number of places and `5%` as a percentage."""
    from quotakernels.evaluation.settings import Quota

    text = text.strip()
    percent = text.endswith("%")
    amount = _parsed(text.removesuffix("%"), counted=not percent)
    if percent and not 0 < amount <= 100:
        raise click.BadParameter(f"{text!r} is not a percentage above 0 and up to 100.")
    if not percent and not 0 < amount < math.inf:
        raise click.BadParameter(
            f"{text!r} is neither a number of rows above 0, such as 200, nor a percentage such as "
            "5%."
        )
    return Quota(amount, "percent" if percent else "places")


def _share(text: str) -> float:
    """Read `0.95` and `95%` as a share of a whole."""
    text = text.strip()
    share = _parsed(text.removesuffix("%"))
    share = share / 100 if text.endswith("%") else share
    if not 0 < share < 1:
        raise click.BadParameter(f"{text!r} is not above 0 and below 1, as 95% and 0.95 are.")
    return share


def _size(text: str) -> float:
    """Read a size of memory, as in 4GB or 512 MiB, in bytes."""
    if (found := _SIZE.fullmatch(text.strip())) is None:
        raise click.BadParameter(f"{text!r} is not a size of memory, as 4GB and 512MB are.")
    number, prefix, binary = found.groups()
    return float(number) * (1024 if binary else 1000) ** _PREFIXES.index(prefix.upper())


def _separator(text: str) -> str:
    """Read one character, or `tab`."""
    found = "\t" if text in ("tab", "\\t") else text
    if len(found) != 1 or found in '"\r\n' or not found.isascii():
        raise click.BadParameter(f"{text!r} is not one character, as in ; or tab.")
    return found


def _encoding(text: str) -> str:
    """Read the name of an encoding that Python has."""
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise click.BadParameter(f"{text!r} is not an encoding such as utf-8 or latin-1.") from None


def _each_once(_ctx: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> Any:
    """The names of models; raise for one that is given twice."""
    if twice := [x for x in names if names.count(x) > 1]:
        raise click.BadParameter(f"{twice[0]!r} is given twice; name each column once.")
    return names


_SEVERAL: dict[str, Any] = {"multiple": True, "callback": _each_once}


# the options of each command, under the headings of its help page


def _option(name: str, metavar: str, said: str, **more: Any) -> Option:
    return Option(name.split(), metavar=metavar, help=said, **more)


def _column(name: str, said: str, **more: Any) -> Option:
    return _option(name, "COL", said, **more)


def _flag(name: str, said: str, **more: Any) -> Option:
    return Option(name.split(), is_flag=True, help=said, **more)


def _kept(name: str, said: str, **more: Any) -> Option:
    """How a file is read or written, which `given` tells as long as the command runs."""
    return Option([name], help=said, callback=keep, expose_value=False, **more)


def _rows(name: str, said: str) -> Option:
    return _option(name, "COL=VALUE", said, type=_condition, multiple=True)


def _only_one(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The only value that an option may have."""
    if len(given) > 1:
        raise click.BadParameter(f"give it once; got {', '.join(given)}.")
    return given[0] if given else None


_QUOTA, _PLACES = {"type": _quota}, "Places to fill, as in 200 or 5%"
_BUDGET = "What the selected rows may cost together, instead of --quota"
_IN_EACH = "in each group of rows with the same value here"
FILE = Argument(["file"], type=DataPath(), required=False)
NEEDED_FILE = Argument(["file"], type=DataPath())
_ONE_SCORE = _column(  # which takes several, so that none is dropped without a word
    "--score", "Column of the scores.", required=True, multiple=True, callback=_only_one
)
_COST = _column("--cost", "Column of what each row costs; with --budget.")
_WEIGHT = _column("--weight", "Column of the weights.")
_POS_LABEL = _option("--pos-label", "VALUE", "The positive label, if it is not 1.")
_WHERE = _rows("--where", 'Use only these rows, as in train=0 or "age>=40"; repeat.')
_DROP_MISSING = _kept(
    "--drop-missing", "Leave out rows with a missing value in a used column.", is_flag=True
)
_FROM_1 = click.IntRange(min=1)
_SEED = _option("--seed", "S", "Seed of the draws; 0 by default.", type=click.IntRange(min=0))
READING = (
    _kept(
        "--sep",
        "CSV: separator of columns, as in ; or tab, if the detection is wrong.",
        metavar="C",
        type=_separator,
    ),
    _kept(
        "--decimal", "Decimal mark; the other one marks thousands.", type=click.Choice([".", ","])
    ),
    _kept("--encoding", "CSV: encoding, as in latin-1.", metavar="NAME", type=_encoding),
    _kept("--sheet", ".xlsx: name or number of the sheet.", metavar="NAME"),
    _kept("--header-row", "Row with the names of the columns.", metavar="N", type=_FROM_1),
    _kept(
        "--missing",
        "Text of cells without a value, as in k.A.; repeat.",
        metavar="VALUE",
        multiple=True,
    ),
)
_DATA_OPTIONS = (
    _column("--label", "Column of the labels."),
    _column("--score", "Column of a model's scores; repeat.", **_SEVERAL),
    _option("--quota", "Q", f"{_PLACES}; repeat.", multiple=True, **_QUOTA),
    _option("--budget", "B", f"{_BUDGET}; repeat.", type=_amount, multiple=True),
    _COST,
    _column("--per", f"Fill --quota or --budget {_IN_EACH}."),
    _column("--by", "Show what each group gets of one --quota or --budget."),
    _column("--treatment", "Column of 1 for treated rows and 0 for controls: uplift."),
    _column("--cluster", "Column of the customer, patient, … if several rows share one."),
    _option("--treated", "VALUE", "The value of treated rows, as in mail, if not 1."),
    _POS_LABEL,
    _option("--positives called", "NAME", "Name of the positive rows, as in buyers.", default=""),
    _WEIGHT,
    _WHERE,
    _DROP_MISSING,
)
_GAINS = (
    _column("--gain", "Column of what each row brings if it is selected."),
    _option("--currency", "NAME", "Currency of what rows bring, as in EUR.", default=""),
    _option("--place-cost", "C", "What each place costs.", type=_number),
    _option(
        "--impact",
        "TP,FP,FN,TN",
        "What a row of each cell of the confusion table brings.",
        type=_impacts,
    ),
    _option(
        "--ratio",
        "R",
        "Rescale --impact to this class ratio, in positives per negative.",
        type=_number,
    ),
    _rows("--tune", "Choose the best cuts on these rows; repeat."),
)


def _example(purpose: str) -> Option:
    return Option(["--example"], type=click.Choice(["credit"]), help=purpose)


_DECILES = _flag("--deciles", "Show each tenth of the rankings: hit rate, captures, KS.")


def _of_1(name: str, metavar: str, said: str, **more: Any) -> Option:
    return _option(name, metavar, said, type=_share, **more)


def _confidence(said: str) -> Option:
    return _of_1("--confidence", "LEVEL", said)


def _resamples(what: str) -> Option:
    said = f"Resamples for {what}: by default 1000, more for many models, fewer for many rows."
    return _option("--resamples", "N", said, type=_FROM_1)


def _output(purpose: str) -> Option:
    kind = click.Path(dir_okay=False, readable=False, path_type=Path)
    return Option(["-o", "--output"], type=kind, required=True, help=purpose)


Sections = Mapping[str, Sequence[Option]]
EVALUATE: Sections = {
    "Data and quotas": (*_DATA_OPTIONS, _example("Evaluate the shipped example scores.")),
    "What a selection brings": _GAINS,
    "How sure it is": (
        _confidence("Print intervals of this level, as in 95%."),
        _flag("--compare", "Test which models differ by more than chance."),
        _resamples("--confidence and --compare"),
        _SEED,
    ),
    "Large data": (
        Option(
            ["--engine"],
            type=click.Choice(["auto", "memory", "stream"]),
            default="auto",
            help="How to read FILE: into memory, or as a stream, which gives bounds.",
        ),
        _option(
            "--memory-limit",
            "SIZE",
            "What columns may take before they are read as a stream, as in 4GB.",
            type=_size,
        ),
    ),
    "How FILE is read": READING,
    "Output": (
        _flag("--all everything", "Print all measures and tests."),
        _DECILES,
        _flag("--json as_json", "Print everything as JSON."),
    ),
}
REPORT: Sections = {
    "Data and quotas": (*_DATA_OPTIONS, _example("Report on the shipped example scores.")),
    "What a selection brings": _GAINS,
    "How sure it is": (
        _confidence("Level of intervals and tests; 95% by default."),
        _flag("--compare", "Test which models differ, as is done for several by default."),
        _resamples("intervals and tests"),
        _SEED,
    ),
    "How FILE is read": READING,
    "Output": (_output("Page to write."), _DECILES),
}
SELECT: Sections = {
    "Rows": (
        _ONE_SCORE,
        _option("--quota", "Q", f"{_PLACES}.", **_QUOTA),
        _option("--threshold", "T", "Lowest score to select, instead of --quota.", type=_number),
        _option("--budget", "B", f"{_BUDGET}.", type=_amount),
        _COST,
        _flag("--over-cost", "Rank by score divided by cost."),
        _column(
            "--per", "Fill the quota or budget in each group of rows with the same value here."
        ),
        _WHERE,
        _DROP_MISSING,
        _flag(
            "--all-ties", "Write all rows tied at the edge, with their probability, and draw none."
        ),
        _SEED,
        _example("Select from the shipped example scores."),
    ),
    "How FILE is read": READING,
    "Output": (
        _output("File to write."),
        _kept(
            "--escape-formulas",
            "CSV: write ' before texts that a spreadsheet would run as formulas.",
            is_flag=True,
        ),
    ),
}
PLAN: Sections = {
    "What to find": (
        _of_1("--difference", "D", "Difference of hit rates, or else of AUC.", required=True),
        _option("--quota", "Q", f"{_PLACES}; without it, for AUC.", **_QUOTA),
        _of_1("--power", "P", "How often to find it; 80% by default.", default="80%"),
        _of_1("--confidence confidence_level", "LEVEL", "95% by default.", default="95%"),
    ),
    "From labelled rows": (
        _column("--label", "Column of the labels."),
        _column("--score", "Column of a model's scores; twice.", **_SEVERAL),
        _POS_LABEL,
        _WHERE,
        _DROP_MISSING,
    ),
    "Without FILE": (
        _of_1("--auc", "A", "AUC of the model to beat, as in 0.8."),
        _of_1("--prevalence", "P", "Share of positive rows, as in 3%."),
        _option("--correlation", "R", "Of the scores in each class; 0.5 by default.", type=_number),
    ),
    "How FILE is read": READING,
}
TABLES: Sections = {
    "Data": (
        _column("--label", "Column of the labels.", required=True),
        _ONE_SCORE,
        _POS_LABEL,
        _WEIGHT,
        _WHERE,
        _DROP_MISSING,
    ),
    "How FILE is read": READING,
    "Output": (
        _option(
            "--ratio", "R", "Rescale to R positives per negative; 1 is balanced.", type=_number
        ),
        _output("File to write."),
    ),
}
SQL: Sections = {
    "Data": (
        _column("--label", "Column of the labels.", required=True),
        _column("--score", "Column of the scores.", required=True),
        _column("--weight", "Column of the weights."),
        _column("--gain", "Column of what each row brings if selected."),
        _column("--gain-rejected", "Column of what it brings if not selected."),
        _column("--cost", "Column of what each row costs if selected."),
        _column("--treatment", "Column of 1 for treated rows and 0 for controls."),
        _column("--by", "Column of groups; each has its own ranking."),
        _POS_LABEL,
        _WHERE,
    ),
    "Output": (
        Option(["--dialect"], type=click.Choice(DIALECTS), required=True, help="Dialect of SQL."),
    ),
}

_WIDEST = 24
"""Of the options' names, for the texts beside them to begin in one column."""
_UNDERLINED = "\nExamples\n--------\n"


class _Page(click.Command):
    """A command whose help ends with the examples of its docstring, as they are written there."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options["help"], _, self.examples = inspect.cleandoc(options["help"]).partition(_UNDERLINED)
        super().__init__(*arguments, **options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples after everything else."""
        if self.examples:
            formatter.write(f"\nExamples:\n{self.examples}\n")


class CommandPage(_Page):
    """A command whose options stand under headings, in its help too; those in none come last."""

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Sequence[click.Option]],
        params: Sequence[click.Parameter] = (),
        **options: Any,
    ) -> None:
        of_sections = [option for section in sections.values() for option in section]
        super().__init__(*arguments, params=[*params, *of_sections], **options)
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Tell of words too many that a name with spaces is one word in quotes only."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            said = f'{error.message}; names with spaces need quotes, as in "model a"'
            raise click.UsageError(said, ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        named = [option for section in self.sections.values() for option in section]
        options = [x for x in self.get_params(ctx) if isinstance(x, click.Option)]
        others = [x for x in options if x not in named]
        for heading, section in {**self.sections, "Other" if named else "Options": others}.items():
            records = (option.get_help_record(ctx) for option in section)
            if rows := [(name.ljust(_WIDEST), text) for name, text in filter(None, records)]:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_WIDEST)


class GroupPage(_Page, click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in order."""
        return list(self.commands)
