"""Columns of a table as the arrays that the measures take, each value checked.

An error names the column and the first bad row; rows count from 1, without the header.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quotakernels.cli.errors import (
    InputError,
    PlacedError,
    first_values,
    in_options,
    missing_value,
    third_label,
)
from quotakernels.cli.given import given, quoted
from quotakernels.evaluation.settings import Groups, Sample, Settings, UnfitError
from quotakernels.evaluation.words import Condition, Conditions, in_words, listed

_FILES, _ROW = "quotakernels files", "quotakernels row"


Origin = tuple[str, int, int]
"""Where rows are from: how their file is called, how many come before in it, how many they are."""


def placed(table: pa.Table, origins: Sequence[Origin]) -> pa.Table:
    """The table, which knows where its rows are from."""
    return table.replace_schema_metadata({_FILES: json.dumps(origins)})


def origins(table: pa.Table) -> list[Origin]:
    """Where the rows of a table are from, if it knows."""
    found: list[Origin] = json.loads((table.schema.metadata or {}).get(_FILES.encode(), "[]"))
    return found


def filtered(table: pa.Table, kept: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The rows that are kept, each with the number that it had."""
    if _ROW not in table.column_names:
        table = table.append_column(_ROW, pa.array(row_numbers(table)))
    return table.filter(kept)


def row_numbers(table: pa.Table) -> NDArray[np.int64]:
    """The number that each row had before others were left out, from 1 on."""
    known = _ROW in table.column_names
    return np.asarray(table[_ROW]) if known else np.arange(1, table.num_rows + 1)


def _place(table: pa.Table, row: int) -> str:
    """Where a row, which counts from 1, is in its file."""
    row = int(row_numbers(table)[row - 1])
    for file, before, count in origins(table):
        if row <= count:
            return f"row {before + row}" + (f" of {file}" if file else "")
        row -= count
    return f"row {row}"


_Value = bool | int | float | str


class _Two(NamedTuple):
    """What the two values of a column are called, which of them is to be told, and by what."""

    called: str
    one: str
    option: str


_LABELS = _Two("labels", "positive", "--pos-label")
_TREATED = _Two("treatments", "treated", "--treated")
_ARMS = 2
_MARKED = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*")
"""A number with marks that are those of thousands or of decimals."""


# columns of numbers, treatments, groups and labels


def score_column(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a column of scores in its own type; infinities are scores, NaN is an error."""
    scores: NDArray[Any] = _numbers(table, name).to_numpy()
    return scores


def weight_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of weights, all finite and none negative."""
    weights = np.asarray(_numbers(table, name).to_numpy(), dtype=np.float64)
    bad = ~np.isfinite(weights) | (weights < 0)
    _refuse(bad, weights, table, name, "a finite weight of 0 or more")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise InputError(f"column {name!r}: the sum of the weights is too large for a number")
    return weights


def number_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers of either sign."""
    numbers = np.asarray(_numbers(table, name).to_numpy(), dtype=np.float64)
    _refuse(~np.isfinite(numbers), numbers, table, name, "a finite number")
    return numbers


def cost_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of costs, all finite and none negative."""
    costs = number_column(table, name)
    _refuse(costs < 0, costs, table, name, "a cost of 0 or more")
    return costs


def treatment_column(table: pa.Table, name: str, treated: str | None) -> NDArray[np.float64]:
    """Return a column of treatments: 1 for rows with the value of treated ones, 0 for others."""
    column = complete(table, name)
    if treated is None and not _is_text(column.type):
        treatment = number_column(table, name)
        odd = (treatment != 0) & (treatment != 1)
        _refuse(odd, treatment, table, name, "1 for a treated row, or 0")
        return treatment
    one = positive_value(_arms(pc.unique(column).to_pylist(), name), name, treated, _TREATED)
    return are_positive(column, one).astype(np.float64)


def _arms(values: list[_Value], name: str) -> list[_Value]:
    """The values of a treatment, of which there may be two."""
    if len(values) > _ARMS:
        raise InputError(
            f"column {name!r} holds {len(values)} values, and a treatment has {_ARMS}; "
            "keep the rows of two with --where"
        )
    return values


def group_column(table: pa.Table, name: str) -> Groups:
    """Return the group of each row, and what names the groups, in order; dates become texts."""
    column = group_values(table, name)
    names = sorted(pc.unique(column).to_pylist())
    return Groups(group_codes(column, names), np.asarray(names))


def group_values(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of what names the group of each row; dates become texts."""
    column = complete(table, name)
    kind = column.type
    if pa.types.is_temporal(kind):
        text = column.cast(pa.string())
        has_parts = pa.types.is_timestamp(kind) and kind.unit != "s"  # DuckDB drops their zeros
        return pc.replace_substring_regex(text, r"\.?0+$", "") if has_parts else text
    if pa.types.is_floating(kind) and pc.all(pc.equal(pc.floor(column), column)).as_py():
        return column.cast(pa.int64())  # as pandas writes ids of which some are missing
    if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        decimals = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        held = "numbers with decimals" if decimals else f"values of type {kind}"
        advice = "; round them, or write a class for each row" if decimals else ""
        known = "groups are whole numbers, text or dates"
        raise InputError(f"column {name!r} holds {held}, but {known}{advice}")
    return column


def group_codes(column: pa.ChunkedArray, names: list[Any]) -> NDArray[np.int64]:
    """The place of each group among the names."""
    codes = pc.index_in(column, value_set=pa.array(names, column.type))
    return np.asarray(codes.to_numpy()).astype(np.int64)


_ID = re.compile(
    r"(?i:(.*[\W_])?(id|ids|uid|customer|client|patient|user|account|card|household|subject|borrower)"
    r"([\W_]?(id|no|nr|number|key))?)|.*[a-z]I[Dd]"
)
_FEW_ROWS = 50


def looks_like_id(name: str) -> bool:
    """Whether a column is called like an id of customers, patients or the like."""
    return bool(_ID.fullmatch(name.strip()))


def shared_by_few(ids: pa.ChunkedArray) -> bool:
    """Whether some rows share an id, and on average not many."""
    known = len(ids) - ids.null_count
    return known > pc.count_distinct(ids).as_py() > known / _FEW_ROWS


def columns_read(settings: Settings) -> tuple[str, ...]:
    """The columns that settings name, which have to be read."""
    conditions = [x.column for x in (*settings.where, *settings.tune)]
    named = [settings.weight, settings.gain, settings.cost, settings.grouped_by]
    named += [settings.treatment, settings.cluster]
    optional = [x for x in named if x is not None]
    return (settings.label, *settings.models, *optional, *conditions)


def sample_of(settings: Settings, rows: pa.Table, **readers: Any) -> Sample:
    """The columns that settings name as arrays; an error tells of all columns that are none.

    What reads `labels`, `scores`, `groups` and `arms` of a table and a name may be another one.
    """
    errors: list[InputError] = []
    of_labels = readers.get("labels", partial(label_column, pos_label=settings.pos_label))
    of_scores, of_groups = readers.get("scores", score_column), readers.get("groups", group_column)

    def read(kind: Callable[[pa.Table, str], Any], name: str | None) -> Any:
        try:
            return None if name is None else kind(rows, name)
        except InputError as error:
            errors.append(error)

    labels = read(of_labels, settings.label)
    scores = {name: read(of_scores, name) for name in settings.models}
    weights, gains = read(weight_column, settings.weight), read(number_column, settings.gain)
    groups, costs = read(of_groups, settings.grouped_by), read(cost_column, settings.cost)
    of_arms = readers.get("arms", partial(treatment_column, treated=settings.treated))
    treatment = read(of_arms, settings.treatment)
    clusters = read(of_groups, settings.cluster)
    if errors:
        lines = dict.fromkeys(x.message for x in errors)
        raise errors[0] if len(lines) == 1 else PlacedError("\n".join(lines))
    return Sample(labels, scores, weights, gains, groups, costs, treatment, clusters)


def label_column(table: pa.Table, name: str, pos_label: str | None) -> NDArray[np.bool_]:
    """Return a column of labels, True for the positive ones."""
    column, values = label_values(table, name)
    return are_positive(column, positive_value(values, name, pos_label))


def label_values(
    table: pa.Table, name: str, known: list[_Value] | None = None
) -> tuple[pa.ChunkedArray, list[_Value]]:
    """Return a column of labels, and the values of labels: known ones first, two at most.

    None are known where the table is all there is, whose values can be counted.
    """
    column = complete(table, name)
    if not _is_text(column.type):
        column = _numbers(table, name)
    values = list(dict.fromkeys([*(known or []), *pc.unique(column).to_pylist()]))
    if len(values) > 2:
        place = _place(table, pc.index(column, values[2]).as_py() + 1)
        number, shown = ("more than 2", values[:3]) if known is not None else (len(values), values)
        raise PlacedError(third_label(name, number, shown, place))
    return column, values


def are_positive(column: pa.ChunkedArray, positive: _Value) -> NDArray[np.bool_]:
    """Tell which labels are the positive one."""
    return np.asarray(pc.equal(column, pa.scalar(positive, column.type)).to_numpy(), dtype=bool)


def complete(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column without missing values."""
    column = table.column(name)
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py() + 1
        raise missing_value(name, _place(table, row), column.null_count)
    return column


def plain(table: pa.Table) -> pa.Table:
    """The table in types that Arrow can compare."""
    fields = [pa.field(x.name, _plain(x.type)) for x in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata))


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type to read: of texts for views, of values for categories, floats for half floats."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    others = {pa.string_view(): pa.large_string(), pa.float16(): pa.float32()}
    return others.get(kind, kind)


def _numbers(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of booleans, integers or floats without NaN, or say what is in the way."""
    column = complete(table, name)
    kind = column.type
    if pa.types.is_decimal(kind):  # Arrow's own cast to floats is not always to the nearest
        column = column.cast(pa.string()).cast(pa.float64())
    elif _is_text(kind):
        texts = column.to_pylist()
        row, text = first_text(texts)
        some = any(x.isdigit() for cell in texts for x in cell)
        hint = f"is not a number{_hint(text) if some else ', and no cell of this column is'}"
        raise PlacedError(f"column {name!r}: {text!r} at {_place(table, row)} {hint}")
    elif not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise InputError(f"column {name!r} holds values of type {kind}, expected numbers")
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        _refuse(np.isnan(values), values, table, name, "a number")
    return column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def first_text(texts: list[str]) -> tuple[int, str]:
    """Return the row and the text of the first cell that is no number, or else of the first.

    A cell that is none with a decimal comma either comes before one that would be.
    """
    for mark in (",", "."):
        for row, text in enumerate(texts, start=1):
            try:
                float(text.replace(mark, "."))
            except ValueError:
                return row, text
    return 1, texts[0]


def _hint(text: str) -> str:
    """What may help where the marks of a number are in the way."""
    if given().get("decimal") is None and (marked := _MARKED.fullmatch(text)):
        name, other = ("point", ",") if marked[1] == "." else ("comma", ".")
        either = f"marks thousands, or --decimal {marked[1]} if it marks decimals"
        return f"; give --decimal {other} if its {name} {either}"
    if not any(map(str.isdigit, text)):
        return f"; if it means that there is no value, give --missing {quoted(text)}"
    tell = given().get("decimal") is None and "," in text
    decimal = ", or give the decimal mark with --decimal" if tell else ""
    return f"; write it as in 1250.5, without other signs{decimal}"


def _refuse(bad: NDArray[Any], values: NDArray[Any], table: Any, name: str, expected: str) -> None:
    """Raise an error for the first bad value of a column, if there is one."""
    if bad.any():
        first = int(np.argmax(bad))
        value = "NaN" if np.isnan(values[first]) else values[first]
        place = _place(table, first + 1)
        raise PlacedError(f"column {name!r}: {value} at {place}, expected {expected}")


def positive_value(
    values: list[_Value], name: str, pos_label: str | None, two: _Two = _LABELS
) -> _Value:
    """Return which of the at most two values is the positive one, or the treated one."""
    sample = values[0]
    zero_one = not isinstance(sample, str) and set(values) <= {0, 1}
    if pos_label is None:
        if zero_one:
            return type(sample)(1)
        raise InputError(
            f"column {name!r}: {two.called} are {listed([*map(repr, values)])}, expected 0 and 1; "
            f"say which one is {two.one} with {two.option}"
        )
    wanted = parse_label(pos_label, sample)
    if wanted in values or (zero_one and wanted in (0, 1)):
        return type(sample)(wanted)
    word = pos_label.strip().casefold()
    alike = [x for x in values if str(x).strip().casefold() == word]
    meant = f"; did you mean {two.option} {quoted(str(alike[0]))}?" if alike else ""
    raise InputError(
        f"{two.option} {pos_label} is not among the {two.called} of column {name!r}: "
        f"{listed([*map(repr, values)])}{meant}"
    )


def parse_label(text: str, sample: _Value) -> _Value | None:
    """Read a text as a value of the type of a sample; None when it is not one."""
    if isinstance(sample, str):
        return text
    if isinstance(sample, bool) and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return None


# columns of batches


class BatchReader:
    """Reads batches of one file after the other, of which some lack a label, an arm or a group."""

    def __init__(self, settings: Settings, groups: list[Any]) -> None:
        self.settings, self.groups = settings, groups
        self.labels: list[_Value] = []
        self.arms: list[_Value] = []

    def sample(self, table: pa.Table) -> Sample:
        """The columns of a batch as arrays; gains less what a place costs."""
        readers = {"labels": self._labels, "scores": _float_scores, "groups": self._groups}
        readers["arms"] = self._arms
        found, unit = sample_of(self.settings, table, **readers), self.settings.unit
        if unit is None or found.gains is None:
            return found
        return found._replace(gains=found.gains - unit.place_cost)

    def check(self) -> None:
        """Raise if no batch had a positive label, or a treated row as it was asked for."""
        asked = self.settings
        positive_value(self.labels, asked.label, asked.pos_label)
        if self.arms:
            positive_value(self.arms, str(asked.treatment), asked.treated, _TREATED)

    def _labels(self, table: pa.Table, name: str) -> NDArray[np.bool_]:
        column, self.labels = label_values(table, name, self.labels)
        asked = self.settings.pos_label
        one: Any = _one_of(self.labels, name, asked)
        return are_positive(column, type(column[0].as_py())(one) if asked is None else one)

    def _arms(self, table: pa.Table, name: str) -> NDArray[np.float64]:
        if (treated := self.settings.treated) is None:
            return treatment_column(table, name, None)
        column = complete(table, name)
        values = dict.fromkeys([*self.arms, *pc.unique(column).to_pylist()])
        self.arms = _arms(list(values), name)
        one = _one_of(self.arms, name, treated, _TREATED)
        return are_positive(column, one).astype(np.float64)

    def _groups(self, table: pa.Table, name: str) -> Groups:
        names: Any = self.groups
        return Groups(group_codes(group_values(table, name), names), names)


def _one_of(values: list[_Value], name: str, asked: str | None, two: _Two = _LABELS) -> _Value:
    """The positive or the treated value, also where the batches so far lack it."""
    try:
        return positive_value(values, name, asked, two)
    except InputError:
        one = None if asked is None else parse_label(asked, values[0])
        if len(values) > 1 or one is None:
            raise
        return one


def _float_scores(table: pa.Table, name: str) -> NDArray[np.float64]:
    """The scores of a batch in the type that holds those of all batches."""
    scores = score_column(table, name)
    if scores.dtype.kind in "iu" and max(-int(scores.min()), int(scores.max())) > 2**53:
        raise InputError(f"column {name!r}: whole numbers beyond 2**53 need another engine")
    return scores.astype(np.float64, copy=False)


# the rows that conditions ask for


_R = TypeVar("_R")
_EQUALITY = ("=", "!=")
_WIDE_DECIMAL = pa.decimal256(76, 38)
"""Holds all whole numbers and decimals of a file."""
_DECIMAL = re.compile(r"[+-]?\d{1,38}(\.\d{1,38})?")
_DAYS = (
    (r"^\s*(\d)\.", r"0\1."),
    (r"\.(\d)\.", r".0\1."),
    (r"^\s*(\d\d)\.(\d\d)\.(\d{4})\s*$", r"\3-\2-\1"),
)
"""What is replaced in days with points: none of their digits is left out, and the year is first."""
_DAY = re.compile(r"\s*(\d\d?\.\d\d?\.\d{4}|\d{4}-\d\d-\d\d)\s*")

_RELATIONS: dict[str, Callable[[Any, Any], pa.ChunkedArray]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def _values(table: pa.Table, conditions: Conditions) -> str:
    """The values of the first column in which no row has the one that is asked for."""
    for condition in conditions:
        column = complete(table, condition.column)
        values = pc.unique(column).to_pylist()
        one_of = condition.relation == "=" and not pa.types.is_floating(column.type)
        if one_of and not pc.any(_holds(table, condition)).as_py():
            return f"; column {condition.column!r} holds {first_values(values)}"
    return ""


def fulfilling(table: pa.Table, conditions: Conditions) -> pa.ChunkedArray:
    """Tell which rows of a table that has some fulfil all conditions; it may be none."""
    return reduce(pc.and_, [_holds(table, x) for x in conditions])


def of_rows(table: pa.Table, conditions: Conditions, result: Callable[[pa.Table], _R]) -> _R:
    """The result for the rows that fulfil conditions; errors say of which rows they are."""
    rows = filtered(table, fulfilling(table, conditions)) if conditions else table
    if conditions and not rows.num_rows:
        raise no_row_has(conditions, _values(table, conditions))
    told = f" (of the rows with {in_words(conditions)})" if conditions else ""
    try:
        return result(rows)
    except PlacedError:
        raise
    except (InputError, UnfitError) as error:
        raise InputError(f"{in_options(error)}{told}") from error


def no_row_has(conditions: Conditions, instead: str = "") -> InputError:
    """The error of conditions that leave nothing."""
    return InputError(f"no row has {in_words(conditions)}{instead}")


def _holds(table: pa.Table, condition: Condition) -> pa.ChunkedArray:
    """Whether each row fulfils a condition."""
    column, relation = complete(table, condition.column), condition.relation
    if not len(column):
        raise no_row_has((condition,))
    if relation not in _EQUALITY:
        column = _ordered(column, condition)
    if _is_text(column.type):
        value = condition.value
        both = map(_iso, (column, value)) if _DAY.fullmatch(value) else (column, value)
        return _RELATIONS[relation](*both)
    value = _wanted(condition, column.type)
    return _RELATIONS[relation](column.cast(value.type, safe=False), value)


def _wanted(condition: Condition, kind: pa.DataType) -> pa.Scalar:
    """The value of a condition as one of a column's type.

    Whole numbers and decimals are compared exactly, floats with the float that a text reads as.
    """
    text, said = condition.value.strip(), f"{condition}: column {condition.column!r}"
    exact = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    is_number = exact or pa.types.is_floating(kind)
    if is_number:
        kind = _WIDE_DECIMAL if exact and _DECIMAL.fullmatch(text) else pa.float64()
    try:
        value = pa.scalar(_iso(text) if pa.types.is_temporal(kind) else text).cast(kind)
        if kind != pa.float64() or not math.isnan(value.as_py()):
            return value
    except pa.ArrowException as error:
        if not is_number:
            raise InputError(f"{said}: {error}") from error
    raise InputError(f"{said} needs a number, as in 0.5")


def _ordered(column: pa.ChunkedArray, condition: Condition) -> pa.ChunkedArray:
    """The column if its values have an order, such as days: also those in texts."""
    only = f"{condition.relation} is for numbers and dates"
    if pa.types.is_boolean(column.type):
        raise InputError(f"column {condition.column!r} holds true and false; {only}")
    try:
        return _iso(column).cast(pa.timestamp("s")) if _is_text(column.type) else column
    except pa.ArrowInvalid as error:
        raise InputError(f"column {condition.column!r} holds text; {only} ({error})") from error


def _iso(texts: Any) -> Any:
    """Texts in which days such as 1.12.2025 are written as 2025-12-01."""
    for written, replacement in _DAYS:
        texts = pc.replace_substring_regex(texts, pattern=written, replacement=replacement)
    return texts
