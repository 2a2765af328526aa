"""The rows that `--where` and `--tune` ask for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import reduce
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from quotakernels.cli.columns import complete, parse_label
from quotakernels.cli.errors import InputError, RowError, first_values
from quotakernels.cli.numbers import parse_number
from quotakernels.cli.places import filtered, placing
from quotakernels.evaluation.conditions import Condition, Conditions, in_words
from quotakernels.evaluation.quota import UnfitError

_R = TypeVar("_R")
_EQUALITY = ("=", "!=")
_RELATIONS: dict[str, Callable[[Any, Any], pa.ChunkedArray]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def chosen_rows(table: pa.Table, conditions: Conditions) -> pa.ChunkedArray:
    """Tell which rows fulfil all conditions, of which there is one at least; some row does."""
    mask = fulfilling(table, conditions)
    if not pc.any(mask).as_py():
        raise no_row_has(conditions, _values(table, conditions))
    return mask


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
    with placing(table):
        rows = filtered(table, chosen_rows(table, conditions)) if conditions else table
    told = f" (of the rows with {in_words(conditions)})" if conditions else ""
    with placing(rows):
        try:
            return result(rows)
        except RowError:
            raise
        except (InputError, UnfitError) as error:
            raise InputError(f"{error}{told}") from error


def wanted(condition: Condition, sample: Any) -> Any:
    """The value of a condition, of the type that values of its column have."""
    name, relation, text = condition
    if relation not in _EQUALITY and isinstance(sample, (str, bool)):
        held = "texts" if isinstance(sample, str) else "true and false"
        raise InputError(f"column {name!r} holds {held}; {relation} is for numbers and dates")
    is_date = isinstance(sample, date)
    found = _date(text, type(sample)) if is_date else _value(text, sample)
    if found is None:
        what = "a date, as in 2026-01-31 or 31.01.2026" if is_date else "a number, as in 0.5"
        raise InputError(f"{condition}: column {name!r} needs {what}")
    return found


def _value(text: str, sample: Any) -> Any:
    """The value that a text stands for, as labels are read, or a number with a decimal comma."""
    found = parse_label(text, sample)
    try:
        return parse_number(text) if found is None else found
    except ValueError:
        return None


def no_row_has(conditions: Conditions, instead: str = "") -> InputError:
    """The error of conditions that leave nothing."""
    return InputError(f"no row has {in_words(conditions)}{instead}")


def _date(text: str, kind: type[date]) -> date | None:
    try:
        day = datetime.strptime(text.strip(), "%d.%m.%Y")
        return day if issubclass(kind, datetime) else day.date()
    except ValueError:
        pass
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None


def _days(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """The dates that texts such as 31.12.2025 stand for; texts without a date stay as they are."""
    texts = pc.unique(column)
    days = [_date(text, date) for text in texts.to_pylist()]
    if not any(days):
        return column
    if None in days:
        bad = texts[days.index(None)]
        said = f"column {name!r}: {bad.as_py()!r} at"
        row = pc.index(column, bad).as_py() + 1
        raise RowError(lambda place: f"{said} {place} is not a date such as 31.12.2025", row)
    return pa.chunked_array([pa.array(days).take(pc.index_in(column, texts).combine_chunks())])


def _holds(table: pa.Table, condition: Condition) -> pa.ChunkedArray:
    column = complete(table, condition.column)
    if not len(column):
        raise no_row_has((condition,))
    if condition.relation not in _EQUALITY and isinstance(column[0].as_py(), str):
        column = _days(column, condition.column)
    value = pa.scalar(wanted(condition, column[0].as_py()))
    return _RELATIONS[condition.relation](column, value)
