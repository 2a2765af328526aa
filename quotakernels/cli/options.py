"""Options of the command line, and how those are read that are more than one word or number."""

from __future__ import annotations

import codecs
import glob
import math
import os
import re
from pathlib import Path
from typing import Any, Literal

import click
from click import Argument, Option
from click.shell_completion import CompletionItem

from quotakernels.cli.completion import columns_on_the_line
from quotakernels.cli.given import keep
from quotakernels.cli.numbers import AMOUNT, NUMBER, parse_number
from quotakernels.cli.streams import as_file
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import Condition

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
        return path if ctx is None or ctx.resilient_parsing else as_file(path, ctx)


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
    """The name of a column; the Tab key offers those that the option has not yet."""

    name = "col"
    after = ""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        given = ctx.params.get(param.name or "") if param.multiple else None
        return [
            CompletionItem(column + self.after)
            for column in columns_on_the_line(ctx)
            if column.startswith(incomplete) and column not in (given or ())
        ]


class _Condition(_Column):
    """What a column must hold, as in `train=0`."""

    name = "col=value"
    after = "="

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
