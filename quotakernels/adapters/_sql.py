"""SQL as DuckDB reads it: names, values, checked columns, and sums of floats that lose nothing.

A weight is a whole number of units of a power of two, and sums of whole numbers are exact in any
order. Weights that lie within a factor of 2**32 have the same unit; those of another unit are
summed apart, and 128 bits hold the sum of 2**41 of them. So it is with gains, which have signs.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

EXACT_DIGITS = 15
"""Decimal numbers of so many digits are rounded once to DOUBLE, stay distinct and in order."""

_SCALE_BITS = 32
_UNIT_BITS = 53


def identifier(name: str) -> str:
    """A name of a column or table, whatever characters it has."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def literal(value: bool | int | float | str | date | Decimal) -> str:
    """A value of Python as one of SQL."""
    if isinstance(value, (str, date)):
        escaped = str(value).replace("'", "''")
        return f"'{escaped}'"
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def is_nan(column: str) -> str:
    """Whether a number is NaN, in words that statistics answer less often; see `by_value`."""
    return f"(CAST({column} AS VARCHAR) = 'nan')"


def by_value(column: str, kind: str) -> str:
    """A column for filters and ``max``, which the statistics of a file must not answer.

    Those of Parquet leave NaN out, so that DuckDB finds no NaN, or takes it for the other value of
    its rows. It foresees nothing of what is volatile. Other types than floats have no NaN.
    """
    floats = kind.lower() in ("float", "double")
    return f"({column} + CAST(0 * random() AS {kind}))" if floats else column


def is_weight(weight: str) -> str:
    """Whether a DOUBLE is a finite weight above 0; never NULL."""
    return f"coalesce({weight} > 0 AND isfinite({weight}), false)"


def is_gain(gain: str) -> str:
    """Whether a DOUBLE is finite; never NULL."""
    return f"coalesce(isfinite({gain}), false)"


def is_cost(cost: str) -> str:
    """Whether a DOUBLE is finite and not negative; never NULL."""
    return f"coalesce({cost} >= 0 AND isfinite({cost}), false)"


def is_flag(flag: str) -> str:
    """Whether a DOUBLE is 1 or 0; never NULL."""
    return f"coalesce({flag} IN (0, 1), false)"


def scale(amount: str, fits: str) -> str:
    """The number of the unit of a weight or gain; NULL for what does not fit."""
    magnitude = f"coalesce(nullif(abs({amount}), 0), 1)"  # 0 is a whole number of any unit
    return f"CASE WHEN {fits} THEN CAST(floor(log2({magnitude}) / {_SCALE_BITS}) AS INTEGER) END"


def units(amount: str, scale: str) -> str:
    """How many units a weight or gain is: a whole number, since one bit is spare for log2's sake.

    The power of two is in two factors, as that of the least weights is beyond a DOUBLE.
    """
    half = _SCALE_BITS // 2
    factors = (f"pow(2.0, {_UNIT_BITS // 2 + k} - {half} * {scale})" for k in (1, 0))
    return f"CAST({amount} * {' * '.join(factors)} AS HUGEINT)"


def mass(units: NDArray[np.float64], scale: NDArray[np.int64]) -> NDArray[np.float64]:
    """Units of a scale as sums of weights."""
    with np.errstate(over="ignore"):
        masses: NDArray[np.float64] = np.ldexp(units, _SCALE_BITS * scale - _UNIT_BITS)
    return masses


_WHOLE = {f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big")}
_WHOLE |= {"integer", "uinteger"}
_SCORES = {"boolean", "float", "double", *_WHOLE}
_NUMBERS = {*_SCORES, "hugeint", "uhugeint", "decimal"}
_TEXTS = {"varchar", "enum"}
DATES = {"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}


# columns of a relation, checked


class Amounts(NamedTuple):
    """Numbers that are summed exactly: their name and column, SQL for them and for what fits."""

    name: str
    column: str
    value: str
    fits: str
    expected: str


class Labels(NamedTuple):
    """The column of labels, SQL that tells the positive ones (NULL: neither), and what fits."""

    name: str
    positive: str
    expected: str


def amounts_of(
    weight: str | None,
    gain: str | None,
    gain_rejected: str | float,
    cost: str | None,
    treatment: str | None,
) -> list[Amounts]:
    """The columns to sum: weights; gains, costs and both arms as many times as there is weight."""
    found = []
    if weight is not None:
        value, expected = _double(weight), "a finite weight, not negative"
        found.append(Amounts("weight", weight, value, is_weight(value), expected))
    if gain is None and gain_rejected != 0:
        raise TypeError("gain_rejected needs gain, the column of what each row brings if selected")
    times = "" if weight is None else f" * {_double(weight)}"
    gains = {} if gain is None else {"gain": gain, "gain_rejected": gain_rejected}
    for name, brought in gains.items():
        if isinstance(brought, str):
            value = _double(brought)
        elif not math.isfinite(brought):
            raise ValueError(f"gain_rejected is {brought}; expected a finite number")
        else:
            value = literal(float(brought))
        value += times
        column = brought if isinstance(brought, str) else str(gain)
        if brought != 0:
            found.append(Amounts(name, column, value, is_gain(value), "a finite gain"))
    if cost is not None:
        value, expected = f"{_double(cost)}{times}", "a finite cost, not negative"
        found.append(Amounts("cost", cost, value, is_cost(value), expected))
    if treatment is not None:
        treated = _double(treatment)
        for name, flag in (("treated", treated), ("control", f"(1 - {treated})")):
            expected = "a treatment of 1 or 0"
            found.append(Amounts(name, treatment, f"{flag}{times}", is_flag(treated), expected))
    return found


def rows_of(relation: Any, names: list[str], amounts: list[Amounts], where: str | None) -> Any:
    """The rows to use, when the columns are there."""
    if where is not None or amounts:
        relation = rows_by_value(relation)
    if where is not None:
        relation = relation.filter(where)
    for name in [*names, *(x.column for x in amounts)]:
        if name.lower() not in [column.lower() for column in relation.columns]:
            raise ValueError(f"there is no column {name!r}; there are {relation.columns}")
    for x in amounts:
        if _type(relation, x.column).id not in _NUMBERS:
            raise TypeError(_holds(relation, x.column, "numbers"))
    return relation


def counted_rows(relation: Any, amounts: list[Amounts]) -> Any:
    """Those whose weight is not 0."""
    weighted = [f"{x.value} IS DISTINCT FROM 0" for x in amounts if x.name == "weight"]
    return relation.filter(*weighted) if weighted else relation


def is_date(relation: Any, name: str) -> bool:
    """Whether a column has days, of which NumPy would make times."""
    return bool(_type(relation, name).id == "date")


def groups_there(relation: Any, group: str) -> np.ndarray:
    """What names the groups of all rows, also of those without weight."""
    named = relation.project(f"{group_of(relation, group)} AS segment")
    found = named.filter("segment IS NOT NULL").distinct().fetchnumpy()["segment"]
    return np.asarray(found)


def rows_by_value(relation: Any) -> Any:
    """All rows, read so that filters see NaN; it costs some 20 ns a row."""
    named = zip(map(identifier, relation.columns), map(str, relation.types), strict=True)
    read = [(column, by_value(column, kind)) for column, kind in named]
    replaced = ", ".join(f"{value} AS {column}" for column, value in read if value != column)
    return relation.project(f"* REPLACE ({replaced})") if replaced else relation


def _type(relation: Any, name: str) -> Any:
    return relation.types[[column.lower() for column in relation.columns].index(name.lower())]


def _holds(relation: Any, name: str, expected: str) -> str:
    return f"column {name!r} is of type {_type(relation, name)}; expected {expected}"


def _double(name: str) -> str:
    return f"CAST({identifier(name)} AS DOUBLE)"


def score_of(relation: Any, name: str) -> str:
    """A column of scores, whose values stay distinct and in order, in SQL."""
    kind = _type(relation, name)
    if kind.id in _SCORES:
        return identifier(name)
    if kind.id != "decimal" or dict(kind.children)["precision"] > EXACT_DIGITS:
        numbers = f"numbers of up to 64 bits, or DECIMAL of up to {EXACT_DIGITS} digits"
        raise TypeError(_holds(relation, name, f"{numbers}; cast it in a query"))
    return _double(name)


def group_of(relation: Any, name: str) -> str:
    """A column of what names groups, integers, texts or dates, in SQL."""
    if (kind := _type(relation, name).id) not in _WHOLE | _TEXTS | DATES | {"boolean"}:
        raise TypeError(_holds(relation, name, "integers, texts or dates; cast it in a query"))
    column = identifier(name)
    return f"CAST({column} AS VARCHAR)" if kind == "enum" else column


def labels_of(relation: Any, name: str, pos_label: Any) -> Labels:
    column, kind = identifier(name), _type(relation, name).id
    column = f"CAST({column} AS VARCHAR)" if kind == "enum" else column
    if kind not in _NUMBERS | _TEXTS:
        raise TypeError(_holds(relation, name, "booleans, numbers or texts"))
    if pos_label is None:
        if kind in _TEXTS:
            raise ValueError(_holds(relation, name, "0 and 1; for other labels pass pos_label"))
        positive = (
            column if kind == "boolean" else f"CASE {column} WHEN 1 THEN true WHEN 0 THEN false END"
        )
        return Labels(name, positive, "0 or 1")
    positive = f"({column} = {_label_value(relation, name, pos_label)})"
    found = (
        rows_by_value(relation).filter(f"NOT {positive}").aggregate(f"min({column}), max({column})")
    )
    low, high = found.fetchall()[0]
    if low != high:  # so too where the only one is NaN
        raise ValueError(
            f"column {name!r} has the labels {low!r} and {high!r} beside pos_label; expected one"
        )
    return Labels(name, positive, "a label")


def all_positive(gain: str | None) -> Labels:
    """What stands for labels where there are none, as what rows bring does not depend on them."""
    if gain is None:
        raise TypeError("label must be the name of a column; got None, which only gains allow")
    return Labels("", "true", "")


def _label_value(relation: Any, name: str, pos_label: Any) -> str:
    """The positive label in the type of the column, where it has one."""
    kind = _type(relation, name).id
    value = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    if isinstance(value, str) != (kind in _TEXTS) or not isinstance(value, (bool, int, float, str)):
        raise TypeError(
            _holds(relation, name, f"what pos_label={pos_label!r} can be compared with")
        )
    if value != value:
        raise ValueError("pos_label is NaN, which equals no label")
    if kind == "boolean":
        if value not in (0, 1):
            raise ValueError(f"pos_label={pos_label!r} cannot occur among booleans")
        return literal(bool(value))
    return f"CAST({literal(value)} AS FLOAT)" if kind == "float" else literal(value)
