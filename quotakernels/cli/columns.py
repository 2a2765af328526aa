"""Columns of a table as the arrays that the measures take, each value checked.

An error names the column and the first bad row; rows count from 1, without the header.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quotakernels.cli.errors import (
    ColumnsError,
    InputError,
    MissingError,
    RowError,
    no_groups,
    third_label,
)
from quotakernels.cli.given import given
from quotakernels.evaluation.settings import Sample, Settings
from quotakernels.evaluation.words import quoted
from quotakernels.inputs.groups import GroupsOfExamples

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
_SPACED = re.compile(r"[-+' \u00a0\u2019\u202f]")


def score_column(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a column of scores in its own type; infinities are scores, NaN is an error."""
    scores: NDArray[Any] = _numbers(complete(table, name), name).to_numpy()
    return scores


def weight_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of weights, all finite and none negative."""
    weights = np.asarray(_numbers(complete(table, name), name).to_numpy(), dtype=np.float64)
    _refuse(~np.isfinite(weights) | (weights < 0), weights, name, "a finite weight of 0 or more")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise InputError(f"column {name!r}: the sum of the weights is too large for a number")
    return weights


def number_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers of either sign."""
    numbers = np.asarray(_numbers(complete(table, name), name).to_numpy(), dtype=np.float64)
    _refuse(~np.isfinite(numbers), numbers, name, "a finite number")
    return numbers


def cost_column(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of costs, all finite and none negative."""
    costs = number_column(table, name)
    _refuse(costs < 0, costs, name, "a cost of 0 or more")
    return costs


def treatment_column(table: pa.Table, name: str, treated: str | None) -> NDArray[np.float64]:
    """Return a column of treatments: 1 for rows with the value of treated ones, 0 for others."""
    column = complete(table, name)
    if treated is None and not _is_text(column.type):
        treatment = number_column(table, name)
        _refuse((treatment != 0) & (treatment != 1), treatment, name, "1 for a treated row, or 0")
        return treatment
    values = pc.unique(column).to_pylist()
    if len(values) > _ARMS:
        raise InputError(
            f"column {name!r} holds {len(values)} values, and a treatment has {_ARMS}; "
            "keep the rows of two with --where"
        )
    one = positive_value(values, name, treated, _TREATED)
    return are_positive(column, one).astype(np.float64)


def group_column(table: pa.Table, name: str) -> GroupsOfExamples:
    """Return the group of each row, and what names the groups, in order; dates become texts."""
    column = group_values(table, name)
    names = sorted(pc.unique(column).to_pylist())
    return GroupsOfExamples(group_codes(column, names), np.asarray(names))


def group_values(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of what names the group of each row; dates become texts."""
    column = complete(table, name)
    kind = column.type
    if pa.types.is_temporal(kind):
        text = column.cast(pa.string())
        has_parts = pa.types.is_timestamp(kind) and kind.unit != "s"  # DuckDB drops their zeros
        return pc.replace_substring_regex(text, r"\.?0+$", "") if has_parts else text
    if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        fractions = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        raise no_groups(name, kind, fractions)
    return column


def group_codes(column: pa.ChunkedArray, names: list[Any]) -> NDArray[np.int64]:
    """The place of each group among the names."""
    codes = pc.index_in(column, value_set=pa.array(names, column.type))
    return np.asarray(codes.to_numpy()).astype(np.int64)


def columns_read(settings: Settings) -> tuple[str, ...]:
    """The columns that settings name, which have to be read."""
    conditions = [x.column for x in (*settings.where, *settings.tune)]
    named = (settings.weight, settings.gain, settings.cost, settings.grouped_by, settings.treatment)
    optional = [x for x in named if x is not None]
    return (settings.label, *settings.models, *optional, *conditions)


def sample_of(settings: Settings, rows: pa.Table) -> Sample:
    """The columns that settings name as arrays; an error tells of all columns that are none."""
    errors: list[InputError] = []

    def read(kind: Callable[[pa.Table, str], Any], name: str | None) -> Any:
        try:
            return None if name is None else kind(rows, name)
        except InputError as error:
            errors.append(error)

    labels = read(partial(label_column, pos_label=settings.pos_label), settings.label)
    scores = {name: read(score_column, name) for name in settings.models}
    weights, gains = read(weight_column, settings.weight), read(number_column, settings.gain)
    groups, costs = read(group_column, settings.grouped_by), read(cost_column, settings.cost)
    treatment = read(partial(treatment_column, treated=settings.treated), settings.treatment)
    if errors:
        raise errors[0] if len(errors) == 1 else ColumnsError(errors)
    return Sample(labels, scores, weights, gains, groups, costs, treatment)


def label_column(table: pa.Table, name: str, pos_label: str | None) -> NDArray[np.bool_]:
    """Return a column of labels, True for the positive ones."""
    column, values = label_values(table, name, [])
    return are_positive(column, positive_value(values, name, pos_label))


def label_values(
    table: pa.Table, name: str, known: list[_Value]
) -> tuple[pa.ChunkedArray, list[_Value]]:
    """Return a column of labels, and the values of labels: known ones first, two at most."""
    column = complete(table, name)
    if not _is_text(column.type):
        column = _numbers(column, name)
    values = list(dict.fromkeys([*known, *pc.unique(column).to_pylist()]))
    if len(values) > 2:
        row = pc.index(column, values[2]).as_py() + 1
        raise RowError(lambda place: third_label(name, str(len(values)), values, place), row)
    return column, values


def are_positive(column: pa.ChunkedArray, positive: _Value) -> NDArray[np.bool_]:
    """Tell which labels are the positive one."""
    return np.asarray(pc.equal(column, pa.scalar(positive, column.type)).to_numpy(), dtype=bool)


def complete(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column without missing values, in a type that Arrow can compute with."""
    column = _plain(table.column(name))
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py() + 1
        raise MissingError([name], row, column.null_count)
    return column


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Replace categories by what they stand for, views of texts by the texts, and half floats."""
    if pa.types.is_dictionary(column.type):
        coded = column.combine_chunks()
        return pa.chunked_array([_plain(coded.dictionary).take(coded.indices)])
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_float16(column.type):  # Arrow cannot compare them; float32 holds each exactly
        return column.cast(pa.float32())
    return column


def _numbers(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column of booleans, integers or floats without NaN, or say what is in the way."""
    kind = column.type
    if pa.types.is_decimal(kind):  # Arrow's own cast to floats is not always to the nearest
        column = column.cast(pa.string()).cast(pa.float64())
    elif _is_text(kind):
        texts = column.to_pylist()
        row, text = first_text(texts)
        some = any(x.isdigit() for cell in texts for x in cell)
        hint = f"is not a number{_hint(text) if some else ', and no cell of this column is'}"
        raise RowError(lambda place: f"column {name!r}: {text!r} at {place} {hint}", row)
    elif not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise InputError(f"column {name!r} holds values of type {kind}, expected numbers")
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        _refuse(np.isnan(values), values, name, "a number")
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
    if text.endswith("%"):
        return "; write it without the % sign"
    if any(sign in text for sign in "$€£¥"):
        return "; write it without the sign of the currency"
    asked = given().get("decimal") is not None
    if not asked and (marked := _MARKED.fullmatch(text)):
        name, other = ("point", ",") if marked[1] == "." else ("comma", ".")
        either = f"marks thousands, or --decimal {marked[1]} if it marks decimals"
        return f"; give --decimal {other} if its {name} {either}"
    if not any(map(str.isdigit, text)):
        return f"; if it means that there is no value, give --missing {quoted(text)}"
    if _SPACED.sub("", text).replace(",", "").replace(".", "").isdecimal():
        more = "" if asked else ", or give the decimal mark with --decimal"
        return f"; write it without marks of thousands{more}"
    return ""


def _refuse(bad: NDArray[np.bool_], values: NDArray[Any], name: str, expected: str) -> None:
    """Raise an error for the first bad value, if there is one."""
    if bad.any():
        first = int(np.argmax(bad))
        value = "NaN" if np.isnan(values[first]) else values[first]
        said = f"column {name!r}: {value} at"
        raise RowError(lambda place: f"{said} {place}, expected {expected}", first + 1)


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
            f"column {name!r}: {two.called} are {_listed(values)}, expected 0 and 1; "
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
        f"{_listed(values)}{meant}"
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


def _listed(values: list[_Value]) -> str:
    return " and ".join(map(repr, values)) if len(values) == 2 else ", ".join(map(repr, values))
