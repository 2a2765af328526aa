"""Pieces of SQL, as DuckDB reads it: names, values, and sums of floats that lose nothing.

A weight is a whole number of units of a power of two, and sums of whole numbers are exact in any
order. Weights that lie within a factor of 2**32 have the same unit; those of another unit are
summed apart, and 128 bits hold the sum of 2**41 of them. So it is with gains, which have signs.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

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


def exact_mass(units: int, scale: int) -> Fraction:
    """Units of a scale as a sum of weights, without any rounding."""
    return Fraction(units) * Fraction(2) ** (_SCALE_BITS * scale - _UNIT_BITS)
