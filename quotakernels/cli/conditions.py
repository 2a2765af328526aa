"""The rows that `--where` and `--tune` ask for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_FLOOR, Context, Decimal
from functools import reduce
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from quotakernels.cli.columns import complete, parse_label
from quotakernels.cli.errors import InputError, RowError, first_values
from quotakernels.cli.numbers import plain_number
from quotakernels.cli.places import filtered, placing
from quotakernels.evaluation.settings import UnfitError
from quotakernels.evaluation.words import Condition, Conditions, in_words

_R = TypeVar("_R")
_EQUALITY = ("=", "!=")
_ZONED = "a time with its zone, as in 2026-01-31T12:00:00+00:00"
_DIGITS = 100
"""More than any whole number or decimal of a file has."""
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


def compared(condition: Condition, sample: Any) -> tuple[str, Any] | bool:
    """The relation and the value that a column with such a sample is compared with; or whether all
    of its values fulfil the condition, or none.

    Whole numbers and decimals are compared exactly, floats with the float that a text reads as.
    """
    relation, value = condition.relation, _wanted(condition, sample)
    if not isinstance(value, Decimal):
        return relation, value
    if value.is_infinite() or (value and value.adjusted() > _DIGITS):
        return of_all(relation, value > 0)
    step = Decimal(1) if isinstance(sample, int) else Decimal((0, (1,), sample.as_tuple().exponent))
    low = value.quantize(step, ROUND_FLOOR, Context(prec=2 * _DIGITS))
    if low != value:  # the column holds what is below or above
        if relation in _EQUALITY:
            return relation == "!="
        relation = "<=" if relation.startswith("<") else ">"
    return relation, int(low) if isinstance(sample, int) else low


def of_all(relation: str, above: bool) -> bool:
    """Whether all values are in a relation to one that is above all of them, or else below."""
    return relation == "!=" or relation.startswith("<" if above else ">")


def _wanted(condition: Condition, sample: Any) -> Any:
    """The value of a condition, of the type that values of its column have; exact numbers as
    decimals.
    """
    name, relation, text = condition
    if relation not in _EQUALITY and isinstance(sample, (str, bool)):
        held = "texts" if isinstance(sample, str) else "true and false"
        raise InputError(f"column {name!r} holds {held}; {relation} is for numbers and dates")
    for kind, read, expected in _KINDS:
        if isinstance(sample, kind):
            if (found := read(text, type(sample))) is None:
                raise InputError(f"{condition}: column {name!r} needs {expected}")
            if getattr(found, "tzinfo", None) is None and getattr(sample, "tzinfo", None):
                raise InputError(f"{condition}: column {name!r} needs {_ZONED}")
            return found
    held = f"values of type {type(sample).__name__}"
    raise InputError(f"column {name!r} holds {held}; conditions are for numbers, texts and dates")


def _bool(text: str, _: type) -> bool | None:
    found = parse_label(text.strip(), True)
    return bool(found) if found in (0, 1) else None


def _number(text: str, kind: type) -> Decimal | float | None:
    """A number with a decimal point or comma; NaN is none."""
    found: Decimal | float
    for written in (str, plain_number):
        try:
            found = float(written(text)) if kind is float else Decimal(written(text))
        except (ValueError, ArithmeticError):
            continue
        return None if found != found else found
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


_KINDS: tuple[tuple[Any, Callable[[str, Any], Any], str], ...] = (
    (str, lambda text, _: text, "a text"),
    (bool, _bool, "true or false, or 1 or 0"),
    (date, _date, "a date, as in 2026-01-31 or 31.01.2026"),
    ((int, float, Decimal), _number, "a number, as in 0.5"),
)
"""What columns hold, what reads such a value, and how it is written."""


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
    found = compared(condition, column[0].as_py())
    if not isinstance(found, bool):
        relation, value = found
        exact = pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
        try:
            return _RELATIONS[relation](column, pa.scalar(value, column.type if exact else None))
        except (pa.ArrowException, OverflowError) as error:
            if not exact:
                raise InputError(f"{condition}: column {condition.column!r}: {error}") from error
            found = of_all(relation, value > 0)  # the type of the column is too narrow for it
    return pa.chunked_array([pa.repeat(found, len(column))])
