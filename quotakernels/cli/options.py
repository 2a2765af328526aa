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
from typing import Any, Literal

import click
from click import Argument, Option

from quotakernels.cli.given import keep
from quotakernels.cli.paths import as_file
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import Condition

_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
"""One mark and three digits: of thousands or of decimals."""
_GROUPED = re.compile(
    r"[+-]?[1-9]\d{0,2}(?:(?P<mark>[.,' ])\d{3})(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d+)?"
)


def parse_number(text: str, *, counted: bool = False) -> float:
    """Read `1250.5` and `1250,5`, and marks of thousands where they leave no doubt: `1.250,5`.

    Of something `counted`, such as places or money, `1,250` is a number of thousands, as it is
    printed.
    """
    return float(plain_number(text, counted=counted))


def plain_number(text: str, *, counted: bool = False) -> str:
    """Return the text of a number as Python reads it, with all its digits."""
    text = text.strip()
    if counted and _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    if _DOUBTFUL.fullmatch(text):
        decimal = text.replace(",", ".")
        if not counted and decimal == text and not text.endswith(".000"):
            return text
        part = decimal.removesuffix(".000")  # else one digit more leaves no doubt
        either = f"{decimal.replace('.', '')} or {part if part != decimal else f'{decimal}0'}"
        raise click.BadParameter(f"{text!r} may mean {either}: write one of these.")
    if grouped := _GROUPED.fullmatch(text):
        text = text.replace(grouped["mark"], "")
    return text.replace(",", ".") if text.count(",") == 1 else text


class _Number(click.ParamType):  # type: ignore[type-arg]  # as _Column
    """A number, with a decimal point."""

    name = "number"
    counted = False

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `0.8`."""
        try:
            return parse_number(str(value), counted=self.counted)
        except ValueError:
            self.fail(f"{value!r} is not a number, as 0.8 is.", param, ctx)


class _Amount(_Number):
    """A number of 0 or more."""

    counted = True

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `0.8`, and refuse what no budget can be."""
        amount = super().convert(value, param, ctx)
        if not 0 <= amount < math.inf:
            self.fail(f"{value!r} is not a finite number of 0 or more.", param, ctx)
        return amount


NUMBER, AMOUNT = _Number(), _Amount()
_CONDITION = re.compile(r"(.+?)(?:=(?==))?(=|!=|<=|>=|<|>)(.*)", re.DOTALL)
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B", re.IGNORECASE)
_PREFIXES = ("", "K", "M", "G", "T")
ENGINES = ("auto", "memory", "duckdb", "stream")

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


def parse_impacts(text: str) -> tuple[float, ...]:
    """Read `5,-4,0,0` as the impacts of the four cells of a confusion table."""
    try:
        impacts = tuple(parse_number(x) for x in text.split(";" if ";" in text else ","))
    except ValueError:
        impacts = ()
    if len(impacts) != 4 or not all(map(math.isfinite, impacts)):
        commas = "; with decimal commas put semicolons between them" if text.count(",") > 3 else ""
        raise click.BadParameter(f"{text!r} is not four finite numbers such as 5,-4,0,0{commas}.")
    return impacts


def parse_condition(text: str) -> Condition:
    """Read `train=0` or `age>=40` as what a column must hold."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise click.BadParameter(f'{text!r} is not a condition such as train=0 or "age>=40".')
    column, relation, value = found.groups()
    if column.endswith(" ") and value.startswith(" "):  # as in 'age >= 40'
        column, value = column.strip(), value.strip()
    return Condition(column, relation, value)


class _Column(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    """The name of a column."""

    name = "col"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take the name as it is."""
        return str(value)


class _Condition(click.ParamType):  # type: ignore[type-arg]  # as _Column
    """What a column must hold, as in `train=0`."""

    name = "col=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Condition:
        """Read the text."""
        return parse_condition(value)


COLUMN = _Column()
CONDITION = _Condition()


def parse_quota(text: str) -> Quota:
    """Read `200` as a number of places and `5%` as a percentage."""
    text = text.strip()
    percent = text.endswith("%")
    digits = text.removesuffix("%")
    try:  # places have no decimal comma
        part = re.fullmatch(r"\d*,(\d{1,2}|\d{4,})|0?,\d+", digits) and not percent
        amount = math.nan if part else parse_number(digits, counted=not percent)
    except ValueError:
        amount = math.nan
    if percent and not 0 < amount <= 100:
        raise click.BadParameter(f"{text!r} is not a percentage above 0 and up to 100.")
    if not percent and not 0 <= amount < math.inf:
        raise click.BadParameter(
            f"{text!r} is neither a number of places such as 200 nor a percentage such as 5%."
        )
    return Quota(amount, "percent" if percent else "places")


class _Level(click.ParamType):  # type: ignore[type-arg]  # as _Column
    """A level of confidence, also as a percentage."""

    name = "level"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `0.95` and `95%`."""
        text = str(value).strip()
        try:
            level = float(text.removesuffix("%").replace(",", "."))
        except ValueError:
            level = math.nan
        level = level / 100 if text.endswith("%") else level
        if not 0 < level < 1:
            self.fail(f"{text!r} is not a level such as 95% or 0.95.", param, ctx)
        return level


def parse_size(text: str) -> str:
    """Read a size of memory that DuckDB takes too, as in 4GB or 512 MiB."""
    if _SIZE.fullmatch(text.strip()) is None:
        raise click.BadParameter(f"{text!r} is not a size of memory, as 4GB and 512MB are.")
    return text.strip()


def bytes_of(size: str) -> float:
    """How many bytes a size has."""
    found = _SIZE.fullmatch(size)
    assert found is not None
    number, prefix, binary = found.groups()
    unit: int = (1024 if binary else 1000) ** _PREFIXES.index(prefix.upper())
    return float(number) * unit


def parse_separator(text: str) -> str:
    """Read one character, or `tab`."""
    found = "\t" if text in ("tab", "\\t") else text
    if len(found) != 1 or found in '"\r\n' or not found.isascii():
        raise click.BadParameter(f"{text!r} is not one character, as in ; or tab.")
    return found


def parse_encoding(text: str) -> str:
    """Read the name of an encoding that Python has."""
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise click.BadParameter(f"{text!r} is not an encoding such as utf-8 or latin-1.") from None


# those that commands share


def example_option(purpose: str) -> Option:
    """The option that takes the shipped example scores."""
    return Option(["--example"], type=click.Choice(["credit"]), help=purpose)


def resamples_option(what: str) -> Option:
    """The option for the number of resamples."""
    said = f"Resamples for {what}: by default 1000, more for many models, fewer for many rows."
    return Option(["--resamples"], metavar="N", type=click.IntRange(min=1), help=said)


def only_one(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The only value that an option may have."""
    if len(given) > 1:
        raise click.BadParameter(f"give it once; got {', '.join(given)}.")
    return given[0] if given else None


FILE = Argument(["file"], type=DataPath(), required=False)
LABEL = Option(["--label"], type=COLUMN, help="Column of the labels.")
SCORES = Option(["--score"], type=COLUMN, multiple=True, help="Column of a model's scores; repeat.")
SCORE = Option(
    ["--score"],
    type=COLUMN,
    required=True,
    multiple=True,  # so that none is dropped without a word
    callback=only_one,
    help="Column of the scores.",
)

QUOTA: dict[str, Any] = {"metavar": "Q", "type": parse_quota}
QUOTA_HELP = "Places to fill, as in 200 or 5%"

QUOTAS = Option(["--quota"], multiple=True, help=f"{QUOTA_HELP}; repeat.", **QUOTA)
COST = Option(["--cost"], type=COLUMN, help="Column of what each row costs; with --budget.")
WEIGHT = Option(["--weight"], type=COLUMN, help="Column of the weights.")
CALLED = Option(
    ["--positives", "called"],
    metavar="NAME",
    default="",
    help="Name of the positive rows, as in buyers.",
)
CURRENCY = Option(
    ["--currency"], metavar="NAME", default="", help="Currency of what rows bring, as in EUR."
)
POS_LABEL = Option(["--pos-label"], metavar="VALUE", help="The positive label, if it is not 1.")
WHERE = Option(
    ["--where"],
    type=CONDITION,
    multiple=True,
    help='Use only these rows, as in train=0 or "age>=40"; repeat.',
)
DROP_MISSING = Option(
    ["--drop-missing"],
    is_flag=True,
    callback=keep,
    expose_value=False,
    help="Leave out rows with a missing value in a used column.",
)
PER = Option(
    ["--per"],
    type=COLUMN,
    help="Fill --quota or --budget in each group of rows with the same value here.",
)
PER_OF_SELECTED = Option(
    ["--per"],
    type=COLUMN,
    help="Fill the quota or budget in each group of rows with the same value here.",
)
BY = Option(["--by"], type=COLUMN, help="Show what each group gets of one --quota or --budget.")
BUDGETS = (
    Option(
        ["--budget"],
        metavar="B",
        type=AMOUNT,
        multiple=True,
        help="What the selected rows may cost together, instead of --quota; repeat.",
    ),
    COST,
)
TREATMENT = (
    Option(
        ["--treatment"],
        type=COLUMN,
        help="Column of 1 for treated rows and 0 for controls: uplift.",
    ),
    Option(["--treated"], metavar="VALUE", help="The value of treated rows, as in mail, if not 1."),
)
DATA = (
    *(LABEL, SCORES, QUOTAS, *BUDGETS, PER, BY, *TREATMENT),
    *(POS_LABEL, CALLED, WEIGHT, WHERE, DROP_MISSING),
)
GAINS = (
    Option(["--gain"], type=COLUMN, help="Column of what each row brings if it is selected."),
    CURRENCY,
    Option(["--place-cost"], metavar="C", type=NUMBER, help="What each place costs."),
    Option(
        ["--impact"],
        metavar="TP,FP,FN,TN",
        type=parse_impacts,
        help="What a row of each cell of the confusion table brings.",
    ),
    Option(
        ["--ratio"],
        metavar="R",
        type=NUMBER,
        help="Rescale --impact to this class ratio, in positives per negative.",
    ),
    Option(
        ["--prevalence"],
        metavar="P",
        type=NUMBER,
        help="Rescale --impact to this share of positives.",
    ),
    Option(
        ["--tune"],
        type=CONDITION,
        multiple=True,
        help="Choose the best cuts on these rows; repeat.",
    ),
)

LEVEL: dict[str, Any] = {
    "metavar": "LEVEL",
    "type": _Level(),
}
SEED = Option(
    ["--seed"], metavar="S", type=click.IntRange(min=0), help="Seed of the draws; 0 by default."
)
MONEY = (
    Option(
        ["--budget"],
        metavar="B",
        type=AMOUNT,
        help="What the selected rows may cost together, instead of --quota.",
    ),
    COST,
    Option(["--over-cost"], is_flag=True, help="Rank by score divided by cost."),
)
TIES = (
    Option(
        ["--all-ties"],
        is_flag=True,
        help="Write all rows tied at the edge, with their probability, and draw none.",
    ),
    SEED,
)

_READING: dict[str, dict[str, Any]] = {
    "--sep": {
        "metavar": "C",
        "type": parse_separator,
        "help": "CSV: separator of columns, as in ; or tab, if the detection is wrong.",
    },
    "--decimal": {
        "type": click.Choice([".", ","]),
        "help": "Decimal mark; the other one marks thousands.",
    },
    "--encoding": {
        "metavar": "NAME",
        "type": parse_encoding,
        "help": "CSV: encoding, as in latin-1.",
    },
    "--sheet": {"metavar": "NAME", "help": ".xlsx: name or number of the sheet."},
    "--header-row": {
        "metavar": "N",
        "type": click.IntRange(min=1),
        "help": "Row with the names of the columns.",
    },
    "--missing": {
        "metavar": "VALUE",
        "multiple": True,
        "help": "Text of cells without a value, as in k.A.; repeat.",
    },
}
READING = tuple(
    Option([name], callback=keep, expose_value=False, **look) for name, look in _READING.items()
)
ESCAPE_FORMULAS = Option(
    ["--escape-formulas"],
    is_flag=True,
    callback=keep,
    expose_value=False,
    help="CSV: write ' before texts that a spreadsheet would run as formulas.",
)
OUTPUT_FILE = click.Path(dir_okay=False, readable=False, path_type=Path)


def output_option(purpose: str) -> Option:
    """The option that names the file to write."""
    return Option(["-o", "--output"], type=OUTPUT_FILE, required=True, help=purpose)


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
